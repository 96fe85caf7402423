/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "transport/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strv.h"

#define OUT_DEFAULT ((size_t)1 << 20)
#define TERM_GRACE_MS 500
/* Where pidfd_open is missing (Linux before 5.3) the exit is looked for this often. */
#define REAP_POLL_MS 10

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Keep clear of 0..2: posix_spawn's dup2 chain would overwrite a pipe end that sits there. */
static int high_fd(int fd)
{
	int up;

	if (fd < 0 || fd > 2)
		return fd;
	up = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return up;
}

static int make_pipe(int fds[2], struct kab_err *err)
{
	if (pipe2(fds, O_CLOEXEC) < 0) {
		fds[0] = fds[1] = -1;
		return kab_err_errno(err, KAB_ERR_ENV, "cannot make a pipe");
	}
	fds[0] = high_fd(fds[0]);
	fds[1] = high_fd(fds[1]);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static int make_input(const void *in, size_t len, struct kab_err *err)
{
	const char *p = in;
	int fd;

	if (!len) {
		fd = high_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
		return fd >= 0 ? fd : kab_err_errno(err, KAB_ERR_ENV, "cannot open /dev/null");
	}
	fd = high_fd(memfd_create("kab-stdin", MFD_CLOEXEC));
	if (fd < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot make a memory file");
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			kab_err_errno(err, KAB_ERR_ENV, "cannot write %zu bytes of input", len);
			close(fd);
			return -1;
		}
		p += n;
		len -= (size_t)n;
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

int kab_child_spawn(const char *const *argv, int fd_in, int fd_out, int fd_err, pid_t *pid,
		    struct kab_err *err)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none, all;
	int rc;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd_in, 0);
	posix_spawn_file_actions_adddup2(&fa, fd_out, 1);
	posix_spawn_file_actions_adddup2(&fa, fd_err, 2);
	posix_spawnattr_init(&at);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setsigdefault(&at, &all);
	posix_spawnattr_setpgroup(&at, 0);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
					      POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawnp(pid, argv[0], &fa, &at, (char *const *)argv, environ);
	posix_spawnattr_destroy(&at);
	posix_spawn_file_actions_destroy(&fa);
	if (rc) {
		errno = rc;
		return kab_err_errno(err, KAB_ERR_ENV, "cannot start '%s'", argv[0]);
	}
	return 0;
}

int kab_child_spawn_bound(const char *const *argv, const char *folder, int fd_out, int fd_err,
			  pid_t *pid, int *life, struct kab_err *err)
{
	static const char script[] = "exec 3<&0; p=$$; { read -r x <&3; kill \"$p\"; rm -rf -- "
				     "\"$0\"; } >/dev/null 2>&1 & "
				     "exec \"$@\" </dev/null 3<&-";
	struct kab_strv all kab_autostrv = KAB_STRV_INIT;
	int ends[2] = { -1, -1 };
	int rc;

	kab_strv_add(&all, "sh");
	kab_strv_add(&all, "-c");
	kab_strv_add(&all, script);
	kab_strv_add(&all, folder);
	for (size_t i = 0; argv[i]; i++)
		kab_strv_add(&all, argv[i]);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot make a pipe");
	rc = kab_child_spawn((const char *const *)all.v, ends[0], fd_out, fd_err, pid, err);
	close_fd(&ends[0]);
	if (rc < 0)
		close_fd(&ends[1]);
	*life = ends[1];
	return rc;
}

static bool reap(pid_t pid, int *status)
{
	pid_t got;

	do
		got = waitpid(pid, status, WNOHANG);
	while (got < 0 && errno == EINTR);
	return got != 0;
}

void kab_child_end(pid_t pid, int grace_ms)
{
	int64_t until = kab_now_mono_ns() + grace_ms * KAB_NS_PER_MS;
	int status;

	if (pid <= 0)
		return;
	kill(-pid, SIGTERM);
	while (!reap(pid, &status)) {
		if (kab_now_mono_ns() >= until) {
			kill(-pid, SIGKILL);
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
			return;
		}
		poll(NULL, 0, REAP_POLL_MS);
	}
	/* The leader is gone; what it left in its group goes too. */
	kill(-pid, SIGKILL);
}

/* Take what is there. True at the end of the stream. */
static bool drain(int fd, struct kab_buf *buf)
{
	char chunk[65536];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n > 0)
			kab_buf_add(buf, chunk, (size_t)n);
		else if (n == 0)
			return true;
		else if (errno != EINTR)
			return errno != EAGAIN;
	}
}

struct stream {
	int fd;
	struct kab_buf *buf;
};

static int collect(pid_t pid, struct stream *st, const struct kab_wait *wait, int *status,
		   struct kab_err *err)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int rc = 0;

	for (;;) {
		struct pollfd pfd[4] = {
			{ .fd = st[0].fd, .events = POLLIN },
			{ .fd = st[1].fd, .events = POLLIN },
			{ .fd = wait->cancel_fd, .events = POLLIN },
			{ .fd = pidfd, .events = POLLIN },
		};
		int ms = kab_deadline_poll_ms(wait->deadline_ns);

		if (pidfd < 0 && ms > REAP_POLL_MS)
			ms = REAP_POLL_MS;
		if (poll(pfd, 4, ms) < 0 && errno != EINTR) {
			rc = kab_err_errno(err, KAB_ERR_ENV, "poll failed");
			break;
		}
		for (int i = 0; i < 2; i++)
			if (st[i].fd >= 0 && pfd[i].revents && drain(st[i].fd, st[i].buf))
				close_fd(&st[i].fd);
		if (reap(pid, status)) {
			/* What it wrote before it ended is in the pipe by now. */
			for (int i = 0; i < 2; i++)
				if (st[i].fd >= 0)
					drain(st[i].fd, st[i].buf);
			break;
		}
		if (pfd[2].revents) {
			rc = kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
			break;
		}
		if (kab_now_mono_ns() >= wait->deadline_ns) {
			rc = kab_err_set(err, KAB_ERR_TIMEOUT, "deadline passed");
			break;
		}
	}
	close_fd(&pidfd);
	return rc;
}

int kab_child_run(const struct kab_exec *req, const struct kab_wait *wait,
		  struct kab_exec_result *ret, struct kab_err *err)
{
	int out[2] = { -1, -1 }, errp[2] = { -1, -1 };
	int in = make_input(req->in, req->in_len, err);
	int status = 0, rc = -1;
	pid_t pid = -1;

	kab_buf_init(&ret->out, req->out_max ? req->out_max : OUT_DEFAULT);
	kab_buf_init(&ret->err, req->err_max ? req->err_max : OUT_DEFAULT);
	ret->exit_status = -1;
	if (in < 0 || make_pipe(out, err) < 0 || make_pipe(errp, err) < 0)
		goto out;
	if (kab_child_spawn(req->argv, in, out[1], errp[1], &pid, err) < 0)
		goto out;
	close_fd(&out[1]);
	close_fd(&errp[1]);
	struct stream st[2] = { { out[0], &ret->out }, { errp[0], &ret->err } };
	rc = collect(pid, st, wait, &status, err);
	out[0] = st[0].fd;
	errp[0] = st[1].fd;
	if (rc < 0) {
		kab_child_end(pid, TERM_GRACE_MS);
		kab_err_prefix(err, "'%s'", req->argv[0]);
	} else {
		ret->exit_status =
			WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
out:
	close_fd(&in);
	for (int i = 0; i < 2; i++) {
		close_fd(&out[i]);
		close_fd(&errp[i]);
	}
	if (rc < 0)
		kab_exec_result_release(ret);
	return rc;
}
