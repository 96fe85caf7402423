/* SPDX-License-Identifier: GPL-3.0-or-later */
/* This machine as a host: no shell between us and the command, files by plain system calls. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/child.h"

static int local_open(const struct kab_endpoint *ep, const struct kab_wait *wait,
		      struct kab_session **ret, struct kab_err *err)
{
	struct kab_session *s = kab_xcalloc(1, sizeof(*s));

	(void)wait;
	(void)err;
	s->ops = &kab_transport_local;
	s->ep = ep;
	*ret = s;
	return 0;
}

static int local_exec(struct kab_session *s, const struct kab_exec *req,
		      const struct kab_wait *wait, struct kab_exec_result *ret, struct kab_err *err)
{
	(void)s;
	return kab_child_run(req, wait, ret, err);
}

static int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int local_put(struct kab_session *s, const char *path, const void *data, size_t len,
		     unsigned mode, const struct kab_wait *wait, struct kab_err *err)
{
	char *tmp kab_autofree = kab_xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(tmp, O_CLOEXEC);
	int rc;

	(void)s;
	(void)wait;
	if (fd < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot write '%s'", path);
	rc = write_all(fd, data, len);
	if (rc == 0)
		rc = fchmod(fd, mode & 07777);
	if (rc == 0)
		rc = fsync(fd);
	if (close(fd) < 0)
		rc = -1;
	if (rc == 0)
		rc = rename(tmp, path);
	if (rc < 0) {
		kab_err_errno(err, KAB_ERR_ENV, "cannot write '%s'", path);
		unlink(tmp);
	}
	return rc;
}

static int local_get(struct kab_session *s, const char *path, uint64_t offset, size_t max,
		     const struct kab_wait *wait, struct kab_buf *ret, struct kab_err *err)
{
	/* NONBLOCK: a FIFO under that name must not hold us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char chunk[65536];
	struct stat st;
	int rc = 0;

	(void)s;
	(void)wait;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	if (fd < 0 || fstat(fd, &st) < 0) {
		kab_err_errno(err, KAB_ERR_ENV, "cannot read '%s'", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (offset && lseek(fd, (off_t)offset, SEEK_SET) < 0)
		rc = kab_err_errno(err, KAB_ERR_ENV, "cannot read '%s' from %llu", path,
				   (unsigned long long)offset);
	while (rc == 0) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = kab_err_errno(err, KAB_ERR_ENV, "cannot read '%s'", path);
		if (n <= 0)
			break;
		if ((size_t)n > max) {
			ret->cut = true;
			n = (ssize_t)max;
		}
		kab_buf_add(ret, chunk, (size_t)n);
		max -= (size_t)n;
		if (ret->cut)
			break;
	}
	close(fd);
	return rc;
}

static void local_close(struct kab_session *s)
{
	free(s);
}

const struct kab_transport kab_transport_local = {
	.name = "local",
	.open = local_open,
	.exec = local_exec,
	.put = local_put,
	.get = local_get,
	.close = local_close,
};
