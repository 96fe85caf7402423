/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The HTML page: what goes into it is harmless, what comes out is well formed and names its failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "judge/judge.h"
#include "reports/html.h"
#include "reports/html_internal.h"
#include "reports/html_svg.h"
#include "rows.h"

static void assert_escaped(const char *text, const char *want)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;

	kab_html_escape(&out, text);
	assert_string_equal(kab_buf_str(&out), want);
}

static void test_markup_is_text(void **state)
{
	(void)state;
	assert_escaped("", "");
	assert_escaped("plain text, 5 %", "plain text, 5 %");
	assert_escaped("<script>alert('x')</script>",
		       "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
	assert_escaped("a\" onmouseover=\"b", "a&quot; onmouseover=&quot;b");
	assert_escaped("&amp; && &#60;", "&amp;amp; &amp;&amp; &amp;#60;");
	assert_escaped("]]> -->", "]]&gt; --&gt;");
	/* Attributes are quoted everywhere, so that these are letters. */
	assert_escaped("`= /", "`= /");
	assert_escaped("line\n\ttab", "line\n\ttab");
}

static void test_control_characters_are_seen(void **state)
{
	(void)state;
	assert_escaped("\x1b[31mred\x07", "\\x1b[31mred\\x07");
	assert_escaped("a\rb\x7f", "a\\x0d"
				   "b\\x7f");
	/* A C1 control, and the same byte without its lead. */
	assert_escaped("\xc2\x9b"
		       "2J",
		       "\\xc2\\x9b2J");
	assert_escaped("\x9b", "\\x9b");
}

static void test_direction_cannot_be_turned(void **state)
{
	(void)state;
	assert_escaped("a\xe2\x80\xae"
		       "cod.exe",
		       "a\\xe2\\x80\\xae"
		       "cod.exe"); /* U+202E */
	assert_escaped("\xe2\x81\xa6x\xe2\x81\xa9", "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9"); /* U+2066 */
	assert_escaped("\xe2\x80\x8f", "\\xe2\\x80\\x8f"); /* U+200F */
	assert_escaped("\xe2\x80\xa8", "\\xe2\\x80\\xa8"); /* U+2028 */
}

static void test_only_utf8_goes_through(void **state)
{
	(void)state;
	assert_escaped("gr\xc3\xbc\xc3\x9f"
		       "e \xe2\x9c\x93 \xf0\x9f\x90\xa7",
		       "gr\xc3\xbc\xc3\x9f"
		       "e \xe2\x9c\x93 \xf0\x9f\x90\xa7");
	assert_escaped("\xc3", "\\xc3");
	assert_escaped("\xc0\xbc", "\\xc0\\xbc"); /* "<" in two bytes */
	assert_escaped("\xe0\x80\xbc", "\\xe0\\x80\\xbc"); /* in three */
	assert_escaped("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* half a surrogate pair */
	assert_escaped("\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80");
	/* The quote behind a broken sequence is still a quote. */
	assert_escaped("\xe2\x80\"", "\\xe2\\x80&quot;");
}

static void assert_number(double value, const char *want)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;

	kab_html_number(&out, value);
	assert_string_equal(kab_buf_str(&out), want);
}

static void test_numbers_have_seven_digits(void **state)
{
	(void)state;
	assert_number(0, "0");
	assert_number(2.5, "2.5");
	assert_number(100, "100");
	assert_number(1.0 / 3, "0.3333333");
	assert_number(-12345.678901, "-12345.68");
	assert_number(123456789, "123456789");
	assert_number(2000, "2000");
	assert_number(0.00012345678, "0.0001234568");
	assert_number(3e-7, "3e-07");
	assert_number(NAN, "n/a");
	assert_number(-INFINITY, "n/a");
}

static void test_broken_lines_are_whole_again(void **state)
{
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT, whole = KAB_STRV_INIT;

	(void)state;
	kab_wrap(&lines, "one two three four five six", 12, 2);
	assert_true(lines.n > 2);
	kab_wrap(&lines, "seven", 12, 2);
	kab_html_unwrap(&lines, &whole);
	assert_int_equal(whole.n, 2);
	assert_string_equal(whole.v[0], "one two three four five six");
	assert_string_equal(whole.v[1], "seven");
}

/* Colour and shape together are unique for more kernels than anybody compares. */
static void test_marks_differ(void **state)
{
	struct kab_strv kab_autostrv seen = KAB_STRV_INIT;

	(void)state;
	for (size_t k = 0; k < KAB_SVG_COLOURS * KAB_SVG_SHAPES; k++) {
		struct kab_buf kab_autobuf mark = KAB_BUF_INIT;

		kab_svg_kernel(&mark, k);
		kab_svg_mark(&mark, k, 100, 50, 3);
		assert_false(kab_strv_has(&seen, kab_buf_str(&mark)));
		kab_strv_add(&seen, kab_buf_str(&mark));
	}
}

/* ---- the page ---- */

static void page_of(struct kab_row_list *rows, const struct kab_preamble *preamble,
		    const struct kab_html_about *about, struct kab_buf *out)
{
	const struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	const struct kab_report_opts report = { .style = kab_style_find("plain"),
						.only_judged = true };
	struct kab_judgement judgement = { 0 };
	struct kab_err err = KAB_ERR_INIT;

	assert_int_equal(kab_judge(rows, &opts, &judgement, &err), 0);
	kab_report_html(&judgement, &report, preamble, about, out);
	kab_judgement_release(&judgement);
}

static void two_kernels(struct kab_row_list *rows, const char *key)
{
	static const double a[] = { 10, 10.1, 9.9 }, b[] = { 8, 8.1, 7.9 };
	struct kab_row_data *row = rows_add(rows, "pipe", key, "time", "s", KAB_DIR_LOWER);
	struct kab_sample_set *set;

	row_kernel(row, "base");
	row_kernel(row, "patched");
	for (size_t k = 0; k < 2; k++) {
		set = &row->sets[k];
		for (int boot = 0; boot < 5; boot++) {
			double v[3];

			for (size_t i = 0; i < 3; i++)
				v[i] = (k ? b[i] : a[i]) + 0.01 * boot;
			set_boot(set, -1, v, 3);
		}
	}
}

static size_t count_of(const struct kab_buf *page, const char *what)
{
	size_t n = 0;

	for (const char *s = kab_buf_str(page); (s = strstr(s, what)); s += strlen(what))
		n++;
	return n;
}

static void test_page_has_what_a_report_has(void **state)
{
	struct kab_preamble preamble = { .machine = kab_xstrdup("x86_64, two sockets"),
					 .power = kab_xstrdup("performance"),
					 .runs = kab_xstrdup("5 boots x 3"),
					 .quiet = kab_xstrdup("no, something else ran"),
					 .noise = kab_xstrdup("0.4 %") };
	const struct kab_html_about about = { "nightly <3>", "run 3", "1.2.3" };
	struct kab_buf kab_autobuf page = KAB_BUF_INIT;
	struct kab_row_list rows = { 0 };

	(void)state;
	kab_strv_add(&preamble.kernels, "base  base = 6.1.0 & more");
	kab_strv_add(&preamble.bench, "hackbench -g 4");
	kab_strv_add(&preamble.differs, "cmdline: 'quiet' <only> on base");
	kab_strv_add(&preamble.notices, "not for sale");
	kab_strv_add(&preamble.reproduce, "kab run x.json --seed 7");
	two_kernels(&rows, "groups=4");
	page_of(&rows, &preamble, &about, &page);
	for (const char *const *w =
		     (const char *const[]){
			     "<title>nightly &lt;3&gt; - kab report</title>",
			     "<h1>nightly &lt;3&gt;</h1>", "run 3", "x86_64, two sockets",
			     "6.1.0 &amp; more", "&#39;quiet&#39; &lt;only&gt; on base",
			     "no, something else ran", "0.4 %", "not for sale",
			     "kab run x.json --seed 7", "Made by kab 1.2.3.", "1 row: 1 improved",
			     "LOWER is better", "gain = (base-test)/base, + is better",
			     "<b class=v0>I</b> improved", "default-src 'none'", "<html lang=en>",
			     "hackbench -g 4", NULL };
	     *w; w++)
		if (!strstr(kab_buf_str(&page), *w))
			fail_msg("the page has no '%s'", *w);
	kab_preamble_release(&preamble);
	kab_row_list_release(&rows);
}

static void test_same_judgement_same_bytes(void **state)
{
	const struct kab_html_about about = { "a", NULL, NULL };
	struct kab_buf kab_autobuf one = KAB_BUF_INIT, two = KAB_BUF_INIT;
	struct kab_row_list rows = { 0 };

	(void)state;
	two_kernels(&rows, "groups=4");
	two_kernels(&rows, "groups=8");
	page_of(&rows, NULL, &about, &one);
	page_of(&rows, NULL, &about, &two);
	assert_string_equal(kab_buf_str(&one), kab_buf_str(&two));
	/* A body with two lines and a strip per row. */
	assert_int_equal(count_of(&one, "<tbody data-o="), 2);
	assert_int_equal(count_of(&one, "class=more>"), 2);
	assert_int_equal(count_of(&one, "<svg class=strip"), 2);
	assert_int_equal(count_of(&one, "<svg "), count_of(&one, "</svg>"));
	kab_row_list_release(&rows);
}

static void test_what_is_missing_is_a_word(void **state)
{
	static const double v[] = { 1, 1.1 };
	const struct kab_html_about about = { "a", NULL, NULL };
	struct kab_buf kab_autobuf page = KAB_BUF_INIT;
	struct kab_row_list rows = { 0 };
	struct kab_row_data *row = rows_add(&rows, "pipe", "", "time", "s", KAB_DIR_LOWER);
	struct kab_sample_set *set;

	(void)state;
	row_kernel(row, "base");
	row_kernel(row, "lost");
	row_kernel(row, "never");
	set = &row->sets[0];
	set_boot(set, -1, v, 2);
	row->sets[1].n_planned = row->sets[1].n_failed = 2;
	row->sets[1].first_failure = kab_xstrdup("killed by <signal> 9");
	row->sets[2].n_planned = row->sets[2].n_missing = 2;
	page_of(&rows, NULL, &about, &page);
	for (const char *const *w =
		     (const char *const[]){ ">fail 2/2<", ">missing<",
					    "first failure: killed by &lt;signal&gt; 9", NULL };
	     *w; w++)
		if (!strstr(kab_buf_str(&page), *w))
			fail_msg("the page has no '%s'", *w);
	assert_null(strstr(kab_buf_str(&page), "nan"));
	assert_null(strstr(kab_buf_str(&page), "<signal>"));
	kab_row_list_release(&rows);
}

static void test_nothing_at_all(void **state)
{
	const struct kab_html_about about = { NULL, NULL, NULL };
	struct kab_buf kab_autobuf page = KAB_BUF_INIT;
	struct kab_row_list rows = { 0 };

	(void)state;
	page_of(&rows, NULL, &about, &page);
	assert_non_null(strstr(kab_buf_str(&page), "<h1>kab report</h1>"));
	assert_non_null(strstr(kab_buf_str(&page), "</html>"));
}

static void test_too_long_is_said(void **state)
{
	const struct kab_html_about about = { "a", NULL, NULL };
	struct kab_buf kab_autobuf page = KAB_BUF_INIT;
	struct kab_row_list rows = { 0 };

	(void)state;
	kab_buf_init(&page, 20000);
	two_kernels(&rows, "groups=4");
	page_of(&rows, NULL, &about, &page);
	assert_true(page.cut);
	kab_row_list_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markup_is_text),
		cmocka_unit_test(test_control_characters_are_seen),
		cmocka_unit_test(test_direction_cannot_be_turned),
		cmocka_unit_test(test_only_utf8_goes_through),
		cmocka_unit_test(test_numbers_have_seven_digits),
		cmocka_unit_test(test_broken_lines_are_whole_again),
		cmocka_unit_test(test_marks_differ),
		cmocka_unit_test(test_page_has_what_a_report_has),
		cmocka_unit_test(test_same_judgement_same_bytes),
		cmocka_unit_test(test_what_is_missing_is_a_word),
		cmocka_unit_test(test_nothing_at_all),
		cmocka_unit_test(test_too_long_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
