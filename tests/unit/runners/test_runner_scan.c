/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "runners/outcome.h"
#include "runners/scan.h"
#include "runners/stress_ng.h"

static const char *number(const char *s, double *ret)
{
	struct kab_number n = { 0 };
	const char *end = kab_scan_number(s, &n);

	*ret = n.value;
	return end;
}

static void numbers(void **state)
{
	static const char *const good[] = {
		"0", "12", " 0.764", "0,764", "1.5s", "3.", "7 8", "9/2"
	};
	static const double values[] = { 0, 12, 0.764, 0.764, 1.5, 3, 7, 9 };
	static const char *const bad[] = { "",
					   "-1",
					   "x1",
					   ".5",
					   "1.2.3",
					   "1,234,567",
					   "1e5",
					   "1E-5",
					   "1.234,56",
					   "nan",
					   "inf",
					   ("\x01"
					    "1"),
					   "1\x01" };
	double x;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(good); i++) {
		assert_non_null(number(good[i], &x));
		assert_true(fabs(x - values[i]) < 1e-12);
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad); i++)
		if (number(bad[i], &x))
			fail_msg("'%s' was read as %g", bad[i], x);
	{
		struct kab_buf digits = KAB_BUF_INIT;

		kab_buf_fill(&digits, '9', 400);
		assert_null(number(kab_buf_str(&digits), &x));
		kab_buf_release(&digits);
	}
}

/* The lines of one stream joined with '|'; a '~' behind one without a line end. */
static char *lines_of(const char *data, size_t len, const char *learn)
{
	struct kab_stream stream = { .name = "merged", .data = data, .len = len };
	struct kab_outputs outputs = { .v = &stream, .n = 1 };
	struct kab_buf out = KAB_BUF_INIT;
	struct kab_scan scan;

	kab_scan_init(&scan, &outputs);
	while (kab_scan_next(&scan)) {
		const char *at = learn ? strstr(scan.s, learn) : NULL;

		kab_buf_addf(&out, "%s%s|", scan.s, scan.terminated ? "" : "~");
		if (at)
			kab_scan_learn(&scan, at);
	}
	kab_scan_release(&scan);
	return kab_buf_detach(&out);
}

static void check_lines(const char *data, size_t len, const char *learn, const char *want)
{
	char *got = lines_of(data, len, learn);

	assert_string_equal(got, want);
	free(got);
}

#define CHECK_LINES(data, learn, want) check_lines(data, sizeof(data) - 1, learn, want)

static void lines(void **state)
{
	(void)state;
	CHECK_LINES("", NULL, "");
	CHECK_LINES("a\nb", NULL, "a|b~|");
	CHECK_LINES("a\r\n\r\nb\r\r\n", NULL, "a||b|");
	CHECK_LINES("\xef\xbb\xbf"
		    "a\n",
		    NULL, "a|");
	CHECK_LINES("\xef\xbc\x9a"
		    "a\n",
		    NULL,
		    "\xef\xbc\x9a"
		    "a|");
	CHECK_LINES("10 %\r20 %\rdone\n", NULL, "10 %|20 %|done|");
	CHECK_LINES("\x1b[1;31mred\x1b[0m\x1b[K\n", NULL, "red|");
	CHECK_LINES("\x1b]0;title\atext\n", NULL, "text|");
	CHECK_LINES("1\x1b[2D2\n", NULL,
		    "1\x01"
		    "2|");
	CHECK_LINES("a\0\0\0b\n\0\0", NULL,
		    "a\x01"
		    "b|~|");
	CHECK_LINES("x \v\b\n", NULL, "x|");
	CHECK_LINES("\x1b[", NULL, "~|");
}

static void prefixes(void **state)
{
	(void)state;
	CHECK_LINES("RX> start\nRX> a\nb\nRX> RX> c\n", "start", "RX> start|a|b|c|");
	CHECK_LINES("[   9.99] start\n[  10.01]   a\n[x] b\n", "start",
		    "[   9.99] start|  a|[x] b|");
	CHECK_LINES("host1 23:59:59 start\nhost12 00:00:01  a\n", "start",
		    "host1 23:59:59 start| a|");
	/* The prefix ends in a number, and so does the text begin. */
	CHECK_LINES("12 start\n13 14 a\n", "start", "12 start|14 a|");
	/* Blanks before the header are no prefix. */
	CHECK_LINES("    start\n    a\n", "start", "    start|    a|");
}

static void long_lines_are_cut(void **state)
{
	size_t len = 3 * KAB_SCAN_LINE_MAX;
	char *data = kab_xmalloc(len + 2);
	struct kab_stream stream = { .name = "merged", .data = data, .len = len + 2 };
	struct kab_outputs outputs = { .v = &stream, .n = 1 };
	struct kab_scan scan;

	(void)state;
	memset(data, 'x', len);
	memcpy(data + len, "\ny", 2);
	kab_scan_init(&scan, &outputs);
	assert_int_equal(kab_scan_next(&scan), 1);
	assert_true(scan.overlong && scan.terminated);
	assert_int_equal(strlen(scan.s), KAB_SCAN_LINE_MAX);
	assert_int_equal(kab_scan_next(&scan), 1);
	assert_false(scan.overlong);
	assert_string_equal(scan.s, "y");
	assert_int_equal(kab_scan_next(&scan), 0);
	kab_scan_release(&scan);
	free(data);
}

static void what_stands_around(void **state)
{
	static const struct {
		const char *line, *part;
	} table[] = {
		{ "bash: line 1: hackbench: command not found", "not found" },
		{ "sh: 1: hackbench: not found", "not found" },
		{ "env: 'hackbench': No such file or directory", "not found" },
		{ "bash: ./hackbench: Permission denied", "permission" },
		{ "Killed", "Killed" },
		{ "Segmentation fault (core dumped)", "Segmentation fault" },
		{ "./run.sh: line 3: 12345 Killed                  hackbench -g 10", "Killed" },
		{ "Command terminated by signal 9", "signal 9" },
		{ "Command exited with non-zero status 1", "status 1" },
		{ "[1.5] Out of memory: Killed process 77 (hackbench) total-vm:1kB", "memory" },
		{ "hackbench: error while loading shared libraries: libx.so", "shared library" },
		{ "Killed process 77 (other) of nobody", NULL },
		{ "Time: 0.764", NULL },
		{ "Aborted attempts: 0", NULL },
		{ "cat: /proc/x: No such file or directory", NULL },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		char *why = kab_scan_wrapper_failure(table[i].line, "hackbench");

		if (!table[i].part != !why || (why && !strstr(why, table[i].part)))
			fail_msg("'%s' gave '%s'", table[i].line, why ? why : "nothing");
		free(why);
	}
}

static void exit_statuses(void **state)
{
	char *text;

	(void)state;
	assert_true(kab_exit_was_ended(143) && kab_exit_was_ended(137) && kab_exit_was_ended(124));
	assert_false(kab_exit_was_ended(139) || kab_exit_was_ended(134) || kab_exit_was_ended(1) ||
		     kab_exit_was_ended(0) || kab_exit_was_ended(KAB_EXIT_UNKNOWN));
	text = kab_exit_text(137);
	assert_string_equal(text, "signal 9");
	free(text);
}

static void escaped_for_messages(void **state)
{
	char *text = kab_scan_escape("a\x1b[2J'\\\xff");

	(void)state;
	assert_string_equal(text, "a\\x1b[2J\\'\\\\\\xff");
	free(text);
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		double seconds;
	} table[] = {
		{ "2.44s", 2.44 },
		{ "60.06s (1 min, 0.06 secs)", 60.06 },
		{ "1 min, 10.23 secs", 70.23 },
		{ "2.01 secs", 2.01 },
		{ "1.01 sec", 1.01 },
		{ "2 second run per stressor", 2 },
		{ "1 min, 0 secs run per stressor", 60 },
		{ "1 hour, 2 mins, 3.50 secs", 3723.5 },
		{ "1 day run per stressor", 86400 },
		{ "1 day, 0 secs run per stressor", 86400 },
		{ "soon", -1 },
		{ "5 apples", -1 },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++)
		if (fabs(kab_stress_ng_duration(table[i].text) - table[i].seconds) > 1e-9)
			fail_msg("'%s' is %g", table[i].text,
				 kab_stress_ng_duration(table[i].text));
}

static void labels_of_stress_ng(void **state)
{
	static const struct {
		const char *line;
		enum kab_direction dir;
		const char *unit;
	} table[] = {
		{ "a 1.50 nanosecs per call (harmonic mean of 1 instance)", KAB_DIR_LOWER, "ns" },
		{ "a 1.50 write128 MB/sec (average per stressor)", KAB_DIR_HIGHER, "MB/s" },
		{ "a 1.50 MB per sec pipe write rate (harmonic mean of 4 instances)",
		  KAB_DIR_HIGHER, "MB/s" },
		{ "a 99.00 % sendto calls succeeded (geometric mean of 9 instances)",
		  KAB_DIR_HIGHER, "%" },
		{ "a 1.01 context switches per bogo op (average per stressor)", KAB_DIR_NONE, "" },
		{ "a 1.01 context switches per second (average per stressor)", KAB_DIR_HIGHER,
		  "1/s" },
	};
	struct kab_stress_misc misc;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		assert_true(kab_stress_ng_misc(table[i].line, false, &misc));
		assert_int_equal(misc.dir, table[i].dir);
		assert_string_equal(misc.unit, table[i].unit);
		assert_null(strchr(misc.label, '(') && strstr(misc.label, "mean") ? misc.label
										  : NULL);
	}
	assert_false(kab_stress_ng_misc("cpu 3 something else", false, &misc));
	assert_true(kab_stress_ng_misc("cpu 3 something else", true, &misc));
	assert_false(kab_stress_ng_misc("cpu 3 2.00 1.56", true, &misc));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(lines),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(what_stands_around),
		cmocka_unit_test(exit_statuses),
		cmocka_unit_test(escaped_for_messages),
		cmocka_unit_test(durations),
		cmocka_unit_test(labels_of_stress_ng),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
