/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One block of lines per kernel: statistics as pandas prints them, or the output of a program. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "exchange/tables_internal.h"

#define BLOCKS_MAX 16
#define STATS_MAX 12
/* Lines between two blocks of one table. */
#define GAP_MAX 6

/* "  mean     12156.400000": the word and its number. */
static bool stat_line(const struct kab_mail_line *line, char name[16], struct kab_item *item)
{
	static const char *const names[] = { "count", "mean", "std",   "stddev", "min",
					     "25%",   "50%",  "75%",   "90%",	 "95%",
					     "99%",   "max",  "median" };
	size_t i = 0, n;

	while (i < line->len && isspace((unsigned char)line->text[i]))
		i++;
	n = strcspn(line->text + i, " \t:\n");
	if (i + n >= line->len || n >= 16)
		return false;
	memcpy(name, line->text + i, n);
	name[n] = '\0';
	for (size_t k = 0; k < KAB_ARRAY_SIZE(names); k++) {
		size_t at = i + n, e;

		if (strcasecmp(names[k], name) != 0)
			continue;
		at += strspn(line->text + at, ": \t");
		e = at < line->len ? kab_item_scan(line->text, line->len, at, false, item) : 0;
		return e && item->kind == KAB_ITEM_VALUE &&
		       kab_line_is_blank(line->text + e, line->len - e);
	}
	return false;
}

/* The line that names a block: the nearest one above, not blank, not empty of words. */
static char *name_above(const struct kab_mail_lines *lines, size_t at, size_t after)
{
	for (size_t i = at; i > after && i + 4 > at; i--) {
		const struct kab_mail_line *line = &lines->v[i - 1];
		char *text = kab_line_trimmed(line->text, line->len);
		size_t n = strlen(text);

		if (n && *text != '~' && *text != '$' && *text != '#' && text[n - 1] == ':') {
			text[n - 1] = '\0';
			return text;
		}
		free(text);
	}
	return kab_xstrdup("");
}

/* The lines of one block; returns how many. */
static size_t stat_block(const struct kab_mail_lines *lines, size_t at, struct kab_mail_table *t,
			 size_t after)
{
	char *label kab_autofree = NULL;
	struct kab_item items[STATS_MAX];
	char names[STATS_MAX][16];
	struct kab_mail_row *row;
	bool mean = false, std = false;
	size_t n = 0;

	while (n < STATS_MAX && at + n < lines->n && lines->v[at + n].depth == lines->v[at].depth &&
	       stat_line(&lines->v[at + n], names[n], &items[n])) {
		mean = mean || !strcasecmp(names[n], "mean");
		std = std || !strncasecmp(names[n], "std", 3);
		n++;
	}
	if (!mean || !std)
		return 0;
	if (!t->n_rows)
		for (size_t i = 0; i < n; i++)
			kab_table_add_column(t, KAB_MAIL_COLUMN_VALUE, KAB_ITEM_VALUE, -1, (int)i,
					     names[i]);
	label = name_above(lines, at, after);
	row = kab_table_add_row(t, label, at);
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < t->n_cols; c++)
			if (!strcasecmp(t->cols[c].head, names[i]) && !row->items[c].present)
				row->items[c] = items[i];
	return n;
}

size_t kab_find_describe(const struct kab_mail_lines *lines, size_t at, size_t after,
			 struct kab_mail_table *ret)
{
	size_t end = at, from = after;

	for (size_t i = at; i < lines->n && i <= end + (ret->n_rows ? GAP_MAX : 0);) {
		size_t n = 0;

		if (lines->v[i].depth == lines->v[at].depth)
			n = stat_block(lines, i, ret, from);
		if (!n && !ret->n_rows)
			return at;
		if (n)
			from = end = i + n;
		i += n ? n : 1;
	}
	ret->style = KAB_MAIL_TABLE_DESCRIBE;
	ret->depth = lines->v[at].depth;
	/* The name of the first block belongs to the table. */
	ret->first_line = at > after && lines->v[at - 1].len ? at - 1 : at;
	ret->last_line = end - 1;
	kab_table_describe(lines, after, ret->first_line, ret);
	return end;
}

/* ---- the same line again and again, with another number ---- */

/* Two lines that differ in one number only: where it begins. Both must have words. */
static bool same_but_number(const struct kab_mail_line *a, const struct kab_mail_line *b,
			    size_t *at)
{
	size_t from = 0, ta = a->len, tb = b->len, words = 0;

	while (from < ta && from < tb && a->text[from] == b->text[from])
		from++;
	while (from && strchr("0123456789.,", a->text[from - 1]))
		from--;
	while (ta > from && tb > from && a->text[ta - 1] == b->text[tb - 1])
		ta--, tb--;
	while (ta < a->len && strchr("0123456789.,", a->text[ta]))
		ta++, tb++;
	for (size_t i = 0; i < from; i++)
		words += isalpha((unsigned char)a->text[i]) != 0;
	*at = from;
	return words >= 2 && from < ta && isdigit((unsigned char)a->text[from]) &&
	       strspn(a->text + from, "0123456789.,") >= ta - from &&
	       strspn(b->text + from, "0123456789.,") >= tb - from;
}

static bool scan_output(const struct kab_mail_line *line, size_t at, struct kab_item *item)
{
	return at < line->len && (at == 0 || strchr(" \t=:(", line->text[at - 1])) &&
	       kab_item_scan(line->text, line->len, at, false, item) &&
	       item->kind == KAB_ITEM_VALUE;
}

/*
 * A run of equal lines from `at` on, perhaps with other lines between them that are equal each time (the
 * prompt). Returns the line behind the last one.
 */
static size_t output_block(const struct kab_mail_lines *lines, size_t at, size_t *column,
			   size_t **ret_lines, size_t *ret_n)
{
	size_t end = at + 1, last = at;

	*ret_lines = kab_xreallocarray(NULL, 1, sizeof(size_t));
	(*ret_lines)[0] = at;
	*ret_n = 1;
	for (size_t i = at + 1; i < lines->n && i <= last + 3; i++) {
		size_t where;

		if (lines->v[i].depth != lines->v[at].depth ||
		    (lines->v[i].len && lines->v[i].text[lines->v[i].len - 1] == ':'))
			break;
		if (!same_but_number(&lines->v[at], &lines->v[i], &where) &&
		    !(lines->v[i].len == lines->v[at].len &&
		      !memcmp(lines->v[i].text, lines->v[at].text, lines->v[at].len)))
			continue;
		if (*ret_n == 1)
			*column = where;
		else if (where < *column)
			*column = where;
		*ret_lines = kab_xreallocarray(*ret_lines, *ret_n + 1, sizeof(size_t));
		(*ret_lines)[(*ret_n)++] = i;
		last = i;
		end = i + 1;
	}
	return end;
}

size_t kab_find_output(const struct kab_mail_lines *lines, size_t at, size_t after,
		       struct kab_mail_table *ret)
{
	size_t end = at, from = after, i = at, column = 0;

	while (i < lines->n && i <= end + (ret->n_rows ? GAP_MAX : 0)) {
		char *label kab_autofree = NULL;
		size_t *v = NULL, n = 0, next = i + 1;
		struct kab_item item;

		if (lines->v[i].depth == lines->v[at].depth && lines->v[i].len > 8 &&
		    !memchr(lines->v[i].text, '|', lines->v[i].len))
			next = output_block(lines, i, &column, &v, &n);
		if (n < 3 || !scan_output(&lines->v[i], column, &item)) {
			free(v);
			if (!ret->n_rows)
				return at;
			i++;
			continue;
		}
		label = name_above(lines, i, from);
		if (!*label && !ret->n_rows) {
			/* Without a name a series is compared with nothing. */
			free(v);
			return at;
		}
		/* One row per block, one column per run. */
		for (size_t k = 0; k < n; k++) {
			char name[32];

			if (k < ret->n_cols)
				continue;
			snprintf(name, sizeof(name), "run %zu", k + 1);
			if (ret->n_rows) {
				for (size_t r = 0; r < ret->n_rows; r++) {
					ret->rows[r].items = kab_xreallocarray(
						ret->rows[r].items, ret->n_cols + 2,
						sizeof(*ret->rows[r].items));
					memset(&ret->rows[r].items[ret->n_cols], 0,
					       2 * sizeof(*ret->rows[r].items));
				}
			}
			kab_table_add_column(ret, KAB_MAIL_COLUMN_VALUE, KAB_ITEM_VALUE, -1, (int)k,
					     name);
		}
		kab_table_add_row(ret, label, i);
		for (size_t k = 0; k < n; k++)
			scan_output(&lines->v[v[k]], column, &ret->rows[ret->n_rows - 1].items[k]);
		free(v);
		from = end = next;
		i = next;
	}
	ret->style = KAB_MAIL_TABLE_RUNS;
	ret->depth = lines->v[at].depth;
	ret->first_line = at;
	ret->last_line = end - 1;
	kab_table_describe(lines, after, at, ret);
	return end;
}
