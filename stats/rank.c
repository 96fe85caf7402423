/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/rank.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "stats/dist.h"
#include "stats/sort.h"

/*
 * Counts of subsets of m out of the n_all ascending weights, by sum. The (j+1)th chosen item has
 * index >= j, so sums are kept relative to the smallest possible one: count[s], s = 0..*max_sum.
 * Counts reach C(100, 50), which a double holds to full relative precision; only additions occur.
 */
static double *subset_sums(const size_t *w, size_t n_all, size_t m, size_t *max_sum)
{
	size_t top = 0;

	for (size_t j = 0; j < m; j++)
		top += w[n_all - m + j] - w[j];
	size_t width = top + 1;
	double *f = kab_xcalloc((m + 1) * width, sizeof(*f));
	size_t *reach = kab_xcalloc(m + 1, sizeof(*reach)); /* largest s in use for each j */

	f[0] = 1;
	for (size_t i = 0; i < n_all; i++) {
		size_t j_hi = i < m ? i : m - 1;
		size_t j_lo = i + m >= n_all ? i + m - n_all : 0; /* enough items must be left */

		for (size_t j = j_hi + 1; j-- > j_lo;) {
			size_t add = w[i] - w[j];
			const double *from = f + j * width;
			double *to = f + (j + 1) * width + add;

			for (size_t s = 0; s <= reach[j]; s++)
				to[s] += from[s];
			if (reach[j] + add > reach[j + 1])
				reach[j + 1] = reach[j] + add;
		}
	}
	double *count = kab_xmemdup(f + m * width, width * sizeof(*f));

	free(reach);
	free(f);
	*max_sum = top;
	return count;
}

/* Walks both sorted samples; calls for each group of equal values. */
struct merge {
	const double *a, *b;
	size_t na, nb, i, j;
};

/* The next group of equal values: how many of each side. False at the end. */
static bool merge_next(struct merge *m, size_t *ga, size_t *gb)
{
	size_t i = m->i, j = m->j;

	if (i == m->na && j == m->nb)
		return false;
	double v = j == m->nb || (i < m->na && m->a[i] <= m->b[j]) ? m->a[i] : m->b[j];

	while (i < m->na && m->a[i] == v)
		i++;
	while (j < m->nb && m->b[j] == v)
		j++;
	*ga = i - m->i;
	*gb = j - m->j;
	m->i = i;
	m->j = j;
	return true;
}

static void exact_p(const double *base, size_t nb, const double *test, size_t nt,
		    struct kab_mann_whitney *ret)
{
	size_t n_all = nb + nt, at = 0, sum = 0, ga, gb;
	size_t *w = kab_xreallocarray(NULL, n_all, sizeof(*w));
	size_t m = nb < nt ? nb : nt;
	struct merge mg = { base, test, nb, nt, 0, 0 };

	/* doubled midranks; plain ranks where nothing is tied */
	while (merge_next(&mg, &ga, &gb)) {
		size_t g = ga + gb;
		size_t rank = ret->ties ? 2 * at + g + 1 : at + 1;

		for (size_t k = 0; k < g; k++)
			w[at + k] = rank;
		sum += rank * (nb <= nt ? ga : gb);
		at += g;
	}
	size_t max_sum, low = 0;
	double *count = subset_sums(w, n_all, m, &max_sum);

	for (size_t j = 0; j < m; j++)
		low += w[j];
	size_t seen = sum - low;
	double total = 0, le = 0, ge = 0, apart = 0;
	/* twice the sum expected, relative to low: m (N + 1) in doubled units is the mean rank sum */
	double centre = 0.5 * (double)m * (double)(n_all + 1) * (ret->ties ? 2 : 1) - (double)low;
	double away = fabs((double)seen - centre);

	for (size_t s = 0; s <= max_sum; s++) {
		total += count[s];
		if (s <= seen)
			le += count[s];
		if (s >= seen)
			ge += count[s];
		if (fabs((double)s - centre) >= away)
			apart += count[s];
	}
	double ends = fmin(count[0], count[max_sum]);

	ret->p = fmin(1, 2 * fmin(le, ge) / total);
	ret->p_abs = fmin(1, apart / total);
	ret->p_floor = fmin(1, 2 * ends / total);
	/* the smaller group was counted: test's rank sum is low where base's U is high */
	ret->p_less = fmin(1, (nb <= nt ? le : ge) / total);
	ret->p_greater = fmin(1, (nb <= nt ? ge : le) / total);
	free(count);
	free(w);
}

int kab_mann_whitney_sorted(const double *base, size_t nb, const double *test, size_t nt,
			    struct kab_mann_whitney *ret)
{
	*ret = (struct kab_mann_whitney){
		NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, false, false
	};
	if (nb == 0 || nt == 0)
		return -1;
	struct merge mg = { base, test, nb, nt, 0, 0 };
	double u = 0, tie_sum = 0, na = (double)nb, nn = (double)nt, all = na + nn;
	size_t ga, gb, base_below = 0;

	while (merge_next(&mg, &ga, &gb)) {
		double g = (double)(ga + gb);

		u += (double)gb * ((double)base_below + 0.5 * (double)ga);
		base_below += ga;
		if (ga + gb > 1) {
			ret->ties = true;
			tie_sum += g * (g - 1) * (g + 1);
		}
	}
	ret->u = u;
	ret->u_base = na * nn - u;
	ret->a = u / na / nn;
	double var = na * nn / 12 * (all + 1 - (all > 1 ? tie_sum / (all * (all - 1)) : 0));
	double z = u - na * nn / 2;

	if (var > 0) {
		z -= z > 0 ? 0.5 : z < 0 ? -0.5 : 0;
		ret->p_normal = fmin(1, 2 * kab_norm_upper(fabs(z) / sqrt(var)));
	}
	ret->exact = nb <= KAB_MANN_WHITNEY_EXACT_MAX && nt <= KAB_MANN_WHITNEY_EXACT_MAX;
	if (ret->exact)
		exact_p(base, nb, test, nt, ret);
	else
		ret->p = var > 0 ? ret->p_normal : 1;
	return 0;
}

int kab_mann_whitney(const double *base, size_t nb, const double *test, size_t nt,
		     struct kab_mann_whitney *ret)
{
	double *a = kab_sorted_copy(base, nb), *b = kab_sorted_copy(test, nt);
	int rc = kab_mann_whitney_sorted(a, nb, b, nt, ret);

	free(a);
	free(b);
	return rc;
}
