/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "golden.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "stats/stats.h"

json_t *golden_load(const char *name)
{
	json_error_t e;
	kab_autofree char *path = kab_xasprintf("%s/tests/data/stats/%s", KAB_SOURCE_DIR, name);
	json_t *v = json_load_file(path, 0, &e);

	if (!v)
		fail_msg("%s:%d: %s", path, e.line, e.text);
	return v;
}

static double number(const json_t *v)
{
	return json_is_string(v) ? strtod(json_string_value(v), NULL) : json_number_value(v);
}

static void flatten(const json_t *v, double **out, size_t *n)
{
	size_t i;
	json_t *item;

	if (!json_is_array(v)) {
		*out = kab_xreallocarray(*out, *n + 1, sizeof(**out));
		(*out)[(*n)++] = number(v);
		return;
	}
	json_array_foreach (v, i, item)
		flatten(item, out, n);
}

double *golden_flat(const json_t *a, size_t *n)
{
	double *v = NULL;

	*n = 0;
	flatten(a, &v, n);
	return v;
}

double *golden_array(const json_t *a, size_t *n)
{
	assert_true(json_is_array(a));
	return golden_flat(a, n);
}

size_t golden_leaves(const json_t *v, const char *const *skip)
{
	size_t n = 0, i;
	const char *key;
	json_t *item;

	if (json_is_array(v)) {
		json_array_foreach (v, i, item)
			n += golden_leaves(item, skip);
	} else if (json_is_object(v)) {
		json_object_foreach ((json_t *)v, key, item) {
			bool skipped = false;

			for (size_t k = 0; skip && skip[k]; k++)
				skipped = skipped || strcmp(skip[k], key) == 0;
			if (!skipped)
				n += golden_leaves(item, skip);
		}
	} else {
		n = 1;
	}
	return n;
}

void golden_fail(struct golden *g, const char *fmt, ...)
{
	va_list ap;

	g->failures++;
	fprintf(stderr, "golden: %s: ", g->where);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void golden_check(struct golden *g, const json_t *want, double got, double rel, double abs_tol,
		  const char *what)
{
	g->checked++;
	if (!want) {
		golden_fail(g, "%s: not in the file", what);
	} else if (json_is_null(want)) {
		if (!isnan(got))
			golden_fail(g, "%s: undefined, but %.17g computed", what, got);
	} else {
		double w = json_is_boolean(want) ? json_is_true(want) : number(want);

		if (isinf(w) ? got != w : !(fabs(got - w) <= rel * fabs(w) + abs_tol))
			golden_fail(g, "%s: want %.17g, got %.17g (relative %.2g)", what, w, got,
				    fabs(got - w) / fabs(w));
	}
}

void golden_check_interval(struct golden *g, const json_t *want, double lo, double hi, double rel,
			   double abs_tol, const char *what)
{
	if (!json_is_array(want)) {
		golden_check(g, want, lo, rel, abs_tol, what);
		return;
	}
	golden_check(g, json_array_get(want, 0), lo, rel, abs_tol, what);
	golden_check(g, json_array_get(want, 1), hi, rel, abs_tol, what);
}

static void test_every_value(void **state)
{
	static const struct {
		const char *key;
		void (*run)(struct golden *, const json_t *);
	} blocks[] = {
		{ "single", golden_single },
		{ "pairs", golden_pairs },
		{ "multiplicity", golden_multiplicity },
		{ "hierarchical", golden_hierarchical },
		{ "group_sequential", golden_sequential },
		{ "change_point", golden_change_point },
	};
	json_t *all = golden_load("stats.json");
	struct golden g = { 0 };

	(void)state;
	/* a block added to the file must get a test */
	assert_int_equal(json_object_size(all), 1 + KAB_ARRAY_SIZE(blocks));
	for (size_t i = 0; i < KAB_ARRAY_SIZE(blocks); i++) {
		size_t before = g.checked;

		blocks[i].run(&g, json_object_get(all, blocks[i].key));
		printf("golden: %-16s %5zu values\n", blocks[i].key, g.checked - before);
	}
	printf("golden: %zu values checked, %zu failures (%zu record another tool's failure)\n",
	       g.checked, g.failures, g.foreign);
	json_decref(all);
	assert_int_equal(g.failures, 0);
	assert_true(g.checked > 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_value) };

	kab_stats_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
