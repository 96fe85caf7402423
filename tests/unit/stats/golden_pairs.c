/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block "pairs": every two-sample method on every pair of samples. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "stats/bootstrap.h"
#include "stats/permute.h"
#include "stats/rank.h"
#include "stats/sort.h"
#include "stats/verdict.h"
#include "stats/welch.h"

#define BOOTSTRAP_DRAWS 200000
/* The t quantiles behind the file's intervals are good to about 1e-9 at few degrees of freedom. */
#define INTERVAL 2e-9

struct pair {
	double *a, *b;
	size_t na, nb;
	struct kab_moments ma, mb;
};

static const json_t *at(const json_t *v, const char *key)
{
	return json_object_get(v, key);
}

static double t_tolerance(const json_t *p)
{
	return json_number_value(p) < 1e-12 ? 1e-8 : 1e-10;
}

static void welch(struct golden *g, const json_t *w, const struct pair *p)
{
	struct kab_welch r, st;
	struct kab_ratio ld, fi, geo;
	double margin_pct[3] = { 1, 2, 5 };
	const char *keys[3] = { "1", "2", "5" };
	const json_t *v;

	kab_welch(p->a, p->na, p->b, p->nb, 0.95, &r);
	if (json_is_null(w)) {
		golden_check(g, w, r.test.t, 0, 0, "welch");
		return;
	}
	/* differences of means near each other: relative to the means themselves */
	double scale = 4e-16 * fmax(fabs(p->ma.mean), fabs(p->mb.mean));

	golden_check(g, at(w, "diff"), r.diff, 1e-14, scale, "diff");
	golden_check(g, at(w, "se"), r.se, 1e-13, 0, "se");
	golden_check(g, at(w, "t"), r.test.t, 1e-10, 0, "t");
	golden_check(g, at(w, "df"), r.test.df, 1e-10, 0, "df");
	golden_check(g, at(w, "p"), r.test.p, t_tolerance(at(w, "p")), 0, "p");
	golden_check_interval(g, at(w, "ci95"), r.ci.lo, r.ci.hi, INTERVAL, 5e-9 * r.se, "ci95");
	if ((v = at(w, "student_pooled"))) {
		kab_student_moments(&p->ma, &p->mb, 0.95, &st);
		golden_check(g, at(v, "t"), st.test.t, 1e-10, 0, "student t");
		golden_check(g, at(v, "df"), st.test.df, 0, 0, "student df");
		golden_check(g, at(v, "p"), st.test.p, t_tolerance(at(v, "p")), 0, "student p");
	}
	/* The file was made with the df of the raw difference; verdicts use the statistic's own df. */
	kab_ratio_log_delta_df(&p->ma, &p->mb, r.test.df, 0.95, &ld);
	kab_ratio_fieller(&p->ma, &p->mb, 0.95, &fi);
	kab_ratio_geometric(p->a, p->na, p->b, p->nb, 0.95, &geo);
	if (at(w, "ratio")) {
		golden_check(g, at(w, "ratio"), ld.ratio, 1e-14, 0, "ratio");
		golden_check(g, at(w, "delta_pct"), 100 * (p->mb.mean - p->ma.mean) / p->ma.mean,
			     1e-12, 1e-13, "delta_pct");
		golden_check_interval(g, at(w, "fieller_ci95"), fi.ci.lo, fi.ci.hi, INTERVAL, 0,
				      "fieller");
		golden_check_interval(g, at(w, "log_ratio_delta_ci95"), ld.ci.lo, ld.ci.hi,
				      INTERVAL, 0, "log delta");
	}
	if ((v = at(w, "log_welch_geomean_ratio"))) {
		golden_check(g, at(v, "ratio"), geo.ratio, 1e-12, 0, "geometric ratio");
		golden_check_interval(g, at(v, "ci95"), geo.ci.lo, geo.ci.hi, INTERVAL, 0,
				      "geometric ci");
		golden_check(g, at(v, "p"), geo.test.p, 1e-9, 0, "geometric p");
		golden_check(g, at(v, "df"), geo.test.df, 1e-9, 0, "geometric df");
	}
	if ((v = at(w, "tost_p_margin_pct_of_base_mean")))
		for (int k = 0; k < 3; k++)
			golden_check(g, at(v, keys[k]),
				     kab_tost_p(&p->ma, &p->mb, margin_pct[k] / 100 * p->ma.mean),
				     1e-10, 0, "tost");
}

/* The same numbers must come out of the one function everything above calls. */
static void compare(struct golden *g, const json_t *block, const struct pair *p)
{
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	struct kab_comparison c;
	const json_t *w = at(block, "welch"), *mw = at(block, "mann_whitney");
	struct golden again = *g;

	o.dir = -1;
	o.unit = KAB_UNIT_VALUES;
	kab_compare(p->a, p->na, p->b, p->nb, &o, &c);
	if (!json_is_null(w)) {
		golden_check(&again, at(w, "t"), c.welch.test.t, 1e-10, 0, "compare t");
		golden_check(&again, at(w, "p"), c.welch.test.p, 1e-8, 0, "compare p");
	}
	if (c.method == KAB_METHOD_LOG_DELTA &&
	    (c.ratio_ci95.lo != c.log_delta_ci95.lo || c.ratio_test.t != c.log_delta.t))
		golden_fail(&again, "the verdict's interval is not the log-delta one");
	golden_check(&again, at(mw, "exact_p_two_sided_doubled"), c.mann_whitney.p, 1e-12, 0,
		     "compare u p");
	g->failures = again.failures;
}

static void mann_whitney(struct golden *g, const json_t *m, const struct pair *p)
{
	struct kab_mann_whitney r;
	const json_t *v;

	kab_mann_whitney(p->a, p->na, p->b, p->nb, &r);
	golden_check(g, at(m, "U_base"), r.u_base, 0, 0, "U_base");
	golden_check(g, at(m, "U_new"), r.u, 0, 0, "U_new");
	golden_check(g, at(m, "ties"), r.ties, 0, 0, "ties");
	golden_check(g, at(m, "exact_p_two_sided_doubled"), r.p, 1e-12, 0, "exact p");
	golden_check(g, at(m, "exact_p_two_sided_abs_deviation"), r.p_abs, 1e-12, 0, "abs p");
	golden_check(g, at(m, "exact_p_base_less_or_equal"), r.p_less, 1e-12, 0, "p less");
	golden_check(g, at(m, "exact_p_base_greater_or_equal"), r.p_greater, 1e-12, 0, "p greater");
	v = at(m, "R_normal_approx_tie_cc");
	golden_check(g, at(v, "W_new"), r.u, 0, 0, "W");
	golden_check(g, at(v, "p"), r.p_normal, 1e-10, 0, "normal p");
	if (at(m, "R_exact_p"))
		golden_check(g, at(m, "R_exact_p"), r.p, 1e-10, 0, "R exact p");
	golden_check(g, at(m, "R_exactRankTests_p"), r.p, 1e-10, 0, "R exactRankTests p");
}

static void hodges_lehmann(struct golden *g, const json_t *block, const struct pair *p)
{
	struct kab_hodges_lehmann r;
	const json_t *v = at(block, "R_hodges_lehmann");
	double scale = 3e-16 * fmax(fabs(p->ma.mean), fabs(p->mb.mean));

	kab_hodges_lehmann(p->a, p->na, p->b, p->nb, 0.95, &r);
	golden_check(g, at(block, "hodges_lehmann_new_minus_base"), r.shift, 1e-14, scale, "shift");
	if (v) {
		golden_check(g, at(v, "estimate"), r.shift, 1e-12, scale, "R shift");
		golden_check_interval(g, at(v, "ci95"), r.ci.lo, r.ci.hi, 1e-12, scale,
				      "R shift ci");
	}
}

/* The smallest difference between two values, over the smaller n. */
static double lattice(const struct pair *p)
{
	double gap = INFINITY, *all = malloc((p->na + p->nb) * sizeof(*all));

	memcpy(all, p->a, p->na * sizeof(*all));
	memcpy(all + p->na, p->b, p->nb * sizeof(*all));
	kab_sort(all, p->na + p->nb);
	for (size_t i = 1; i < p->na + p->nb; i++)
		if (all[i] - all[i - 1] > 1e-9 * fabs(all[i]))
			gap = fmin(gap, all[i] - all[i - 1]);
	free(all);
	return 1.001 * gap / (double)(p->na < p->nb ? p->na : p->nb);
}

static void bootstrap_one(struct golden *g, const json_t *v, const json_t *second,
			  const struct pair *p, enum kab_boot_stat stat)
{
	struct kab_bootstrap r;

	if (json_is_null(v)) {
		int rc = kab_bootstrap_two(p->a, p->na, p->b, p->nb, stat, 1000, 0.95, 1, &r);

		golden_check(g, v, rc ? NAN : r.estimate, 0, 0, "bootstrap");
		return;
	}
	kab_bootstrap_two(p->a, p->na, p->b, p->nb, stat, BOOTSTRAP_DRAWS, 0.95, 20, &r);
	double se = json_number_value(at(v, "se")), spread = 0.03 * se;

	/* Twice the difference of the two recorded seeds; 3 % of the standard error; or one step
	 * of the lattice on which the means of few, rounded values lie. */
	double step = lattice(p) / (stat == KAB_BOOT_MEAN_RATIO ? fabs(p->ma.mean) : 1);

	spread = fmax(spread, step);
	for (int k = 0; second && k < 2; k++)
		spread = fmax(spread,
			      2 * fabs(json_number_value(json_array_get(second, k)) -
				       json_number_value(json_array_get(at(v, "bca_ci95"), k))));
	golden_check(g, at(v, "estimate"), r.estimate, 1e-13, 1e-14 * fabs(p->ma.mean), "estimate");
	/* the file takes resamples equal to the estimate as floating point happened to put them */
	golden_check(g, at(v, "z0"), r.z0, 0, 0.012 + 0.5 * step / se, "z0");
	golden_check(g, at(v, "acceleration"), r.acceleration, 1e-6, 1e-12, "acceleration");
	golden_check_interval(g, at(v, "bca_ci95"), r.bca.lo, r.bca.hi, 0, spread, "bca");
	golden_check_interval(g, at(v, "percentile_ci95"), r.percentile.lo, r.percentile.hi, 0,
			      spread, "percentile");
	golden_check(g, at(v, "se"), r.se, 0.01, 0, "bootstrap se");
	if (second && stat == KAB_BOOT_MEAN_DIFF)
		golden_check_interval(g, second, r.bca.lo, r.bca.hi, 0, spread, "second seed");
}

void golden_pairs(struct golden *g, const json_t *pairs)
{
	static const char *const skip[] = { "base", "new", "n", "note", "B", NULL };
	const char *name;
	json_t *block;
	const json_t *v;

	json_object_foreach ((json_t *)pairs, name, block) {
		struct pair p;
		size_t before = g->checked;

		snprintf(g->where, sizeof(g->where), "pairs.%s", name);
		p.a = golden_array(at(block, "base"), &p.na);
		p.b = golden_array(at(block, "new"), &p.nb);
		p.ma = kab_moments_of(p.a, p.na);
		p.mb = kab_moments_of(p.b, p.nb);
		welch(g, at(block, "welch"), &p);
		mann_whitney(g, at(block, "mann_whitney"), &p);
		hodges_lehmann(g, block, &p);
		compare(g, block, &p);
		if ((v = at(block, "R_welch"))) {
			struct kab_welch w;

			/* R works on rounded variances: its own digits, 1e-9 and the size of the data */
			double scale = 1e-9 * fabs(p.ma.mean - p.mb.mean) + 1e-15 * fabs(p.ma.mean);

			kab_welch(p.a, p.na, p.b, p.nb, 0.95, &w);
			if (json_is_null(v) && !json_is_null(at(at(block, "welch"), "t"))) {
				/* R gives up on "essentially constant" data around 1e15; we need not */
				g->checked++;
				g->foreign++;
			} else if (json_is_null(v)) {
				golden_check(g, v, w.test.t, 0, 0, "R welch");
			} else {
				golden_check(g, at(v, "t"), w.test.t, 1e-10, 0, "R t");
				golden_check(g, at(v, "df"), w.test.df, 1e-10, 0, "R df");
				golden_check(g, at(v, "p"), w.test.p, 1e-10, 0, "R p");
				golden_check(g, at(v, "ci_lo"), w.ci.lo, 1e-8, scale, "R ci");
				golden_check(g, at(v, "ci_hi"), w.ci.hi, 1e-8, scale, "R ci");
			}
		}
		if ((v = at(block, "permutation_mean_diff_exact"))) {
			struct kab_permutation r;

			kab_permute_labels(p.a, p.na, p.b, p.nb, 0, 1, &r);
			golden_check(g, at(v, "p"), r.p, 1e-12, 0, "permutation p");
			golden_check(g, at(v, "count"), (double)r.count, 0, 0, "permutation count");
			golden_check(g, at(v, "total"), (double)r.total, 0, 0, "permutation total");
		}
		if ((v = at(block, "bootstrap"))) {
			const json_t *second = at(v, "mean_diff_second_seed");

			bootstrap_one(g, at(v, "mean_diff"), second, &p, KAB_BOOT_MEAN_DIFF);
			bootstrap_one(g, at(v, "mean_ratio"), NULL, &p, KAB_BOOT_MEAN_RATIO);
		}
		{
			struct kab_mann_whitney r;

			kab_mann_whitney(p.a, p.na, p.b, p.nb, &r);
			golden_check(g, at(block, "vargha_delaney_A_new_gt_base"), r.a, 1e-15, 0,
				     "A");
		}
		if (g->checked - before != golden_leaves(block, skip))
			golden_fail(g, "%zu of %zu values compared", g->checked - before,
				    golden_leaves(block, skip));
		free(p.a);
		free(p.b);
	}
}
