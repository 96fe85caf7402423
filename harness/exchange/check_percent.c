/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "exchange/check_internal.h"

/* Where the base of a percentage stands. */
struct source {
	int base_col; /* same row, that column; -1: first row, same column */
	int test_col;
};

static double formula(double base, double test, char convention)
{
	switch (convention) {
	case 'A':
		return 100 * (base - test) / base;
	case 'B':
		return 100 * (base / test - 1);
	case 'C':
		return 100 * (test - base) / base;
	default:
		return test - base;
	}
}

static double truncated(double v, double unit)
{
	return trunc(v / unit * (1 + 1e-12)) * unit;
}

enum kab_check_verdict kab_check_percent(const struct kab_item *printed,
					 const struct kab_item *base, const struct kab_item *test,
					 char convention, double *recomputed, double *lo,
					 double *hi)
{
	double unit = 2 * printed->half, eps = 1e-9, p = printed->value;
	bool explained, cut;

	*recomputed = *lo = *hi = NAN;
	if (!base->present || !test->present ||
	    (convention != 'D' && (base->value - base->half <= 0 ||
				   (convention == 'B' && test->value - test->half <= 0))))
		return KAB_CHECK_NOT_RECOMPUTABLE;
	*recomputed = formula(base->value, test->value, convention);
	for (int corner = 0; corner < 4; corner++) {
		double v =
			formula(base->value + (corner & 1 ? base->half : -base->half),
				test->value + (corner & 2 ? test->half : -test->half), convention);

		*lo = corner ? fmin(*lo, v) : v;
		*hi = corner ? fmax(*hi, v) : v;
	}
	if (fabs(*recomputed - p) <= printed->half * (1 + eps) + 1e-12)
		return KAB_CHECK_EXACT;
	explained = p + printed->half >= *lo - eps && p - printed->half <= *hi + eps;
	cut = fabs(truncated(*recomputed, unit) - p) < unit * 1e-6;
	if (explained)
		return cut ? KAB_CHECK_TRUNCATED_OR_ROUNDING : KAB_CHECK_WITHIN_ROUNDING;
	if (cut || fabs(truncated(*lo, unit) - p) < unit * 1e-6 ||
	    fabs(truncated(*hi, unit) - p) < unit * 1e-6)
		return KAB_CHECK_TRUNCATED;
	return KAB_CHECK_INCONSISTENT;
}

static bool is_percent_kind(enum kab_item_kind kind)
{
	return kind == KAB_ITEM_PERCENT || kind == KAB_ITEM_ROUND_PCT ||
	       kind == KAB_ITEM_SQUARE_PCT;
}

static bool zero(const struct kab_item *item)
{
	return fabs(item->value) < 0.0051;
}

static const struct kab_item *base_item(const struct kab_mail_table *t, const struct source *s,
					size_t row)
{
	return s->base_col >= 0 ? &t->rows[row].items[s->base_col] : &t->rows[0].items[s->test_col];
}

static enum kab_check_verdict verdict_of(const struct kab_mail_table *t, size_t c,
					 const struct source *s, size_t row, char convention,
					 double *recomputed, double *lo, double *hi)
{
	if (s->test_col < 0)
		return KAB_CHECK_NOT_RECOMPUTABLE;
	return kab_check_percent(&t->rows[row].items[c], base_item(t, s, row),
				 &t->rows[row].items[s->test_col], convention, recomputed, lo, hi);
}

/* Rows of column c that the source explains: *ret_n of them could be tried. Exact ones count more. */
static int score(const struct kab_mail_table *t, size_t c, const struct source *s, char convention,
		 int *ret_n, int *ret_good)
{
	int points = 0;

	*ret_n = *ret_good = 0;
	for (size_t r = 0; r < t->n_rows; r++) {
		double v, lo, hi;
		enum kab_check_verdict verdict;

		if (!t->rows[r].items[c].present || (s->base_col < 0 && r == 0))
			continue;
		verdict = verdict_of(t, c, s, r, convention, &v, &lo, &hi);
		if (verdict == KAB_CHECK_NOT_RECOMPUTABLE)
			continue;
		(*ret_n)++;
		if (verdict != KAB_CHECK_INCONSISTENT) {
			(*ret_good)++;
			points += 100 + (verdict == KAB_CHECK_EXACT);
		}
	}
	return points;
}

/* The best source of column c under a convention; returns its points. */
static int best_source(const struct kab_mail_table *t, size_t c, char convention,
		       struct source *ret, int *ret_n, int *ret_good)
{
	int owner = t->cols[c].owner, best = -1, first = -1;

	*ret = (struct source){ -1, -1 };
	*ret_n = *ret_good = 0;
	for (size_t k = 0; k < t->n_cols && first < 0; k++)
		if (kab_check_is_value(t, k))
			first = (int)k;
	for (int test = owner; test >= 0; test--) {
		/* Attached to a value: of that one. Behind a spread: of a value before it. */
		if (!kab_check_is_value(t, (size_t)test))
			continue;
		for (int k = -2; k < test; k++) {
			/* The first column is tried before the first row, then the others. */
			struct source s = { k == -2 ? first : k, test };
			int n, good, points;

			if (s.base_col >= test || (k >= 0 && k == first) ||
			    (k >= 0 && !kab_check_is_value(t, (size_t)k)) ||
			    (s.base_col < 0 && (k == -2 || t->n_rows < 2)))
				continue;
			points = score(t, c, &s, convention, &n, &good);
			if (points > best) {
				best = points;
				*ret = s;
				*ret_n = n;
				*ret_good = good;
			}
		}
		if (t->cols[owner].role == KAB_MAIL_COLUMN_VALUE)
			break;
	}
	/* The robot's tables have the change between the two values. */
	for (size_t next = c + 1;
	     t->cols[c].kind == KAB_ITEM_PERCENT && owner >= 0 && next < t->n_cols; next++) {
		struct source s = { owner, (int)next };
		int n, good, points;

		if (!kab_check_is_value(t, next))
			continue;
		points = kab_check_is_value(t, (size_t)owner)
				 ? score(t, c, &s, convention, &n, &good)
				 : 0;
		if (points > best) {
			best = points;
			*ret = s;
			*ret_n = n;
			*ret_good = good;
		}
		break;
	}
	return best < 0 ? 0 : best;
}

/* A percentage by itself behind the first value and before the next one. */
static bool is_between(const struct kab_mail_table *t, size_t c)
{
	if (t->cols[c].kind != KAB_ITEM_PERCENT)
		return false;
	for (size_t k = c + 1; k < t->n_cols; k++)
		if (kab_check_is_value(t, k))
			return true;
	return false;
}

/* Is the column about the base itself, or a spread? Then it is no gain. */
static bool is_gain_column(const struct kab_mail_table *t, size_t c)
{
	const struct kab_mail_column *col = &t->cols[c];
	bool all_zero = true, first_zero = false, any = false;
	int first = -1;

	if (col->role != KAB_MAIL_COLUMN_ATTACHED)
		return false;
	for (size_t k = 0; k < t->n_cols && first < 0; k++)
		if (kab_check_is_value(t, k))
			first = (int)k;
	for (size_t r = 0; r < t->n_rows; r++) {
		if (!t->rows[r].items[c].present)
			continue;
		if (!any)
			first_zero = r > 0 || zero(&t->rows[r].items[c]);
		any = true;
		all_zero = all_zero && zero(&t->rows[r].items[c]);
	}
	if (!any || (col->owner == first && all_zero && first >= 0))
		return false;
	if (first < 0)
		return true;
	/* What the base has beside its value and is not zero is its spread; so is that of the others. */
	if (col->owner == first)
		return (first_zero && t->n_rows > 1) || is_between(t, c);
	for (size_t k = 0; first >= 0 && k < t->n_cols; k++) {
		bool spread = false;

		if (t->cols[k].owner != first || t->cols[k].kind != col->kind ||
		    (int)k - first != (int)c - col->owner)
			continue;
		for (size_t r = 0; r < t->n_rows; r++)
			spread = spread ||
				 (t->rows[r].items[k].present && !zero(&t->rows[r].items[k]));
		if (spread)
			return false;
	}
	return true;
}

/* The label without its numbers: "Amean 12" and "Amean 30" are of one metric. */
static char *stem(const char *label)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	for (; *label; label++)
		if (isalpha((unsigned char)*label))
			kab_buf_addc(&buf, *label);
	return kab_xstrdup(kab_buf_str(&buf));
}

/*
 * Does the other sign fit this row, and does its metric differ from those that fit the table's? Then the
 * table has metrics of both directions and there is no error.
 */
static bool other_direction(const struct kab_mail_table *t, size_t c, const struct source *s,
			    size_t row, char convention)
{
	char other = convention == 'A' ? 'C' : 'A';
	char *own kab_autofree = stem(t->rows[row].label);
	double v, lo, hi;

	if (convention != 'A' && convention != 'C')
		return false;
	if (verdict_of(t, c, s, row, other, &v, &lo, &hi) >= KAB_CHECK_INCONSISTENT)
		return false;
	for (size_t r = 0; r < t->n_rows; r++) {
		char *theirs kab_autofree = stem(t->rows[r].label);

		if (r == row || strcmp(own, theirs) != 0 || !t->rows[r].items[c].present ||
		    zero(&t->rows[r].items[c]))
			continue;
		if (verdict_of(t, c, s, r, convention, &v, &lo, &hi) < KAB_CHECK_INCONSISTENT)
			return false;
	}
	return true;
}

static void emit(const struct kab_mail_table *t, size_t table, size_t c, const struct source *s,
		 char convention, struct kab_check *ret)
{
	for (size_t r = 0; r < t->n_rows; r++) {
		const struct kab_item *item = &t->rows[r].items[c];
		struct kab_check_percent *p;
		const char *head = t->cols[c].head;

		if (!item->present || (s && s->base_col < 0 && r == 0))
			continue;
		p = KAB_PUSH(&ret->percents);
		p->table = table;
		p->row = r;
		p->column = c;
		if (!*head && t->cols[c].owner >= 0)
			head = t->cols[t->cols[c].owner].head;
		p->row_label = kab_xstrdup(t->rows[r].label);
		p->column_label = kab_xstrdup(head);
		memcpy(p->printed, item->printed, sizeof(p->printed));
		p->base = p->test = p->recomputed = p->lo = p->hi = NAN;
		p->verdict = KAB_CHECK_NOT_RECOMPUTABLE;
		if (!s)
			continue;
		p->convention = convention;
		p->verdict = verdict_of(t, c, s, r, convention, &p->recomputed, &p->lo, &p->hi);
		if (p->verdict == KAB_CHECK_INCONSISTENT &&
		    other_direction(t, c, s, r, convention)) {
			p->convention = convention == 'A' ? 'C' : 'A';
			p->verdict = verdict_of(t, c, s, r, p->convention, &p->recomputed, &p->lo,
						&p->hi);
		}
		if (p->verdict == KAB_CHECK_NOT_RECOMPUTABLE) {
			p->convention = 0;
			continue;
		}
		p->base = base_item(t, s, r)->value;
		p->test = t->rows[r].items[s->test_col].value;
	}
}

/* Enough rows follow from the source that the others may be called wrong. */
static bool trusted(bool percent, int n, int good)
{
	return percent ? good > 0 && 2 * good >= n : good >= 2 && 5 * good >= 4 * n;
}

/* Does a head say that the column is a change? A factor or a share of the base is none. */
static bool is_change(const char *head)
{
	static const char *const words[] = { "delta", "diff", "difference", "change", "gain" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++)
		if (kab_words_have(head, words[i]))
			return true;
	return false;
}

/*
 * Two columns that are called base and patched, and one change behind them: what it was made from is
 * beyond doubt, also where most rows are wrong.
 */
static bool only_pair(const struct kab_mail_table *t, size_t c, struct source *ret)
{
	size_t values = 0, at[2] = { 0 };

	for (size_t k = 0; k < t->n_cols; k++) {
		if (k == c)
			continue;
		if (!kab_check_is_value(t, k))
			return false;
		if (values < 2)
			at[values] = k;
		values++;
	}
	*ret = (struct source){ (int)at[0], (int)at[1] };
	return values == 2 && at[1] < c && t->cols[c].owner == (int)at[1] &&
	       t->cols[c].kind == KAB_ITEM_PERCENT && is_change(t->cols[c].head) &&
	       kab_check_is_base(t->cols[at[0]].head) && kab_check_is_test(t->cols[at[1]].head);
}

/* (test-base)/test is what some call a change: rows that follow from that. */
static int of_the_new_value(const struct kab_mail_table *t, size_t c, const struct source *s)
{
	int good = 0;

	for (size_t r = 0; r < t->n_rows; r++) {
		struct kab_item item = t->rows[r].items[c];
		double v, lo, hi;

		item.value = -item.value;
		good += item.present &&
			kab_check_percent(&item, base_item(t, s, r), &t->rows[r].items[s->test_col],
					  'B', &v, &lo, &hi) < KAB_CHECK_INCONSISTENT;
	}
	return good;
}

/* How far the printed rows are from what a convention gives, in all. */
static double distance(const struct kab_mail_table *t, size_t c, const struct source *s,
		       char convention)
{
	double sum = 0;

	for (size_t r = 0; r < t->n_rows; r++) {
		double v, lo, hi;

		if (t->rows[r].items[c].present &&
		    verdict_of(t, c, s, r, convention, &v, &lo, &hi) != KAB_CHECK_NOT_RECOMPUTABLE)
			sum += fabs(v - t->rows[r].items[c].value);
	}
	return sum;
}

/* What explains most rows of the pair, or comes nearest; 0: it is one that is not known here. */
static char convention_of_pair(const struct kab_mail_table *t, size_t c, const struct source *s)
{
	const char *order = t->direction < 0 ? "ACB" : "CAB";
	int most = -1, n = 0;
	double nearest = INFINITY;
	char best = 0;

	for (const char *k = order; *k; k++) {
		double d = distance(t, c, s, *k);
		int good;

		score(t, c, s, *k, &n, &good);
		if (good > most || (good == most && d < nearest)) {
			most = good;
			nearest = d;
			best = *k;
		}
	}
	return 5 * of_the_new_value(t, c, s) >= 4 * n ? 0 : best;
}

void kab_check_percents(const struct kab_mail_tables *tables, size_t table, struct kab_check *ret)
{
	const struct kab_mail_table *t = &tables->v[table];
	const char *order = t->direction > 0 ? "CABD" : "ACBD";
	int best = 0;
	char convention = 0;

	for (const char *k = order; *k; k++) {
		int points = 0;

		for (size_t c = 0; c < t->n_cols; c++) {
			struct source s;
			int n, good, p;

			/* Differences are not printed with a percent sign. */
			if (!is_gain_column(t, c) ||
			    (*k == 'D' && is_percent_kind(t->cols[c].kind)))
				continue;
			p = best_source(t, c, *k, &s, &n, &good);
			if (trusted(is_percent_kind(t->cols[c].kind), n, good))
				points += p;
		}
		if (points > best) {
			best = points;
			convention = *k;
		}
	}
	for (size_t c = 0; c < t->n_cols; c++) {
		bool percent = is_percent_kind(t->cols[c].kind);
		struct source s;
		int n = 0, good = 0;

		if (!is_gain_column(t, c))
			continue;
		if (convention)
			best_source(t, c, convention, &s, &n, &good);
		if (convention && trusted(percent, n, good))
			emit(t, table, c, &s, convention, ret);
		else if (only_pair(t, c, &s) && convention_of_pair(t, c, &s))
			emit(t, table, c, &s, convention_of_pair(t, c, &s), ret);
		else if (percent && !(is_between(t, c) && !t->rows[0].items[c].mark))
			emit(t, table, c, NULL, 0, ret);
	}
}
