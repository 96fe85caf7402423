/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One test kernel of one row against the baseline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "judge/internal.h"
#include "stats/describe.h"

#define BLOCKS_NEEDED 4

static const struct {
	const char *name, *mark;
} outcomes[KAB_OUTCOMES] = {
	[KAB_OUTCOME_IMPROVED] = { "improved", "I" },
	[KAB_OUTCOME_REGRESSED] = { "regressed", "R" },
	[KAB_OUTCOME_EQUIVALENT] = { "equivalent", "=" },
	[KAB_OUTCOME_INCONCLUSIVE] = { "inconclusive", "?" },
	[KAB_OUTCOME_FAILED] = { "failed", "" },
	[KAB_OUTCOME_MISSING] = { "missing", "" },
	[KAB_OUTCOME_NOT_COMPARABLE] = { "not comparable", "" },
	[KAB_OUTCOME_BELOW_RESOLUTION] = { "below resolution", "" },
	[KAB_OUTCOME_NO_VERDICT] = { "no verdict", "" },
};

const char *kab_outcome_name(enum kab_outcome outcome)
{
	return outcomes[outcome].name;
}

const char *kab_outcome_mark(enum kab_outcome outcome)
{
	return outcomes[outcome].mark;
}

const char *kab_row_unit_word(const struct kab_row_data *row, size_t n)
{
	if (row->restarts)
		return n == 1 ? "restart" : "restarts";
	return n == 1 ? "boot" : "boots";
}

static void conclude(struct kab_pair *pair, enum kab_outcome outcome, char *reason)
{
	free(pair->reason);
	pair->outcome = outcome;
	pair->reason = reason;
}

/* Counts of a set as one reads them: what has failed, of what was planned. */
static size_t planned(const struct kab_sample_set *set)
{
	size_t seen = set->n_done + set->n_failed + set->n_missing;

	return set->n_planned > seen ? set->n_planned : seen;
}

static bool absent(struct kab_pair *pair)
{
	const struct kab_set_summary *sides[] = { pair->base, pair->test };

	for (size_t i = 0; i < 2; i++) {
		const struct kab_sample_set *set = sides[i]->data;

		if (kab_set_any(sides[i]))
			continue;
		if (set->n_failed)
			conclude(pair, KAB_OUTCOME_FAILED,
				 kab_xasprintf("%zu of %zu iterations failed on '%s'%s%s",
					       set->n_failed, planned(set), set->kernel,
					       set->first_failure ? ": " : "",
					       set->first_failure ? set->first_failure : ""));
		else
			conclude(pair, KAB_OUTCOME_MISSING,
				 kab_xasprintf("no result on '%s'%s%s", set->kernel,
					       set->first_failure ? ": " : "",
					       set->first_failure ? set->first_failure : ""));
		return true;
	}
	return false;
}

static bool differs(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

static bool incomparable(struct kab_pair *pair)
{
	const struct kab_sample_set *a = pair->base->data, *b = pair->test->data;

	if (differs(a->argv_text, b->argv_text)) {
		conclude(pair, KAB_OUTCOME_NOT_COMPARABLE,
			 kab_xasprintf("parameters differ: '%s' on '%s', '%s' on '%s'",
				       a->argv_text, a->kernel, b->argv_text, b->kernel));
		return true;
	}
	if (differs(a->runner_version, b->runner_version)) {
		conclude(pair, KAB_OUTCOME_NOT_COMPARABLE,
			 kab_xasprintf(
				 "versions of the benchmark differ: '%s' on '%s', '%s' on '%s'",
				 a->runner_version, a->kernel, b->runner_version, b->kernel));
		return true;
	}
	return false;
}

static bool is_time(const char *unit)
{
	static const char *const units[] = { "s", "ms", "us", "ns", "min", "h" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i]))
			return true;
	return false;
}

/* A benchmark that prints 0.00 ms has not measured nothing: the time is below what it prints. */
static bool unresolved(const struct kab_judged_row *row, struct kab_pair *pair)
{
	const struct kab_set_summary *a = pair->base, *b = pair->test;

	if (a->summary || b->summary || !is_time(row->data->unit) || a->min != 0 || a->max != 0 ||
	    b->min != 0 || b->max != 0)
		return false;
	conclude(pair, KAB_OUTCOME_BELOW_RESOLUTION,
		 kab_xasprintf("identical, every value is printed as 0 %s", row->data->unit));
	return true;
}

static bool block_mean(const struct kab_sample_set *set, int block, double *ret)
{
	double sum = 0;
	size_t n = 0;

	for (size_t b = 0; b < set->n_boots; b++) {
		double boot = 0;

		if (set->boots[b].block != block || !set->boots[b].n)
			continue;
		for (size_t i = 0; i < set->boots[b].n; i++)
			boot += set->boots[b].v[i].value;
		sum += boot / set->boots[b].n;
		n++;
	}
	if (n)
		*ret = sum / n;
	return n > 0;
}

/* Complete blocks in order; returns their number, and how many have one side only. */
static size_t blocks_of(const struct kab_pair *pair, double **ret_base, double **ret_test,
			size_t *ret_left_out)
{
	int last = -1;
	size_t n = 0;

	for (int side = 0; side < 2; side++) {
		const struct kab_sample_set *set = side ? pair->test->data : pair->base->data;

		for (size_t b = 0; b < set->n_boots; b++)
			if (set->boots[b].block > last)
				last = set->boots[b].block;
	}
	*ret_base = kab_xreallocarray(NULL, (size_t)(last + 2), sizeof(double));
	*ret_test = kab_xreallocarray(NULL, (size_t)(last + 2), sizeof(double));
	*ret_left_out = 0;
	for (int block = 0; block <= last; block++) {
		bool a = block_mean(pair->base->data, block, &(*ret_base)[n]);
		bool b = block_mean(pair->test->data, block, &(*ret_test)[n]);

		if (a && b)
			n++;
		else if (a || b)
			(*ret_left_out)++;
	}
	return n;
}

struct kab_compare_opts kab_pair_compare_opts(const struct kab_judged_row *row,
					      const struct kab_pair *pair,
					      const struct kab_judge_opts *opts)
{
	struct kab_compare_opts ret = KAB_COMPARE_OPTS_INIT;

	ret.dir = row->data->dir == KAB_DIR_LOWER ? -1 : row->data->dir == KAB_DIR_HIGHER ? 1 : 0;
	ret.confidence = opts->confidence;
	ret.alpha = row->alpha;
	ret.margin = pair->margin_pct / 100;
	ret.design = row->data->paired && !pair->one_boot && !pair->summary ? KAB_DESIGN_PAIRED
									    : KAB_DESIGN_UNPAIRED;
	ret.unit = pair->one_boot || pair->summary ? KAB_UNIT_VALUES : KAB_UNIT_BOOTS;
	return ret;
}

static void take_numbers(const struct kab_judged_row *row, struct kab_pair *pair)
{
	struct kab_interval ci = pair->cmp.ratio_ci;
	bool lower = row->data->dir == KAB_DIR_LOWER;

	pair->diff_pct = pair->cmp.delta_pct;
	pair->gain_pct = pair->cmp.gain_pct;
	if (row->data->dir == KAB_DIR_NONE || !isfinite(ci.lo) || !isfinite(ci.hi))
		return;
	/* Values are not negative where there is a ratio: Fieller's bounds may be, the truth cannot. */
	ci.lo = fmax(ci.lo, 0);
	pair->gain_lo_pct = lower ? 100 * (1 - ci.hi) : 100 * (ci.lo - 1);
	pair->gain_hi_pct = lower ? 100 * (1 - ci.lo) : 100 * (ci.hi - 1);
}

static void warn(struct kab_pair *pair, char *text)
{
	if (pair->warning) {
		char *both = kab_xasprintf("%s; %s", pair->warning, text);

		free(pair->warning);
		free(text);
		text = both;
	}
	pair->warning = text;
}

static double log_choose(size_t n, size_t k)
{
	return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

/*
 * Fisher's exact test, two-sided: all tables with these margins that are not likelier than the one
 * seen (hypergeometric). a of n against b of m.
 */
static double fisher_p(size_t a, size_t n, size_t b, size_t m)
{
	size_t k = a + b, lo = k > m ? k - m : 0, hi = k < n ? k : n;
	double seen = log_choose(n, a) + log_choose(m, b), all = log_choose(n + m, k), p = 0;

	for (size_t i = lo; i <= hi; i++) {
		double it = log_choose(n, i) + log_choose(m, k - i);

		/* Equal ones differ by rounding. */
		if (it <= seen + 1e-9)
			p += exp(it - all);
	}
	return fmin(p, 1);
}

static void warn_of_failures(struct kab_pair *pair)
{
	const struct kab_sample_set *a = pair->base->data, *b = pair->test->data;
	const struct kab_sample_set *more, *less;
	char *text;
	double p;

	/* Cross-multiplied: planned counts may differ. */
	if (a->n_failed * planned(b) == b->n_failed * planned(a))
		return;
	more = a->n_failed * planned(b) > b->n_failed * planned(a) ? a : b;
	less = more == a ? b : a;
	text = kab_xasprintf("fail %zu/%zu on '%s', %zu/%zu on '%s'", more->n_failed, planned(more),
			     more->kernel, less->n_failed, planned(less), less->kernel);
	p = fisher_p(a->n_failed, planned(a), b->n_failed, planned(b));
	if (p < 0.05)
		warn(pair, kab_xasprintf("%s: not by chance, Fisher p %.2g", text, p));
	else
		warn(pair,
		     kab_xasprintf("%s: n=%zu against %zu", text, more->n_done, less->n_done));
	free(text);
}

static void compare_in_one_boot(const struct kab_judged_row *row, struct kab_pair *pair,
				const struct kab_judge_opts *opts)
{
	struct kab_compare_opts o;

	pair->one_boot = true;
	o = kab_pair_compare_opts(row, pair, opts);
	pair->compared = !kab_compare(pair->base->in_order, pair->base->n_values,
				      pair->test->in_order, pair->test->n_values, &o, &pair->cmp);
	take_numbers(row, pair);
	/* Spread over boots on one side, over iterations on the other: no interval is of both. */
	if (pair->base->n_boots != pair->test->n_boots)
		pair->gain_lo_pct = pair->gain_hi_pct = NAN;
	if (pair->base->n_values == 1 && pair->test->n_values == 1)
		conclude(pair, KAB_OUTCOME_INCONCLUSIVE, kab_xstrdup("one value"));
	else if (row->data->boots_unknown)
		conclude(pair, KAB_OUTCOME_INCONCLUSIVE, kab_xstrdup("boots unknown"));
	else
		conclude(pair, KAB_OUTCOME_INCONCLUSIVE,
			 kab_xasprintf("one %s", kab_row_unit_word(row->data, 1)));
}

/* Without values there is nothing to go by but what the summary says of itself. */
static void compare_summaries(const struct kab_judged_row *row, struct kab_pair *pair,
			      const struct kab_judge_opts *opts)
{
	struct kab_moments base = { pair->base->n_units, pair->base->mean, pair->base->sd };
	struct kab_moments test = { pair->test->n_units, pair->test->mean, pair->test->sd };
	const struct kab_set_summary *other = pair->base->summary ? pair->test : pair->base;
	struct kab_compare_opts o;
	bool both = pair->base->summary && pair->test->summary;

	pair->summary = true;
	o = kab_pair_compare_opts(row, pair, opts);
	pair->compared = !kab_compare_moments(&base, &test, &o, &pair->cmp);
	if (pair->compared)
		take_numbers(row, pair);
	pair->tested = pair->compared && pair->cmp.method != KAB_METHOD_NONE;
	pair->in_family = pair->tested && row->verdict && isfinite(pair->cmp.p);
	kab_pair_decide(row, pair, pair->cmp.p, opts);
	if (both && !pair->tested)
		warn(pair, kab_xstrdup("summary only, its boots are unknown"));
	else if (both)
		warn(pair, kab_xasprintf("summary only, its boots are unknown: judged as %zu and "
					 "%zu independent values",
					 base.n, test.n));
	else
		warn(pair,
		     kab_xasprintf("a summary of %zu values, its boots are unknown, against "
				   "%zu %s",
				   pair->base->summary ? base.n : test.n, other->n_units,
				   other->over_boots ? kab_row_unit_word(row->data, other->n_units)
						     : "iterations of one boot"));
	if (pair->compared && !pair->tested && base.n > 1 && test.n > 1)
		conclude(pair, KAB_OUTCOME_INCONCLUSIVE,
			 kab_xstrdup(isfinite(base.sd) && isfinite(test.sd)
					     ? "no spread on either side: no test of summaries"
					     : "a standard deviation is not known"));
}

static void compare_boots(const struct kab_judged_row *row, struct kab_pair *pair,
			  const struct kab_judge_opts *opts)
{
	struct kab_compare_opts o = kab_pair_compare_opts(row, pair, opts);
	double *base = NULL, *test = NULL;

	if (!row->data->paired) {
		pair->compared =
			!kab_compare(pair->base->units, pair->base->n_units, pair->test->units,
				     pair->test->n_units, &o, &pair->cmp);
	} else {
		pair->blocks = blocks_of(pair, &base, &test, &pair->blocks_left_out);
		if (pair->blocks)
			pair->compared = !kab_compare(base, pair->blocks, test, pair->blocks, &o,
						      &pair->cmp);
		free(base);
		free(test);
	}
	if (pair->compared)
		take_numbers(row, pair);
	if (row->data->paired && pair->blocks < BLOCKS_NEEDED) {
		conclude(pair, KAB_OUTCOME_INCONCLUSIVE,
			 kab_xasprintf("only %zu complete block%s, %d are needed", pair->blocks,
				       pair->blocks == 1 ? "" : "s", BLOCKS_NEEDED));
		return;
	}
	pair->tested = pair->compared;
	pair->in_family = pair->compared && row->verdict && isfinite(pair->cmp.p);
	kab_pair_decide(row, pair, pair->cmp.p, opts);
}

void kab_pair_compare(const struct kab_judged_row *row, struct kab_pair *pair,
		      const struct kab_judge_opts *opts)
{
	pair->gain_pct = pair->diff_pct = pair->gain_lo_pct = pair->gain_hi_pct = NAN;
	pair->margin_pct = opts->margin_pct >= 0 ? opts->margin_pct : row->data->margin_pct;
	warn_of_failures(pair);
	if (absent(pair) || incomparable(pair) || unresolved(row, pair))
		return;
	if (pair->base->summary || pair->test->summary)
		compare_summaries(row, pair, opts);
	else if (pair->base->n_boots < 2 || pair->test->n_boots < 2)
		compare_in_one_boot(row, pair, opts);
	else
		compare_boots(row, pair, opts);
	if (pair->compared && !isfinite(pair->diff_pct)) {
		if (pair->cmp.base_zero) {
			double worse = pair->cmp.diff * (row->data->dir == KAB_DIR_LOWER ? 1 : -1);

			warn(pair, kab_xstrdup("the base is 0: no percentage, yet a change"));
			pair->gate = row->verdict && worse > 0;
		}
	}
	if (pair->compared && pair->cmp.rank_disagrees && pair->tested)
		warn(pair, kab_xstrdup(isnan(pair->cmp.sign_flips.p)
					       ? "tests by mean and by rank disagree"
					       : "the paired t test and sign flips disagree"));
	if (!row->verdict) {
		pair->tested = false;
		conclude(pair, KAB_OUTCOME_NO_VERDICT,
			 kab_xstrdup(row->data->dir == KAB_DIR_NONE
					     ? "no direction"
					     : "not a primary metric, nor named by the suite"));
	}
}

void kab_pair_decide(const struct kab_judged_row *row, struct kab_pair *pair, double adjusted_p,
		     const struct kab_judge_opts *opts)
{
	static const enum kab_outcome of_verdict[] = {
		[KAB_VERDICT_NONE] = KAB_OUTCOME_NO_VERDICT,
		[KAB_VERDICT_IMPROVED] = KAB_OUTCOME_IMPROVED,
		[KAB_VERDICT_REGRESSED] = KAB_OUTCOME_REGRESSED,
		[KAB_VERDICT_EQUIVALENT] = KAB_OUTCOME_EQUIVALENT,
		[KAB_VERDICT_INCONCLUSIVE] = KAB_OUTCOME_INCONCLUSIVE,
	};
	struct kab_compare_opts o = kab_pair_compare_opts(row, pair, opts);

	if (!pair->compared) {
		conclude(pair, KAB_OUTCOME_INCONCLUSIVE, kab_xstrdup("not enough data"));
		return;
	}
	kab_verdict_decide(&pair->cmp, adjusted_p, &o);
	conclude(pair, of_verdict[pair->cmp.verdict], kab_xstrdup(pair->cmp.reason));
	pair->gate = pair->gate || pair->outcome == KAB_OUTCOME_REGRESSED;
}

void kab_pair_release(struct kab_pair *pair)
{
	free(pair->reason);
	free(pair->warning);
}
