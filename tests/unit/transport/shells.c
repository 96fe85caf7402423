/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shells.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"

static const struct kab_endpoint here = { .name = "here", .transport = "local" };

struct kab_session *target_session(void)
{
	struct kab_wait wait = { kab_deadline_s(5), -1 };
	struct kab_session *s = NULL;

	assert_int_equal(kab_transport_local.open(&here, &wait, &s, NULL), 0);
	return s;
}

struct kab_detach *target_open(struct target *t, struct kab_session *s)
{
	struct kab_wait wait = { kab_deadline_s(30), -1 };
	struct kab_detach *d = NULL;
	struct kab_err err = KAB_ERR_INIT;

	if (kab_detach_open(s, t->work, NULL, &wait, &d, &err) < 0)
		fail_msg("%s", err.text);
	return d;
}

char *target_sh(const char *line)
{
	const char *argv[] = { "sh", "-c", line, NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_wait wait = { kab_deadline_s(30), -1 };
	struct kab_session *s = target_session();
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	char *out;

	if (s->ops->exec(s, &req, &wait, &res, &err) < 0)
		fail_msg("%s", err.text);
	out = kab_buf_detach(&res.out);
	kab_exec_result_release(&res);
	s->ops->close(s);
	return out;
}

void target_setup(struct target *t, const char *shell)
{
	char *line kab_autofree = NULL;
	char *path kab_autofree = NULL;
	char *said kab_autofree = NULL;

	snprintf(t->dir, sizeof(t->dir), "/var/tmp/kab-test-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	snprintf(t->work, sizeof(t->work), "%s/work 'dir", t->dir);
	snprintf(t->lease, sizeof(t->lease), "%s/lease", t->dir);
	if (strcmp(shell, "busybox") == 0)
		line = kab_xasprintf("mkdir '%s/bin' && busybox --install -s '%s/bin' && "
				     "rm -f '%s/bin/busybox'",
				     t->dir, t->dir, t->dir);
	else
		line = kab_xasprintf("mkdir '%s/bin' && ln -s \"$(command -v %s)\" '%s/bin/sh'",
				     t->dir, shell, t->dir);
	free(target_sh(line));
	path = kab_xasprintf("%s/bin:%s", t->dir, getenv("PATH"));
	setenv("PATH", path, 1);
	said = target_sh("readlink /proc/$$/exe; :");
	if (!strstr(said, shell))
		fail_msg("sh is '%s', not %s", said, shell);
}

void target_remove(struct target *t)
{
	char *line kab_autofree = kab_xasprintf("rm -rf '%s'", t->dir);

	free(target_sh(line));
}
