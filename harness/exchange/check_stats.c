/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means, standard deviations and tests, wherever the mail gives enough for them. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "exchange/check_internal.h"
#include "stats/describe.h"
#include "stats/multiple.h"
#include "stats/welch.h"

static struct kab_check_statistic *add(struct kab_check *ret, enum kab_check_kind kind,
				       size_t table, const char *row, const char *base,
				       const char *column)
{
	struct kab_check_statistic *s = KAB_PUSH(&ret->statistics);

	s->kind = kind;
	s->table = table;
	s->row = kab_xstrdup(row);
	s->base = kab_xstrdup(base);
	s->column = kab_xstrdup(column);
	s->mean_base = s->mean_test = s->sd_base = s->sd_test = NAN;
	s->t = s->df = s->p = s->p_holm = s->diff = s->ci_lo = s->ci_hi = NAN;
	s->diff_pct = s->gain_pct = s->printed = s->recomputed = NAN;
	return s;
}

static void gain(struct kab_check_statistic *s, double base, double test, int direction)
{
	s->mean_base = base;
	s->mean_test = test;
	s->diff = test - base;
	if (base > 0) {
		s->diff_pct = 100 * (test - base) / base;
		if (direction)
			s->gain_pct = direction * s->diff_pct;
	}
}

static void show(const struct kab_item *item, char to[52])
{
	bool unit = *item->shown_unit && strcmp(item->shown_unit, "m s") != 0;

	snprintf(to, 52, "%s%s%s", item->printed, unit ? " " : "", unit ? item->shown_unit : "");
}

/* The gain between two printed cells. */
static void cell_gain(struct kab_check_statistic *s, const struct kab_item *base,
		      const struct kab_item *test, int direction)
{
	gain(s, base->value, test->value, direction);
	show(base, s->shown_base);
	show(test, s->shown_test);
}

static void welch(struct kab_check_statistic *s, const struct kab_moments *base,
		  const struct kab_moments *test, int direction)
{
	struct kab_welch w;

	gain(s, base->mean, test->mean, direction);
	s->n_base = base->n;
	s->n_test = test->n;
	s->sd_base = base->sd;
	s->sd_test = test->sd;
	if (kab_welch_moments(base, test, 0.95, &w) < 0)
		return;
	s->t = w.test.t;
	s->df = w.test.df;
	s->p = s->p_holm = w.test.p;
	s->ci_lo = w.ci.lo;
	s->ci_hi = w.ci.hi;
}

/* Correct the p of the tests of one table for their number. */
static void correct(struct kab_check *ret, size_t from)
{
	size_t n = ret->statistics.n - from, k = 0;
	double *p = kab_xcalloc(n + 1, sizeof(*p));

	for (size_t i = 0; i < n; i++)
		if (ret->statistics.v[from + i].kind == KAB_CHECK_WELCH)
			p[k++] = ret->statistics.v[from + i].p;
	kab_adjust_p(KAB_ADJUST_HOLM, p, k, p);
	k = 0;
	for (size_t i = 0; i < n; i++) {
		struct kab_check_statistic *s = &ret->statistics.v[from + i];

		if (s->kind != KAB_CHECK_WELCH)
			continue;
		s->p_holm = p[k++];
		s->significant = s->p_holm < 0.05;
	}
	free(p);
}

static char **labels_of(const struct kab_mail_table *t)
{
	char **labels = kab_xcalloc(t->n_rows + 1, sizeof(*labels));

	for (size_t r = 0; r < t->n_rows; r++)
		labels[r] = t->rows[r].label;
	return labels;
}

static int find_head(const struct kab_mail_table *t, const char *a, const char *b)
{
	for (size_t c = 0; c < t->n_cols; c++)
		if (!strcasecmp(t->cols[c].head, a) || (b && !strcasecmp(t->cols[c].head, b)))
			return (int)c;
	return -1;
}

static bool is_run_head(const char *head)
{
	static const char *const words[] = {
		"test", "run", "iter", "round", "try", "#", "r", "loop"
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);

		if (!strncasecmp(head, words[i], n)) {
			const char *rest = head + n + strspn(head + n, " #");

			if (isdigit((unsigned char)*rest) &&
			    strspn(rest, "0123456789") == strlen(rest))
				return true;
		}
	}
	return false;
}

/* ---- rows that are kernels, with n, mean and sd ---- */

/* The moments of row r; false when the row does not give them. */
static bool row_moments(const struct kab_mail_table *t, size_t r, struct kab_moments *ret)
{
	int count = find_head(t, "count", "n"), mean = find_head(t, "mean", "average"),
	    sd = find_head(t, "std", "stddev");
	const struct kab_mail_row *row = &t->rows[r];

	if (mean < 0 || sd < 0 || !row->items[mean].present || !row->items[sd].present)
		return false;
	ret->mean = row->items[mean].value;
	ret->sd = row->items[sd].value;
	ret->n = 0;
	if (count >= 0 && row->items[count].present)
		ret->n = (size_t)row->items[count].value;
	return true;
}

static bool kernels_with_moments(const struct kab_mail_tables *tables, size_t ti,
				 struct kab_check *ret)
{
	const struct kab_mail_table *t = &tables->v[ti];
	bool any = false;
	char **labels;

	if (find_head(t, "mean", "average") < 0 || find_head(t, "std", "stddev") < 0)
		return false;
	labels = labels_of(t);

	for (size_t r = 0; r < t->n_rows; r++) {
		int b = kab_check_base_of(labels, t->n_rows, r);
		struct kab_moments base, test;
		struct kab_check_statistic *s;

		if (b < 0 || !row_moments(t, (size_t)b, &base) || !row_moments(t, r, &test))
			continue;
		any = true;
		if (!base.n || !test.n) {
			s = add(ret, KAB_CHECK_GAIN, ti, labels[r], labels[b], "mean");
			gain(s, base.mean, test.mean, t->direction);
			continue;
		}
		s = add(ret, KAB_CHECK_WELCH, ti, labels[r], labels[b], "mean");
		welch(s, &base, &test, t->direction);
	}
	free(labels);
	return any;
}

/* ---- one value and its spread per row: variants of one benchmark ---- */

static bool variants(const struct kab_mail_tables *tables, size_t ti, struct kab_check *ret)
{
	const struct kab_mail_table *t = &tables->v[ti];
	int value = -1, spread = -1;
	size_t n_values = 0;
	bool any_base = false;
	char **labels;

	for (size_t c = 0; c < t->n_cols; c++) {
		if (kab_check_is_value(t, c)) {
			value = (int)c;
			n_values++;
		}
		if (t->cols[c].role == KAB_MAIL_COLUMN_SPREAD)
			spread = (int)c;
	}
	if (n_values != 1 || spread < 0 || spread < value || t->n_rows < 2 ||
	    t->style == KAB_MAIL_TABLE_SCHEDTESTS)
		return false;
	labels = labels_of(t);
	/* Rows that are loads of one kernel are not compared with each other. */
	for (size_t r = 0; r < t->n_rows; r++)
		any_base = any_base || kab_check_is_base(labels[r]);
	if (!any_base) {
		free(labels);
		return false;
	}
	for (size_t r = 0; r < t->n_rows; r++) {
		int b = kab_check_base_of(labels, t->n_rows, r);
		struct kab_moments m[2];
		struct kab_check_statistic *s;
		bool pct = t->cols[spread].kind != KAB_ITEM_VALUE;

		if (b < 0)
			b = 0;
		if (b == (int)r)
			continue;
		for (int k = 0; k < 2; k++) {
			const struct kab_mail_row *row = &t->rows[k ? r : (size_t)b];

			m[k].n = (size_t)t->n_stated;
			m[k].mean = row->items[value].value;
			m[k].sd = row->items[spread].value * (pct ? m[k].mean / 100 : 1);
		}
		s = add(ret, t->n_stated ? KAB_CHECK_WELCH : KAB_CHECK_GAIN, ti, labels[r],
			labels[b], t->cols[value].head);
		if (t->n_stated)
			welch(s, &m[0], &m[1], kab_check_direction(t, r, (size_t)value));
		else
			gain(s, m[0].mean, m[1].mean, kab_check_direction(t, r, (size_t)value));
	}
	free(labels);
	return true;
}

/* ---- columns that are kernels, each with a spread, and n is stated ---- */

static bool columns_with_spread(const struct kab_mail_tables *tables, size_t ti,
				struct kab_check *ret)
{
	const struct kab_mail_table *t = &tables->v[ti];
	int values[16], spreads[16], n = 0;

	if (!t->n_stated || t->style == KAB_MAIL_TABLE_SCHEDTESTS)
		return false;
	for (size_t c = 0; c + 1 < t->n_cols && n < 16; c++) {
		size_t s = c + 1;

		if (!kab_check_is_value(t, c))
			continue;
		while (s < t->n_cols && t->cols[s].owner == (int)c &&
		       t->cols[s].role != KAB_MAIL_COLUMN_SPREAD)
			s++;
		if (s < t->n_cols && t->cols[s].role == KAB_MAIL_COLUMN_SPREAD) {
			values[n] = (int)c;
			spreads[n++] = (int)s;
		}
	}
	if (n < 2)
		return false;
	for (size_t r = 0; r < t->n_rows; r++)
		for (int k = 1; k < n; k++) {
			struct kab_moments m[2];
			struct kab_check_statistic *s;
			bool there = true;

			for (int i = 0; i < 2; i++) {
				int v = values[i ? k : 0], sp = spreads[i ? k : 0];
				const struct kab_item *mean = &t->rows[r].items[v],
						      *sd = &t->rows[r].items[sp];
				bool pct = sd->kind == KAB_ITEM_PM_PCT ||
					   sd->kind == KAB_ITEM_PERCENT ||
					   sd->kind == KAB_ITEM_ROUND_PCT;

				there = there && mean->present && sd->present;
				m[i].n = (size_t)t->n_stated;
				m[i].mean = mean->value;
				m[i].sd = sd->value * (pct ? mean->value / 100 : 1);
			}
			if (!there)
				continue;
			s = add(ret, KAB_CHECK_WELCH, ti, t->rows[r].label, t->cols[values[0]].head,
				t->cols[values[k]].head);
			welch(s, &m[0], &m[1], kab_check_direction(t, r, (size_t)values[k]));
		}
	return true;
}

/* ---- runs ---- */

static enum kab_check_verdict against(const struct kab_item *printed, double recomputed)
{
	return fabs(printed->value - recomputed) <=
			       printed->half * 1.000001 + 1e-9 * fabs(recomputed)
		       ? KAB_CHECK_EXACT
		       : KAB_CHECK_INCONSISTENT;
}

static void check_mean(const struct kab_item *printed, double mean, size_t n, size_t ti,
		       const char *row, const char *column, struct kab_check *ret)
{
	struct kab_check_statistic *s = add(ret, KAB_CHECK_MEAN, ti, row, "", column);

	s->n_test = n;
	s->printed = printed->value;
	s->recomputed = mean;
	s->verdict = against(printed, mean);
}

static void check_sd(const struct kab_item *printed, const double *v, size_t n, size_t ti,
		     const char *row, const char *column, struct kab_check *ret)
{
	double sd = kab_sd(v, n);
	const struct {
		double value;
		const char *formula;
	} known[] = {
		{ sd, "sample standard deviation (n-1)" },
		{ sd * sqrt((double)(n - 1) / (double)n), "population standard deviation (n)" },
		{ sd * sqrt((double)n - 1),
		  "root of the sum of squared deviations, not divided by n-1" },
		{ sd / sqrt((double)n), "standard error of the mean" },
	};
	struct kab_check_statistic *s;

	if (n < 2)
		return;
	s = add(ret, KAB_CHECK_STDDEV, ti, row, "", column);
	s->n_test = n;
	s->printed = printed->value;
	s->recomputed = sd;
	s->verdict = KAB_CHECK_INCONSISTENT;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(known) && !s->formula; i++)
		if (against(printed, known[i].value) == KAB_CHECK_EXACT) {
			s->formula = known[i].formula;
			/* Both divisors are in use. */
			if (i < 2)
				s->verdict = KAB_CHECK_EXACT;
		}
}

/* Values of the rows above the summary rows. Caller frees. */
static double *column_runs(const struct kab_mail_table *t, size_t c, size_t *n)
{
	double *v = kab_xcalloc(t->n_rows + 1, sizeof(*v));

	*n = 0;
	for (size_t r = 0; r < t->n_rows; r++)
		if (!t->rows[r].summary && t->rows[r].items[c].present)
			v[(*n)++] = t->rows[r].items[c].value;
	return v;
}

static bool has_summary(const struct kab_mail_table *t)
{
	bool mean = false;

	for (size_t r = 0; r < t->n_rows; r++) {
		/* A load in the label is a row of its own, not a run. */
		if (!t->rows[r].summary && *t->rows[r].label)
			return false;
		mean = mean || t->rows[r].summary == 'm';
	}
	return mean;
}

/* A row per run, then rows of averages and standard deviations. */
static bool rows_are_runs(const struct kab_mail_tables *tables, size_t ti, struct kab_check *ret)
{
	const struct kab_mail_table *t = &tables->v[ti], *before = NULL;

	if (!has_summary(t))
		return false;
	for (size_t c = 0; c < t->n_cols; c++) {
		size_t n;
		double *v = column_runs(t, c, &n);

		for (size_t r = 0; r < t->n_rows && n >= 2; r++) {
			const struct kab_item *item = &t->rows[r].items[c];

			if (!item->present || !t->rows[r].summary)
				continue;
			if (t->rows[r].summary == 'm')
				check_mean(item, kab_mean(v, n), n, ti, t->rows[r].label,
					   t->cols[c].head, ret);
			else if (t->rows[r].summary == 's')
				check_sd(item, v, n, ti, t->rows[r].label, t->cols[c].head, ret);
		}
		free(v);
	}
	/* The table before may be that of the other kernel. */
	if (ti && has_summary(&tables->v[ti - 1]) && tables->v[ti - 1].n_cols == t->n_cols)
		before = &tables->v[ti - 1];
	for (size_t c = 0; before && c < t->n_cols; c++) {
		size_t na, nb;
		double *a = column_runs(before, c, &na), *b = column_runs(t, c, &nb);

		if (!strcmp(before->cols[c].head, t->cols[c].head) && na >= 2 && nb >= 2) {
			struct kab_moments base = kab_moments_of(a, na),
					   test = kab_moments_of(b, nb);
			int direction = kab_words_direction(t->cols[c].head);

			welch(add(ret, KAB_CHECK_WELCH, ti, t->title, before->title,
				  t->cols[c].head),
			      &base, &test, direction);
		}
		free(a);
		free(b);
	}
	return true;
}

/* A column per run: program output, or "test1 test2 test3 mean". */
static bool columns_are_runs(const struct kab_mail_tables *tables, size_t ti, struct kab_check *ret)
{
	const struct kab_mail_table *t = &tables->v[ti];
	size_t runs = 0;
	char **labels;
	double *v;
	size_t n;

	for (size_t c = 0; c < t->n_cols; c++)
		runs += kab_check_is_value(t, c) && is_run_head(t->cols[c].head);
	if (runs < 2)
		return false;
	labels = labels_of(t);
	v = kab_xcalloc(2 * runs + 1, sizeof(*v));
	for (size_t r = 0; r < t->n_rows; r++) {
		int b = kab_check_base_of(labels, t->n_rows, r);
		struct kab_moments m[2];

		for (int side = 0; side < 2; side++) {
			size_t row = side ? r : (size_t)(b < 0 ? (int)r : b);

			n = 0;
			for (size_t c = 0; c < t->n_cols; c++)
				if (is_run_head(t->cols[c].head) && t->rows[row].items[c].present)
					v[n++] = t->rows[row].items[c].value;
			m[side] = kab_moments_of(v, n);
		}
		for (size_t c = 0; c < t->n_cols && n >= 2; c++) {
			const struct kab_item *item = &t->rows[r].items[c];

			if (!item->present || t->cols[c].kind != KAB_ITEM_VALUE ||
			    is_run_head(t->cols[c].head))
				continue;
			if (kab_words_have(t->cols[c].head, "mean") ||
			    kab_words_have(t->cols[c].head, "avg") ||
			    kab_words_have(t->cols[c].head, "average"))
				check_mean(item, m[1].mean, n, ti, labels[r], t->cols[c].head, ret);
			else if (t->cols[c].role == KAB_MAIL_COLUMN_SPREAD)
				check_sd(item, v, n, ti, labels[r], t->cols[c].head, ret);
		}
		if (b >= 0)
			welch(add(ret, KAB_CHECK_WELCH, ti, labels[r], labels[b], "runs"), &m[0],
			      &m[1], t->direction);
	}
	free(labels);
	free(v);
	return true;
}

/* ---- only values: what the percentages would be ---- */

static bool has_percents(const struct kab_check *check, size_t ti)
{
	for (size_t i = 0; i < check->percents.n; i++)
		if (check->percents.v[i].table == ti)
			return true;
	return false;
}

static void plain_gains(const struct kab_mail_tables *tables, size_t ti, struct kab_check *ret)
{
	const struct kab_mail_table *t = &tables->v[ti];
	char **rows = labels_of(t), **heads = kab_xcalloc(t->n_cols + 1, sizeof(*heads));
	size_t cols[64], n = 0;
	bool base_row = false, test_row = false, named = false, statistics = false;

	for (size_t r = 0; r < t->n_rows; r++) {
		base_row = base_row || kab_check_is_base(rows[r]);
		test_row = test_row || kab_check_is_test(rows[r]);
	}
	for (size_t c = 0; c < t->n_cols && n < 64; c++)
		if (kab_check_is_value(t, c)) {
			heads[n] = t->cols[c].head;
			named = named || kab_words_have(heads[n], "with") ||
				kab_words_have(heads[n], "w/");
			cols[n++] = c;
		}
	for (size_t r = 0; base_row && test_row && r < t->n_rows; r++) {
		int b = kab_check_base_of(rows, t->n_rows, r);

		for (size_t k = 0; b >= 0 && k < n; k++) {
			const struct kab_item *base = &t->rows[b].items[cols[k]],
					      *test = &t->rows[r].items[cols[k]];

			if (base->present && test->present)
				cell_gain(add(ret, KAB_CHECK_GAIN, ti, rows[r], rows[b], heads[k]),
					  base, test, kab_check_direction(t, r, cols[k]));
		}
	}
	/* Columns of statistics are not kernels. */
	for (size_t c = 0; c < t->n_cols; c++)
		statistics = statistics || t->cols[c].role == KAB_MAIL_COLUMN_STAT ||
			     t->cols[c].role == KAB_MAIL_COLUMN_COUNT;
	for (size_t r = 0; !statistics && !(base_row && test_row) && n >= 2 && r < t->n_rows; r++)
		for (size_t k = 0; k < n; k++) {
			int b = kab_check_base_of(heads, n, k);
			const struct kab_item *base, *test = &t->rows[r].items[cols[k]];

			/* Other methods beside "with" and "without" are not kernels. */
			if (b < 0 || (named && !kab_check_is_test(heads[k])))
				continue;
			base = &t->rows[r].items[cols[b]];
			if (base->present && test->present && !strcmp(base->unit, test->unit))
				cell_gain(add(ret, KAB_CHECK_GAIN, ti, rows[r], heads[b], heads[k]),
					  base, test, kab_check_direction(t, r, cols[k]));
		}
	free(rows);
	free(heads);
}

/* "SMT-ON delta: -3.48%" below a table: it is of the rows with that word. */
static void percents_of_tests(struct kab_check *ret)
{
	for (size_t i = 0; i < ret->percents.n; i++) {
		struct kab_check_percent *p = &ret->percents.v[i];
		char *word kab_autofree = kab_xstrndup(p->row_label, strcspn(p->row_label, " :"));
		size_t decimals = strcspn(p->printed, ".");
		double v = strtod(p->printed, NULL), half = 0.5;

		if (p->verdict != KAB_CHECK_NOT_RECOMPUTABLE || !*word)
			continue;
		for (const char *d = p->printed + decimals + (p->printed[decimals] == '.');
		     isdigit((unsigned char)*d); d++)
			half /= 10;
		for (size_t k = 0; k < ret->statistics.n; k++) {
			const struct kab_check_statistic *s = &ret->statistics.v[k];

			if (s->kind != KAB_CHECK_WELCH || s->table >= p->table ||
			    s->table + 2 < p->table || !kab_words_have(s->row, word) ||
			    fabs(s->diff_pct - v) > half * 1.0001)
				continue;
			p->convention = 'C';
			p->recomputed = p->lo = p->hi = s->diff_pct;
			p->base = s->mean_base;
			p->test = s->mean_test;
			p->verdict = KAB_CHECK_EXACT;
		}
	}
}

void kab_check_statistics(const struct kab_mail_tables *tables, struct kab_check *ret)
{
	for (size_t ti = 0; ti < tables->n; ti++) {
		size_t from = ret->statistics.n;

		if (!rows_are_runs(tables, ti, ret) && !columns_are_runs(tables, ti, ret) &&
		    !kernels_with_moments(tables, ti, ret) && !variants(tables, ti, ret) &&
		    !columns_with_spread(tables, ti, ret) && !has_percents(ret, ti))
			plain_gains(tables, ti, ret);
		correct(ret, from);
	}
	percents_of_tests(ret);
}
