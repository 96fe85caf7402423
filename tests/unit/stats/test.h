/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the statistics tests share. */
#ifndef KAB_TESTS_STATS_TEST_H
#define KAB_TESTS_STATS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/stats.h"
#include "stats/verdict.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

#define assert_near(got, want, rel)                                               \
	do {                                                                      \
		double got_ = (got), want_ = (want);                              \
		if (!(fabs(got_ - want_) <= (rel)*fabs(want_) + 1e-300))          \
			fail_msg("%s: want %.17g, got %.17g", #got, want_, got_); \
	} while (0)

/* A comparison with the defaults: lower is better, S = 2 %. */
static inline struct kab_comparison compare(const double *a, size_t na, const double *b, size_t nb,
					    int dir)
{
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	struct kab_comparison c;

	o.dir = dir;
	o.unit = KAB_UNIT_VALUES;
	kab_compare(a, na, b, nb, &o, &c);
	return c;
}

#endif
