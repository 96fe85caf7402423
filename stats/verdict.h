/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two samples in, one comparison with a verdict out: the function behind every mark in every table.
 *
 * The values given are the units of analysis: one number per boot (the mean over the iterations of
 * that boot), or, for a plain file without boots, the values themselves, which are then treated as
 * independent. Values of several iterations of one boot must never be passed as units.
 *
 * Notation: A, B the means of base and test; va = var(base)/nb, vb = var(test)/nt; S the margin.
 */
#ifndef KAB_STATS_VERDICT_H
#define KAB_STATS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/permute.h"
#include "stats/rank.h"
#include "stats/stats.h"
#include "stats/welch.h"

enum kab_verdict {
	KAB_VERDICT_NONE, /* not judged: no direction, or nothing on one side */
	KAB_VERDICT_IMPROVED,
	KAB_VERDICT_REGRESSED,
	KAB_VERDICT_EQUIVALENT,
	KAB_VERDICT_INCONCLUSIVE,
};

enum kab_design {
	KAB_DESIGN_UNPAIRED, /* base[] and test[] are two independent groups */
	KAB_DESIGN_PAIRED, /* base[i] and test[i] are block i: complete blocks only, nb == nt */
};

enum kab_unit {
	KAB_UNIT_BOOTS, /* one value per boot */
	KAB_UNIT_VALUES, /* values of a plain file, treated as independent */
};

/* Which statistic gave ratio_ci95, ratio_test and p. The design and the data fix it, in this order. */
enum kab_method {
	KAB_METHOD_NONE, /* fewer than two units on a side (paired: fewer than four blocks) */
	KAB_METHOD_IDENTICAL, /* all values of both sides are one and the same number */
	KAB_METHOD_EXACT, /* nothing varies, yet the sides differ: p of the exact rank or sign test */
	KAB_METHOD_DIFFERENCE, /* a value is 0 or below: the (paired) Welch difference, in the metric's unit */
	KAB_METHOD_PAIRED, /* one-sample t on the log ratios of the blocks */
	KAB_METHOD_FIELLER, /* CV above 20 % on a side: Fieller's interval, p of the Welch difference */
	KAB_METHOD_LOG_DELTA, /* the usual one: delta method on ln(B/A), Welch-Satterthwaite df */
};

struct kab_compare_opts {
	int dir; /* -1 lower is better, +1 higher is better, 0 none: no verdict */
	double confidence; /* level of `ci` and `ratio_ci` in (0, 1); ci95 fields stay at 0.95 */
	double alpha; /* level of the verdict; 0 means 0.05 */
	double margin; /* S as a fraction of the base (0.02); 0: nothing is ever equivalent */
	double margin_unit; /* S in the metric's own unit, for KAB_METHOD_DIFFERENCE; 0 or NAN: none */
	enum kab_design design;
	enum kab_unit unit;
};

#define KAB_COMPARE_OPTS_INIT                                     \
	{                                                         \
		.confidence = 0.95, .alpha = 0.05, .margin = 0.02 \
	}

#define KAB_REASON_MAX 192

struct kab_comparison {
	/* The two sides, over units. n as given; sd and cv are NAN below two units. */
	size_t n_base, n_test;
	double mean_base, mean_test;
	double sd_base, sd_test;
	double cv_base_pct, cv_test_pct; /* 100 sd / |mean|; NAN when the mean is 0 or signs mix */

	/*
	 * B/A, 100 (B/A - 1), and dir times that (+ is always better). NAN when the base is 0, or a
	 * value of either side is negative. gain_pct is NAN without a direction as well. A test of 0
	 * is a plain -100 %.
	 */
	double ratio, delta_pct, gain_pct;

	/*
	 * The interval of the ratio by `method`: at 95 %, at opts.confidence, and at 90 %. NAN for NONE and
	 * DIFFERENCE, and for FIELLER where the interval is unbounded. A bound may be infinite where
	 * a few blocks differ by orders of magnitude: print it as undefined.
	 */
	struct kab_interval ratio_ci95, ratio_ci, ratio_ci90;
	/* Centre of that interval: B/A, but the geometric mean of the block ratios when PAIRED. */
	double ratio_estimate;
	double log_se; /* standard error on the log scale of log-delta or paired; NAN if undefined */
	/* test minus base in the metric's unit (paired: over blocks): at 95 %, confidence and 90 %. */
	double diff, diff_se;
	struct kab_interval diff_ci95, diff_ci, diff_ci90;

	struct kab_welch welch; /* raw scale, unpaired, always where both sides have two units */
	struct kab_test ratio_test; /* the statistic of `method`; NAN for NONE, IDENTICAL, EXACT */
	struct kab_test
		log_delta; /* t = ln(B/A)/se with Welch df, whichever the method; NAN if undefined */
	struct kab_interval log_delta_ci95;
	struct kab_interval fieller_ci95; /* NAN when undefined or unbounded */
	struct kab_mann_whitney mann_whitney;
	struct kab_hodges_lehmann hodges_lehmann; /* test minus base, at 95 % */
	/*
	 * PAIRED: the companion of the paired t, signs of the blocks' log ratios flipped (of their
	 * differences where a value is 0 or below); p is NAN elsewhere. The rank test above ignores the
	 * blocks, and so says little where blocks were worth their while.
	 */
	struct kab_permutation sign_flips;

	/*
	 * Raw two-sided p of the verdict, the one that goes into Holm's adjustment: ratio_test.p;
	 * for EXACT mann_whitney.p (paired: 2^(1 - blocks)); 1 for IDENTICAL; NAN for NONE (such a
	 * row leaves the family).
	 */
	double p;
	double p_adjusted; /* as last given to kab_verdict_decide; equals p before */

	enum kab_method method;
	enum kab_design design;
	enum kab_unit unit;

	/* Set by kab_verdict_decide. */
	enum kab_verdict verdict;
	char reason[KAB_REASON_MAX]; /* plain words, lower case, no full stop; never empty */
	/*
	 * The interval of rule 1, at level 1 - 2 alpha, whose inclusion in the band proves equivalence:
	 * of the ratio, or of the difference where that decides. NAN where there is none.
	 */
	struct kab_interval equivalence_ci;
	size_t units_needed; /* per side for a half width of S at this spread; 0: unknown or no margin */

	/* Things a reader should be told; set by kab_compare unless said otherwise. */
	bool identical; /* every value of both sides is the same number */
	bool no_spread; /* neither side varies */
	bool base_zero; /* the base mean is 0, the test mean is not: no percentage, yet a change */
	bool mixed_signs; /* both negative and positive values occur */
	/* The companion of the t test: the rank test, or the sign flips when PAIRED. */
	bool rank_floor; /* the exact companion cannot reach alpha with these n */
	bool rank_disagrees; /* the t test and its companion fall on different sides of alpha */
	bool interval_unbounded; /* Fieller: the base is too noisy for a ratio interval */
	bool significant; /* by decide: alpha-level interval excludes "no change" and p_adjusted < alpha */
	bool size_not_resolved; /* by decide: significant, but the interval overlaps the band 1 -+ S */
	bool shift_below_margin; /* by decide: equivalent although the 95 % interval excludes 1 */
	bool multiplicity_decided; /* by decide: raw p is below alpha, the adjusted one is not */
};

/*
 * Compare test with base. Fills everything and decides with the unadjusted p.
 * 0; -1 if n_base or n_test is 0 (verdict NONE, reason says which), or paired with nb != nt, or an
 * option is out of range (all numbers NAN, the reason names it).
 * Cost: O(n log n); microseconds for boots, below a second for two times 1e6 values.
 */
int kab_compare(const double *base, size_t nb, const double *test, size_t nt,
		const struct kab_compare_opts *opts, struct kab_comparison *ret);

/*
 * The same for a caller who has both samples in ascending order as well; NULL: kab_compare sorts.
 * Sorting is most of the work for large samples.
 */
int kab_compare_sorted(const double *base, const double *base_sorted, size_t nb, const double *test,
		       const double *test_sorted, size_t nt, const struct kab_compare_opts *opts,
		       struct kab_comparison *ret);

/*
 * The same where only n, mean and standard deviation of each side are known (a summary that somebody
 * published). The values are taken to be independent and, where both means are positive, to be
 * positive: log-delta, or Fieller above a CV of 20 %; else the Welch difference. What needs the values
 * stays undefined: rank test, shift, the exact test; without any spread there is no test, method NONE.
 * Always unpaired. 0, or -1 as kab_compare.
 */
int kab_compare_moments(const struct kab_moments *base, const struct kab_moments *test,
			const struct kab_compare_opts *opts, struct kab_comparison *ret);

/*
 * Decide again, e.g. after Holm over the rows of a table. adjusted_p >= p. Rules, first match wins:
 *   no direction: NONE. One unit on a side, or fewer than four blocks: INCONCLUSIVE.
 *   all values identical: EQUIVALENT.
 *   1. the (1 - 2 alpha) interval lies inside [1 - S, 1 + S] (two one-sided tests): EQUIVALENT.
 *   2. the (1 - alpha) interval excludes 1 and adjusted_p < alpha: IMPROVED or REGRESSED.
 *   3. INCONCLUSIVE, with the number of units that would resolve S.
 * DIFFERENCE uses the interval of the difference, 0 in place of 1 and margin_unit in place of S.
 * p equal to alpha is not significant.
 */
void kab_verdict_decide(struct kab_comparison *cmp, double adjusted_p,
			const struct kab_compare_opts *opts);

/*
 * The smallest true change, in percent of the base, that such an experiment (same n, same spread)
 * would find at level alpha with the given power (0.8): for "a difference above X % would have been
 * seen in 8 of 10". NAN where no test was possible or a percentage is undefined.
 */
double kab_compare_detectable_pct(const struct kab_comparison *cmp, double alpha, double power);

/* "improved", "regressed", "equivalent", "inconclusive", or "" for NONE. */
const char *kab_verdict_name(enum kab_verdict verdict);
/* "log-delta", "fieller", "difference", "paired", "exact", "identical" or "none". */
const char *kab_method_name(enum kab_method method);

#endif
