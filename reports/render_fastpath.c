/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fastpath: an RST grid; rows of one benchmark are a group between rules and name it once; a cell
 * is the raw change with (R) or (I) before it where significant. Columns of the table: benchmark,
 * result class, then NAME_pct and NAME_mark for each kernel.
 */
#include <string.h>

#include "base/alloc.h"
#include "reports/renderers.h"

struct shape {
	size_t *width;
	size_t n; /* printed columns */
};

static bool is_mark(const struct kab_table *t, size_t c)
{
	return c >= 2 && t->cols[c].role == KAB_ROLE_MARK;
}

/* "(R) 15.62%", "-4.00%", or the word. */
static void cell_text(const struct kab_table *t, size_t r, size_t c, bool exact,
		      struct kab_buf *text)
{
	const struct kab_cell *cell = kab_table_cell(t, r, c);
	const struct kab_cell *mark =
		c + 1 < t->n_cols && is_mark(t, c + 1) ? kab_table_cell(t, r, c + 1) : NULL;

	if (c < 2) {
		kab_cell_print(cell, text);
		return;
	}
	if (mark && mark->text && mark->text[0])
		kab_buf_addf(text, "(%s) ", mark->text);
	kab_render_number(text, cell, 0, 2, false, exact);
	if (cell->kind == KAB_CELL_NUMBER || cell->kind == KAB_CELL_PERCENT ||
	    (cell->kind == KAB_CELL_TEXT && !strchr(cell->text, '%')))
		kab_buf_addc(text, '%');
}

static const char *head_of(const struct kab_table *t, size_t c)
{
	return t->cols[c].group ? t->cols[c].group : t->cols[c].head;
}

static void measure(const struct kab_table *t, bool exact, struct shape *shape)
{
	const char *given = NULL;

	shape->width = kab_xcalloc(t->n_cols + 1, sizeof(size_t));
	for (size_t i = 0; i < t->header.n; i++)
		if (t->header.v[i][0] == '+' && (!given || t->header.v[i][1] == '='))
			given = t->header.v[i];
	for (const char *p = given; p && *p && shape->n < t->n_cols;) {
		size_t len = strcspn(p + 1, "+");

		if (!p[1 + len])
			break;
		shape->width[shape->n++] = len > 2 ? len - 2 : 0;
		p += 1 + len;
	}
	if (shape->n)
		return;
	for (size_t c = 0; c < t->n_cols; c++) {
		size_t w = kab_text_width(head_of(t, c));

		if (is_mark(t, c))
			continue;
		for (size_t r = 0; r < t->n_rows; r++) {
			struct kab_buf kab_autobuf text = KAB_BUF_INIT;
			size_t n;

			cell_text(t, r, c, exact, &text);
			n = kab_text_width(kab_buf_str(&text));
			w = n > w ? n : w;
		}
		shape->width[shape->n++] = w;
	}
}

static void rule(const struct shape *shape, char c, struct kab_buf *out)
{
	for (size_t i = 0; i < shape->n; i++) {
		kab_buf_addc(out, '+');
		kab_buf_fill(out, c, shape->width[i] + 2);
	}
	kab_buf_adds(out, "+\n");
}

static void put(const char *text, size_t width, bool left, struct kab_buf *out)
{
	size_t have = kab_text_width(text), more = width > have ? width - have : 0;

	kab_buf_adds(out, "| ");
	kab_buf_fill(out, ' ', left ? 0 : more);
	kab_buf_adds(out, text);
	kab_buf_fill(out, ' ', (left ? more : 0) + 1);
}

static void own_head(const struct kab_table *t, const struct shape *shape, struct kab_buf *out)
{
	rule(shape, '-', out);
	for (size_t c = 0, i = 0; c < t->n_cols; c++)
		if (!is_mark(t, c)) {
			put(head_of(t, c), shape->width[i], c < 2, out);
			i++;
		}
	kab_buf_adds(out, "|\n");
	rule(shape, '=', out);
}

/* Whether the row goes on with the benchmark of the row above. */
static bool goes_on(const struct kab_table *t, size_t r)
{
	struct kab_buf kab_autobuf a = KAB_BUF_INIT, b = KAB_BUF_INIT;

	if (!r)
		return false;
	kab_cell_print(kab_table_cell(t, r - 1, 0), &a);
	kab_cell_print(kab_table_cell(t, r, 0), &b);
	return !b.len || !strcmp(kab_buf_str(&a), kab_buf_str(&b));
}

void kab_render_fastpath(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct shape shape = { 0 };

	measure(t, exact, &shape);
	kab_render_head(t, out);
	if (t->literal)
		kab_render_given(&t->header, exact, out);
	else
		own_head(t, &shape, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		bool more = goes_on(t, r);

		if (r && !more)
			rule(&shape, '-', out);
		for (size_t c = 0, i = 0; c < t->n_cols; c++) {
			struct kab_buf kab_autobuf text = KAB_BUF_INIT;

			if (is_mark(t, c))
				continue;
			if (c || !more)
				cell_text(t, r, c, exact, &text);
			put(kab_buf_str(&text), i < shape.n ? shape.width[i] : 0, c < 2, out);
			i++;
		}
		kab_buf_adds(out, "|\n");
	}
	/* The last rule is part of a footer that was given. */
	if (!t->footer.n || t->footer.v[0][0] != '+')
		rule(&shape, '-', out);
	kab_render_given(&t->footer, exact, out);
	kab_render_notes(t, out);
	free(shape.width);
}
