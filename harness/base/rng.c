/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = (*x += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

void kab_rng_seed(struct kab_rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		rng->s[i] = splitmix(&seed);
}

void kab_rng_seed_label(struct kab_rng *rng, uint64_t seed, const char *label)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *label; label++)
		h = (h ^ (unsigned char)*label) * 0x100000001b3u;
	kab_rng_seed(rng, seed ^ h);
}

uint64_t kab_rng_u64(struct kab_rng *rng)
{
	uint64_t *s = rng->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t kab_rng_below(struct kab_rng *rng, uint64_t n)
{
	unsigned __int128 m = (unsigned __int128)kab_rng_u64(rng) * n;
	uint64_t low = (uint64_t)m;

	if (low < n) {
		uint64_t floor = -n % n;

		while (low < floor) {
			m = (unsigned __int128)kab_rng_u64(rng) * n;
			low = (uint64_t)m;
		}
	}
	return (uint64_t)(m >> 64);
}

double kab_rng_uniform(struct kab_rng *rng)
{
	return (double)(kab_rng_u64(rng) >> 11) * 0x1.0p-53;
}

double kab_rng_normal(struct kab_rng *rng)
{
	double u, v, s;

	do {
		u = 2 * kab_rng_uniform(rng) - 1;
		v = 2 * kab_rng_uniform(rng) - 1;
		s = u * u + v * v;
	} while (s >= 1 || s == 0);
	return u * sqrt(-2 * log(s) / s);
}

void kab_rng_shuffle(struct kab_rng *rng, size_t *idx, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)kab_rng_below(rng, i), t = idx[i - 1];

		idx[i - 1] = idx[j];
		idx[j] = t;
	}
}
