/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xoshiro256** (Blackman & Vigna, 2018), seeded through splitmix64; public-domain algorithms.
 * The stream is fixed by the seed on every platform: plans and resampling are reproduced from it.
 * Not for secrets. A struct per thread; no locks.
 */
#ifndef KAB_BASE_RNG_H
#define KAB_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct kab_rng {
	uint64_t s[4];
};

void kab_rng_seed(struct kab_rng *rng, uint64_t seed);
uint64_t kab_rng_u64(struct kab_rng *rng);
/* Uniform in [0, n), n > 0, by multiply-shift with rejection (unbiased). */
uint64_t kab_rng_below(struct kab_rng *rng, uint64_t n);
/* Uniform in [0, 1), 53 bits. */
double kab_rng_uniform(struct kab_rng *rng);
/* Standard normal (polar method). */
double kab_rng_normal(struct kab_rng *rng);
/* Fisher-Yates over indices: idx[0..n) is permuted in place. */
void kab_rng_shuffle(struct kab_rng *rng, size_t *idx, size_t n);
/* A stream of its own for (seed, label): FNV-1a of the label is mixed into the seed. */
void kab_rng_seed_label(struct kab_rng *rng, uint64_t seed, const char *label);

#endif
