/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

int kab_file_read(const char *path, struct kab_buf *ret, struct kab_err *err)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	char block[65536];
	ssize_t n;

	if (fd < 0)
		return kab_err_errno(err, errno == ENOENT ? KAB_ERR_NOT_FOUND : KAB_ERR_ENV,
				     "cannot open '%s'", path);
	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			kab_err_errno(err, KAB_ERR_ENV, "cannot read '%s'", path);
			break;
		}
		kab_buf_add(ret, block, (size_t)n);
		if (ret->cut)
			break;
	}
	if (fd != STDIN_FILENO)
		close(fd);
	return n < 0 ? -1 : 0;
}

static int write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t w = write(fd, data, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -1;
		data += w;
		n -= (size_t)w;
	}
	return 0;
}

int kab_file_write(const char *path, const void *data, size_t n, unsigned mode, struct kab_err *err)
{
	char *tmp kab_autofree = kab_xasprintf("%s.tmp.%ld", path, (long)getpid());
	int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (fd < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot create '%s'", tmp);
	if (write_all(fd, data, n) < 0 || fsync(fd) < 0) {
		kab_err_errno(err, KAB_ERR_ENV, "cannot write '%s'", tmp);
		close(fd);
		unlink(tmp);
		return -1;
	}
	close(fd);
	if (rename(tmp, path) < 0) {
		kab_err_errno(err, KAB_ERR_ENV, "cannot rename '%s' to '%s'", tmp, path);
		unlink(tmp);
		return -1;
	}
	return 0;
}

char *kab_file_absolute(const char *path)
{
	char *whole = path ? realpath(path, NULL) : NULL;

	return whole ? whole : kab_xstrdup(path);
}

int kab_file_mkdirs(const char *path, unsigned mode, struct kab_err *err)
{
	char *copy kab_autofree = kab_xstrdup(path);

	if (!*path)
		return kab_err_set(err, KAB_ERR_ENV, "cannot create a folder without a name");
	for (char *p = copy + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return kab_err_errno(err, KAB_ERR_ENV, "cannot create folder '%s'", copy);
		*p = c;
		if (!c)
			return 0;
	}
}

int kab_file_xdg(const char *what, char **ret, struct kab_err *err)
{
	static const struct {
		const char *what, *variable, *under_home;
	} places[] = {
		{ "DATA", "XDG_DATA_HOME", ".local/share" },
		{ "CONFIG", "XDG_CONFIG_HOME", ".config" },
		{ "STATE", "XDG_STATE_HOME", ".local/state" },
		{ "CACHE", "XDG_CACHE_HOME", ".cache" },
	};
	size_t i = 0;
	const char *dir, *home = getenv("HOME");

	while (strcmp(places[i].what, what))
		i++;
	dir = getenv(places[i].variable);
	if (dir && *dir == '/') {
		*ret = kab_xasprintf("%s/kab", dir);
		return 0;
	}
	if (home && *home == '/') {
		*ret = kab_xasprintf("%s/%s/kab", home, places[i].under_home);
		return 0;
	}
	return kab_err_set(err, KAB_ERR_ENV, "neither %s nor HOME is set; set one of them",
			   places[i].variable);
}
