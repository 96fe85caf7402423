/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mmtests: statistic, load, then `value (percent)` of 23 columns per kernel; stars instead of
 * parentheses mark a significant mean. Columns of the table: statistic, load, then for each kernel
 * X, X_pct and, except for the baseline, a flag.
 */
#include <string.h>

#include "base/alloc.h"
#include "reports/renderers.h"

#define BLOCK 23
#define STAT_WIDTH 9
#define LOAD_WIDTH 3
#define LABEL_MAX 60

static bool is_percent_of(const struct kab_column *pct, const struct kab_column *value)
{
	size_t n = strlen(value->name);

	return !strncmp(pct->name, value->name, n) && !strcmp(pct->name + n, "_pct");
}

/* The first column that is a value: the ones before it name the row. */
static size_t first_value(const struct kab_table *t)
{
	for (size_t c = 1; c + 1 < t->n_cols; c++)
		if (is_percent_of(&t->cols[c + 1], &t->cols[c]))
			return c;
	return t->n_cols > 2 ? 2 : t->n_cols;
}

static char *load_of(const struct kab_table *t, size_t r, size_t first)
{
	struct kab_buf buf = KAB_BUF_INIT;

	for (size_t c = 1; c < first; c++) {
		if (buf.len)
			kab_buf_addc(&buf, ' ');
		kab_cell_print(kab_table_cell(t, r, c), &buf);
	}
	return buf.data ? kab_buf_detach(&buf) : kab_xstrdup("");
}

static int kernels_of(const struct kab_table *t, size_t first)
{
	int n = 0;

	for (size_t c = first; c + 1 < t->n_cols; c++)
		n += is_percent_of(&t->cols[c + 1], &t->cols[c]);
	return n;
}

/* Where the first block begins. The names of the kernels end where their blocks end, so a header
 * that was given tells how wide the labels are; else the longest load does. */
static size_t label_width(const struct kab_table *t, size_t first)
{
	size_t width = STAT_WIDTH + 1 + LOAD_WIDTH, blocks = BLOCK * (size_t)kernels_of(t, first);

	for (size_t r = 0; r < t->n_rows; r++) {
		char *load = load_of(t, r, first);
		size_t need = STAT_WIDTH + 1 + kab_text_width(load);

		width = need > width && !t->literal ? need : width;
		free(load);
	}
	if (t->literal && t->header.n >= 2) {
		size_t a = kab_text_width(t->header.v[t->header.n - 1]);
		size_t b = kab_text_width(t->header.v[t->header.n - 2]);
		size_t end = t->header.n > 2 && b > a ? b : a;

		if (end > blocks + STAT_WIDTH && end - blocks <= LABEL_MAX)
			width = end - blocks;
	}
	return width;
}

static bool is_rate(const struct kab_table *t)
{
	for (size_t r = 0; r < t->n_rows; r++) {
		const struct kab_cell *cell = kab_table_cell(t, r, 0);

		if (cell->kind == KAB_CELL_TEXT && !strcmp(cell->text, "Hmean"))
			return true;
	}
	return t->directed && t->higher;
}

/* "5.13.0-rc2-name-v1" is "5.13.0-rc2" over "name-v1". */
static size_t split_at(const char *name)
{
	const char *dash = strchr(name, '-');

	if (dash && !strncmp(dash, "-rc", 3))
		dash = strchr(dash + 1, '-');
	return dash ? (size_t)(dash - name) : strlen(name);
}

static void own_head(const struct kab_table *t, size_t first, size_t width, struct kab_buf *out)
{
	for (int part = 0; part < 2; part++) {
		struct kab_buf kab_autobuf line = KAB_BUF_INIT;
		size_t end = width;

		for (size_t c = first; c + 1 < t->n_cols; c++) {
			const char *name = t->cols[c].group ? t->cols[c].group : t->cols[c].name;
			size_t cut = split_at(name);
			const char *text = part ? name + cut + (name[cut] == '-') : name;
			size_t len = part ? strlen(text) : cut;

			if (!is_percent_of(&t->cols[c + 1], &t->cols[c]))
				continue;
			end += BLOCK;
			kab_buf_fill(&line, ' ', end > line.len + len ? end - line.len - len : 1);
			kab_buf_add(&line, text, len);
		}
		if (kab_buf_str(&line)[strspn(kab_buf_str(&line), " ")])
			kab_render_eol(&line, out);
	}
}

static void block(const struct kab_table *t, size_t r, size_t c, bool significant, int decimals,
		  bool exact, struct kab_buf *line)
{
	const struct kab_cell *value = kab_table_cell(t, r, c), *pct = kab_table_cell(t, r, c + 1);

	kab_render_number(line, value, 12, decimals, false, exact);
	if (pct->kind == KAB_CELL_EMPTY || pct->kind == KAB_CELL_WORD) {
		kab_buf_adds(line, " (");
		kab_render_number(line, pct, 8, 2, false, exact);
		kab_buf_adds(line, ")");
		return;
	}
	kab_buf_adds(line, significant ? " *" : " (");
	kab_render_number(line, pct, 7, 2, false, exact);
	kab_buf_adds(line, significant ? "%*" : "%)");
}

/* The flag that stands between this kernel's columns and the next kernel's. */
static bool significant(const struct kab_table *t, size_t r, size_t c)
{
	for (size_t k = c + 2; k < t->n_cols; k++) {
		const struct kab_cell *cell = kab_table_cell(t, r, k);

		if (k + 1 < t->n_cols && is_percent_of(&t->cols[k + 1], &t->cols[k]))
			return false;
		if (cell->kind == KAB_CELL_FLAG)
			return cell->value != 0;
	}
	return false;
}

void kab_render_mmtests(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	size_t first = first_value(t), width = label_width(t, first);
	int decimals = is_rate(t) ? 2 : 4;

	kab_render_head(t, out);
	if (t->literal)
		kab_render_given(&t->header, exact, out);
	else
		own_head(t, first, width, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		char *load = load_of(t, r, first);
		bool base = true;

		kab_render_number(&line, kab_table_cell(t, r, 0), -STAT_WIDTH, 0, false, exact);
		kab_buf_addf(&line, " %-*s", (int)(width - STAT_WIDTH - 1), load);
		free(load);
		for (size_t c = first; c + 1 < t->n_cols; c++) {
			if (!is_percent_of(&t->cols[c + 1], &t->cols[c]))
				continue;
			block(t, r, c, !base && significant(t, r, c), decimals, exact, &line);
			base = false;
		}
		kab_render_eol(&line, out);
	}
	kab_render_given(&t->footer, exact, out);
	kab_render_notes(t, out);
}
