/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/bootstrap.h"

#include <float.h>
#include <math.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "stats/describe.h"
#include "stats/dist.h"
#include "stats/sort.h"

struct side {
	const double *x;
	size_t n;
	double mean;
	double shift; /* subtracted before summing, so that sums of squares keep their digits */
};

struct draw {
	double mean, var; /* var of the mean */
};

/* One resample. 32-bit multiply-shift: its bias is below n/2^32, far under the resampling noise. */
static struct draw resample(const struct side *s, struct kab_rng *rng)
{
	double sum = 0, sq = 0, n = (double)s->n;
	uint64_t bits = 0;

	for (size_t i = 0; i < s->n; i++) {
		bits = i % 2 ? bits >> 32 : kab_rng_u64(rng);
		size_t k = (size_t)(((bits & UINT32_MAX) * (uint64_t)s->n) >> 32);
		double v = s->x[k] - s->shift;

		sum += v;
		sq += v * v;
	}
	struct draw d = { sum / n, 0 };

	if (s->n > 1)
		d.var = fmax(0, sq - sum * d.mean) / (n - 1) / n;
	d.mean += s->shift;
	return d;
}

static double statistic(enum kab_boot_stat stat, double a, double b)
{
	return stat == KAB_BOOT_MEAN_RATIO ? b / a : b - a;
}

/* Standard error of the statistic; that of the ratio by the delta method. */
static double standard_error(enum kab_boot_stat stat, struct draw a, struct draw b)
{
	if (stat == KAB_BOOT_MEAN_DIFF)
		return sqrt(a.var + b.var);
	double r = b.mean / a.mean;

	return sqrt(b.var + r * r * a.var) / fabs(a.mean);
}

static void jackknife(enum kab_boot_stat stat, const struct side *out, const struct side *other,
		      bool out_is_test, double *cubes, double *squares)
{
	double n = (double)out->n, mean = 0;
	double *v = kab_xreallocarray(NULL, out->n, sizeof(*v));

	for (size_t i = 0; i < out->n; i++) {
		double m = out->mean + (out->mean - out->x[i]) / (n - 1);

		v[i] = out_is_test ? statistic(stat, other->mean, m)
				   : statistic(stat, m, other->mean);
	}
	mean = kab_mean(v, out->n);
	for (size_t i = 0; i < out->n; i++) {
		double u = (n - 1) * (mean - v[i]) / n;

		*squares += u * u;
		*cubes += u * u * u;
	}
	free(v);
}

/* Quantile of sorted values at level p, (B + 1)p-th value with interpolation. */
static double level(const double *v, size_t n, double p)
{
	double h = p * (double)(n + 1);

	if (!(h > 1))
		return v[0];
	if (h >= (double)n)
		return v[n - 1];
	size_t k = (size_t)h;

	return v[k - 1] + (h - (double)k) * (v[k] - v[k - 1]);
}

static void bca(struct kab_bootstrap *r, const double *v, size_t n, double tail, double slack)
{
	size_t below = 0, equal = 0;

	for (size_t i = 0; i < n; i++) {
		double d = v[i] - r->estimate;

		/* means of few distinct values repeat the estimate, but not to the last bit */
		equal += fabs(d) <= slack;
		below += d < -slack;
	}
	double share = ((double)below + 0.5 * (double)equal) / (double)n;

	share = fmin(fmax(share, 0.5 / (double)n), 1 - 0.5 / (double)n);
	r->z0 = kab_norm_quantile(share);
	double ends[2];

	for (int k = 0; k < 2; k++) {
		double z = r->z0 + kab_norm_quantile(k ? 1 - tail : tail);
		double p = kab_norm_cdf(r->z0 + z / (1 - r->acceleration * z));

		ends[k] = level(v, n, p);
	}
	r->bca = (struct kab_interval){ ends[0], ends[1] };
}

int kab_bootstrap_two(const double *base, size_t nb, const double *test, size_t nt,
		      enum kab_boot_stat stat, uint64_t resamples, double confidence, uint64_t seed,
		      struct kab_bootstrap *ret)
{
	const struct kab_interval none = { NAN, NAN };

	*ret = (struct kab_bootstrap){ NAN, NAN, NAN, NAN, none, none, none, 0, false };
	if (nb == 0 || nt == 0 || resamples < 100 || nb > UINT32_MAX || nt > UINT32_MAX ||
	    !(confidence > 0 && confidence < 1))
		return -1;
	for (size_t i = 0; stat == KAB_BOOT_MEAN_RATIO && i < nb; i++)
		if (!(base[i] > 0))
			return -1;
	struct kab_moments ma = kab_moments_of(base, nb), mb = kab_moments_of(test, nt);
	struct side a = { base, nb, ma.mean, ma.mean }, b = { test, nt, mb.mean, mb.mean };
	double tail = 0.5 * (1 - confidence), cubes = 0, squares = 0;

	ret->resamples = resamples;
	ret->supported = nb >= KAB_BOOTSTRAP_MIN_UNITS && nt >= KAB_BOOTSTRAP_MIN_UNITS;
	ret->estimate = statistic(stat, a.mean, b.mean);
	if (!(ma.sd > 0) &&
	    !(mb.sd > 0)) { /* one value, or no spread: every resample is the same */
		ret->se = ret->z0 = ret->acceleration = 0;
		ret->percentile = ret->bca = (struct kab_interval){ ret->estimate, ret->estimate };
		return 0;
	}
	if (nb > 1)
		jackknife(stat, &a, &b, false, &cubes, &squares);
	if (nt > 1)
		jackknife(stat, &b, &a, true, &cubes, &squares);
	ret->acceleration = squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;

	double *v = kab_xreallocarray(NULL, resamples, sizeof(*v));
	double *t = kab_xreallocarray(NULL, resamples, sizeof(*t));
	struct draw da = { a.mean, nb > 1 ? ma.sd * ma.sd / (double)nb : 0 };
	struct draw db = { b.mean, nt > 1 ? mb.sd * mb.sd / (double)nt : 0 };
	double se = standard_error(stat, da, db);
	struct kab_rng rng;

	kab_rng_seed(&rng, seed);
	for (uint64_t i = 0; i < resamples; i++) {
		struct draw ra = resample(&a, &rng), rb = resample(&b, &rng);
		double s;

		v[i] = statistic(stat, ra.mean, rb.mean);
		s = standard_error(stat, ra, rb);
		/* a resample of one value repeated has no spread: it counts as an extreme */
		t[i] = s > 0		       ? (v[i] - ret->estimate) / s
		       : v[i] == ret->estimate ? 0
					       : copysign(1e300, v[i] - ret->estimate);
	}
	ret->se = kab_sd(v, resamples);
	kab_sort(v, resamples);
	kab_sort(t, resamples);
	ret->percentile =
		(struct kab_interval){ level(v, resamples, tail), level(v, resamples, 1 - tail) };
	bca(ret, v, resamples, tail,
	    1e-11 * ret->se +
		    8 * DBL_EPSILON *
			    (stat == KAB_BOOT_MEAN_RATIO ? fabs(ret->estimate) : fabs(a.mean)));
	ret->t = (struct kab_interval){ ret->estimate - level(t, resamples, 1 - tail) * se,
					ret->estimate - level(t, resamples, tail) * se };
	free(t);
	free(v);
	return 0;
}
