/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/quantile.h"

#include <math.h>
#include <stdint.h>

#include <gsl/gsl_cdf.h>

static bool arguments_ok(size_t n, unsigned num, unsigned den)
{
	return n > 0 && den > 0 && num <= den && n < UINT64_MAX / 8 / den;
}

/* Between two neighbours; never leaves [a, b], and survives neighbours of huge opposite sign. */
static double between(double a, double b, double f)
{
	if (a == b || f <= 0)
		return a;
	double d = b - a;

	return isfinite(d) ? a + f * d : a * (1 - f) + b * f;
}

int kab_quantile_sorted(const double *sorted, size_t n, int type, unsigned num, unsigned den,
			double *ret)
{
	uint64_t top, bottom;

	*ret = NAN;
	if (!arguments_ok(n, num, den))
		return -1;
	uint64_t np = (uint64_t)n * num;

	/* top/bottom is the position h, counted from 1 */
	switch (type) {
	case 1:
	case 2: {
		uint64_t j = np / den;
		bool whole = np % den == 0;

		if (!whole)
			j++;
		if (j == 0) {
			*ret = sorted[0];
			return 0;
		}
		*ret = sorted[j - 1];
		if (type == 2 && whole && j < n)
			*ret = between(sorted[j - 1], sorted[j], 0.5);
		return 0;
	}
	case 6:
		top = np + num;
		bottom = den;
		break;
	case 7:
		top = np - num + den;
		bottom = den;
		break;
	case 8:
		top = 3 * np + num + den;
		bottom = 3 * (uint64_t)den;
		break;
	default:
		return -1;
	}
	uint64_t j = top / bottom;
	double f = (double)(top % bottom) / (double)bottom;

	if (j < 1)
		*ret = sorted[0];
	else if (j >= n)
		*ret = sorted[n - 1];
	else
		*ret = between(sorted[j - 1], sorted[j], f);
	return 0;
}

bool kab_quantile_supported(size_t n, unsigned num, unsigned den)
{
	return arguments_ok(n, num, den) && (uint64_t)n * num >= den &&
	       (uint64_t)n * (den - num) >= den;
}

/* P(X <= k), X ~ Bin(n, p) */
static double binomial_cdf(size_t k, size_t n, double p)
{
	return gsl_cdf_binomial_P((unsigned)k, p, (unsigned)n);
}

/* Smallest k in [0, n] with P(X <= k) >= level. */
static size_t binomial_quantile(double level, size_t n, double p)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (binomial_cdf(mid, n, p) >= level)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* u (from 1) with P(X >= u) <= tail, that is P(X <= u - 1) >= 1 - tail; n + 1 when there is none */
static size_t upper_rank(size_t n, double p, double tail)
{
	return binomial_quantile(1 - tail, n, p) + 1;
}

int kab_quantile_upper_sorted(const double *sorted, size_t n, unsigned num, unsigned den,
			      double confidence, double *ret)
{
	*ret = NAN;
	if (!arguments_ok(n, num, den) || n > UINT32_MAX || !(confidence > 0 && confidence < 1))
		return -1;
	size_t u = upper_rank(n, (double)num / den, 1 - confidence);

	if (u > n)
		return 1;
	*ret = sorted[u - 1];
	return 0;
}

int kab_quantile_ci_sorted(const double *sorted, size_t n, unsigned num, unsigned den,
			   double confidence, struct kab_interval *ret)
{
	ret->lo = ret->hi = NAN;
	if (!arguments_ok(n, num, den) || n > UINT32_MAX || !(confidence > 0 && confidence < 1))
		return -1;
	double p = (double)num / den, tail = 0.5 * (1 - confidence);
	size_t u = upper_rank(n, p, tail);
	/* P(X < l) <= tail on X is P(n - X > n - l) <= tail: the same rank counted from the top */
	size_t down = upper_rank(n, 1 - p, tail);

	if (u > n || down > n)
		return 1;
	ret->lo = sorted[n - down];
	ret->hi = sorted[u - 1];
	return 0;
}
