/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every number between the samples and the verdict of one row, in words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "judge/internal.h"
#include "stats/describe.h"
#include "stats/dist.h"
#include "stats/hierarchy.h"

static void number(struct kab_buf *buf, double value)
{
	if (isfinite(value))
		kab_buf_addf(buf, "%.6g", value);
	else
		kab_buf_adds(buf, "n/a");
}

/* Text of a number that lives as long as the block it is named in. */
#define NUM(value) num((char[32]){ 0 }, value)

static const char *num(char text[32], double value)
{
	if (isfinite(value))
		snprintf(text, 32, "%.6g", value);
	else
		snprintf(text, 32, "n/a");
	return text;
}

/* "NAME: " and the numbers, each at full precision that still reads well. */
static void numbers(struct kab_strv *ret, const char *name, const double *v, size_t n)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "  %s:", name);
	for (size_t i = 0; i < n; i++) {
		kab_buf_addc(&buf, ' ');
		number(&buf, v[i]);
	}
	kab_strv_add(ret, kab_buf_str(&buf));
}

static void interval(struct kab_strv *ret, const char *name, double lo, double hi)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "  %s: ", name);
	if (isfinite(lo) && isfinite(hi)) {
		kab_buf_addc(&buf, '[');
		number(&buf, lo);
		kab_buf_adds(&buf, ", ");
		number(&buf, hi);
		kab_buf_addc(&buf, ']');
	} else {
		kab_buf_adds(&buf, "n/a");
	}
	kab_strv_add(ret, kab_buf_str(&buf));
}

/* Within boots: what differs between boots is no outlier of a boot. */
static void outliers(const struct kab_judged_row *row, const struct kab_set_summary *set,
		     struct kab_strv *ret)
{
	size_t low = 0, high = 0, far = 0;

	for (size_t b = 0; b < set->data->n_boots; b++) {
		const struct kab_boot_obs *boot = &set->data->boots[b];
		struct kab_outliers out;
		double *x = kab_xreallocarray(NULL, boot->n + 1, sizeof(*x));

		for (size_t i = 0; i < boot->n; i++)
			x[i] = boot->v[i].value;
		/* fewer than four values have no quartiles worth the name */
		if (boot->n >= 4 && !kab_outliers_count(x, boot->n, &out)) {
			low += out.low_mild;
			high += out.high_mild;
			far += out.low_far + out.high_far;
		}
		free(x);
	}
	if (low + high)
		kab_strv_addf(ret,
			      "  outliers: %zu low, %zu high beyond 1.5 quartile ranges of their "
			      "%s, %zu beyond 3 (all kept)",
			      low, high, kab_row_unit_word(row->data, 1), far);
}

/* Why the iterations of a boot are not that many measurements. */
static void variance(const struct kab_judged_row *row, const struct kab_set_summary *set,
		     struct kab_strv *ret)
{
	size_t *sizes = kab_xreallocarray(NULL, set->data->n_boots + 1, sizeof(*sizes));
	double *x = kab_xreallocarray(NULL, set->n_values + 1, sizeof(*x));
	const char *unit = kab_row_unit_word(row->data, 2);
	struct kab_two_level v;
	size_t n = 0, at = 0;

	for (size_t b = 0; b < set->data->n_boots; b++) {
		if (set->data->boots[b].n)
			sizes[n++] = set->data->boots[b].n;
		for (size_t i = 0; i < set->data->boots[b].n; i++)
			x[at++] = set->data->boots[b].v[i].value;
	}
	if (!kab_two_level(x, sizes, n, &v) && isfinite(v.icc)) {
		kab_strv_addf(
			ret,
			"  variance: sd between %s %s, of iterations in one %s; share between "
			"%s (ICC) %.2g",
			unit, NUM(sqrt(fmax(0, v.var_boot))), NUM(sqrt(v.var_iteration)), unit,
			v.icc);
		kab_strv_addf(
			ret,
			"  design effect %.3g: %zu iterations tell as much as %.3g independent "
			"ones; pooled, they would err in %.2g %% instead of 5 %%",
			v.design_effect, set->n_values, (double)set->n_values / v.design_effect,
			200 * kab_norm_upper(kab_norm_quantile(0.975) / sqrt(v.design_effect)));
	}
	free(x);
	free(sizes);
}

static void explain_set(const struct kab_judged_row *row, const struct kab_set_summary *set,
			double confidence, struct kab_strv *ret)
{
	if (set->summary) {
		char name[64];

		kab_strv_addf(ret, "%s: summary only, values and boots are unknown",
			      set->data->kernel);
		kab_strv_addf(ret, "  n %zu: mean %s, sd %s, CV %s %%, standard error %s",
			      set->n_units, NUM(set->mean), NUM(set->sd), NUM(set->cv_pct),
			      NUM(set->sem));
		snprintf(name, sizeof(name), "%g %% interval of the mean", 100 * confidence);
		interval(ret, name, set->ci_lo, set->ci_hi);
	}
	if (set->summary)
		return;
	kab_strv_addf(ret, "%s: %zu %s, %zu iterations with a value, %zu failed, %zu missing",
		      set->data->kernel, set->n_boots, kab_row_unit_word(row->data, set->n_boots),
		      set->n_values, set->data->n_failed, set->data->n_missing);
	if (row->data->boots_unknown)
		kab_strv_addf(ret, "  which boots they are from is unknown: taken as one");
	if (set->data->first_failure)
		kab_strv_addf(ret, "  first failure: %s", set->data->first_failure);
	if (!set->n_values)
		return;
	for (size_t b = 0; b < set->data->n_boots; b++) {
		const struct kab_boot_obs *boot = &set->data->boots[b];
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

		if (!boot->n)
			continue;
		kab_buf_addf(&buf, "  %s %zu", kab_row_unit_word(row->data, 1), b + 1);
		if (boot->block >= 0)
			kab_buf_addf(&buf, " (block %d)", boot->block);
		kab_buf_adds(&buf, ":");
		for (size_t i = 0; i < boot->n; i++) {
			kab_buf_addc(&buf, ' ');
			number(&buf, boot->v[i].value);
		}
		kab_strv_add(ret, kab_buf_str(&buf));
	}
	if (set->over_boots)
		numbers(ret, "means of each", set->units, set->n_units);
	kab_strv_addf(ret, "  over %zu %s: mean %s, sd %s, CV %s %%, standard error %s",
		      set->n_units,
		      set->over_boots ? kab_row_unit_word(row->data, set->n_units) : "iterations",
		      NUM(set->mean), NUM(set->sd), NUM(set->cv_pct), NUM(set->sem));
	{
		char name[64];

		snprintf(name, sizeof(name), "%g %% interval of the mean", 100 * confidence);
		interval(ret, name, set->ci_lo, set->ci_hi);
	}
	kab_strv_addf(ret, "  over all iterations: min %.6g, median %.6g, max %.6g", set->min,
		      set->median, set->max);
	outliers(row, set, ret);
	if (set->over_boots && set->n_values > set->n_boots)
		variance(row, set, ret);
}

static void explain_pair(const struct kab_judgement *judgement, const struct kab_judged_row *row,
			 const struct kab_pair *pair, struct kab_strv *ret)
{
	const struct kab_comparison *cmp = &pair->cmp;
	char name[80];

	kab_strv_addf(ret, "%s against %s:", pair->test->data->kernel, pair->base->data->kernel);
	if (pair->compared) {
		kab_strv_addf(ret, "  unit of analysis: %s%s",
			      pair->summary    ? "value of a summary, taken to be independent"
			      : pair->one_boot ? "iteration, within one "
					       : kab_row_unit_word(row->data, 1),
			      pair->one_boot ? kab_row_unit_word(row->data, 1) : "");
		if (row->data->paired && !pair->one_boot && !pair->summary)
			kab_strv_addf(ret, "  complete blocks: %zu, left out: %zu", pair->blocks,
				      pair->blocks_left_out);
		kab_strv_addf(ret, "  method: %s", kab_method_name(cmp->method));
		kab_strv_addf(ret, "  ratio test/base: %s (difference %s %s)", NUM(cmp->ratio),
			      NUM(cmp->diff), row->data->unit);
		snprintf(name, sizeof(name), "%g %% interval of the ratio",
			 100 * judgement->opts.confidence);
		interval(ret, name, cmp->ratio_ci.lo, cmp->ratio_ci.hi);
		snprintf(name, sizeof(name), "%g %% interval of the %s (equivalence)",
			 100 * (1 - 2 * row->alpha),
			 isfinite(cmp->ratio_ci95.lo) ? "ratio" : "difference");
		if (isfinite(cmp->equivalence_ci.lo))
			interval(ret, name, cmp->equivalence_ci.lo, cmp->equivalence_ci.hi);
		if (row->look)
			kab_strv_addf(ret, "  look %d of %d of a run that may end early: level %s",
				      row->look, row->data->looks, NUM(row->alpha));
		kab_strv_addf(ret, "  t %s, df %s, p %s", NUM(cmp->ratio_test.t),
			      NUM(cmp->ratio_test.df), NUM(cmp->p));
		if (pair->in_family)
			kab_strv_addf(ret, "  p after %s over %zu: %s",
				      kab_correction_name(judgement->opts.correction),
				      judgement->family, NUM(cmp->p_adjusted));
		else
			kab_strv_add(ret, "  not in the family of the correction");
		if (!isnan(cmp->sign_flips.p))
			kab_strv_addf(
				ret, "  signs of blocks flipped: p %s%s%s", NUM(cmp->sign_flips.p),
				cmp->sign_flips.exact ? " (exact)" : "",
				cmp->rank_floor ? ", cannot reach the level with so few" : "");
		else if (!pair->summary)
			kab_strv_addf(
				ret, "  Mann-Whitney: U %s, p %s%s%s", NUM(cmp->mann_whitney.u),
				NUM(cmp->mann_whitney.p), cmp->mann_whitney.exact ? " (exact)" : "",
				cmp->rank_floor ? ", cannot reach the level with so few" : "");
		kab_strv_addf(ret, "  margin: %g %%", pair->margin_pct);
		if (row->data->dir == KAB_DIR_LOWER)
			kab_strv_addf(ret, "  gain = (base-test)/base = %s %%",
				      NUM(pair->gain_pct));
		else if (row->data->dir == KAB_DIR_HIGHER)
			kab_strv_addf(ret, "  gain = (test-base)/base = %s %%",
				      NUM(pair->gain_pct));
		interval(ret, "interval of the gain, percent", pair->gain_lo_pct,
			 pair->gain_hi_pct);
	}
	kab_strv_addf(ret, "  verdict: %s (%s)", kab_outcome_name(pair->outcome), pair->reason);
	if (pair->compared && pair->one_boot)
		kab_strv_addf(ret, "  5 %s or more a side allow a test",
			      kab_row_unit_word(row->data, 5));
	else if (pair->compared && !pair->summary && pair->outcome == KAB_OUTCOME_INCONCLUSIVE &&
		 cmp->units_needed)
		kab_strv_addf(ret, "  about %zu %s a side would resolve the margin",
			      cmp->units_needed, kab_row_unit_word(row->data, cmp->units_needed));
	if (pair->warning)
		kab_strv_addf(ret, "  warning: %s", pair->warning);
}

void kab_judge_explain(const struct kab_judgement *judgement, size_t r, struct kab_strv *ret)
{
	const struct kab_judged_row *row = &judgement->v[r];
	char *name = kab_judged_row_name(row);

	kab_strv_addf(ret, "%s: %s%s%s, %s", name, row->data->metric,
		      *row->data->unit ? " in " : "", row->data->unit,
		      row->data->dir == KAB_DIR_LOWER	 ? "lower is better"
		      : row->data->dir == KAB_DIR_HIGHER ? "higher is better"
							 : "no direction");
	free(name);
	for (size_t i = 0; i < row->n_sets; i++)
		explain_set(row, &row->sets[i], judgement->opts.confidence, ret);
	for (size_t i = 0; i < row->n_pairs; i++)
		explain_pair(judgement, row, &row->pairs[i], ret);
}
