/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"

static void boot_id(char ret[40])
{
	struct kab_buf kab_autobuf buf = { .max = 64 };

	if (kab_file_read("/proc/sys/kernel/random/boot_id", &buf, NULL) < 0)
		kab_buf_clear(&buf);
	kab_buf_rtrim(&buf, "\n");
	snprintf(ret, 40, "%s", kab_buf_str(&buf));
}

/* Field 22 of /proc/PID/stat; -1 when there is no such process, or it is dead already. */
static int64_t start_ticks(int64_t pid)
{
	struct kab_buf kab_autobuf buf = { .max = 4096 };
	char *path kab_autofree = kab_xasprintf("/proc/%" PRId64 "/stat", pid);
	const char *p;

	if (kab_file_read(path, &buf, NULL) < 0)
		return -1;
	/* The name of a program may have blanks and parentheses in it. */
	p = strrchr(kab_buf_str(&buf), ')');
	if (!p || !p[1] || p[2] == 'Z' || p[2] == 'X')
		return -1;
	p += 2;
	for (int field = 3; field < 22 && p; field++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p ? strtoll(p, NULL, 10) : -1;
}

static bool read_holder(int fd, struct kab_lock_holder *ret)
{
	char text[256], now[40];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	*ret = (struct kab_lock_holder){ 0 };
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (sscanf(text, "pid %" SCNd64 "\nstart %" SCNd64 "\nboot %39s\nsince %" SCNd64 "\n",
		   &ret->pid, &ret->start_ticks, ret->boot_id, &ret->since_wall_ns) != 4)
		return false;
	boot_id(now);
	ret->alive = !strcmp(now, ret->boot_id) && start_ticks(ret->pid) == ret->start_ticks;
	return true;
}

static int write_holder(int fd, int64_t now_ns)
{
	char boot[40], text[256];
	int n;

	boot_id(boot);
	n = snprintf(text, sizeof(text),
		     "pid %" PRId64 "\nstart %" PRId64 "\nboot %s\nsince %" PRId64 "\n",
		     (int64_t)getpid(), start_ticks(getpid()), *boot ? boot : "unknown", now_ns);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
		return -1;
	return fsync(fd);
}

static char *left_by(const struct kab_lock_holder *h)
{
	char boot[40], since[24];

	boot_id(boot);
	kab_format_utc(h->since_wall_ns, since);
	if (strcmp(boot, h->boot_id))
		return kab_xasprintf("process %" PRId64 ", begun %s, was cut off by a restart of "
				     "this machine",
				     h->pid, since);
	return kab_xasprintf("process %" PRId64 ", begun %s, was killed before its end", h->pid,
			     since);
}

int kab_lock_take(const char *path, int64_t now_ns, struct kab_lock *ret,
		  struct kab_lock_holder *ret_holder, char **ret_left, struct kab_err *err)
{
	struct kab_lock_holder holder;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool known;

	if (ret_left)
		*ret_left = NULL;
	if (fd < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot open the lock '%s'", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int failed = errno;

		known = read_holder(fd, &holder);
		close(fd);
		if (failed != EWOULDBLOCK) {
			errno = failed;
			return kab_err_errno(err, KAB_ERR_ENV,
					     "cannot lock '%s'; keep the state folder on a local "
					     "file system",
					     path);
		}
		if (ret_holder)
			*ret_holder = known ? holder : (struct kab_lock_holder){ .alive = true };
		return 1;
	}
	known = read_holder(fd, &holder);
	/* A file system that does not lock lets two in; what the file says stops the second. */
	if (known && holder.alive && holder.pid != getpid()) {
		close(fd);
		if (ret_holder)
			*ret_holder = holder;
		return 1;
	}
	if (known && ret_left)
		*ret_left = left_by(&holder);
	if (write_holder(fd, now_ns) < 0) {
		kab_err_errno(err, KAB_ERR_ENV, "cannot write the lock '%s'", path);
		close(fd);
		return -1;
	}
	ret->fd = fd;
	ret->path = kab_xstrdup(path);
	return 0;
}

void kab_lock_release(struct kab_lock *lock)
{
	if (lock->fd >= 0) {
		(void)!ftruncate(lock->fd, 0);
		close(lock->fd);
	}
	free(lock->path);
	*lock = (struct kab_lock)KAB_LOCK_INIT;
}

int kab_lock_show(const char *path, struct kab_lock_holder *ret, struct kab_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool known;

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot open the lock '%s'", path);
	known = read_holder(fd, ret);
	close(fd);
	return known ? 0 : 1;
}
