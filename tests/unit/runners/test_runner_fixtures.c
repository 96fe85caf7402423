/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Genuine outputs, and what is in them by INDEX.json. With the argument "extra" it reads those of
 * $KAB_EXTRA_FIXTURES/fixtures/outputs (files that cannot be part of this repository).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "support.h"

static const char *dir = KAB_SOURCE_DIR "/tests/data/runners";

static void every_output_is_read_as_listed(void **state)
{
	struct fixtures fixtures;
	size_t wrong = 0;

	(void)state;
	fixtures_load(&fixtures, dir);
	assert_true(fixtures.n > 20);
	for (size_t i = 0; i < fixtures.n; i++) {
		const struct fixture *f = &fixtures.v[i];
		struct kab_parse_result result;
		char *fault;

		parse_bytes(f->tool, f->data, f->len, f->exit_status, &f->params, &result);
		fault = fixture_fault(f, &result);
		if (fault) {
			print_error("%s: %s\n", f->file, fault);
			wrong++;
		}
		free(fault);
		kab_parse_result_release(&result);
	}
	fixtures_release(&fixtures);
	assert_int_equal(wrong, 0);
}

/* Every name that a parser gives out is announced in its table, with that unit. */
static void every_sample_is_announced(void **state)
{
	struct fixtures fixtures;

	(void)state;
	fixtures_load(&fixtures, dir);
	for (size_t i = 0; i < fixtures.n; i++) {
		const struct fixture *f = &fixtures.v[i];
		struct kab_parse_result result;

		parse_bytes(f->tool, f->data, f->len, f->exit_status, &f->params, &result);
		for (size_t j = 0; j < result.samples.n; j++) {
			const char *name = result.samples.v[j].metric;

			if (!kab_runner_metric(kab_runner_find(f->tool), name))
				fail_msg("%s: %s is not in the table", f->file, name);
		}
		kab_parse_result_release(&result);
	}
	fixtures_release(&fixtures);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_output_is_read_as_listed),
		cmocka_unit_test(every_sample_is_announced),
	};

	if (argc > 1 && !strcmp(argv[1], "extra")) {
		const char *root = getenv("KAB_EXTRA_FIXTURES");

		if (!root || !*root) {
			printf("skipped: KAB_EXTRA_FIXTURES is not set to a folder with "
			       "fixtures/outputs/INDEX.json\n");
			return 77;
		}
		dir = kab_xasprintf("%s/fixtures/outputs", root);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
