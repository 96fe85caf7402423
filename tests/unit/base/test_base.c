/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Buffers, lists of strings, errors, hashes, clocks and files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/strv.h"

static void buf_is_capped(void **state)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	(void)state;
	assert_string_equal(kab_buf_str(&buf), "");
	kab_buf_init(&buf, 5);
	kab_buf_adds(&buf, "abc");
	assert_false(buf.cut);
	kab_buf_adds(&buf, "de");
	assert_false(buf.cut);
	kab_buf_addc(&buf, 'f');
	assert_true(buf.cut);
	assert_string_equal(kab_buf_str(&buf), "abcde");
	kab_buf_addf(&buf, "%d", 7);
	kab_buf_fill(&buf, 'x', SIZE_MAX);
	assert_int_equal(buf.len, 5);
	kab_buf_clear(&buf);
	assert_false(buf.cut);
	kab_buf_fill(&buf, 'x', 9);
	assert_string_equal(kab_buf_str(&buf), "xxxxx");
	assert_true(buf.cut);
	kab_buf_release(&buf);
	/* The cap survives a release: the next user is not suddenly without one. */
	kab_buf_adds(&buf, "1234567");
	assert_string_equal(kab_buf_str(&buf), "12345");
}

static void buf_holds_any_bytes(void **state)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	char *bytes;

	(void)state;
	kab_buf_add(&buf, "a\0b", 3);
	assert_int_equal(buf.len, 3);
	kab_buf_addf(&buf, "%0300d", 1);
	assert_int_equal(buf.len, 303);
	kab_buf_rtrim(&buf, "01");
	assert_int_equal(buf.len, 3);
	assert_memory_equal(buf.data, "a\0b", 4);
	bytes = kab_buf_detach(&buf);
	assert_memory_equal(bytes, "a\0b", 4);
	free(bytes);
	assert_int_equal(buf.len, 0);
	bytes = kab_buf_detach(&buf);
	assert_string_equal(bytes, "");
	free(bytes);
}

static void rtrim_keeps_a_nul(void **state)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	(void)state;
	kab_buf_add(&buf, "a\0\n", 3);
	kab_buf_rtrim(&buf, "\n");
	assert_int_equal(buf.len, 2);
}

static void strv_is_an_argv(void **state)
{
	struct kab_strv kab_autostrv sv = KAB_STRV_INIT, copy = KAB_STRV_INIT;
	char *joined kab_autofree = NULL;

	(void)state;
	assert_null(kab_strv_argv(&sv)[0]);
	kab_strv_split(&sv, "", ',');
	assert_int_equal(sv.n, 0);
	kab_strv_split(&sv, "a,,b,", ',');
	assert_int_equal(sv.n, 4);
	assert_string_equal(sv.v[1], "");
	assert_string_equal(sv.v[3], "");
	for (int i = 0; i < 100; i++)
		kab_strv_addf(&sv, "%d", i);
	assert_string_equal(sv.v[103], "99");
	assert_null(kab_strv_argv(&sv)[104]);
	kab_strv_copy(&copy, &sv);
	assert_true(kab_strv_equal(&copy, &sv));
	kab_strv_add(&copy, "more");
	assert_false(kab_strv_equal(&copy, &sv));
	assert_true(kab_strv_has(&sv, "42"));
	assert_false(kab_strv_has(&sv, "100"));
	kab_strv_release(&sv);
	kab_strv_split(&sv, "x y", ' ');
	joined = kab_strv_join(&sv, ", ");
	assert_string_equal(joined, "x, y");
}

static void errors_are_cut_visibly(void **state)
{
	char lots[2000];
	struct kab_err err = KAB_ERR_INIT;

	(void)state;
	memset(lots, 'x', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	assert_int_equal(kab_err_set(&err, KAB_ERR_CONFIG, "%s", lots), -1);
	assert_int_equal(strlen(err.text), KAB_ERR_TEXT_MAX - 1);
	assert_string_equal(err.text + KAB_ERR_TEXT_MAX - 4, "...");
	errno = ENOSPC;
	kab_err_errno(&err, KAB_ERR_ENV, "%s", lots);
	assert_int_equal(err.os_errno, ENOSPC);
	assert_int_equal(errno, ENOSPC);
	/* Whatever is cut, the cause is not. */
	assert_non_null(strstr(err.text, "No space left on device"));
	kab_err_set(&err, KAB_ERR_CONFIG, "inner");
	kab_err_prefix(&err, "suite '%s'", "x");
	assert_string_equal(err.text, "suite 'x': inner");
	kab_err_prefix(&err, "%s", lots);
	assert_string_equal(err.text + strlen(err.text) - 16, "suite 'x': inner");
	assert_int_equal(kab_err_set(NULL, KAB_ERR_CONFIG, "no place for it"), -1);
	assert_int_equal(kab_err_prefix(NULL, "x"), -1);
	kab_err_set_at(&err, KAB_ERR_CONFIG, "file:3", "bad");
	assert_string_equal(err.where, "file:3");
}

static void exit_codes(void **state)
{
	static const struct {
		enum kab_err_code code;
		int exit;
	} table[] = {
		{ KAB_OK, 0 },
		{ KAB_ERR_USAGE, 2 },
		{ KAB_ERR_CONFIG, 3 },
		{ KAB_ERR_NOT_FOUND, 3 },
		{ KAB_ERR_PARSE, 3 },
		{ KAB_ERR_UNSUPPORTED, 4 },
		{ KAB_ERR_ENV, 4 },
		{ KAB_ERR_CONNECT, 4 },
		{ KAB_ERR_AUTH, 4 },
		{ KAB_ERR_REMOTE, 4 },
		{ KAB_ERR_TIMEOUT, 4 },
		{ KAB_ERR_BUSY, 4 },
		{ KAB_ERR_STORE, 4 },
		{ KAB_ERR_INTERNAL, 6 },
		{ KAB_ERR_CANCELLED, 130 },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++)
		assert_int_equal(kab_err_exit_code(table[i].code), table[i].exit);
}

static void sha256(void **state)
{
	char hex[KAB_SHA256_HEX_SIZE];

	(void)state;
	/* FIPS 180-4 examples. */
	kab_sha256_hex(NULL, 0, hex);
	assert_string_equal(hex,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	kab_sha256_hex("abc", 3, hex);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void clocks(void **state)
{
	struct kab_err err = KAB_ERR_INIT;
	int64_t begin = kab_now_mono_ns(), took;
	char text[24];
	int fds[2];

	(void)state;
	assert_int_equal(kab_wait_until(kab_deadline_s(0.05), -1, &err), 0);
	took = kab_now_mono_ns() - begin;
	assert_true(took >= 50 * KAB_NS_PER_MS);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(kab_wait_until(kab_deadline_s(30), fds[0], &err), -1);
	assert_int_equal(err.code, KAB_ERR_CANCELLED);
	close(fds[0]);
	close(fds[1]);
	assert_true(kab_deadline_s(1e300) == INT64_MAX);
	assert_int_equal(kab_deadline_poll_ms(INT64_MAX), 2147483647);
	assert_int_equal(kab_deadline_poll_ms(0), 0);
	kab_format_utc(INT64_C(1796078523) * KAB_NS_PER_S, text);
	assert_string_equal(text, "2026-11-30T22:42:03Z");
}

static char *scratch(void)
{
	char *dir = kab_xstrdup("/tmp/kab-base-XXXXXX");

	assert_non_null(mkdtemp(dir));
	return dir;
}

static void remove_all(const char *dir)
{
	char *argv[] = { (char *)"rm", (char *)"-rf", (char *)dir, NULL };
	pid_t pid = fork();

	if (!pid) {
		execv("/bin/rm", argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static void files(void **state)
{
	char *dir kab_autofree = scratch();
	char *path kab_autofree = kab_xasprintf("%s/a/b/file", dir);
	char *folder kab_autofree = kab_xasprintf("%s/a/b", dir);
	char *tmp kab_autofree = kab_xasprintf("%s.tmp.%ld", path, (long)getpid());
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	struct kab_err err = KAB_ERR_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(kab_file_read(path, &buf, &err), -1);
	assert_int_equal(err.code, KAB_ERR_NOT_FOUND);
	assert_int_equal(kab_file_mkdirs(folder, 0700, &err), 0);
	assert_int_equal(kab_file_mkdirs(folder, 0700, &err), 0);
	assert_int_equal(kab_file_mkdirs("", 0700, &err), -1);
	assert_int_equal(kab_file_write(path, "one\0two", 7, 0600, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(kab_file_read(path, &buf, &err), 0);
	assert_int_equal(buf.len, 7);
	/* A write that cannot be finished leaves the old file and nothing else. */
	assert_int_equal(mkdir(tmp, 0700), 0);
	assert_int_equal(kab_file_write(path, "new", 3, 0600, &err), -1);
	assert_int_equal(err.code, KAB_ERR_ENV);
	assert_int_equal(rmdir(tmp), 0);
	kab_buf_clear(&buf);
	assert_int_equal(kab_file_read(path, &buf, &err), 0);
	assert_int_equal(buf.len, 7);
	assert_int_equal(kab_file_write(folder, "x", 1, 0600, &err), -1);
	assert_int_equal(access(tmp, F_OK), -1);
	/* A cap is a cap. */
	kab_buf_release(&buf);
	kab_buf_init(&buf, 3);
	assert_int_equal(kab_file_read("/dev/zero", &buf, &err), 0);
	assert_true(buf.cut);
	assert_int_equal(kab_file_read(folder, &buf, &err), -1);
	remove_all(dir);
}

static void xdg(void **state)
{
	struct kab_err err = KAB_ERR_INIT;
	char *path;

	(void)state;
	setenv("HOME", "/home/x", 1);
	setenv("XDG_DATA_HOME", "/data", 1);
	assert_int_equal(kab_file_xdg("DATA", &path, &err), 0);
	assert_string_equal(path, "/data/kab");
	free(path);
	/* The specification: a relative path is to be ignored. */
	setenv("XDG_DATA_HOME", "data", 1);
	assert_int_equal(kab_file_xdg("DATA", &path, &err), 0);
	assert_string_equal(path, "/home/x/.local/share/kab");
	free(path);
	unsetenv("XDG_DATA_HOME");
	unsetenv("HOME");
	assert_int_equal(kab_file_xdg("DATA", &path, &err), -1);
	assert_int_equal(err.code, KAB_ERR_ENV);
	assert_non_null(strstr(err.text, "HOME"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buf_is_capped),
		cmocka_unit_test(buf_holds_any_bytes),
		cmocka_unit_test(rtrim_keeps_a_nul),
		cmocka_unit_test(strv_is_an_argv),
		cmocka_unit_test(errors_are_cut_visibly),
		cmocka_unit_test(exit_codes),
		cmocka_unit_test(sha256),
		cmocka_unit_test(clocks),
		cmocka_unit_test(files),
		cmocka_unit_test(xdg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
