/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Warm-up: how many leading iterations of every boot to leave out. The number is chosen from all
 * boots together, without their kernel labels, and is the same for both kernels; a number chosen per
 * kernel or per boot would bias the comparison.
 */
#ifndef KAB_STATS_WARMUP_H
#define KAB_STATS_WARMUP_H

#include "stats/stats.h"

#define KAB_WARMUP_MAX 5

struct kab_warmup {
	size_t drop; /* 0..5 */
	double p[KAB_WARMUP_MAX]; /* sign test of iteration 1..5; NAN where not tested */
};

/*
 * x in row order, boots rows of `iterations` values. For iteration 1, then 2 .. 5: sign test over
 * boots of "this iteration is worse than the median of its boot", p < limit (0: 0.01) drops it and
 * tries the next. dir -1 (lower is better) tests "exceeds", +1 "falls short", 0 both sides. Values
 * equal to the median do not count. At least half of the iterations always stay. Under stationary
 * noise an iteration is dropped with probability below `limit`. -1 for boots or iterations 0.
 */
int kab_warmup_sign(const double *x, size_t boots, size_t iterations, int dir, double limit,
		    struct kab_warmup *ret);

struct kab_steady {
	bool steady; /* the last segment is the mode of behaviour */
	size_t warmup; /* iterations before the final stretch at the last level; if steady */
	size_t n; /* number of segments */
	size_t *starts; /* first index of each; freed by kab_steady_release */
};

#define KAB_STEADY_MIN 100

/*
 * For one long boot (100 iterations or more, else returns 1): PELT (Killick, Fearnhead & Eckley
 * 2012) on mean and variance of normal segments of at least `KAB_STEADY_SEGMENT` values, penalty
 * 15 ln n. Segments whose mean lies within one standard deviation (the larger of the two) of the
 * last one count as the same level; steady when they hold at least half of the iterations.
 */
#define KAB_STEADY_SEGMENT 5
int kab_steady_find(const double *x, size_t n, struct kab_steady *ret);
void kab_steady_release(struct kab_steady *s);

#endif
