/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detached runs over real ssh servers: what a lost link, a strange server and a strange folder do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/detach.h"
#include "lib_sshd.h"

static struct sshd_rig rig;
static char work[96];

struct link {
	struct kab_endpoint ep;
	struct kab_session *s;
	struct kab_detach *d;
	struct kab_err err;
};

static struct kab_wait in_s(double s)
{
	return (struct kab_wait){ kab_deadline_s(s), -1 };
}

static void link_up(struct link *l, const char *name, const char *workdir)
{
	struct kab_wait w = in_s(120);

	*l = (struct link){ .ep = { .name = name,
				    .transport = "ssh",
				    .ssh = name,
				    .ssh_config = rig.config,
				    .keepalive_s = 5 } };
	if (kab_transport_ssh.open(&l->ep, &w, &l->s, &l->err) < 0 ||
	    kab_detach_open(l->s, workdir, NULL, &w, &l->d, &l->err) < 0)
		fail_msg("%s", l->err.text);
}

static void link_down(struct link *l)
{
	kab_detach_close(l->d);
	l->s->ops->close(l->s);
}

#define ok(l, call)                                               \
	do {                                                      \
		if ((call) < 0)                                   \
			fail_msg("%s: %s", #call, (l)->err.text); \
	} while (0)

static void check_stdout(struct link *l, const char *id, const char *want)
{
	struct kab_buf out kab_autobuf = KAB_BUF_INIT;
	struct kab_wait w = in_s(120);

	ok(l, kab_detach_fetch(l->d, id, "stdout", 0, 1 << 20, &w, &out, &l->err));
	assert_string_equal(kab_buf_str(&out), want);
}

static void whole_run(const char *server, const char *id, const char *workdir)
{
	static const struct kab_detach_file file = { "data.bin", "\0\1\2\n", 4, 0 };
	const char *const argv[] = {
		"sh",	"-c",	 "wc -c <data.bin; for a; do echo \"[$a]\"; done",
		"sh",	"it's",	 "",
		"a\nb", "$HOME", NULL
	};
	struct kab_detach_spec spec = {
		.run_id = id, .argv = argv, .timeout_s = 100, .files = &file, .n_files = 1
	};
	struct kab_detach_result res;
	struct kab_wait w = in_s(120);
	struct link l;

	link_up(&l, server, workdir);
	ok(&l, kab_detach_start(l.d, &spec, &w, &res, &l.err));
	ok(&l, kab_detach_wait(l.d, id, &w, &res, &l.err));
	assert_int_equal(res.state, KAB_DETACH_DONE);
	assert_int_equal(res.exit_status, 0);
	check_stdout(&l, id, "4\n[it's]\n[]\n[a\nb]\n[$HOME]\n");
	ok(&l, kab_detach_clean(l.d, id, &w, &l.err));
	link_down(&l);
}

static void test_openssh(void **state)
{
	(void)state;
	whole_run("plain", "whole", work);
}

static void test_dropbear(void **state)
{
	int port;

	(void)state;
	if (!sshd_start_or_skip(&rig, "drop", "-s dropbear", &port))
		skip();
	whole_run("drop", "whole-drop", work);
}

/* Sessions die in the middle of the run; it goes on and is fetched once, whole. */
static void test_lost_link(void **state)
{
	char *script kab_autofree = kab_xasprintf(
		"echo x >>%s/count; echo one; until [ -e %s/go ]; do sleep 0.1; done; "
		"echo two",
		rig.dir, rig.dir);
	const char *const argv[] = { "sh", "-c", script, NULL };
	struct kab_detach_spec spec = { .run_id = "link", .argv = argv, .timeout_s = 100 };
	struct kab_detach_result res;
	struct kab_wait w = in_s(110);
	struct link l;

	(void)state;
	link_up(&l, "plain", work);
	ok(&l, kab_detach_start(l.d, &spec, &w, &res, &l.err));
	free(rig_sh(&rig, NULL,
		    "(sleep 0.5; kill -9 $(%s/tests/integration/sshd.sh sessions $D plain)) "
		    ">/dev/null 2>&1 &",
		    KAB_SOURCE_DIR));
	assert_int_equal(kab_detach_wait(l.d, "link", &w, &res, &l.err), -1);
	assert_int_equal(l.err.code, KAB_ERR_CONNECT);
	link_down(&l);
	link_up(&l, "plain", work);
	ok(&l, kab_detach_start(l.d, &spec, &w, &res, &l.err)); /* repeated: not run again */
	assert_int_equal(res.state, KAB_DETACH_RUNNING);
	free(rig_sh(&rig, NULL, "touch $D/go"));
	ok(&l, kab_detach_wait(l.d, "link", &w, &res, &l.err));
	assert_int_equal(res.state, KAB_DETACH_DONE);
	check_stdout(&l, "link", "one\ntwo\n");
	char *count kab_autofree = rig_sh(&rig, NULL, "cat $D/count");
	assert_string_equal(count, "x");
	link_down(&l);
}

/* The server sees a folder where nothing can be executed, and a home where nothing can be written. */
static void test_noexec_and_readonly(void **state)
{
	struct kab_wait w = in_s(120);
	int status;
	struct link l;

	(void)state;
	free(rig_sh(&rig, &status,
		    "unshare -m sh -c 'mkdir -p $0/noexec $0/ro && mount -t tmpfs -o noexec none "
		    "$0/noexec' $D 2>/dev/null"));
	if (status != 0)
		skip();
	/* Mounted for the whole namespace of a second sshd. */
	char *port kab_autofree = rig_sh(
		&rig, NULL,
		"mkdir -p $D/noexec $D/ro && unshare -m sh -c 'mount -t tmpfs -o noexec none "
		"$0/noexec && mount -t tmpfs -o ro none $0/ro && exec "
		"%s/tests/integration/sshd.sh start $0 strange SetEnv "
		"\"XDG_STATE_HOME=$0/ro/state HOME=$0/ro\"' $D",
		KAB_SOURCE_DIR);
	char *noexec kab_autofree = kab_xasprintf("%s/noexec", rig.dir);
	assert_true(strtol(port, NULL, 10) > 0);
	whole_run("strange", "whole-noexec", noexec);
	/* asked to find a place by itself, it goes on to the next candidate */
	link_up(&l, "strange", NULL);
	assert_null(strstr(kab_detach_base(l.d), "/ro/"));
	link_down(&l);
	/* told to use one that is not writable, it says so */
	char *ro kab_autofree = kab_xasprintf("%s/ro/kab", rig.dir);
	link_up(&l, "strange", noexec);
	struct kab_detach *d = NULL;
	assert_int_equal(kab_detach_open(l.s, ro, NULL, &w, &d, &l.err), -1);
	assert_int_equal(l.err.code, KAB_ERR_REMOTE);
	assert_non_null(strstr(l.err.text, "workdir"));
	link_down(&l);
}

static void test_become(void **state)
{
	struct kab_wait w = in_s(120);
	struct kab_detach *d = NULL;
	struct link l;

	(void)state;
	link_up(&l, "plain", work);
	assert_int_equal(kab_detach_open(l.s, work, "doas", &w, &d, &l.err), -1);
	assert_int_equal(l.err.code, KAB_ERR_CONFIG);
	link_down(&l);
}

static int group_setup(void **state)
{
	(void)state;
	sshd_rig_up(&rig);
	snprintf(work, sizeof(work), "%s/work", rig.dir);
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	sshd_rig_down(&rig);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openssh),
		cmocka_unit_test(test_lost_link),
		cmocka_unit_test(test_noexec_and_readonly),
		cmocka_unit_test(test_become),
		cmocka_unit_test(test_dropbear),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
