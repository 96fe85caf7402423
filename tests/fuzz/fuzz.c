/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

void fuzz_must(bool holds, const char *what, const char *who)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", who, what);
	abort();
}

bool fuzz_printable(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || (unsigned char)*s == 0x7f)
			return false;
	return true;
}

void fuzz_check_err(int rc, const struct kab_err *err, const char *who)
{
	fuzz_must(rc == 0 || rc == -1, "neither 0 nor -1", who);
	fuzz_must((rc == -1) == (err->code != KAB_OK), "status and error disagree", who);
	fuzz_must(rc == 0 || *err->text, "an error without words", who);
	fuzz_must(err->code != KAB_ERR_INTERNAL, "a bug of ours", who);
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	return kab_xstrndup((const char *)data, size);
}

const char *fuzz_file(const void *data, size_t size)
{
	static char path[40]; /* of this process, which has one thread */
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size) {
		perror("memfd");
		abort();
	}
	return path;
}
