/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/warmup.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/alloc.h"
#include "stats/describe.h"
#include "stats/quantile.h"
#include "stats/sort.h"

/* P(X >= k), X ~ Bin(n, 1/2) */
static double sign_tail(size_t k, size_t n)
{
	return k == 0 ? 1 : gsl_cdf_binomial_Q((unsigned)(k - 1), 0.5, (unsigned)n);
}

int kab_warmup_sign(const double *x, size_t boots, size_t iterations, int dir, double limit,
		    struct kab_warmup *ret)
{
	ret->drop = 0;
	for (size_t k = 0; k < KAB_WARMUP_MAX; k++)
		ret->p[k] = NAN;
	if (boots == 0 || iterations == 0)
		return -1;
	if (!(limit > 0))
		limit = 0.01;
	double *median = kab_xreallocarray(NULL, boots, sizeof(*median));

	for (size_t b = 0; b < boots; b++) {
		double *s = kab_sorted_copy(x + b * iterations, iterations);

		kab_quantile_sorted(s, iterations, 7, 1, 2, &median[b]);
		free(s);
	}
	for (size_t k = 0; k < KAB_WARMUP_MAX && 2 * (k + 1) <= iterations; k++) {
		size_t above = 0, below = 0;

		for (size_t b = 0; b < boots; b++) {
			above += x[b * iterations + k] > median[b];
			below += x[b * iterations + k] < median[b];
		}
		size_t n = above + below, most = above > below ? above : below;

		if (dir < 0)
			ret->p[k] = sign_tail(above, n);
		else if (dir > 0)
			ret->p[k] = sign_tail(below, n);
		else
			ret->p[k] = fmin(1, 2 * sign_tail(most, n));
		if (!(ret->p[k] < limit))
			break;
		ret->drop = k + 1;
	}
	free(median);
	return 0;
}

/* Running sums of x and x^2 about the median: the cost of any segment in O(1). */
struct prefix {
	double *s, *q;
	double floor; /* a segment of equal values must not have infinite likelihood */
};

static double segment_cost(const struct prefix *p, size_t a, size_t b)
{
	double n = (double)(b - a), s = p->s[b] - p->s[a], q = p->q[b] - p->q[a];

	return n * log(fmax(q / n - (s / n) * (s / n), p->floor));
}

static void pelt(const struct prefix *p, size_t n, size_t *last)
{
	double penalty = 15 * log((double)n);
	double *best = kab_xreallocarray(NULL, n + 1, sizeof(*best));
	size_t *live = kab_xreallocarray(NULL, n + 1, sizeof(*live)), lives = 0;

	best[0] = -penalty;
	for (size_t t = 1; t <= n; t++)
		best[t] = INFINITY;
	for (size_t t = KAB_STEADY_SEGMENT; t <= n; t++) {
		size_t fresh = t - KAB_STEADY_SEGMENT, kept = 0;

		if (isfinite(best[fresh]))
			live[lives++] = fresh;
		for (size_t i = 0; i < lives; i++) {
			double c = best[live[i]] + segment_cost(p, live[i], t) + penalty;

			if (c < best[t]) {
				best[t] = c;
				last[t] = live[i];
			}
		}
		/* a start that cannot catch up any more is dropped for good */
		for (size_t i = 0; i < lives; i++)
			if (best[live[i]] + segment_cost(p, live[i], t) <= best[t])
				live[kept++] = live[i];
		lives = kept;
	}
	free(live);
	free(best);
}

int kab_steady_find(const double *x, size_t n, struct kab_steady *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (n < KAB_STEADY_MIN)
		return 1;
	double *sorted = kab_sorted_copy(x, n), median;
	size_t *last = kab_xcalloc(n + 1, sizeof(*last));
	struct prefix p = { kab_xcalloc(n + 1, sizeof(*p.s)), kab_xcalloc(n + 1, sizeof(*p.q)), 0 };

	kab_quantile_sorted(sorted, n, 7, 1, 2, &median);
	double sd = kab_sd(x, n);

	p.floor = fmax(1e-12 * sd * sd, 1e-300);
	free(sorted);
	for (size_t i = 0; i < n; i++) {
		double d = x[i] - median;

		p.s[i + 1] = p.s[i] + d;
		p.q[i + 1] = p.q[i] + d * d;
	}
	pelt(&p, n, last);
	for (size_t t = n; t > 0; t = last[t])
		ret->n++;
	ret->starts = kab_xreallocarray(NULL, ret->n, sizeof(*ret->starts));
	size_t k = ret->n;

	for (size_t t = n; t > 0; t = last[t])
		ret->starts[--k] = last[t];

	struct kab_moments end =
		kab_moments_of(x + ret->starts[ret->n - 1], n - ret->starts[ret->n - 1]);
	size_t same = 0;
	bool unbroken = true;

	ret->warmup = n;
	for (size_t i = ret->n; i-- > 0;) {
		size_t a = ret->starts[i], b = i + 1 < ret->n ? ret->starts[i + 1] : n;
		struct kab_moments m = kab_moments_of(x + a, b - a);
		bool level = fabs(m.mean - end.mean) <= fmax(m.sd, end.sd);

		if (level)
			same += b - a;
		unbroken = unbroken && level;
		if (unbroken)
			ret->warmup = a;
	}
	ret->steady = 2 * same >= n;
	free(last);
	free(p.s);
	free(p.q);
	return 0;
}

void kab_steady_release(struct kab_steady *s)
{
	free(s->starts);
	memset(s, 0, sizeof(*s));
}
