/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/check.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "exchange/check_internal.h"
#include "exchange/tables_internal.h"

const char *kab_check_verdict_name(enum kab_check_verdict verdict)
{
	static const char *const names[] = {
		"exact",     "within-rounding", "truncated-or-rounding",
		"truncated", "inconsistent",	"not-recomputable"
	};

	return names[verdict];
}

void kab_check_add(struct kab_check *check, enum kab_check_severity severity, int table,
		   const char *fmt, ...)
{
	struct kab_check_finding *f = KAB_PUSH(&check->findings);
	va_list ap;

	va_start(ap, fmt);
	f->severity = severity;
	f->table = table;
	f->text = kab_xvasprintf(fmt, ap);
	va_end(ap);
}

bool kab_check_is_value(const struct kab_mail_table *t, size_t c)
{
	return t->cols[c].kind == KAB_ITEM_VALUE && t->cols[c].role == KAB_MAIL_COLUMN_VALUE;
}

/* Words that end at a boundary: "with" must not be found in "without". */
static bool have_any(const char *label, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (kab_words_have(label, words[i]))
			return true;
	return false;
}

bool kab_check_is_base(const char *label)
{
	static const char *const words[] = { "without", "w/o",	  "base",      "baseline",
					     "vanilla", "before", "unpatched", "mainline",
					     "old",	"orig",	  "original",  "no patch",
					     "stock",	"tip",	  "unmodified" };

	return have_any(label, words, KAB_ARRAY_SIZE(words)) || label[0] == '-' ||
	       !strncasecmp(label, "no ", 3);
}

bool kab_check_is_test(const char *label)
{
	static const char *const words[] = { "with",  "w/",  "patched", "patch", "patchset",
					     "after", "new", "series",	"revert" };

	return !kab_check_is_base(label) &&
	       (have_any(label, words, KAB_ARRAY_SIZE(words)) || label[0] == '+');
}

/* How many characters two labels have in common at both ends, whole words; 0: too few. */
static size_t in_common(const char *a, const char *b)
{
	size_t front = 0, la = strlen(a), lb = strlen(b), back = 0;

	while (a[front] && a[front] == b[front])
		front++;
	while (front && !isspace((unsigned char)a[front - 1]))
		front--;
	while (back < la - front && back < lb - front && a[la - 1 - back] == b[lb - 1 - back])
		back++;
	while (back && !isspace((unsigned char)a[la - back]))
		back--;
	return front + back > 2 ? front + back : 0;
}

int kab_check_base_of(char *const *labels, size_t n, size_t i)
{
	size_t most = 0;
	int base = 0;

	if (kab_check_is_base(labels[i]))
		return -1;
	for (size_t k = 0; k < n; k++) {
		size_t common = kab_check_is_base(labels[k]) ? in_common(labels[k], labels[i]) : 0;

		if (common > most) {
			most = common;
			base = (int)k;
		}
	}
	if (most)
		return base;
	for (size_t k = 0; k < n; k++)
		if (kab_check_is_base(labels[k])) {
			base = (int)k;
			break;
		}
	return base == (int)i ? -1 : base;
}

int kab_check_direction(const struct kab_mail_table *t, size_t row, size_t column)
{
	const struct kab_item *item = &t->rows[row].items[column];
	int d = kab_words_direction(t->rows[row].label);

	if (t->direction_stated)
		return t->direction;
	if (strstr(item->unit, "/s"))
		return 1;
	if (!d)
		d = kab_words_direction(t->cols[column].head);
	if (!d && !strcmp(item->unit, "s"))
		d = -1;
	return d ? d : t->direction;
}

void kab_check_tables(const struct kab_mail_lines *lines, const struct kab_mail_tables *tables,
		      struct kab_check *ret)
{
	for (size_t t = 0; t < tables->n; t++)
		kab_check_percents(tables, t, ret);
	kab_check_statistics(tables, ret);
	kab_check_findings(lines, tables, ret);
}

void kab_check_release(struct kab_check *check)
{
	for (size_t i = 0; i < check->percents.n; i++) {
		free(check->percents.v[i].row_label);
		free(check->percents.v[i].column_label);
	}
	for (size_t i = 0; i < check->statistics.n; i++) {
		free(check->statistics.v[i].row);
		free(check->statistics.v[i].base);
		free(check->statistics.v[i].column);
	}
	for (size_t i = 0; i < check->findings.n; i++)
		free(check->findings.v[i].text);
	free(check->percents.v);
	free(check->statistics.v);
	free(check->findings.v);
	memset(check, 0, sizeof(*check));
}
