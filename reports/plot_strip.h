/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distributions as lines of characters on a common axis: for `kab stats` and for strips. */
#ifndef KAB_REPORTS_PLOT_STRIP_H
#define KAB_REPORTS_PLOT_STRIP_H

#include <stddef.h>

/* The cell of a value, 0 to cells - 1. */
typedef size_t kab_strip_place_fn(const void *axis, double value);

/* How much of the sorted values falls into each of the cells, from . to @; cells without stay as they
 * are. With no two values in a cell all are ':'. */
void kab_strip_density(const void *axis, kab_strip_place_fn *place, const double *sorted, size_t n,
		       size_t cells, char *line);
/* |----[===M===]-----| from min over the quartiles to max, with M at the median, A at the mean. */
void kab_strip_box(const void *axis, kab_strip_place_fn *place, const double five[5], double mean,
		   char *line);

#endif
