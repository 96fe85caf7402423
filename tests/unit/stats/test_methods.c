/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Permutation, bootstrap, planning, stopping, history and warm-up: known answers and known truths. */
#include "base/alloc.h"
#include "base/rng.h"
#include "stats/bootstrap.h"
#include "stats/change.h"
#include "stats/describe.h"
#include "stats/dist.h"
#include "stats/hierarchy.h"
#include "stats/multiple.h"
#include "stats/paired.h"
#include "stats/permute.h"
#include "stats/plan.h"
#include "stats/sequential.h"
#include "stats/warmup.h"
#include "test.h"

/* Values of scipy.stats.t, norm and nct. */
static void test_distributions(void **state)
{
	(void)state;
	assert_near(kab_t_quantile(0.95, 2), 0.95 * sqrt(2 / 0.0975), 1e-14);
	assert_near(kab_t_quantile(0.95, 1), 12.706204736174694, 1e-13);
	assert_near(kab_t_quantile(0.95, 1e12), 1.959963984540054, 1e-12);
	assert_near(kab_t_two_sided_p(2, 2), 1 - 2 / sqrt(6), 1e-14);
	assert_near(kab_t_two_sided_p(kab_t_quantile(0.99, 3.7), 3.7), 0.01, 1e-12);
	assert_true(kab_t_two_sided_p(INFINITY, 3) == 0 && isnan(kab_t_two_sided_p(NAN, 3)));
	assert_true(isnan(kab_t_quantile(1, 3)) && isnan(kab_t_quantile(0.95, 0)));
	/* noncentral t: true change 2 and 1 %, sd of a boot mean sqrt(1.1) % */
	assert_near(kab_t_power(2, sqrt(2.2 / 3), 4, 0.05), 0.4297721713984747, 1e-4);
	assert_near(kab_t_power(2, sqrt(2.2 / 5), 8, 0.05), 0.7521636379748186, 1e-4);
	assert_near(kab_t_power(1, sqrt(2.2 / 10), 18, 0.05), 0.5230533095491692, 1e-5);
	assert_near(kab_t_power(1, sqrt(2.2 / 20), 38, 0.05), 0.8359997153095517, 1e-5);
}

static void test_permutation(void **state)
{
	double a[20], b[20];
	struct kab_permutation p, q;
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 11);
	for (int i = 0; i < 20; i++) {
		a[i] = kab_rng_normal(&rng);
		b[i] = kab_rng_normal(&rng) + 0.5;
	}
	/* C(20, 10) = 184756 arrangements are tried; C(22, 11) are too many */
	kab_permute_labels(a, 10, b, 10, 0, 1, &p);
	assert_true(p.exact && p.total == 184756);
	kab_permute_labels(a, 11, b, 11, 0, 1, &p);
	assert_true(!p.exact && p.total == 9999 && p.count < p.total);
	assert_near(p.p, (double)(p.count + 1) / 10000, 1e-15);
	kab_permute_labels(a, 11, b, 11, 0, 1, &q);
	assert_true(p.p == q.p); /* the seed decides, nothing else */
	/* Monte Carlo agrees with the t test on normal data */
	struct kab_welch w;

	kab_welch(a, 20, b, 20, 0.95, &w);
	kab_permute_labels(a, 20, b, 20, 50000, 3, &p);
	assert_true(fabs(p.p - w.test.p) < 0.02);
	/* p is never 0 */
	for (int i = 0; i < 20; i++)
		b[i] = 100 + a[i];
	kab_permute_labels(a, 20, b, 20, 999, 3, &p);
	assert_near(p.p, 0.001, 1e-12);
	assert_int_equal(kab_permute_labels(a, 0, b, 3, 0, 1, &p), -1);

	/* sign flips: 2^(1 - n); six blocks reach 5 %, five do not */
	double d[20] = { 1, 2, 3, 4, 5, 6 };

	kab_permute_signs(d, 6, 0, 1, &p);
	assert_near(p.p, 2.0 / 64, 1e-15);
	assert_near(p.p_floor, 2.0 / 64, 1e-15);
	kab_permute_signs(d, 5, 0, 1, &p);
	assert_true(p.p > 0.05);
	d[0] = -1;
	kab_permute_signs(d, 3, 0, 1, &p); /* sums of -1 2 3: 4 of 8 are >= 4 in size */
	assert_near(p.p, 0.5, 1e-15);
	for (int i = 0; i < 20; i++)
		d[i] = 1;
	kab_permute_signs(d, 20, 0, 1, &p);
	assert_true(!p.exact && p.p >= 1e-4 && p.p < 3e-4);
}

static void test_bootstrap(void **state)
{
	double a[12], b[12];
	struct kab_rng rng;
	struct kab_bootstrap r, s;

	(void)state;
	kab_rng_seed(&rng, 12);
	for (int i = 0; i < 12; i++) {
		a[i] = 100 + kab_rng_normal(&rng);
		b[i] = 103 + kab_rng_normal(&rng);
	}
	kab_bootstrap_two(a, 12, b, 12, KAB_BOOT_MEAN_RATIO, 10000, 0.95, 5, &r);
	kab_bootstrap_two(a, 12, b, 12, KAB_BOOT_MEAN_RATIO, 10000, 0.95, 5, &s);
	assert_true(r.supported && r.bca.lo == s.bca.lo && r.t.hi == s.t.hi);
	struct kab_moments ma = kab_moments_of(a, 12), mb = kab_moments_of(b, 12);
	struct kab_ratio ld;

	kab_ratio_log_delta(&ma, &mb, 0.95, &ld);
	/* on normal data the studentised interval is close to the t interval, the percentile shorter */
	double t = ld.ci.hi - ld.ci.lo;

	assert_true(fabs((r.t.hi - r.t.lo) / t - 1) < 0.2);
	assert_true(r.percentile.hi - r.percentile.lo < t);
	assert_near(r.se, ld.ratio * ld.log_se * sqrt(11.0 / 12), 0.03);
	kab_bootstrap_two(a, 9, b, 12, KAB_BOOT_MEAN_DIFF, 1000, 0.95, 5, &r);
	assert_false(r.supported);
	/* a ratio of 4e-18 keeps its digits: (test - base)/base is -1 to a double */
	const struct kab_moments huge = { 4, 1e9, 1e7 }, tiny = { 4, 4e-9, 4e-11 };

	kab_ratio_log_delta(&huge, &tiny, 0.95, &ld);
	assert_near(ld.ratio * 1e18, 4, 1e-12);
	/* se = sqrt(2 (0.01^2)/4), df = 6: t = ln(4e-18)/se, 2.446911851144969 of scipy's t.ppf */
	assert_near(ld.test.t, log(4e-18) / sqrt(5e-5), 1e-6);
	assert_near(ld.ci.hi * 1e18, 4 * exp(2.446911851144969 * sqrt(5e-5)), 1e-9);
	/* no spread: the point, not NAN */
	static const double c[] = { 3, 3, 3, 3 };

	kab_bootstrap_two(c, 4, c, 4, KAB_BOOT_MEAN_DIFF, 1000, 0.95, 5, &r);
	assert_true(r.bca.lo == 0 && r.bca.hi == 0 && isnan(r.t.lo));
	static const double neg[] = { -1, 2, 3 };

	assert_int_equal(kab_bootstrap_two(neg, 3, c, 4, KAB_BOOT_MEAN_RATIO, 1000, 0.95, 5, &r),
			 -1);
}

static void test_plan(void **state)
{
	(void)state;
	/* by hand: t(0.95, 2k - 2) sqrt(2/k) sd; sd 1 %, half width 2 %: k = 4 gives 1.73, 3 gives 2.27 */
	assert_int_equal(kab_plan_boots_needed(0.01, 0.02, 0.95), 4);
	assert_near(kab_plan_half_width(0.01, 4, 0.95), 2.4469118511449692 * 0.01 * sqrt(0.5),
		    1e-12);
	assert_int_equal(kab_plan_blocks_needed(0.01, 0.02, 0.95), 4);
	assert_int_equal(kab_plan_boots_needed(0, 0.02, 0.95), 2);
	assert_int_equal(kab_plan_boots_needed(0.01, 0, 0.95), 0);
	assert_int_equal(kab_plan_boots_needed(NAN, 0.02, 0.95), 0);
	assert_int_equal(kab_plan_boots_needed(1, 1e-9, 0.95), 0);
	assert_true(isnan(kab_plan_half_width(0.01, 1, 0.95)));
	/* the textbook: 17 a side for one standard deviation at 80 % (16.7), 64 for half of one */
	assert_int_equal(kab_plan_boots_for_power(1, 1, 0.05, 0.8), 17);
	assert_int_equal(kab_plan_boots_for_power(1, 0.5, 0.05, 0.8), 64);
	assert_near(kab_plan_detectable(sqrt(2.0 / 64), 126, 0.05, 0.8), 0.4993, 2e-3);
	assert_near(kab_plan_boot_mean_sd(4, 9, 9), sqrt(5), 1e-15);
	assert_near(kab_plan_boot_mean_sd(-1, 9, 9), 1, 1e-15);
	assert_true(isinf(kab_optimal_iterations(0, 1, 300, 30)));
}

static void test_sequential(void **state)
{
	struct kab_bounds b;
	static const double bad[] = { 0.5, 0.4, 1 }, uneven[] = { 0.25, 0.5, 1 };

	(void)state;
	kab_spending_bounds(KAB_SPEND_OBRIEN_FLEMING, 1, NULL, 0.05, &b);
	assert_near(b.z[0], 1.959963984540054, 1e-11);
	assert_int_equal(kab_spending_bounds(KAB_SPEND_OBRIEN_FLEMING, 11, NULL, 0.05, &b), -1);
	assert_int_equal(kab_spending_bounds(KAB_SPEND_OBRIEN_FLEMING, 3, bad, 0.05, &b), -1);
	kab_spending_bounds(KAB_SPEND_OBRIEN_FLEMING, 3, uneven, 0.05, &b);
	assert_near(b.z[0], 4.332633646051611, 1e-9); /* as the first of four equal looks */
	assert_near(b.z[1], 2.9631315923404142, 1e-7); /* and the second */
	/* e-process: E = 20 where the formula says so */
	static const double d[] = { 0.01, 0.012, 0.009, 0.011, 0.010, 0.0115 };
	double m = kab_mean(d, 6), s = kab_sd(d, 6), t2 = 6 * m * m / (s * s);
	double want = -0.5 * log(7) + 3 * (log(1 + t2 / 5) - log(1 + t2 / 35));

	assert_near(kab_eprocess_log(d, 6, 1), want, 1e-12);
	assert_true(want > log(20));
	assert_true(isnan(kab_eprocess_log(d, 1, 1)));
	assert_false(kab_precision_reached(0.001, 7, 0.01, 0));
	assert_true(kab_precision_reached(0.01, 8, 0.01, 0));
	assert_false(kab_precision_reached(NAN, 9, 0.01, 0));
}

static void test_hierarchy_unbalanced(void **state)
{
	/* three boots of 2, 3 and 1 values; sums of squares by hand */
	static const double x[] = { 10, 12, 20, 22, 24, 30 };
	static const size_t sizes[] = { 2, 3, 1 }, one[] = { 6 }, singles[] = { 1, 1, 1, 1, 1, 1 };
	struct kab_two_level r;

	(void)state;
	kab_two_level(x, sizes, 3, &r);
	double grand = 118.0 / 6;
	double between = 2 * pow(11 - grand, 2) + 3 * pow(22 - grand, 2) + pow(30 - grand, 2);

	assert_near(r.ms_within, (2 + 8) / 3.0, 1e-14);
	assert_near(r.ms_between, between / 2, 1e-13);
	assert_near(r.n0, (6 - 14.0 / 6) / 2, 1e-14);
	assert_near(r.mean, 21, 1e-15);
	kab_two_level(x, one, 1, &r);
	assert_true(isnan(r.ms_between) && isnan(r.icc));
	kab_two_level(x, singles, 6, &r);
	assert_true(isnan(r.ms_within) && isnan(r.var_boot) && !isnan(r.ms_between));
}

static void test_adjust(void **state)
{
	static const double p[] = { 0.01, NAN, 0.02 };
	double out[3];

	(void)state;
	kab_adjust_p(KAB_ADJUST_HOLM, p, 3, out);
	assert_true(isnan(out[1])); /* and not counted */
	assert_near(out[0], 0.02, 1e-15);
	assert_near(out[2], 0.02, 1e-15);
	static const double bad[] = { 0.5, 1.5 };

	assert_int_equal(kab_adjust_p(KAB_ADJUST_BH, bad, 2, out), -1);
	assert_int_equal(kab_adjust_p(KAB_ADJUST_BH, bad, 0, out), 0);
	assert_string_equal(kab_adjust_name(KAB_ADJUST_HOLM), "holm");
}

static void nights(struct kab_rng *rng, double *x, size_t n, size_t from, size_t to, double step)
{
	for (size_t i = 0; i < n; i++)
		x[i] = 100 + kab_rng_normal(rng) + (i >= from && i < to ? step : 0);
}

static void test_changes(void **state)
{
	struct kab_rng rng;
	struct kab_change_opts o = { .seed = 3 };
	struct kab_changes c;
	double x[160];

	(void)state;
	kab_rng_seed(&rng, 13);
	/* one step; a dip with its recovery, both edges; nothing */
	nights(&rng, x, 60, 40, 60, 5);
	kab_changes_find(x, 60, &o, &c);
	assert_int_equal(c.n, 1);
	assert_true(c.at[0] >= 39 && c.at[0] <= 41 && c.p[0] < 0.01);
	kab_changes_release(&c);
	nights(&rng, x, 60, 20, 35, -5);
	kab_changes_find(x, 60, &o, &c);
	assert_int_equal(c.n, 2);
	assert_true(labs((long)c.at[0] - 20) <= 1 && labs((long)c.at[1] - 35) <= 1);
	kab_changes_release(&c);
	/* beyond the first window */
	nights(&rng, x, 160, 120, 160, 5);
	kab_changes_find(x, 160, &o, &c);
	assert_int_equal(c.n, 1);
	assert_true(labs((long)c.at[0] - 120) <= 1);
	kab_changes_release(&c);
	kab_changes_find(x, 8, &o, &c);
	assert_int_equal(c.n, 0);
	kab_changes_release(&c);
	for (int i = 0; i < 60; i++)
		x[i] = 7;
	kab_changes_find(x, 60, &o, &c);
	assert_true(c.n == 0 && c.phi == 0);
	kab_changes_release(&c);

	/* autocorrelation is seen; a step of 8 sd in 160 nights adds 0.17 at most: 1 - 2/2.4 */
	double z = 0, phi = 0, still = 0;

	for (int r = 0; r < 40; r++) {
		for (int i = 0; i < 160; i++) {
			z = 0.8 * z + 0.6 * kab_rng_normal(&rng);
			x[i] = z;
		}
		phi += kab_ar1_phi(x, 160) / 40;
		nights(&rng, x, 160, 80, 160, 8);
		still += kab_ar1_phi(x, 160) / 40;
	}
	if (!(phi > 0.65 && phi < 0.9 && still < 0.3))
		fail_msg("phi %g, with a step %g", phi, still);
}

static void test_fast_path(void **state)
{
	struct kab_rng rng;
	struct kab_fast f;
	double x[44];

	(void)state;
	kab_rng_seed(&rng, 14);
	nights(&rng, x, 44, 43, 44, 8);
	kab_change_fast(x, 44, 0, 0, 0, &f);
	assert_int_equal(f.nights, 1);
	assert_true(fabs(f.shift[0] - 8) < 4);
	/* by hand: 10 nights of sd sqrt(2/3)... one new value, prediction t with n - 1 df */
	static const double y[] = { 1, 2, 3, 1, 2, 3, 1, 2, 3, 2, 9 };

	kab_change_fast(y, 11, 0, 0, 0, &f);
	double m = 2, s = sqrt(6.0 / 9), t = (9 - m) / (s * sqrt(1.1));

	assert_near(f.p[0], kab_t_two_sided_p(t, 9), 1e-10);
	kab_change_fast(y, 5, 0, 0, 0, &f);
	assert_true(f.nights == 0 && isnan(f.p[0]));
	/* with phi known, a step is recovered from whitened values without bias */
	for (int i = 0; i < 44; i++)
		x[i] = i % 2 ? 1 : -1;
	for (int i = 40; i < 44; i++)
		x[i] += 50;
	kab_change_fast(x, 44, 0, 0.5, 0, &f);
	assert_true(fabs(f.shift[3] - 50) < 3);
}

/* Stationary noise, 1000 simulated experiments of 10 boots: no bias, the same number everywhere. */
static void test_warmup_is_unbiased(void **state)
{
	enum { BOOTS = 10, N_IT = 12, ROUNDS = 1000 };
	struct kab_rng rng;
	double sum = 0, sq = 0, dropped = 0;

	(void)state;
	kab_rng_seed(&rng, 15);
	for (int r = 0; r < ROUNDS; r++) {
		double x[BOOTS * N_IT], m = 0;
		struct kab_warmup w;
		size_t n = 0;

		for (size_t i = 0; i < BOOTS * N_IT; i++)
			x[i] = kab_rng_normal(&rng);
		kab_warmup_sign(x, BOOTS, N_IT, -1, 0, &w);
		dropped += w.drop > 0;
		for (size_t b = 0; b < BOOTS; b++)
			for (size_t i = w.drop; i < N_IT; i++, n++)
				m += x[b * N_IT + i];
		sum += m / (double)n;
		sq += m / (double)n * m / (double)n;
	}
	double mean = sum / ROUNDS, se = sqrt(sq / ROUNDS - mean * mean) / sqrt(ROUNDS);

	assert_true(fabs(mean) < 4 * se);
	/* nominal 0.01; the sign test is discrete: P(10 of 10) = 0.001, P(9+ of 10) = 0.011 */
	assert_true(dropped / ROUNDS < 0.01 + 4 * sqrt(0.01 / ROUNDS));
}

static void test_warmup_is_found(void **state)
{
	enum { BOOTS = 10, N_IT = 12 };
	struct kab_rng rng;
	double x[BOOTS * N_IT], up[BOOTS * N_IT];
	struct kab_warmup w;

	(void)state;
	kab_rng_seed(&rng, 16);
	for (size_t b = 0; b < BOOTS; b++)
		for (size_t i = 0; i < N_IT; i++) {
			x[b * N_IT + i] =
				kab_rng_normal(&rng) + (i < 2 ? 8.0 / (double)(i + 1) : 0);
			up[b * N_IT + i] = -x[b * N_IT + i];
		}
	kab_warmup_sign(x, BOOTS, N_IT, -1, 0, &w);
	assert_int_equal(w.drop, 2);
	kab_warmup_sign(up, BOOTS, N_IT, 1, 0, &w);
	assert_int_equal(w.drop, 2);
	kab_warmup_sign(x, BOOTS, N_IT, 0, 0, &w);
	assert_int_equal(w.drop, 2);
	/* the wrong direction is no warm-up; few boots prove nothing; half of the iterations stay */
	kab_warmup_sign(x, BOOTS, N_IT, 1, 0, &w);
	assert_int_equal(w.drop, 0);
	kab_warmup_sign(x, 6, N_IT, -1, 0, &w);
	assert_int_equal(w.drop, 0);
	kab_warmup_sign(x, 60, 2, -1, 1, &w);
	assert_true(w.drop <= 1);
}

static void test_steady_state(void **state)
{
	struct kab_rng rng;
	struct kab_steady s;
	double x[400];

	(void)state;
	kab_rng_seed(&rng, 17);
	for (int i = 0; i < 400; i++)
		x[i] = 100 + kab_rng_normal(&rng) + (i < 60 ? 12 : 0);
	assert_int_equal(kab_steady_find(x, 400, &s), 0);
	assert_true(s.steady && s.n == 2 && s.warmup >= 58 && s.warmup <= 62);
	kab_steady_release(&s);
	/* the last part is not the mode of behaviour */
	for (int i = 0; i < 400; i++)
		x[i] = 100 + kab_rng_normal(&rng) + (i >= 330 ? 12 : 0);
	kab_steady_find(x, 400, &s);
	assert_false(s.steady);
	kab_steady_release(&s);
	for (int i = 0; i < 400; i++)
		x[i] = 100 + kab_rng_normal(&rng);
	kab_steady_find(x, 400, &s);
	assert_true(s.steady && s.n == 1 && s.warmup == 0);
	kab_steady_release(&s);
	for (int i = 0; i < 400; i++)
		x[i] = 5;
	kab_steady_find(x, 400, &s);
	assert_true(s.steady && s.warmup == 0);
	kab_steady_release(&s);
	assert_int_equal(kab_steady_find(x, 99, &s), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distributions),	cmocka_unit_test(test_permutation),
		cmocka_unit_test(test_bootstrap),	cmocka_unit_test(test_plan),
		cmocka_unit_test(test_sequential),	cmocka_unit_test(test_hierarchy_unbalanced),
		cmocka_unit_test(test_adjust),		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_fast_path),	cmocka_unit_test(test_warmup_is_unbiased),
		cmocka_unit_test(test_warmup_is_found), cmocka_unit_test(test_steady_state),
	};

	kab_stats_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
