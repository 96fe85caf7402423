/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold for every sample: units, order, sides; and the facts of real mails. */
#include <jansson.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "stats/describe.h"
#include "stats/permute.h"
#include "stats/quantile.h"
#include "stats/sort.h"
#include "test.h"

enum { ROUNDS = 300, MOST = 24 };

static void draw(struct kab_rng *rng, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = exp(4 + 0.05 * kab_rng_normal(rng));
}

static void map(const double *x, double *y, size_t n, double factor, double shift)
{
	for (size_t i = 0; i < n; i++)
		y[i] = factor * x[i] + shift;
}

static void test_units(void **state)
{
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 1);
	for (int r = 0; r < ROUNDS; r++) {
		size_t na = 2 + kab_rng_below(&rng, MOST - 2),
		       nb = 2 + kab_rng_below(&rng, MOST - 2);
		double a[MOST], b[MOST], sa[MOST], sb[MOST];

		draw(&rng, a, na);
		draw(&rng, b, nb);
		struct kab_comparison c = compare(a, na, b, nb, -1), s;

		/* another unit: a power of two changes nothing at all, another factor only rounding */
		map(a, sa, na, 1024, 0);
		map(b, sb, nb, 1024, 0);
		s = compare(sa, na, sb, nb, -1);
		assert_true(s.p == c.p && s.ratio_ci95.lo == c.ratio_ci95.lo);
		assert_int_equal(s.verdict, c.verdict);
		map(a, sa, na, 1e-6, 0);
		map(b, sb, nb, 1e-6, 0);
		s = compare(sa, na, sb, nb, -1);
		assert_near(s.p, c.p, 1e-9);
		assert_near(s.ratio_ci95.hi, c.ratio_ci95.hi, 1e-12);
		assert_int_equal(s.verdict, c.verdict);
		/* a shift moves the means, not the difference and its test */
		map(a, sa, na, 1, 1000);
		map(b, sb, nb, 1, 1000);
		s = compare(sa, na, sb, nb, -1);
		assert_near(s.welch.test.p, c.welch.test.p, 1e-8);
		assert_near(s.welch.se, c.welch.se, 1e-10);
		assert_true(fabs(s.hodges_lehmann.shift - c.hodges_lehmann.shift) < 1e-10);
		assert_near(s.mann_whitney.p, c.mann_whitney.p, 1e-12);
	}
}

static void test_order_of_values(void **state)
{
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 2);
	for (int r = 0; r < ROUNDS; r++) {
		size_t n = 3 + kab_rng_below(&rng, MOST - 3), idx[MOST];
		double a[MOST], b[MOST], p[MOST];

		draw(&rng, a, n);
		draw(&rng, b, n);
		for (size_t i = 0; i < n; i++)
			idx[i] = i;
		kab_rng_shuffle(&rng, idx, n);
		for (size_t i = 0; i < n; i++)
			p[i] = b[idx[i]];
		struct kab_comparison c = compare(a, n, b, n, 1), s = compare(a, n, p, n, 1);

		assert_near(s.p, c.p, 1e-10);
		assert_near(s.mean_test, c.mean_test, 4e-16);
		assert_true(s.mann_whitney.u == c.mann_whitney.u);
		assert_true(s.hodges_lehmann.ci.lo == c.hodges_lehmann.ci.lo);
		assert_int_equal(s.verdict, c.verdict);
	}
}

static void test_swapping_sides(void **state)
{
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 3);
	for (int r = 0; r < ROUNDS; r++) {
		size_t na = 2 + kab_rng_below(&rng, MOST - 2),
		       nb = 2 + kab_rng_below(&rng, MOST - 2);
		double a[MOST], b[MOST];

		draw(&rng, a, na);
		draw(&rng, b, nb);
		struct kab_comparison c = compare(a, na, b, nb, -1), s = compare(b, nb, a, na, -1);

		assert_near(s.ratio, 1 / c.ratio, 1e-14);
		assert_near(s.welch.test.t, -c.welch.test.t, 1e-12);
		assert_near(s.p, c.p, 1e-10);
		if (c.method == KAB_METHOD_LOG_DELTA) {
			assert_near(s.ratio_ci95.lo, 1 / c.ratio_ci95.hi, 1e-12);
			assert_near(s.ratio_ci95.hi, 1 / c.ratio_ci95.lo, 1e-12);
		}
		assert_near(s.mann_whitney.p, c.mann_whitney.p, 1e-12);
		assert_near(s.mann_whitney.u, c.mann_whitney.u_base, 1e-14);
		assert_near(s.mann_whitney.p_less, c.mann_whitney.p_greater, 1e-12);
		assert_true(fabs(s.hodges_lehmann.shift + c.hodges_lehmann.shift) < 1e-12);
		assert_true(fabs(s.hodges_lehmann.ci.lo + c.hodges_lehmann.ci.hi) < 1e-12);
		/* improved one way is regressed the other */
		assert_true((c.verdict == KAB_VERDICT_IMPROVED) ==
				    (s.verdict == KAB_VERDICT_REGRESSED) ||
			    c.verdict == KAB_VERDICT_EQUIVALENT ||
			    s.verdict == KAB_VERDICT_EQUIVALENT);
	}
}

/* The interval and the p are one statement. */
static void test_interval_and_p_agree(void **state)
{
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 4);
	for (int r = 0; r < 2000; r++) {
		size_t na = 2 + kab_rng_below(&rng, 8), nb = 2 + kab_rng_below(&rng, 8);
		double a[MOST], b[MOST];

		draw(&rng, a, na);
		draw(&rng, b, nb);
		if (r % 3 == 0)
			map(a, a, na, 1, -40); /* spread above 20 %, some values below 0 */
		struct kab_comparison c = compare(a, na, b, nb, -1);

		if (isnan(c.ratio_ci95.lo))
			continue;
		bool out = c.ratio_ci95.lo > 1 || c.ratio_ci95.hi < 1;

		assert_true(out == (c.p < 0.05));
	}
}

/* The ends of the range of doubles, zeros and signs in every mixture: never infinity, never a verdict
 * without a test behind it. */
static void test_extreme_values(void **state)
{
	static const double pool[] = {
		0, 5e-324, 1e-310, 2e-308, 1e-160, 1e-150, 0.1, 1, 1.0000000000000002,
		3, 1e15,   1e150,  1e155,  1e300,  1.7e308
	};
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 9);
	for (int r = 0; r < 20000; r++) {
		size_t na = 1 + kab_rng_below(&rng, 7), nb = 1 + kab_rng_below(&rng, 7);
		struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
		struct kab_comparison c;
		double x[2][8];
		size_t near = kab_rng_below(&rng, N(pool));

		o.dir = r % 2 ? 1 : -1;
		if (r % 5 == 0) {
			o.design = KAB_DESIGN_PAIRED;
			nb = na;
		}
		for (int s = 0; s < 2; s++)
			for (size_t i = 0; i < 8; i++) {
				/* one magnitude with noise, or anything next to anything */
				x[s][i] = r % 3 ? pool[near] * (1 + 0.01 * kab_rng_uniform(&rng))
						: pool[kab_rng_below(&rng, N(pool))];
				if (!isfinite(x[s][i]))
					x[s][i] = 1.7e308;
				if (r % 4 == 0 && kab_rng_below(&rng, 2))
					x[s][i] = -x[s][i];
			}
		assert_int_equal(kab_compare(x[0], na, x[1], nb, &o, &c), 0);
		assert_true(c.reason[0] && strlen(c.reason) < KAB_REASON_MAX - 1);
		assert_null(strstr(c.reason, "nan"));
		assert_null(strstr(c.reason, "inf "));
		assert_false(isinf(c.ratio) || isinf(c.delta_pct) || isinf(c.gain_pct));
		assert_true(isnan(c.p) || (c.p >= 0 && c.p <= 1));
		assert_true(c.verdict != KAB_VERDICT_NONE);
		if (c.verdict == KAB_VERDICT_IMPROVED || c.verdict == KAB_VERDICT_REGRESSED)
			assert_true(c.p < 0.05 && na > 1 && nb > 1);
		if (c.verdict == KAB_VERDICT_EQUIVALENT)
			assert_true(na > 1 && nb > 1);
	}
}

/* All orders of tied values, n up to 8 a side, against plain enumeration. */
static void test_mann_whitney_by_enumeration(void **state)
{
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 5);
	for (int r = 0; r < 60; r++) {
		size_t na = 1 + kab_rng_below(&rng, 6), nb = 1 + kab_rng_below(&rng, 6),
		       n = na + nb;
		double z[12];
		double le = 0, ge = 0, total = 0, seen = 0;
		struct kab_mann_whitney m;

		for (size_t i = 0; i < n; i++)
			z[i] = (double)kab_rng_below(&rng, 6);
		for (size_t i = 0; i < na; i++)
			for (size_t j = na; j < n; j++)
				seen += z[j] > z[i] ? 1 : z[j] == z[i] ? 0.5 : 0;
		for (unsigned mask = 0; mask < 1u << n; mask++) {
			double u = 0;

			if ((size_t)__builtin_popcount(mask) != na)
				continue;
			for (size_t i = 0; i < n; i++)
				for (size_t j = 0; j < n; j++)
					if ((mask >> i & 1) && !(mask >> j & 1))
						u += z[j] > z[i] ? 1 : z[j] == z[i] ? 0.5 : 0;
			total++;
			le += u <= seen;
			ge += u >= seen;
		}
		kab_mann_whitney(z, na, z + na, nb, &m);
		assert_near(m.u, seen, 1e-15);
		assert_near(m.p, fmin(1, 2 * fmin(le, ge) / total), 1e-12);
		assert_near(m.p_less, ge / total, 1e-12);
	}
}

/* Selection without forming the pairs, against sorting them all. */
static void test_hodges_lehmann_large(void **state)
{
	enum { A = 400, B = 300 };
	double *a = kab_xcalloc(A, sizeof(*a)), *b = kab_xcalloc(B, sizeof(*b));
	double *d = kab_xcalloc(A * B, sizeof(*d));
	struct kab_rng rng;
	struct kab_hodges_lehmann h;

	(void)state;
	kab_rng_seed(&rng, 6);
	for (int ties = 0; ties < 2; ties++) {
		for (size_t i = 0; i < A; i++)
			a[i] = ties ? (double)kab_rng_below(&rng, 9) : 100 + kab_rng_normal(&rng);
		for (size_t i = 0; i < B; i++)
			b[i] = ties ? (double)kab_rng_below(&rng, 9) : 101 + kab_rng_normal(&rng);
		for (size_t i = 0; i < A; i++)
			for (size_t j = 0; j < B; j++)
				d[i * B + j] = b[j] - a[i];
		kab_sort(d, A * B);
		kab_hodges_lehmann(a, A, b, B, 0.95, &h);
		size_t n = A * B;

		assert_true(h.shift == 0.5 * (d[n / 2 - 1] + d[n / 2]) ||
			    fabs(h.shift - 0.5 * (d[n / 2 - 1] + d[n / 2])) < 1e-15);
		double q = floor(0.5 * n - 1.959963984540054 * sqrt((double)n * (A + B + 1) / 12));

		assert_true(h.ci.lo == d[(size_t)q - 1] && h.ci.hi == d[n - (size_t)q]);
	}
	free(a);
	free(b);
	free(d);
}

static void test_sort(void **state)
{
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 7);
	static const size_t sizes[] = { 0, 1, 2, 47, 48, 49, 1000, 4095, 4096, 20000 };

	for (size_t k = 0; k < N(sizes); k++) {
		size_t n = sizes[k];
		double *x = kab_xcalloc(n + 1, sizeof(*x)), sum = 0, after = 0;

		for (size_t i = 0; i < n; i++) {
			x[i] = kab_rng_normal(&rng) *
			       pow(10, (double)kab_rng_below(&rng, 600) - 300);
			if (i % 7 == 0)
				x[i] = (double)kab_rng_below(&rng, 3) - 1;
			sum += x[i] > 0;
		}
		double *s = kab_sorted_copy(x, n);

		for (size_t i = 0; i < n; i++) {
			after += s[i] > 0;
			assert_true(i == 0 || s[i - 1] <= s[i]);
		}
		assert_true(sum == after);
		free(s);
		free(x);
	}
}

/* 99 % of 101 values is the hundredth exactly; what cannot be known is said. */
static void test_quantiles(void **state)
{
	double x[101], q;
	struct kab_interval ci;

	(void)state;
	for (int i = 0; i < 101; i++)
		x[i] = 0.1 * (i + 1);
	kab_quantile_sorted(x, 101, 7, 99, 100, &q);
	assert_true(q == x[99]);
	assert_int_equal(kab_quantile_sorted(x, 0, 7, 1, 2, &q), -1);
	assert_true(isnan(q));
	assert_int_equal(kab_quantile_sorted(x, 5, 3, 1, 2, &q), -1);
	assert_int_equal(kab_quantile_sorted(x, 5, 7, 3, 2, &q), -1);
	kab_quantile_sorted(x, 101, 7, 0, 1, &q);
	assert_true(q == x[0]);
	kab_quantile_sorted(x, 101, 1, 1, 1, &q);
	assert_true(q == x[100]);
	assert_false(kab_quantile_supported(25, 99, 100));
	assert_true(kab_quantile_supported(100, 99, 100));
	assert_false(kab_quantile_supported(99, 1, 100));
	/* binomial: six values for the median at 95 %, 59 for an upper bound of P95 */
	assert_int_equal(kab_quantile_ci_sorted(x, 5, 1, 2, 0.95, &ci), 1);
	assert_int_equal(kab_quantile_ci_sorted(x, 6, 1, 2, 0.95, &ci), 0);
	assert_true(ci.lo == x[0] && ci.hi == x[5]);
	assert_int_equal(kab_quantile_upper_sorted(x, 58, 95, 100, 0.95, &q), 1);
	assert_int_equal(kab_quantile_upper_sorted(x, 59, 95, 100, 0.95, &q), 0);
	assert_true(q == x[58]);
	/* n = 20: ranks 6 and 15, the textbook interval of 95.9 % */
	kab_quantile_ci_sorted(x, 20, 1, 2, 0.95, &ci);
	assert_true(ci.lo == x[5] && ci.hi == x[14]);
}

static void test_running_moments(void **state)
{
	struct kab_rng rng;
	struct kab_running all = { 0 }, part[3] = { { 0 } };
	double x[300];

	(void)state;
	kab_rng_seed(&rng, 8);
	for (size_t i = 0; i < 300; i++) {
		x[i] = 1e6 + kab_rng_normal(&rng);
		kab_running_push(&all, x[i]);
		kab_running_push(&part[i % 3], x[i]);
	}
	for (int i = 1; i < 3; i++)
		kab_running_merge(&part[0], &part[i]);
	assert_near(kab_running_sd(&all), kab_sd(x, 300), 1e-9);
	assert_near(kab_running_sd(&part[0]), kab_sd(x, 300), 1e-9);
	assert_near(part[0].mean, kab_mean(x, 300), 1e-14);
	assert_true(isnan(kab_running_sd(&(struct kab_running){ 1, 5, 0 })));
}

static void test_outliers(void **state)
{
	static const double x[] = { 10, 11, 12, 11, 10, 12, 11, 15, 60, 11, -40 };
	struct kab_outliers o;

	(void)state;
	kab_outliers_count(x, N(x), &o);
	assert_int_equal(o.high_mild, 2); /* 15 and 60: quartiles 10.5 and 12 */
	assert_int_equal(o.high_far, 1);
	assert_int_equal(o.low_far, 1);
	assert_int_equal(o.mad10, 2);
	assert_near(kab_geomean((const double[]){ 2, 8 }, 2), 4, 1e-15);
	assert_true(isnan(kab_geomean((const double[]){ 2, 0 }, 2)));
}

/* The value at "key/key/key"; keys hold no slash. */
static const json_t *dig(const json_t *v, const char *path)
{
	for (const char *at = path; v && *at;) {
		size_t len = strcspn(at, "/");
		kab_autofree char *key = kab_xstrndup(at, len);

		v = json_object_get(v, key);
		at += len + (at[len] == '/');
	}
	if (!v)
		fail_msg("seeds.json has no %s", path);
	return v;
}

static size_t values(const json_t *v, double *x)
{
	size_t i;
	json_t *item;

	json_array_foreach (v, i, item)
		x[i] = json_number_value(item);
	return json_array_size(v);
}

static void check_comparison(const json_t *want, const double *a, size_t na, const double *b,
			     size_t nb)
{
	struct kab_comparison c = compare(a, na, b, nb, -1);

	assert_near(c.welch.test.t, json_number_value(dig(want, "welch_t")), 1e-10);
	assert_near(c.welch.test.df, json_number_value(dig(want, "welch_df")), 1e-10);
	assert_near(c.welch.test.p, json_number_value(dig(want, "welch_p")), 1e-10);
	assert_near(c.delta_pct, json_number_value(dig(want, "delta_pct")), 1e-9);
	assert_near(c.mann_whitney.u, json_number_value(dig(want, "mwu_U_new")), 0);
	if (!strcmp(json_string_value(dig(want, "mwu_p_kind")), "exact"))
		assert_near(c.mann_whitney.p, json_number_value(dig(want, "mwu_p")), 1e-10);
	else
		assert_near(c.mann_whitney.p_normal, json_number_value(dig(want, "mwu_p")), 1e-10);
}

/* Published tables: the stddev that is twice too large, and the tests nobody had run. */
static void test_seed_mails(void **state)
{
	static const char *const metrics[] = { "completion", "user", "sys" };
	kab_autofree char *path = kab_xasprintf("%s/tests/data/stats/seeds.json", KAB_SOURCE_DIR);
	json_t *all = json_load_file(path, 0, NULL);

	(void)state;
	assert_non_null(all);
	const json_t *m3 = dig(all, "seeds/003_8bffe94b804845ad.txt");
	const json_t *m4 = dig(all, "seeds/004_7c8c558d8b3fc88c.txt");

	for (size_t k = 0; k < 3; k++) {
		double x[2][8];
		size_t n[2];
		const char *kernels[] = { "6.4.0", "6.4.0+" };

		for (int s = 0; s < 2; s++) {
			const json_t *v = dig(dig(dig(m3, "kernels"), kernels[s]), metrics[k]);
			struct kab_summary d;

			n[s] = values(dig(v, "raw"), x[s]);
			kab_describe(x[s], n[s], 0.95, &d);
			/* computed from the decimals; reading them into doubles costs digits of the sd */
			assert_near(d.mean, json_number_value(dig(v, "correct/mean")), 1e-14);
			assert_near(d.sd, json_number_value(dig(v, "correct/sd_n_minus_1")), 1e-9);
			assert_near(d.sd_pop, json_number_value(dig(v, "correct/sd_n")), 1e-9);
			assert_near(d.cv_pct, json_number_value(dig(v, "correct/cv_pct")), 1e-9);
			/* printed: the square root of the sum of squares, twice the sd at n = 5 */
			assert_near(json_number_value(dig(v, "published/stddev")) / d.sd, 2, 1e-7);
		}
		check_comparison(dig(dig(m3, "comparison"), metrics[k]), x[0], n[0], x[1], n[1]);
	}
	double a[8], b[8];
	const json_t *f = dig(m4, "first_message");
	size_t na = values(dig(f, "reconstructed/baseline_smtoff"), a);
	size_t nb = values(dig(f, "reconstructed/patched_smtoff"), b);

	check_comparison(dig(f, "comparison"), a, na, b, nb);
	/* quantile type 7 is what the mail's columns were made with */
	double q;

	kab_sort(b, nb);
	kab_quantile_sorted(b, nb, 7, 1, 4, &q);
	assert_near(q, json_number_value(dig(f, "published/patched_smtoff/p25")), 1e-15);
	kab_quantile_sorted(b, nb, 7, 3, 4, &q);
	assert_near(q, json_number_value(dig(f, "published/patched_smtoff/p75")), 1e-15);
	assert_false(kab_quantile_supported(12, 99, 100));

	/* -3.48 % is a difference, +0.32 % is not: from the printed summaries alone */
	const char *smt[] = { "SMT-ON", "SMT-OFF" };

	for (size_t k = 0; k < 2; k++) {
		const json_t *w = dig(dig(dig(m4, "correct_deltas"), smt[k]), "welch_from_summary");
		struct kab_moments s[2];
		struct kab_welch r;

		for (size_t i = 0; i < 2; i++) {
			const json_t *row = json_array_get(dig(m4, "table"), 2 * k + i);

			s[i].n = (size_t)json_integer_value(dig(row, "count"));
			s[i].mean = json_number_value(dig(row, "mean"));
			s[i].sd = json_number_value(dig(row, "std"));
		}
		kab_welch_moments(&s[0], &s[1], 0.95, &r);
		assert_near(r.test.t, json_number_value(dig(w, "welch_t")), 1e-9);
		assert_near(r.test.df, json_number_value(dig(w, "welch_df")), 1e-9);
		assert_near(r.test.p, json_number_value(dig(w, "welch_p")), 1e-9);
	}
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_order_of_values),
		cmocka_unit_test(test_swapping_sides),
		cmocka_unit_test(test_interval_and_p_agree),
		cmocka_unit_test(test_extreme_values),
		cmocka_unit_test(test_mann_whitney_by_enumeration),
		cmocka_unit_test(test_hodges_lehmann_large),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_running_moments),
		cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_seed_mails),
	};

	kab_stats_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
