/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changes of level in a series of nightly values, oldest first. Everything here only nominates: the
 * split is chosen from the data, so its p is not a verdict. A fresh interleaved comparison of the two
 * suspects gives that.
 */
#ifndef KAB_STATS_CHANGE_H
#define KAB_STATS_CHANGE_H

#include <stdint.h>

#include "stats/stats.h"

/*
 * Energy statistic of the split before index tau (1 <= tau < n), Matteson & James (2014), exponent 1,
 * U form, m = tau, k = n - tau:
 * Q = m k/(m + k) (2 mean|x - y| - mean|x - x'| - mean|y - y'|); the mean within one value is 0.
 * q[tau - 1] receives it (n - 1 values; may be NULL). Returns the tau >= min_segment with
 * n - tau >= min_segment of the largest Q, 0 if there is none. O(n^2).
 */
size_t kab_energy_split(const double *x, size_t n, size_t min_segment, double *q, double *best);

struct kab_split {
	size_t tau; /* first index of the new level; 0: no admissible split */
	size_t right; /* the segment ends before this index (n unless the right edge is free) */
	double q;
	double p; /* permutation p, (count + 1)/(draws + 1) */
};

/*
 * The best split and its permutation p. free_right: the right segment may end early, so that a dip
 * and its recovery in one window are both seen. draws 0 means 999. -1 for n < 2 min_segment.
 */
int kab_energy_test(const double *x, size_t n, size_t min_segment, bool free_right, uint64_t draws,
		    uint64_t seed, struct kab_split *ret);

struct kab_change_opts {
	size_t window; /* 0: 50 nights */
	size_t min_segment; /* 0: 5 nights */
	double p; /* 0: 0.01 */
	uint64_t draws; /* 0: 999 */
	uint64_t seed;
};

struct kab_changes {
	double phi; /* estimated autocorrelation that was removed, 0..0.9 */
	size_t n;
	size_t *at; /* n first indices of new levels, ascending; free with kab_changes_release */
	double *p; /* their permutation p */
};

/*
 * Lag-1 autocorrelation that a level shift does not fake: phi = 1 + 2 r1 of the first differences,
 * clipped to 0..0.9. 0 for n < 4 or a constant series.
 */
double kab_ar1_phi(const double *x, size_t n);
/*
 * E-divisive: the series is pre-whitened (x_t - phi x_{t-1}), then searched in windows, with the
 * right edge of the new level at the window's end and free before it; p is twice the smaller of the
 * two permutation p, nominated at p <= opts.p. The window restarts at each change found and moves on
 * by half of its length where there is none; the last one takes in a rest of less than half a window.
 * Too short a series has no change.
 */
int kab_changes_find(const double *x, size_t n, const struct kab_change_opts *opts,
		     struct kab_changes *ret);
void kab_changes_release(struct kab_changes *c);

#define KAB_FAST_NIGHTS 4
struct kab_fast {
	double p[KAB_FAST_NIGHTS]; /* p[k - 1]: the last k nights against the segment; or NAN */
	double shift[KAB_FAST_NIGHTS]; /* their level minus the segment's */
	size_t nights; /* the smallest k with p < limit, else 0: nothing nominated */
};
/*
 * The young end of the series: t of the last 1..4 nights against the current segment
 * x[segment..n - k), two-sided, nominated below `limit` (0: 0.001). The spread is the segment's own.
 * phi as above: the level is estimated by generalised least squares on whitened values. Needs six
 * values of the segment before the nights in question.
 */
int kab_change_fast(const double *x, size_t n, size_t segment, double phi, double limit,
		    struct kab_fast *ret);

#endif
