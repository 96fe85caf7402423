/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of a comparison; verdict.c holds the rule. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "stats/describe.h"
#include "stats/dist.h"
#include "stats/paired.h"
#include "stats/sort.h"
#include "stats/verdict.h"

/* Above this coefficient of variation on a side, the delta method's symmetry is not to be trusted. */
#define FIELLER_CV_PCT 20
/* Of the random sign flips of more blocks than can all be tried: the same data, the same p. */
#define FLIP_SEED 1

static void blank(struct kab_comparison *c)
{
	const struct kab_interval none = { NAN, NAN };
	const struct kab_test no_test = { NAN, NAN, NAN };

	memset(c, 0, sizeof(*c));
	c->mean_base = c->mean_test = c->sd_base = c->sd_test = NAN;
	c->cv_base_pct = c->cv_test_pct = c->ratio = c->delta_pct = c->gain_pct = NAN;
	c->ratio_ci95 = c->ratio_ci = c->ratio_ci90 = none;
	c->ratio_estimate = c->log_se = c->diff = c->diff_se = NAN;
	c->diff_ci95 = c->diff_ci = c->diff_ci90 = none;
	c->welch = (struct kab_welch){ NAN, NAN, no_test, none };
	c->ratio_test = c->log_delta = no_test;
	c->log_delta_ci95 = c->fieller_ci95 = none;
	c->hodges_lehmann = (struct kab_hodges_lehmann){ NAN, none, NAN, false };
	kab_mann_whitney_sorted(NULL, 0, NULL, 0, &c->mann_whitney);
	c->sign_flips = (struct kab_permutation){ NAN, 0, 0, NAN, false };
	c->p = c->p_adjusted = NAN;
}

static const char *bad_option(const struct kab_compare_opts *o)
{
	if (!(o->confidence > 0 && o->confidence < 1))
		return "the confidence must lie between 0 and 1";
	if (!(o->alpha >= 0 && o->alpha < 0.5))
		return "the level of the verdict must lie between 0 and 0.5";
	if (!(o->margin >= 0 && o->margin < 1))
		return "the margin must lie between 0 and 1";
	if (o->dir < -1 || o->dir > 1)
		return "the direction must be -1, 0 or 1";
	return NULL;
}

static double cv_pct(const struct kab_moments *m, double min, double max)
{
	if (m->n < 2 || m->mean == 0 || (min < 0 && max > 0))
		return NAN;
	return 100 * (m->sd / fabs(m->mean));
}

static void percentages(struct kab_comparison *c, double min, int dir)
{
	/* A percentage of a negative base points the wrong way, one of 0 nowhere. */
	if (!(min >= 0) || !(c->mean_base > 0))
		return;
	double change = 100 * ((c->mean_test - c->mean_base) / c->mean_base);

	if (!isfinite(change)) /* means further apart than a double can say */
		return;
	c->ratio = c->mean_test / c->mean_base;
	c->ratio_estimate = c->ratio;
	c->delta_pct = change;
	if (c->delta_pct == 0)
		c->delta_pct = 0; /* no -0 */
	if (dir)
		c->gain_pct = c->delta_pct == 0 ? 0 : dir * c->delta_pct;
}

static struct kab_interval around(double centre, double se, double df, double level)
{
	double h = kab_t_quantile(level, df) * se;

	return (struct kab_interval){ centre - h, centre + h };
}

static struct kab_interval exp_around(double centre, double se, double df, double level)
{
	struct kab_interval i = around(centre, se, df, level);

	return (struct kab_interval){ exp(i.lo), exp(i.hi) };
}

static void difference_intervals(struct kab_comparison *c, double df, double confidence)
{
	c->diff_ci95 = around(c->diff, c->diff_se, df, 0.95);
	c->diff_ci90 = around(c->diff, c->diff_se, df, 0.90);
	c->diff_ci =
		confidence == 0.95 ? c->diff_ci95 : around(c->diff, c->diff_se, df, confidence);
}

static void log_intervals(struct kab_comparison *c, double d, double df, double confidence)
{
	c->ratio_ci95 = exp_around(d, c->log_se, df, 0.95);
	c->ratio_ci90 = exp_around(d, c->log_se, df, 0.90);
	c->ratio_ci = confidence == 0.95 ? c->ratio_ci95 : exp_around(d, c->log_se, df, confidence);
}

static void unpaired(struct kab_comparison *c, const struct kab_moments *a,
		     const struct kab_moments *b, double min, double confidence)
{
	struct kab_ratio fieller = { .unbounded = false };

	c->diff_se = c->welch.se;
	difference_intervals(c, c->welch.test.df, confidence);
	if (!(min > 0)) {
		c->method = KAB_METHOD_DIFFERENCE;
		c->ratio_test = c->welch.test;
	} else if (c->cv_base_pct > FIELLER_CV_PCT || c->cv_test_pct > FIELLER_CV_PCT) {
		c->method = KAB_METHOD_FIELLER;
		kab_ratio_fieller(a, b, 0.95, &fieller);
		c->ratio_test = fieller.test;
		c->ratio_ci95 = fieller.ci;
		c->interval_unbounded = fieller.unbounded;
		kab_ratio_fieller(a, b, 0.90, &fieller);
		c->ratio_ci90 = fieller.ci;
		kab_ratio_fieller(a, b, confidence, &fieller);
		c->ratio_ci = fieller.ci;
	} else {
		c->method = KAB_METHOD_LOG_DELTA;
		c->ratio_test = c->log_delta;
		log_intervals(c, kab_log_ratio(a->mean, b->mean), c->log_delta.df, confidence);
	}
	c->p = c->ratio_test.p;
}

/* Every block shows the same change, or none: the sign-flip test is all that is left. */
static void constant_blocks(struct kab_comparison *c, double change, size_t n)
{
	if (change == 0) {
		c->identical = true;
		c->method = KAB_METHOD_IDENTICAL;
		c->p = 1;
	} else {
		c->method = KAB_METHOD_EXACT;
		c->p = ldexp(1, 1 - (int)(n < 1000 ? n : 1000));
	}
}

static void flip_signs(struct kab_comparison *c, const double *base, const double *test, size_t n,
		       bool positive)
{
	double *d = kab_xreallocarray(NULL, n, sizeof(*d));

	for (size_t i = 0; i < n; i++)
		d[i] = positive ? kab_log_ratio(base[i], test[i]) : test[i] - base[i];
	kab_permute_signs(d, n, 0, FLIP_SEED, &c->sign_flips);
	free(d);
}

static void paired(struct kab_comparison *c, const double *base, const double *test, size_t n,
		   double min, double confidence)
{
	struct kab_paired d, l = { .se = NAN };

	kab_paired_difference(base, test, n, 0.95, &d);
	c->diff = d.estimate;
	c->diff_se = d.se;
	if (d.se > 0)
		difference_intervals(c, (double)(n - 1), confidence);
	if (min > 0)
		kab_paired_log_ratio(base, test, n, 0.95, &l);
	if (c->no_spread || (min > 0 ? l.se == 0 : d.se == 0)) {
		constant_blocks(c, d.estimate, n);
		return;
	}
	if (min > 0) {
		c->method = KAB_METHOD_PAIRED;
		c->ratio_test = l.test;
		c->ratio_estimate = exp(l.estimate);
		c->log_se = l.se;
		log_intervals(c, l.estimate, (double)(n - 1), confidence);
	} else {
		c->method = KAB_METHOD_DIFFERENCE;
		c->ratio_test = d.test;
	}
	c->p = c->ratio_test.p;
	flip_signs(c, base, test, n, min > 0);
}

static void describe_sides(struct kab_comparison *c, const struct kab_moments *a,
			   const struct kab_moments *b)
{
	c->mean_base = a->mean;
	c->mean_test = b->mean;
	c->sd_base = a->sd;
	c->sd_test = b->sd;
	c->diff = b->mean - a->mean;
}

int kab_compare(const double *base, size_t nb, const double *test, size_t nt,
		const struct kab_compare_opts *opts, struct kab_comparison *c)
{
	return kab_compare_sorted(base, NULL, nb, test, NULL, nt, opts, c);
}

int kab_compare_sorted(const double *base, const double *base_sorted, size_t nb, const double *test,
		       const double *test_sorted, size_t nt, const struct kab_compare_opts *opts,
		       struct kab_comparison *c)
{
	const char *bad = bad_option(opts);

	blank(c);
	c->n_base = nb;
	c->n_test = nt;
	c->design = opts->design;
	c->unit = opts->unit;
	if (!bad && opts->design == KAB_DESIGN_PAIRED && nb != nt)
		bad = "a paired comparison needs complete blocks";
	if (bad) {
		snprintf(c->reason, sizeof(c->reason), "%s", bad);
		return -1;
	}
	struct kab_moments a = kab_moments_of(base, nb), b = kab_moments_of(test, nt);

	describe_sides(c, &a, &b);
	if (nb == 0 || nt == 0) {
		kab_verdict_decide(c, NAN, opts);
		return -1;
	}
	double *own_a = base_sorted ? NULL : kab_sorted_copy(base, nb);
	double *own_b = test_sorted ? NULL : kab_sorted_copy(test, nt);
	const double *sa = own_a ? own_a : base_sorted, *sb = own_b ? own_b : test_sorted;
	double min = fmin(sa[0], sb[0]), max = fmax(sa[nb - 1], sb[nt - 1]);
	double alpha = opts->alpha > 0 ? opts->alpha : 0.05;
	struct kab_ratio r;

	c->cv_base_pct = cv_pct(&a, sa[0], sa[nb - 1]);
	c->cv_test_pct = cv_pct(&b, sb[0], sb[nt - 1]);
	c->identical = min == max;
	c->no_spread = sa[0] == sa[nb - 1] && sb[0] == sb[nt - 1];
	c->base_zero = a.mean == 0 && b.mean != 0;
	c->mixed_signs = min < 0 && max > 0;
	percentages(c, min, opts->dir);
	kab_welch_moments(&a, &b, 0.95, &c->welch);
	kab_mann_whitney_sorted(sa, nb, sb, nt, &c->mann_whitney);
	kab_hodges_lehmann_sorted(sa, nb, sb, nt, 0.95, &c->hodges_lehmann);
	free(own_a);
	free(own_b);
	if (min > 0 && nb >= 2 && nt >= 2) {
		kab_ratio_log_delta(&a, &b, 0.95, &r);
		c->log_delta = r.test;
		c->log_delta_ci95 = r.ci;
		c->log_se = r.log_se;
		kab_ratio_fieller(&a, &b, 0.95, &r);
		c->fieller_ci95 = r.ci;
	}

	size_t least = opts->design == KAB_DESIGN_PAIRED ? KAB_PAIRED_MIN_BLOCKS : 2;

	if (nb >= least && nt >= least) {
		if (c->identical) {
			c->method = KAB_METHOD_IDENTICAL;
			c->p = 1;
		} else if (opts->design == KAB_DESIGN_PAIRED) {
			paired(c, base, test, nb, min, opts->confidence);
		} else if (c->no_spread) {
			c->method = KAB_METHOD_EXACT;
			c->p = c->mann_whitney.p;
		} else {
			unpaired(c, &a, &b, min, opts->confidence);
		}
	}

	bool flips = !isnan(c->sign_flips.p);
	double companion = flips ? c->sign_flips.p : c->mann_whitney.p;
	double floor_p = flips ? c->sign_flips.p_floor : c->mann_whitney.p_floor;

	c->rank_floor =
		(flips ? c->sign_flips.exact : c->mann_whitney.exact) && !(floor_p <= alpha);
	c->rank_disagrees = !c->rank_floor && !isnan(c->p) && c->method != KAB_METHOD_EXACT &&
			    (c->p < alpha) != (companion < alpha);
	kab_verdict_decide(c, c->p, opts);
	return 0;
}

int kab_compare_moments(const struct kab_moments *base, const struct kab_moments *test,
			const struct kab_compare_opts *opts, struct kab_comparison *c)
{
	const char *bad = bad_option(opts);
	double min = fmin(base->mean, test->mean);
	struct kab_ratio r;

	blank(c);
	c->n_base = base->n;
	c->n_test = test->n;
	c->design = KAB_DESIGN_UNPAIRED;
	c->unit = KAB_UNIT_VALUES;
	if (bad) {
		snprintf(c->reason, sizeof(c->reason), "%s", bad);
		return -1;
	}
	describe_sides(c, base, test);
	if (base->n == 0 || test->n == 0) {
		kab_verdict_decide(c, NAN, opts);
		return -1;
	}
	c->cv_base_pct = cv_pct(base, base->mean, base->mean);
	c->cv_test_pct = cv_pct(test, test->mean, test->mean);
	c->base_zero = base->mean == 0 && test->mean != 0;
	c->no_spread = base->sd == 0 && test->sd == 0;
	percentages(c, min, opts->dir);
	kab_welch_moments(base, test, 0.95, &c->welch);
	if (min > 0 && base->n >= 2 && test->n >= 2) {
		kab_ratio_log_delta(base, test, 0.95, &r);
		c->log_delta = r.test;
		c->log_delta_ci95 = r.ci;
		c->log_se = r.log_se;
		kab_ratio_fieller(base, test, 0.95, &r);
		c->fieller_ci95 = r.ci;
	}
	/* A deviation that nobody wrote down is not one of 0. */
	if (base->n >= 2 && test->n >= 2 && isfinite(base->sd) && isfinite(test->sd) &&
	    !c->no_spread)
		unpaired(c, base, test, min, opts->confidence);
	kab_verdict_decide(c, c->p, opts);
	return 0;
}
