/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells as padded text: columns of equal width, numbers on their decimal points. */
#include <string.h>

#include "base/alloc.h"
#include "reports/table.h"

static bool stands_on_point(const struct kab_cell *cell)
{
	return cell->kind == KAB_CELL_NUMBER || cell->kind == KAB_CELL_PERCENT;
}

/* Characters before the decimal point (or before what follows the last digit). */
static size_t before_point(const char *text)
{
	size_t n = strlen(text);

	if (strchr(text, '.'))
		return (size_t)(strchr(text, '.') - text);
	while (n && text[n - 1] == '%')
		n--;
	return n;
}

static void pad(char **text, size_t width, bool left)
{
	size_t have = kab_text_width(*text);
	struct kab_buf buf = KAB_BUF_INIT;

	if (have >= width)
		return;
	if (!left)
		kab_buf_fill(&buf, ' ', width - have);
	kab_buf_adds(&buf, *text);
	if (left)
		kab_buf_fill(&buf, ' ', width - have);
	free(*text);
	*text = kab_buf_detach(&buf);
}

static char *cell_text(const struct kab_table *t, size_t r, size_t c, kab_escape_fn *escape,
		       const char *prefix)
{
	const struct kab_cell *cell = kab_table_cell(t, r, c);
	struct kab_buf raw = KAB_BUF_INIT, buf = KAB_BUF_INIT;
	bool spread = prefix && t->cols[c].role == KAB_ROLE_SPREAD && cell->kind != KAB_CELL_EMPTY;

	kab_cell_print(cell, &raw);
	if (escape)
		escape(&buf, kab_buf_str(&raw));
	else
		kab_buf_adds(&buf, kab_buf_str(&raw));
	kab_buf_release(&raw);
	if (spread) {
		struct kab_buf with = KAB_BUF_INIT;

		kab_buf_adds(&with, prefix);
		kab_buf_adds(&with, kab_buf_str(&buf));
		kab_buf_release(&buf);
		return kab_buf_detach(&with);
	}
	return buf.data ? kab_buf_detach(&buf) : kab_xstrdup("");
}

/* Put the numbers of one column on their points; the prefix stays at the left edge. */
static void align_points(const struct kab_table *t, size_t c, const char *prefix, char **cells)
{
	size_t before = 0, after = 0, skip = 0;

	if (prefix && t->cols[c].role == KAB_ROLE_SPREAD)
		skip = strlen(prefix);
	for (size_t r = 0; r < t->n_rows; r++) {
		const char *text = cells[r * t->n_cols + c];
		size_t b;

		if (!stands_on_point(kab_table_cell(t, r, c)))
			continue;
		b = before_point(text + skip);
		before = b > before ? b : before;
		after = strlen(text + skip) - b > after ? strlen(text + skip) - b : after;
	}
	for (size_t r = 0; r < t->n_rows; r++) {
		char **cell = &cells[r * t->n_cols + c];
		struct kab_buf buf = KAB_BUF_INIT;
		size_t b;

		if (!stands_on_point(kab_table_cell(t, r, c)))
			continue;
		b = before_point(*cell + skip);
		kab_buf_add(&buf, *cell, skip);
		kab_buf_fill(&buf, ' ', before - b);
		kab_buf_adds(&buf, *cell + skip);
		kab_buf_fill(&buf, ' ', before + after - (before - b) - strlen(*cell + skip));
		free(*cell);
		*cell = kab_buf_detach(&buf);
	}
}

/* A group head that is wider than its columns widens the first of them. */
static void widen_for_groups(const struct kab_table *t, const struct kab_layout_opts *opts,
			     struct kab_layout *ret)
{
	for (size_t c = 0; c < t->n_cols;) {
		size_t last = c, span = ret->width[c], head;

		if (!t->cols[c].group) {
			c++;
			continue;
		}
		while (last + 1 < t->n_cols && t->cols[last + 1].group &&
		       !strcmp(t->cols[last + 1].group, t->cols[c].group)) {
			last++;
			span += ret->width[last] +
				(t->cols[last].glue ? opts->glue_gap : opts->gap);
		}
		head = kab_text_width(t->cols[c].group);
		if (head > span)
			ret->width[c] += head - span;
		c = last + 1;
	}
}

static char *head_text(const struct kab_table *t, const struct kab_column *col,
		       const struct kab_layout_opts *opts)
{
	char *both kab_autofree = NULL;
	const char *text = col->head;
	struct kab_buf buf = KAB_BUF_INIT;

	if (opts->heads == KAB_HEADS_FLAT && col->group && col->role == KAB_ROLE_VALUE) {
		both = kab_xasprintf("%s %s", col->group, col->head);
		text = t->two_heads ? both : col->group;
	}
	if (opts->escape)
		opts->escape(&buf, text);
	else
		kab_buf_adds(&buf, text);
	return buf.data ? kab_buf_detach(&buf) : kab_xstrdup("");
}

void kab_layout_make(const struct kab_table *t, const struct kab_layout_opts *opts,
		     struct kab_layout *ret)
{
	ret->n_rows = t->n_rows;
	ret->n_cols = t->n_cols;
	ret->cells = kab_xcalloc(t->n_rows * t->n_cols + 1, sizeof(char *));
	ret->heads = kab_xcalloc(t->n_cols + 1, sizeof(char *));
	ret->width = kab_xcalloc(t->n_cols + 1, sizeof(size_t));
	for (size_t c = 0; c < t->n_cols; c++) {
		/* Below a group the heads of the columns are not printed on one line. */
		bool counts = opts->heads == KAB_HEADS_FLAT ||
			      (opts->heads == KAB_HEADS_GROUPED &&
			       (!t->cols[c].group || !opts->prefix || t->two_heads));

		ret->heads[c] = head_text(t, &t->cols[c], opts);
		if (counts)
			ret->width[c] = kab_text_width(ret->heads[c]);
		for (size_t r = 0; r < t->n_rows; r++)
			ret->cells[r * t->n_cols + c] =
				cell_text(t, r, c, opts->escape, opts->prefix);
		align_points(t, c, opts->prefix, ret->cells);
		for (size_t r = 0; r < t->n_rows; r++) {
			size_t w = kab_text_width(ret->cells[r * t->n_cols + c]);

			ret->width[c] = w > ret->width[c] ? w : ret->width[c];
		}
	}
	if (opts->heads == KAB_HEADS_GROUPED)
		widen_for_groups(t, opts, ret);
	for (size_t c = 0; c < t->n_cols; c++) {
		pad(&ret->heads[c], ret->width[c], t->cols[c].left);
		for (size_t r = 0; r < t->n_rows; r++)
			pad(&ret->cells[r * t->n_cols + c], ret->width[c], t->cols[c].left);
	}
}

void kab_layout_release(struct kab_layout *layout)
{
	for (size_t i = 0; i < layout->n_rows * layout->n_cols; i++)
		free(layout->cells[i]);
	for (size_t i = 0; i < layout->n_cols; i++)
		free(layout->heads[i]);
	free(layout->cells);
	free(layout->heads);
	free(layout->width);
	memset(layout, 0, sizeof(*layout));
}
