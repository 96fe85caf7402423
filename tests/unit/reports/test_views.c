/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "judge/judge.h"
#include "reports/style.h"
#include "rows.h"

static void add_set(struct kab_row_data *row, const char *kernel, double level, double spread)
{
	/* A fixed pattern around the level: five boots of three iterations. */
	static const double pattern[5] = { -1, 0.5, 0, 1, -0.5 };
	struct kab_sample_set *set = row_kernel(row, kernel);

	for (int b = 0; b < 5; b++) {
		double at = level + spread * pattern[b];
		double v[3] = { at - spread / 4, at, at + spread / 4 };

		set_boot(set, b, v, 3);
	}
}

static void plain_compare(void **state)
{
	struct kab_view_opts vopts = KAB_VIEW_OPTS_INIT;
	struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	struct kab_row_list rows = { 0 };
	struct kab_judgement j;
	struct kab_groups groups;
	struct kab_table t = { 0 };
	struct kab_buf out = KAB_BUF_INIT;
	struct kab_row_data *row;

	(void)state;
	row = rows_add(&rows, "process-pipe", "groups=1", "time", "s", KAB_DIR_LOWER);
	add_set(row, "tip", 1.25, 0.02);
	add_set(row, "patched", 1.20, 0.02);
	row = rows_add(&rows, "process-pipe", "groups=16", "time", "s", KAB_DIR_LOWER);
	add_set(row, "tip", 14.5, 0.02);
	add_set(row, "patched", 14.51, 0.02);
	row = rows_add(&rows, "process-pipe", "groups=64", "time", "s", KAB_DIR_LOWER);
	add_set(row, "tip", 44.5, 0.02);
	row_kernel(row, "patched");
	row->sets[1].n_failed = row->sets[1].n_planned = 15;
	assert_int_equal(kab_judge(&rows, &opts, &j, NULL), 0);
	kab_groups_make(&j, NULL, KAB_SORT_SUITE, &groups);
	assert_int_equal(groups.n, 1);
	kab_view_compare(&groups.v[0], &vopts, &t);
	kab_style_find("plain")->render(&t, false, &out);
	puts(kab_buf_str(&out));
	assert_non_null(strstr(out.data, "LOWER is better, n=5 boots x 3\n"));
	assert_non_null(strstr(out.data, "fail 15/15"));
	assert_null(strstr(out.data, " \n"));
	assert_true(kab_text_width(out.data) <= 72);
	kab_buf_release(&out);
	kab_table_release(&t);
	kab_groups_release(&groups);
	kab_judgement_release(&j);
	kab_row_list_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
