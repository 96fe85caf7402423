/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/safe_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text.h"

struct safe {
	int fd;
	char part[4]; /* the begin of a sequence of which the rest is to come */
	size_t n;
};

static int put(int fd, const struct kab_buf *out)
{
	for (size_t at = 0; at < out->len;) {
		ssize_t n = write(fd, out->data + at, out->len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		at += (size_t)n;
	}
	return 0;
}

static ssize_t on_write(void *cookie, const char *bytes, size_t n)
{
	struct kab_buf kab_autobuf in = KAB_BUF_INIT, out = KAB_BUF_INIT;
	struct safe *safe = cookie;
	size_t taken;

	kab_buf_init(&in, SIZE_MAX / 2);
	kab_buf_init(&out, SIZE_MAX / 2);
	kab_buf_add(&in, safe->part, safe->n);
	kab_buf_add(&in, bytes, n);
	taken = kab_text_show(&out, kab_buf_str(&in), in.len, true);
	safe->n = in.len - taken;
	memcpy(safe->part, kab_buf_str(&in) + taken, safe->n);
	return put(safe->fd, &out) < 0 ? 0 : (ssize_t)n;
}

static int on_close(void *cookie)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	struct safe *safe = cookie;
	int rc;

	kab_text_show(&out, safe->part, safe->n, false);
	rc = put(safe->fd, &out);
	free(safe);
	return rc;
}

FILE *kab_safe_out(int fd)
{
	struct safe *safe = kab_xcalloc(1, sizeof(*safe));
	FILE *f;

	safe->fd = fd;
	f = fopencookie(safe, "w", (cookie_io_functions_t){ .write = on_write, .close = on_close });
	if (!f)
		free(safe);
	else
		setvbuf(f, NULL, isatty(fd) ? _IOLBF : _IOFBF, 1 << 16);
	return f;
}
