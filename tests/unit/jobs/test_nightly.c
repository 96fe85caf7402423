/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows over changes of the clock, the cut to a window, spreading of work, names of kernels, the lock,
 * and what a nightly file may hold. Expected times are those of `date -d`. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "jobs/lock.h"
#include "jobs/night_log.h"
#include "jobs/night_plan.h"
#include "jobs/night_text.h"
#include "jobs/source.h"
#include "jobs/window.h"

#define S KAB_NS_PER_S

/* ---- windows ---- */

static void zone(const char *tz)
{
	setenv("TZ", tz, 1);
	tzset();
}

static void window_over_midnight(void **state)
{
	const struct kab_window_def def = { .start_min = 22 * 60, .end_min = 6 * 60, .days = 0x7f };
	struct kab_window w;

	(void)state;
	zone("UTC");
	/* date -u -d '2026-12-01 03:00' +%s */
	assert_true(kab_window_now(&def, 1796094000 * S, &w));
	assert_string_equal(w.date, "2026-11-30");
	assert_int_equal(w.from_ns, 1796076000 * S); /* 2026-11-30 22:00 */
	assert_int_equal(w.to_ns, 1796104800 * S); /* 2026-12-01 06:00 */
	assert_false(kab_window_now(&def, 1796104800 * S, &w));
	assert_string_equal(w.date, "2026-12-01");
	assert_true(kab_window_last(&def, 1796104800 * S, &w));
	assert_string_equal(w.date, "2026-11-30");
	assert_true(kab_window_last(&def, 1796104799 * S, &w));
	assert_string_equal(w.date, "2026-11-29");
	assert_int_equal(kab_window_weekday("2026-11-30"), 1);
}

/* 22:00 is 22:00 on every day: the night of 2026-10-24 in Berlin is an hour longer. */
static void window_when_clocks_change(void **state)
{
	const struct kab_window_def def = { .start_min = 22 * 60, .end_min = 6 * 60, .days = 0x7f };
	struct kab_window w;

	(void)state;
	zone("Europe/Berlin");
	kab_window_of(&def, "2026-10-24", &w);
	assert_int_equal(w.from_ns,
			 1792872000 * S); /* TZ=Europe/Berlin date -d '2026-10-24 22:00' +%s */
	assert_int_equal(w.to_ns, 1792904400 * S); /* ... '2026-10-25 06:00' */
	assert_int_equal((w.to_ns - w.from_ns) / S, 9 * 3600);
	kab_window_of(&def, "2026-03-28", &w);
	assert_int_equal((w.to_ns - w.from_ns) / S, 7 * 3600);
	zone("UTC");
}

static void window_on_some_days(void **state)
{
	/* Fridays and Saturdays. */
	const struct kab_window_def def = { .start_min = 60,
					    .end_min = 120,
					    .days = 1u << 5 | 1u << 6 };
	struct kab_window w;
	int64_t after;

	(void)state;
	zone("UTC");
	/* Tuesday 2026-12-01 01:30 */
	assert_false(kab_window_now(&def, 1796088600 * S, &w));
	assert_string_equal(w.date, "2026-12-04");
	/* Missed between Friday 2026-11-20 and Tuesday 2026-12-01: four windows less the first. */
	kab_window_of(&def, "2026-11-20", &w);
	after = w.from_ns;
	assert_true(kab_window_missed(&def, after, 1796088600 * S, &w));
	assert_string_equal(w.date, "2026-11-21");
	assert_true(kab_window_missed(&def, w.from_ns, 1796088600 * S, &w));
	assert_string_equal(w.date, "2026-11-27");
	assert_true(kab_window_missed(&def, w.from_ns, 1796088600 * S, &w));
	assert_string_equal(w.date, "2026-11-28");
	assert_false(kab_window_missed(&def, w.from_ns, 1796088600 * S, &w));
}

/* ---- the cut ---- */

static void fewer_boots_before_fewer_cases(void **state)
{
	const struct kab_night_case cases[] = { { .boot_s = 100, .width_pct = NAN },
						{ .boot_s = 50, .width_pct = NAN } };
	struct kab_night_fit fit = { .reboot_s = 50, .kernels = 3, .boots = 10, .min_boots = 5 };
	bool take[2];
	double s;
	int boots;

	(void)state;
	/* A block is 3 x (50 + 150) = 600 s. */
	fit.budget_s = 6000;
	kab_night_fit(&fit, cases, 2, &boots, take, &s);
	assert_int_equal(boots, 10);
	assert_true(take[0] && take[1]);
	assert_float_equal(s, 6000, 1e-9);
	fit.budget_s = 5999;
	kab_night_fit(&fit, cases, 2, &boots, take, &s);
	assert_int_equal(boots, 9);
	fit.budget_s = 3000;
	kab_night_fit(&fit, cases, 2, &boots, take, &s);
	assert_int_equal(boots, 5);
	assert_true(take[0] && take[1]);
	/* Not even five boots of both: one is left out, and the room is used. 3 x (50 + 100) = 450. */
	fit.budget_s = 2999;
	kab_night_fit(&fit, cases, 2, &boots, take, &s);
	assert_true(take[0] && !take[1]);
	assert_int_equal(boots, 6);
	/* Only the short one fits: 3 x (50 + 50) = 300. */
	fit.budget_s = 1600;
	kab_night_fit(&fit, cases, 2, &boots, take, &s);
	assert_true(!take[0] && take[1]);
	assert_int_equal(boots, 5);
	fit.budget_s = 1499;
	kab_night_fit(&fit, cases, 2, &boots, take, &s);
	assert_int_equal(boots, 0);
	assert_true(!take[0] && !take[1]);
}

static void what_was_left_out_comes_first_next_time(void **state)
{
	struct kab_night_case cases[] = { { .boot_s = 10, .last_ns = 9, .width_pct = 1 },
					  { .boot_s = 10, .last_ns = 5, .width_pct = 2 },
					  { .boot_s = 10, .last_ns = 7, .width_pct = 3 } };
	struct kab_night_fit fit = { .kernels = 1, .boots = 5, .min_boots = 5, .budget_s = 50 };
	bool take[3];
	double s;
	int boots;

	(void)state;
	kab_night_fit(&fit, cases, 3, &boots, take, &s);
	assert_true(!take[0] && take[1] && !take[2]);
	cases[2].last_ns = 0; /* never */
	kab_night_fit(&fit, cases, 3, &boots, take, &s);
	assert_true(!take[0] && !take[1] && take[2]);
	cases[0].must = true; /* an open change of it */
	kab_night_fit(&fit, cases, 3, &boots, take, &s);
	assert_true(take[0] && !take[1] && !take[2]);
	cases[0].must = false;
	fit.widest_first = true;
	kab_night_fit(&fit, cases, 3, &boots, take, &s);
	assert_true(take[2]);
}

static void longest_first_and_at_home(void **state)
{
	/* 7 6 5 4 3 2: the longest first gives 14 and 13. */
	const double cost[] = { 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2 };
	const double budget[] = { 100, 100 }, none[] = { 100, 0 };
	size_t to[6], before[6] = { 1, 0, 0, 1, 1, 0 };
	double load[2] = { 0, 0 };

	(void)state;
	kab_night_spread(cost, budget, NULL, 6, 2, to);
	for (size_t c = 0; c < 6; c++)
		load[to[c]] += cost[2 * c];
	assert_float_equal(fmax(load[0], load[1]), 14, 1e-9);
	/* A balanced night is given out as the one before. */
	kab_night_spread(cost, budget, before, 6, 2, to);
	for (size_t c = 0; c < 6; c++)
		assert_int_equal(to[c], before[c]);
	/* A host that is away does nothing. */
	kab_night_spread(cost, none, before, 6, 2, to);
	for (size_t c = 0; c < 6; c++)
		assert_int_equal(to[c], 0);
}

/* ---- names ---- */

static void kernels_by_file_name(void **state)
{
	static const struct {
		const char *file, *label, *prefix;
	} t[] = {
		{ "linux-image-6.12.0-rc3_6.12.0-7_amd64.deb", "6.12.0-rc3", "deb" },
		{ "linux-image-unsigned-6.8.0-50-generic_6.8.0-50.51_amd64.deb", "6.8.0-50-generic",
		  "deb" },
		{ "linux-image-6.12.0-dbg_6.12.0-7_amd64.deb", NULL, NULL },
		{ "linux-headers-6.12.0_6.12.0-7_amd64.deb", NULL, NULL },
		{ "linux-libc-dev_6.12.0-7_amd64.deb", NULL, NULL },
		{ "linux-6.13-next.tar.zst", "6.13-next", "tar" },
		{ "build~17.tar.gz", "build-17", "tar" },
		{ "vmlinuz-6.13.0", "6.13.0", "image" },
		{ "README", NULL, NULL },
		{ ".tar", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(t); i++) {
		const char *prefix = NULL;
		char *label = kab_source_label_of(t[i].file, &prefix);

		if (!t[i].label) {
			assert_null(label);
			continue;
		}
		assert_string_equal(label, t[i].label);
		assert_string_equal(prefix, t[i].prefix);
		free(label);
	}
}

static void versions_in_order(void **state)
{
	static const char *const order[] = { "6.9.0",  "6.10-rc1", "6.10-rc10", "6.10",
					     "6.10.1", "6.10.2",   "6.11" };

	(void)state;
	for (size_t i = 0; i + 1 < KAB_ARRAY_SIZE(order); i++) {
		assert_true(kab_source_version_cmp(order[i], order[i + 1]) < 0);
		assert_true(kab_source_version_cmp(order[i + 1], order[i]) > 0);
	}
	assert_true(kab_source_is_release(NULL, "v6.12"));
	assert_true(kab_source_is_release(NULL, "6.12.7"));
	assert_false(kab_source_is_release(NULL, "6.12-rc7"));
	assert_false(kab_source_is_release(NULL, "next-20261201"));
	assert_true(kab_source_is_release("rel-*", "rel-4"));
	assert_false(kab_source_is_release("rel-*", "6.12"));
}

static void sums_and_pages(void **state)
{
	static const char sums[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef *./a.deb\n"
		"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff  b.deb\r\n";
	static const char page[] = "<a href=a.deb>1</a><A HREF = \"./b%2Bc.deb\">2</A>"
				   "<a href='../up'>3</a><a href=\"/root.deb\">4</a>"
				   "<a href=\"a.deb\">5</a><a href=\"?C=M\">6</a><a href=\"un";
	struct kab_strv names = KAB_STRV_INIT;
	char hex[65];

	(void)state;
	assert_true(kab_source_find_sum(sums, "a.deb", hex));
	assert_memory_equal(hex, "0123", 4);
	assert_true(kab_source_find_sum(sums, "b.deb", hex));
	assert_memory_equal(hex, "ffff", 4);
	assert_false(kab_source_find_sum(sums, "c.deb", hex));
	assert_false(kab_source_find_sum(sums, ".deb", hex));
	kab_source_read_page(page, strlen(page), &names);
	assert_true(names.n >= 2);
	assert_string_equal(names.v[0], "a.deb");
	assert_string_equal(names.v[1], "b+c.deb");
	assert_false(kab_strv_has(&names, "root.deb"));
	kab_strv_release(&names);
}

/* ---- the lock ---- */

static void lock_of_the_living_and_of_the_dead(void **state)
{
	char dir[] = "/tmp/kab-lock-XXXXXX", *path, *left = NULL;
	struct kab_lock lock = KAB_LOCK_INIT, again = KAB_LOCK_INIT;
	struct kab_lock_holder who;
	struct kab_err err = KAB_ERR_INIT;
	int pipe_fd[2], status;
	pid_t pid;
	char c;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = kab_xasprintf("%s/lock", dir);
	assert_int_equal(kab_lock_show(path, &who, &err), 1);
	assert_int_equal(pipe(pipe_fd), 0);
	pid = fork();
	if (pid == 0) {
		status = kab_lock_take(path, 7, &lock, NULL, NULL, NULL);
		(void)!write(pipe_fd[1], "x", 1);
		pause();
		_exit(status);
	}
	assert_int_equal(read(pipe_fd[0], &c, 1), 1);
	assert_int_equal(kab_lock_take(path, 8, &again, &who, NULL, &err), 1);
	assert_int_equal(who.pid, pid);
	assert_true(who.alive);
	assert_int_equal(who.since_wall_ns, 7);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_int_equal(kab_lock_show(path, &who, &err), 0);
	assert_false(who.alive);
	assert_int_equal(kab_lock_take(path, 9, &again, NULL, &left, &err), 0);
	assert_non_null(strstr(left, "was killed before its end"));
	free(left);
	kab_lock_release(&again);
	/* An orderly end leaves nothing behind. */
	assert_int_equal(kab_lock_take(path, 10, &again, NULL, &left, &err), 0);
	assert_null(left);
	kab_lock_release(&again);
	unlink(path);
	rmdir(dir);
	free(path);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

/* ---- logs ---- */

static void logs_are_private_and_few(void **state)
{
	char dir[] = "/tmp/kab-log-XXXXXX", *path;
	struct kab_night_log *log;
	struct kab_buf text = KAB_BUF_INIT;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int day = 1; day <= 4; day++) {
		char date[16];

		snprintf(date, sizeof(date), "2026-11-%02d", day);
		assert_int_equal(kab_night_log_new(dir, 2, NULL, &log, NULL), 0);
		kab_log(kab_night_log_sink(log), KAB_LOG_INFO, "before %s", date);
		kab_night_log_begin(log, date);
		kab_log(kab_night_log_sink(log), KAB_LOG_WARN, "evil\nline");
		kab_night_log_free(log);
	}
	for (int day = 1; day <= 4; day++) {
		path = kab_xasprintf("%s/2026-11-%02d.log", dir, day);
		assert_int_equal(stat(path, &st) == 0, day > 2);
		if (day > 2)
			assert_int_equal(st.st_mode & 0777, 0600);
		if (day == 4)
			assert_int_equal(kab_file_read(path, &text, NULL), 0);
		unlink(path);
		free(path);
	}
	assert_non_null(strstr(kab_buf_str(&text), "info    before 2026-11-04\n"));
	kab_buf_release(&text);
	rmdir(dir);
}

static void prose_in_72_columns(void **state)
{
	struct kab_buf out = KAB_BUF_INIT;
	char date[40];

	(void)state;
	kab_night_wrap(&out, "  - ",
		       "one two three four five six seven eight nine ten eleven twelve thirteen "
		       "fourteen \xe2\x80\x9cquoted\xe2\x80\x9d");
	assert_string_equal(kab_buf_str(&out),
			    "  - one two three four five six seven eight nine ten eleven twelve\n"
			    "    thirteen fourteen \"quoted\"\n");
	kab_buf_release(&out);
	/* date -u -R -d @1796094000 */
	assert_string_equal(kab_night_mail_date(1796094000 * S, date),
			    "Tue, 01 Dec 2026 03:00:00 +0000");
}

/* ---- the file ---- */

#define GOOD                                                                               \
	"\"name\": \"t\", \"suite\": \"s\", \"reference\": \"v1=release:6.12\","           \
	"\"sources\": [{\"folder\": \"k\"}], \"window\": {\"start\": \"22:00\", \"end\": " \
	"\"06:00\"}"

static int load(const char *text, struct kab_nightly *ret, struct kab_err *err)
{
	json_t *doc = NULL;
	int status;

	kab_err_clear(err);
	assert_int_equal(kab_json_load_bytes("t.json", text, strlen(text), &doc, err), 0);
	status = kab_nightly_load_json(doc, "/etc/kab/t.json", ret, err);
	json_decref(doc);
	return status;
}

static void file_defaults(void **state)
{
	struct kab_nightly n;
	struct kab_err err = KAB_ERR_INIT;

	(void)state;
	assert_int_equal(load("{" GOOD ", \"hosts\": [\"a\"]}", &n, &err), 0);
	assert_string_equal(n.sources[0].path, "/etc/kab/k");
	assert_int_equal(n.baseline, KAB_BASELINE_GOOD);
	assert_int_equal(n.unchanged, KAB_UNCHANGED_SKIP);
	assert_false(n.spread);
	assert_int_equal(n.min_boots, 5);
	assert_int_equal(n.window.start_min, 22 * 60);
	assert_null(n.mail.from);
	kab_nightly_release(&n);
	assert_int_equal(load("{" GOOD ", \"class\": \"arm\", \"boots\": 3}", &n, &err), 0);
	assert_true(n.spread);
	assert_int_equal(n.min_boots, 3);
	kab_nightly_release(&n);
}

static void file_mistakes(void **state)
{
	static const struct {
		const char *more, *words;
	} t[] = {
		{ "", "'hosts' and 'class'" },
		{ ", \"hosts\": [\"a\"], \"class\": \"b\"", "'hosts' and 'class'" },
		{ ", \"hosts\": [\"a\", \"a\"]", "named twice" },
		{ ", \"hosts\": [\"a\"], \"unchanged\": \"skipp\"", "did you mean 'skip'?" },
		{ ", \"hosts\": [\"a\"], \"baseline\": {\"policy\": \"fixed\"}", "'kernel'" },
		{ ", \"hosts\": [\"a\"], \"baseline\": {\"policy\": \"last-god\"}",
		  "did you mean 'last-good'?" },
		{ ", \"hosts\": [\"a\"], \"mail\": {\"from\": \"a@b\"}", "'to'" },
		{ ", \"hosts\": [\"a\"], \"mail\": {\"from\": \"a@b\", \"to\": \"c\"}",
		  "not a mail address" },
		{ ", \"hosts\": [\"a\"], \"publish\": [\"x\"]", "'archive'" },
		{ ", \"hosts\": [\"a\"], \"boots\": 4, \"min_boots\": 5", "less than 'min_boots'" },
		{ ", \"hosts\": [\"a\"], \"arhive\": \"x\"", "did you mean 'archive'?" },
	};
	static const struct {
		const char *text, *words;
	} whole[] = {
		{ "{\"name\": \"t\", \"suite\": \"s\", \"reference\": \"v1=release:6.12\", "
		  "\"hosts\": [\"a\"], \"sources\": [{\"folder\": \"k\", \"index\": "
		  "\"http://x/\"}], \"window\": {\"start\": \"22:00\", \"end\": \"06:00\"}}",
		  "$.sources[0]: expected one of the keys" },
		{ "{\"name\": \"t\", \"suite\": \"s\", \"reference\": \"v1=release:6.12\", "
		  "\"hosts\": [\"a\"], \"sources\": [{\"feed\": \"http://x/\"}], "
		  "\"window\": {\"start\": \"22:00\", \"end\": \"06:00\"}}",
		  "'command'" },
		{ "{\"name\": \"t\", \"suite\": \"s\", \"reference\": \"v1=release:6.12\", "
		  "\"hosts\": [\"a\"], \"sources\": [{\"folder\": \"k\"}], "
		  "\"window\": {\"start\": \"22:00\", \"end\": \"24:00\"}}",
		  "$.window.end: there is no such time" },
		{ "{\"name\": \"t\", \"suite\": \"s\", \"reference\": \"6.12\", "
		  "\"hosts\": [\"a\"], \"sources\": [{\"folder\": \"k\"}], "
		  "\"window\": {\"start\": \"22:00\", \"end\": \"06:00\"}}",
		  "$.reference" },
	};
	struct kab_nightly n;
	struct kab_err err = KAB_ERR_INIT;

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(t); i++) {
		char *text = kab_xasprintf("{" GOOD "%s}", t[i].more);

		assert_int_equal(load(text, &n, &err), -1);
		assert_int_equal(err.code, KAB_ERR_CONFIG);
		if (!strstr(err.text, t[i].words))
			fail_msg("'%s' does not say '%s'", err.text, t[i].words);
		assert_non_null(strstr(err.text, "/etc/kab/t.json"));
		free(text);
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(whole); i++) {
		assert_int_equal(load(whole[i].text, &n, &err), -1);
		if (!strstr(err.text, whole[i].words))
			fail_msg("'%s' does not say '%s'", err.text, whole[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(window_over_midnight),
		cmocka_unit_test(window_when_clocks_change),
		cmocka_unit_test(window_on_some_days),
		cmocka_unit_test(fewer_boots_before_fewer_cases),
		cmocka_unit_test(what_was_left_out_comes_first_next_time),
		cmocka_unit_test(longest_first_and_at_home),
		cmocka_unit_test(kernels_by_file_name),
		cmocka_unit_test(versions_in_order),
		cmocka_unit_test(sums_and_pages),
		cmocka_unit_test(lock_of_the_living_and_of_the_dead),
		cmocka_unit_test(logs_are_private_and_few),
		cmocka_unit_test(prose_in_72_columns),
		cmocka_unit_test(file_defaults),
		cmocka_unit_test(file_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
