/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/permute.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "stats/describe.h"
#include "stats/sort.h"

#define DEFAULT_DRAWS 9999
#define ROUNDING 1e-12

/* C(n, k), or UINT64_MAX once it is beyond cap. */
static uint64_t choose(size_t n, size_t k, uint64_t cap)
{
	uint64_t c = 1;

	if (k > n - k)
		k = n - k;
	for (size_t i = 1; i <= k; i++) {
		c = c * (n - k + i) / i;
		if (c > cap)
			return UINT64_MAX;
	}
	return c;
}

static int bad(struct kab_permutation *ret)
{
	*ret = (struct kab_permutation){ NAN, 0, 0, NAN, false };
	return -1;
}

/* With z centred on its mean, |difference of means| grows with |sum over one group|. */
static double group_sum(const double *z, const size_t *idx, size_t k)
{
	double s = 0;

	for (size_t i = 0; i < k; i++)
		s += z[idx[i]];
	return s;
}

/* The next k-subset of 0..n-1 in lexical order; false after the last. */
static bool next_subset(size_t *idx, size_t k, size_t n)
{
	size_t i = k;

	while (i > 0 && idx[i - 1] == n - k + i - 1)
		i--;
	if (i == 0)
		return false;
	idx[i - 1]++;
	for (size_t j = i; j < k; j++)
		idx[j] = idx[j - 1] + 1;
	return true;
}

/* The smallest difference between two distinct values; infinite if all are equal. */
static double finest_step(const double *z, size_t n)
{
	double *s = kab_sorted_copy(z, n), step = INFINITY;

	for (size_t i = 1; i < n; i++)
		if (s[i] > s[i - 1])
			step = fmin(step, s[i] - s[i - 1]);
	free(s);
	return step;
}

int kab_permute_labels(const double *base, size_t nb, const double *test, size_t nt, uint64_t draws,
		       uint64_t seed, struct kab_permutation *ret)
{
	if (nb == 0 || nt == 0)
		return bad(ret);
	size_t n = nb + nt;
	double *z = kab_xreallocarray(NULL, n, sizeof(*z));
	size_t *idx = kab_xreallocarray(NULL, n, sizeof(*idx));
	double absolute = 0, largest = 0, all = 1;

	memcpy(z, base, nb * sizeof(*z));
	memcpy(z + nb, test, nt * sizeof(*z));
	double centre = kab_mean(z, n);

	for (size_t i = 0; i < n; i++) {
		largest = fmax(largest, fabs(z[i]));
		z[i] -= centre;
		absolute += fabs(z[i]);
		idx[i] = i;
	}
	/* the split with the roles swapped mirrors the statistic only when the groups are equal */
	for (size_t i = 1; i <= nb; i++)
		all *= (double)(nt + i) / (double)i;
	/* Decimals such as 3600.05 carry an error of their own into every sum, which must not tell equal
	 * splits apart; yet never more than a share of the finest step in the data. */
	double noise =
		fmin(4 * DBL_EPSILON * largest * (double)n, 0.25 * finest_step(z, n) / (double)n);
	double slack = fmax(ROUNDING * absolute, noise);
	double seen = fabs(group_sum(z, idx, nb)) - slack;
	uint64_t splits = choose(n, nb, KAB_PERMUTE_EXACT_MAX);

	*ret = (struct kab_permutation){ 0, 0, 0, (nb == nt ? 2 : 1) / all, false };
	if (splits != UINT64_MAX) {
		ret->exact = true;
		do {
			ret->count += fabs(group_sum(z, idx, nb)) >= seen;
			ret->total++;
		} while (next_subset(idx, nb, n));
		ret->p = (double)ret->count / (double)ret->total;
	} else {
		struct kab_rng rng;

		kab_rng_seed(&rng, seed);
		ret->total = draws ? draws : DEFAULT_DRAWS;
		for (uint64_t t = 0; t < ret->total; t++) {
			/* only the first nb places of the shuffle are needed */
			double s = 0;

			for (size_t i = 0; i < nb; i++) {
				size_t j = i + kab_rng_below(&rng, n - i);
				double v = z[j];

				z[j] = z[i];
				z[i] = v;
				s += v;
			}
			ret->count += fabs(s) >= seen;
		}
		ret->p = (double)(ret->count + 1) / (double)(ret->total + 1);
		ret->p_floor = fmax(ret->p_floor, 1.0 / (double)(ret->total + 1));
	}
	free(idx);
	free(z);
	return 0;
}

int kab_permute_signs(const double *d, size_t n, uint64_t draws, uint64_t seed,
		      struct kab_permutation *ret)
{
	double absolute = 0, sum = 0;

	if (n == 0)
		return bad(ret);
	for (size_t i = 0; i < n; i++) {
		absolute += fabs(d[i]);
		sum += d[i];
	}
	double seen = fabs(sum) - ROUNDING * absolute;

	*ret = (struct kab_permutation){ 0, 0, 0, ldexp(1, 1 - (int)(n < 1000 ? n : 1000)), false };
	if (n <= 17) { /* 2^17 <= KAB_PERMUTE_EXACT_MAX */
		/* every sum is one of the lower half of the signs and one of the upper */
		size_t n_low = n / 2, lows = (size_t)1 << n_low, highs = (size_t)1 << (n - n_low);
		double *low = kab_xcalloc(lows + highs, sizeof(*low)), *high = low + lows;

		for (size_t m = 0; m < highs; m++)
			for (size_t i = 0; i < n - n_low; i++)
				high[m] += (m >> i) & 1 ? -d[n_low + i] : d[n_low + i];
		for (size_t m = 0; m < lows; m++)
			for (size_t i = 0; i < n_low; i++)
				low[m] += (m >> i) & 1 ? -d[i] : d[i];
		for (size_t h = 0; h < highs; h++)
			for (size_t l = 0; l < lows; l++)
				ret->count += fabs(high[h] + low[l]) >= seen;
		free(low);
		ret->exact = true;
		ret->total = UINT64_C(1) << n;
		ret->p = (double)ret->count / (double)ret->total;
		return 0;
	}
	struct kab_rng rng;

	kab_rng_seed(&rng, seed);
	ret->total = draws ? draws : DEFAULT_DRAWS;
	for (uint64_t t = 0; t < ret->total; t++) {
		double s = 0;
		uint64_t bits = 0;

		for (size_t i = 0; i < n; i++) {
			if (i % 64 == 0)
				bits = kab_rng_u64(&rng);
			s += (bits >> (i % 64)) & 1 ? -d[i] : d[i];
		}
		ret->count += fabs(s) >= seen;
	}
	ret->p = (double)(ret->count + 1) / (double)(ret->total + 1);
	ret->p_floor = fmax(ret->p_floor, 1.0 / (double)(ret->total + 1));
	return 0;
}
