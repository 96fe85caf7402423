/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "judge/judge.h"
#include "rows.h"

static struct kab_judgement judge(const struct kab_row_list *rows)
{
	struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	struct kab_judgement j;

	assert_int_equal(kab_judge(rows, &opts, &j, NULL), 0);
	return j;
}

static void boots(struct kab_sample_set *set, const double *means, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double v[2] = { means[i] - 0.01, means[i] + 0.01 };

		set_boot(set, (int)i, v, 2);
	}
}

/* Numbers of the mean of boot means, by hand: boots (1, 3) and (5): means 2 and 5, mean 3.5. */
static void means_are_of_boot_means(void **state)
{
	struct kab_row_list rows = { 0 };
	struct kab_row_data *row = rows_add(&rows, "c", "", "time", "s", KAB_DIR_LOWER);
	struct kab_judgement j;
	struct kab_tally tally;
	char *text;
	double one[] = { 1, 3 }, two[] = { 5 };

	(void)state;
	row_kernel(row, "a");
	set_boot(&row->sets[0], 0, one, 2);
	set_boot(&row->sets[0], 1, two, 1);
	row_kernel(row, "b");
	set_boot(&row->sets[1], 0, one, 2);
	j = judge(&rows);
	assert_near(j.v[0].sets[0].mean, 3.5, 1e-12);
	assert_near(j.v[0].sets[0].sd, sqrt(4.5), 1e-12);
	assert_true(j.v[0].sets[0].over_boots);
	assert_near(j.v[0].sets[0].min, 1, 0);
	assert_near(j.v[0].sets[0].max, 5, 0);
	assert_near(j.v[0].sets[0].median, 3, 0);
	/* One boot: over iterations, no test, no mark. */
	assert_false(j.v[0].sets[1].over_boots);
	assert_near(j.v[0].sets[1].mean, 2, 0);
	assert_int_equal(j.v[0].pairs[0].outcome, KAB_OUTCOME_INCONCLUSIVE);
	assert_string_equal(j.v[0].pairs[0].reason, "one boot");
	kab_judge_tally(&j, 0, &tally);
	assert_false(tally.restarts);
	assert_false(j.v[0].pairs[0].tested);
	kab_judgement_release(&j);
	rows.v[0].restarts = true;
	j = judge(&rows);
	kab_judge_tally(&j, 0, &tally);
	text = kab_tally_text(&tally);
	assert_non_null(strstr(text, "1 inconclusive (one restart)"));
	free(text);
	kab_judgement_release(&j);
	kab_row_list_release(&rows);
}

static const double level[] = { 10.00, 10.05, 9.95, 10.02, 9.98, 10.01 };
static const double slower[] = { 11.00, 11.05, 10.95, 11.02, 10.98, 11.01 };
static const double same[] = { 10.01, 10.04, 9.96, 10.01, 9.99, 10.00 };

static struct kab_row_data *pair_of(struct kab_row_list *rows, const char *key, const double *a,
				    const double *b, size_t n)
{
	struct kab_row_data *row = rows_add(rows, "c", key, "time", "s", KAB_DIR_LOWER);

	row_kernel(row, "a");
	boots(&row->sets[0], a, n);
	row_kernel(row, "b");
	boots(&row->sets[1], b, n);
	return row;
}

static void verdicts_and_tally(void **state)
{
	struct kab_row_list rows = { 0 };
	struct kab_judgement j;
	struct kab_tally t;
	struct kab_row_data *row;
	char *text;

	(void)state;
	pair_of(&rows, "g=1", level, slower, 6);
	pair_of(&rows, "g=2", slower, level, 6);
	pair_of(&rows, "g=3", level, same, 6);
	row = pair_of(&rows, "g=4", level, same, 6);
	row->primary = false;
	row = pair_of(&rows, "g=5", level, same, 6);
	row_word(&row->sets[1].argv_text, "groups=5");
	row = rows_add(&rows, "c", "g=6", "time", "s", KAB_DIR_LOWER);
	row_kernel(row, "a");
	boots(&row->sets[0], level, 6);
	row_kernel(row, "b");
	row->sets[1].n_planned = 12;
	row->sets[1].n_failed = 12;
	j = judge(&rows);
	assert_int_equal(j.v[0].pairs[0].outcome, KAB_OUTCOME_REGRESSED);
	assert_int_equal(j.v[1].pairs[0].outcome, KAB_OUTCOME_IMPROVED);
	assert_int_equal(j.v[2].pairs[0].outcome, KAB_OUTCOME_EQUIVALENT);
	assert_int_equal(j.v[3].pairs[0].outcome, KAB_OUTCOME_NO_VERDICT);
	assert_int_equal(j.v[4].pairs[0].outcome, KAB_OUTCOME_NOT_COMPARABLE);
	assert_int_equal(j.v[5].pairs[0].outcome, KAB_OUTCOME_FAILED);
	/* (10.00166 - 11.00166) / 10.00166 */
	assert_near(j.v[0].pairs[0].gain_pct, -9.998333, 1e-4);
	assert_true(j.v[0].pairs[0].gain_lo_pct < j.v[0].pairs[0].gain_pct);
	assert_true(j.v[0].pairs[0].gain_hi_pct > j.v[0].pairs[0].gain_pct);
	/* Only rows with a verdict and two sides are in the family. */
	assert_int_equal(j.family, 3);
	assert_true(j.any_failed);
	assert_true(j.any_regressed);
	kab_judge_tally(&j, 0, &t);
	text = kab_tally_text(&t);
	assert_string_equal(text, "5 rows: 1 improved, 1 regressed, 1 equivalent, 0 inconclusive, "
				  "1 failed, 1 not comparable");
	free(text);
	kab_judgement_release(&j);
	kab_row_list_release(&rows);
}

static void zeros(void **state)
{
	struct kab_row_list rows = { 0 };
	const double none[] = { 0, 0, 0, 0 }, hundred[] = { 100, 100, 100, 100 };
	struct kab_judgement j;
	struct kab_row_data *row;

	(void)state;
	for (int i = 0; i < 4; i++) {
		row = rows_add(&rows, "c",
			       i == 0	? "a=1"
			       : i == 1 ? "a=2"
					: "a=3",
			       "errors", i == 3 ? "ms" : "", KAB_DIR_LOWER);
		row_kernel(row, "a");
		row_kernel(row, "b");
		for (int b = 0; b < 4; b++) {
			set_boot(&row->sets[0], b, i == 0 ? hundred : none, 4);
			set_boot(&row->sets[1], b, i == 2 ? hundred : none, 4);
		}
	}
	j = judge(&rows);
	/* 100 to 0: a plain gain of 100 %. */
	assert_near(j.v[0].pairs[0].gain_pct, 100, 0);
	assert_false(j.v[0].pairs[0].gate);
	/* 0 to 0 counts: identical. */
	assert_int_equal(j.v[1].pairs[0].outcome, KAB_OUTCOME_EQUIVALENT);
	assert_non_null(strstr(j.v[1].pairs[0].reason, "identical"));
	/* 0 to 100: no percentage, but the gate sees it. */
	assert_true(isnan(j.v[2].pairs[0].gain_pct));
	assert_true(j.v[2].pairs[0].gate);
	assert_non_null(strstr(j.v[2].pairs[0].warning, "base is 0"));
	/* Times that are printed as 0.00 are not equal, they are not resolved. */
	assert_int_equal(j.v[3].pairs[0].outcome, KAB_OUTCOME_BELOW_RESOLUTION);
	kab_judgement_release(&j);
	kab_row_list_release(&rows);
}

static void blocks(void **state)
{
	struct kab_row_list rows = { 0 };
	struct kab_judgement j;
	struct kab_row_data *row;

	(void)state;
	row = pair_of(&rows, "", level, slower, 6);
	row->paired = true;
	row->sets[1].boots[5].n = 0; /* one block has lost a side */
	row = pair_of(&rows, "", level, slower, 3);
	row->paired = true;
	j = judge(&rows);
	assert_int_equal(j.v[0].pairs[0].blocks, 5);
	assert_int_equal(j.v[0].pairs[0].blocks_left_out, 1);
	assert_int_equal(j.v[0].pairs[0].outcome, KAB_OUTCOME_REGRESSED);
	assert_near(j.v[0].pairs[0].cmp.sign_flips.p, 0.0625, 1e-15); /* 2 of 2^5 */
	assert_int_equal(j.v[1].pairs[0].outcome, KAB_OUTCOME_INCONCLUSIVE);
	assert_non_null(strstr(j.v[1].pairs[0].reason, "complete blocks"));
	kab_judgement_release(&j);
	kab_row_list_release(&rows);
}

static void unequal_failures_warn(void **state)
{
	struct kab_row_list rows = { 0 };
	struct kab_judgement j;
	struct kab_row_data *row;

	(void)state;
	row = pair_of(&rows, "", level, same, 6);
	row->sets[1].n_planned += 2;
	row->sets[1].n_failed = 2;
	j = judge(&rows);
	assert_non_null(j.v[0].pairs[0].warning);
	assert_non_null(strstr(j.v[0].pairs[0].warning, "fail 2/14 on 'b'"));
	assert_non_null(strstr(j.v[0].pairs[0].warning, "0/12 on 'a'"));
	assert_non_null(strstr(j.v[0].pairs[0].warning, "n=12 against 12"));
	assert_null(strstr(j.v[0].pairs[0].warning, "chance"));
	assert_true(j.any_failed);
	kab_judgement_release(&j);
	/* 8 of 20 against 0 of 12: 0.01353, summed from exact binomials. */
	rows.v[0].sets[1].n_planned += 6;
	rows.v[0].sets[1].n_failed = 8;
	j = judge(&rows);
	assert_non_null(strstr(j.v[0].pairs[0].warning, "fail 8/20"));
	assert_non_null(strstr(j.v[0].pairs[0].warning, "not by chance, Fisher p 0.014"));
	kab_judgement_release(&j);
	kab_row_list_release(&rows);
}

static void geomean_counts_its_rows(void **state)
{
	struct kab_row_list rows = { 0 };
	size_t idx[] = { 0, 1, 2 }, used;
	struct kab_judgement j;
	struct kab_row_data *row;
	double a[] = { 2, 2 }, b[] = { 4, 4 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		row = rows_add(&rows, "c", "", "time", "s", KAB_DIR_LOWER);
		row_kernel(row, "a");
		row_kernel(row, "b");
		set_boot(&row->sets[0], 0, i == 1 ? b : a, 2);
		if (i < 2)
			set_boot(&row->sets[1], 0, i == 1 ? b : b, 2);
	}
	j = judge(&rows);
	/* Ratios 2 and 1; the third row has one side only. */
	assert_near(kab_judge_geomean(&j, idx, 3, 0, &used), sqrt(2), 1e-12);
	assert_int_equal(used, 2);
	kab_judgement_release(&j);
	kab_row_list_release(&rows);
}

/* No time is below 0, so that no gain is above 100 % where lower is better, and no loss above it
 * where higher is: Fieller's interval of the ratio goes below 0 here. */
static void intervals_are_possible(void **state)
{
	static const double steady[] = { 4, 5, 6, 5, 4.5 }, wild[] = { 0.1, 9, 0.1, 0.2, 0.3 };
	static const enum kab_direction dirs[] = { KAB_DIR_LOWER, KAB_DIR_HIGHER };

	(void)state;
	for (size_t d = 0; d < KAB_ARRAY_SIZE(dirs); d++) {
		struct kab_row_list rows = { 0 };
		struct kab_row_data *row = rows_add(&rows, "c", "g=1", "time", "s", dirs[d]);
		struct kab_judgement j;

		boots(row_kernel(row, "tip"), steady, 5);
		boots(row_kernel(row, "patched"), wild, 5);
		j = judge(&rows);
		assert_true(j.v[0].pairs[0].cmp.ratio_ci.lo < 0);
		if (dirs[d] == KAB_DIR_LOWER)
			assert_near(j.v[0].pairs[0].gain_hi_pct, 100, 0);
		else
			assert_near(j.v[0].pairs[0].gain_lo_pct, -100, 0);
		kab_judgement_release(&j);
		kab_row_list_release(&rows);
	}
}

static void explain_has_the_numbers(void **state)
{
	struct kab_row_list rows = { 0 };
	struct kab_strv lines = KAB_STRV_INIT;
	struct kab_judgement j;
	char *text;

	(void)state;
	pair_of(&rows, "g=1", level, slower, 6);
	j = judge(&rows);
	kab_judge_explain(&j, 0, &lines);
	text = kab_strv_join(&lines, "\n");
	assert_non_null(strstr(text, "means of each: 10 10.05 9.95 10.02 9.98 10.01"));
	assert_non_null(strstr(text, "p after holm over 1"));
	assert_non_null(strstr(text, "verdict: regressed"));
	assert_null(strstr(text, "nan"));
	/* analysis of variance of these boots by numpy */
	assert_non_null(strstr(text, "sd between boots 0.0328126, of iterations in one 0.0141421; "
				     "share between boots (ICC) 0.84"));
	assert_non_null(strstr(text, "design effect 1.84: 12 iterations tell as much as 6.51 "
				     "independent ones; pooled, they would err in 15 %"));
	assert_non_null(strstr(text, "90 % interval of the ratio (equivalence)"));
	assert_non_null(strstr(text, "Mann-Whitney"));
	free(text);
	kab_strv_release(&lines);
	kab_judgement_release(&j);
	kab_row_list_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_are_of_boot_means),
		cmocka_unit_test(verdicts_and_tally),
		cmocka_unit_test(zeros),
		cmocka_unit_test(blocks),
		cmocka_unit_test(unequal_failures_warn),
		cmocka_unit_test(geomean_counts_its_rows),
		cmocka_unit_test(intervals_are_possible),
		cmocka_unit_test(explain_has_the_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
