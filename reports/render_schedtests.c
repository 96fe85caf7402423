/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schedtests: case, load, base (CV), then gain (CV) for each further kernel. exact: tabs; clean: the
 * columns to which those tabs lead.
 */
#include <string.h>

#include "reports/renderers.h"

/* To the next column of 8 that is at or behind `stop`; a tab when exact. */
static void tab(struct kab_buf *line, bool exact)
{
	size_t at = kab_text_width(kab_buf_str(line));

	if (exact)
		kab_buf_addc(line, '\t');
	else
		kab_buf_fill(line, ' ', 8 - at % 8);
}

static void text_cell(struct kab_buf *line, const struct kab_cell *cell, int width)
{
	kab_render_number(line, cell, -width, 0, false, true);
}

static void with_cv(const struct kab_table *t, size_t r, size_t c, int width, bool plus, bool exact,
		    struct kab_buf *line)
{
	const struct kab_cell *cell = kab_table_cell(t, r, c);

	kab_render_number(line, cell, width, 2, plus, exact);
	if (cell->kind == KAB_CELL_WORD || cell->kind == KAB_CELL_EMPTY)
		return;
	kab_buf_adds(line, " (");
	kab_render_number(line, kab_table_cell(t, r, c + 1), 6, 2, false, exact);
	kab_buf_addc(line, ')');
}

static void own_head(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	if (t->benchmark && *t->benchmark) {
		kab_buf_addf(out, "%s\n", t->benchmark);
		kab_buf_fill(out, '=', kab_text_width(t->benchmark));
		kab_buf_addc(out, '\n');
	}
	kab_buf_addf(&line, "%-16s", "case");
	tab(&line, exact);
	kab_buf_addf(&line, "%-8s", "load");
	tab(&line, exact);
	if (!exact)
		kab_buf_fill(&line, ' ', line.len < 40 ? 40 - line.len : 0);
	kab_buf_adds(&line, "baseline(std%)");
	for (size_t c = 4; c + 1 < t->n_cols; c += 2) {
		const char *name = t->cols[c].group;

		tab(&line, exact);
		kab_buf_addf(&line, "%s%%( std%%)", name && t->n_cols > 6 ? name : "compare");
	}
	kab_render_eol(&line, out);
}

void kab_render_schedtests(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	kab_render_head(t, out);
	if (t->literal)
		kab_render_given(&t->header, exact, out);
	else
		own_head(t, exact, out);
	for (size_t r = 0; r < t->n_rows && t->n_cols >= 4; r++) {
		text_cell(&line, kab_table_cell(t, r, 0), 16);
		tab(&line, exact);
		text_cell(&line, kab_table_cell(t, r, 1), 8);
		tab(&line, exact);
		if (!exact && !t->literal)
			kab_buf_fill(&line, ' ', line.len < 40 ? 40 - line.len : 0);
		with_cv(t, r, 2, 5, false, exact, &line);
		for (size_t c = 4; c + 1 < t->n_cols; c += 2) {
			tab(&line, exact);
			with_cv(t, r, c, 6, true, exact, &line);
		}
		kab_render_eol(&line, out);
	}
	kab_render_given(&t->footer, exact, out);
	kab_render_notes(t, out);
}
