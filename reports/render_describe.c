/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe: a block per kernel as pandas prints it: a statistic per line, six decimals. */
#include <string.h>

#include "reports/number.h"
#include "reports/renderers.h"

/* What else a table with a kernel per row holds. */
static bool belongs(const struct kab_column *col)
{
	static const char *const others[] = { "sem", "cv_pct" };

	for (size_t i = 0; i < 2; i++)
		if (!strcmp(col->name, others[i]))
			return false;
	return col->role == KAB_ROLE_STAT || col->role == KAB_ROLE_VALUE ||
	       col->role == KAB_ROLE_SPREAD;
}

static void value(const struct kab_cell *cell, struct kab_buf *line)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	if (cell->kind == KAB_CELL_NUMBER && !cell->text)
		kab_number_fixed(&text, cell->value, cell->whole ? 0 : 6, false);
	else
		kab_cell_print(cell, &text);
	kab_buf_addf(line, "%15s", kab_buf_str(&text));
}

void kab_render_describe(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	kab_render_head(t, out);
	kab_render_given(&t->header, exact, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		bool first = true;

		if (r)
			kab_buf_addc(out, '\n');
		for (size_t c = 0; c < t->n_cols; c++) {
			if (t->cols[c].role != KAB_ROLE_LABEL)
				continue;
			kab_buf_adds(&line, first ? "" : ", ");
			kab_cell_print(kab_table_cell(t, r, c), &line);
			first = false;
		}
		kab_buf_addc(&line, ':');
		kab_render_eol(&line, out);
		for (size_t c = 0; c < t->n_cols; c++) {
			const struct kab_cell *cell = kab_table_cell(t, r, c);

			if (!belongs(&t->cols[c]) || cell->kind == KAB_CELL_EMPTY)
				continue;
			kab_buf_addf(&line, "  %-5s ", t->cols[c].head);
			value(cell, &line);
			kab_render_eol(&line, out);
		}
	}
	kab_render_given(&t->footer, exact, out);
	kab_render_notes(t, out);
}
