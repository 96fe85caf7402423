/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Welch's t test, and the interval for a ratio of two means.
 *
 * a, b: means of base and test; va = sa^2/na, vb = sb^2/nb: squared standard errors.
 * Each has a form on values and one on moments (n, mean, sd), for summaries without raw data.
 */
#ifndef KAB_STATS_WELCH_H
#define KAB_STATS_WELCH_H

#include "stats/stats.h"

struct kab_moments {
	size_t n;
	double mean;
	double sd; /* n - 1 in the denominator; NAN for n < 2 */
};

struct kab_welch {
	double diff; /* test minus base, unit of the metric */
	double se; /* sqrt(va + vb) */
	struct kab_test
		test; /* t = diff/se; NAN when se is 0 or a side has fewer than two values */
	struct kab_interval ci; /* diff -+ t(confidence, df) se; NAN as the test */
};

/*
 * Welch (1947), Satterthwaite's degrees of freedom:
 * df = (va + vb)^2 / (va^2/(na - 1) + vb^2/(nb - 1)).
 * Degenerate: one value on a side, or no spread on both: t, df, p and ci are NAN (never 0 or 1);
 * diff stands.
 */
int kab_welch(const double *base, size_t nb, const double *test, size_t nt, double confidence,
	      struct kab_welch *ret);
int kab_welch_moments(const struct kab_moments *base, const struct kab_moments *test,
		      double confidence, struct kab_welch *ret);
/* Student's pooled-variance t test, n_a + n_b - 2 df. For comparison with other tools only. */
int kab_student_moments(const struct kab_moments *base, const struct kab_moments *test,
			double confidence, struct kab_welch *ret);

struct kab_ratio {
	double ratio; /* b/a; NAN unless a > 0 (and b > 0 for the log forms) */
	double log_se; /* standard error of ln(b/a) */
	struct kab_test test; /* of ratio = 1 */
	struct kab_interval ci;
	bool unbounded; /* Fieller only: g >= 1, no finite interval */
};

/*
 * ln(test/base) of two positive numbers to full precision: of the difference where they are close, of
 * the quotient where the difference would lose the smaller one.
 */
double kab_log_ratio(double base, double test);
/*
 * Delta method on d = ln(b/a): se^2 = va/a^2 + vb/b^2, Welch-Satterthwaite df on these two terms,
 * interval exp(d -+ t se), test t = d/se. Needs a > 0, b > 0, two values a side, some spread.
 */
int kab_ratio_log_delta(const struct kab_moments *base, const struct kab_moments *test,
			double confidence, struct kab_ratio *ret);
/* The same with degrees of freedom chosen by the caller (NAN: the ones above). */
int kab_ratio_log_delta_df(const struct kab_moments *base, const struct kab_moments *test,
			   double df, double confidence, struct kab_ratio *ret);
/*
 * Fieller (1954): with q the t quantile at Welch's df of the difference and g = q^2 va/a^2 < 1, the
 * bounds are (r -+ q sqrt(vb/a^2 + r^2 va/a^2 - g vb/a^2))/(1 - g). It excludes 1 exactly when
 * Welch's test of the difference rejects at the same level, so that test is its `test`.
 */
int kab_ratio_fieller(const struct kab_moments *base, const struct kab_moments *test,
		      double confidence, struct kab_ratio *ret);
/*
 * Welch on the logarithms: the ratio of geometric means. All values must be positive, else NAN.
 */
int kab_ratio_geometric(const double *base, size_t nb, const double *test, size_t nt,
			double confidence, struct kab_ratio *ret);

/*
 * Two one-sided Welch tests (Schuirmann 1987) of |test - base| < margin (unit of the metric,
 * > 0): the larger of the two p. NAN as kab_welch.
 */
double kab_tost_p(const struct kab_moments *base, const struct kab_moments *test, double margin);

/* mean and sd of values, see describe.h for how. */
struct kab_moments kab_moments_of(const double *x, size_t n);

#endif
