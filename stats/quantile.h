/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quantiles of sorted samples (Hyndman & Fan 1996). The probability is a ratio of whole numbers,
 * p = num/den (99 % is 99, 100), so that the position is computed without rounding: 99 % of 101
 * values is exactly the hundredth.
 */
#ifndef KAB_STATS_QUANTILE_H
#define KAB_STATS_QUANTILE_H

#include "stats/stats.h"

/*
 * type 1: inverse of the empirical distribution (nearest rank); 2: the same, averaged at steps;
 * 6: h = (n + 1)p; 7: h = (n - 1)p + 1, the default everywhere; 8: h = (n + 1/3)p + 1/3.
 * Between two equal neighbours the result is that value, bit for bit.
 * -1 (NAN) for n = 0, another type, num > den, or n * den * 3 beyond 2^63.
 */
int kab_quantile_sorted(const double *sorted, size_t n, int type, unsigned num, unsigned den,
			double *ret);
/*
 * Whether n values can say anything about this quantile: at least one value is expected on either
 * side, n p >= 1 and n (1 - p) >= 1. Otherwise it is an interpolation towards the extremes.
 */
bool kab_quantile_supported(size_t n, unsigned num, unsigned den);
/*
 * Distribution-free interval by order statistics: with X ~ Bin(n, p), the largest l and smallest u
 * with P(X < l) <= (1 - confidence)/2 and P(X >= u) <= (1 - confidence)/2; ret = [x_l, x_u] (from 1).
 * 0; 1 and NAN when n is too small for this level (median at 95 %: n < 6); -1 as above.
 */
int kab_quantile_ci_sorted(const double *sorted, size_t n, unsigned num, unsigned den,
			   double confidence, struct kab_interval *ret);
/* Upper bound only: the smallest x_u with P(X >= u) <= 1 - confidence. Returns as above. */
int kab_quantile_upper_sorted(const double *sorted, size_t n, unsigned num, unsigned den,
			      double confidence, double *ret);

#endif
