/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What happens to logs on their way, done to every genuine output: the figures stay the same, or
 * become none, but never others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "support.h"

static struct fixtures all;

static int load(void **state)
{
	(void)state;
	fixtures_load(&all, KAB_SOURCE_DIR "/tests/data/runners");
	return 0;
}

static int unload(void **state)
{
	(void)state;
	fixtures_release(&all);
	return 0;
}

static bool usable(const struct kab_parse_result *result)
{
	return result->status == KAB_PARSE_OK || result->status == KAB_PARSE_PARTIAL;
}

typedef void (*line_fn)(struct kab_buf *out, const char *line, size_t len, size_t number);

static void change_lines(const struct fixture *f, line_fn change, struct kab_buf *out)
{
	const char *p = f->data, *end = f->data + f->len;

	kab_buf_init(out, 0);
	for (size_t number = 0; p < end; number++) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		size_t len = eol ? (size_t)(eol - p) : (size_t)(end - p);

		change(out, p, len && p[len - 1] == '\r' ? len - 1 : len, number);
		p += len + 1;
	}
}

static void with_crlf(struct kab_buf *out, const char *line, size_t len, size_t number)
{
	if (!number)
		kab_buf_adds(out, "\xef\xbb\xbf");
	kab_buf_add(out, line, len);
	kab_buf_adds(out, "\r\n");
}

static void with_prompt(struct kab_buf *out, const char *line, size_t len, size_t number)
{
	(void)number;
	kab_buf_adds(out, "RX> ");
	kab_buf_add(out, line, len);
	kab_buf_adds(out, " \v\b\r\n");
}

static void with_stamp(struct kab_buf *out, const char *line, size_t len, size_t number)
{
	kab_buf_addf(out, "[%8zu.%06zu] ", 7 * number + 995, number * 123457 % 1000000);
	kab_buf_add(out, line, len);
	kab_buf_addc(out, '\n');
}

static void with_time(struct kab_buf *out, const char *line, size_t len, size_t number)
{
	kab_buf_addf(out, "23:%02zu:%02zu ", number / 60 % 60, number % 60);
	kab_buf_add(out, line, len);
	kab_buf_addc(out, '\n');
}

static void with_quote(struct kab_buf *out, const char *line, size_t len, size_t number)
{
	(void)number;
	kab_buf_adds(out, "> ");
	kab_buf_add(out, line, len);
	kab_buf_addc(out, '\n');
}

static void with_colours(struct kab_buf *out, const char *line, size_t len, size_t number)
{
	(void)number;
	kab_buf_adds(out, "\x1b[1;32m");
	kab_buf_add(out, line, len);
	kab_buf_adds(out, "\x1b[0m\x1b[K\n");
}

static void with_dmesg(struct kab_buf *out, const char *line, size_t len, size_t number)
{
	kab_buf_add(out, line, len);
	kab_buf_addf(out, "\n[  %3zu.456789] usb 1-1: new high-speed USB device number 7\n",
		     number + 100);
}

static void figures_survive(line_fn change)
{
	for (size_t i = 0; i < all.n; i++) {
		const struct fixture *f = &all.v[i];
		struct kab_parse_result before, after;
		char *want, *got;
		struct kab_buf out;

		change_lines(f, change, &out);
		parse_bytes(f->tool, f->data, f->len, f->exit_status, &f->params, &before);
		parse_bytes(f->tool, out.data ? out.data : "", out.len, f->exit_status, &f->params,
			    &after);
		want = samples_text(&before);
		got = samples_text(&after);
		/* A bare number is only known as one when nothing else is on its line. */
		if (strstr(f->file, "-simple") && change != with_crlf && change != with_dmesg)
			assert_true(!after.samples.n || !strcmp(want, got));
		else if (before.status != after.status || strcmp(want, got))
			fail_msg("%s: %s became %s (%s)\n%s", f->file,
				 kab_parse_status_name(before.status),
				 kab_parse_status_name(after.status), after.message, got);
		free(want);
		free(got);
		kab_parse_result_release(&before);
		kab_parse_result_release(&after);
		kab_buf_release(&out);
	}
}

static void line_ends_and_byte_order_mark(void **state)
{
	(void)state;
	figures_survive(with_crlf);
}

static void prompts_and_control_bytes(void **state)
{
	(void)state;
	figures_survive(with_prompt);
}

static void time_stamps(void **state)
{
	(void)state;
	figures_survive(with_stamp);
	figures_survive(with_time);
}

static void quoted_in_a_mail(void **state)
{
	(void)state;
	figures_survive(with_quote);
}

static void colours(void **state)
{
	(void)state;
	figures_survive(with_colours);
}

static void kernel_messages_between_lines(void **state)
{
	(void)state;
	figures_survive(with_dmesg);
}

static void two_runs_are_two_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < all.n; i++) {
		const struct fixture *f = &all.v[i];
		struct kab_parse_result once, twice;
		struct kab_buf out = KAB_BUF_INIT;

		parse_bytes(f->tool, f->data, f->len, f->exit_status, &f->params, &once);
		kab_buf_add(&out, f->data, f->len);
		kab_buf_add(&out, f->data, f->len);
		parse_bytes(f->tool, out.data, out.len, f->exit_status, &f->params, &twice);
		if (once.status == KAB_PARSE_OK &&
		    (twice.status != KAB_PARSE_OK || twice.samples.n != 2 * once.samples.n))
			fail_msg("%s: %s with %zu samples, not %zu", f->file,
				 kab_parse_status_name(twice.status), twice.samples.n,
				 2 * once.samples.n);
		if (!usable(&once))
			assert_false(usable(&twice));
		kab_parse_result_release(&once);
		kab_parse_result_release(&twice);
		kab_buf_release(&out);
	}
}

static void a_failed_command_gives_no_figures(void **state)
{
	static const int statuses[] = { 1, 2, 124, 126, 127, 130, 134, 137, 139, 143 };

	(void)state;
	for (size_t i = 0; i < all.n; i++) {
		for (size_t j = 0; j < KAB_ARRAY_SIZE(statuses); j++) {
			const struct fixture *f = &all.v[i];
			struct kab_parse_result result;

			parse_bytes(f->tool, f->data, f->len, statuses[j], &f->params, &result);
			if (usable(&result) || result.samples.n || !result.message)
				fail_msg("%s with status %d: %s", f->file, statuses[j],
					 kab_parse_status_name(result.status));
			kab_parse_result_release(&result);
		}
	}
}

static bool has_line(const char *text, const char *line, size_t len)
{
	for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL)
		if (!strncmp(text, line, len))
			return true;
	return false;
}

/* Cut at every byte: what is still read was printed; less than all is never "ok". */
static void a_cut_log_gives_no_other_figures(void **state)
{
	(void)state;
	for (size_t i = 0; i < all.n; i++) {
		const struct fixture *f = &all.v[i];
		struct kab_parse_result whole;
		char *want;

		parse_bytes(f->tool, f->data, f->len, f->exit_status, &f->params, &whole);
		want = samples_text(&whole);
		for (size_t n = 0; n<f->len; n += f->len> 3000 ? 5 : 1) {
			struct kab_parse_result result;
			char *got, *line;

			parse_bytes(f->tool, f->data, n, f->exit_status, &f->params, &result);
			got = samples_text(&result);
			for (line = got; *line; line = strchr(line, '\n') + 1)
				/* Of several JVMs the sum is of those that are there. */
				if (!has_line(want, line, strcspn(line, "\n")) &&
				    strncmp(line, "bops=", 5))
					fail_msg("%s cut at %zu: %s", f->file, n, line);
			if (!usable(&whole) && usable(&result))
				fail_msg("%s cut at %zu is %s", f->file, n,
					 kab_parse_status_name(result.status));
			free(got);
			kab_parse_result_release(&result);
		}
		free(want);
		kab_parse_result_release(&whole);
	}
}

/* A single report is whole only with its last figure. */
static void a_cut_report_is_not_ok(void **state)
{
	(void)state;
	for (size_t i = 0; i < all.n; i++) {
		const struct fixture *f = &all.v[i];
		struct kab_parse_result whole;

		if (strcmp(f->tool, "sysbench") && strcmp(f->tool, "stress-ng"))
			continue;
		parse_bytes(f->tool, f->data, f->len, f->exit_status, &f->params, &whole);
		for (size_t n = 0; whole.status == KAB_PARSE_OK && n < f->len; n++) {
			struct kab_parse_result result;

			if (f->data[n] != '\n')
				continue;
			parse_bytes(f->tool, f->data, n, f->exit_status, &f->params, &result);
			if (result.status == KAB_PARSE_OK && result.samples.n < whole.samples.n)
				fail_msg("%s cut at %zu is ok with %zu of %zu samples", f->file, n,
					 result.samples.n, whole.samples.n);
			kab_parse_result_release(&result);
		}
		kab_parse_result_release(&whole);
	}
}

/* The same bytes in two streams, as they come from a host. */
static void separate_streams(void **state)
{
	static const struct kab_params none = { 0 };
	static const char noise[] = "warning: something on stderr\n";

	(void)state;
	for (size_t i = 0; i < all.n; i++) {
		const struct fixture *f = &all.v[i];
		struct kab_parse_result merged, split;
		struct kab_stream streams[] = {
			{ .name = "stdout", .data = f->data, .len = f->len },
			{ .name = "stderr", .data = noise, .len = strlen(noise) },
		};
		struct kab_outputs outputs = { .v = streams, .n = 2 };
		char *want, *got;

		parse_bytes(f->tool, f->data, f->len, f->exit_status, &f->params, &merged);
		kab_runner_find(f->tool)->parse(&outputs, f->exit_status,
						f->params.n ? &f->params : &none, &split);
		want = samples_text(&merged);
		got = samples_text(&split);
		assert_string_equal(want, got);
		assert_int_equal(merged.status, split.status);
		free(want);
		free(got);
		kab_parse_result_release(&merged);
		kab_parse_result_release(&split);
		streams[0].cut = true;
		kab_runner_find(f->tool)->parse(&outputs, f->exit_status, &f->params, &split);
		assert_int_not_equal(split.status, KAB_PARSE_OK);
		kab_parse_result_release(&split);
	}
}

/* A megabyte of what hurts slow parsers; the test's time limit is the assertion. */
static void large_input_is_read_in_time(void **state)
{
	static const char *const patterns[] = {
		"x",
		"\n",
		"\0\0\0\0\0\0\0\n",
		"stress-ng: ",
		"stress-ng: info:  [1] cpu 1 1.00 1.00 1.00 1.00 1.00\n",
		"stress-ng: info:  [1] dispatching hogs: 1 a, 1 b, 1 c, 1 d\n",
		"Running in process mode with 2 groups\n",
		"Time: 0.1",
		"\x1b[",
		"sysbench 1\n",
		"SPECjbb2005 bops",
		"RUN RESULT: ",
		"(((((((",
		"1,",
	};
	const size_t size = (size_t)1 << 20;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(patterns); i++) {
		size_t len = patterns[i][0] ? strlen(patterns[i]) : 8;
		char *data = kab_xmalloc(size);

		for (size_t n = 0; n < size; n++)
			data[n] = patterns[i][n % len];
		for (size_t r = 0; r < kab_runners_n; r++) {
			struct kab_parse_result result;

			parse_bytes(kab_runners[r]->name, data, size, 0, NULL, &result);
			kab_parse_result_release(&result);
		}
		free(data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_ends_and_byte_order_mark),
		cmocka_unit_test(prompts_and_control_bytes),
		cmocka_unit_test(time_stamps),
		cmocka_unit_test(quoted_in_a_mail),
		cmocka_unit_test(colours),
		cmocka_unit_test(kernel_messages_between_lines),
		cmocka_unit_test(two_runs_are_two_samples),
		cmocka_unit_test(a_failed_command_gives_no_figures),
		cmocka_unit_test(a_cut_log_gives_no_other_figures),
		cmocka_unit_test(a_cut_report_is_not_ok),
		cmocka_unit_test(separate_streams),
		cmocka_unit_test(large_input_is_read_in_time),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
