/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Randomisation tests: shuffled labels for two groups, flipped signs for blocks. */
#ifndef KAB_STATS_PERMUTE_H
#define KAB_STATS_PERMUTE_H

#include <stdint.h>

#include "stats/stats.h"

/* Up to this many arrangements all are tried; else `draws` random ones. */
#define KAB_PERMUTE_EXACT_MAX 200000

struct kab_permutation {
	double p; /* two-sided; exact: count/total, else (count + 1)/(total + 1) */
	uint64_t count; /* arrangements at least as extreme as the data */
	uint64_t total; /* arrangements tried */
	double p_floor; /* the smallest p these n can give */
	bool exact;
};

/*
 * Statistic: |mean(test) - mean(base)|, labels shuffled over all C(nb + nt, nb) splits. Ties in the
 * statistic are counted as extreme, up to rounding: 1e-12 of the sum of absolute deviations, and the
 * error with which the values themselves were read.
 * draws 0 means 9999. n = 0: -1, NAN.
 */
int kab_permute_labels(const double *base, size_t nb, const double *test, size_t nt, uint64_t draws,
		       uint64_t seed, struct kab_permutation *ret);
/*
 * Statistic: |mean(d)|, signs of d flipped in all 2^n ways: the companion of the paired test on log
 * ratios of blocks. The floor is 2^(1 - n), so six blocks are needed for 5 %.
 */
int kab_permute_signs(const double *d, size_t n, uint64_t draws, uint64_t seed,
		      struct kab_permutation *ret);

#endif
