/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/transport.h"

static const struct kab_endpoint here = { .name = "here", .transport = "local" };

static struct kab_session *open_local(void)
{
	struct kab_wait wait = { kab_deadline_s(5), -1 };
	struct kab_session *s = NULL;

	assert_int_equal(kab_transport_find("local")->open(&here, &wait, &s, NULL), 0);
	return s;
}

static int run(const char *script, double seconds, int cancel_fd, const char *in,
	       struct kab_exec_result *res, struct kab_err *err)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct kab_exec req = {
		.argv = argv, .in = in, .in_len = in ? strlen(in) : 0, .out_max = 1000
	};
	struct kab_wait wait = { kab_deadline_s(seconds), cancel_fd };
	struct kab_session *s = open_local();
	int rc = s->ops->exec(s, &req, &wait, res, err);

	s->ops->close(s);
	return rc;
}

static void test_streams_and_status(void **state)
{
	struct kab_exec_result res;

	(void)state;
	assert_int_equal(run("cat; echo e >&2; exit 7", 5, -1, "hello", &res, NULL), 0);
	assert_string_equal(kab_buf_str(&res.out), "hello");
	assert_string_equal(kab_buf_str(&res.err), "e\n");
	assert_int_equal(res.exit_status, 7);
	kab_exec_result_release(&res);
}

static void test_signals_are_told(void **state)
{
	static const int sigs[] = { SIGKILL, SIGSEGV, SIGTERM };

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(sigs); i++) {
		char *script kab_autofree = kab_xasprintf("kill -%d $$", sigs[i]);
		struct kab_exec_result res;

		assert_int_equal(run(script, 5, -1, NULL, &res, NULL), 0);
		assert_int_equal(res.exit_status, 128 + sigs[i]);
		kab_exec_result_release(&res);
	}
}

static void test_output_is_capped(void **state)
{
	struct kab_exec_result res;

	(void)state;
	assert_int_equal(run("head -c 5000000 /dev/zero >&2; head -c 3000 /dev/zero", 20, -1, NULL,
			     &res, NULL),
			 0);
	assert_int_equal(res.out.len, 1000);
	assert_true(res.out.cut);
	assert_int_equal(res.err.len, 1 << 20);
	assert_true(res.err.cut);
	assert_int_equal(res.exit_status, 0);
	kab_exec_result_release(&res);
}

static void test_unread_input(void **state)
{
	char *big kab_autofree = kab_xmalloc(2000001);
	struct kab_exec_result res;

	(void)state;
	memset(big, 'x', 2000000);
	big[2000000] = '\0';
	assert_int_equal(run("exit 3", 5, -1, big, &res, NULL), 0);
	assert_int_equal(res.exit_status, 3);
	kab_exec_result_release(&res);
	assert_int_equal(run("wc -c", 5, -1, big, &res, NULL), 0);
	assert_string_equal(kab_buf_str(&res.out), "2000000\n");
	kab_exec_result_release(&res);
}

/* A child in the background that keeps stdout open does not hold the call. */
static void test_background_child(void **state)
{
	int64_t t0 = kab_now_mono_ns();
	struct kab_exec_result res;

	(void)state;
	assert_int_equal(run("sleep 4 & echo done", 10, -1, NULL, &res, NULL), 0);
	assert_string_equal(kab_buf_str(&res.out), "done\n");
	assert_true(kab_now_mono_ns() - t0 < 2 * KAB_NS_PER_S);
	kab_exec_result_release(&res);
}

/* The whole group goes, also a child that ignores TERM. */
static void test_deadline_kills_the_group(void **state)
{
	char path[] = "/tmp/kab-local-XXXXXX";
	int fd = mkstemp(path);
	char *script kab_autofree = kab_xasprintf(
		"(trap '' TERM; sleep 3; echo survived >>%s) & sleep 30; echo survived >>%s", path,
		path);
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	int64_t t0 = kab_now_mono_ns();
	struct stat st;

	(void)state;
	assert_int_equal(run(script, 0.3, -1, NULL, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_TIMEOUT);
	assert_true(kab_now_mono_ns() - t0 < 2 * KAB_NS_PER_S);
	sleep(4);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	close(fd);
	unlink(path);
}

static void test_cancel(void **state)
{
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	int64_t t0 = kab_now_mono_ns();
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(run("sleep 30", 30, fds[0], NULL, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CANCELLED);
	assert_true(kab_now_mono_ns() - t0 < 2 * KAB_NS_PER_S);
	close(fds[0]);
	close(fds[1]);
}

static void test_missing_program(void **state)
{
	const char *argv[] = { "no-such-program-here", NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_wait wait = { kab_deadline_s(5), -1 };
	struct kab_session *s = open_local();
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;

	(void)state;
	assert_int_equal(s->ops->exec(s, &req, &wait, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_ENV);
	assert_non_null(strstr(err.text, "no-such-program-here"));
	s->ops->close(s);
}

/* No descriptor of ours reaches a child: it has 0, 1, 2 and whatever our own parent left open. */
static void test_no_descriptor_leaks(void **state)
{
	struct kab_exec_result res;
	int held[2], want = 3 + 1; /* and the directory that ls reads */

	(void)state;
	assert_int_equal(pipe2(held, O_CLOEXEC), 0);
	for (int fd = 3; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD);

		want += flags >= 0 && !(flags & FD_CLOEXEC);
	}
	assert_int_equal(run("ls /proc/self/fd | wc -l", 5, -1, "x", &res, NULL), 0);
	assert_int_equal(strtol(kab_buf_str(&res.out), NULL, 10), want);
	kab_exec_result_release(&res);
	close(held[0]);
	close(held[1]);
}

static void test_files(void **state)
{
	char dir[] = "/tmp/kab-local-XXXXXX";
	struct kab_wait wait = { kab_deadline_s(5), -1 };
	struct kab_session *s = open_local();
	struct kab_buf got kab_autobuf = KAB_BUF_INIT;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	char *path kab_autofree = kab_xasprintf("%s/it's a file", dir);
	assert_int_equal(s->ops->get(s, path, 0, 10, &wait, &got, NULL), 1);
	assert_int_equal(s->ops->put(s, path, "0123456789", 10, 0640, &wait, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(s->ops->get(s, path, 0, 10, &wait, &got, NULL), 0);
	assert_string_equal(kab_buf_str(&got), "0123456789");
	assert_false(got.cut);
	kab_buf_clear(&got);
	assert_int_equal(s->ops->get(s, path, 4, 3, &wait, &got, NULL), 0);
	assert_string_equal(kab_buf_str(&got), "456");
	assert_true(got.cut);
	kab_buf_clear(&got);
	assert_int_equal(s->ops->get(s, path, 40, 3, &wait, &got, NULL), 0);
	assert_int_equal(got.len, 0);
	unlink(path);
	rmdir(dir);
	s->ops->close(s);
}

static void test_unknown_transport(void **state)
{
	(void)state;
	assert_null(kab_transport_find("telnet"));
	assert_string_equal(kab_transport_find("openssh")->name, "openssh");
	assert_string_equal(kab_transport_find("ssh")->name, "ssh");
	assert_string_equal(kab_transport_find("local")->name, "local");
}

/* The fake does what its script says, once, over all sessions. */
static void test_fake(void **state)
{
	char script[] = "/tmp/kab-fake-XXXXXX";
	int fd = mkstemp(script);
	const struct kab_endpoint ep = { .name = "f", .transport = "fake", .ssh = script };
	const struct kab_transport *t = kab_transport_find("fake");
	const char *argv[] = { "true", NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_wait wait = { kab_deadline_s(5), -1 };
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	struct kab_session *s;

	(void)state;
	assert_true(write(fd, "2 fail\n4 die\n7 mute\n", 20) == 20);
	close(fd);
	assert_int_equal(t->open(&ep, &wait, &s, &err), 0);
	assert_int_equal(s->ops->exec(s, &req, &wait, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_REMOTE);
	assert_int_equal(s->ops->exec(s, &req, &wait, &res, &err), 0);
	kab_exec_result_release(&res);
	assert_int_equal(s->ops->exec(s, &req, &wait, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONNECT);
	assert_int_equal(s->ops->exec(s, &req, &wait, &res, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONNECT);
	s->ops->close(s);
	assert_int_equal(t->open(&ep, &wait, &s, &err), 0);
	assert_int_equal(s->ops->exec(s, &req, &wait, &res, &err), 0);
	kab_exec_result_release(&res);
	char *mark kab_autofree = kab_xasprintf("%s.mark", script);
	assert_int_equal(s->ops->put(s, mark, "x", 1, 0600, &wait, &err), -1);
	assert_int_equal(access(mark, F_OK), 0); /* done, only the answer was lost */
	s->ops->close(s);
	unlink(mark);
	for (int i = 0; i < 2; i++) {
		char *side kab_autofree = kab_xasprintf("%s.%s", script, i ? "log" : "count");
		assert_int_equal(unlink(side), 0);
	}
	unlink(script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams_and_status),
		cmocka_unit_test(test_signals_are_told),
		cmocka_unit_test(test_output_is_capped),
		cmocka_unit_test(test_unread_input),
		cmocka_unit_test(test_background_child),
		cmocka_unit_test(test_deadline_kills_the_group),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_missing_program),
		cmocka_unit_test(test_no_descriptor_leaks),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_unknown_transport),
		cmocka_unit_test(test_fake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
