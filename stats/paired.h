/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The blocked design: one value of each kernel per block, the block's disturbance cancels. */
#ifndef KAB_STATS_PAIRED_H
#define KAB_STATS_PAIRED_H

#include "stats/stats.h"

/* Below this many complete blocks there is no verdict. */
#define KAB_PAIRED_MIN_BLOCKS 4
/* From this many planned blocks on a plan is tested paired, otherwise unpaired on boot means. */
#define KAB_PAIRED_PLAN_BLOCKS 6

struct kab_paired {
	double estimate; /* mean of d */
	double sd, se; /* of d, of its mean */
	struct kab_test test;
	struct kab_interval ci; /* on the scale of d */
};

/* One-sample t of d against 0, n - 1 df. n < 2 or no spread: test and ci NAN. n = 0: -1. */
int kab_one_sample_t(const double *d, size_t n, double confidence, struct kab_paired *ret);
/*
 * d_i = ln(test_i / base_i): exp() of estimate and ci is the ratio (of geometric means). A value of
 * 0 or below: everything NAN, returns 1; use the differences then.
 */
int kab_paired_log_ratio(const double *base, const double *test, size_t n, double confidence,
			 struct kab_paired *ret);
/* d_i = test_i - base_i, in the unit of the metric. */
int kab_paired_difference(const double *base, const double *test, size_t n, double confidence,
			  struct kab_paired *ret);

#endif
