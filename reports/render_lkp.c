/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lkp: base, its relative stddev, change, test, its relative stddev, metric. Columns of the table in
 * that order. exact: U+00B1; clean: "+-". The change is raw and says nothing of better or worse.
 */
#include <math.h>
#include <string.h>

#include "reports/renderers.h"

#define RSD_BLANK_BELOW 2 /* percent */

/* Two decimals below a thousand, none above, four digits with an exponent from nine digits on. */
static void number(const struct kab_cell *cell, struct kab_buf *line)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	double v = cell->value;

	if (cell->kind != KAB_CELL_NUMBER)
		kab_cell_print(cell, &text);
	else if (fabs(v) >= 1e8)
		kab_buf_addf(&text, "%.4g", v);
	else if (cell->whole || fabs(v) >= 1000)
		kab_buf_addf(&text, "%.0f", v);
	else
		kab_buf_addf(&text, "%.2f", v);
	kab_buf_fill(line, ' ', text.len < 10 ? 10 - text.len : 0);
	kab_buf_adds(line, kab_buf_str(&text));
}

static void rsd(const struct kab_cell *cell, bool exact, struct kab_buf *line)
{
	const char *sign = exact ? " \xc2\xb1" : " +-";

	if (cell->kind == KAB_CELL_TEXT)
		kab_buf_addf(line, "%s%3s%%", sign, cell->text);
	else if (cell->kind == KAB_CELL_NUMBER && cell->value >= RSD_BLANK_BELOW)
		kab_buf_addf(line, "%s%3.0f%%", sign, cell->value);
	else
		kab_buf_fill(line, ' ', exact ? 6 : 7);
}

/* "-4.0%" ends at the eleventh column; a plain difference leaves the place of its percent sign. */
static void change(const struct kab_cell *cell, struct kab_buf *line)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	if (cell->kind == KAB_CELL_NUMBER)
		kab_buf_addf(&text, "%+.1f", cell->value);
	else
		kab_cell_print(cell, &text);
	if (!strchr(kab_buf_str(&text), '%') && cell->kind != KAB_CELL_WORD)
		kab_buf_addc(&text, ' ');
	kab_buf_fill(line, ' ', text.len < 11 ? 11 - text.len : 0);
	kab_buf_adds(line, kab_buf_str(&text));
}

static void own_head(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	int more = exact ? 0 : 1;

	if (t->cols[0].group && t->cols[3].group) {
		kab_buf_addf(&line, "%-16.16s %.50s", t->cols[0].group, t->cols[3].group);
		kab_render_eol(&line, out);
	}
	kab_buf_adds(out, "---------------- ---------------------------\n");
	kab_buf_addf(&line, "%*s%*s%*s", 16 + more, "%stddev", 12, "%change", 16 + more, "%stddev");
	kab_render_eol(&line, out);
	kab_buf_addf(&line, "%*s%*s%*s", 14 + more, "\\", 11, "|", 17 + more, "\\");
	kab_render_eol(&line, out);
}

void kab_render_lkp(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	kab_render_head(t, out);
	if (t->literal)
		kab_render_given(&t->header, exact, out);
	else if (t->n_cols >= 6)
		own_head(t, exact, out);
	for (size_t r = 0; r < t->n_rows && t->n_cols >= 6; r++) {
		number(kab_table_cell(t, r, 0), &line);
		rsd(kab_table_cell(t, r, 1), exact, &line);
		change(kab_table_cell(t, r, 2), &line);
		kab_buf_addc(&line, ' ');
		number(kab_table_cell(t, r, 3), &line);
		rsd(kab_table_cell(t, r, 4), exact, &line);
		kab_buf_adds(&line, "  ");
		kab_cell_print(kab_table_cell(t, r, 5), &line);
		kab_render_eol(&line, out);
	}
	kab_render_given(&t->footer, exact, out);
	kab_render_notes(t, out);
}
