/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptive statistics of one sample. */
#ifndef KAB_STATS_DESCRIBE_H
#define KAB_STATS_DESCRIBE_H

#include "stats/stats.h"
#include "stats/welch.h"

/* Consistent with the sd for normal data: 1 / Phi^-1(3/4), to the four decimals everybody prints. */
#define KAB_MAD_SCALE 1.4826

struct kab_summary {
	size_t n;
	double sum; /* may be infinite when the mean is not */
	double mean;
	double sd; /* n - 1; NAN for n = 1, exactly 0 when all values are equal */
	double sd_pop; /* n */
	double sem; /* sd / sqrt(n) */
	double cv_pct; /* 100 sd / |mean|; NAN if n = 1, the mean is 0 or the signs mix */
	double min, max;
	double median; /* type 7 */
	double mad_raw; /* median |x - median| */
	double mad; /* 1.4826 times that */
	struct kab_interval ci95; /* mean -+ t(0.95, n - 1) sem; NAN for n = 1 */
	struct kab_interval ci; /* the same at the level asked */
};

/*
 * Mean from a compensated sum, sd by the corrected two-pass formula
 * ss = sum (x - m)^2 - (sum (x - m))^2 / n (Chan, Golub & LeVeque 1983), after scaling by a power
 * of two where squares or sums would leave the range of doubles. n = 0 or a level outside (0, 1):
 * -1 and NAN everywhere.
 */
int kab_describe(const double *x, size_t n, double confidence, struct kab_summary *ret);
/* As above when a sorted copy exists already (x in any order, sorted ascending). */
int kab_describe_sorted(const double *x, const double *sorted, size_t n, double confidence,
			struct kab_summary *ret);

/* Compensated (Neumaier 1974) sum, divided in double-double: correctly rounded but for rare ties. */
double kab_mean(const double *x, size_t n);
/* NAN for n < 2. */
double kab_sd(const double *x, size_t n);
/* Median |x - m| of sorted values, O(n), no further sort. */
double kab_mad_raw_sorted(const double *sorted, size_t n, double m);

/*
 * Streaming moments (Welford 1962), mergeable (Chan et al.). One digit less exact than kab_describe:
 * for progress displays; tables use the stored values.
 */
struct kab_running {
	size_t n;
	double mean, m2;
};
void kab_running_push(struct kab_running *r, double x);
void kab_running_merge(struct kab_running *into, const struct kab_running *other);
double kab_running_sd(const struct kab_running *r); /* NAN for n < 2 */

/* Geometric mean; NAN if n = 0 or a value is not positive. */
double kab_geomean(const double *x, size_t n);

/*
 * Outliers are counted and reported, never removed.
 * Tukey: beyond 1.5 (mild) and 3 (far, counted in mild too) interquartile ranges from the quartiles;
 * mad: |x - median| > 10 * 1.4826 * MAD. A zero range or MAD counts every value that differs.
 */
struct kab_outliers {
	size_t low_mild, high_mild; /* beyond 1.5 IQR, far ones included */
	size_t low_far, high_far; /* beyond 3 IQR */
	size_t mad10;
};
int kab_outliers_count(const double *x, size_t n, struct kab_outliers *ret);

#endif
