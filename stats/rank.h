/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rank tests of two independent samples: Mann-Whitney's U and the Hodges-Lehmann shift. */
#ifndef KAB_STATS_RANK_H
#define KAB_STATS_RANK_H

#include "stats/stats.h"

/* Above this many values on a side, p comes from the normal approximation. */
#define KAB_MANN_WHITNEY_EXACT_MAX 50

struct kab_mann_whitney {
	double u; /* pairs with test above base, ties count one half; 0..nb*nt */
	double u_base; /* nb*nt - u */
	double p; /* two-sided: exact where `exact`, else p_normal */
	double p_abs; /* exact two-sided by |U - nb*nt/2|; NAN unless exact */
	double p_less, p_greater; /* exact P(U_base <= seen), P(U_base >= seen); NAN unless exact */
	double p_normal; /* normal approximation, tie and continuity corrected; NAN if all tied */
	double p_floor; /* smallest p these n and ties can give; NAN unless exact */
	double a; /* Vargha and Delaney's A: u / (nb*nt) */
	bool exact;
	bool ties;
};

/*
 * Exact up to 50 values a side, ties included: conditional distribution of the rank sum given the
 * midranks, by counting subsets over doubled midranks (they are whole numbers).
 * p = min(1, 2 min(P(U <= u), P(U >= u))). All values tied: p = 1. Beyond: normal approximation.
 * Either n = 0: -1.
 */
int kab_mann_whitney(const double *base, size_t nb, const double *test, size_t nt,
		     struct kab_mann_whitney *ret);

struct kab_hodges_lehmann {
	double shift; /* median of all nb*nt differences test - base */
	struct kab_interval ci; /* order statistics of the differences, see below */
	double confidence; /* the exact level of ci (continuous data); NAN beyond 50 values a side */
	bool reached; /* false: even the full range of differences has less than the level asked */
};

/*
 * Hodges and Lehmann (1963). The interval runs between the differences of rank q and nb*nt + 1 - q,
 * where q - 1 is the largest value with P(U <= q - 1) < (1 - level)/2 under no ties (as R's
 * wilcox.test); beyond 50 values a side q comes from the normal approximation.
 * With too few values for the level, q = 1: the full range, `reached` false and `confidence` says
 * what it is worth. Either n = 0: -1.
 */
int kab_hodges_lehmann(const double *base, size_t nb, const double *test, size_t nt,
		       double confidence, struct kab_hodges_lehmann *ret);

/* The same on samples that are sorted already. */
int kab_mann_whitney_sorted(const double *base, size_t nb, const double *test, size_t nt,
			    struct kab_mann_whitney *ret);
int kab_hodges_lehmann_sorted(const double *base, size_t nb, const double *test, size_t nt,
			      double confidence, struct kab_hodges_lehmann *ret);

#endif
