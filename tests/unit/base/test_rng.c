/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Against tests/data/base/rng.txt, made by another program (rng.py beside it). */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"

static void reference_streams(void **state)
{
	FILE *f = fopen(KAB_SOURCE_DIR "/tests/data/base/rng.txt", "re");
	char line[1024];
	size_t lines = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *save, *word = strtok_r(line, " \n", &save);
		uint64_t seed = strtoull(word, NULL, 10), n;
		struct kab_rng rng;
		char *label = strtok_r(NULL, " \n", &save);

		n = strtoull(strtok_r(NULL, " \n", &save), NULL, 10);
		for (char *p = label; *p; p++)
			if (*p == '_')
				*p = ' ';
		if (!strcmp(label, "-"))
			kab_rng_seed(&rng, seed);
		else
			kab_rng_seed_label(&rng, seed, strcmp(label, "''") ? label : "");
		while ((word = strtok_r(NULL, " \n", &save)))
			assert_int_equal(n ? kab_rng_below(&rng, n) : kab_rng_u64(&rng),
					 strtoull(word, NULL, 10));
		lines++;
	}
	fclose(f);
	assert_int_equal(lines, 11);
}

/* 2^64 = 2 * 3 * 2^61 - 2^62 ...: with plain multiply-shift a third of the numbers would come twice
 * as often. Chi-square over the thirds, 2 degrees of freedom: 13.8 is p = 0.001. */
static void below_is_unbiased(void **state)
{
	const uint64_t n = UINT64_C(3) << 62;
	uint64_t count[3] = { 0 };
	struct kab_rng rng;
	double chi = 0;

	(void)state;
	kab_rng_seed(&rng, 42);
	for (int i = 0; i < 60000; i++) {
		uint64_t x = kab_rng_below(&rng, n);

		assert_true(x < n);
		count[x >> 62]++;
	}
	for (int i = 0; i < 3; i++)
		chi += ((double)count[i] - 20000) * ((double)count[i] - 20000) / 20000;
	assert_true(chi < 13.8);
	/* Odd and even as well: that is where the bias of a too wide range shows. */
	count[0] = count[1] = 0;
	for (int i = 0; i < 60000; i++)
		count[kab_rng_below(&rng, n) % 3 == 0]++;
	assert_true(fabs((double)count[1] - 20000) < 3.3 * sqrt(60000.0 / 3 * 2 / 3));
}

static void edges(void **state)
{
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 5);
	for (int i = 0; i < 100; i++)
		assert_int_equal(kab_rng_below(&rng, 1), 0);
	for (int i = 0; i < 10000; i++) {
		double u = kab_rng_uniform(&rng);

		assert_true(u >= 0 && u < 1);
	}
}

static void normal_has_its_moments(void **state)
{
	const int n = 200000;
	struct kab_rng rng;
	double sum = 0, squares = 0, fourth = 0;

	(void)state;
	kab_rng_seed(&rng, 11);
	for (int i = 0; i < n; i++) {
		double x = kab_rng_normal(&rng);

		sum += x;
		squares += x * x;
		fourth += x * x * x * x;
	}
	/* Four standard errors: 1, sqrt(2) and sqrt(96) over sqrt(n). */
	assert_true(fabs(sum / n) < 4 / sqrt(n));
	assert_true(fabs(squares / n - 1) < 4 * sqrt(2.0 / n));
	assert_true(fabs(fourth / n - 3) < 4 * sqrt(96.0 / n));
}

static void shuffle_is_uniform(void **state)
{
	size_t count[24] = { 0 };
	struct kab_rng rng;
	double chi = 0;

	(void)state;
	kab_rng_seed(&rng, 3);
	for (int i = 0; i < 24000; i++) {
		size_t v[4] = { 0, 1, 2, 3 }, rank = 0, seen = 0;

		kab_rng_shuffle(&rng, v, 4);
		for (size_t k = 0; k < 4; k++) {
			size_t smaller = 0;

			assert_true(v[k] < 4 && !(seen & (1u << v[k])));
			seen |= (size_t)1 << v[k];
			for (size_t j = k + 1; j < 4; j++)
				smaller += v[j] < v[k];
			rank = rank * (4 - k) + smaller;
		}
		count[rank]++;
	}
	for (size_t i = 0; i < 24; i++)
		chi += ((double)count[i] - 1000) * ((double)count[i] - 1000) / 1000;
	/* 23 degrees of freedom, p = 0.001. */
	assert_true(chi < 49.7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference_streams),
		cmocka_unit_test(below_is_unbiased),
		cmocka_unit_test(edges),
		cmocka_unit_test(normal_has_its_moments),
		cmocka_unit_test(shuffle_is_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
