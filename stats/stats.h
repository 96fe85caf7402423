/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every part of the statistics library shares.
 *
 * The library is pure: arrays in, structs out, seeds explicit, no input or output, no global state
 * besides GSL's error handler. Values are doubles in the unit of the metric; all of them must be
 * finite (a caller that has NaN or infinity has a parsing error, not a sample).
 *
 * An undefined number (the sd of one value, the t of two constant samples) is NAN in a struct.
 * Writers print it as "n/a" or null. It never reaches a verdict.
 *
 * Functions return 0, or -1 when the arguments make no sense at all (n = 0, a level outside
 * (0, 1)); in that case every number in the result is NAN. Too little data is not an error: the
 * fields that cannot be computed are NAN and a flag or the n tells why.
 */
#ifndef KAB_STATS_STATS_H
#define KAB_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct kab_interval {
	double lo, hi; /* NAN, NAN when undefined */
};

struct kab_test {
	double t; /* statistic; its sign is that of test minus base */
	double df; /* degrees of freedom, > 0, need not be whole */
	double p; /* two-sided, 0..1 */
};

/*
 * Turn GSL's aborting error handler off. Called once by the program before anything else of this
 * library; kab_compare and the others check every value GSL returns.
 */
void kab_stats_init(void);

#endif
