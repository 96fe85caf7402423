/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An axis: from values to shares of its length, ticks at round numbers (1, 2 or 5 times a power of
 * ten), and the unit they are printed in. Logarithmic where all is positive and the largest is more
 * than a hundred times the smallest.
 */
#ifndef KAB_REPORTS_PLOT_AXIS_H
#define KAB_REPORTS_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define KAB_AXIS_TICKS_MAX 24
#define KAB_AXIS_LOG_RATIO 100

struct kab_axis {
	double lo, hi; /* unit of the values; lo < hi */
	bool log;
	double factor; /* printed numbers are values times this */
	char unit[64]; /* of what is printed: "ms", "10^6 1/s", "" */
	double ticks[KAB_AXIS_TICKS_MAX]; /* unit of the values, ascending, within lo and hi */
	size_t n_ticks;
	int decimals; /* of the labels; -1: as many as each needs */
};

/*
 * lo <= hi, finite. Where both are (nearly) the same there is room on either side, so that the value
 * lies in the middle. Times far from 1 get another unit of time, other numbers a power of ten.
 * max_ticks: 2 to KAB_AXIS_TICKS_MAX.
 */
void kab_axis_make(double lo, double hi, const char *unit, size_t max_ticks, struct kab_axis *ret);
/* The same, never logarithmic: for numbers of iterations and percents. */
void kab_axis_make_linear(double lo, double hi, const char *unit, size_t max_ticks,
			  struct kab_axis *ret);
/* 0 at lo, 1 at hi; outside values beyond that. */
double kab_axis_share(const struct kab_axis *axis, double value);
/* The cell of n, 0 at lo, clamped: floor(share * n). */
size_t kab_axis_cell(const struct kab_axis *axis, double value, size_t n);
/* A tick as printed. */
void kab_axis_label(const struct kab_axis *axis, double tick, struct kab_buf *out);

#endif
