/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runs: pipes, one row per run; what is in the last column stands behind the closing pipe. */
#include <string.h>

#include "reports/renderers.h"

void kab_render_runs(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	const struct kab_layout_opts opts = { NULL, NULL, KAB_HEADS_FLAT, 3, 3 };
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	struct kab_layout l;
	size_t last = t->n_cols ? t->n_cols - 1 : 0;

	kab_render_head(t, out);
	kab_render_given(&t->header, exact, out);
	kab_layout_make(t, &opts, &l);
	/* A table from a file may have no column for the words behind the pipe. */
	if (t->n_cols && (t->cols[last].role != KAB_ROLE_NOTE && !t->cols[last].left))
		last = t->n_cols;
	for (size_t c = 0; !t->literal && c < last; c++)
		kab_buf_addf(out, "| %s ", l.heads[c]);
	kab_buf_adds(out, t->literal ? "" : "|\n");
	for (size_t c = 0; !t->literal && c < last; c++) {
		kab_buf_addc(out, c ? '+' : '|');
		kab_buf_fill(out, '-', l.width[c] + 2);
	}
	kab_buf_adds(out, t->literal ? "" : "|\n");
	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t c = 0; c < last; c++)
			kab_buf_addf(&line, "| %s ", l.cells[r * t->n_cols + c]);
		kab_buf_addc(&line, '|');
		if (last < t->n_cols)
			kab_buf_addf(&line, " %s", l.cells[r * t->n_cols + last]);
		kab_render_eol(&line, out);
	}
	kab_layout_release(&l);
	kab_render_given(&t->footer, exact, out);
	kab_render_notes(t, out);
}
