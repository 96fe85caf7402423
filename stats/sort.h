/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting doubles, the one step that dominates on long samples. */
#ifndef KAB_STATS_SORT_H
#define KAB_STATS_SORT_H

#include <stddef.h>

/*
 * Ascending, in place. Values must not be NaN. Insertion sort for short samples, else radix sort on
 * the order-preserving bit pattern, with a scratch array of the same size. O(n).
 */
void kab_sort(double *x, size_t n);
/* A sorted copy, owned by the caller (free). */
double *kab_sorted_copy(const double *x, size_t n);
/* idx[0..n) becomes the stable order of x: x[idx[0]] <= x[idx[1]] ... */
void kab_sort_index(const double *x, size_t n, size_t *idx);

#endif
