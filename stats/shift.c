/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Hodges-Lehmann shift: order statistics of all pairwise differences without forming them. */
#include <math.h>
#include <stdint.h>

#include "base/alloc.h"
#include "stats/dist.h"
#include "stats/rank.h"
#include "stats/sort.h"

#define BRUTE_MAX 4096 /* pairs that are simply listed and sorted */

struct pairs {
	const double *a, *b; /* both ascending */
	size_t na, nb;
	double *all; /* sorted differences when there are few, else NULL */
};

/* How many differences b - a are <= x. Rounded subtraction is monotone, so one sweep suffices. */
static uint64_t count_le(const struct pairs *p, double x)
{
	uint64_t c = 0;
	size_t j = 0;

	for (size_t i = 0; i < p->na; i++) {
		while (j < p->nb && p->b[j] - p->a[i] <= x)
			j++;
		c += j;
	}
	return c;
}

/* All differences in (lo, hi], sorted; there are n of them. */
static double *collect(const struct pairs *p, double lo, double hi, size_t n)
{
	double *v = kab_xreallocarray(NULL, n ? n : 1, sizeof(*v));
	size_t from = 0, k = 0;

	for (size_t i = 0; i < p->na; i++) {
		while (from < p->nb && p->b[from] - p->a[i] <= lo)
			from++;
		for (size_t j = from; j < p->nb && k < n; j++) {
			double d = p->b[j] - p->a[i];

			if (d > hi)
				break;
			v[k++] = d;
		}
	}
	kab_sort(v, k);
	return v;
}

/*
 * The k-th smallest difference, k from 1. The bracket (lo, hi] is narrowed by two cuts, one on either
 * side of where the rank should lie by interpolation and closer to it in every round, until few
 * enough differences are left to be listed. Every third round halves instead, so that counts which
 * are nothing like a line (many equal differences) end too.
 */
static double select_difference(const struct pairs *p, uint64_t k)
{
	if (p->all)
		return p->all[k - 1];
	double lo = p->b[0] - p->a[p->na - 1], hi = p->b[p->nb - 1] - p->a[0], width = 1.0 / 32;
	uint64_t c_lo = count_le(p, lo), c_hi = (uint64_t)p->na * p->nb;
	uint64_t few = (p->na + p->nb) / 4 > 512 ? (p->na + p->nb) / 4 : 512;

	if (c_lo >= k)
		return lo;
	for (int round = 0; c_hi - c_lo > few; round++) {
		double share = (double)(k - c_lo) / (double)(c_hi - c_lo), span = hi - lo;
		double cut[2] = { lo + span * (share - width), lo + span * (share + width) };

		if (round % 3 == 2 || !isfinite(span)) {
			cut[0] = cut[1] = 0.5 * lo + 0.5 * hi;
			if (!(cut[0] > lo && cut[0] < hi))
				return hi; /* neighbours among the doubles */
		}
		for (int i = 0; i < 2; i++) {
			if (!(cut[i] > lo && cut[i] < hi))
				continue;
			uint64_t c = count_le(p, cut[i]);

			if (c >= k) {
				hi = cut[i];
				c_hi = c;
			} else {
				lo = cut[i];
				c_lo = c;
			}
		}
		width = width > 1e-3 ? width / 4 : width;
	}
	double *v = collect(p, lo, hi, c_hi - c_lo);
	double d = v[k - c_lo - 1];

	free(v);
	return d;
}

/* The difference of the next rank after k, whose difference is d. */
static double next_difference(const struct pairs *p, uint64_t k, double d)
{
	double next = INFINITY;
	size_t j = 0;

	if (p->all)
		return p->all[k];
	if (count_le(p, d) > k)
		return d;
	for (size_t i = 0; i < p->na; i++) {
		while (j < p->nb && p->b[j] - p->a[i] <= d)
			j++;
		if (j < p->nb)
			next = fmin(next, p->b[j] - p->a[i]);
	}
	return next;
}

/*
 * Null distribution of U without ties: counts of partitions, f(m, n, u) by adding one value at a
 * time. Returns P(U <= q) for q = 0..limit in out.
 */
static void null_cdf(size_t na, size_t nb, size_t limit, double *out)
{
	/* g[j][u]: ways with j of the first kind among the items so far; rows are updated in place */
	size_t width = limit + 1;
	double *g = kab_xcalloc((na + 1) * width, sizeof(*g));
	double total = 1;

	/* with no value of the second kind there is one arrangement, U = 0 */
	for (size_t j = 0; j <= na; j++)
		g[j * width] = 1;
	for (size_t b = 1; b <= nb; b++) {
		/* f(j, b, u) = f(j - 1, b, u - b) + f(j, b - 1, u) */
		for (size_t j = 1; j <= na; j++) {
			const double *prev = g + (j - 1) * width;
			double *row = g + j * width;

			for (size_t u = b; u <= limit; u++)
				row[u] += prev[u - b];
		}
	}
	for (size_t i = 1; i <= na; i++)
		total *= (double)(nb + i) / (double)i;
	double c = 0;

	for (size_t u = 0; u <= limit; u++) {
		c += g[na * width + u];
		out[u] = c / total;
	}
	free(g);
}

/* Rank of the lower end, from 1, and the exact level when known. */
static uint64_t lower_rank(size_t na, size_t nb, double confidence, struct kab_hodges_lehmann *ret)
{
	double tail = 0.5 * (1 - confidence), pairs = (double)na * (double)nb;

	if (na > KAB_MANN_WHITNEY_EXACT_MAX || nb > KAB_MANN_WHITNEY_EXACT_MAX) {
		double sd = sqrt(pairs * ((double)na + (double)nb + 1) / 12);
		double q = floor(0.5 * pairs + kab_norm_quantile(tail) * sd);

		ret->reached = q >= 1;
		return q >= 1 ? (uint64_t)q : 1;
	}
	size_t limit = na * nb / 2, q = 0;
	double *cdf = kab_xcalloc(limit + 1, sizeof(*cdf));

	null_cdf(na, nb, limit, cdf);
	while (q < limit && cdf[q] < tail * (1 - 1e-12))
		q++;
	ret->reached = q > 0 || cdf[0] <= tail * (1 + 1e-12);
	if (q == 0)
		q = 1;
	ret->confidence = 1 - 2 * cdf[q - 1];
	free(cdf);
	return q;
}

int kab_hodges_lehmann_sorted(const double *base, size_t nb, const double *test, size_t nt,
			      double confidence, struct kab_hodges_lehmann *ret)
{
	*ret = (struct kab_hodges_lehmann){ NAN, { NAN, NAN }, NAN, false };
	if (nb == 0 || nt == 0 || !(confidence > 0 && confidence < 1))
		return -1;
	struct pairs p = { base, test, nb, nt, NULL };
	uint64_t n = (uint64_t)nb * nt;

	if (n <= BRUTE_MAX) {
		p.all = kab_xreallocarray(NULL, n, sizeof(*p.all));
		for (size_t i = 0; i < nb; i++)
			for (size_t j = 0; j < nt; j++)
				p.all[i * nt + j] = test[j] - base[i];
		kab_sort(p.all, n);
	}
	double m1 = select_difference(&p, (n + 1) / 2);
	double m2 = n % 2 ? m1 : next_difference(&p, n / 2, m1);

	ret->shift = m1 == m2 ? m1 : m1 + 0.5 * (m2 - m1);
	uint64_t q = lower_rank(nb, nt, confidence, ret);

	ret->ci.lo = select_difference(&p, q);
	ret->ci.hi = select_difference(&p, n + 1 - q);
	free(p.all);
	return 0;
}

int kab_hodges_lehmann(const double *base, size_t nb, const double *test, size_t nt,
		       double confidence, struct kab_hodges_lehmann *ret)
{
	double *a = kab_sorted_copy(base, nb), *b = kab_sorted_copy(test, nt);
	int rc = kab_hodges_lehmann_sorted(a, nb, b, nt, confidence, ret);

	free(a);
	free(b);
	return rc;
}
