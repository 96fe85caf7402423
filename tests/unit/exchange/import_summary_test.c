/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of which only n, mean and standard deviation are known: compared, stored, judged. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../store/fixture.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "exchange/import_build.h"
#include "judge/judge.h"
#include "stats/verdict.h"

#define PAIRS 200

static void assert_close(double got, double want)
{
	if (isnan(got) && isnan(want))
		return;
	if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
		fail_msg("want %.17g, got %.17g", want, got);
}

/* The moments of values say as much as the values, as far as no rank is asked for. */
static void test_moments_as_values(void **state)
{
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 5);
	o.dir = -1;
	o.unit = KAB_UNIT_VALUES;
	for (int i = 0; i < PAIRS; i++) {
		double a[12], b[9], cv = i % 4 ? 0.02 : 0.4;
		struct kab_comparison of_values, of_moments;
		struct kab_moments ma, mb;

		for (size_t k = 0; k < KAB_ARRAY_SIZE(a); k++)
			a[k] = fabs(10 * (1 + cv * kab_rng_normal(&rng))) + 0.1;
		for (size_t k = 0; k < KAB_ARRAY_SIZE(b); k++)
			b[k] = fabs(9.8 * (1 + cv * kab_rng_normal(&rng))) + 0.1;
		ma = kab_moments_of(a, KAB_ARRAY_SIZE(a));
		mb = kab_moments_of(b, KAB_ARRAY_SIZE(b));
		assert_int_equal(kab_compare(a, ma.n, b, mb.n, &o, &of_values), 0);
		assert_int_equal(kab_compare_moments(&ma, &mb, &o, &of_moments), 0);
		assert_int_equal(of_values.method, of_moments.method);
		assert_int_equal(of_values.verdict, of_moments.verdict);
		assert_string_equal(of_values.reason, of_moments.reason);
		assert_close(of_moments.ratio_test.t, of_values.ratio_test.t);
		assert_close(of_moments.ratio_test.df, of_values.ratio_test.df);
		assert_close(of_moments.p, of_values.p);
		assert_close(of_moments.ratio_ci.lo, of_values.ratio_ci.lo);
		assert_close(of_moments.ratio_ci90.hi, of_values.ratio_ci90.hi);
		assert_close(of_moments.welch.test.p, of_values.welch.test.p);
		assert_close(of_moments.gain_pct, of_values.gain_pct);
		assert_true(isnan(of_moments.mann_whitney.p));
		assert_true(isnan(of_moments.hodges_lehmann.shift));
		assert_false(of_moments.rank_disagrees);
	}
}

static void test_moments_that_say_too_little(void **state)
{
	static const struct {
		struct kab_moments a, b;
		enum kab_method method;
	} cases[] = {
		{ { 5, 10, NAN }, { 5, 11, 0.1 }, KAB_METHOD_NONE },
		{ { 5, 10, 0 }, { 5, 11, 0 }, KAB_METHOD_NONE },
		{ { 1, 10, NAN }, { 5, 11, 0.1 }, KAB_METHOD_NONE },
		{ { 5, 10, 0 }, { 5, 11, 0.1 }, KAB_METHOD_LOG_DELTA },
		{ { 5, -10, 1 }, { 5, 11, 1 }, KAB_METHOD_DIFFERENCE },
		{ { 5, 0, 1 }, { 5, 11, 1 }, KAB_METHOD_DIFFERENCE },
		{ { 5, 10, 3 }, { 5, 11, 1 }, KAB_METHOD_FIELLER },
	};
	struct kab_compare_opts o = KAB_COMPARE_OPTS_INIT;
	struct kab_moments none = { 0, NAN, NAN }, some = { 3, 1, 1 };
	struct kab_comparison c;

	(void)state;
	o.dir = -1;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		assert_int_equal(kab_compare_moments(&cases[i].a, &cases[i].b, &o, &c), 0);
		assert_int_equal(c.method, cases[i].method);
		assert_true((c.method == KAB_METHOD_NONE) == (bool)isnan(c.p));
		if (cases[i].a.mean <= 0)
			assert_true(isnan(c.ratio));
	}
	assert_int_equal(kab_compare_moments(&none, &some, &o, &c), -1);
	o.margin = 2;
	assert_int_equal(kab_compare_moments(&some, &some, &o, &c), -1);
}

static void add(struct fixture *f, struct kab_import *import, const char *kernel, int64_t n,
		double mean, double sd)
{
	struct kab_import_place place = { .kernel = kernel, .case_name = "c", .runner = "import" };

	OK(f, kab_import_add_summary(import, &place, "time", "s", KAB_DIR_LOWER, n, mean, sd, "f:1",
				     &f->err));
	OK(f, kab_import_judge(import, "c", "import", "time", "s", KAB_DIR_LOWER, NULL, &f->err));
}

static void store(struct fixture *f, struct kab_import *import, const char *name, int64_t *ret_id)
{
	struct kab_import_opts opts = { .name = name, .margin_pct = 2, .source = "summary" };
	char *got;

	OK(f, kab_import_store(f->store, import, &opts, ret_id, &got, &f->err));
	free(got);
	kab_import_release(import);
}

static void test_stored_and_judged(void **state)
{
	struct fixture *f = *state;
	struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	struct kab_import import = { 0 };
	struct kab_summary_info *list;
	struct kab_judgement j;
	struct kab_row_list rows;
	const struct kab_pair *pair;
	char hex[KAB_SHA256_HEX_SIZE], *name;
	int64_t id;
	size_t n;

	add(f, &import, "base", 10, 1.25, 0.02);
	add(f, &import, "patched", 12, 1.2, NAN);
	add(f, &import, "other", 10, 1.2, 0.02);
	kab_import_digest(&import, "x", 1);
	kab_import_sha256(&import, hex);
	store(f, &import, "s", &id);
	OK(f, kab_store_find_import(f->store, hex, &name, &f->err));
	assert_string_equal(name, "s");
	free(name);
	hex[0] = hex[0] == '0' ? '1' : '0';
	assert_int_equal(kab_store_find_import(f->store, hex, &name, &f->err), 1);
	OK(f, kab_store_list_summaries(f->store, id, &list, &n, &f->err));
	assert_int_equal(n, 3);
	assert_string_equal(list[1].kernel, "patched");
	assert_int_equal(list[1].n, 12);
	assert_true(list[1].mean == 1.2 && isnan(list[1].sd) && list[0].sd == 0.02);
	for (size_t i = 0; i < n; i++)
		kab_summary_info_release(&list[i]);
	free(list);

	OK(f, kab_store_load_rows(f->store, &id, 1, &rows, &f->err));
	assert_int_equal(rows.n, 1);
	assert_true(rows.v[0].boots_unknown && rows.v[0].primary);
	assert_int_equal(kab_judge(&rows, &opts, &j, &f->err), 0);
	assert_false(j.any_failed);
	assert_int_equal(j.family, 1);
	pair = &j.v[0].pairs[0];
	assert_int_equal(pair->outcome, KAB_OUTCOME_INCONCLUSIVE);
	assert_false(pair->tested);
	assert_contains(pair->reason, "standard deviation is not known");
	pair = &j.v[0].pairs[1];
	assert_int_equal(pair->outcome, KAB_OUTCOME_IMPROVED);
	assert_true(pair->tested && pair->summary && !pair->one_boot);
	assert_contains(pair->warning, "boots are unknown");
	assert_true(j.v[0].sets[0].summary && !j.v[0].sets[0].n_values && !j.v[0].sets[0].n_boots);
	assert_int_equal(kab_set_count(&j.v[0].sets[0]), 10);
	assert_true(isnan(j.v[0].sets[0].median) && isnan(kab_set_percentile(&j.v[0].sets[0], 99)));
	kab_judgement_release(&j);
	kab_row_list_release(&rows);
}

/* A label of two runs is two kernels when one of them is a summary. */
static void test_never_pooled(void **state)
{
	struct fixture *f = *state;
	struct kab_import import = { 0 };
	struct kab_import_place place = { .kernel = "base", .case_name = "c", .runner = "import" };
	struct kab_row_list rows;
	int64_t ids[2];

	add(f, &import, "base", 10, 1.25, 0.02);
	kab_import_digest(&import, "1", 1);
	store(f, &import, "means", &ids[0]);
	kab_samples_add(&kab_import_add(&import, &place, NULL)->samples, "time", "s", KAB_DIR_LOWER,
			1.0);
	store(f, &import, "values", &ids[1]);
	OK(f, kab_store_load_rows(f->store, ids, 2, &rows, &f->err));
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.v[0].n_sets, 2);
	assert_string_equal(rows.v[0].sets[0].kernel, "base@means");
	assert_string_equal(rows.v[0].sets[1].kernel, "base@values");
	assert_int_equal(rows.v[0].sets[0].summary.n, 10);
	assert_int_equal(rows.v[0].sets[0].n_boots, 0);
	assert_int_equal(rows.v[0].sets[1].summary.n, 0);
	assert_int_equal(rows.v[0].sets[1].n_boots, 1);
	kab_row_list_release(&rows);
}

/* One figure as values and as a summary is refused, and nothing is left behind. */
static void test_never_mixed(void **state)
{
	struct fixture *f = *state;
	struct kab_import import = { 0 };
	struct kab_import_place place = { .kernel = "base", .case_name = "c", .runner = "import" };
	struct kab_import_opts opts = { .name = "m", .source = "summary" };
	struct kab_run_info *runs;
	char *name;
	int64_t id;
	size_t n;

	add(f, &import, "base", 10, 1.25, 0.02);
	kab_samples_add(&kab_import_add(&import, &place, NULL)->samples, "time", "s", KAB_DIR_LOWER,
			1.0);
	assert_int_equal(kab_import_store(f->store, &import, &opts, &id, &name, &f->err), -1);
	assert_contains(f->err.text, "both as values and as a summary");
	assert_int_equal(kab_import_add_summary(&import, &place, "time", "s", KAB_DIR_LOWER, 3, 1,
						1, "f:9", &f->err),
			 -1);
	assert_contains(f->err.text, "f:9: a second summary");
	kab_import_release(&import);
	OK(f, kab_store_list_runs(f->store, 0, &runs, &n, &f->err));
	assert_int_equal(n, 0);
	free(runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments_as_values),
		cmocka_unit_test(test_moments_that_say_too_little),
		cmocka_unit_test_setup_teardown(test_stored_and_judged, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_never_pooled, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_never_mixed, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
