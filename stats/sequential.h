/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking at the data before the end without spending more than the stated error. */
#ifndef KAB_STATS_SEQUENTIAL_H
#define KAB_STATS_SEQUENTIAL_H

#include "stats/stats.h"

#define KAB_LOOKS_MAX 10

enum kab_spending {
	KAB_SPEND_OBRIEN_FLEMING, /* 4 (1 - Phi(z(alpha/4) / sqrt(t))): very little early (default) */
	KAB_SPEND_POCOCK, /* alpha ln(1 + (e - 1) t): nearly even */
};

struct kab_bounds {
	size_t looks;
	double cumulative[KAB_LOOKS_MAX]; /* alpha spent up to and including this look */
	double z[KAB_LOOKS_MAX]; /* stop where |z| exceeds it */
	double p[KAB_LOOKS_MAX]; /* the same as a nominal two-sided p */
};

/*
 * Two-sided group-sequential bounds (Lan & DeMets 1983) for 1..10 looks at fractions t[i] of the
 * data, ascending, the last one 1; t NULL: equally spaced. The recursion of Armitage, McPherson and
 * Rowe (1969) is integrated by Gauss-Legendre; z is good to about 1e-11. With a t test, compare its
 * p with p[]. -1 on other arguments.
 */
int kab_spending_bounds(enum kab_spending kind, size_t looks, const double *t, double alpha,
			struct kab_bounds *ret);

/*
 * t e-process on k paired log ratios with mean m and standard deviation s (k - 1 in the denominator):
 * E = (1 + k g)^(-1/2) [(1 + t^2/nu) / (1 + t^2/(nu (1 + k g)))]^((nu + 1)/2), t = m sqrt(k)/s,
 * nu = k - 1, g the prior variance in units of s^2 (1). Stop as soon as E >= 1/alpha (20): valid at
 * whatever moments one looks. Returns ln E; NAN for k < 2 or s = 0.
 */
double kab_eprocess_log(const double *d, size_t k, double g);

/*
 * The precision stop: whether the half width of the interval is at most `target`, with at least
 * `min_units` (8 by default, KAB_PRECISION_MIN). Nothing else about the data is looked at, least of
 * all the sign of the difference.
 */
#define KAB_PRECISION_MIN 8
bool kab_precision_reached(double half_width, size_t units, double target, size_t min_units);

#endif
