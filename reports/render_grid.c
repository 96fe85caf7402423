/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grid: +---+ rules, one blank each side of a cell. exact: the widths of the rule that was given;
 * whole numbers stand right, decimals left, and a percentage joins the mean before it when there
 * are more columns than cells.
 */
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/renderers.h"

static bool same_group(const struct kab_table *t, size_t a, size_t b)
{
	return t->cols[a].group && t->cols[b].group && !strcmp(t->cols[a].group, t->cols[b].group);
}

static void rule(const struct kab_layout *l, struct kab_buf *out)
{
	for (size_t c = 0; c < l->n_cols; c++) {
		kab_buf_addc(out, '+');
		kab_buf_fill(out, '-', l->width[c] + 2);
	}
	kab_buf_adds(out, "+\n");
}

/* Names of the groups over their columns, and a rule under them. */
static void group_heads(const struct kab_table *t, const struct kab_layout *l, struct kab_buf *out)
{
	struct kab_buf kab_autobuf under = KAB_BUF_INIT;

	for (size_t c = 0; c < t->n_cols; c++) {
		const char *text = t->cols[c].group ? t->cols[c].group : "";
		size_t span = l->width[c], have = kab_text_width(text);

		kab_buf_addc(&under, '+');
		kab_buf_fill(&under, '-', l->width[c] + 2);
		while (c + 1 < t->n_cols && same_group(t, c, c + 1)) {
			c++;
			span += l->width[c] + 3;
			kab_buf_addc(&under, '+');
			kab_buf_fill(&under, '-', l->width[c] + 2);
		}
		kab_buf_addf(out, "| %s", text);
		kab_buf_fill(out, ' ', (span > have ? span - have : 0) + 1);
	}
	kab_buf_adds(out, "|\n");
	kab_buf_addf(out, "%s+\n", kab_buf_str(&under));
}

static void line(const struct kab_layout *l, char **cells, struct kab_buf *out)
{
	for (size_t c = 0; c < l->n_cols; c++)
		kab_buf_addf(out, "| %s ", cells[c]);
	kab_buf_adds(out, "|\n");
}

static void clean(const struct kab_table *t, struct kab_buf *out)
{
	const struct kab_layout_opts opts = { NULL, NULL, KAB_HEADS_GROUPED, 3, 3 };
	bool grouped = false;
	struct kab_layout l;

	kab_render_head(t, out);
	kab_layout_make(t, &opts, &l);
	for (size_t c = 0; c < t->n_cols; c++)
		grouped |= t->cols[c].group != NULL;
	rule(&l, out);
	if (grouped)
		group_heads(t, &l, out);
	line(&l, l.heads, out);
	rule(&l, out);
	for (size_t r = 0; r < t->n_rows; r++)
		line(&l, &l.cells[r * t->n_cols], out);
	rule(&l, out);
	kab_layout_release(&l);
	kab_render_notes(t, out);
}

/* Widths of the cells between the '+' of the rule that has most of them; their number. */
static size_t widths_of_rule(const struct kab_table *t, size_t *width, size_t max)
{
	const struct kab_strv *lists[] = { &t->header, &t->footer };
	const char *best = NULL;
	size_t most = 0, n = 0;

	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < lists[i]->n; k++) {
			const char *text = lists[i]->v[k];
			size_t plus = 0;

			if (text[0] != '+')
				continue;
			for (const char *p = text; *p; p++)
				plus += *p == '+';
			if (plus > most) {
				most = plus;
				best = text;
			}
		}
	}
	for (const char *p = best; p && *p && n < max;) {
		size_t len = strcspn(p + 1, "+");

		if (!p[1 + len])
			break;
		width[n++] = len > 2 ? len - 2 : 0;
		p += 1 + len;
	}
	return n;
}

/* A number beside its percentage: "0.7293 (+30.7%)". */
static void merge(const struct kab_cell *percent, struct kab_buf *text)
{
	kab_buf_adds(text, " (");
	if (percent->kind == KAB_CELL_NUMBER)
		kab_number_fixed(text, percent->value, percent->decimals, true);
	else
		kab_cell_print(percent, text);
	if (text->data[text->len - 1] != '%')
		kab_buf_addc(text, '%');
	kab_buf_addc(text, ')');
}

static bool is_percent(const struct kab_column *col)
{
	return col->role == KAB_ROLE_GAIN || col->role == KAB_ROLE_DIFF;
}

static void exact_row(const struct kab_table *t, size_t r, const size_t *width, size_t n,
		      struct kab_buf *out)
{
	size_t excess = t->n_cols > n ? t->n_cols - n : 0, w = 0;

	for (size_t c = 0; c < t->n_cols; c++, w++) {
		const struct kab_cell *cell = kab_table_cell(t, r, c);
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;
		size_t have, want = w < n ? width[w] : 0;

		kab_cell_print(cell, &text);
		if (excess && c + 1 < t->n_cols && is_percent(&t->cols[c + 1])) {
			const struct kab_cell *percent = kab_table_cell(t, r, c + 1);

			excess--;
			c++;
			if (percent->kind != KAB_CELL_EMPTY)
				merge(percent, &text);
		}
		have = kab_text_width(kab_buf_str(&text));
		kab_buf_adds(out, "| ");
		if (cell->whole)
			kab_buf_fill(out, ' ', want > have ? want - have : 0);
		kab_buf_adds(out, kab_buf_str(&text));
		if (!cell->whole)
			kab_buf_fill(out, ' ', want > have ? want - have : 0);
		kab_buf_addc(out, ' ');
	}
	kab_buf_adds(out, "|\n");
}

void kab_render_grid(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	size_t *width, n;

	if (!exact || !t->literal) {
		clean(t, out);
		return;
	}
	width = kab_xcalloc(t->n_cols + 1, sizeof(*width));
	n = widths_of_rule(t, width, t->n_cols);
	kab_render_head(t, out);
	kab_render_lines(&t->header, out);
	for (size_t r = 0; r < t->n_rows; r++)
		exact_row(t, r, width, n ? n : t->n_cols, out);
	kab_render_lines(&t->footer, out);
	free(width);
}
