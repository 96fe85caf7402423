/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/plot_bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static double below(const struct kab_axis *a)
{
	if (a->n_ticks < 2)
		return a->lo;
	return a->log ? a->ticks[0] * a->ticks[0] / a->ticks[1] : 2 * a->ticks[0] - a->ticks[1];
}

static double above(const struct kab_axis *a)
{
	const double *last = &a->ticks[a->n_ticks ? a->n_ticks - 1 : 0];

	if (a->n_ticks < 2)
		return a->hi;
	return a->log ? last[0] * last[0] / last[-1] : 2 * last[0] - last[-1];
}

static void find_edges(double lo, double hi, struct kab_bins *b)
{
	const struct kab_axis *a = &b->axis;
	double tiny = (a->hi - a->lo) * 1e-9;
	size_t n = 0;

	if (!a->n_ticks || a->ticks[0] > lo + tiny)
		b->edges[n++] = fmin(below(a), lo);
	for (size_t i = 0; i < a->n_ticks; i++)
		b->edges[n++] = a->ticks[i];
	if (n < 2 || a->ticks[a->n_ticks - 1] < hi - tiny)
		b->edges[n++] = fmax(above(a), hi);
	b->n = n - 1;
}

static size_t bin_of(const struct kab_bins *b, double value)
{
	double tiny = (b->axis.hi - b->axis.lo) * 1e-9;
	size_t at = b->n - 1;

	while (at && value < b->edges[at] - tiny)
		at--;
	return at;
}

bool kab_bins_make(const struct kab_plot *plot, struct kab_bins *ret)
{
	double lo = INFINITY, hi = -INFINITY;
	size_t most = 0, ticks;

	memset(ret, 0, sizeof(*ret));
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];

		if (!set->n)
			continue;
		lo = fmin(lo, set->min);
		hi = fmax(hi, set->max);
		most = set->n > most ? set->n : most;
	}
	if (!most)
		return false;
	ticks = (size_t)fmin(KAB_BINS_MAX - 2, fmax(5, ceil(2 * cbrt((double)most))));
	kab_axis_make(lo, hi, plot->unit, ticks, &ret->axis);
	find_edges(lo, hi, ret);
	ret->count = kab_xcalloc(plot->n_sets * ret->n + 1, sizeof(*ret->count));
	ret->most = 1;
	for (size_t k = 0; k < plot->n_sets; k++) {
		for (size_t i = 0; i < plot->sets[k].n; i++) {
			size_t *count =
				&ret->count[k * ret->n + bin_of(ret, plot->sets[k].sorted[i])];

			++*count;
			ret->most = *count > ret->most ? *count : ret->most;
		}
	}
	return true;
}

void kab_bins_release(struct kab_bins *bins)
{
	free(bins->count);
	bins->count = NULL;
}
