/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detached runs on this machine, under the shell named by the first argument. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/strv.h"
#include "shells.h"

static struct target tg;
static const char *shell_name;

struct rig {
	struct kab_session *s;
	struct kab_detach *d;
	struct kab_err err;
};

static struct rig rig_up(void)
{
	struct rig r = { .s = target_session() };

	r.d = target_open(&tg, r.s);
	return r;
}

static void rig_down(struct rig *r)
{
	kab_detach_close(r->d);
	r->s->ops->close(r->s);
}

static struct kab_wait in_s(double seconds)
{
	return (struct kab_wait){ kab_deadline_s(seconds), -1 };
}

#define ok(r, call)                                               \
	do {                                                      \
		if ((call) < 0)                                   \
			fail_msg("%s: %s", #call, (r)->err.text); \
	} while (0)

/* start, wait, and return the result */
static struct kab_detach_result run(struct rig *r, const struct kab_detach_spec *spec)
{
	struct kab_detach_result res;
	struct kab_wait w = in_s(30);

	ok(r, kab_detach_start(r->d, spec, &w, &res, &r->err));
	ok(r, kab_detach_wait(r->d, spec->run_id, &w, &res, &r->err));
	return res;
}

/* A spec for `sh -c SCRIPT`. */
#define SPEC(id, script)                                                                 \
	{                                                                                \
		.run_id = id, .argv = (const char *const[]){ "sh", "-c", script, NULL }, \
		.timeout_s = 20                                                          \
	}

static char *fetch(struct rig *r, const char *id, const char *name)
{
	struct kab_buf buf = KAB_BUF_INIT;
	struct kab_wait w = in_s(20);

	ok(r, kab_detach_fetch(r->d, id, name, 0, 1 << 20, &w, &buf, &r->err));
	return kab_buf_detach(&buf);
}

static void check_stream(struct rig *r, const char *id, const char *name, const char *want)
{
	char *got kab_autofree = fetch(r, id, name);

	assert_string_equal(got, want);
}

static void test_simple_run(void **state)
{
	struct rig r = rig_up();
	const struct kab_detach_file files[] = { { "in put", "data\n", 5, 0600 } };
	const char *const env[] = { "GREETING=it's $HOME", "DIR=mine", "timer=x", NULL };
	struct kab_detach_spec spec = SPEC(
		"simple", "cat 'in put'; echo \"$GREETING/$DIR/$timer/$LC_ALL\"; echo oops >&2; "
			  "echo side >side.txt; sleep 0.3; exit 5");
	struct kab_detach_result res;
	struct kab_buf buf kab_autobuf = KAB_BUF_INIT;
	struct kab_wait w = in_s(20);

	(void)state;
	spec.files = files;
	spec.n_files = 1;
	spec.env = env;
	res = run(&r, &spec);
	assert_int_equal(res.state, KAB_DETACH_DONE);
	assert_int_equal(res.exit_status, 5);
	assert_int_equal(res.signal, 0);
	assert_string_equal(res.step, "benchmark");
	assert_false(res.timed_out || res.killed || res.background_died || res.oom);
	assert_true(res.elapsed_s >= 0.28 && res.elapsed_s < 2);
	assert_true(res.user_s >= 0 && res.user_s < 1 && res.system_s >= 0 && res.system_s < 1);
	assert_true(res.max_rss_kb > 300 && res.max_rss_kb < 100000);
	assert_int_equal(strlen(res.boot_id), 36);
	check_stream(&r, "simple", "stdout", "data\nit's $HOME/mine/x/C\n");
	check_stream(&r, "simple", "stderr", "oops\n");
	check_stream(&r, "simple", "side.txt", "side\n");
	assert_int_equal(kab_detach_fetch(r.d, "simple", "none", 0, 9, &w, &buf, &r.err), 1);
	assert_int_equal(kab_detach_fetch(r.d, "simple", "../job", 0, 9, &w, &buf, &r.err), -1);
	assert_int_equal(r.err.code, KAB_ERR_CONFIG);
	ok(&r, kab_detach_fetch(r.d, "simple", "stdout", 2, 2, &w, &buf, &r.err));
	assert_string_equal(kab_buf_str(&buf), "ta");
	assert_true(buf.cut);
	ok(&r, kab_detach_clean(r.d, "simple", &w, &r.err));
	ok(&r, kab_detach_status(r.d, "simple", &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_NONE);
	rig_down(&r);
}

static void test_argv_is_untouched(void **state)
{
	struct rig r = rig_up();
	const char *const argv[] = { "printf",	    "[%s]\n", "a,b", "it's",	    "$HOME",
				     "back\\slash", "-n",     "",    "two  blanks", "a\nb",
				     "`id`",	    "*",      NULL };
	struct kab_detach_spec spec = { .run_id = "argv", .argv = argv, .timeout_s = 20 };
	struct kab_detach_result res = run(&r, &spec);

	(void)state;
	assert_int_equal(res.exit_status, 0);
	check_stream(&r, "argv", "stdout",
		     "[a,b]\n[it's]\n[$HOME]\n[back\\slash]\n[-n]\n[]\n[two  blanks]\n[a\nb]\n"
		     "[`id`]\n[*]\n");
	rig_down(&r);
}

static void test_signals(void **state)
{
	static const int sigs[] = { SIGKILL, SIGSEGV, SIGTERM, SIGINT };
	struct rig r = rig_up();

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(sigs); i++) {
		char *id kab_autofree = kab_xasprintf("sig%d", sigs[i]);
		char *script kab_autofree = kab_xasprintf("kill -%d $$; echo survived", sigs[i]);
		struct kab_detach_spec spec = SPEC(id, script);
		struct kab_detach_result res;

		/* env --default-signal of coreutils gives INT back; busybox has nothing like it. */
		if (sigs[i] == SIGINT && strcmp(shell_name, "busybox") == 0)
			continue;
		res = run(&r, &spec);
		assert_int_equal(res.state, KAB_DETACH_DONE);
		assert_int_equal(res.signal, sigs[i]);
		assert_int_equal(res.exit_status, 128 + sigs[i]);
		check_stream(&r, id, "stdout", "");
	}
	/* exit 137 is not a signal, and GNU time knows it */
	struct kab_detach_spec spec = SPEC("exit137", "exit 137");
	struct kab_detach_result res = run(&r, &spec);
	assert_int_equal(res.exit_status, 137);
	assert_int_equal(res.signal, 0);
	rig_down(&r);
}

/* The end of a step must not wait for its watchdog, however short the step. */
static void test_short_steps(void **state)
{
	struct rig r = rig_up();
	const char *const argv[] = { "true", NULL };
	int64_t t0 = kab_now_mono_ns();

	(void)state;
	for (int i = 0; i < 20; i++) {
		char *id kab_autofree = kab_xasprintf("short%d", i);
		struct kab_detach_spec spec = { .run_id = id, .argv = argv, .timeout_s = 40 };
		struct kab_detach_result res = run(&r, &spec);

		assert_int_equal(res.exit_status, 0);
		assert_false(res.timed_out);
	}
	assert_true(kab_now_mono_ns() - t0 < 30 * KAB_NS_PER_S);
	rig_down(&r);
}

static void test_missing_program(void **state)
{
	struct rig r = rig_up();
	const char *const argv[] = { "no-such-benchmark", NULL };
	struct kab_detach_spec spec = { .run_id = "missing", .argv = argv, .timeout_s = 20 };
	struct kab_detach_result res = run(&r, &spec);
	char *said kab_autofree = fetch(&r, "missing", "stderr");

	(void)state;
	assert_int_equal(res.exit_status, 127);
	assert_non_null(strstr(said, "no-such-benchmark"));
	rig_down(&r);
}

static void test_timeout(void **state)
{
	struct rig r = rig_up();
	const char *const tidy[] = { "sh", "-c", "echo tidied; echo x >>../tidy", NULL };
	const char *const *const cleanup[] = { tidy, NULL };
	struct kab_detach_spec spec =
		SPEC("timeout", "trap '' TERM; echo begun; sleep 60; sleep 60; echo late");
	struct kab_detach_result res;
	int64_t t0 = kab_now_mono_ns();

	(void)state;
	spec.timeout_s = 1;
	spec.step_timeout_s = 10;
	spec.cleanup = cleanup;
	res = run(&r, &spec);
	assert_int_equal(res.state, KAB_DETACH_DONE);
	assert_true(res.timed_out);
	/* The shell ignores TERM and needs KILL; GNU time around it, if any, goes at TERM. */
	assert_true(res.signal == SIGKILL || res.signal == SIGTERM);
	assert_true(kab_now_mono_ns() - t0 < 25 * KAB_NS_PER_S);
	check_stream(&r, "timeout", "stdout", "begun\n");
	check_stream(&r, "timeout", "steps", "tidied\n");
	rig_down(&r);
}

/* How many `sleep $NAP` there are; main gives each test program a NAP of its own. */
static int count_naps(void)
{
	char *out kab_autofree = target_sh(
		"n=0; for f in /proc/[0-9]*/cmdline; do "
		"[ \"$(tr '\\0' ' ' <$f 2>/dev/null)\" = \"sleep $NAP \" ] && n=$((n + 1)); "
		"done; echo $n");

	return (int)strtol(out, NULL, 10);
}

static void test_kill(void **state)
{
	struct rig r = rig_up();
	struct kab_detach_spec spec =
		SPEC("kill", "setsid sleep $NAP & sleep $NAP & echo begun; sleep $NAP; echo late");
	struct kab_detach_result res;
	struct kab_wait w = in_s(30);

	(void)state;
	ok(&r, kab_detach_start(r.d, &spec, &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_RUNNING);
	assert_int_equal(kab_detach_clean(r.d, "kill", &w, &r.err), -1);
	assert_int_equal(r.err.code, KAB_ERR_BUSY);
	usleep(500000);
	assert_int_equal(count_naps(), 3);
	ok(&r, kab_detach_kill(r.d, "kill", &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_DONE);
	assert_true(res.killed);
	assert_int_equal(res.signal, SIGTERM);
	assert_int_equal(count_naps(), 0); /* also the one that left its group */
	ok(&r, kab_detach_kill(r.d, "kill", &w, &res, &r.err)); /* again is fine */
	ok(&r, kab_detach_kill(r.d, "never-was", &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_NONE);
	ok(&r, kab_detach_clean(r.d, "kill", &w, &r.err));
	rig_down(&r);
}

static void test_supervisor_killed(void **state)
{
	struct rig r = rig_up();
	struct kab_detach_spec spec = SPEC("lost", "sleep $NAP");
	struct kab_detach_result res;
	struct kab_wait w = in_s(30);
	char *line kab_autofree = kab_xasprintf("read p _ <\"%s/lost/pid\"; kill -9 $p", tg.work);

	(void)state;
	ok(&r, kab_detach_start(r.d, &spec, &w, &res, &r.err));
	usleep(300000);
	free(target_sh(line));
	ok(&r, kab_detach_wait(r.d, "lost", &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_LOST);
	assert_true(res.group_alive);
	assert_int_equal(kab_detach_clean(r.d, "lost", &w, &r.err), -1);
	assert_int_equal(r.err.code, KAB_ERR_BUSY);
	/* A repeated start does not run it a second time. */
	ok(&r, kab_detach_start(r.d, &spec, &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_LOST);
	ok(&r, kab_detach_kill(r.d, "lost", &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_LOST);
	assert_false(res.group_alive);
	assert_int_equal(count_naps(), 0);
	ok(&r, kab_detach_clean(r.d, "lost", &w, &r.err));
	rig_down(&r);
}

/* The boot id in the run's files is another one: as after a reboot. */
static void test_reboot(void **state)
{
	struct rig r = rig_up();
	struct kab_detach_spec spec = SPEC("reboot", "sleep 2");
	struct kab_detach_result res;
	struct kab_wait w = in_s(30);
	char *line kab_autofree = kab_xasprintf(
		"cd \"%s/reboot\"; read p s b <pid; echo $p $s other-boot >pid", tg.work);

	(void)state;
	ok(&r, kab_detach_start(r.d, &spec, &w, &res, &r.err));
	free(target_sh(line));
	ok(&r, kab_detach_status(r.d, "reboot", &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_REBOOTED);
	ok(&r, kab_detach_wait(r.d, "reboot", &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_DONE); /* it did end: the result decides */
	rig_down(&r);
}

static void test_lost_controller(void **state)
{
	struct rig r = rig_up();
	struct kab_detach_spec spec = SPEC("client", "echo one; sleep 2; echo two");
	struct kab_detach_result res;
	struct kab_wait w = in_s(30), soon;

	(void)state;
	ok(&r, kab_detach_start(r.d, &spec, &w, &res, &r.err));
	soon = in_s(0.5);
	assert_int_equal(kab_detach_wait(r.d, "client", &soon, &res, &r.err), -1);
	assert_int_equal(r.err.code, KAB_ERR_TIMEOUT);
	rig_down(&r);
	r = rig_up();
	ok(&r, kab_detach_start(r.d, &spec, &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_RUNNING);
	ok(&r, kab_detach_wait(r.d, "client", &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_DONE);
	check_stream(&r, "client", "stdout", "one\ntwo\n");
	rig_down(&r);
}

static void *starter(void *arg)
{
	char *mark = arg;
	struct rig r = { .s = target_session() };
	char *script kab_autofree = kab_xasprintf("echo ran >>'%s'", mark);
	struct kab_detach_spec spec = SPEC("forty", script);
	struct kab_detach_result res;
	struct kab_wait w = in_s(100);
	intptr_t rc;

	rc = kab_detach_open(r.s, tg.work, NULL, &w, &r.d, &r.err) < 0 ||
	     kab_detach_start(r.d, &spec, &w, &res, &r.err) < 0 ||
	     kab_detach_wait(r.d, "forty", &w, &res, &r.err) < 0 || res.state != KAB_DETACH_DONE ||
	     res.exit_status != 0;
	if (rc)
		fprintf(stderr, "starter: %s\n", r.err.text);
	rig_down(&r);
	return (void *)rc;
}

static void test_forty_starts(void **state)
{
	char *mark kab_autofree = kab_xasprintf("%s/mark", tg.dir);
	char *line kab_autofree = NULL;
	char *out kab_autofree = NULL;
	pthread_t th[40];

	(void)state;
	line = kab_xasprintf("wc -l <'%s'; ls \"%s/forty\" | grep -c '^w'; ls -a \"%s\" | grep -c "
			     "'^.stage'",
			     mark, tg.work, tg.work);
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(pthread_create(&th[i], NULL, starter, mark), 0);
	for (size_t i = 0; i < 40; i++) {
		void *rc;

		pthread_join(th[i], &rc);
		assert_null(rc);
	}
	out = target_sh(line);
	assert_string_equal(out, "1\n1\n0\n");
}

static void test_background_load(void **state)
{
	struct rig r = rig_up();
	const char *const load[] = { "sh", "-c", "echo load; sleep $NAP & sleep $NAP", NULL };
	struct kab_detach_spec spec = SPEC("load", "sleep 0.2; echo measured");
	struct kab_detach_result res;

	(void)state;
	spec.background = load;
	spec.settle_s = 1;
	res = run(&r, &spec);
	assert_int_equal(res.exit_status, 0);
	assert_false(res.background_died);
	assert_true(res.elapsed_s < 0.9); /* settling is not measured */
	check_stream(&r, "load", "background", "load\n");
	assert_int_equal(count_naps(), 0);

	const char *const brief[] = { "sleep", "0.2", NULL };
	struct kab_detach_spec dies = SPEC("dies", "sleep 1");
	dies.background = brief;
	res = run(&r, &dies);
	assert_int_equal(res.exit_status, 0);
	assert_true(res.background_died);

	const char *const broken[] = { "false", NULL };
	struct kab_detach_spec never = SPEC("never", "echo measured");
	never.background = broken;
	never.settle_s = 1;
	res = run(&r, &never);
	assert_string_equal(res.step, "background");
	assert_int_equal(res.exit_status, 1);
	check_stream(&r, "never", "stdout", "");
	rig_down(&r);
}

static void test_steps(void **state)
{
	struct rig r = rig_up();
	const char *const p1[] = { "sh", "-c", "echo prepared >data; echo p1", NULL };
	const char *const p2[] = { "sh", "-c", "echo p2; exit 9", NULL };
	const char *const c1[] = { "sh", "-c", "echo c1; exit 3", NULL };
	const char *const c2[] = { "echo", "c2", NULL };
	const char *const *const good[] = { p1, NULL };
	const char *const *const bad[] = { p1, p2, p1, NULL };
	const char *const *const cleanup[] = { c1, c2, NULL };
	struct kab_detach_spec spec = SPEC("steps", "cat data");
	struct kab_detach_result res;

	(void)state;
	spec.prepare = good;
	spec.cleanup = cleanup;
	res = run(&r, &spec);
	assert_int_equal(res.exit_status, 0);
	assert_int_equal(res.cleanup_failed, 1);
	check_stream(&r, "steps", "stdout", "prepared\n");
	check_stream(&r, "steps", "steps", "p1\nc1\nc2\n");

	struct kab_detach_spec fails = SPEC("fails", "echo measured");
	fails.prepare = bad;
	fails.cleanup = cleanup;
	res = run(&r, &fails);
	assert_string_equal(res.step, "prepare 2");
	assert_int_equal(res.exit_status, 9);
	assert_true(isnan(res.elapsed_s));
	check_stream(&r, "fails", "stdout", "");
	check_stream(&r, "fails", "steps", "p1\np2\nc1\nc2\n");
	rig_down(&r);
}

/* A child that keeps stdout open holds nothing up, and is gone before the next run. */
static void test_leftover_child(void **state)
{
	struct rig r = rig_up();
	struct kab_detach_spec spec = SPEC("leftover", "sleep $NAP & echo done");
	struct kab_detach_result res;
	int64_t t0 = kab_now_mono_ns();

	(void)state;
	res = run(&r, &spec);
	assert_int_equal(res.exit_status, 0);
	assert_true(kab_now_mono_ns() - t0 < 5 * KAB_NS_PER_S);
	assert_true(res.elapsed_s < 1);
	assert_int_equal(count_naps(), 0);
	rig_down(&r);
}

static void test_much_output(void **state)
{
	struct rig r = rig_up();
	struct kab_detach_spec spec =
		SPEC("much", "head -c 5000000 /dev/zero | tr '\\0' x >&2; echo end >&2");
	struct kab_detach_result res = run(&r, &spec);
	struct kab_buf buf kab_autobuf = KAB_BUF_INIT;
	struct kab_wait w = in_s(30);

	(void)state;
	assert_int_equal(res.exit_status, 0);
	ok(&r, kab_detach_fetch(r.d, "much", "stderr", 0, 100, &w, &buf, &r.err));
	assert_int_equal(buf.len, 100);
	assert_true(buf.cut);
	kab_buf_clear(&buf);
	ok(&r, kab_detach_fetch(r.d, "much", "stderr", 4999999, 1 << 20, &w, &buf, &r.err));
	assert_string_equal(kab_buf_str(&buf), "xend\n");
	assert_false(buf.cut);
	rig_down(&r);
}

/* A loop of known CPU time, told by the kernel to the loop itself, too. */
static void test_cpu_time(void **state)
{
	struct rig r = rig_up();
	struct kab_detach_spec spec =
		SPEC("cpu", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; "
			    "read s </proc/self/stat; set -- $s; echo ${14} ${15}");
	struct kab_detach_result res = run(&r, &spec);
	char *out kab_autofree = fetch(&r, "cpu", "stdout");
	char *end;
	double user = (double)strtol(out, &end, 10) / (double)sysconf(_SC_CLK_TCK);

	(void)state;
	assert_true(user > 0.1);
	assert_true(fabs(res.user_s - user) < 0.05);
	assert_true(res.elapsed_s >= res.user_s - 0.02);
	rig_down(&r);
}

static void test_fencing(void **state)
{
	struct rig r = rig_up();
	struct kab_detach_spec spec = SPEC("fenced", "echo ran");
	struct kab_lease old, now;
	struct kab_wait w = in_s(30);
	struct kab_detach_result res;

	(void)state;
	ok(&r, kab_lease_acquire(r.s, tg.lease, "a", 60, 0, &w, &old, NULL, &r.err));
	ok(&r, kab_lease_break(r.s, tg.lease, &w, NULL, &r.err));
	ok(&r, kab_lease_acquire(r.s, tg.lease, "b", 60, 0, &w, &now, NULL, &r.err));
	spec.lease_dir = tg.lease;
	spec.token = old.token;
	assert_int_equal(kab_detach_start(r.d, &spec, &w, &res, &r.err), -1);
	assert_int_equal(r.err.code, KAB_ERR_BUSY);
	ok(&r, kab_detach_status(r.d, "fenced", &w, &res, &r.err));
	assert_int_equal(res.state, KAB_DETACH_NONE);
	spec.token = now.token;
	res = run(&r, &spec);
	assert_int_equal(res.exit_status, 0);
	ok(&r, kab_lease_release(r.s, &now, &w, &r.err));
	rig_down(&r);
}

static void test_bad_specs(void **state)
{
	struct rig r = rig_up();
	static const char *const bad[] = { "", ".x", "-x", "a/b", "a b", "..", NULL };
	const char *const env[] = { "1A=x", NULL };
	struct kab_wait w = in_s(10);

	(void)state;
	for (size_t i = 0; bad[i]; i++) {
		struct kab_detach_spec spec = SPEC(bad[i], "true");

		assert_int_equal(kab_detach_start(r.d, &spec, &w, NULL, &r.err), -1);
		assert_int_equal(r.err.code, KAB_ERR_CONFIG);
	}
	struct kab_detach_spec spec = SPEC("fine", "true");
	spec.env = env;
	assert_int_equal(kab_detach_start(r.d, &spec, &w, NULL, &r.err), -1);
	assert_int_equal(r.err.code, KAB_ERR_CONFIG);
	rig_down(&r);
}

static void test_workdir(void **state)
{
	struct kab_session *s = target_session();
	struct kab_wait w = in_s(20);
	struct kab_err err = KAB_ERR_INIT;
	struct kab_detach *d;

	(void)state;
	assert_int_equal(kab_detach_open(s, "/proc/nothing", NULL, &w, &d, &err), -1);
	assert_int_equal(err.code, KAB_ERR_REMOTE);
	assert_non_null(strstr(err.text, "/proc/nothing"));
	assert_non_null(strstr(err.text, "workdir"));
	assert_int_equal(kab_detach_open(s, "relative", NULL, &w, &d, &err), -1);
	setenv("XDG_STATE_HOME", "/dev/shm/kab-test-state", 1);
	setenv("HOME", tg.dir, 1);
	assert_int_equal(kab_detach_open(s, NULL, NULL, &w, &d, &err), 0);
	/* in memory, so the next candidate was taken */
	char *want kab_autofree = kab_xasprintf("%s/.local/state/kab", tg.dir);
	assert_string_equal(kab_detach_base(d), want);
	kab_detach_close(d);
	free(target_sh("rmdir /dev/shm/kab-test-state/kab /dev/shm/kab-test-state"));
	s->ops->close(s);
}

static void test_list(void **state)
{
	struct rig r = rig_up();
	struct kab_strv names kab_autostrv = KAB_STRV_INIT;
	struct kab_wait w = in_s(10);

	(void)state;
	ok(&r, kab_detach_list(r.d, &w, &names, &r.err));
	assert_true(kab_strv_has(&names, "argv"));
	assert_false(kab_strv_has(&names, "simple"));
	rig_down(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simple_run),
		cmocka_unit_test(test_short_steps),
		cmocka_unit_test(test_argv_is_untouched),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_missing_program),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_supervisor_killed),
		cmocka_unit_test(test_reboot),
		cmocka_unit_test(test_lost_controller),
		cmocka_unit_test(test_forty_starts),
		cmocka_unit_test(test_background_load),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_leftover_child),
		cmocka_unit_test(test_much_output),
		cmocka_unit_test(test_cpu_time),
		cmocka_unit_test(test_fencing),
		cmocka_unit_test(test_bad_specs),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_workdir),
	};
	char *nap kab_autofree = kab_xasprintf("61.%ld", (long)getpid());
	int rc;

	setenv("NAP", nap, 1);
	shell_name = argc > 1 ? argv[1] : "dash";
	target_setup(&tg, shell_name);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	target_remove(&tg);
	return rc;
}
