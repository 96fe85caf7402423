/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict rule, its degenerate cases, and what other tools get wrong. */
#include "base/rng.h"
#include "stats/describe.h"
#include "stats/multiple.h"
#include "test.h"

static void verdict_is(const struct kab_comparison *c, enum kab_verdict v, const char *word)
{
	if (c->verdict != v || !strstr(c->reason, word))
		fail_msg("want %s ('%s'), got %s: %s", kab_verdict_name(v), word,
			 kab_verdict_name(c->verdict), c->reason);
}

static void test_four_verdicts(void **state)
{
	static const double a[] = { 100.1, 99.8, 100.3, 99.9, 100.2 };
	static const double slow[] = { 110.2, 109.7, 110.1, 110.4, 109.9 };
	static const double same[] = { 100.4, 99.9, 100.0, 100.3, 100.1 };
	static const double wild[] = { 90, 115, 104, 96, 108 };
	struct kab_comparison c;

	(void)state;
	c = compare(a, 5, slow, 5, -1);
	verdict_is(&c, KAB_VERDICT_REGRESSED, "p ");
	assert_true(c.gain_pct < 0 && c.delta_pct > 0);
	c = compare(a, 5, slow, 5, 1);
	verdict_is(&c, KAB_VERDICT_IMPROVED, "p ");
	assert_true(c.gain_pct > 0);
	c = compare(slow, 5, a, 5, -1);
	verdict_is(&c, KAB_VERDICT_IMPROVED, "p ");
	c = compare(a, 5, same, 5, -1);
	verdict_is(&c, KAB_VERDICT_EQUIVALENT, "below the margin");
	c = compare(a, 5, wild, 5, -1);
	verdict_is(&c, KAB_VERDICT_INCONCLUSIVE, "would resolve it");
	assert_true(c.units_needed > 5);
	c = compare(a, 5, slow, 5, 0);
	verdict_is(&c, KAB_VERDICT_NONE, "no direction");
	assert_true(isnan(c.gain_pct));
	assert_near(c.delta_pct, 100 * (550.3 / 500.3 - 1), 1e-12);
}

/* A shift that is real and yet smaller than S; and one whose size is not resolved against S. */
static void test_margin(void **state)
{
	static const double a[] = { 100.01, 99.99, 100.02, 99.98, 100.00 };
	static const double b[] = { 101.01, 100.99, 101.02, 100.98, 101.00 };
	static const double d[] = { 102.9, 101.4, 102.2, 103.1, 101.7 };
	struct kab_comparison c = compare(a, 5, b, 5, -1);

	(void)state;
	verdict_is(&c, KAB_VERDICT_EQUIVALENT, "shift below the margin");
	assert_true(c.shift_below_margin && c.p < 1e-6);
	c = compare(a, 5, d, 5, -1);
	verdict_is(&c, KAB_VERDICT_REGRESSED, "size not resolved");
	assert_true(c.size_not_resolved);

	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;

	o.dir = -1;
	o.margin = 0;
	kab_compare(a, 5, b, 5, &o, &c);
	verdict_is(&c, KAB_VERDICT_REGRESSED, "p ");
	assert_false(c.size_not_resolved);
}

static void test_adjusted_p_decides(void **state)
{
	static const double a[] = { 100, 102, 99, 101, 98 }, b[] = { 104, 103, 106, 102, 105 };
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	struct kab_comparison c;

	(void)state;
	o.dir = -1;
	kab_compare(a, 5, b, 5, &o, &c);
	assert_true(c.p < 0.01);
	verdict_is(&c, KAB_VERDICT_REGRESSED, "p ");
	kab_verdict_decide(&c, 0.2, &o);
	verdict_is(&c, KAB_VERDICT_INCONCLUSIVE, "after adjustment");
	assert_true(c.multiplicity_decided && !c.significant);
	/* p equal to alpha is not significant */
	kab_verdict_decide(&c, 0.05, &o);
	assert_int_equal(c.verdict, KAB_VERDICT_INCONCLUSIVE);
	kab_verdict_decide(&c, 0.0499999, &o);
	assert_int_equal(c.verdict, KAB_VERDICT_REGRESSED);
}

static void test_identical_and_constant(void **state)
{
	static const double five[] = { 5, 5, 5, 5, 5 }, six[] = { 6, 6, 6, 6, 6 };
	static const double near[] = { 5.01, 5.01, 5.01, 5.01, 5.01 };
	struct kab_comparison c = compare(five, 5, five, 5, -1);

	(void)state;
	verdict_is(&c, KAB_VERDICT_EQUIVALENT, "identical");
	assert_true(isnan(c.ratio_test.p) && isnan(c.welch.test.p) && c.p == 1);
	assert_true(c.delta_pct == 0 && !signbit(c.delta_pct) && !signbit(c.gain_pct));
	c = compare(five, 5, six, 5, -1);
	verdict_is(&c, KAB_VERDICT_REGRESSED, "constant on either side");
	assert_true(isnan(c.welch.test.t) && isnan(c.welch.test.p));
	assert_near(c.p, 2.0 / 252, 1e-12);
	c = compare(five, 3, six, 3, -1);
	verdict_is(&c, KAB_VERDICT_INCONCLUSIVE, "cannot go below p 0.1");
	c = compare(five, 5, near, 5, -1);
	verdict_is(&c, KAB_VERDICT_EQUIVALENT, "shift is below the margin");
	/* one constant side is an ordinary Welch test */
	static const double varied[] = { 115, 114, 115, 115, 115 };

	c = compare(varied, 5, five, 5, -1);
	assert_true(c.method == KAB_METHOD_LOG_DELTA && c.verdict == KAB_VERDICT_IMPROVED);
}

static void test_one_unit(void **state)
{
	static const double a[] = { 10 }, b[] = { 11 }, many[] = { 11, 12, 13, 14, 15 };
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	struct kab_comparison c = compare(a, 1, b, 1, -1);

	(void)state;
	verdict_is(&c, KAB_VERDICT_INCONCLUSIVE, "one value");
	assert_true(isnan(c.p) && isnan(c.ratio_ci95.lo) && isnan(c.sd_base));
	assert_near(c.delta_pct, 10, 1e-12);
	o.dir = -1;
	kab_compare(a, 1, b, 1, &o, &c);
	assert_string_equal(c.reason, "one boot");
	c = compare(a, 1, many, 5, -1);
	verdict_is(&c, KAB_VERDICT_INCONCLUSIVE, "one value of the base");
	assert_int_equal(kab_compare(a, 0, b, 1, &o, &c), -1);
	verdict_is(&c, KAB_VERDICT_NONE, "nothing to compare");
}

/* From zero, to zero, and mixed signs: a number that is not a percentage is never printed as one. */
static void test_zero_and_signs(void **state)
{
	static const double big[] = { 3069448, 3069449, 3069447, 3069450, 3069448 };
	static const double zero[] = { 0, 0, 0, 0, 0 }, hundred[] = { 100, 101, 99, 100, 102 };
	static const double mixed[] = { -1, 2, -3, 1, 2 }, neg[] = { -5, -4, -6, -5, -5 };
	struct kab_comparison c = compare(big, 5, zero, 5, -1);

	(void)state;
	assert_true(c.gain_pct == 100 && c.ratio == 0);
	assert_int_equal(c.verdict, KAB_VERDICT_IMPROVED);
	c = compare(zero, 5, zero, 5, -1);
	verdict_is(&c, KAB_VERDICT_EQUIVALENT, "identical");
	assert_true(isnan(c.ratio) && isnan(c.delta_pct));
	c = compare(zero, 5, hundred, 5, -1);
	assert_true(c.base_zero && isnan(c.ratio) && isnan(c.gain_pct));
	verdict_is(&c, KAB_VERDICT_REGRESSED, "the base is 0");
	/* one value each: still visible, though nothing is tested */
	c = compare(big, 1, zero, 1, -1);
	assert_true(c.gain_pct == 100 && c.verdict == KAB_VERDICT_INCONCLUSIVE);
	c = compare(zero, 1, zero, 1, -1);
	verdict_is(&c, KAB_VERDICT_INCONCLUSIVE, "identical");
	c = compare(zero, 1, hundred, 1, -1);
	assert_true(c.base_zero && isnan(c.gain_pct));

	c = compare(mixed, 5, hundred, 5, -1);
	assert_true(c.mixed_signs && isnan(c.ratio) && isnan(c.cv_base_pct));
	assert_int_equal(c.method, KAB_METHOD_DIFFERENCE);
	assert_int_equal(c.verdict, KAB_VERDICT_REGRESSED);
	c = compare(neg, 5, neg, 5, -1);
	assert_true(isnan(c.ratio) && c.verdict == KAB_VERDICT_INCONCLUSIVE);

	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;

	o.dir = -1;
	o.margin_unit = 3;
	kab_compare(neg, 5, neg, 5, &o, &c);
	assert_int_equal(c.verdict, KAB_VERDICT_EQUIVALENT);
}

static void test_fieller(void **state)
{
	static const double a[] = { 10, 16, 7, 12, 9, 15 }, b[] = { 31, 22, 40, 28, 36, 25 };
	static const double n2a[] = { 5, 20 }, n2b[] = { 30, 60 };
	struct kab_comparison c = compare(a, 6, b, 6, -1);

	(void)state;
	assert_int_equal(c.method, KAB_METHOD_FIELLER);
	/* interval and p are one test */
	assert_true(c.ratio_test.p == c.welch.test.p && c.p == c.welch.test.p);
	assert_true(c.ratio_ci95.lo > 1 && c.verdict == KAB_VERDICT_REGRESSED);
	assert_true(c.ratio_ci90.lo > c.ratio_ci95.lo && c.ratio_ci90.hi < c.ratio_ci95.hi);
	c = compare(n2a, 2, n2b, 2, -1);
	assert_true(c.interval_unbounded && isnan(c.ratio_ci95.lo));
	assert_int_equal(c.verdict, KAB_VERDICT_INCONCLUSIVE);
}

static void test_paired(void **state)
{
	/* a strong disturbance shared by the blocks, a small constant effect of 1 % with little noise */
	static const double a[] = { 100, 140, 90, 120, 170, 80 };
	static const double b[] = { 101.1, 141.2, 91, 121.1, 171.8, 80.7 };
	static const double third[] = { 103, 144, 93, 123.5, 175.2, 82.3 };
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	struct kab_comparison c, u;

	(void)state;
	o.dir = -1;
	kab_compare(a, 6, third, 6, &o, &u);
	assert_int_equal(u.verdict, KAB_VERDICT_INCONCLUSIVE);
	o.design = KAB_DESIGN_PAIRED;
	kab_compare(a, 6, third, 6, &o, &c);
	assert_true(c.method == KAB_METHOD_PAIRED && c.ratio_test.df == 5);
	assert_int_equal(c.verdict, KAB_VERDICT_REGRESSED);
	/* the rank test does not see the blocks; flipping their signs does: 2 of 2^6 */
	assert_true(c.mann_whitney.p > 0.05 && !c.rank_disagrees && !c.rank_floor);
	assert_near(c.sign_flips.p, 0.03125, 1e-15);
	assert_true(c.sign_flips.exact && isnan(u.sign_flips.p));
	kab_compare(a, 6, b, 6, &o, &c);
	verdict_is(&c, KAB_VERDICT_EQUIVALENT, "shift below");
	kab_compare(a, 3, third, 3, &o, &c);
	verdict_is(&c, KAB_VERDICT_INCONCLUSIVE, "3 complete blocks, at least 4");
	assert_true(isnan(c.p));
	kab_compare(a, 4, third, 4, &o, &c);
	assert_int_equal(c.method, KAB_METHOD_PAIRED);
	assert_true(c.rank_floor && !c.rank_disagrees); /* 2 of 2^4 */
	assert_near(c.sign_flips.p, 0.125, 1e-15);
	assert_int_equal(kab_compare(a, 6, b, 5, &o, &c), -1);
	assert_non_null(strstr(c.reason, "complete blocks"));

	/* the same step in every block, exactly: only the sign-flip test can speak */
	static const double i4[] = { 0, 1, 2, 3, 4, 5 }, i5[] = { 1, 2, 3, 4, 5, 6 };

	kab_compare(i4, 6, i5, 6, &o, &c);
	assert_int_equal(c.method, KAB_METHOD_EXACT);
	assert_near(c.p, 0.03125, 1e-12);
	kab_compare(i4, 6, i4, 6, &o, &c);
	verdict_is(&c, KAB_VERDICT_EQUIVALENT, "identical in every block");
}

static void test_options(void **state)
{
	static const double a[] = { 1, 2, 3 };
	struct kab_compare_opts bad[] = { KAB_COMPARE_OPTS_INIT, KAB_COMPARE_OPTS_INIT,
					  KAB_COMPARE_OPTS_INIT, KAB_COMPARE_OPTS_INIT };
	struct kab_comparison c;

	(void)state;
	bad[0].confidence = 1;
	bad[1].margin = -0.1;
	bad[2].alpha = 0.7;
	bad[3].dir = 2;
	for (size_t i = 0; i < N(bad); i++) {
		assert_int_equal(kab_compare(a, 3, a, 3, &bad[i], &c), -1);
		assert_true(isnan(c.p) && c.verdict == KAB_VERDICT_NONE && c.reason[0]);
	}
}

/* 95 % stays 95 %; another confidence goes to `ci`; another alpha moves the verdict. */
static void test_levels(void **state)
{
	static const double a[] = { 100, 102, 99, 101, 98 }, b[] = { 102, 104, 101.5, 103, 100.4 };
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	struct kab_comparison c, w;

	(void)state;
	o.dir = -1;
	kab_compare(a, 5, b, 5, &o, &c);
	o.confidence = 0.99;
	kab_compare(a, 5, b, 5, &o, &w);
	assert_true(w.ratio_ci95.lo == c.ratio_ci95.lo && w.verdict == c.verdict);
	assert_true(w.ratio_ci.lo < w.ratio_ci95.lo && w.ratio_ci95.lo < w.ratio_ci90.lo);
	/* the interval at 1 - p just touches 1 */
	o.confidence = 1 - c.p;
	kab_compare(a, 5, b, 5, &o, &w);
	assert_near(w.ratio_ci.lo, 1, 1e-9);
	o.alpha = c.p * 1.001;
	o.margin = 0;
	kab_compare(a, 5, b, 5, &o, &w);
	assert_int_equal(w.verdict, KAB_VERDICT_REGRESSED);
	o.alpha = c.p * 0.999;
	kab_compare(a, 5, b, 5, &o, &w);
	assert_int_equal(w.verdict, KAB_VERDICT_INCONCLUSIVE);
}

/* 2 against 3 values: all are used, and the rank test says that it cannot go lower. */
static void test_unequal_n(void **state)
{
	static const double a[] = { 10.0, 10.2 }, b[] = { 11.0, 11.3, 10.9 };
	struct kab_comparison c = compare(a, 2, b, 3, -1);

	(void)state;
	assert_true(fabs(c.welch.test.t - 6.18) < 0.005 && fabs(c.welch.test.p - 0.0092) < 5e-5);
	assert_near(c.mann_whitney.p, 0.2, 1e-12);
	assert_near(c.mann_whitney.p_floor, 0.2, 1e-12);
	assert_true(c.rank_floor && !c.rank_disagrees);
	assert_int_equal(c.verdict, KAB_VERDICT_REGRESSED);
}

/* Smallest two-sided p of the exact rank test, 1 to 6 a side. */
static void test_rank_floor(void **state)
{
	static const double want[] = { 1, 1.0 / 3, 0.1, 2.0 / 70, 2.0 / 252, 2.0 / 924 };
	double a[6], b[6];

	(void)state;
	for (size_t k = 1; k <= 6; k++) {
		struct kab_mann_whitney r;

		for (size_t i = 0; i < k; i++) {
			a[i] = (double)i;
			b[i] = 100 + (double)i;
		}
		kab_mann_whitney(a, k, b, k, &r);
		assert_near(r.p_floor, want[k - 1], 1e-12);
		assert_near(r.p, want[k - 1], 1e-12);
		struct kab_comparison c = compare(a, k, b, k, -1);

		assert_true(c.rank_floor == (k < 4));
	}
}

/* What other tools report as significant on these must not be. */
static void test_defects_of_others(void **state)
{
	static const double c5[] = { 7, 7, 7, 7, 7 }, c3[] = { 7, 7, 7 }, one[] = { 5 },
			    two[] = { 6 };
	struct kab_comparison c = compare(c5, 5, c3, 3, -1);

	(void)state;
	/* unequal n; 0/0; one against one */
	verdict_is(&c, KAB_VERDICT_EQUIVALENT, "identical");
	c = compare(one, 1, two, 1, -1);
	assert_int_equal(c.verdict, KAB_VERDICT_INCONCLUSIVE);

	/* a difference of 1.25 on values of 1e15 is judged with their true spread, 1.29 and 1.71 */
	static const double h1[] = { 1e15 + 1, 1e15 + 2, 1e15 + 3, 1e15 + 4 };
	static const double h2[] = { 1e15 + 2, 1e15 + 3, 1e15 + 4, 1e15 + 6 };

	c = compare(h1, 4, h2, 4, -1);
	assert_near(c.sd_base, sqrt(5.0 / 3), 1e-14);
	assert_true(c.welch.test.p > 0.2 && c.verdict == KAB_VERDICT_EQUIVALENT);

	/* the median of three values is the middle one */
	static const double m3[] = { 1, 2, 10 };
	struct kab_summary s;

	kab_describe(m3, 3, 0.95, &s);
	assert_true(s.median == 2);
	/* the sample sd, not the population's */
	assert_near(s.sd, sqrt(73.0 / 3), 1e-14);
	assert_near(s.sd_pop, sqrt(146.0 / 9), 1e-14);
}

/*
 * Rules whose power falls as n grows, or that call equal normals different: ours keeps 5 % at every n
 * and gains power with n. 400 data sets per point; limits are four standard errors wide.
 */
static void test_power_grows(void **state)
{
	static const size_t ns[] = { 3, 5, 10, 20 };
	struct kab_rng rng;
	double before = 0;

	(void)state;
	kab_rng_seed(&rng, 42);
	for (size_t k = 0; k < N(ns); k++) {
		enum { T = 400 };
		double none = 0, found = 0, equal = 0, equal_flags = 0;

		for (int t = 0; t < T; t++) {
			double a[20], b[20], d[20];

			for (size_t i = 0; i < ns[k]; i++) {
				a[i] = 100 + kab_rng_normal(&rng);
				b[i] = 100 + kab_rng_normal(&rng);
				d[i] = 101.5 + kab_rng_normal(&rng);
			}
			struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
			struct kab_comparison c;

			o.dir = -1;
			o.margin = 0;
			kab_compare(a, ns[k], b, ns[k], &o, &c);
			none += c.significant;
			equal += c.verdict == KAB_VERDICT_IMPROVED;
			equal_flags += c.verdict == KAB_VERDICT_REGRESSED;
			kab_compare(a, ns[k], d, ns[k], &o, &c);
			found += c.verdict == KAB_VERDICT_REGRESSED;
			assert_int_not_equal(c.verdict, KAB_VERDICT_NONE);
		}
		assert_true(none / T <= 0.05 + 4 * sqrt(0.05 * 0.95 / T));
		/* improved and regressed are equally likely where nothing changed */
		assert_true(fabs(equal - equal_flags) <= 4 * sqrt(none + 1));
		assert_true(found / T >= before);
		before = found / T;
	}
	assert_true(before > 0.97);
}

/* A mean-based and a rank-based answer that differ are both told. */
static void test_disagreement(void **state)
{
	static const double a[] = { 10, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 10.7 };
	static const double b[] = { 11, 11.1, 11.2, 11.3, 11.4, 11.5, 11.6, 60 };
	struct kab_comparison c = compare(a, 8, b, 8, -1);

	(void)state;
	assert_true(c.mann_whitney.p < 0.001 && c.p > 0.05 && c.rank_disagrees);
	assert_int_equal(c.verdict, KAB_VERDICT_INCONCLUSIVE);
}

static void test_detectable(void **state)
{
	static const double a[] = { 100, 102, 99, 101, 98 }, b[] = { 101, 99.5, 100, 102.2, 98.3 };
	struct kab_comparison c = compare(a, 5, b, 5, -1);
	double d = kab_compare_detectable_pct(&c, 0.05, 0.8);
	double half = 100 * (c.ratio_ci95.hi / c.ratio_estimate - 1);

	(void)state;
	/* 80 % power needs more than the half width and less than one and a half of it at 8 df */
	assert_true(d > half && d < 1.6 * half);
	c = compare(a, 1, b, 5, -1);
	assert_true(isnan(kab_compare_detectable_pct(&c, 0.05, 0.8)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_four_verdicts),
		cmocka_unit_test(test_margin),
		cmocka_unit_test(test_adjusted_p_decides),
		cmocka_unit_test(test_identical_and_constant),
		cmocka_unit_test(test_one_unit),
		cmocka_unit_test(test_zero_and_signs),
		cmocka_unit_test(test_fieller),
		cmocka_unit_test(test_paired),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_unequal_n),
		cmocka_unit_test(test_rank_floor),
		cmocka_unit_test(test_defects_of_others),
		cmocka_unit_test(test_power_grows),
		cmocka_unit_test(test_disagreement),
		cmocka_unit_test(test_detectable),
	};

	kab_stats_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
