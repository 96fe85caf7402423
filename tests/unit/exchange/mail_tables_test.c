/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding tables and recomputing them. Numbers are worked out by hand beside the cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "exchange/check.h"
#include "exchange/mail_reply.h"

struct found {
	struct kab_buf body;
	struct kab_mail_lines lines;
	struct kab_mail_tables tables;
	struct kab_check check;
};

static struct found look(const char *text)
{
	struct found f = { 0 };

	kab_buf_adds(&f.body, text);
	kab_mail_lines(&f.body, &f.lines);
	kab_mail_tables_find(&f.lines, &f.tables);
	kab_check_tables(&f.lines, &f.tables, &f.check);
	return f;
}

static void forget(struct found *f)
{
	kab_check_release(&f->check);
	kab_mail_tables_release(&f->tables);
	free(f->lines.v);
	kab_buf_release(&f->body);
}

static void items(void **state)
{
	static const struct {
		const char *text;
		enum kab_item_kind kind;
		double value, half;
		bool comma;
	} cases[] = {
		{ "1.250", KAB_ITEM_VALUE, 1.25, 0.0005, false },
		{ "514,664", KAB_ITEM_VALUE, 514664, 0.5, false },
		{ "1,327", KAB_ITEM_VALUE, 1.327, 0.0005, true },
		{ "5,97 %", KAB_ITEM_PERCENT, 5.97, 0.005, true },
		{ "(+/-10,06 %)", KAB_ITEM_PM_PCT, 10.06, 0.005, true },
		{ "(+/- 5.45 %)", KAB_ITEM_PM_PCT, 5.45, 0.005, false },
		{ "(   0.00%)", KAB_ITEM_ROUND_PCT, 0, 0.005, false },
		{ "(-2.16 pct)", KAB_ITEM_ROUND_PCT, -2.16, 0.005, false },
		{ "*  99.20%*", KAB_ITEM_ROUND_PCT, 99.2, 0.005, false },
		{ "[ -0.00]", KAB_ITEM_SQUARE, 0, 0.005, false },
		{ "( 59.77)", KAB_ITEM_ROUND, 59.77, 0.005, false },
		{ "(I) -12.13%", KAB_ITEM_PERCENT, -12.13, 0.005, false },
		{ "1m40.465s", KAB_ITEM_VALUE, 100.465, 0.0005, false },
		{ "0m8.401s", KAB_ITEM_VALUE, 8.401, 0.0005, false },
		{ "520.3k", KAB_ITEM_VALUE, 520300, 50, false },
		{ "14 ms", KAB_ITEM_VALUE, 0.014, 0.0005, false },
		{ "15286ns", KAB_ITEM_VALUE, 15286e-9, 0.5e-9, false },
		{ "6 sec", KAB_ITEM_VALUE, 6, 0.5, false },
		{ "1.5e+03", KAB_ITEM_VALUE, 1500, 50, false },
	};
	static const char *const none[] = { "1-groups", "6.3.0-rc6", "1st-qrtle", "4x4",    "abc",
					    "(I)",	"[...]",     "+patch",	  "50.0th", "-" };
	struct kab_item item;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		size_t n = strlen(cases[i].text);

		if (kab_item_scan(cases[i].text, n, 0, cases[i].comma, &item) != n)
			fail_msg("'%s' is not read whole", cases[i].text);
		assert_int_equal(item.kind, cases[i].kind);
		assert_true(fabs(item.value - cases[i].value) <= 1e-12 * fabs(cases[i].value));
		assert_true(fabs(item.half - cases[i].half) <= 1e-9 * cases[i].half);
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(none); i++)
		if (kab_item_scan(none[i], strlen(none[i]), 0, false, &item))
			fail_msg("'%s' is read as a number", none[i]);
}

/* Cells of published tables; the verdicts follow from the definitions, with exact fractions. */
static void verdicts(void **state)
{
	static const struct {
		const char *printed, *base, *test;
		char convention;
		enum kab_check_verdict want;
	} cases[] = {
		{ "1.42%", "18613.20", "18348.00", 'A', KAB_CHECK_EXACT },
		/* 30.767, and no unrounded cells give less than 30.759. */
		{ "30.7%", "1.0534", "0.7293", 'A', KAB_CHECK_TRUNCATED },
		{ "-0.20%", "0.8757", "0.8774", 'A', KAB_CHECK_WITHIN_ROUNDING },
		{ "33.06%", "0m8.401s", "0m5.623s", 'A', KAB_CHECK_TRUNCATED_OR_ROUNDING },
		{ "-2.23%", "74.0929", "72.4391", 'A', KAB_CHECK_INCONSISTENT },
		{ "-2.23%", "74.0929", "72.4391", 'C', KAB_CHECK_EXACT },
		{ "30.5%", "28", "21.45", 'B', KAB_CHECK_EXACT },
		{ "0.0016", "0.3559", "0.3575", 'D', KAB_CHECK_EXACT },
		{ "5%", "0", "1", 'A', KAB_CHECK_NOT_RECOMPUTABLE },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_item printed, base, test;
		double v, lo, hi;

		kab_item_scan(cases[i].printed, strlen(cases[i].printed), 0, false, &printed);
		kab_item_scan(cases[i].base, strlen(cases[i].base), 0, false, &base);
		kab_item_scan(cases[i].test, strlen(cases[i].test), 0, false, &test);
		if (kab_check_percent(&printed, &base, &test, cases[i].convention, &v, &lo, &hi) !=
		    cases[i].want)
			fail_msg("case %zu", i);
	}
}

static void count(const struct found *f, enum kab_check_verdict verdict, char convention,
		  size_t want)
{
	size_t n = 0;

	for (size_t i = 0; i < f->check.percents.n; i++)
		n += f->check.percents.v[i].verdict == verdict &&
		     f->check.percents.v[i].convention == convention;
	assert_int_equal(n, want);
}

/* Prose, diffs, diffstats, dates and lists of settings are no tables. */
static void what_is_no_table(void **state)
{
	struct found f = look("On 02/22/2022 6:45 PM, X wrote:\n"
			      "We saw 30 % with 8 tasks and 5 % with 16 tasks.\n"
			      "Number of loops is 50000\n\n"
			      " kernel/sched/fair.c | 2 +-\n 1 file changed, 1 insertion(+)\n\n"
			      "index 56f343b8e749..ba9609407cb9 100644\n@@ -5724,7 +5724,7 @@\n\n"
			      "    reqs: 17056\n    success: 11407\n    groups_scanned: 13643\n");

	(void)state;
	assert_int_equal(f.tables.n, 0);
	assert_int_equal(f.check.findings.n, 1);
	forget(&f);
}

/* One sign of seven is wrong: the row may not choose a convention of its own. */
static void one_wrong_sign(void **state)
{
	struct found f = look("threads     base    patched    gain\n"
			      "  1        10.00     9.00    10.00%\n"
			      "  2        20.00    19.00     5.00%\n"
			      "  4        40.00    36.00    10.00%\n"
			      "  8        80.00    60.00   -25.00%\n"
			      " 16       100.00   104.00    -4.00%\n");

	(void)state;
	assert_int_equal(f.tables.n, 1);
	assert_int_equal(f.tables.v[0].n_rows, 5);
	assert_string_equal(f.tables.v[0].rows[3].label, "8");
	count(&f, KAB_CHECK_EXACT, 'A', 4);
	count(&f, KAB_CHECK_INCONSISTENT, 'A', 1);
	forget(&f);
}

/* A time that falls and a rate that rises both improve. */
static void two_directions(void **state)
{
	struct found f = look("              base     patch    gain\n"
			      "throughput    1000      1100   10.0%\n"
			      "latency       10.0       9.0   10.0%\n");

	(void)state;
	assert_int_equal(f.check.percents.n, 2);
	count(&f, KAB_CHECK_INCONSISTENT, 'A', 0);
	count(&f, KAB_CHECK_INCONSISTENT, 'C', 0);
	forget(&f);
}

static void the_robots_layout(void **state)
{
	struct found f =
		look("         %stddev     %change         %stddev\n"
		     "    100.25            -4.0%      96.24        a.time.elapsed\n"
		     "      5000 \u00b1  3%     +10.0%       5500 \u00b1  2%  a.time.user\n");

	(void)state;
	assert_int_equal(f.tables.n, 1);
	assert_string_equal(f.tables.v[0].rows[1].label, "a.time.user");
	count(&f, KAB_CHECK_EXACT, 'C', 2);
	forget(&f);
}

/* Runs 1 2 3 4 5 have the mean 3, sd 1.5811 (n-1), 1.4142 (n), root of the sum of squares 3.1623. */
static void deviations(void **state)
{
	static const struct {
		const char *sd;
		enum kab_check_verdict want;
	} cases[] = { { "1.5811", KAB_CHECK_EXACT },
		      { "1.4142", KAB_CHECK_EXACT },
		      { "3.1623", KAB_CHECK_INCONSISTENT },
		      { "9.0000", KAB_CHECK_INCONSISTENT } };

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		char *text kab_autofree = kab_xasprintf(
			"| time |\n|------|\n| 1.00 |\n| 2.00 |\n| 3.00 |\n| 4.00 |\n| 5.00 |\n"
			"| 3.00 | average\n| %s | stddev\n",
			cases[i].sd);
		struct found f = look(text);

		assert_int_equal(f.check.statistics.n, 2);
		assert_int_equal(f.check.statistics.v[0].verdict, KAB_CHECK_EXACT);
		assert_int_equal(f.check.statistics.v[1].verdict, cases[i].want);
		forget(&f);
	}
}

static void rows_of_the_author(void **state)
{
	struct found f = look("groups       base     patched\n"
			      "1-groups     1.00     1.10\n"
			      "2-groups     2.00     2.10\n");

	(void)state;
	assert_int_equal(f.tables.n, 1);
	assert_string_equal(kab_reply_same_row(&f.tables.v[0], "2"), "2-groups");
	assert_null(kab_reply_same_row(&f.tables.v[0], "4"));
	assert_null(kab_reply_same_row(&f.tables.v[0], "none"));
	forget(&f);
}

/* Whatever a mail is cut down to, it is read without harm. */
static void any_prefix(void **state)
{
	static const char text[] =
		"From: a@b.test\nSubject: =?utf-8?q?=c3=a4?= x\nMessage-ID: <1@x>\n"
		"Content-Type: text/plain; charset=utf-8; format=flowed\n\n> > "
		"+---+------+------+\n"
		"> > | a | 1.0  | 2.0 (+1.5%) |\n> > +---+------+------+\n> > | b | (I) 3 | [4] "
		"|\n\n"
		"x 1,5 (+/- 2,5 %) *3%* 1m2.5s 7 ms\ny 1,5 (+/- 2,5 %) *3%* 1m2.5s 7 ms\n"
		"mean 5\nstd 1\nrun took 5.0 us ok\nrun took 6.0 us ok\nrun took 7.0 us ok\n";

	(void)state;
	for (size_t n = 1; n < sizeof(text); n++) {
		char *bytes kab_autofree = kab_xmemdup(text, n);
		struct kab_buf kab_autobuf out = KAB_BUF_INIT;
		struct kab_mail mail;
		struct found f;

		if (kab_mail_parse(bytes, n, &mail, NULL) < 0)
			continue;
		f = look(kab_buf_str(&mail.body));
		kab_check_json(&f.tables, &f.check, &out);
		kab_check_text(&f.tables, &f.check, &out);
		forget(&f);
		kab_mail_release(&mail);
	}
}

static size_t count_of(const struct found *f, enum kab_check_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < f->check.percents.n; i++)
		n += f->check.percents.v[i].verdict == verdict;
	return n;
}

/* The heads say what it was made from, so that it is wrong also when most rows are. */
static void most_rows_are_wrong(void **state)
{
	static const struct {
		const char *text;
		size_t n, wrong, unknown;
	} cases[] = {
		/* (110-100)/100 = 10; 30, not 20; -25, not -33 */
		{ "| test | base | patched | delta |\n|---|---|---|---|\n| a | 100 | 110 | +10% |\n"
		  "| b | 100 | 130 | +20% |\n| c | 200 | 150 | -33% |\n",
		  3, 2, 0 },
		/* None is right. */
		{ "| test | base | patched | delta |\n|---|---|---|---|\n| a | 1000 | 1100 | +30% "
		  "|\n"
		  "| b | 1000 | 1300 | +70% |\n",
		  2, 2, 0 },
		/* Fewer digits than the values: 1/3 to 1/2 is between 25 and 83. */
		{ "| test | base | patched | delta |\n|---|---|---|---|\n| a | 3 | 4 | +52% |\n"
		  "| b | 2 | 3 | +80% |\n",
		  2, 0, 0 },
		/* (test-base)/test: 16.7, 23.1, -33.3. Nobody is accused. */
		{ "| test | base | patched | delta |\n|---|---|---|---|\n"
		  "| a | 1000 | 1200 | +16.7% |\n| b | 1000 | 1300 | +23.1% |\n"
		  "| c | 2000 | 1500 | -33.3% |\n",
		  3, 0, 3 },
		/* What the share is of, is not told. */
		{ "| test | base | patched | idle |\n|---|---|---|---|\n| a | 1000 | 1100 | 30% |\n"
		  "| b | 1000 | 1300 | 70% |\n",
		  2, 0, 2 },
		/* A third value: the change may be against that. */
		{ "| test | base | patched | new | delta |\n|---|---|---|---|---|\n"
		  "| a | 1000 | 1100 | 1900 | +30% |\n| b | 1000 | 1300 | 1800 | +70% |\n",
		  2, 0, 2 },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct found f = look(cases[i].text);

		assert_int_equal(f.check.percents.n, cases[i].n);
		assert_int_equal(count_of(&f, KAB_CHECK_INCONSISTENT), cases[i].wrong);
		assert_int_equal(count_of(&f, KAB_CHECK_NOT_RECOMPUTABLE), cases[i].unknown);
		forget(&f);
	}
}

/* As kab report prints it: the head of the interval has no column. (10.025-9.029)/10.025 = 9.935 %. */
static void a_table_of_our_own(void **state)
{
	struct found f =
		look("c: value (s), LOWER is better, n=6 boots x 1\n"
		     "gain = (base-test)/base, + is better; +/- is the CV over boot means\n\n"
		     "case             base         patched    gain            95% CI\n"
		     "c     10.025 +/- 0.2%  9.029 +/- 0.2%  +9.94% I [+9.68, +10.19]\n"
		     "d     20.000 +/- 0.2% 21.000 +/- 0.2%  -5.00% R [-5.20, -4.80]\n");
	const struct kab_check_statistic *s = f.check.statistics.v;

	(void)state;
	assert_int_equal(f.tables.n, 1);
	assert_string_equal(f.tables.v[0].cols[0].head, "base");
	assert_int_equal(f.check.percents.n, 2);
	assert_string_equal(f.check.percents.v[0].column_label, "gain");
	assert_int_equal(f.check.percents.v[0].convention, 'A');
	assert_int_equal(count_of(&f, KAB_CHECK_EXACT), 2);
	assert_int_equal(f.check.statistics.n, 2);
	assert_string_equal(s[0].base, "base");
	assert_string_equal(s[0].column, "patched");
	assert_float_equal(s[0].gain_pct, 9.9351621, 1e-6);
	assert_float_equal(s[1].gain_pct, -5, 1e-9);
	forget(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(what_is_no_table),
		cmocka_unit_test(one_wrong_sign),
		cmocka_unit_test(two_directions),
		cmocka_unit_test(the_robots_layout),
		cmocka_unit_test(deviations),
		cmocka_unit_test(rows_of_the_author),
		cmocka_unit_test(most_rows_are_wrong),
		cmocka_unit_test(a_table_of_our_own),
		cmocka_unit_test(any_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
