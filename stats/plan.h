/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many boots, and what they can show. sd and half widths are relative (sd of the logarithms, or
 * CV as a fraction), margins as ln(1 + S); the functions only need both in the same unit.
 */
#ifndef KAB_STATS_PLAN_H
#define KAB_STATS_PLAN_H

#include "stats/stats.h"

/* More than this many boots is no plan. */
#define KAB_PLAN_MAX 100000

/*
 * Smallest k (boots per side, >= 2) with t(confidence, 2k - 2) sd sqrt(2/k) <= half_width.
 * 0 when sd is NAN, half_width is not positive, or k would exceed KAB_PLAN_MAX. sd 0 gives 2.
 */
size_t kab_plan_boots_needed(double sd, double half_width, double confidence);
/* The same for blocks, sd that of the block log ratios: t(confidence, k - 1) sd / sqrt(k). */
size_t kab_plan_blocks_needed(double sd, double half_width, double confidence);
/* Expected half width of the interval of a difference with k boots per side; NAN for k < 2. */
double kab_plan_half_width(double sd, size_t k, double confidence);
/*
 * Smallest true difference found with this power by a two-sided t test at alpha, given the standard
 * error of the estimate and its df (noncentral t, solved by bisection). NAN on nonsense.
 */
double kab_plan_detectable(double se, double df, double alpha, double power);
/* Smallest k per side with at least this power against a true difference delta. 0 as above. */
size_t kab_plan_boots_for_power(double sd, double delta, double alpha, double power);
/*
 * sd of a boot mean from the two components: sqrt(var_boot + var_iteration/iterations).
 * Negative components count as 0.
 */
double kab_plan_boot_mean_sd(double var_boot, double var_iteration, size_t iterations);

#endif
