/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/change.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "stats/describe.h"
#include "stats/dist.h"

#define DEFAULT_WINDOW 50
#define DEFAULT_SEGMENT 5
#define DEFAULT_DRAWS 999
#define DEFAULT_P 0.01
#define FAST_P 0.001
#define FAST_MIN 6

/*
 * within[a * (n + 1) + b]: sum of |x_i - x_j| over pairs inside [a, b). Every Q follows from three of
 * these, so that all splits with all right edges cost O(n^2).
 */
struct distances {
	size_t n;
	double *within;
	double *column; /* scratch */
};

static void distances_init(struct distances *d, size_t n)
{
	d->n = n;
	d->within = kab_xcalloc((n + 1) * (n + 1), sizeof(*d->within));
	d->column = kab_xcalloc(n + 1, sizeof(*d->column));
}

static void distances_release(struct distances *d)
{
	free(d->within);
	free(d->column);
}

#define WITHIN(d, a, b) ((d)->within[(a) * ((d)->n + 1) + (b)])

static void distances_fill(struct distances *d, const double *x)
{
	/* W(a, b + 1) = W(a, b) + sum over i in [a, b) of |x_i - x_b| */
	for (size_t b = 1; b < d->n; b++) {
		double s = 0;

		WITHIN(d, b, b + 1) = 0;
		for (size_t a = b; a-- > 0;) {
			s += fabs(x[a] - x[b]);
			WITHIN(d, a, b + 1) = WITHIN(d, a, b) + s;
		}
	}
}

static double energy(const struct distances *d, size_t tau, size_t right)
{
	double m = (double)tau, k = (double)(right - tau);
	double left_sum = WITHIN(d, 0, tau), right_sum = WITHIN(d, tau, right);
	double cross = WITHIN(d, 0, right) - left_sum - right_sum;
	double q = 2 * cross / (m * k);

	if (tau > 1)
		q -= 2 * left_sum / (m * (m - 1));
	if (right - tau > 1)
		q -= 2 * right_sum / (k * (k - 1));
	return m * k / (m + k) * q;
}

static void best_split(const struct distances *d, size_t min_segment, bool free_right,
		       struct kab_split *ret)
{
	*ret = (struct kab_split){ 0, d->n, -INFINITY, NAN };
	for (size_t tau = min_segment; tau + min_segment <= d->n; tau++) {
		for (size_t right = free_right ? tau + min_segment : d->n; right <= d->n; right++) {
			double q = energy(d, tau, right);

			if (q > ret->q) {
				ret->q = q;
				ret->tau = tau;
				ret->right = right;
			}
		}
	}
}

size_t kab_energy_split(const double *x, size_t n, size_t min_segment, double *q, double *best)
{
	struct distances d;
	struct kab_split s = { 0, n, NAN, NAN };

	*best = NAN;
	if (n < 2)
		return 0;
	if (min_segment < 1)
		min_segment = 1;
	distances_init(&d, n);
	distances_fill(&d, x);
	for (size_t tau = 1; q && tau < n; tau++)
		q[tau - 1] = energy(&d, tau, n);
	best_split(&d, min_segment, false, &s);
	distances_release(&d);
	if (s.tau)
		*best = s.q;
	return s.tau;
}

static void shuffle(double *y, size_t n, struct kab_rng *rng)
{
	for (size_t i = n - 1; i > 0; i--) {
		size_t j = kab_rng_below(rng, i + 1);
		double v = y[i];

		y[i] = y[j];
		y[j] = v;
	}
}

/* Best splits with fixed ([0]) and free ([1]) right edge, and their p from the same permutations. */
static void test_edges(const double *x, size_t n, size_t min_segment, bool want_fixed,
		       bool want_free, uint64_t draws, uint64_t seed, struct kab_split ret[2])
{
	const bool want[2] = { want_fixed, want_free };
	uint64_t total = draws ? draws : DEFAULT_DRAWS, count[2] = { 0, 0 };
	double seen[2] = { INFINITY, INFINITY };
	double *y = kab_xmemdup(x, n * sizeof(*y));
	struct distances d;
	struct kab_split s;
	struct kab_rng rng;

	distances_init(&d, n);
	distances_fill(&d, x);
	for (int k = 0; k < 2; k++) {
		ret[k] = (struct kab_split){ 0, n, NAN, NAN };
		if (!want[k])
			continue;
		best_split(&d, min_segment, k == 1, &ret[k]);
		seen[k] = ret[k].q - 1e-12 * fabs(ret[k].q);
	}
	kab_rng_seed(&rng, seed);
	for (uint64_t t = 0; t < total; t++) {
		shuffle(y, n, &rng);
		distances_fill(&d, y);
		for (int k = 0; k < 2; k++) {
			if (!want[k])
				continue;
			best_split(&d, min_segment, k == 1, &s);
			count[k] += s.q >= seen[k];
		}
	}
	for (int k = 0; k < 2; k++)
		if (want[k])
			ret[k].p = (double)(count[k] + 1) / (double)(total + 1);
	distances_release(&d);
	free(y);
}

int kab_energy_test(const double *x, size_t n, size_t min_segment, bool free_right, uint64_t draws,
		    uint64_t seed, struct kab_split *ret)
{
	struct kab_split s[2];

	*ret = (struct kab_split){ 0, n, NAN, NAN };
	if (min_segment < 1)
		min_segment = 1;
	if (n < 2 * min_segment)
		return -1;
	test_edges(x, n, min_segment, !free_right, free_right, draws, seed, s);
	*ret = s[free_right];
	return 0;
}

double kab_ar1_phi(const double *x, size_t n)
{
	double mean = 0, var = 0, cov = 0, before = 0;

	if (n < 4)
		return 0;
	mean = (x[n - 1] - x[0]) / (double)(n - 1);
	for (size_t i = 1; i < n; i++) {
		double d = x[i] - x[i - 1] - mean;

		var += d * d;
		if (i > 1)
			cov += d * before;
		before = d;
	}
	if (!(var > 0))
		return 0;
	return fmin(fmax(1 + 2 * cov / var, 0), 0.9);
}

static void record(struct kab_changes *c, size_t at, double p)
{
	c->at = kab_xreallocarray(c->at, c->n + 1, sizeof(*c->at));
	c->p = kab_xreallocarray(c->p, c->n + 1, sizeof(*c->p));
	c->at[c->n] = at;
	c->p[c->n++] = p;
}

int kab_changes_find(const double *x, size_t n, const struct kab_change_opts *opts,
		     struct kab_changes *ret)
{
	size_t window = opts->window ? opts->window : DEFAULT_WINDOW;
	size_t least = opts->min_segment ? opts->min_segment : DEFAULT_SEGMENT;
	double limit = opts->p > 0 ? opts->p : DEFAULT_P;

	memset(ret, 0, sizeof(*ret));
	if (n < 2 * least + 1 || window < 2 * least)
		return 0;
	ret->phi = kab_ar1_phi(x, n);
	/* e[i] belongs to night i + first: the first night has no predecessor to subtract */
	size_t first = ret->phi > 0 ? 1 : 0, m = n - first, start = 0;
	double *e = kab_xreallocarray(NULL, m, sizeof(*e));

	for (size_t i = 0; i < m; i++)
		e[i] = first ? x[i + 1] - ret->phi * x[i] : x[i];
	for (uint64_t step = 0;; step++) {
		/* a rest of less than half a window is taken in: a window of its own would look at
		 * mostly the same nights again, and every look has its own false nominations */
		size_t end = start + window + window / 2 <= m ? start + window : m;
		struct kab_split s[2];

		if (end - start < 2 * least)
			break;
		test_edges(e + start, end - start, least, true, true, opts->draws,
			   opts->seed + step, s);
		/* a young step is best seen with the fixed edge, a dip with the free one: twice the
		 * smaller p pays for having looked at both */
		const struct kab_split *best = s[1].p < s[0].p ? &s[1] : &s[0];
		double p = fmin(1, 2 * best->p);

		if (best->tau && p <= limit) {
			start += best->tau;
			record(ret, start + first, p);
			continue;
		}
		if (end == m)
			break;
		start += window / 2;
	}
	free(e);
	return 0;
}

void kab_changes_release(struct kab_changes *c)
{
	free(c->at);
	free(c->p);
	memset(c, 0, sizeof(*c));
}

int kab_change_fast(const double *x, size_t n, size_t segment, double phi, double limit,
		    struct kab_fast *ret)
{
	for (size_t k = 0; k < KAB_FAST_NIGHTS; k++)
		ret->p[k] = ret->shift[k] = NAN;
	ret->nights = 0;
	if (segment > n || !(phi >= 0 && phi < 1))
		return -1;
	if (!(limit > 0))
		limit = FAST_P;
	size_t first = segment + (phi > 0 ? 1 : 0);
	double *e = kab_xreallocarray(NULL, n + 1, sizeof(*e));

	for (size_t i = first; i < n; i++)
		e[i] = phi > 0 ? x[i] - phi * x[i - 1] : x[i];
	for (size_t k = 1; k <= KAB_FAST_NIGHTS && first + k + FAST_MIN <= n; k++) {
		size_t m = n - k - first;
		struct kab_moments mo = kab_moments_of(e + first, m);
		double sw = 0, sww = 0, swe = 0;

		if (!(mo.sd > 0))
			continue;
		/* a step of 1 shows as 1 in its first whitened night and as 1 - phi in the next ones */
		for (size_t j = 0; j < k; j++) {
			double w = j == 0 ? 1 : 1 - phi;

			sw += w;
			sww += w * w;
			swe += w * (e[n - k + j] - mo.mean);
		}
		double shift = swe / sww;
		double se = mo.sd * sqrt(1 / sww + (sw / sww) * (sw / sww) / (double)m);

		ret->shift[k - 1] = shift;
		ret->p[k - 1] = kab_t_two_sided_p(shift / se, (double)(m - 1));
		if (ret->nights == 0 && ret->p[k - 1] < limit)
			ret->nights = k;
	}
	free(e);
	return 0;
}
