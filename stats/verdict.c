/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rule that turns a comparison into a verdict and says why. compare.c computes the numbers. */
#include "stats/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "stats/dist.h"
#include "stats/paired.h"
#include "stats/plan.h"

static const char *const verdict_names[] = { "", "improved", "regressed", "equivalent",
					     "inconclusive" };
static const char *const method_names[] = { "none",   "identical", "exact",    "difference",
					    "paired", "fieller",   "log-delta" };

const char *kab_verdict_name(enum kab_verdict verdict)
{
	return (size_t)verdict < KAB_ARRAY_SIZE(verdict_names) ? verdict_names[verdict] : "";
}

const char *kab_method_name(enum kab_method method)
{
	return (size_t)method < KAB_ARRAY_SIZE(method_names) ? method_names[method] : "none";
}

__attribute__((format(printf, 3, 4))) static void
settle(struct kab_comparison *c, enum kab_verdict verdict, const char *fmt, ...)
{
	va_list ap;

	c->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, ap);
	va_end(ap);
}

static const char *unit_name(const struct kab_comparison *c, bool many)
{
	if (c->design == KAB_DESIGN_PAIRED)
		return many ? "blocks" : "block";
	if (c->unit == KAB_UNIT_VALUES)
		return many ? "values" : "value";
	return many ? "boots" : "boot";
}

static bool excludes(struct kab_interval i, double point)
{
	return i.lo > point || i.hi < point;
}

static bool inside(struct kab_interval i, double lo, double hi)
{
	return i.lo >= lo && i.hi <= hi;
}

static enum kab_verdict by_direction(double change, int dir)
{
	return (change > 0) == (dir > 0) ? KAB_VERDICT_IMPROVED : KAB_VERDICT_REGRESSED;
}

/* Boots per side that would bring the half width of the interval down to S. */
static size_t needed(const struct kab_comparison *c, double alpha, double margin)
{
	if (!(margin > 0))
		return 0;
	switch (c->method) {
	case KAB_METHOD_PAIRED:
		return kab_plan_blocks_needed(c->log_se * sqrt((double)c->n_base), log1p(margin),
					      1 - alpha);
	case KAB_METHOD_LOG_DELTA:
	case KAB_METHOD_FIELLER:
		return kab_plan_boots_needed(
			hypot(c->sd_base / c->mean_base, c->sd_test / c->mean_test) / M_SQRT2,
			log1p(margin), 1 - alpha);
	default:
		return 0;
	}
}

static void one_unit(struct kab_comparison *c)
{
	const char *unit = unit_name(c, false);

	if (c->design == KAB_DESIGN_PAIRED)
		settle(c, KAB_VERDICT_INCONCLUSIVE, "%zu complete %s, at least %d are needed",
		       c->n_base, unit_name(c, c->n_base != 1), KAB_PAIRED_MIN_BLOCKS);
	else if (c->n_base == 1 && c->n_test == 1)
		settle(c, KAB_VERDICT_INCONCLUSIVE, "one %s%s", unit,
		       c->identical ? ", identical" : "");
	else
		settle(c, KAB_VERDICT_INCONCLUSIVE, "one %s of the %s%s", unit,
		       c->n_base == 1 ? "base" : "test", c->identical ? ", identical" : "");
}

static void inconclusive(struct kab_comparison *c, double alpha, double margin)
{
	c->units_needed = needed(c, alpha, margin);
	if (c->multiplicity_decided)
		settle(c, KAB_VERDICT_INCONCLUSIVE,
		       "p %.2g, but %.2g after adjustment for the other rows", c->p, c->p_adjusted);
	else if (c->units_needed > c->n_base && c->units_needed > c->n_test)
		settle(c, KAB_VERDICT_INCONCLUSIVE,
		       "the spread hides a change of %g %%: about %zu %s%s would resolve it",
		       100 * margin, c->units_needed, unit_name(c, true),
		       c->design == KAB_DESIGN_PAIRED ? "" : " a side");
	else
		settle(c, KAB_VERDICT_INCONCLUSIVE,
		       "neither a change nor its absence within %g %% is shown", 100 * margin);
	if (!c->multiplicity_decided && !(margin > 0))
		settle(c, KAB_VERDICT_INCONCLUSIVE,
		       "no change shown; its absence can only be shown %s",
		       c->method == KAB_METHOD_DIFFERENCE || c->interval_unbounded
			       ? "against a margin in the metric's own unit"
			       : "against a margin");
}

/* Both sides constant: nothing to estimate an interval from, only an exact test speaks. */
static void decide_exact(struct kab_comparison *c, double alpha,
			 const struct kab_compare_opts *opts)
{
	double margin = opts->margin;
	const char *constant = c->no_spread ? "constant on either side, yet different"
					    : "the same change in every block";
	/* one-sided exact test of a shift by the margin: fully separated, half the two-sided floor */
	bool proves_within = c->n_base >= 4 && c->n_test >= 4 && c->p / 2 < alpha;
	bool within = (!isnan(c->ratio) && margin > 0 && fabs(c->ratio - 1) <= margin) ||
		      (opts->margin_unit > 0 && fabs(c->diff) <= opts->margin_unit);

	if (within && proves_within) {
		c->shift_below_margin = true;
		settle(c, KAB_VERDICT_EQUIVALENT, "%s, and the shift is below the margin",
		       constant);
	} else if (c->p < alpha && c->p_adjusted < alpha) {
		c->significant = true;
		settle(c, by_direction(c->diff, opts->dir), "%s: exact test, p %.2g", constant,
		       c->p_adjusted);
	} else if (c->multiplicity_decided) {
		inconclusive(c, alpha, margin);
	} else {
		settle(c, KAB_VERDICT_INCONCLUSIVE,
		       "%s: no t test, and the exact test of %zu against %zu cannot go below p "
		       "%.2g",
		       constant, c->n_base, c->n_test, c->p);
	}
}

/* The interval at level 1 - alpha (or 1 - 2 alpha) of whatever the method measures. */
static struct kab_interval interval_at(double df, double level, double centre, double se,
				       bool as_ratio)
{
	double h = kab_t_quantile(level, df) * se;
	struct kab_interval i = { centre - h, centre + h };

	if (as_ratio)
		i = (struct kab_interval){ exp(i.lo), exp(i.hi) };
	return i;
}

struct view {
	struct kab_interval wide, narrow; /* 1 - alpha, 1 - 2 alpha */
	double none; /* the value that means no change */
	double lo, hi; /* the band of equivalence; NAN without a margin */
};

/* Puts the numbers the rule needs on one scale. False when there is no interval at all. */
static bool look(const struct kab_comparison *c, double alpha, const struct kab_compare_opts *opts,
		 struct view *v)
{
	bool standard = alpha == 0.05;
	bool ratio = c->method != KAB_METHOD_DIFFERENCE && !c->interval_unbounded;

	v->lo = v->hi = NAN;
	if (ratio) {
		v->none = 1;
		if (opts->margin > 0) {
			v->lo = 1 - opts->margin;
			v->hi = 1 + opts->margin;
		}
		v->wide = c->ratio_ci95;
		v->narrow = c->ratio_ci90;
		if (!standard && c->method == KAB_METHOD_FIELLER) {
			struct kab_moments a = { c->n_base, c->mean_base, c->sd_base };
			struct kab_moments b = { c->n_test, c->mean_test, c->sd_test };
			struct kab_ratio r;

			kab_ratio_fieller(&a, &b, 1 - alpha, &r);
			v->wide = r.ci;
			kab_ratio_fieller(&a, &b, 1 - 2 * alpha, &r);
			v->narrow = r.ci;
		} else if (!standard) {
			double d = log(c->ratio_estimate);
			double se = c->log_se;

			v->wide = interval_at(c->ratio_test.df, 1 - alpha, d, se, true);
			v->narrow = interval_at(c->ratio_test.df, 1 - 2 * alpha, d, se, true);
		}
	} else {
		v->none = 0;
		if (opts->margin_unit > 0) {
			v->lo = -opts->margin_unit;
			v->hi = opts->margin_unit;
		}
		v->wide = c->diff_ci95;
		v->narrow = c->diff_ci90;
		if (!standard) {
			v->wide = interval_at(c->ratio_test.df, 1 - alpha, c->diff, c->diff_se,
					      false);
			v->narrow = interval_at(c->ratio_test.df, 1 - 2 * alpha, c->diff,
						c->diff_se, false);
		}
	}
	return !isnan(v->wide.lo);
}

void kab_verdict_decide(struct kab_comparison *c, double adjusted_p,
			const struct kab_compare_opts *opts)
{
	double alpha = opts->alpha > 0 ? opts->alpha : 0.05;
	struct view v;

	c->p_adjusted = adjusted_p;
	c->equivalence_ci = (struct kab_interval){ NAN, NAN };
	c->units_needed = 0;
	c->significant = c->size_not_resolved = c->shift_below_margin = false;
	c->multiplicity_decided = c->p < alpha && !(adjusted_p < alpha);
	if (opts->dir == 0) {
		settle(c, KAB_VERDICT_NONE, "no direction");
		return;
	}
	switch (c->method) {
	case KAB_METHOD_NONE:
		if (c->n_base == 0 || c->n_test == 0)
			settle(c, KAB_VERDICT_NONE, "nothing to compare: the %s has no %s",
			       c->n_base == 0 ? "base" : "test", unit_name(c, true));
		else
			one_unit(c);
		return;
	case KAB_METHOD_IDENTICAL:
		settle(c, KAB_VERDICT_EQUIVALENT, "%s",
		       c->design == KAB_DESIGN_PAIRED && !c->no_spread ? "identical in every block"
								       : "identical");
		return;
	case KAB_METHOD_EXACT:
		decide_exact(c, alpha, opts);
		return;
	default:
		break;
	}
	if (!look(c, alpha, opts, &v)) {
		settle(c, KAB_VERDICT_INCONCLUSIVE,
		       "no interval can be computed from these values");
		return;
	}
	bool excluded = excludes(v.wide, v.none);

	c->equivalence_ci = v.narrow;

	if (inside(v.narrow, v.lo, v.hi)) {
		c->shift_below_margin = excluded;
		settle(c, KAB_VERDICT_EQUIVALENT,
		       excluded ? "equivalent, shift below the margin"
				: "any change is below the margin");
		return;
	}
	/* p < alpha as well as the interval, so that a p of exactly alpha is never significant */
	if (excluded && c->p < alpha && adjusted_p < alpha) {
		double change = v.wide.lo > v.none ? 1 : -1;

		c->significant = true;
		c->size_not_resolved = v.wide.lo < v.hi && v.wide.hi > v.lo;
		settle(c, by_direction(change, opts->dir), "p %.2g%s%s%s", adjusted_p,
		       c->size_not_resolved ? " (size not resolved against the margin)" : "",
		       c->base_zero ? ", the base is 0" : "",
		       c->interval_unbounded ? ", the base is too noisy for a ratio" : "");
		return;
	}
	inconclusive(c, alpha, v.none == 1 ? opts->margin : 0);
}

double kab_compare_detectable_pct(const struct kab_comparison *c, double alpha, double power)
{
	if (isnan(c->delta_pct) || isnan(c->ratio_test.df) || c->interval_unbounded)
		return NAN;
	if (c->method == KAB_METHOD_DIFFERENCE)
		return 100 / c->mean_base *
		       kab_plan_detectable(c->diff_se, c->ratio_test.df, alpha, power);
	return 100 * expm1(kab_plan_detectable(c->log_se, c->ratio_test.df, alpha, power));
}
