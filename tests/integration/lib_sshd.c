/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib_sshd.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/child.h"

#define SSHD_SH KAB_SOURCE_DIR "/tests/integration/sshd.sh"

static char *run(struct sshd_rig *rig, int *status, const char *line)
{
	char *script kab_autofree = kab_xasprintf("D='%s'\n%s", rig->dir, line);
	const char *argv[] = { "sh", "-c", script, NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_wait wait = { kab_deadline_s(240), -1 };
	struct kab_exec_result res;
	struct kab_err err = KAB_ERR_INIT;
	char *out;

	if (kab_child_run(&req, &wait, &res, &err) < 0)
		fail_msg("%s", err.text);
	if (status)
		*status = res.exit_status;
	else if (res.exit_status != 0)
		fail_msg("'%s' ended with %d: %s", line, res.exit_status, kab_buf_str(&res.err));
	kab_buf_rtrim(&res.out, "\n");
	out = kab_buf_detach(&res.out);
	kab_exec_result_release(&res);
	return out;
}

char *rig_sh(struct sshd_rig *rig, int *status, const char *fmt, ...)
{
	char *line kab_autofree = NULL;
	va_list ap;

	va_start(ap, fmt);
	line = kab_xvasprintf(fmt, ap);
	va_end(ap);
	return run(rig, status, line);
}

bool sshd_start_or_skip(struct sshd_rig *rig, const char *name, const char *args, int *port)
{
	int status = 0;
	char *out kab_autofree = rig_sh(rig, &status, SSHD_SH " start $D %s %s", name, args);

	if (status == 77)
		return false;
	if (status != 0)
		fail_msg("sshd.sh start %s %s: status %d", name, args, status);
	*port = (int)strtol(out, NULL, 10);
	return true;
}

int sshd_start(struct sshd_rig *rig, const char *name, const char *args)
{
	int port = 0;

	if (!sshd_start_or_skip(rig, name, args, &port))
		fail_msg("no sshd");
	return port;
}

int tcp_start(bool mute, pid_t *pid)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* The kernel chooses the port, and it listens before anybody is told. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(fd, 50) < 0 ||
	    getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
		fail_msg("cannot listen");
	*pid = fork();
	if (*pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			int in = accept(fd, NULL, NULL);

			if (in >= 0 && !mute)
				close(in);
		}
	}
	close(fd);
	return ntohs(sa.sin_port);
}

void tcp_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void tcp_hold(int port, int n, unsigned seconds)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fds[16];

	assert_in_range(n, 1, KAB_ARRAY_SIZE(fds));
	for (int i = 0; i < n; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fds[i] < 0 || connect(fds[i], (struct sockaddr *)&sa, sizeof(sa)) < 0)
			fail_msg("cannot connect to port %d", port);
	}
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sleep(seconds);
		_exit(0);
	}
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

void sshd_rig_up(struct sshd_rig *rig)
{
	int port;

	char owner[24];

	/* A test that crashes or is killed leaves no server behind. */
	snprintf(owner, sizeof(owner), "%ld", (long)getpid());
	setenv("KAB_SSHD_OWNER", owner, 1);
	snprintf(rig->dir, sizeof(rig->dir), "/var/tmp/kab-sshd-XXXXXX");
	if (!mkdtemp(rig->dir))
		abort();
	snprintf(rig->config, sizeof(rig->config), "%s/ssh_config", rig->dir);
	/* The plain server of most tests; ecdsa and ed25519, of which only the latter gets known. */
	if (!sshd_start_or_skip(rig, "plain", "-k ed25519,ecdsa", &port)) {
		sshd_rig_down(rig);
		exit(77);
	}
}

void sshd_rig_down(struct sshd_rig *rig)
{
	int status;

	free(rig_sh(rig, &status, SSHD_SH " stop $D; [ -z \"${KAB_KEEP:-}\" ] && rm -rf \"$D\""));
}

/*
 * libssh2 1.10 loses a BIGNUM (56 bytes) for each login with an ecdsa key in OpenSSH's format. The
 * slow unwinder is needed to see libssh2 behind libcrypto, which has no frame pointers.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "fast_unwind_on_malloc=0";
}

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libssh2.so\n";
}
