/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block "single": descriptive statistics, quantiles and the NIST sets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "golden.h"
#include "stats/describe.h"
#include "stats/quantile.h"
#include "stats/sort.h"

/* The smallest numbers have no relative precision: four units in the last place of a subnormal. */
#define SUBNORMAL 2e-323

struct sample {
	double *x, *sorted;
	size_t n;
	struct kab_summary s;
};

static void quantiles(struct golden *g, const json_t *want, const struct sample *s, int type,
		      double rel, double abs_tol, const char *who)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)want, key, v) {
		char what[64];
		double q;

		snprintf(what, sizeof(what), "%s quantile %s type %d", who, key, type);
		kab_quantile_sorted(s->sorted, s->n, type, (unsigned)strtoul(key, NULL, 10), 100,
				    &q);
		golden_check(g, v, q, rel, abs_tol, what);
	}
}

static void exact(struct golden *g, const json_t *e, const struct sample *s)
{
	const struct kab_summary *r = &s->s;
	const char *key;
	json_t *v;
	double scale = fmax(fabs(r->min), fabs(r->max));

	json_object_foreach ((json_t *)e, key, v) {
		if (!strcmp(key, "mean"))
			golden_check(g, v, r->mean, 1e-15, SUBNORMAL, key);
		else if (!strcmp(key, "min"))
			golden_check(g, v, r->min, 0, 0, key);
		else if (!strcmp(key, "max"))
			golden_check(g, v, r->max, 0, 0, key);
		else if (!strcmp(key, "sum") && json_is_null(v))
			/* beyond the range of doubles: ours says so with an infinity */
			golden_check(g, v, isinf(r->sum) ? NAN : r->sum, 0, 0, key);
		else if (!strcmp(key, "sum"))
			golden_check(g, v, r->sum, 1e-15, SUBNORMAL, key);
		else if (!strcmp(key, "sd"))
			golden_check(g, v, r->sd, 1e-14, SUBNORMAL, key);
		else if (!strcmp(key, "sd_pop"))
			golden_check(g, v, r->sd_pop, 1e-14, SUBNORMAL, key);
		else if (!strcmp(key, "sem"))
			golden_check(g, v, r->sem, 1e-14, SUBNORMAL, key);
		else if (!strcmp(key, "cv_pct") && r->min < 0 && r->max > 0) {
			/* the file holds s/m; with mixed signs we refuse to print one */
			g->checked++;
			if (!isnan(r->cv_pct))
				golden_fail(g, "cv_pct of mixed signs must be undefined");
		} else if (!strcmp(key, "cv_pct"))
			golden_check(g, v, r->cv_pct, 1e-13, 0, key);
		else if (!strcmp(key, "mean_ci95_t"))
			/* the file's t quantile is good to 1e-10; ours is 0.95 sqrt(2/0.0975) at 2 df */
			golden_check_interval(g, v, r->ci95.lo, r->ci95.hi, 1e-10,
					      1e-9 * r->sem + SUBNORMAL, key);
		else if (!strcmp(key, "median"))
			golden_check(g, v, r->median, 1e-14, SUBNORMAL, key);
		else if (!strcmp(key, "mad_raw"))
			golden_check(g, v, r->mad_raw, 1e-14, 2.3e-16 * scale, key);
		else if (!strcmp(key, "mad_scaled_1.4826"))
			golden_check(g, v, r->mad, 1e-14, 4e-16 * scale, key);
		else if (!strcmp(key, "quantile7"))
			quantiles(g, v, s, 7, 1e-14, SUBNORMAL, "exact");
		else
			golden_fail(g, "%s: no test for this key", key);
	}
}

/* Records of another tool. Where that tool failed, ours must not agree with it. */
static void other_tool(struct golden *g, const json_t *t, const struct sample *s, const char *who)
{
	const struct kab_summary *r = &s->s;
	double abs_tol = 1e-14 * fmax(fabs(r->min), fabs(r->max));
	double got[2] = { r->mean, r->sd };
	static const char *const keys[2] = { "mean", "sd" };

	for (int k = 0; k < 2; k++) {
		json_t *v = json_object_get(t, keys[k]);
		bool infinite = json_is_string(v) && isfinite(got[k]);
		bool underflow = json_is_real(v) && json_real_value(v) == 0 && got[k] > 0;

		if (infinite || underflow) {
			g->checked++;
			g->foreign++;
		} else {
			golden_check(g, v, got[k], 1e-12, abs_tol, keys[k]);
		}
	}
	quantiles(g, json_object_get(t, "quantile7"), s, 7, 1e-12, abs_tol, who);
}

/* Digits in common with a certified decimal, at most 15. */
static double lre(double got, const char *certified)
{
	long double c = strtold(certified, NULL), e = fabsl((long double)got - c);

	if (c != 0)
		e /= fabsl(c);
	return e == 0 ? 15 : fmin(15, (double)-log10l(e));
}

static void nist(struct golden *g, const json_t *block, const char *name, const struct sample *s)
{
	const json_t *c = json_object_get(block, "nist_certified");
	const json_t *best = json_object_get(block, "lre_best_possible_from_doubles");
	double mean = lre(s->s.mean, json_string_value(json_object_get(c, "mean")));
	double sd = lre(s->s.sd, json_string_value(json_object_get(c, "sd")));
	double lag_num = 0, lag_den = 0;

	for (size_t i = 0; i < s->n; i++) {
		double d = s->x[i] - s->s.mean;

		lag_den += d * d;
		if (i > 0)
			lag_num += d * (s->x[i - 1] - s->s.mean);
	}
	printf("golden: %-14s digits: mean %4.1f, sd %4.1f\n", name, mean, sd);
	g->checked += 2;
	if (mean < json_number_value(json_object_get(best, "mean")) - 0.15)
		golden_fail(g, "mean has %.2f digits", mean);
	if (sd < json_number_value(json_object_get(best, "sd")) - 0.3 ||
	    (strstr(name, "NumAcc2") && sd < 14))
		golden_fail(g, "sd has %.2f digits", sd);
	/* proves that the data are those that were certified, in their order */
	golden_check(g, json_object_get(c, "lag1"), lag_num / lag_den, 1e-7, 0, "lag1");
	g->checked += 2; /* the two ceilings, used above */
}

static bool load(const json_t *block, struct sample *s)
{
	const json_t *values = json_object_get(block, "values");
	const char *digits = json_string_value(json_object_get(block, "digits_string"));

	if (json_is_array(values)) {
		s->x = golden_array(values, &s->n);
	} else if (digits) {
		s->n = strlen(digits);
		s->x = kab_xcalloc(s->n, sizeof(*s->x));
		for (size_t i = 0; i < s->n; i++)
			s->x[i] = digits[i] - '0';
	} else {
		return false;
	}
	s->sorted = kab_sorted_copy(s->x, s->n);
	return true;
}

void golden_single(struct golden *g, const json_t *single)
{
	static const char *const skip[] = { "values", "n", "note", "level", "digits_string", NULL };
	const char *name, *type;
	json_t *block, *v;

	json_object_foreach ((json_t *)single, name, block) {
		struct sample s;
		size_t before = g->checked;

		snprintf(g->where, sizeof(g->where), "single.%s", name);
		if (!load(block, &s)) {
			golden_fail(g, "no values");
			continue;
		}
		kab_describe(s.x, s.n, 0.95, &s.s);
		if (s.n != (size_t)json_integer_value(json_object_get(block, "n")))
			golden_fail(g, "n");
		exact(g, json_object_get(block, "exact"), &s);
		json_object_foreach (json_object_get(block, "quantile_other_types"), type, v)
			quantiles(g, v, &s, (int)strtol(type, NULL, 10), 1e-14, SUBNORMAL, "exact");
		other_tool(g, json_object_get(block, "R"), &s, "R");
		other_tool(g, json_object_get(block, "numpy"), &s, "numpy");
		if (json_object_get(block, "nist_certified"))
			nist(g, block, name, &s);
		if (g->checked - before != golden_leaves(block, skip))
			golden_fail(g, "%zu of %zu values compared", g->checked - before,
				    golden_leaves(block, skip));
		free(s.x);
		free(s.sorted);
	}
}
