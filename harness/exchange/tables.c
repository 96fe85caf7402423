/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/tables.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "exchange/tables_internal.h"

#define CONTEXT_LINES 30

const char *kab_mail_table_style_name(enum kab_mail_table_style style)
{
	static const char *const names[] = { "aligned",	 "grid", "org",	       "markdown",
					     "mmtests",	 "norm", "schedtests", "fastpath",
					     "describe", "runs" };

	return names[style];
}

void kab_pieces_split(const char *s, size_t len, bool single, struct kab_pieces *ret)
{
	size_t i = 0;

	while (i < len) {
		size_t from, to;

		while (i < len && isspace((unsigned char)s[i]))
			i++;
		if (i >= len)
			break;
		from = to = i;
		while (i < len) {
			size_t blanks = 0;
			bool tab = false;

			while (i + blanks < len && isspace((unsigned char)s[i + blanks])) {
				tab = tab || s[i + blanks] == '\t';
				blanks++;
			}
			if (blanks && (single || tab || blanks > 1))
				break;
			i += blanks;
			if (i < len)
				to = ++i;
		}
		*KAB_PUSH(ret) = (struct kab_piece){ from, to };
	}
}

bool kab_line_is_rule(const char *s, size_t len)
{
	size_t marks = 0;

	for (size_t i = 0; i < len; i++) {
		if (!strchr("-=~_*.+|x: \t", s[i]))
			return false;
		marks += strchr("-=~_*", s[i]) != NULL;
	}
	return marks >= 3;
}

bool kab_line_is_blank(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isspace((unsigned char)s[i]))
			return false;
	return true;
}

char *kab_line_trimmed(const char *s, size_t len)
{
	while (len && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	return kab_xstrndup(s, len);
}

struct kab_mail_column *kab_table_add_column(struct kab_mail_table *t,
					     enum kab_mail_column_role role,
					     enum kab_item_kind kind, int owner, int cell,
					     const char *head)
{
	struct {
		struct kab_mail_column *v;
		size_t n, cap;
	} list = { t->cols, t->n_cols, t->cap_cols };
	struct kab_mail_column *c = KAB_PUSH(&list);

	t->cols = list.v;
	t->n_cols = list.n;
	t->cap_cols = list.cap;
	c->role = role;
	c->kind = kind;
	c->owner = owner;
	c->cell = cell;
	c->head = kab_xstrdup(head);
	return c;
}

struct kab_mail_row *kab_table_add_row(struct kab_mail_table *t, const char *label, size_t line)
{
	struct {
		struct kab_mail_row *v;
		size_t n, cap;
	} list = { t->rows, t->n_rows, t->cap_rows };
	struct kab_mail_row *r = KAB_PUSH(&list);

	t->rows = list.v;
	t->n_rows = list.n;
	t->cap_rows = list.cap;
	r->label = kab_xstrdup(label);
	r->items = kab_xcalloc(t->n_cols + 1, sizeof(*r->items));
	r->line = line;
	return r;
}

void kab_table_drop_column(struct kab_mail_table *t, size_t c)
{
	free(t->cols[c].head);
	memmove(&t->cols[c], &t->cols[c + 1], (t->n_cols - c - 1) * sizeof(*t->cols));
	for (size_t r = 0; r < t->n_rows; r++)
		memmove(&t->rows[r].items[c], &t->rows[r].items[c + 1],
			(t->n_cols - c - 1) * sizeof(*t->rows[r].items));
	t->n_cols--;
	for (size_t i = 0; i < t->n_cols; i++) {
		if (t->cols[i].owner == (int)c)
			t->cols[i].owner = -1;
		else if (t->cols[i].owner > (int)c)
			t->cols[i].owner--;
	}
}

/* ---- what stands above ---- */

static void add_line(struct kab_buf *buf, const struct kab_mail_line *line)
{
	kab_buf_add(buf, line->text, line->len);
	kab_buf_addc(buf, '\n');
}

/* The lines right above, and the block before these: where a table's own n may be stated. */
static int own_runs(const struct kab_mail_lines *lines, size_t after, size_t head_from)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	size_t i = head_from, blocks = 0;

	while (i > after && blocks < 2) {
		const struct kab_mail_line *line = &lines->v[i - 1];

		if (kab_line_is_blank(line->text, line->len) ||
		    kab_line_is_rule(line->text, line->len)) {
			if (i < head_from)
				blocks++;
			while (i > after &&
			       (kab_line_is_blank(lines->v[i - 1].text, lines->v[i - 1].len) ||
				kab_line_is_rule(lines->v[i - 1].text, lines->v[i - 1].len)))
				i--;
			continue;
		}
		i--;
	}
	for (; i < head_from; i++) {
		/* One text: sentences are broken at line ends. */
		kab_buf_add(&text, lines->v[i].text, lines->v[i].len);
		kab_buf_addc(&text, ' ');
	}
	return kab_words_runs(kab_buf_str(&text));
}

/* The box above a "norm" table names the test. */
static bool find_test_line(const struct kab_mail_lines *lines, size_t after, size_t head_from,
			   struct kab_mail_table *t)
{
	for (size_t i = head_from; i > after && i + 9 > head_from; i--) {
		char *text kab_autofree =
			kab_line_trimmed(lines->v[i - 1].text, lines->v[i - 1].len);
		const char *colon = strchr(text, ':');

		if (strncasecmp(text, "Test", 4) != 0 || !colon)
			continue;
		free(t->title);
		t->title = kab_line_trimmed(colon + 1, strlen(colon + 1));
		return true;
	}
	return false;
}

static void find_title(const struct kab_mail_lines *lines, size_t after, size_t head_from,
		       struct kab_mail_table *t)
{
	for (size_t i = head_from; i > after && i + 4 > head_from; i--) {
		const struct kab_mail_line *line = &lines->v[i - 1];
		char *text;

		if (kab_line_is_blank(line->text, line->len) ||
		    kab_line_is_rule(line->text, line->len))
			continue;
		text = kab_line_trimmed(line->text, line->len);
		/* A sentence above a table is not its title, nor is the end of a paragraph. */
		if (strlen(text) <= 76 && text[strlen(text) - 1] != '.' && !strchr("[~$#", *text) &&
		    !(i >= after + 2 && lines->v[i - 2].len > 50 &&
		      !kab_line_is_rule(lines->v[i - 2].text, lines->v[i - 2].len))) {
			free(t->title);
			t->title = text;
			if (text[strlen(text) - 1] == ':')
				text[strlen(text) - 1] = '\0';
		} else {
			free(text);
		}
		return;
	}
}

static bool have_phrase(const char *text, const char *phrase)
{
	size_t n = strlen(phrase);

	for (; *text; text++)
		if (!strncasecmp(text, phrase, n))
			return true;
	return false;
}

static void find_direction(struct kab_mail_table *t)
{
	struct kab_buf kab_autobuf near = KAB_BUF_INIT;
	bool low = have_phrase(t->context, "lower is better") ||
		   have_phrase(t->context, "smaller is better") ||
		   have_phrase(t->context, "less is better");
	bool high = have_phrase(t->context, "higher is better") ||
		    have_phrase(t->context, "bigger is better") ||
		    have_phrase(t->context, "more is better");
	int by_unit = 0;

	t->direction_stated = low != high;
	if (t->direction_stated) {
		t->direction = low ? -1 : 1;
		return;
	}
	for (size_t r = 0; r < t->n_rows; r++)
		for (size_t c = 0; c < t->n_cols; c++)
			if (t->rows[r].items[c].present &&
			    t->cols[c].role == KAB_MAIL_COLUMN_VALUE) {
				by_unit |= !strcmp(t->rows[r].items[c].unit, "s")   ? 1
					   : strstr(t->rows[r].items[c].unit, "/s") ? 2
										    : 0;
			}
	if (by_unit == 1 || by_unit == 2) {
		t->direction = by_unit == 1 ? -1 : 1;
		return;
	}
	for (size_t c = 0; c < t->n_cols; c++)
		kab_buf_addf(&near, "%s\n", t->cols[c].head);
	for (size_t r = 0; r < t->n_rows; r++)
		kab_buf_addf(&near, "%s\n", t->rows[r].label);
	kab_buf_addf(&near, "%s\n", t->title);
	t->direction = kab_words_direction(kab_buf_str(&near));
	if (!t->direction)
		t->direction = kab_words_direction(t->context);
}

static enum kab_mail_column_role role_of(const char *whole)
{
	static const char *const stats[] = { "min", "max", "median", "50%", "75%", "25%",
					     "90%", "95%", "99%",    "p50", "p99", "99.9%" };

	/* "baseline(std%)" is about the value, "(% of mean)" is not. */
	size_t n = strcspn(whole, "([");
	char *head kab_autofree = kab_line_trimmed(whole, n ? n : strlen(whole));

	/* The test robot's values have this above them, with the spread beside them. */
	if (!strncmp(whole, "%stddev", 7))
		return KAB_MAIL_COLUMN_VALUE;
	if (!strcmp(whole, "+/-") || kab_words_spread(head))
		return KAB_MAIL_COLUMN_SPREAD;
	if (!strcasecmp(head, "count") || !strcasecmp(head, "n") || !strcasecmp(head, "runs"))
		return KAB_MAIL_COLUMN_COUNT;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(stats); i++)
		if (!strcasecmp(head, stats[i]))
			return KAB_MAIL_COLUMN_STAT;
	return KAB_MAIL_COLUMN_VALUE;
}

void kab_table_describe(const struct kab_mail_lines *lines, size_t after, size_t head_from,
			struct kab_mail_table *t)
{
	struct kab_buf kab_autobuf context = KAB_BUF_INIT;
	size_t from = head_from > CONTEXT_LINES ? head_from - CONTEXT_LINES : 0;
	size_t first_row = t->n_rows ? t->rows[0].line : head_from;

	if (from < after)
		from = after;
	for (size_t i = from; i < first_row; i++)
		add_line(&context, &lines->v[i]);
	t->context = kab_xstrdup(kab_buf_str(&context));
	t->title = kab_xstrdup("");
	if (t->style != KAB_MAIL_TABLE_NORM || !find_test_line(lines, after, head_from, t))
		find_title(lines, after, head_from, t);
	t->n_stated = own_runs(lines, after, first_row);
	for (size_t c = 0; c < t->n_cols; c++) {
		struct kab_mail_column *col = &t->cols[c];

		if (col->kind == KAB_ITEM_PM || col->kind == KAB_ITEM_PM_PCT)
			col->role = KAB_MAIL_COLUMN_SPREAD;
		else if (col->role == KAB_MAIL_COLUMN_VALUE)
			col->role = role_of(col->head);
		else if (col->kind == KAB_ITEM_PERCENT && kab_words_spread(col->head))
			col->role = KAB_MAIL_COLUMN_SPREAD;
	}
	for (size_t r = 0; r < t->n_rows; r++) {
		char *s = t->rows[r].label;

		if (t->rows[r].summary)
			continue;
		if (kab_words_have(s, "stddev") || kab_words_have(s, "stdev") ||
		    kab_words_have(s, "coeffvar") || kab_words_have(s, "std") ||
		    kab_words_have(s, "cv"))
			t->rows[r].summary = 's';
	}
	find_direction(t);
}

void kab_mail_table_release(struct kab_mail_table *t)
{
	for (size_t c = 0; c < t->n_cols; c++)
		free(t->cols[c].head);
	for (size_t r = 0; r < t->n_rows; r++) {
		free(t->rows[r].label);
		free(t->rows[r].items);
	}
	free(t->cols);
	free(t->rows);
	free(t->title);
	free(t->context);
	memset(t, 0, sizeof(*t));
}

void kab_mail_tables_release(struct kab_mail_tables *tables)
{
	for (size_t i = 0; i < tables->n; i++)
		kab_mail_table_release(&tables->v[i]);
	free(tables->v);
	memset(tables, 0, sizeof(*tables));
}

void kab_mail_tables_find(const struct kab_mail_lines *lines, struct kab_mail_tables *ret)
{
	typedef size_t finder(const struct kab_mail_lines *, size_t, size_t,
			      struct kab_mail_table *);
	static finder *const finders[] = { kab_find_ruled, kab_find_describe, kab_find_output,
					   kab_find_aligned };
	size_t after = 0;

	for (size_t i = 0; i < lines->n;) {
		size_t next = i;

		for (size_t f = 0; f < KAB_ARRAY_SIZE(finders) && next == i; f++) {
			struct kab_mail_table t = { 0 };

			next = finders[f](lines, i, after, &t);
			if (next > i)
				*KAB_PUSH(ret) = t;
			else
				kab_mail_table_release(&t);
		}
		if (next > i)
			after = i = next;
		else
			i++;
	}
}
