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

/* How many of b are at most x above value a[i]. Rounded subtraction is monotone. */
static size_t upto(const struct pairs *p, size_t i, double x)
{
	size_t lo = 0, hi = p->nb;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->b[mid] - p->a[i] <= x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* A walk along the staircase of differences <= x: rows i..end of a, from column j of b. */
struct walk {
	size_t i, end, j;
	uint64_t c;
};

/* The staircase in two walks of equal length. */
static void halve(const struct pairs *p, double x, struct walk *first, struct walk *second)
{
	size_t lo = 0, hi = p->na;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (mid + upto(p, mid, x) < (p->na + p->nb) / 2)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = (struct walk){ 0, lo, 0, 0 };
	*second = (struct walk){ lo, p->na, lo < p->na ? upto(p, lo, x) : p->nb, 0 };
}

static uint64_t walk_on(const struct pairs *p, double x, struct walk w)
{
	for (; w.i < w.end; w.i++) {
		while (w.j < p->nb && p->b[w.j] - p->a[w.i] <= x)
			w.j++;
		w.c += w.j;
	}
	return w.c;
}

/*
 * How many differences b - a are <= x[0] and <= x[1]. Which way a staircase turns cannot be
 * predicted: no branch depends on it, and four walks at a time keep the processor busy while it
 * waits for any one of them.
 */
static void count_le2(const struct pairs *p, const double x[2], uint64_t ret[2])
{
	const double *a = p->a, *b = p->b, x0 = x[0], x1 = x[1];
	struct walk s, t, u, v;
	size_t nb = p->nb;

	halve(p, x0, &s, &t);
	halve(p, x1, &u, &v);
#define STEP(w, limit)                                      \
	{                                                   \
		size_t up = b[(w).j] - a[(w).i] <= (limit); \
		(w).c += (up - 1) & (w).j;                  \
		(w).j += up;                                \
		(w).i += 1 - up;                            \
	}
	while (s.i < s.end && t.i < t.end && u.i < u.end && v.i < v.end && s.j < nb && t.j < nb &&
	       u.j < nb && v.j < nb) {
		STEP(s, x0)
		STEP(t, x0)
		STEP(u, x1)
		STEP(v, x1)
	}
#undef STEP
	ret[0] = walk_on(p, x0, s) + walk_on(p, x0, t);
	ret[1] = walk_on(p, x1, u) + walk_on(p, x1, v);
}

static uint64_t count_le(const struct pairs *p, double x)
{
	const double both[2] = { x, x };
	uint64_t c[2];

	count_le2(p, both, c);
	return c[0];
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

/* Evenly spaced order statistics of both sides: what a large pair looks like from afar. */
#define THIN 2048
#define THIN_FROM ((size_t)16 * THIN)
/* A share of all pairs that the guess from THIN values is off by, with a wide margin. */
#define THIN_ERROR 4e-6

static void select_difference(const struct pairs *p, uint64_t k, double *ret, double *ret_next);

static double *thin(const double *x, size_t n)
{
	double *t = kab_xreallocarray(NULL, THIN, sizeof(*t));

	for (size_t i = 0; i < THIN; i++)
		t[i] = x[(size_t)(((double)i + 0.5) / THIN * (double)n)];
	return t;
}

/* Two cuts that most likely enclose rank k. They are only tried: nothing rests on them. */
static void guess(const struct pairs *p, uint64_t k, double cut[2])
{
	double *a = thin(p->a, p->na), *b = thin(p->b, p->nb);
	struct pairs small = { a, b, THIN, THIN, NULL };
	double all = (double)THIN * THIN, share = (double)k / ((double)p->na * (double)p->nb);

	for (int i = 0; i < 2; i++) {
		double rank = all * (share + (i ? THIN_ERROR : -THIN_ERROR)) + i;

		rank = fmax(1, fmin(all, rank));
		select_difference(&small, (uint64_t)rank, &cut[i], NULL);
	}
	free(a);
	free(b);
}

/* The bracket (lo, hi] of a rank and how many differences are below either end. */
struct bracket {
	double lo, hi;
	uint64_t c_lo, c_hi;
};

static void narrow(const struct pairs *p, uint64_t k, const double cut[2], struct bracket *at)
{
	uint64_t c[2];

	count_le2(p, cut, c);
	for (int i = 0; i < 2; i++) {
		if (!(cut[i] > at->lo && cut[i] < at->hi))
			continue;
		if (c[i] >= k) {
			at->hi = cut[i];
			at->c_hi = c[i];
		} else {
			at->lo = cut[i];
			at->c_lo = c[i];
		}
	}
}

/* The smallest difference above d; INFINITY when there is none. */
static double above(const struct pairs *p, double d)
{
	double next = INFINITY;
	size_t j = 0;

	for (size_t i = 0; i < p->na; i++) {
		while (j < p->nb && p->b[j] - p->a[i] <= d)
			j++;
		if (j < p->nb)
			next = fmin(next, p->b[j] - p->a[i]);
	}
	return next;
}

static double next_difference(const struct pairs *p, uint64_t k, double d)
{
	return count_le(p, d) > k ? d : above(p, d);
}

/* Differences that equal lo, the smallest of all: they lie in a corner. */
static uint64_t count_smallest(const struct pairs *p, double lo)
{
	uint64_t c = 0;

	for (size_t i = p->na; i-- > 0;) {
		size_t j = 0;

		while (j < p->nb && p->b[j] - p->a[i] <= lo)
			j++;
		if (!j)
			break;
		c += j;
	}
	return c;
}

/*
 * The k-th smallest difference, k from 1, and the next one unless ret_next is NULL. The bracket is
 * narrowed by two cuts, one on either side of where the rank should lie by interpolation and closer
 * to it in every round, until few enough differences are left to be listed. Every third round halves
 * instead, so that counts which are nothing like a line (many equal differences) end too.
 */
static void select_difference(const struct pairs *p, uint64_t k, double *ret, double *ret_next)
{
	if (p->all) {
		*ret = p->all[k - 1];
		if (ret_next)
			*ret_next = p->all[k];
		return;
	}
	struct bracket at = { p->b[0] - p->a[p->na - 1], p->b[p->nb - 1] - p->a[0], 0,
			      (uint64_t)p->na * p->nb };
	uint64_t few = (p->na + p->nb) / 16 > 512 ? (p->na + p->nb) / 16 : 512;
	double width = 1.0 / 32, cut[2];

	at.c_lo = count_smallest(p, at.lo);
	if (at.c_lo >= k) {
		*ret = at.lo;
		if (ret_next)
			*ret_next = next_difference(p, k, at.lo);
		return;
	}
	if (p->na >= THIN_FROM && p->nb >= THIN_FROM) {
		guess(p, k, cut);
		narrow(p, k, cut, &at);
		width = 1.0 / 128;
	}
	for (int round = 0; at.c_hi - at.c_lo > few; round++) {
		double share = (double)(k - at.c_lo) / (double)(at.c_hi - at.c_lo);
		double span = at.hi - at.lo;

		cut[0] = at.lo + span * (share - width);
		cut[1] = at.lo + span * (share + width);
		if (round % 3 == 2 || !isfinite(span)) {
			cut[0] = cut[1] = 0.5 * at.lo + 0.5 * at.hi;
			if (!(cut[0] > at.lo && cut[0] < at.hi)) {
				/* neighbours among the doubles */
				*ret = at.hi;
				if (ret_next)
					*ret_next = at.c_hi > k ? at.hi : above(p, at.hi);
				return;
			}
		}
		narrow(p, k, cut, &at);
		width = width > 1e-3 ? width / 4 : width;
	}
	double *v = collect(p, at.lo, at.hi, at.c_hi - at.c_lo);

	*ret = v[k - at.c_lo - 1];
	if (ret_next)
		*ret_next = k < at.c_hi ? v[k - at.c_lo] : above(p, at.hi);
	free(v);
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
	double m1, m2;

	select_difference(&p, (n + 1) / 2, &m1, n % 2 ? NULL : &m2);
	if (n % 2)
		m2 = m1;
	ret->shift = m1 == m2 ? m1 : m1 + 0.5 * (m2 - m1);
	uint64_t q = lower_rank(nb, nt, confidence, ret);

	select_difference(&p, q, &ret->ci.lo, NULL);
	select_difference(&p, n + 1 - q, &ret->ci.hi, NULL);
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
