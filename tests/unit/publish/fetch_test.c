/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Downloads from a real server with bad habits (fetch_server.py). */
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <curl/curl.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "publish/fetch.h"

#define SIZE 300000

extern char **environ;

static struct {
	pid_t pid;
	FILE *said;
	int port;
	char dir[64];
} srv;

static int start(void **state)
{
	char line[64];
	char *script kab_autofree =
		kab_xstrdup(KAB_SOURCE_DIR "/tests/unit/publish/fetch_server.py");
	char program[] = "python3";
	char *const argv[] = { program, script, NULL };
	posix_spawn_file_actions_t actions;
	int out[2];

	(void)state;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	snprintf(srv.dir, sizeof(srv.dir), "/tmp/kab-fetch-XXXXXX");
	if (!mkdtemp(srv.dir) || pipe(out) < 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_addclose(&actions, out[0]);
	if (posix_spawnp(&srv.pid, "python3", &actions, NULL, argv, environ) != 0)
		return -1;
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	srv.said = fdopen(out[0], "r");
	if (!srv.said || !fgets(line, sizeof(line), srv.said))
		return -1;
	srv.port = (int)strtol(line, NULL, 10);
	return srv.port ? 0 : -1;
}

static int stop(void **state)
{
	char *line kab_autofree = kab_xasprintf("rm -rf '%s'", srv.dir);
	char sh[] = "sh", c[] = "-c";
	char *const argv[] = { sh, c, line, NULL };
	pid_t pid;

	(void)state;
	kill(srv.pid, SIGTERM);
	waitpid(srv.pid, NULL, 0);
	fclose(srv.said);
	if (posix_spawnp(&pid, "sh", NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
	curl_global_cleanup();
	return 0;
}

/* The next line that the server printed. */
static const char *request(void)
{
	static char line[512];

	if (!fgets(line, sizeof(line), srv.said))
		fail_msg("the server has gone");
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void expect_request(const char *part)
{
	const char *line = request();

	if (!strstr(line, part))
		fail_msg("'%s' is not in '%s'", part, line);
}

struct call {
	const char *sha256;
	const char *dir;
	double seconds;
	int cancel_fd;
};

static int get(const char *path, struct call call, char **ret, struct kab_err *err)
{
	char *url kab_autofree = kab_xasprintf("http://me:secret@127.0.0.1:%d/%s", srv.port, path);
	struct kab_fetch_opts opts = {
		.url = url,
		.sha256 = call.sha256,
		.dir = call.dir ? call.dir : srv.dir,
		.deadline_ns = kab_deadline_s(call.seconds ? call.seconds : 30),
		.cancel_fd = call.cancel_fd ? call.cancel_fd : -1,
	};

	*ret = NULL;
	*err = (struct kab_err)KAB_ERR_INIT;
	return kab_fetch(&opts, ret, err);
}

static void check_file(const char *path, char letter, int version)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	assert_int_equal(kab_file_read(path, &buf, NULL), 0);
	assert_int_equal(buf.len, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		if ((unsigned char)buf.data[i] !=
		    (unsigned char)((unsigned)letter * 7 + (unsigned)version * 13 + i * 31 +
				    i / 251))
			fail_msg("byte %zu is wrong", i);
}

static void good(const char *path, struct call call, int version, char **ret)
{
	struct kab_err err = KAB_ERR_INIT;

	if (get(path, call, ret, &err) < 0)
		fail_msg("%s", err.text);
	check_file(*ret, *path, version);
}

static void bad(const char *path, struct call call, enum kab_err_code code, const char *part)
{
	struct kab_err err = KAB_ERR_INIT;
	char *file;

	assert_int_equal(get(path, call, &file, &err), -1);
	assert_null(file);
	if (err.code != code || !strstr(err.text, part))
		fail_msg("%d: %s", err.code, err.text);
	assert_null(strstr(err.text, "secret"));
	assert_null(strstr(err.text, "me:"));
}

/* sha256sum of what the server sends for 'a' and 'b', made with Python's hashlib. */
#define SHA_A "e02beaecb951685921cea69573e9a268a204cf71184b5335278dd2039ee860d9"
#define SHA_B "f48f4730c0f0550a84d3631a35ce1564d2e55c7e23f79e57436b64c2d3d5804e"

static void plain_and_cached(void **state)
{
	char *one kab_autofree = NULL, *two kab_autofree = NULL;

	(void)state;
	good("a-linux.tar.xz", (struct call){ 0 }, 0, &one);
	assert_string_equal(strrchr(one, '/'), "/a-linux.tar.xz");
	expect_request("range=- if-range=- if-none-match=-");
	good("a-linux.tar.xz", (struct call){ 0 }, 0, &two);
	expect_request("if-none-match=\"tag-a-0\"");
	assert_string_equal(one, two);
}

static void cached_by_date(void **state)
{
	char *one kab_autofree = NULL, *two kab_autofree = NULL;

	(void)state;
	good("e-old", (struct call){ 0 }, 0, &one);
	expect_request("if-modified-since=-");
	good("e-old", (struct call){ 0 }, 0, &two);
	expect_request("if-modified-since=Mon, 05 Jan 2026");
}

static void with_a_hash_no_question_is_asked(void **state)
{
	char *one kab_autofree = NULL, *two kab_autofree = NULL, *three kab_autofree = NULL;
	FILE *f;

	(void)state;
	good("a", (struct call){ .sha256 = SHA_A }, 0, &one);
	expect_request("GET /a ");
	good("a", (struct call){ .sha256 = SHA_A }, 0, &two);
	/* A cached file that went bad is fetched anew. */
	f = fopen(one, "r+");
	assert_non_null(f);
	fputc('!', f);
	fclose(f);
	good("a", (struct call){ .sha256 = SHA_A }, 0, &three);
	expect_request("GET /a ");
}

static void broken_off_again_and_again(void **state)
{
	char *path kab_autofree = NULL;

	(void)state;
	good("a-drop", (struct call){ .sha256 = SHA_A }, 0, &path);
	expect_request("range=- ");
	expect_request("range=bytes=60000- if-range=\"tag-a-0\"");
	expect_request("range=bytes=120000-");
	expect_request("range=bytes=180000-");
	expect_request("range=bytes=240000-");
}

static void without_tag_and_hash_it_begins_anew(void **state)
{
	(void)state;
	/* It never gets further than 60000 bytes: given up in the end. */
	bad("f-drop-noetag", (struct call){ 0 }, KAB_ERR_CONNECT, "cannot download");
	for (int i = 0; i < 6; i++)
		expect_request("range=- ");
}

static void server_without_ranges(void **state)
{
	char *path kab_autofree = NULL;

	(void)state;
	good("b-norange", (struct call){ .sha256 = SHA_B }, 0, &path);
	expect_request("range=- ");
	expect_request("range=bytes=60000-");
}

static void file_that_changes_while_it_is_fetched(void **state)
{
	char *path kab_autofree = NULL;

	(void)state;
	good("c-varies", (struct call){ 0 }, 2, &path);
	expect_request("range=- ");
	expect_request("if-range=\"tag-c-1\"");
}

static void a_later_process_goes_on(void **state)
{
	(void)state;
	bad("g-hang", (struct call){ .seconds = 1.5 }, KAB_ERR_TIMEOUT, "10000 bytes are kept");
	expect_request("range=- ");
	bad("g-hang", (struct call){ .seconds = 1.5 }, KAB_ERR_TIMEOUT, "20000 bytes are kept");
	expect_request("range=bytes=10000- if-range=\"tag-g-0\"");
}

static void wrong_hash(void **state)
{
	(void)state;
	bad("b", (struct call){ .sha256 = SHA_A }, KAB_ERR_CONFIG, "has the sha256 " SHA_B);
	expect_request("GET /b ");
	/* Nothing of it is kept that could be continued. */
	bad("b", (struct call){ .sha256 = SHA_A }, KAB_ERR_CONFIG, "as given");
	expect_request("range=- ");
}

static void answers_that_are_no_file(void **state)
{
	(void)state;
	bad("404?token=secret", (struct call){ 0 }, KAB_ERR_NOT_FOUND, "404");
	expect_request("GET /404");
	bad("403", (struct call){ 0 }, KAB_ERR_CONFIG, "403");
	expect_request("GET /403");
	bad("loop", (struct call){ 0 }, KAB_ERR_CONFIG, "redirects more than 5 times");
	for (int i = 0; i < 6; i++)
		expect_request("GET /loop");
	bad("file-redirect", (struct call){ 0 }, KAB_ERR_CONFIG, "not allowed");
	expect_request("GET /file-redirect");
}

static void redirect_and_busy(void **state)
{
	char *path kab_autofree = NULL, *busy kab_autofree = NULL, *empty = NULL;
	struct kab_err err = KAB_ERR_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(get("redirect", (struct call){ 0 }, &path, &err), 0);
	check_file(path, 'a', 0);
	expect_request("GET /redirect");
	expect_request("GET /a ");
	good("b-busy", (struct call){ 0 }, 0, &busy);
	for (int i = 0; i < 3; i++)
		expect_request("GET /b-busy");
	assert_int_equal(get("empty", (struct call){ 0 }, &empty, &err), 0);
	expect_request("GET /empty");
	assert_int_equal(stat(empty, &st), 0);
	assert_int_equal(st.st_size, 0);
	free(empty);
}

static void not_reachable_and_not_http(void **state)
{
	struct kab_fetch_opts opts = { .url = "http://127.0.0.1:1/x",
				       .dir = srv.dir,
				       .deadline_ns = kab_deadline_s(30),
				       .cancel_fd = -1 };
	struct kab_err err = KAB_ERR_INIT;
	char *path = NULL;

	(void)state;
	assert_int_equal(kab_fetch(&opts, &path, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONNECT);
	opts.url = "ftp://127.0.0.1/x";
	assert_int_equal(kab_fetch(&opts, &path, &err), -1);
	assert_int_equal(err.code, KAB_ERR_CONFIG);
	assert_null(path);
}

static void cancelled(void **state)
{
	int fd = eventfd(1, EFD_CLOEXEC);

	(void)state;
	bad("h-hang", (struct call){ .cancel_fd = fd }, KAB_ERR_CANCELLED, "interrupted");
	close(fd);
}

static void no_space(void **state)
{
	char *dir kab_autofree = kab_xasprintf("%s/small", srv.dir);

	(void)state;
	assert_int_equal(mkdir(dir, 0755), 0);
	if (mount("tmpfs", dir, "tmpfs", 0, "size=128k") < 0)
		skip();
	bad("a-full", (struct call){ .dir = dir }, KAB_ERR_ENV, "No space left");
	assert_int_equal(umount(dir), 0);
}

static void shown_urls(void **state)
{
	static const char *const pairs[][2] = {
		{ "https://u:p@h.example/a/b.deb?sig=1#x", "https://h.example/a/b.deb?..." },
		{ "http://h/a@b", "http://h/a@b" },
		{ "http://u:p@q@h/a", "http://h/a" },
	};

	(void)state;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(pairs); i++) {
		char *shown kab_autofree = kab_fetch_show_url(pairs[i][0]);

		assert_string_equal(shown, pairs[i][1]);
	}
	assert_true(kab_fetch_is_url("HTTPS://x"));
	assert_false(kab_fetch_is_url("/http://x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_and_cached),
		cmocka_unit_test(cached_by_date),
		cmocka_unit_test(with_a_hash_no_question_is_asked),
		cmocka_unit_test(broken_off_again_and_again),
		cmocka_unit_test(without_tag_and_hash_it_begins_anew),
		cmocka_unit_test(server_without_ranges),
		cmocka_unit_test(file_that_changes_while_it_is_fetched),
		cmocka_unit_test(a_later_process_goes_on),
		cmocka_unit_test(wrong_hash),
		cmocka_unit_test(answers_that_are_no_file),
		cmocka_unit_test(redirect_and_busy),
		cmocka_unit_test(not_reachable_and_not_http),
		cmocka_unit_test(no_space),
		cmocka_unit_test(shown_urls),
		cmocka_unit_test(cancelled),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
