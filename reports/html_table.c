/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One table of the page: the cells are those of the view, each row with its picture and details. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/html_internal.h"
#include "reports/number.h"

/* So many rows are kept on one sheet of paper where they fit. */
#define SHORT 16
/* Longer labels are broken into lines. */
#define LONG_LABEL 40

/* A column of the page: one of the view, or a verdict in place of its mark. */
struct column {
	int from; /* index in the view's table; -1: verdict */
	int kernel; /* -1: label */
	enum kab_role role;
	const char *head;
	int point; /* most characters behind the point, and that there is one */
	bool any_point;
};
struct columns {
	struct column *v;
	size_t n, cap;
	size_t labels;
};

static struct column *add(struct columns *list, int from, int kernel, enum kab_role role,
			  const char *head)
{
	struct column *c = KAB_PUSH(list);

	*c = (struct column){ from, kernel, role, head, 0, false };
	return c;
}

static bool is_number(const struct kab_cell *cell)
{
	return cell->kind == KAB_CELL_NUMBER || cell->kind == KAB_CELL_PERCENT;
}

/* Digits behind the point as printed. */
static int behind_point(const struct kab_cell *cell)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	const char *point;

	kab_cell_print(cell, &text);
	point = strchr(kab_buf_str(&text), '.');
	return point ? (int)strspn(point + 1, "0123456789") : -1;
}

static void measure(const struct kab_table *t, struct column *col)
{
	for (size_t r = 0; col->from >= 0 && r < t->n_rows; r++) {
		const struct kab_cell *cell = kab_table_cell(t, r, (size_t)col->from);
		int n = is_number(cell) ? behind_point(cell) : -1;

		col->any_point |= n >= 0;
		col->point = n > col->point ? n : col->point;
	}
}

static void choose_columns(const struct kab_table *t, bool judged, struct columns *ret)
{
	for (size_t c = 0; c < t->n_cols; c++) {
		const struct kab_column *col = &t->cols[c];

		if (col->role == KAB_ROLE_MARK)
			continue;
		measure(t, add(ret, (int)c, col->kernel, col->role, col->head));
		ret->labels += col->kernel < 0;
		if (judged && col->role == KAB_ROLE_GAIN)
			add(ret, -1, col->kernel, KAB_ROLE_MARK, "verdict");
	}
}

/* Whether the numbers behind a column are those of a comparison, not of a kernel. */
static bool is_of_pair(const struct column *col)
{
	return col->role == KAB_ROLE_GAIN || col->role == KAB_ROLE_DIFF ||
	       col->role == KAB_ROLE_INTERVAL || col->role == KAB_ROLE_MARK;
}

static bool is_text(const struct column *col)
{
	return col->kernel < 0 || col->role == KAB_ROLE_MARK || col->role == KAB_ROLE_NOTE ||
	       col->role == KAB_ROLE_STAT;
}

static void head_cell(struct kab_buf *out, const struct columns *list, size_t c)
{
	const struct column *col = &list->v[c];

	kab_buf_addf(out, "<th scope=col data-c=%zu%s", c, is_text(col) ? "" : " class=n");
	if (col->kernel < 0)
		kab_buf_adds(out, " rowspan=2");
	else if (is_of_pair(col))
		kab_buf_addf(out, " data-p=%d", col->kernel - 1);
	else
		kab_buf_addf(out, " data-k=%d", col->kernel);
	kab_buf_addc(out, '>');
	kab_html_escape(out, col->head);
}

static void head_rows(struct kab_buf *out, const struct kab_group *g, const struct columns *list)
{
	kab_buf_adds(out, "<thead><tr>");
	for (size_t c = 0; c < list->labels; c++)
		head_cell(out, list, c);
	for (size_t c = list->labels; c < list->n;) {
		size_t k = (size_t)list->v[c].kernel, span = 1;

		while (c + span < list->n && list->v[c + span].kernel == list->v[c].kernel)
			span++;
		kab_buf_addf(out, "<th scope=colgroup class=kern colspan=%zu>", span);
		kab_html_swatch(out, k);
		kab_html_escape(out, kab_group_kernel(g, k));
		c += span;
	}
	kab_buf_adds(out, "<th scope=col rowspan=2 class=pic>distribution<tr>");
	for (size_t c = list->labels; c < list->n; c++)
		head_cell(out, list, c);
	kab_buf_adds(out, "</thead>\n");
}

/* data-v: what a column is sorted by. */
static void sort_key(struct kab_buf *out, double value)
{
	if (isfinite(value))
		kab_buf_addf(out, " data-v=%.7g", value);
}

/* Numbers stand on their points: what a cell has less behind it becomes space. */
static void number_class(struct kab_buf *out, const struct kab_cell *cell, const struct column *col)
{
	int n = behind_point(cell);

	int lacks = col->point - (n < 0 ? 0 : n);
	bool no_point = col->any_point && n < 0;

	if (lacks <= 0 && !no_point) {
		kab_buf_adds(out, " class=n");
		return;
	}
	kab_buf_adds(out, " class=\"n");
	if (lacks > 0)
		kab_buf_addf(out, " d%d", lacks);
	kab_buf_adds(out, no_point ? " q\"" : "\"");
}

static void view_cell(struct kab_buf *out, const struct kab_cell *cell, const struct column *col)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	if (cell->kind != KAB_CELL_EMPTY)
		kab_cell_print(cell, &text);
	kab_buf_adds(out, col->kernel < 0 ? "<th scope=row" : "<td");
	if (is_number(cell)) {
		number_class(out, cell, col);
		sort_key(out, cell->value);
	} else if (cell->kind == KAB_CELL_INTERVAL) {
		kab_buf_adds(out, " class=n");
		sort_key(out, cell->lo);
	} else if (cell->kind == KAB_CELL_WORD) {
		kab_buf_adds(out, is_text(col) ? " class=w" : " class=\"n w\"");
	} else if (text.len > LONG_LABEL) {
		kab_buf_adds(out, " class=longer");
	}
	kab_buf_addc(out, '>');
	kab_html_escape(out, kab_buf_str(&text));
}

void kab_html_verdict(struct kab_buf *out, const struct kab_pair *pair)
{
	const char *mark = pair->tested ? kab_outcome_mark(pair->outcome) : "";

	if (*mark) {
		kab_buf_addf(out, "<b class=v%d>", (int)pair->outcome);
		kab_html_escape(out, mark);
		kab_buf_adds(out, "</b> ");
	}
	kab_buf_adds(out, kab_outcome_name(pair->outcome));
}

static void row_cells(struct kab_buf *out, const struct kab_judged_row *row,
		      const struct kab_table *t, size_t r, const struct columns *list)
{
	for (size_t c = 0; c < list->n; c++) {
		const struct column *col = &list->v[c];

		if (col->from >= 0) {
			view_cell(out, kab_table_cell(t, r, (size_t)col->from), col);
			continue;
		}
		if ((size_t)col->kernel > row->n_pairs) {
			kab_buf_adds(out, "<td class=w>missing");
			continue;
		}
		kab_buf_addf(out, "<td data-v=%d>", (int)row->pairs[col->kernel - 1].outcome);
		kab_html_verdict(out, &row->pairs[col->kernel - 1]);
	}
}

static void one_row(struct kab_html *page, const struct kab_judged_row *row,
		    const struct kab_table *t, size_t r, const struct columns *list)
{
	struct kab_buf *out = page->out;

	kab_buf_adds(out, "<tbody data-o=\"");
	for (size_t p = 0; p < row->n_pairs; p++) {
		kab_buf_addf(out, p ? " %d" : "%d", (int)row->pairs[p].outcome);
		page->by[row->pairs[p].outcome]++;
	}
	kab_buf_addf(out, "\"><tr id=r%zu>", ++page->rows);
	row_cells(out, row, t, r, list);
	kab_buf_adds(out, "<td class=pic>");
	kab_html_strip(out, row);
	kab_buf_addf(out, "<tr class=more><td colspan=%zu>", list->n + 1);
	kab_html_details(page, row);
}

static bool any_value(const struct kab_judged_row *row)
{
	for (size_t k = 0; k < row->n_sets; k++)
		if (kab_set_any(&row->sets[k]))
			return true;
	return false;
}

static void lines_of(struct kab_buf *out, const struct kab_strv *lines, const char *cls)
{
	struct kab_strv kab_autostrv whole = KAB_STRV_INIT;

	kab_html_unwrap(lines, &whole);
	if (!whole.n)
		return;
	kab_buf_addf(out, "<ul class=%s>\n", cls);
	for (size_t i = 0; i < whole.n; i++)
		kab_html_element(out, "li", NULL, whole.v[i]);
	kab_buf_adds(out, "</ul>\n");
}

void kab_html_table(struct kab_html *page, const struct kab_group *g, bool judged)
{
	struct kab_view_opts opts = KAB_VIEW_OPTS_INIT;
	struct kab_buf *out = page->out;
	struct columns list = { 0 };
	struct kab_table t = { 0 };
	size_t id = ++page->tables, r = 0;

	opts.pm = page->opts->pm;
	if (judged)
		kab_view_compare(g, &opts, &t);
	else
		kab_view_other(g, &opts, &t);
	choose_columns(&t, judged, &list);
	kab_strv_add(&page->titles, t.title);
	kab_buf_addf(out, "<section%s><h2 id=t%zu>", g->n <= SHORT ? " class=short" : "", id);
	kab_html_escape(out, t.title);
	kab_buf_adds(out, "</h2>\n");
	lines_of(out, &t.legend, "legend");
	kab_buf_addf(out,
		     "<div class=wide role=region aria-labelledby=t%zu tabindex=0>\n"
		     "<table class=main aria-labelledby=t%zu>\n<caption>",
		     id, id);
	kab_html_escape(out, t.title);
	kab_buf_adds(out, "</caption>\n");
	head_rows(out, g, &list);
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);

		/* The view of what is not judged leaves rows without values out. */
		if (!judged && !any_value(row))
			continue;
		if (r < t.n_rows)
			one_row(page, row, &t, r++, &list);
	}
	kab_buf_adds(out, "</table></div>\n");
	lines_of(out, &t.notes, "notes");
	kab_buf_adds(out, "</section>\n");
	free(list.v);
	kab_table_release(&t);
}
