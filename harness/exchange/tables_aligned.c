/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables whose columns are kept apart by blanks. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "exchange/tables_internal.h"

#define ITEMS_MAX 48
#define LABEL_WORDS_MAX 10
#define HEAD_LINES_MAX 3
#define COMMA_LINES_MAX 256
#define ROWS_MAX 2048 /* what is longer goes on as another table */
#define PLAIN_LINES_MAX 8

struct line_row {
	struct kab_piece label;
	struct kab_item items[ITEMS_MAX];
	size_t n;
};

/* "[+2.2, +5.8]": an interval; it is no column to recompute. Returns where it ends, or 0. */
static size_t interval(const char *s, size_t len, size_t at)
{
	size_t i = at + 1, commas = 0;

	if (s[at] != '[')
		return 0;
	for (; i < len && s[i] != ']'; i++) {
		if (!strchr("0123456789+-., %", s[i]))
			return 0;
		commas += s[i] == ',';
	}
	return i < len && commas == 1 ? i + 1 : 0;
}

static bool is_mark(const char *s, size_t n)
{
	return (n == 1 && strchr("IR=?*~!|-", *s)) || (n == 2 && !strncmp(s, "**", 2)) ||
	       (n == 4 && !strncmp(s, "n.s.", 4));
}

/* "100.25  -4.0%  96.24  hackbench.time.elapsed": where the last word begins, or 0. */
static size_t trailing_metric(const char *s, size_t len, bool comma)
{
	size_t from = len, first = 0;
	struct kab_item item;

	while (from && !isspace((unsigned char)s[from - 1]))
		from--;
	while (first < len && isspace((unsigned char)s[first]))
		first++;
	if (first >= from || !isalpha((unsigned char)s[from]) ||
	    !memchr(s + from, '.', len - from) || s[len - 1] == '.' ||
	    kab_item_scan(s, len, from, comma, &item) ||
	    !kab_item_scan(s, len, first, comma, &item))
		return 0;
	return from;
}

static bool read_row(const char *s, size_t len, bool comma, struct line_row *row)
{
	struct kab_pieces fields = { 0 };
	size_t i = 0, words = 0, label_end = 0, metric, whole;

	row->n = 0;
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	whole = len;
	/* The test robot puts the name of the metric last. */
	metric = trailing_metric(s, len, comma);
	if (metric)
		len = metric;
	while (i < len) {
		size_t e;

		if (isspace((unsigned char)s[i])) {
			i++;
			continue;
		}
		if (row->n == ITEMS_MAX)
			return false;
		e = kab_item_scan(s, len, i, comma, &row->items[row->n]);
		if (e) {
			row->n++;
			i = e;
			continue;
		}
		if (row->n && (e = interval(s, len, i))) {
			i = e;
			continue;
		}
		/* A note behind the row. */
		if (row->n && len - i > 2 && !strncmp(s + i, "<-", 2))
			break;
		e = i;
		while (e < len && !isspace((unsigned char)s[e]))
			e++;
		if (!(row->n && is_mark(s + i, e - i))) {
			label_end = e;
			row->n = 0;
			words++;
		}
		i = e;
	}
	row->label = (struct kab_piece){ 0, label_end };
	if (metric && words)
		return false;
	if (metric)
		row->label = (struct kab_piece){ metric, whole };
	if (!row->n || words > LABEL_WORDS_MAX || (words && strchr("+-", s[0]) && s[1] == s[0]))
		return false;
	/* "Decay : 32 ms      13.29": what stands close to the words belongs to them. */
	kab_pieces_split(s, len, false, &fields);
	for (size_t f = 0; label_end && f + 1 < fields.n; f++) {
		size_t drop = 0;

		if (label_end <= fields.v[f].from || label_end > fields.v[f].to)
			continue;
		while (drop < row->n && row->items[drop].at < fields.v[f].to)
			drop++;
		if (!drop || drop == row->n)
			continue;
		for (size_t k = 0; k < drop; k++)
			if (row->items[k].kind != KAB_ITEM_VALUE)
				drop = 0;
		if (drop) {
			row->label.to = fields.v[f].to;
			memmove(row->items, row->items + drop,
				(row->n - drop) * sizeof(*row->items));
			row->n -= drop;
		}
	}
	free(fields.v);
	return row->items[0].kind == KAB_ITEM_VALUE || row->items[0].kind == KAB_ITEM_PERCENT;
}

/* The form of a row: a letter an item, values are 'V'. */
static void form_of(const struct line_row *row, char form[ITEMS_MAX + 1])
{
	static const char letters[] = "VPrRqQmM";

	for (size_t i = 0; i < row->n; i++)
		form[i] = letters[row->items[i].kind];
	form[row->n] = '\0';
}

/* Are the letters of `few` in `many`, in that order? */
static bool is_part(const char *few, size_t n, const char *many, size_t m)
{
	size_t k = 0;

	for (size_t i = 0; i < m && k < n; i++)
		k += few[k] == many[i];
	return k == n;
}

/*
 * Two forms are of one table when they have the same values, and what is attached to a value in one of
 * them is all that is attached in the other, or a part of it. The richer form into *into.
 */
static bool merge_forms(char into[ITEMS_MAX + 1], const char *other)
{
	char out[ITEMS_MAX + 1];
	const char *a = into, *b = other;
	size_t n = 0;

	while (*a || *b) {
		size_t na, nb;
		bool richer;

		if (*a != *b)
			return false;
		na = 1 + strcspn(a + 1, "V");
		nb = 1 + strcspn(b + 1, "V");
		richer = na >= nb;
		if (richer ? !is_part(b, nb, a, na) : !is_part(a, na, b, nb))
			return false;
		if (n + (richer ? na : nb) > ITEMS_MAX)
			return false;
		memcpy(out + n, richer ? a : b, richer ? na : nb);
		n += richer ? na : nb;
		a += na;
		b += nb;
	}
	out[n] = '\0';
	memcpy(into, out, n + 1);
	return true;
}

static void place_items(const struct line_row *row, const char *form, struct kab_mail_row *to)
{
	static const char letters[] = "VPrRqQmM";
	size_t c = 0;

	for (size_t i = 0; i < row->n; i++) {
		while (form[c] && form[c] != letters[row->items[i].kind])
			c++;
		if (!form[c])
			break;
		to->items[c++] = row->items[i];
	}
}

/* ---- heads ---- */

static bool is_prose(const char *s, size_t len)
{
	struct kab_pieces words = { 0 }, fields = { 0 };
	bool prose;

	kab_pieces_split(s, len, true, &words);
	kab_pieces_split(s, len, false, &fields);
	prose = fields.n == 1 && (words.n > 9 || (len && s[len - 1] == '.'));
	free(words.v);
	free(fields.v);
	return prose;
}

static void append_head(struct kab_mail_column *c, const char *s, size_t n)
{
	char *text kab_autofree = kab_line_trimmed(s, n);
	char *both = *c->head ? kab_xasprintf("%s %s", c->head, text) : kab_xstrdup(text);

	free(c->head);
	c->head = both;
}

/* "95% CI": what stands below it, in brackets, is no column. */
static bool is_interval(const char *s, size_t n)
{
	size_t digits = 0;

	while (digits < n && isdigit((unsigned char)s[digits]))
		digits++;
	return digits && n == digits + 4 && !memcmp(s + digits, "% CI", 4);
}

/* One line of heads over the columns that have heads of their own (values and separate percents). */
static void assign_heads(struct kab_mail_table *t, const char *s, size_t len, bool rejoined)
{
	struct kab_pieces f = { 0 };
	size_t own[ITEMS_MAX], n = 0, first = t->rows[0].items[0].at, skip = 0;

	kab_pieces_split(s, len, false, &f);
	for (size_t c = 0; c < t->n_cols && n < ITEMS_MAX; c++)
		if (t->cols[c].kind == KAB_ITEM_VALUE || t->cols[c].kind == KAB_ITEM_PERCENT)
			own[n++] = c;
	if (f.n == 1 && (rejoined || n > 1)) {
		f.n = 0;
		kab_pieces_split(s, len, true, &f);
	}
	if (f.n > n + 1 && is_interval(s + f.v[f.n - 1].from, f.v[f.n - 1].to - f.v[f.n - 1].from))
		f.n--;
	if (f.n > n) {
		/* The first head is that of the labels, unless it stands over the first value. */
		if (f.v[0].from < first || rejoined)
			skip = f.n - n;
		for (size_t i = 0; i < n; i++)
			append_head(&t->cols[own[i]], s + f.v[i + skip].from,
				    f.v[i + skip].to - f.v[i + skip].from);
		for (size_t i = n + skip; i < f.n; i++)
			append_head(&t->cols[t->n_cols - 1], s + f.v[i].from,
				    f.v[i].to - f.v[i].from);
	} else {
		skip = n - f.n;
		for (size_t i = 0; i < f.n; i++)
			append_head(&t->cols[own[i + skip]], s + f.v[i].from,
				    f.v[i].to - f.v[i].from);
	}
	free(f.v);
}

/* Lines above the first row that are heads; returns the first of them. */
static size_t find_heads(const struct kab_mail_lines *lines, size_t after, struct kab_mail_table *t)
{
	size_t row = t->rows[0].line, from = row;

	while (from > after && row - from < HEAD_LINES_MAX) {
		const struct kab_mail_line *line = &lines->v[from - 1];
		struct kab_pieces f = { 0 }, w = { 0 };
		bool single;

		if (line->depth != t->depth || kab_line_is_blank(line->text, line->len) ||
		    kab_line_is_rule(line->text, line->len) || is_prose(line->text, line->len))
			break;
		kab_pieces_split(line->text, line->len, false, &f);
		kab_pieces_split(line->text, line->len, true, &w);
		/* "process-pipes:" is a title; so is a command line. */
		single = f.n == 1 && (w.n == 1 || line->text[f.v[0].to - 1] == ':' ||
				      memchr(line->text, ':', line->len) ||
				      (from < row && w.n != t->n_cols + 1 && w.n != t->n_cols));
		if (memmem(line->text, line->len, " : ", 3))
			single = true;
		if (f.n == 1 && w.n > 1 && memmem(line->text, line->len, " -", 2))
			single = true;
		free(f.v);
		free(w.v);
		if (single && !(t->n_cols == 1))
			break;
		from--;
	}
	return from;
}

/* ---- the first columns may be labels ---- */

static bool labels_unique(const struct kab_mail_table *t)
{
	for (size_t a = 0; a < t->n_rows; a++)
		for (size_t b = 0; b < a; b++)
			if (!strcmp(t->rows[a].label, t->rows[b].label))
				return false;
	return true;
}

/* How many columns are values by themselves. */
static size_t values(const struct kab_mail_table *t)
{
	size_t n = 0;

	for (size_t c = 0; c < t->n_cols; c++)
		n += t->cols[c].kind == KAB_ITEM_VALUE;
	return n;
}

static bool whole_numbers(const struct kab_mail_table *t, size_t c)
{
	for (size_t r = 0; r < t->n_rows; r++)
		if (!t->rows[r].items[c].present || t->rows[r].items[c].decimals ||
		    *t->rows[r].items[c].unit)
			return false;
	return true;
}

static void demote_first(struct kab_mail_table *t, const struct kab_mail_lines *lines)
{
	while (t->n_cols > 1 && t->cols[0].kind == KAB_ITEM_VALUE && t->cols[1].owner != 0) {
		bool no_labels = !*t->rows[0].label;
		bool more = values(t) > 2 || t->cols[1].kind != KAB_ITEM_VALUE ||
			    (t->n_cols > 2 && t->cols[2].owner == 1);

		if (!kab_words_is_label(t->cols[0].head) &&
		    !(whole_numbers(t, 0) && (more || values(t) == 2) &&
		      (no_labels || (more && !labels_unique(t)))))
			return;
		for (size_t r = 0; r < t->n_rows; r++) {
			struct kab_mail_row *row = &t->rows[r];
			const struct kab_mail_line *line = &lines->v[row->line];
			const struct kab_item *item = &row->items[0];
			size_t n =
				item->at < line->len ? strcspn(line->text + item->at, " \t|\n") : 0;
			char *label;

			if (item->at + n > line->len)
				n = line->len - item->at;
			label = kab_xasprintf("%s%s%.*s", row->label, *row->label ? " " : "",
					      (int)n, line->text + item->at);
			free(row->label);
			row->label = label;
		}
		kab_table_drop_column(t, 0);
	}
}

/* ---- style ---- */

static void find_style(struct kab_mail_table *t)
{
	bool ones = t->n_rows > 0, square_zero = t->n_rows > 0;
	int v2 = -1;

	for (size_t c = 1; c < t->n_cols && v2 < 0; c++)
		if (t->cols[c].kind == KAB_ITEM_VALUE)
			v2 = (int)c;
	for (size_t r = 0; r < t->n_rows; r++) {
		ones = ones && t->rows[r].items[0].present &&
		       !strcmp(t->rows[r].items[0].printed, "1.00");
		square_zero = square_zero && t->n_cols > 1 && t->rows[r].items[1].present &&
			      fabs(t->rows[r].items[1].value) < 0.005;
	}
	if (ones && t->n_cols > 1 && t->cols[1].kind == KAB_ITEM_SQUARE && square_zero)
		t->style = KAB_MAIL_TABLE_NORM;
	else if (ones && v2 > 0 &&
		 (strstr(t->cols[v2].head, "compare") || strstr(t->cols[v2].head, "%")))
		t->style = KAB_MAIL_TABLE_SCHEDTESTS;
	else if (kab_words_have(t->rows[0].label, "amean") ||
		 kab_words_have(t->rows[0].label, "hmean") ||
		 (t->n_cols > 1 && t->cols[1].kind == KAB_ITEM_ROUND_PCT && square_zero))
		t->style = KAB_MAIL_TABLE_MMTESTS;
}

/* schedtests prints the change, not the value: what looks like a value is a percentage. */
static void mark_change_column(struct kab_mail_table *t)
{
	int v2 = -1;

	if (t->style != KAB_MAIL_TABLE_SCHEDTESTS)
		return;
	for (size_t c = 1; c < t->n_cols; c++) {
		if (t->cols[c].kind != KAB_ITEM_VALUE)
			continue;
		v2 = (int)c;
		t->cols[c].kind = KAB_ITEM_PERCENT;
		t->cols[c].role = KAB_MAIL_COLUMN_ATTACHED;
		t->cols[c].owner = -1;
		for (size_t r = 0; r < t->n_rows; r++)
			t->rows[r].items[c].kind = KAB_ITEM_PERCENT;
	}
	for (size_t c = 0; v2 > 0 && c < t->n_cols; c++)
		if (t->cols[c].kind == KAB_ITEM_ROUND)
			t->cols[c].role = KAB_MAIL_COLUMN_SPREAD;
}

static bool is_table(const struct kab_mail_table *t, bool heads)
{
	size_t attached = t->n_cols - values(t);

	if (values(t) >= 2)
		return t->n_rows >= 2 || (heads && t->n_rows == 1 && *t->rows[0].label);
	return attached && t->n_rows >= 2;
}

static bool soon_richer(const struct kab_mail_lines *lines, size_t at, bool comma)
{
	struct line_row row;

	for (size_t i = at + 1; i < lines->n && i <= at + PLAIN_LINES_MAX; i++)
		if (read_row(lines->v[i].text, lines->v[i].len, comma, &row) && row.n > 1)
			return true;
	return false;
}

size_t kab_find_aligned(const struct kab_mail_lines *lines, size_t at, size_t after,
			struct kab_mail_table *ret)
{
	const struct kab_mail_line *line = &lines->v[at];
	struct line_row *rows = NULL;
	size_t n_rows = 0, cap = 0, end = at, *row_line = NULL, from;
	char form[ITEMS_MAX + 1], other[ITEMS_MAX + 1];
	struct line_row row;
	bool comma = false;

	if (memchr(line->text, '|', line->len) || !read_row(line->text, line->len, true, &row))
		return at;
	/* A number per line is no table, unless something is attached to some of them. */
	if (row.n == 1 && row.items[0].kind == KAB_ITEM_VALUE && !soon_richer(lines, at, true))
		return at;
	/* Decimal commas are decided over the lines of one depth that follow each other. */
	for (size_t i = at;
	     i < lines->n && i < at + COMMA_LINES_MAX && lines->v[i].depth == line->depth &&
	     !kab_line_is_blank(lines->v[i].text, lines->v[i].len);
	     i++)
		comma = comma || (read_row(lines->v[i].text, lines->v[i].len, true, &row) &&
				  kab_item_comma_is_decimal(lines->v[i].text, lines->v[i].len));
	if (!read_row(line->text, line->len, comma, &row))
		return at;
	form_of(&row, form);
	for (size_t i = at; i < lines->n && lines->v[i].depth == line->depth && n_rows < ROWS_MAX;
	     i++) {
		const struct kab_mail_line *l = &lines->v[i];

		if (kab_line_is_rule(l->text, l->len))
			continue;
		if (!read_row(l->text, l->len, comma, &row)) {
			/* "per-request statistics:" within a table. */
			if (l->len && !kab_line_is_blank(l->text, l->len) &&
			    l->text[l->len - 1] == ':' && i + 1 < lines->n &&
			    read_row(lines->v[i + 1].text, lines->v[i + 1].len, comma, &row))
				continue;
			break;
		}
		form_of(&row, other);
		if (!merge_forms(form, other))
			break;
		if (n_rows == cap) {
			cap = cap ? 2 * cap : 16;
			rows = kab_xreallocarray(rows, cap, sizeof(*rows));
			row_line = kab_xreallocarray(row_line, cap, sizeof(*row_line));
		}
		rows[n_rows] = row;
		row_line[n_rows++] = i;
		end = i + 1;
	}
	ret->depth = line->depth;
	ret->decimal_comma = comma;
	for (int i = 0, owner = -1; form[i]; i++) {
		static const char letters[] = "VPrRqQmM";
		enum kab_item_kind kind = (enum kab_item_kind)(strchr(letters, form[i]) - letters);

		if (kind == KAB_ITEM_VALUE)
			owner = i;
		kab_table_add_column(ret,
				     kind == KAB_ITEM_VALUE ? KAB_MAIL_COLUMN_VALUE
							    : KAB_MAIL_COLUMN_ATTACHED,
				     kind, kind == KAB_ITEM_VALUE ? -1 : owner, i, "");
	}
	for (size_t r = 0; r < n_rows; r++) {
		const struct kab_mail_line *l = &lines->v[row_line[r]];
		char *label kab_autofree = kab_line_trimmed(l->text + rows[r].label.from,
							    rows[r].label.to - rows[r].label.from);
		size_t n = strlen(label);

		while (n && strchr(" :", label[n - 1]))
			label[--n] = '\0';
		place_items(&rows[r], form, kab_table_add_row(ret, label, row_line[r]));
	}
	free(rows);
	free(row_line);
	from = find_heads(lines, after, ret);
	if (!is_table(ret, from < at))
		return at;
	for (size_t i = from; i < at; i++)
		assign_heads(ret, lines->v[i].text, lines->v[i].len,
			     !memmem(lines->v[i].text, lines->v[i].len, "  ", 2));
	ret->first_line = from;
	ret->last_line = end - 1;
	demote_first(ret, lines);
	find_style(ret);
	kab_table_describe(lines, after, from, ret);
	mark_change_column(ret);
	return end;
}
