/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds for every style of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "judge/judge.h"
#include "reports/report.h"
#include "rows.h"

static void add_set(struct kab_row_data *row, const char *kernel, double level, int boots)
{
	struct kab_sample_set *set = row_kernel(row, kernel);

	for (int b = 0; b < boots; b++) {
		double at = level * (1 + 0.004 * ((b * 7) % 5 - 2));
		double v[3] = { at * 0.99, at, at * 1.01 };

		set_boot(set, b, v, 3);
	}
}

/* Three loads: all there, some lost, all lost. */
static void make_rows(struct kab_row_list *rows, enum kab_direction dir)
{
	struct kab_row_data *row;

	row = rows_add(rows, "pipe", "groups=1", "time", "s", dir);
	add_set(row, "tip", 1.25, 5);
	add_set(row, "patched", 1.5, 5);
	row = rows_add(rows, "pipe", "groups=4", "time", "s", dir);
	add_set(row, "tip", 2.5, 5);
	add_set(row, "patched", 2.5, 5);
	row->sets[1].n_failed = 3;
	row->sets[1].n_planned += 3;
	row = rows_add(rows, "pipe", "groups=16", "time", "s", dir);
	add_set(row, "tip", 5, 5);
	row_kernel(row, "patched");
	row->sets[1].n_failed = row->sets[1].n_planned = 15;
}

static void every_style(void **state)
{
	static const enum kab_direction dirs[] = { KAB_DIR_LOWER, KAB_DIR_HIGHER };

	(void)state;
	assert_true(kab_styles_n >= 17);
	for (size_t s = 0; s < 2 * kab_styles_n; s++) {
		const struct kab_style *style = &kab_styles[s / 2];
		struct kab_report_opts opts = { .style = style };
		struct kab_judge_opts jopts = KAB_JUDGE_OPTS_INIT;
		struct kab_row_list rows = { 0 };
		struct kab_judgement j;
		struct kab_buf out = KAB_BUF_INIT;

		assert_non_null(style->render);
		assert_non_null(style->view);
		assert_non_null(style->summary);
		assert_ptr_equal(kab_style_find(style->name), style);
		make_rows(&rows, dirs[s % 2]);
		assert_int_equal(kab_judge(&rows, &jopts, &j, NULL), 0);
		kab_report_text(&j, &opts, NULL, &out);
		assert_null(strstr(out.data, " \n"));
		assert_null(strchr(out.data, '\t'));
		assert_null(strstr(out.data, "-0.00"));
		assert_null(strstr(out.data, "nan"));
		/* A failure is a word that says what is counted. */
		assert_non_null(strstr(out.data, "fail 15/15"));
		assert_non_null(strstr(out.data, "fail 3/18"));
		assert_non_null(strstr(out.data, s % 2 ? "HIGHER" : "LOWER"));
		if (strcmp(style->name, "markdown") != 0)
			assert_true(kab_text_width(out.data) <= 76);
		for (const char *p = out.data; *p; p++)
			assert_true(*p == '\n' || (*p >= ' ' && *p < 0x7f));
		kab_buf_release(&out);
		kab_judgement_release(&j);
		kab_row_list_release(&rows);
	}
}

static void no_rows(void **state)
{
	(void)state;
	for (size_t s = 0; s < kab_styles_n; s++) {
		for (int exact = 0; exact < 2; exact++) {
			struct kab_table t = { 0 };
			struct kab_buf out = KAB_BUF_INIT;

			kab_table_column(&t, KAB_ROLE_LABEL, -1, "case", NULL, NULL);
			kab_styles[s].render(&t, exact, &out);
			kab_buf_release(&out);
			kab_table_release(&t);
		}
	}
}

static void preamble_says_unknown(void **state)
{
	static const char *const items[] = { "Machine : arm64, a machine", "Power   : unknown",
					     "Virt    : unknown",	   "Kernels : unknown",
					     "Config  : unknown",	   "Bench   : unknown",
					     "Runs    : unknown",	   "Stats   : unknown" };
	struct kab_preamble p = { 0 };
	struct kab_buf out = KAB_BUF_INIT;

	(void)state;
	/* Nothing is known of an import: one line. */
	kab_preamble_print(&p, false, &out);
	assert_non_null(strstr(out.data, "Facts   : machine, kernels and command lines are not "
					 "recorded\nRuns    : unknown\nStats   : unknown\n"));
	assert_null(strstr(out.data, "Power"));
	kab_buf_clear(&out);
	p.machine = kab_xstrdup("arm64, a machine");
	kab_preamble_print(&p, false, &out);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(items); i++)
		assert_non_null(strstr(out.data, items[i]));
	kab_buf_clear(&out);
	kab_preamble_print(&p, true, &out);
	assert_string_equal(out.data, "Machine : arm64, a machine\nKernels : unknown\n"
				      "Bench   : unknown; unknown\n");
	kab_preamble_release(&p);
	kab_buf_release(&out);
}

static void wrapping(void **state)
{
	struct kab_strv lines = KAB_STRV_INIT;

	(void)state;
	kab_wrap(&lines, "Power   : a bb ccc dddd", 14, 10);
	assert_int_equal(lines.n, 3);
	assert_string_equal(lines.v[0], "Power   : a bb");
	assert_string_equal(lines.v[1], "          ccc");
	assert_string_equal(lines.v[2], "          dddd");
	kab_strv_release(&lines);
	kab_wrap(&lines, "aword-that-is-longer-than-the-line b", 10, 2);
	assert_string_equal(lines.v[0], "aword-that-is-longer-than-the-line");
	assert_string_equal(lines.v[1], "  b");
	kab_strv_release(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_style),
		cmocka_unit_test(no_rows),
		cmocka_unit_test(preamble_says_unknown),
		cmocka_unit_test(wrapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
