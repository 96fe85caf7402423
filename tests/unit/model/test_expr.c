/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "model/expr.h"

static struct kab_facts host(void)
{
	struct kab_facts facts = { 0 };

	kab_facts_set(&facts, "cpus", "6");
	kab_facts_set(&facts, "nodes", "2");
	kab_facts_set(&facts, "cores", "not a number");
	return facts;
}

static struct kab_params params(void)
{
	struct kab_params p = { 0 };

	kab_params_set(&p, "groups", "16");
	kab_params_set_expr(&p, "twice", "2*groups");
	kab_params_set_expr(&p, "a", "b+1");
	kab_params_set_expr(&p, "b", "a+1");
	kab_params_set_expr(&p, "self", "self");
	kab_params_set(&p, "word", "x y");
	kab_params_set(&p, "real", "1.5");
	return p;
}

static void values(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} table[] = {
		{ "0", 0 },
		{ "256000/groups", 16000 },
		{ "1+2*3", 7 },
		{ "(1+2)*3", 9 },
		{ "10-4-3", 3 },
		{ "100/7/2", 7 },
		{ "2*3/4", 1 },
		{ "7/2", 3 },
		{ "-7/2", -3 },
		{ "7/-2", -3 },
		{ "- -5", 5 },
		{ "-(2+3)*2", -10 },
		{ " cpus * nodes ", 12 },
		{ "\tcpus\t", 6 },
		{ "twice+1", 33 },
		{ "9223372036854775807", INT64_MAX },
		{ "-9223372036854775807-1", INT64_MIN },
		{ "0/5", 0 },
		{ "((((((((((1))))))))))", 1 },
		{ "010", 10 },
	};
	struct kab_facts facts = host();
	struct kab_params p = params();

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		struct kab_err err = KAB_ERR_INIT;
		int64_t value = 77;

		if (kab_expr_eval(table[i].text, &facts, &p, &value, &err) < 0)
			fail_msg("%s: %s", table[i].text, err.text);
		assert_true(value == table[i].value);
		assert_int_equal(kab_expr_check(table[i].text, &err), 0);
	}
	kab_params_release(&p);
	kab_facts_release(&facts);
}

static void errors(void **state)
{
	static const struct {
		const char *text, *said;
		int form; /* wrong on every host: the loader finds it */
	} table[] = {
		{ "", "ends where a number", 1 },
		{ "1+", "ends where a number", 1 },
		{ "(1", "')' is missing", 1 },
		{ "1)", "unexpected ')'", 1 },
		{ "1 2", "unexpected '2'", 1 },
		{ "2**3", "expected a number, a name or '('", 1 },
		{ "1.5", "unexpected '.5'", 1 },
		{ "$x", "expected a number", 1 },
		{ "9223372036854775808", "overflow", 1 },
		{ "9223372036854775807+1", "overflow", 1 },
		{ "-9223372036854775807-2", "overflow", 1 },
		{ "(0-9223372036854775807-1)/-1", "overflow", 1 },
		{ "-(0-9223372036854775807-1)", "overflow", 1 },
		{ "4611686018427387904*2", "overflow", 1 },
		{ "1/0", "division by zero", 0 },
		{ "1/(cpus-6)", "division by zero", 0 },
		{ "cpu", "unknown name 'cpu'", 0 },
		{ "memory_mb", "does not tell 'memory_mb'", 0 },
		{ "cores", "does not tell 'cores'", 0 },
		{ "a", "circle", 0 },
		{ "self", "circle", 0 },
		{ "real", "not a number", 0 },
		{ "word", "unknown name 'x'", 0 },
	};
	struct kab_facts facts = host();
	struct kab_params p = params();

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		struct kab_err err = KAB_ERR_INIT;
		int64_t value;

		if (kab_expr_eval(table[i].text, &facts, &p, &value, &err) == 0)
			fail_msg("%s came to %lld", table[i].text, (long long)value);
		assert_int_equal(err.code, KAB_ERR_CONFIG);
		if (!strstr(err.text, table[i].said))
			fail_msg("%s: %s", table[i].text, err.text);
		assert_int_equal(kab_expr_check(table[i].text, &err), table[i].form ? -1 : 0);
	}
	kab_params_release(&p);
	kab_facts_release(&facts);
}

/* What can be told without a host: the facts count as not known yet. */
static void names_without_a_host(void **state)
{
	static const struct {
		const char *text, *said; /* NULL: right */
	} table[] = {
		{ "cpus*2", NULL },
		{ "100/(cpus-1)", NULL },
		{ "100/(cores-1)+1/groups", NULL },
		{ "twice", NULL },
		{ "1/0", "division by zero" },
		{ "cpus/(groups-16)", "division by zero" },
		{ "cpus*(1/0)", "division by zero" },
		{ "2*cpu", "did you mean 'cpus'" },
		{ "4000/group", "did you mean 'groups'" },
		{ "zzzzzz", "unknown name 'zzzzzz'; known are" },
		{ "a", "circle" },
	};
	struct kab_params p = params();

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		struct kab_err err = KAB_ERR_INIT;
		int status = kab_expr_check_names(table[i].text, &p, &err);

		assert_int_equal(status, table[i].said ? -1 : 0);
		if (table[i].said && !strstr(err.text, table[i].said))
			fail_msg("%s: %s", table[i].text, err.text);
	}
	kab_params_release(&p);
}

static void depth_and_length_are_bounded(void **state)
{
	char deep[2001], wide[3001];
	struct kab_err err = KAB_ERR_INIT;
	struct kab_params p = { 0 };
	int64_t value;

	(void)state;
	memset(deep, '(', 900);
	deep[900] = '\0';
	assert_int_equal(kab_expr_check(deep, &err), -1);
	assert_non_null(strstr(err.text, "nested too deeply"));
	memset(deep, '-', 900);
	assert_int_equal(kab_expr_check(deep, &err), -1);
	memset(wide, '1', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	assert_int_equal(kab_expr_check(wide, &err), -1);
	assert_non_null(strstr(err.text, "longer than 1000"));
	/* Each level doubles the work: an answer or an error, but at once. */
	for (int i = 0; i < 30; i++) {
		char *name kab_autofree = kab_xasprintf("p%d", i);
		char *text kab_autofree = i ? kab_xasprintf("p%d+p%d", i - 1, i - 1) : NULL;

		kab_params_set_expr(&p, name, text ? text : "1");
	}
	assert_int_equal(kab_expr_eval("p29", NULL, &p, &value, &err), -1);
	assert_non_null(strstr(err.text, "too much"));
	assert_int_equal(kab_expr_eval("p9", NULL, &p, &value, &err), 0);
	assert_int_equal(value, 512);
	kab_params_release(&p);
}

static void resolve(void **state)
{
	struct kab_facts facts = host();
	struct kab_params p = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	char *text;

	(void)state;
	kab_params_set_expr(&p, "loops", "256000/groups");
	kab_params_set(&p, "groups", "8");
	kab_params_set(&p, "args", "a;b=c\\d");
	assert_null(kab_params_get(&p, "loops", NULL));
	assert_int_equal(kab_params_resolve(&p, &facts, &err), 0);
	assert_string_equal(kab_params_get(&p, "loops", ""), "32000");
	/* Again, on a host that changed: nothing of the old value is left. */
	kab_params_set(&p, "groups", "cpus");
	assert_int_equal(kab_params_resolve(&p, &facts, &err), 0);
	assert_string_equal(kab_params_get(&p, "loops", ""), "42666");
	text = kab_params_canonical(&p, 0);
	assert_string_equal(text, "args=a\\;b\\=c\\\\d;groups=cpus;loops=256000/groups");
	free(text);
	text = kab_params_canonical(&p, 1);
	assert_string_equal(text, "args=a\\;b\\=c\\\\d;groups=cpus;loops=42666");
	free(text);
	kab_params_set_expr(&p, "bad", "1/0");
	assert_int_equal(kab_params_resolve(&p, &facts, &err), -1);
	assert_non_null(strstr(err.text, "parameter 'bad'"));
	kab_params_release(&p);
	kab_facts_release(&facts);
}

static void facts_are_read(void **state)
{
	static const char text[] =
		"Welcome to host=1 today\r\n"
		"cpus=4\r\nrelease=6.1.0\nempty=\nnot a fact\n"
		"tool.stress-ng=/usr/bin/stress-ng\nBAD=1\ncmdline=a=b c\ncpus=8\n"
		"last=without end";
	struct kab_facts facts = { 0 };
	struct kab_err err = KAB_ERR_INIT;

	(void)state;
	assert_int_equal(kab_facts_parse(&facts, text, sizeof(text) - 1, &err), 0);
	assert_int_equal(kab_facts_int(&facts, "cpus", -1), 8);
	assert_string_equal(kab_facts_get(&facts, "release"), "6.1.0");
	assert_string_equal(kab_facts_get(&facts, "cmdline"), "a=b c");
	assert_string_equal(kab_facts_get(&facts, "last"), "without end");
	assert_string_equal(kab_facts_get(&facts, "BAD"), "");
	assert_string_equal(kab_facts_tool(&facts, "stress-ng"), "/usr/bin/stress-ng");
	assert_null(kab_facts_tool(&facts, "hackbench"));
	assert_int_equal(kab_facts_int(&facts, "release", -1), -1);
	assert_int_equal(facts.n, 6);
	assert_int_equal(kab_facts_parse(&facts, "hello\n", 6, &err), -1);
	assert_int_equal(err.code, KAB_ERR_PARSE);
	kab_facts_release(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(errors),
		cmocka_unit_test(names_without_a_host),
		cmocka_unit_test(depth_and_length_are_bounded),
		cmocka_unit_test(resolve),
		cmocka_unit_test(facts_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
