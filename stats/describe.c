/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "stats/dist.h"
#include "stats/quantile.h"
#include "stats/sort.h"

/* A sum in two doubles: hi + lo is the sum to about 106 bits. */
struct dsum {
	double hi, lo;
};

static inline void dsum_add(struct dsum *s, double x)
{
	double t = s->hi + x;
	double back = t - s->hi;

	s->lo += (s->hi - (t - back)) + (x - back);
	s->hi = t;
}

/* From here on blocks are summed plainly in four lanes and only the block sums are compensated. */
#define PLAIN_FROM 100000
#define BLOCK 64

static inline double block_sum(const double *x)
{
	double a = 0, b = 0, c = 0, d = 0;

	for (size_t i = 0; i < BLOCK; i += 4) {
		a += x[i];
		b += x[i + 1];
		c += x[i + 2];
		d += x[i + 3];
	}
	return (a + b) + (c + d);
}

static struct dsum sum_of(const double *x, size_t n)
{
	struct dsum s = { 0, 0 };
	size_t i = 0;

	for (; n >= PLAIN_FROM && i + BLOCK <= n; i += BLOCK)
		dsum_add(&s, block_sum(x + i));
	for (; i < n; i++)
		dsum_add(&s, x[i]);
	return s;
}

/* Sums of (x - m)^2 and of x - m. */
static void deviations(const double *x, size_t n, double m, struct dsum *sq, struct dsum *dev)
{
	size_t i = 0;

	for (; n >= PLAIN_FROM && i + BLOCK <= n; i += BLOCK) {
		double d1 = 0, d2 = 0, q1 = 0, q2 = 0;

		for (size_t k = i; k < i + BLOCK; k += 2) {
			double u = x[k] - m, v = x[k + 1] - m;

			d1 += u;
			d2 += v;
			q1 += u * u;
			q2 += v * v;
		}
		dsum_add(dev, d1 + d2);
		dsum_add(sq, q1 + q2);
	}
	for (; i < n; i++) {
		double d = x[i] - m;

		dsum_add(sq, d * d);
		dsum_add(dev, d);
	}
}

static double divide(struct dsum s, double n)
{
	double q = s.hi / n;
	double r = fma(-q, n, s.hi) + s.lo;

	return q + r / n;
}

/* The exponent by which everything is scaled so that squares and sums stay normal numbers. */
static int scale_exponent(double max_abs)
{
	int e = 0;

	if (max_abs == 0 || (max_abs < 1e150 && max_abs > 1e-150))
		return 0;
	frexp(max_abs, &e);
	return e;
}

/* 2^-e in steps that are themselves representable. */
static double scaled(double x, int e)
{
	return ldexp(x, -e);
}

struct basic {
	double sum, mean, sd, sd_pop;
	double min, max;
};

static void basic_plain(const double *x, size_t n, struct basic *b)
{
	struct dsum s = sum_of(x, n);
	struct dsum sq = { 0, 0 }, dev = { 0, 0 };
	double m;

	b->sum = s.hi + s.lo;
	b->mean = m = divide(s, (double)n);
	deviations(x, n, m, &sq, &dev);
	double sd = dev.hi + dev.lo;
	double ss = (sq.hi + sq.lo) - sd * (sd / (double)n);

	if (ss < 0)
		ss = 0;
	b->sd = n > 1 ? sqrt(ss / (double)(n - 1)) : NAN;
	b->sd_pop = sqrt(ss / (double)n);
}

static void basic_of(const double *x, size_t n, struct basic *b)
{
	b->min = b->max = x[0];
	for (size_t i = 1; i < n; i++) {
		b->min = x[i] < b->min ? x[i] : b->min;
		b->max = x[i] > b->max ? x[i] : b->max;
	}
	int e = scale_exponent(fmax(fabs(b->min), fabs(b->max)));

	if (e == 0) {
		basic_plain(x, n, b);
	} else {
		double *y = kab_xreallocarray(NULL, n, sizeof(*y));

		for (size_t i = 0; i < n; i++)
			y[i] = scaled(x[i], e);
		basic_plain(y, n, b);
		free(y);
		b->sum = ldexp(b->sum, e);
		b->mean = ldexp(b->mean, e);
		b->sd = ldexp(b->sd, e);
		b->sd_pop = ldexp(b->sd_pop, e);
	}
	if (b->min == b->max) {
		b->mean = x[0];
		b->sd = n > 1 ? 0 : NAN;
		b->sd_pop = 0;
	}
}

double kab_mean(const double *x, size_t n)
{
	struct basic b;

	if (n == 0)
		return NAN;
	basic_of(x, n, &b);
	return b.mean;
}

double kab_sd(const double *x, size_t n)
{
	struct basic b;

	if (n < 2)
		return NAN;
	basic_of(x, n, &b);
	return b.sd;
}

struct kab_moments kab_moments_of(const double *x, size_t n)
{
	struct kab_moments m = { n, NAN, NAN };
	struct basic b;

	if (n) {
		basic_of(x, n, &b);
		m.mean = b.mean;
		m.sd = b.sd;
	}
	return m;
}

double kab_mad_raw_sorted(const double *sorted, size_t n, double m)
{
	size_t right = 0, left, k1 = (n - 1) / 2, k2 = n / 2;
	double a = NAN, v = NAN;

	if (n == 0)
		return NAN;
	/* Deviations grow away from m on both sides: merge the two runs up to the middle. */
	while (right < n && sorted[right] < m)
		right++;
	left = right;
	for (size_t k = 0; k <= k2; k++) {
		double dl = left > 0 ? m - sorted[left - 1] : INFINITY;
		double dr = right < n ? sorted[right] - m : INFINITY;

		if (left > 0 && (right == n || dl <= dr)) {
			v = dl;
			left--;
		} else {
			v = dr;
			right++;
		}
		if (k == k1)
			a = v;
	}
	return a == v ? v : a + 0.5 * (v - a);
}

static void all_nan(struct kab_summary *r, size_t n)
{
	memset(r, 0, sizeof(*r));
	r->n = n;
	r->sum = r->mean = r->sd = r->sd_pop = r->sem = r->cv_pct = r->min = r->max = NAN;
	r->median = r->mad_raw = r->mad = NAN;
	r->ci95 = r->ci = (struct kab_interval){ NAN, NAN };
}

static struct kab_interval mean_ci(const struct kab_summary *r, double confidence)
{
	struct kab_interval ci = { NAN, NAN };

	if (r->n < 2)
		return ci;
	if (r->sd == 0)
		return (struct kab_interval){ r->mean, r->mean };
	double h = kab_t_quantile(confidence, (double)(r->n - 1)) * r->sem;

	ci.lo = r->mean - h;
	ci.hi = r->mean + h;
	return ci;
}

int kab_describe_sorted(const double *x, const double *sorted, size_t n, double confidence,
			struct kab_summary *ret)
{
	struct basic b;

	all_nan(ret, n);
	if (n == 0 || !(confidence > 0 && confidence < 1))
		return -1;
	basic_of(x, n, &b);
	ret->sum = b.sum;
	ret->mean = b.mean;
	ret->sd = b.sd;
	ret->min = b.min;
	ret->max = b.max;
	if (n > 1) {
		ret->sd_pop = b.sd_pop;
		ret->sem = b.sd / sqrt((double)n);
		if (b.mean != 0 && !(b.min < 0 && b.max > 0))
			ret->cv_pct = 100 * (b.sd / fabs(b.mean));
	}
	kab_quantile_sorted(sorted, n, 7, 1, 2, &ret->median);
	ret->mad_raw = kab_mad_raw_sorted(sorted, n, ret->median);
	ret->mad = KAB_MAD_SCALE * ret->mad_raw;
	ret->ci95 = mean_ci(ret, 0.95);
	ret->ci = confidence == 0.95 ? ret->ci95 : mean_ci(ret, confidence);
	return 0;
}

int kab_describe(const double *x, size_t n, double confidence, struct kab_summary *ret)
{
	double *sorted = kab_sorted_copy(x, n);
	int rc = kab_describe_sorted(x, sorted, n, confidence, ret);

	free(sorted);
	return rc;
}

void kab_running_push(struct kab_running *r, double x)
{
	double d = x - r->mean;

	r->n++;
	r->mean += d / (double)r->n;
	r->m2 += d * (x - r->mean);
}

void kab_running_merge(struct kab_running *into, const struct kab_running *other)
{
	if (other->n == 0)
		return;
	if (into->n == 0) {
		*into = *other;
		return;
	}
	double na = (double)into->n, nb = (double)other->n, d = other->mean - into->mean;

	into->n += other->n;
	into->mean += d * nb / (na + nb);
	into->m2 += other->m2 + d * d * na * nb / (na + nb);
}

double kab_running_sd(const struct kab_running *r)
{
	return r->n < 2 ? NAN : sqrt(r->m2 / (double)(r->n - 1));
}

double kab_geomean(const double *x, size_t n)
{
	struct dsum s = { 0, 0 };

	if (n == 0)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		if (!(x[i] > 0))
			return NAN;
		dsum_add(&s, log(x[i]));
	}
	return exp(divide(s, (double)n));
}

int kab_outliers_count(const double *x, size_t n, struct kab_outliers *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (n == 0)
		return -1;
	double *s = kab_sorted_copy(x, n);
	double q1, q3, median;

	kab_quantile_sorted(s, n, 7, 1, 4, &q1);
	kab_quantile_sorted(s, n, 7, 3, 4, &q3);
	kab_quantile_sorted(s, n, 7, 1, 2, &median);
	double iqr = q3 - q1, limit = 10 * KAB_MAD_SCALE * kab_mad_raw_sorted(s, n, median);

	for (size_t i = 0; i < n; i++) {
		ret->low_mild += s[i] < q1 - 1.5 * iqr;
		ret->high_mild += s[i] > q3 + 1.5 * iqr;
		ret->low_far += s[i] < q1 - 3 * iqr;
		ret->high_far += s[i] > q3 + 3 * iqr;
		ret->mad10 += fabs(s[i] - median) > limit;
	}
	free(s);
	return 0;
}
