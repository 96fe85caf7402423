/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"

static void escape(void **state)
{
	static const struct {
		const char *in;
		size_t n;
		const char *out;
	} cases[] = {
		{ "plain ~", 7, "plain ~" },
		{ "two\nlines\tand tab", 17, "two\nlines\tand tab" },
		{ "\033[2J\a\r\b\x7f", 8, "\\x1b[2J\\x07\\x0d\\x08\\x7f" },
		{ "a\0b", 3, "a\\x00b" },
		{ "gr\303\274n \342\202\254 \360\237\220\247", 14,
		  "gr\303\274n \342\202\254 \360\237\220\247" },
		/* C1: CSI as a code point, and as a byte */
		{ "\302\233m", 3, "\\xc2\\x9bm" },
		{ "\233m", 2, "\\x9bm" },
		/* the first code point behind C1 passes */
		{ "\302\240", 2, "\302\240" },
		/* bidirectional overrides, isolates and marks */
		{ "a\342\200\256b", 5, "a\\xe2\\x80\\xaeb" },
		{ "a\342\201\246b", 5, "a\\xe2\\x81\\xa6b" },
		{ "a\342\200\217b", 5, "a\\xe2\\x80\\x8fb" },
		{ "a\330\234b", 4, "a\\xd8\\x9cb" },
		/* line and paragraph separator */
		{ "\342\200\250", 3, "\\xe2\\x80\\xa8" },
		/* overlong, surrogate, above U+10FFFF, cut off */
		{ "\300\257", 2, "\\xc0\\xaf" },
		{ "\340\200\257", 3, "\\xe0\\x80\\xaf" },
		{ "\355\240\200", 3, "\\xed\\xa0\\x80" },
		{ "\364\220\200\200", 4, "\\xf4\\x90\\x80\\x80" },
		{ "\342\202", 2, "\\xe2\\x82" },
		{ "\342\202x", 3, "\\xe2\\x82x" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

		kab_text_escape(&buf, cases[i].in, cases[i].n);
		assert_string_equal(kab_buf_str(&buf), cases[i].out);
	}
}

/* Of a stream: JSON stays JSON, CR LF stays, what is not there yet is waited for. */
static void show(void **state)
{
	static const struct {
		const char *in, *out;
		bool more;
		size_t taken;
	} cases[] = {
		{ "a\tb\r\n", "a\tb\r\n", false, 5 },
		{ "a\033[31m\r\b", "a\\x1b[31m\\x0d\\x08", false, 8 },
		{ "\"\177\302\233\342\200\256\330\234\"", "\"\\u007f\\u009b\\u202e\\u061c\"", false,
		  10 },
		{ "\303\244\342\202\254", "\303\244\342\202\254", false, 5 },
		{ "a\303", "a", true, 1 },
		{ "a\342\200", "a", true, 1 },
		{ "a\r", "a", true, 1 },
		{ "a\303", "a\\xc3", false, 2 },
		{ "\377a\342b", "\\xffa\\xe2b", false, 4 },
		{ "\355\240\200", "\\xed\\xa0\\x80", false, 3 },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

		assert_int_equal(
			kab_text_show(&buf, cases[i].in, strlen(cases[i].in), cases[i].more),
			cases[i].taken);
		assert_string_equal(kab_buf_str(&buf), cases[i].out);
	}
	assert_true(kab_text_is_line("a \303\244"));
	assert_true(kab_text_is_line(""));
	assert_false(kab_text_is_line("a\tb"));
	assert_true(kab_text_is_plain("a\tb\n"));
	assert_false(kab_text_is_plain("\033"));
	assert_false(kab_text_is_plain("\302\233"));
	assert_false(kab_text_is_plain("\377"));
}

static void nearest(void **state)
{
	static const char *const keys[] = { "boots", "iterations", "warmup", "retry", NULL };
	static const char *const none[] = { NULL };

	(void)state;
	assert_string_equal(kab_text_nearest("iteratons", keys), "iterations");
	assert_string_equal(kab_text_nearest("warmups", keys), "warmup");
	assert_string_equal(kab_text_nearest("boot", keys), "boots");
	assert_string_equal(kab_text_nearest("bosto", keys), "boots");
	assert_null(kab_text_nearest("conditions_x", keys));
	assert_null(kab_text_nearest("zzzzzz", keys));
	assert_null(kab_text_nearest("boots", none));
	/* Longer than anything that is compared: no nearest, no overrun. */
	assert_null(kab_text_nearest(
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		keys));
}

static void tail(void **state)
{
	const char text[] = "one\ntwo\nthree\n";
	size_t len;

	(void)state;
	assert_ptr_equal(kab_text_tail(text, strlen(text), 1, &len), text + 8);
	assert_int_equal(len, 6);
	assert_ptr_equal(kab_text_tail(text, strlen(text), 2, &len), text + 4);
	assert_int_equal(len, 10);
	assert_ptr_equal(kab_text_tail(text, strlen(text), 9, &len), text);
	assert_int_equal(len, 14);
	assert_ptr_equal(kab_text_tail("", 0, 3, &len), "");
	assert_int_equal(len, 0);
}

static void duration(void **state)
{
	static const struct {
		double s;
		const char *text;
	} cases[] = {
		{ 0, "0 s" },
		{ 0.25, "0.2 s" },
		{ 9.75, "9.8 s" },
		{ 10, "10 s" },
		{ 95, "95 s" },
		{ 120, "2 min" },
		{ 719, "12 min" },
		{ 7200, "2 h 0 min" },
		{ 12000, "3 h 20 min" },
		{ NAN, "unknown" },
		{ -1, "unknown" },
		{ INFINITY, "unknown" },
		{ 360000, "100 h 0 min" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		char *text kab_autofree = kab_text_duration(cases[i].s);

		assert_string_equal(text, cases[i].text);
	}
}

static void labels(void **state)
{
	char longest[130];

	(void)state;
	assert_true(kab_text_is_label("6.12.0-rc1+patch_2"));
	assert_true(kab_text_is_label("+x"));
	assert_false(kab_text_is_label("-x"));
	assert_false(kab_text_is_label(""));
	assert_false(kab_text_is_label(NULL));
	assert_false(kab_text_is_label("a b"));
	assert_false(kab_text_is_label("a/b"));
	assert_false(kab_text_is_label("a=b"));
	assert_false(kab_text_is_label("\303\274"));
	memset(longest, 'a', 129);
	longest[129] = '\0';
	assert_false(kab_text_is_label(longest));
	longest[128] = '\0';
	assert_true(kab_text_is_label(longest));
}

static void numbers(void **state)
{
	static const char *const bad_ints[] = { "",	"-",  " 1",  "1 ",  "1.0",
						"0x10", "+1", "--1", "1e3", "9223372036854775808" };
	static const char *const bad_doubles[] = {
		"", " 1", "1 ", "x", "inf", "nan", "1e999", "1,5"
	};
	int64_t n = 77;
	double x = 77;

	(void)state;
	assert_int_equal(kab_text_int("-9223372036854775808", &n), 0);
	assert_true(n == INT64_MIN);
	assert_int_equal(kab_text_int("0042", &n), 0);
	assert_int_equal(n, 42);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad_ints); i++) {
		n = 77;
		assert_int_equal(kab_text_int(bad_ints[i], &n), -1);
		assert_int_equal(n, 77);
	}
	assert_int_equal(kab_text_double("2.5e-3", &x), 0);
	assert_true(x == 0.0025);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad_doubles); i++) {
		x = 77;
		assert_int_equal(kab_text_double(bad_doubles[i], &x), -1);
		assert_true(x == 77);
	}
}

static void csv(void **state)
{
	static const struct {
		const char *text, *field;
	} cases[] = {
		{ NULL, "" },
		{ "", "" },
		{ "plain text", "plain text" },
		{ "a,b", "\"a,b\"" },
		{ "say \"a\"", "\"say \"\"a\"\"\"" },
		{ "a\r\nb", "\"a\r\nb\"" },
		{ "=1+1", "'=1+1" },
		{ "=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\"" },
		{ "+1", "'+1" },
		{ "-1", "'-1" },
		{ "@a", "'@a" },
		{ "\ta", "'\ta" },
		{ "'a", "''a" },
		{ "a=b", "a=b" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(cases); i++) {
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

		kab_text_csv(&buf, cases[i].text);
		assert_string_equal(kab_buf_str(&buf), cases[i].field);
	}
}

static void dates(void **state)
{
	static const char *const good[] = { "2026-12-01", "2024-02-29", "1999-12-31" };
	static const char *const bad[] = { "",		 "2026-12-1",	" 2026-12-01", "2026-02-29",
					   "2026-13-01", "2026-12-01 ", "2026-00-10",  "01-12-2026",
					   "today",	 "2026-12-32" };

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(good); i++)
		assert_true(kab_text_is_date(good[i]));
	for (size_t i = 0; i < KAB_ARRAY_SIZE(bad); i++)
		assert_false(kab_text_is_date(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escape),  cmocka_unit_test(show),     cmocka_unit_test(nearest),
		cmocka_unit_test(tail),	   cmocka_unit_test(duration), cmocka_unit_test(labels),
		cmocka_unit_test(numbers), cmocka_unit_test(csv),      cmocka_unit_test(dates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
