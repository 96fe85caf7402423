/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one forgets when a runner is added. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "support.h"

/* Every `const struct kab_runner kab_runner_X = {` of the folder is in the table. */
static void every_runner_is_listed(void **state)
{
	static const char *const folder = KAB_SOURCE_DIR "/runners";
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t found = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);
		char *path, *text, *p;

		if (len < 3 || strcmp(entry->d_name + len - 2, ".c"))
			continue;
		path = kab_xasprintf("%s/%s", folder, entry->d_name);
		text = slurp(path, &len);
		for (p = text; (p = strstr(p, "\nconst struct kab_runner kab_runner_")); p++) {
			char *name = strstr(p, ".name = \"");
			char *quote;

			assert_non_null(name);
			name += strlen(".name = \"");
			quote = strchr(name, '"');
			*quote = '\0';
			if (!kab_runner_find(name))
				fail_msg("%s declares '%s', which runners/table.c does not list",
					 entry->d_name, name);
			*quote = '"';
			found++;
		}
		free(text);
		free(path);
	}
	closedir(dir);
	assert_int_equal(found, kab_runners_n);
}

static void every_runner_is_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < kab_runners_n; i++) {
		const struct kab_runner *r = kab_runners[i];
		size_t primary = 0;

		assert_true(strspn(r->name, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
			    strlen(r->name));
		assert_ptr_equal(kab_runner_find(r->name), r);
		assert_non_null(r->summary);
		assert_null(strchr(r->summary, '\n'));
		assert_non_null(r->parser_version);
		assert_non_null(r->unsupported);
		assert_non_null(r->command);
		assert_non_null(r->parse);
		assert_non_null(r->tools);
		assert_non_null(r->tools[0]);
		for (size_t j = 0; j < r->metrics_n; j++) {
			primary += r->metrics[j].primary;
			assert_non_null(r->metrics[j].unit);
			for (size_t k = 0; k < j; k++)
				assert_string_not_equal(r->metrics[j].name, r->metrics[k].name);
		}
		if (primary != 1)
			fail_msg("%s has %zu primary metrics", r->name, primary);
		assert_true(kab_runner_primary(r)->primary);
		assert_int_not_equal(kab_runner_primary(r)->dir, KAB_DIR_NONE);
		for (size_t j = 0; j < r->params_n; j++)
			assert_non_null(r->params[j].summary);
	}
	assert_null(kab_runner_find("no-such-runner"));
}

static void every_runner_has_outputs_to_read(void **state)
{
	struct fixtures fixtures;

	(void)state;
	fixtures_load(&fixtures, KAB_SOURCE_DIR "/tests/data/runners");
	for (size_t i = 0; i < kab_runners_n; i++) {
		size_t n = 0;

		for (size_t j = 0; j < fixtures.n; j++)
			n += !strcmp(fixtures.v[j].tool, kab_runners[i]->name);
		if (!n)
			fail_msg("%s has no output in tests/data/runners/INDEX.json",
				 kab_runners[i]->name);
	}
	fixtures_release(&fixtures);
}

static void families_of_metrics(void **state)
{
	const struct kab_runner *stress = kab_runner_find("stress-ng");
	const struct kab_runner *sysbench = kab_runner_find("sysbench");

	(void)state;
	assert_string_equal(kab_runner_metric(stress, "udp-flood.rss_max")->name, "*.rss_max");
	assert_string_equal(kab_runner_metric(stress, "vm.misc[% hits]")->name, "*.misc[*]");
	assert_true(kab_runner_metric(stress, "cpu.bogo_ops_per_s_real_time")->primary);
	assert_false(kab_runner_metric(stress, "cpu.bogo_ops_per_s_usr_sys_time")->primary);
	assert_string_equal(kab_runner_metric(sysbench, "latency_p99")->name, "latency_p*");
	assert_null(kab_runner_metric(sysbench, "latency_p"));
	assert_null(kab_runner_metric(sysbench, "time"));
}

static void parameters_are_checked(void **state)
{
	const struct kab_runner *hackbench = kab_runner_find("hackbench");
	struct kab_params params = { 0 };
	struct kab_err err = KAB_ERR_INIT;

	(void)state;
	kab_params_set(&params, "groups", "4");
	kab_params_set_expr(&params, "loops", "256000/groups");
	assert_int_equal(kab_runner_check_params(hackbench, &params, &err), 0);
	kab_params_set(&params, "gruops", "4");
	assert_int_equal(kab_runner_check_params(hackbench, &params, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONFIG);
	assert_non_null(strstr(err.text, "'groups'"));
	kab_params_release(&params);
	kab_params_set(&params, "groups", "many");
	assert_int_equal(kab_runner_check_params(hackbench, &params, &err), -1);
	kab_params_release(&params);
	kab_params_set(&params, "pipe", "perhaps");
	assert_int_equal(kab_runner_check_params(hackbench, &params, &err), -1);
	kab_params_release(&params);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_runner_is_listed),
		cmocka_unit_test(every_runner_is_complete),
		cmocka_unit_test(every_runner_has_outputs_to_read),
		cmocka_unit_test(families_of_metrics),
		cmocka_unit_test(parameters_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
