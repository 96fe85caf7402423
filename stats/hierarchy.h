/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the variance comes from: boots, iterations within boots, samples within iterations. */
#ifndef KAB_STATS_HIERARCHY_H
#define KAB_STATS_HIERARCHY_H

#include "stats/stats.h"

#define KAB_LEVELS_MAX 6

struct kab_hierarchy {
	double mean;
	size_t levels;
	/*
	 * Index 0 is the innermost level. s2: mean variance of the means at that level within the next
	 * outer one. t2: the part of the variance that arises there, unbiased, so it may come out
	 * negative; print such a value as 0.
	 */
	double s2[KAB_LEVELS_MAX], t2[KAB_LEVELS_MAX];
	struct kab_interval ci; /* of the grand mean: t with outermost - 1 df; NAN with one boot */
	double half_width;
};

/*
 * Balanced nesting after Kalibera & Jones (2013), with the corrected (n - 1) divisors.
 * x in row order, dims[0] the outermost count (boots), product = number of values; every count but
 * the outermost must be 2 or more for its variance to exist (else s2, t2 of that level are NAN).
 * -1 on levels outside 1..6 or a count of 0.
 */
int kab_hierarchy(const double *x, const size_t *dims, size_t levels, double confidence,
		  struct kab_hierarchy *ret);

struct kab_two_level {
	size_t boots, values;
	double mean; /* unweighted mean of boot means */
	double ms_between, ms_within; /* one-way analysis of variance */
	double f, p; /* of "all boots have the same mean" */
	double n0; /* effective iterations per boot; their number when balanced */
	double var_boot, var_iteration; /* var_boot may be negative: print as 0 */
	double icc; /* share of the variance that lies between boots, 0..1 */
	double design_effect; /* 1 + (n0 - 1) icc: how much pooled iterations overstate n */
};

/*
 * Two levels, sizes[i] iterations in boot i, x boot after boot; unbalanced allowed (Searle's n0).
 * Fewer than two boots, or no boot with two iterations: what cannot be known is NAN. boots = 0 or a
 * size of 0: -1.
 */
int kab_two_level(const double *x, const size_t *sizes, size_t boots, struct kab_two_level *ret);

/*
 * Iterations per boot that give the shortest interval for a given total time:
 * sqrt(boot_cost/iteration_cost * var_iteration/var_boot). INFINITY without boot variance.
 */
double kab_optimal_iterations(double var_boot, double var_iteration, double boot_cost_s,
			      double iteration_cost_s);
/*
 * Kalibera and Jones' interval for the ratio test/base from the two means and the half widths of
 * their intervals (Fieller without correlation). NAN when the base's interval reaches 0.
 */
int kab_ratio_half_widths(double base, double base_half, double test, double test_half,
			  double *ratio, struct kab_interval *ci);

#endif
