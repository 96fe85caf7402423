/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words go through real shells and come back: the shells are the judges, not our own reading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/strv.h"
#include "transport/child.h"

static const char *const shells[][3] = {
	{ "dash", NULL, NULL },
	{ "bash", NULL, NULL },
	{ "busybox", "sh", NULL },
};

/* Run `line` in a shell and return what it prints. */
static void through(const char *const *shell, const char *line, struct kab_buf *out)
{
	struct kab_wait wait = { kab_deadline_s(20), -1 };
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	struct kab_strv argv kab_autostrv = KAB_STRV_INIT;

	for (size_t i = 0; shell[i]; i++)
		kab_strv_add(&argv, shell[i]);
	kab_strv_add(&argv, "-c");
	kab_strv_add(&argv, line);
	struct kab_exec req = { .argv = (const char *const *)argv.v, .out_max = 4 << 20 };
	if (kab_child_run(&req, &wait, &res, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(kab_buf_str(&res.err), "");
	assert_int_equal(res.exit_status, 0);
	kab_buf_add(out, res.out.data, res.out.len);
	kab_exec_result_release(&res);
}

/* printf '%s\0' WORDS... must give the words back. */
static void check_words(const struct kab_strv *words)
{
	for (size_t sh = 0; sh < KAB_ARRAY_SIZE(shells); sh++) {
		struct kab_buf out kab_autobuf = KAB_BUF_INIT;
		struct kab_buf want kab_autobuf = KAB_BUF_INIT;
		struct kab_strv argv kab_autostrv = KAB_STRV_INIT;
		char *line kab_autofree = NULL;

		kab_strv_add(&argv, "printf");
		kab_strv_add(&argv, "%s\\0");
		kab_strv_copy(&argv, words);
		line = kab_quote_argv((const char *const *)argv.v);
		through(shells[sh], line, &out);
		for (size_t i = 0; i < words->n; i++)
			kab_buf_add(&want, words->v[i], strlen(words->v[i]) + 1);
		assert_int_equal(out.len, want.len);
		assert_memory_equal(out.data, want.data, want.len);
	}
}

static void test_known_words(void **state)
{
	static const char *const words[] = {
		"a,b",	     "it's", "$HOME", "back\\slash", "-n",   "",	 "two  blanks",
		"new\nline", "\n",   "'",     "''",	     "\"",   "`id`",	 "$(id)",
		"*",	     "?",    "[a-z]", "{a,b}",	     "~",    "~root",	 "#x",
		"!x",	     "a=b",  "if",    "done",	     ";",    "&",	 "|",
		"<x",	     ">x",   "2>x",   "(",	     ")",    "\t",	 "tab\there",
		"\\",	     "\\n",  "%s",    "--",	     "\x80", "\xc3\xa9", "a'b'c\\'d",
	};
	struct kab_strv sv kab_autostrv = KAB_STRV_INIT;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++)
		kab_strv_add(&sv, words[i]);
	check_words(&sv);
}

static void test_random_words(void **state)
{
	struct kab_rng rng;

	(void)state;
	kab_rng_seed(&rng, 20240601);
	for (int round = 0; round < 40; round++) {
		struct kab_strv sv kab_autostrv = KAB_STRV_INIT;

		for (int i = 0; i < 50; i++) {
			char word[40];
			size_t n = kab_rng_below(&rng, sizeof(word));

			/* Any byte but NUL; half of them from the dangerous end of ASCII. */
			for (size_t j = 0; j < n; j++)
				word[j] = (char)(kab_rng_below(&rng, 2)
							 ? 1 + kab_rng_below(&rng, 255)
							 : (uint64_t) " '\"\\$`!*?\n;&|<>()#~"
								   [kab_rng_below(&rng, 19)]);
			kab_strv_add_n(&sv, word, n);
		}
		check_words(&sv);
	}
}

/* The first word is in command position: grammar words must not be read as grammar. */
static void test_command_position(void **state)
{
	static const char *const names[] = { "if", "while", "time", "{", "!", "a=b", "case" };

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++) {
		const char *argv[] = { names[i], "x", NULL };
		char *quoted kab_autofree = kab_quote_argv(argv);
		char *line kab_autofree = kab_xasprintf("%s 2>/dev/null; echo rc=$?", quoted);

		for (size_t sh = 0; sh < KAB_ARRAY_SIZE(shells); sh++) {
			struct kab_buf out kab_autobuf = KAB_BUF_INIT;

			through(shells[sh], line, &out);
			assert_string_equal(kab_buf_str(&out), "rc=127\n");
		}
	}
}

static void test_plain_words_stay_readable(void **state)
{
	const char *argv[] = { "hackbench", "-g", "16", "--pipe", "it's", NULL };
	char *line kab_autofree = kab_quote_argv(argv);

	(void)state;
	assert_string_equal(line, "hackbench -g 16 --pipe 'it'\\''s'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_words),
		cmocka_unit_test(test_random_words),
		cmocka_unit_test(test_command_position),
		cmocka_unit_test(test_plain_words_stay_readable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
