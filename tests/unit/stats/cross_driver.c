/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Computes everything for pairs of samples, for comparison with other programs: a JSON array of
 * [[a...], [b...]] on stdin, one JSON object per pair on stdout. Undefined numbers are null.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/alloc.h"
#include "stats/describe.h"
#include "stats/quantile.h"
#include "stats/rank.h"
#include "stats/sort.h"
#include "stats/verdict.h"
#include "stats/welch.h"

static json_t *num(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *interval(struct kab_interval i)
{
	return json_pack("[oo]", num(i.lo), num(i.hi));
}

static double *read_array(const json_t *v, size_t *n)
{
	double *x;
	size_t i;
	json_t *item;

	*n = json_array_size(v);
	x = kab_xcalloc(*n + 1, sizeof(*x));
	json_array_foreach (v, i, item)
		x[i] = json_number_value(item);
	return x;
}

static json_t *describe(const double *x, size_t n)
{
	static const int types[] = { 1, 6, 7, 8 };
	static const unsigned pct[] = { 1, 5, 25, 50, 75, 90, 95, 99 };
	double *s = kab_sorted_copy(x, n);
	struct kab_summary d;
	json_t *q = json_object();

	kab_describe(x, n, 0.95, &d);
	for (size_t t = 0; t < 4; t++) {
		json_t *list = json_array();
		char key[16];

		for (size_t k = 0; k < 8; k++) {
			double v;

			kab_quantile_sorted(s, n, types[t], pct[k], 100, &v);
			json_array_append_new(list, num(v));
		}
		snprintf(key, sizeof(key), "%d", types[t]);
		json_object_set_new(q, key, list);
	}
	free(s);
	return json_pack("{so so so so so so}", "mean", num(d.mean), "sd", num(d.sd), "mad",
			 num(d.mad_raw), "ci95", interval(d.ci95), "median", num(d.median),
			 "quantiles", q);
}

static json_t *compare(const double *a, size_t na, const double *b, size_t nb)
{
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	struct kab_comparison c;
	struct kab_ratio g, f;
	struct kab_moments ma = kab_moments_of(a, na), mb = kab_moments_of(b, nb);
	json_t *v = json_object();

	o.dir = -1;
	kab_compare(a, na, b, nb, &o, &c);
	kab_ratio_geometric(a, na, b, nb, 0.95, &g);
	kab_ratio_fieller(&ma, &mb, 0.95, &f);
	json_object_set_new(v, "a", describe(a, na));
	json_object_set_new(v, "b", describe(b, nb));
	json_object_set_new(v, "t", num(c.welch.test.t));
	json_object_set_new(v, "df", num(c.welch.test.df));
	json_object_set_new(v, "p", num(c.welch.test.p));
	json_object_set_new(v, "ci", interval(c.welch.ci));
	json_object_set_new(v, "log_t", num(c.log_delta.t));
	json_object_set_new(v, "log_df", num(c.log_delta.df));
	json_object_set_new(v, "log_p", num(c.log_delta.p));
	json_object_set_new(v, "log_ci", interval(c.log_delta_ci95));
	json_object_set_new(v, "fieller_ci", interval(f.ci));
	json_object_set_new(v, "geo_p", num(g.test.p));
	json_object_set_new(v, "geo_ratio", num(g.ratio));
	json_object_set_new(v, "u", num(c.mann_whitney.u));
	json_object_set_new(v, "u_p", num(c.mann_whitney.p));
	json_object_set_new(v, "u_exact", json_boolean(c.mann_whitney.exact));
	json_object_set_new(v, "u_p_normal", num(c.mann_whitney.p_normal));
	json_object_set_new(v, "shift", num(c.hodges_lehmann.shift));
	json_object_set_new(v, "shift_ci", interval(c.hodges_lehmann.ci));
	return v;
}

int main(void)
{
	json_error_t e;
	json_t *all = json_loadf(stdin, 0, &e), *pair, *out = json_array();
	size_t i;

	if (!all) {
		fprintf(stderr, "cross_driver: %s\n", e.text);
		return 2;
	}
	kab_stats_init();
	json_array_foreach (all, i, pair) {
		size_t na, nb;
		double *a = read_array(json_array_get(pair, 0), &na);
		double *b = read_array(json_array_get(pair, 1), &nb);

		json_array_append_new(out, compare(a, na, b, nb));
		free(a);
		free(b);
	}
	json_dumpf(out, stdout, JSON_REAL_PRECISION(17) | JSON_COMPACT);
	json_decref(all);
	json_decref(out);
	return 0;
}
