/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grammar of the command line, on a command of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "cli/cli.h"

static const struct kab_opt opts[] = {
	{ "kernel", '\0', "LABEL=SPEC", "repeatable", NULL },
	{ "boots", 'b', "N", "a number", NULL },
	{ "margin", '\0', "PCT", "a number or a percentage", NULL },
	{ "format", '\0', "F", "one of a few", "text|csv|json" },
	{ "gate", 'g', NULL, "a flag", NULL },
	{ 0 },
};

static const struct kab_cmd cmd = {
	.name = "try",
	.synopsis = "A [B]",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 2,
};

static struct kab_cli cli;
static struct kab_err err;

static struct kab_args *parse(const char *const *words)
{
	struct kab_args *args = NULL;
	int n = 0;

	cli = (struct kab_cli){ .cancel_fd = -1 };
	kab_err_clear(&err);
	while (words[n])
		n++;
	if (kab_args_parse(&cmd, &cli, n, (char **)words, &args, &err) < 0) {
		assert_int_equal(err.code, KAB_ERR_USAGE);
		return NULL;
	}
	return args;
}

#define PARSE(...) parse((const char *const[]){ __VA_ARGS__, NULL })

static void forms(void **state)
{
	struct kab_args *a = PARSE("--kernel", "a=b=c", "x", "--kernel=d=", "-b3", "-g", "--format",
				   "csv", "--", "-y");
	int64_t n;

	(void)state;
	assert_non_null(a);
	assert_int_equal(kab_args_n(a), 2);
	assert_string_equal(kab_args_at(a, 0), "x");
	assert_string_equal(kab_args_at(a, 1), "-y");
	assert_null(kab_args_at(a, 2));
	assert_string_equal(kab_args_nth(a, "kernel", 0), "a=b=c");
	assert_string_equal(kab_args_nth(a, "kernel", 1), "d=");
	assert_null(kab_args_nth(a, "kernel", 2));
	assert_string_equal(kab_args_get(a, "kernel"), "d=");
	assert_true(kab_args_flag(a, "gate"));
	assert_int_equal(kab_args_int(a, "boots", 1, 9, -1, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_string_equal(kab_args_get(a, "format"), "csv");
	kab_args_free(a);
	/* A value may look like an option; a lone '-' is a positional (standard input). */
	a = PARSE("--kernel", "--gate", "-");
	assert_string_equal(kab_args_get(a, "kernel"), "--gate");
	assert_false(kab_args_flag(a, "gate"));
	assert_string_equal(kab_args_at(a, 0), "-");
	kab_args_free(a);
	a = PARSE("--kernel=", "x");
	assert_string_equal(kab_args_get(a, "kernel"), "");
	kab_args_free(a);
}

static void globals(void **state)
{
	struct kab_args *a = PARSE("-vv", "x", "--db", "/tmp/a.db", "--lab=/tmp/l.json");

	(void)state;
	assert_non_null(a);
	assert_int_equal(cli.verbosity, 2);
	assert_string_equal(cli.db_path, "/tmp/a.db");
	assert_string_equal(cli.lab_path, "/tmp/l.json");
	kab_args_free(a);
	a = PARSE("x", "-v", "-v");
	assert_int_equal(cli.verbosity, 2);
	kab_args_free(a);
	a = PARSE("x", "-q");
	assert_int_equal(cli.verbosity, -1);
	kab_args_free(a);
	a = PARSE("x", "--quiet", "--verbose");
	assert_int_equal(cli.verbosity, 1);
	kab_args_free(a);
	a = PARSE("x", "--color", "always");
	assert_true(cli.color);
	kab_args_free(a);
	a = PARSE("x", "--color=auto");
	assert_false(cli.color);
	kab_args_free(a);
	/* After `--` nothing is an option. */
	a = PARSE("x", "--", "-v");
	assert_int_equal(cli.verbosity, 0);
	kab_args_free(a);
}

static void refused(const char *const *words, const char *said)
{
	struct kab_args *a = parse(words);

	if (a)
		fail_msg("accepted what should say '%s'", said);
	if (!strstr(err.text, said))
		fail_msg("'%s' is not in: %s", said, err.text);
}

#define REFUSED(said, ...) refused((const char *const[]){ __VA_ARGS__, NULL }, said)

static void mistakes(void **state)
{
	(void)state;
	REFUSED("did you mean '--kernel'?", "x", "--kernl", "a=b");
	REFUSED("did you mean '--kernel'?", "x", "--kernl=a");
	REFUSED("unknown option '--kernl=a'", "x", "--kernl=a");
	REFUSED("did you mean '--verbose'?", "x", "--verbos");
	REFUSED("see 'kab try --help'", "x", "--zzzzzzzzzzzzzz");
	REFUSED("unknown option '-z'", "x", "-z");
	REFUSED("unknown option '-gb'", "x", "-gb");
	REFUSED("needs a value (N)", "x", "--boots");
	REFUSED("needs a value (N)", "x", "-b");
	REFUSED("takes no value, found '1'", "x", "--gate=1");
	REFUSED("takes one of text|csv|json, not 'xml'", "x", "--format", "xml");
	REFUSED("not 'cs'", "x", "--format=cs");
	REFUSED("not 'text|csv'", "x", "--format=text|csv");
	REFUSED("not ''", "x", "--format=");
	REFUSED("takes one of auto|always|never", "x", "--color", "sometimes");
	REFUSED("missing argument; usage: kab try A [B]", "--gate");
	REFUSED("unexpected argument 'c'", "a", "b", "c");
}

static void numbers(void **state)
{
	static const char *const bad_int[] = { "0", "10", "x",	"1.5",
					       "",  " 3", "3 ", "99999999999999999999" };
	static const char *const bad_num[] = { "-1", "101", "nan", "inf", "%", "5%%", "", "1,5" };
	struct kab_args *a = PARSE("x");
	int64_t n = 0;
	double x = 0;

	(void)state;
	assert_int_equal(kab_args_int(a, "boots", 1, 9, -1, &n, &err), 0);
	assert_int_equal(n, -1);
	kab_args_free(a);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad_int); i++) {
		a = PARSE("x", "--boots", bad_int[i]);
		assert_int_equal(kab_args_int(a, "boots", 1, 9, -1, &n, &err), -1);
		assert_int_equal(err.code, KAB_ERR_USAGE);
		kab_args_free(a);
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad_num); i++) {
		a = PARSE("x", "--margin", bad_num[i]);
		assert_int_equal(kab_args_num(a, "margin", 0, 100, 2, &x, &err), -1);
		kab_args_free(a);
	}
	a = PARSE("x", "--margin", "2.5%");
	assert_int_equal(kab_args_num(a, "margin", 0, 100, 2, &x, &err), 0);
	assert_true(x == 2.5);
	kab_args_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(globals),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
