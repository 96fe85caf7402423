/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks "multiplicity", "hierarchical", "group_sequential" and "change_point". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "golden.h"
#include "stats/change.h"
#include "stats/describe.h"
#include "stats/hierarchy.h"
#include "stats/multiple.h"
#include "stats/rank.h"
#include "stats/sequential.h"
#include "stats/welch.h"

static const json_t *at(const json_t *v, const char *key)
{
	return json_object_get(v, key);
}

static void account(struct golden *g, const json_t *block, const char *const *skip, size_t before)
{
	if (g->checked - before != golden_leaves(block, skip))
		golden_fail(g, "%zu of %zu values compared", g->checked - before,
			    golden_leaves(block, skip));
}

void golden_multiplicity(struct golden *g, const json_t *all)
{
	static const struct {
		const char *key;
		enum kab_adjust method;
	} methods[] = {
		{ "holm", KAB_ADJUST_HOLM },
		{ "hochberg", KAB_ADJUST_HOCHBERG },
		{ "BH", KAB_ADJUST_BH },
		{ "BY", KAB_ADJUST_BY },
		{ "bonferroni", KAB_ADJUST_BONFERRONI },
	};
	static const char *const skip[] = { "p", "tool", NULL };
	const char *name;
	json_t *block;

	json_object_foreach ((json_t *)all, name, block) {
		size_t before = g->checked, n;
		json_t *pj = json_object_get(block, "p");

		snprintf(g->where, sizeof(g->where), "multiplicity.%s", name);
		n = json_array_size(pj);
		double *p = kab_xcalloc(n, sizeof(*p)), *out = kab_xcalloc(n, sizeof(*out));

		for (size_t i = 0; i < n; i++) {
			json_t *v = json_array_get(pj, i);

			p[i] = json_is_number(v) ? json_number_value(v) : NAN;
		}
		for (size_t m = 0; m < KAB_ARRAY_SIZE(methods); m++) {
			kab_adjust_p(methods[m].method, p, n, out);
			for (size_t i = 0; i < n; i++)
				golden_check(g, json_array_get(at(block, methods[m].key), i),
					     out[i], 1e-14, 0, methods[m].key);
		}
		account(g, block, skip, before);
		free(p);
		free(out);
	}
}

static void components(struct golden *g, const json_t *v, const double *x, const size_t *dims,
		       size_t levels)
{
	struct kab_hierarchy h;
	char key[24];

	kab_hierarchy(x, dims, levels, 0.95, &h);
	golden_check(g, at(v, "mean"), h.mean, 1e-14, 0, "mean");
	for (size_t l = 0; l < levels; l++) {
		snprintf(key, sizeof(key), "%zu", l + 1);
		golden_check(g, at(at(v, "S2"), key), h.s2[l], 1e-11, 0, "S2");
		golden_check(g, at(at(v, "T2"), key), h.t2[l], 1e-11, 0, "T2");
	}
	golden_check_interval(g, at(v, "mean_ci95"), h.ci.lo, h.ci.hi, 1e-11, 0, "mean ci");
	golden_check(g, at(v, "half_width"), h.half_width, 1e-10, 0, "half width");
}

static void one_side(struct golden *g, const json_t *v, const double *x, double *means,
		     struct kab_two_level *ret)
{
	static const size_t dims[2] = { 5, 10 }, sizes[5] = { 10, 10, 10, 10, 10 };
	const json_t *a = at(v, "anova"), *o = at(v, "optimal_iterations_per_boot_for_costs");

	components(g, v, x, dims, 2);
	for (size_t b = 0; b < 5; b++) {
		means[b] = kab_mean(x + 10 * b, 10);
		golden_check(g, json_array_get(at(v, "boot_means"), b), means[b], 1e-15, 0,
			     "boot mean");
	}
	kab_two_level(x, sizes, 5, ret);
	golden_check(g, at(a, "ms_between"), ret->ms_between, 1e-11, 0, "ms between");
	golden_check(g, at(a, "ms_within"), ret->ms_within, 1e-11, 0, "ms within");
	golden_check(g, at(a, "F"), ret->f, 1e-10, 0, "F");
	golden_check(g, at(a, "p"), ret->p, 1e-9, 0, "p of F");
	golden_check(g, at(v, "icc_truncated_at_0"), ret->icc, 1e-10, 0, "icc");
	golden_check(g, at(v, "design_effect"), ret->design_effect, 1e-10, 0, "design effect");
	double boot_cost = json_number_value(at(o, "boot_cost_s"));
	double iteration_cost = json_number_value(at(o, "iteration_cost_s"));

	golden_check(g, at(o, "r1"),
		     kab_optimal_iterations(ret->var_boot, ret->var_iteration, boot_cost,
					    iteration_cost),
		     1e-10, 0, "optimal iterations");
}

static void two_level(struct golden *g, const json_t *v)
{
	static const size_t dims[2] = { 5, 10 };
	size_t n;
	double *a = golden_flat(at(v, "base_raw"), &n), *b = golden_flat(at(v, "new_raw"), &n);
	double ma[5], mb[5], ratio;
	struct kab_two_level ta, tb;
	struct kab_hierarchy ha, hb;
	struct kab_welch w, s;
	struct kab_mann_whitney u;
	struct kab_interval ci;
	const json_t *j;

	one_side(g, at(v, "base"), a, ma, &ta);
	one_side(g, at(v, "new"), b, mb, &tb);

	j = at(v, "boot_mean_welch");
	kab_welch(ma, 5, mb, 5, 0.95, &w);
	kab_mann_whitney(ma, 5, mb, 5, &u);
	golden_check(g, at(j, "diff"), w.diff, 1e-12, 0, "diff");
	golden_check(g, at(j, "t"), w.test.t, 1e-10, 0, "t");
	golden_check(g, at(j, "df"), w.test.df, 1e-10, 0, "df");
	golden_check(g, at(j, "p"), w.test.p, 1e-10, 0, "p");
	golden_check_interval(g, at(j, "ci95"), w.ci.lo, w.ci.hi, 1e-10, 5e-9 * w.se, "ci");
	golden_check(g, at(j, "mwu_exact_p"), u.p, 1e-12, 0, "u");

	/* what pooling the iterations would say: reproduced only to show that it is not what we do */
	j = at(v, "naive_pooled_welch_WRONG");
	struct kab_welch pooled;

	kab_welch(a, 50, b, 50, 0.95, &pooled);
	golden_check(g, at(j, "t"), pooled.test.t, 1e-10, 0, "pooled t");
	golden_check(g, at(j, "p"), pooled.test.p, 1e-10, 0, "pooled p");

	j = at(v, "kalibera_jones_ratio_new_over_base");
	kab_hierarchy(a, dims, 2, 0.95, &ha);
	kab_hierarchy(b, dims, 2, 0.95, &hb);
	kab_ratio_half_widths(ha.mean, ha.half_width, hb.mean, hb.half_width, &ratio, &ci);
	golden_check(g, at(j, "ratio"), ratio, 1e-14, 0, "ratio");
	golden_check_interval(g, at(j, "ci95"), ci.lo, ci.hi, 1e-10, 0, "Kalibera-Jones ci");
	golden_check(g, at(j, "df_used"), 4, 0, 0, "df");

	j = at(v, "R_lmer_satterthwaite");
	struct kab_moments xa = kab_moments_of(ma, 5), xb = kab_moments_of(mb, 5);

	kab_student_moments(&xa, &xb, 0.95, &s);
	golden_check(g, at(j, "estimate"), s.diff, 1e-8, 0, "lmer estimate");
	golden_check(g, at(j, "se"), s.se, 1e-6, 0, "lmer se");
	golden_check(g, at(j, "df"), s.test.df, 1e-6, 0, "lmer df");
	golden_check(g, at(j, "t"), s.test.t, 1e-6, 0, "lmer t");
	golden_check(g, at(j, "p"), s.test.p, 1e-6, 0, "lmer p");
	golden_check(g, at(j, "var_boot"), (ta.var_boot + tb.var_boot) / 2, 1e-6, 0, "var boot");
	golden_check(g, at(j, "var_resid"), (ta.var_iteration + tb.var_iteration) / 2, 1e-6, 0,
		     "var resid");
	j = at(v, "student_t_on_boot_means");
	golden_check(g, at(j, "t"), s.test.t, 1e-10, 0, "student t");
	golden_check(g, at(j, "p"), s.test.p, 1e-10, 0, "student p");
	golden_check(g, at(j, "df"), s.test.df, 0, 0, "student df");
	free(a);
	free(b);
}

void golden_hierarchical(struct golden *g, const json_t *all)
{
	static const char *const skip[] = { "base_raw",		"new_raw", "raw",
					    "levels",		"note",	   "boot_cost_s",
					    "iteration_cost_s", NULL };
	static const size_t three[3] = { 4, 3, 5 }, two[2] = { 5, 10 };
	const char *name;
	json_t *block;
	size_t n;

	json_object_foreach ((json_t *)all, name, block) {
		size_t before = g->checked;

		snprintf(g->where, sizeof(g->where), "hierarchical.%s", name);
		if (!strcmp(name, "two_level_5x10")) {
			two_level(g, block);
		} else {
			double *x = golden_flat(at(block, "raw"), &n);
			bool nested = !strcmp(name, "three_level_4x3x5");

			components(g, at(block, "kalibera"), x, nested ? three : two,
				   nested ? 3 : 2);
			free(x);
		}
		account(g, block, skip, before);
	}
}

void golden_sequential(struct golden *g, const json_t *all)
{
	static const char *const keys[2] = { "lan_demets_obrien_fleming", "lan_demets_pocock" };
	const char *name;
	json_t *block;

	json_object_foreach ((json_t *)all, name, block) {
		size_t before = g->checked, looks = strtoul(name, NULL, 10);

		/* the file's own integration is good to 1.3e-7 at ten looks; ours has converged to 1e-11 */
		for (int k = 0; k < 2; k++) {
			struct kab_bounds b;
			const json_t *v = at(block, keys[k]);

			snprintf(g->where, sizeof(g->where), "group_sequential.%s.%s", name,
				 keys[k]);
			kab_spending_bounds((enum kab_spending)k, looks, NULL, 0.05, &b);
			for (size_t i = 0; i < looks; i++) {
				golden_check(g, json_array_get(at(v, "cumulative_alpha"), i),
					     b.cumulative[i], 1e-9, 0, "alpha");
				golden_check(g, json_array_get(at(v, "z"), i), b.z[i], 2e-7, 0,
					     "z");
				golden_check(g, json_array_get(at(v, "nominal_two_sided_p"), i),
					     b.p[i], 1e-6, 0, "p");
			}
		}
		account(g, block, NULL, before);
	}
}

void golden_change_point(struct golden *g, const json_t *all)
{
	static const char *const skip[] = { "series", "alpha", "statistic", "permutations", NULL };
	const char *name;
	json_t *block;

	json_object_foreach ((json_t *)all, name, block) {
		size_t before = g->checked, n;
		double best, *x = golden_array(at(block, "series"), &n);
		double *q = kab_xcalloc(n, sizeof(*q));
		struct kab_split s;
		uint64_t draws = (uint64_t)json_integer_value(at(block, "permutations"));

		snprintf(g->where, sizeof(g->where), "change_point.%s", name);
		size_t tau = kab_energy_split(x, n, 1, q, &best);

		for (size_t i = 0; i + 1 < n; i++)
			golden_check(g, json_array_get(at(block, "Q"), i), q[i], 1e-9, 1e-11, "Q");
		golden_check(g, at(block, "best_split_first_index_of_right_segment"), (double)tau,
			     0, 0, "split");
		golden_check(g, at(block, "best_Q"), best, 1e-10, 0, "best Q");
		/* two independent sets of draws: four standard errors of their difference */
		double p = json_number_value(at(block, "permutation_p"));

		kab_energy_test(x, n, 1, false, draws, 7, &s);
		golden_check(g, at(block, "permutation_p"), s.p, 0,
			     4 * sqrt(2 * p * (1 - p) / (double)draws), "permutation p");
		account(g, block, skip, before);
		free(q);
		free(x);
	}
}
