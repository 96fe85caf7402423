/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes of a histogram: the same for all kernels of a plot, with round numbers between them. */
#ifndef KAB_REPORTS_PLOT_BINS_H
#define KAB_REPORTS_PLOT_BINS_H

#include "reports/plot.h"
#include "reports/plot_axis.h"

#define KAB_BINS_MAX 25

struct kab_bins {
	struct kab_axis axis; /* of the values */
	double edges[KAB_BINS_MAX + 1]; /* n + 1, unit of the values */
	size_t n;
	size_t *count; /* owned: count[set * n + bin] */
	size_t most; /* the largest of them, at least 1 */
};

/*
 * About 2 n^(1/3) classes (the Rice rule) for the largest set. A value on an edge is in the upper
 * class, but the largest of all in the last one. False: the plot has no values.
 */
bool kab_bins_make(const struct kab_plot *plot, struct kab_bins *ret);
void kab_bins_release(struct kab_bins *bins);

#endif
