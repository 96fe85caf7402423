/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decision rules of other tools, written from their documented rule, on the same data as ours.
 * All of them see the iterations of all boots as one sample, because that is what these tools are
 * given; kab sees the boot means.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibration.h"
#include "stats/describe.h"
#include "stats/dist.h"
#include "stats/sort.h"
#include "stats/verdict.h"

struct sides {
	double *a, *b; /* iterations */
	size_t n; /* per side */
	const struct design *d;
};

static bool pooled_student(const struct sides *s)
{
	struct kab_moments a = kab_moments_of(s->a, s->n), b = kab_moments_of(s->b, s->n);
	struct kab_welch w;

	kab_student_moments(&a, &b, 0.95, &w);
	return w.test.p < 0.05;
}

static bool pooled_rank(const struct sides *s)
{
	struct kab_mann_whitney r;

	kab_mann_whitney(s->a, s->n, s->b, s->n, &r);
	return r.p < 0.05;
}

/* Intervals of 1.96 standard deviations (not standard errors) that do not overlap. */
static bool sd_intervals(const struct sides *s)
{
	struct kab_moments a = kab_moments_of(s->a, s->n), b = kab_moments_of(s->b, s->n);

	return fabs(b.mean - a.mean) > 1.959964 * (a.sd + b.sd);
}

/* The smallest value of one side above the median of the other, whose largest is below ours. */
static bool ranges(const struct sides *s)
{
	double *a = kab_sorted_copy(s->a, s->n), *b = kab_sorted_copy(s->b, s->n);
	double ma = a[s->n / 2], mb = b[s->n / 2];
	bool up = b[0] > ma && mb > a[s->n - 1], down = a[0] > mb && ma > b[s->n - 1];

	free(a);
	free(b);
	return up || down;
}

/* 95 % intervals of the two means over all iterations that do not overlap. */
static bool mean_intervals(const struct sides *s)
{
	struct kab_moments a = kab_moments_of(s->a, s->n), b = kab_moments_of(s->b, s->n);
	double q = kab_t_quantile(0.95, (double)(s->n - 1)) / sqrt((double)s->n);

	return s->n > 1 && fabs(b.mean - a.mean) > q * (a.sd + b.sd);
}

static bool ours(const struct sides *s)
{
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	struct kab_comparison r;
	double a[32], b[32];
	size_t k = s->d->boots, n = s->d->iterations;

	o.dir = -1;
	o.margin = 0;
	for (size_t i = 0; i < k; i++) {
		a[i] = kab_mean(s->a + i * n, n);
		b[i] = kab_mean(s->b + i * n, n);
	}
	kab_compare(a, k, b, k, &o, &r);
	return r.verdict == KAB_VERDICT_IMPROVED || r.verdict == KAB_VERDICT_REGRESSED;
}

static const struct design cells[] = {
	{ D_NORMAL, 5, 10, 0, 100, 1 },	  { D_NORMAL, 5, 10, 0.25, 100, 1 },
	{ D_NORMAL, 5, 10, 0.5, 100, 1 }, { D_NORMAL, 5, 10, 1, 100, 1 },
	{ D_NORMAL, 5, 10, 2, 100, 1 },	  { D_NORMAL, 3, 10, 1, 100, 1 },
	{ D_NORMAL, 10, 10, 1, 100, 1 },  { D_NORMAL, 5, 30, 1, 100, 1 },
	{ D_BIMODAL, 5, 10, 1, 100, 1 },  { D_LOGNORMAL, 10, 10, 1, 100, 1 },
};
static const double factors[] = { 1, 1.02 };

void compare_rivals(struct calibration *c)
{
	static const struct {
		const char *name;
		bool (*flags)(const struct sides *);
	} rules[] = {
		{ "pooled t (ministat, pyperf)", pooled_student },
		{ "pooled U (benchstat)", pooled_rank },
		{ "1.96 sd intervals (mmtests)", sd_intervals },
		{ "ranges (lkp-tests)", ranges },
		{ "disjoint 95 % CI, pooled (Fastpath)", mean_intervals },
		{ "kab", ours },
	};

	printf("| boots x iterations, sd ratio |");
	for (size_t r = 0; r < KAB_ARRAY_SIZE(rules); r++)
		printf(" %s |", rules[r].name);
	printf("\n|---|");
	for (size_t r = 0; r < KAB_ARRAY_SIZE(rules); r++)
		printf("---|");
	printf("\n");
	for (size_t k = 0; k < KAB_ARRAY_SIZE(cells); k++) {
		double seen[2][KAB_ARRAY_SIZE(rules)] = { { 0 } };
		struct sides s = { .d = &cells[k], .n = cells[k].boots * cells[k].iterations };

		s.a = kab_xcalloc(s.n, sizeof(*s.a));
		s.b = kab_xcalloc(s.n, sizeof(*s.b));
		for (int e = 0; e < 2; e++) {
			for (size_t t = 0; t < c->trials; t++) {
				draw_iterations(&c->rng, s.d, 1, s.a);
				draw_iterations(&c->rng, s.d, factors[e], s.b);
				for (size_t r = 0; r < KAB_ARRAY_SIZE(rules); r++)
					seen[e][r] += rules[r].flags(&s);
			}
		}
		printf("| %zu x %zu, %g%s%s |", s.d->boots, s.d->iterations, s.d->ratio,
		       s.d->dist == D_NORMAL ? "" : ", ",
		       s.d->dist == D_NORMAL ? "" : dist_names[s.d->dist]);
		for (size_t r = 0; r < KAB_ARRAY_SIZE(rules); r++)
			printf(" %.1f / %.0f |", 100 * seen[0][r] / (double)c->trials,
			       100 * seen[1][r] / (double)c->trials);
		printf("\n");
		free(s.a);
		free(s.b);
	}
}

static void print_values(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s%.17g", i ? " " : "", x[i]);
	printf("\n");
}

void dump_rivals(struct calibration *c)
{
	for (size_t k = 0; k < KAB_ARRAY_SIZE(cells); k++) {
		struct sides s = { .d = &cells[k], .n = cells[k].boots * cells[k].iterations };

		s.a = kab_xcalloc(s.n, sizeof(*s.a));
		s.b = kab_xcalloc(s.n, sizeof(*s.b));
		for (int e = 0; e < 2; e++) {
			for (size_t t = 0; t < c->trials; t++) {
				draw_iterations(&c->rng, s.d, 1, s.a);
				draw_iterations(&c->rng, s.d, factors[e], s.b);
				printf("%zu %zu %g %s %g %d\n", s.d->boots, s.d->iterations,
				       s.d->ratio, dist_names[s.d->dist], factors[e], ours(&s));
				print_values(s.a, s.n);
				print_values(s.b, s.n);
			}
		}
		free(s.a);
		free(s.b);
	}
}
