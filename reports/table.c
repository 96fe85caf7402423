/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/table.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "reports/number.h"

static void release_column(struct kab_column *col)
{
	free(col->name);
	free(col->head);
	free(col->group);
}

void kab_table_release(struct kab_table *t)
{
	for (size_t i = 0; i < t->n_rows * t->n_cols; i++)
		free(t->cells[i].text);
	for (size_t i = 0; i < t->n_cols; i++)
		release_column(&t->cols[i]);
	free(t->cells);
	free(t->cols);
	free(t->title);
	free(t->benchmark);
	free(t->unit);
	free(t->statistic);
	kab_strv_release(&t->legend);
	kab_strv_release(&t->notes);
	kab_strv_release(&t->header);
	kab_strv_release(&t->footer);
	memset(t, 0, sizeof(*t));
}

/* A cell is on one line, whatever a host or a file put into a name. */
static char *one_line(const char *text)
{
	struct kab_buf line = KAB_BUF_INIT;

	if (!text || kab_text_is_line(text))
		return kab_xstrdup(text);
	kab_text_escape_line(&line, text);
	return kab_buf_detach(&line);
}

struct kab_column *kab_table_column(struct kab_table *t, enum kab_role role, int kernel,
				    const char *name, const char *head, const char *group)
{
	struct kab_column *col;

	if (t->n_cols == t->cap_cols) {
		t->cap_cols = t->cap_cols ? 2 * t->cap_cols : 16;
		t->cols = kab_xreallocarray(t->cols, t->cap_cols, sizeof(*t->cols));
	}
	col = &t->cols[t->n_cols++];
	memset(col, 0, sizeof(*col));
	col->role = role;
	col->kernel = kernel;
	col->name = one_line(name);
	col->head = one_line(head ? head : name);
	col->group = one_line(group);
	return col;
}

struct kab_cell *kab_table_row(struct kab_table *t)
{
	size_t need = (t->n_rows + 1) * t->n_cols;
	struct kab_cell *row;

	if (need > t->cap_cells) {
		t->cap_cells = 2 * need;
		t->cells = kab_xreallocarray(t->cells, t->cap_cells, sizeof(*t->cells));
	}
	row = &t->cells[t->n_rows++ * t->n_cols];
	memset(row, 0, t->n_cols * sizeof(*row));
	return row;
}

int kab_table_find(const struct kab_table *t, enum kab_role role, int kernel)
{
	for (size_t i = 0; i < t->n_cols; i++)
		if (t->cols[i].role == role && t->cols[i].kernel == kernel)
			return (int)i;
	return -1;
}

int kab_table_kernels(const struct kab_table *t)
{
	int n = 0;

	for (size_t i = 0; i < t->n_cols; i++)
		if (t->cols[i].kernel >= n)
			n = t->cols[i].kernel + 1;
	return n;
}

static void set_text(struct kab_cell *cell, enum kab_cell_kind kind, const char *text)
{
	free(cell->text);
	cell->text = one_line(text);
	cell->kind = kind;
	cell->value = cell->lo = cell->hi = NAN;
}

void kab_cell_text(struct kab_cell *cell, const char *text)
{
	set_text(cell, KAB_CELL_TEXT, text);
}

void kab_cell_word(struct kab_cell *cell, const char *word)
{
	set_text(cell, KAB_CELL_WORD, word);
}

static bool set_number(struct kab_cell *cell, enum kab_cell_kind kind, double value, int decimals)
{
	if (!isfinite(value)) {
		kab_cell_word(cell, "n/a");
		return false;
	}
	cell->kind = kind;
	cell->value = value;
	cell->decimals = decimals;
	return true;
}

void kab_cell_number(struct kab_cell *cell, double value, int decimals)
{
	set_number(cell, KAB_CELL_NUMBER, value, decimals);
}

void kab_cell_percent(struct kab_cell *cell, double value, int decimals, bool plus)
{
	if (set_number(cell, KAB_CELL_PERCENT, value, decimals))
		cell->plus = plus;
}

void kab_cell_interval(struct kab_cell *cell, double lo, double hi, int decimals)
{
	if (!isfinite(lo) || !isfinite(hi))
		return;
	cell->kind = KAB_CELL_INTERVAL;
	cell->lo = lo;
	cell->hi = hi;
	cell->value = NAN;
	cell->decimals = decimals;
	cell->plus = true;
}

static void print_number(struct kab_buf *buf, double value, int decimals, bool plus)
{
	if (decimals < 0)
		kab_number_shortest(buf, value);
	else
		kab_number_fixed(buf, value, decimals, plus);
}

void kab_cell_print(const struct kab_cell *cell, struct kab_buf *buf)
{
	switch (cell->kind) {
	case KAB_CELL_EMPTY:
		break;
	case KAB_CELL_TEXT:
	case KAB_CELL_WORD:
		kab_buf_adds(buf, cell->text);
		break;
	case KAB_CELL_NUMBER:
	case KAB_CELL_PERCENT:
		if (cell->text)
			kab_buf_adds(buf, cell->text);
		else
			print_number(buf, cell->value, cell->decimals, cell->plus);
		if (cell->kind == KAB_CELL_PERCENT)
			kab_buf_addc(buf, '%');
		break;
	case KAB_CELL_INTERVAL:
		kab_buf_addc(buf, '[');
		print_number(buf, cell->lo, cell->decimals, cell->plus);
		kab_buf_adds(buf, ", ");
		print_number(buf, cell->hi, cell->decimals, cell->plus);
		kab_buf_addc(buf, ']');
		break;
	case KAB_CELL_FLAG:
		kab_buf_adds(buf, cell->value != 0 ? "true" : "false");
		break;
	}
}

void kab_wrap(struct kab_strv *lines, const char *text, size_t width, size_t indent)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	char *safe kab_autofree = one_line(text); /* names in it cannot end a line */
	bool fresh = true; /* nothing but indentation on this line */

	for (text = safe; *text;) {
		size_t blanks = strspn(text, " "), word = strcspn(text + blanks, " ");

		if (!fresh && line.len + blanks + word > width) {
			kab_buf_rtrim(&line, " ");
			kab_strv_add(lines, kab_buf_str(&line));
			kab_buf_clear(&line);
			kab_buf_fill(&line, ' ', indent);
		} else {
			kab_buf_fill(&line, ' ', blanks);
		}
		fresh = fresh && !word;
		kab_buf_add(&line, text + blanks, word);
		text += blanks + word;
	}
	kab_buf_rtrim(&line, " ");
	if (line.len)
		kab_strv_add(lines, kab_buf_str(&line));
}

size_t kab_text_width(const char *text)
{
	size_t widest = 0, now = 0;

	for (; *text; text++) {
		if (*text == '\n') {
			now = 0;
			continue;
		}
		if (*text == '\t')
			now = (now / 8 + 1) * 8;
		else if (((unsigned char)*text & 0xc0) != 0x80)
			now++;
		if (now > widest)
			widest = now;
	}
	return widest;
}
