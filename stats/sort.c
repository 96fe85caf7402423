/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/sort.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

#define INSERTION_MAX 48
#define DIGIT_BITS 11
#define DIGITS 6 /* 6 * 11 >= 64 */
#define BUCKETS (1u << DIGIT_BITS)

static void insertion(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double v = x[i];
		size_t j = i;

		for (; j > 0 && x[j - 1] > v; j--)
			x[j] = x[j - 1];
		x[j] = v;
	}
}

static void merge_sort(double *x, double *tmp, size_t n)
{
	if (n <= INSERTION_MAX) {
		insertion(x, n);
		return;
	}
	size_t half = n / 2, i = 0, j = half, k = 0;

	merge_sort(x, tmp, half);
	merge_sort(x + half, tmp, n - half);
	memcpy(tmp, x, half * sizeof(*x));
	while (i < half && j < n)
		x[k++] = x[j] < tmp[i] ? x[j++] : tmp[i++];
	memcpy(x + k, tmp + i, (half - i) * sizeof(*x));
}

/* The bits of a double, remapped so that unsigned order is the order of the numbers. */
static uint64_t key_of(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof(u));
	return u ^ ((u >> 63) ? UINT64_MAX : UINT64_C(1) << 63);
}

static double value_of(uint64_t k)
{
	uint64_t u = k ^ ((k >> 63) ? UINT64_C(1) << 63 : UINT64_MAX);
	double d;

	memcpy(&d, &u, sizeof(d));
	return d;
}

static void radix(double *x, size_t n)
{
	uint64_t *from = kab_xreallocarray(NULL, n, sizeof(*from));
	uint64_t *to = kab_xreallocarray(NULL, n, sizeof(*to));
	size_t(*count)[BUCKETS] = kab_xcalloc(DIGITS, sizeof(*count));

	for (size_t i = 0; i < n; i++) {
		uint64_t k = key_of(x[i]);

		from[i] = k;
		for (int d = 0; d < DIGITS; d++)
			count[d][(k >> (d * DIGIT_BITS)) & (BUCKETS - 1)]++;
	}
	for (int d = 0; d < DIGITS; d++) {
		int shift = d * DIGIT_BITS;
		size_t at = 0;

		/* Samples share most leading bits: a digit that never differs needs no pass. */
		if (count[d][(from[0] >> shift) & (BUCKETS - 1)] == n)
			continue;
		for (size_t b = 0; b < BUCKETS; b++) {
			size_t c = count[d][b];

			count[d][b] = at;
			at += c;
		}
		for (size_t i = 0; i < n; i++)
			to[count[d][(from[i] >> shift) & (BUCKETS - 1)]++] = from[i];
		uint64_t *swap = from;

		from = to;
		to = swap;
	}
	for (size_t i = 0; i < n; i++)
		x[i] = value_of(from[i]);
	free(count);
	free(from);
	free(to);
}

void kab_sort(double *x, size_t n)
{
	if (n <= INSERTION_MAX) {
		insertion(x, n);
	} else if (n < 4096) {
		double *tmp = kab_xreallocarray(NULL, n / 2, sizeof(*tmp));

		merge_sort(x, tmp, n);
		free(tmp);
	} else {
		radix(x, n);
	}
}

double *kab_sorted_copy(const double *x, size_t n)
{
	double *s = kab_xreallocarray(NULL, n ? n : 1, sizeof(*s));

	if (n)
		memcpy(s, x, n * sizeof(*s));
	kab_sort(s, n);
	return s;
}

static void merge_index(const double *x, size_t *idx, size_t *tmp, size_t n)
{
	if (n < 2)
		return;
	size_t half = n / 2, i = 0, j = half, k = 0;

	merge_index(x, idx, tmp, half);
	merge_index(x, idx + half, tmp, n - half);
	memcpy(tmp, idx, half * sizeof(*idx));
	while (i < half && j < n)
		idx[k++] = x[idx[j]] < x[tmp[i]] ? idx[j++] : tmp[i++];
	memcpy(idx + k, tmp + i, (half - i) * sizeof(*idx));
}

void kab_sort_index(const double *x, size_t n, size_t *idx)
{
	size_t *tmp = kab_xreallocarray(NULL, n / 2 + 1, sizeof(*tmp));

	for (size_t i = 0; i < n; i++)
		idx[i] = i;
	merge_index(x, idx, tmp, n);
	free(tmp);
}
