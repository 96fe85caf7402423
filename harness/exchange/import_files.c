/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/import_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "exchange/import_build.h"

void kab_import_files_release(struct kab_import_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		free(files->v[i].path);
		free(files->v[i].below);
	}
	free(files->v);
	*files = (struct kab_import_files){ 0 };
}

const char *kab_import_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void add_file(struct kab_import_files *ret, const char *path, const char *below)
{
	struct kab_import_file *f = KAB_PUSH(ret);

	f->path = kab_xstrdup(path);
	f->below = kab_xstrdup(below);
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int names_in(const char *path, struct kab_strv *ret, struct kab_err *err)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot read folder '%s'", path);
	while ((errno = 0, e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			kab_strv_add(ret, e->d_name);
	if (errno) {
		kab_err_errno(err, KAB_ERR_ENV, "cannot read folder '%s'", path);
		closedir(dir);
		return -1;
	}
	closedir(dir);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_version);
	return 0;
}

static int walk(const char *path, const char *below, int depth, struct kab_import_files *ret,
		struct kab_import *import, struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;

	if (depth > KAB_IMPORT_DEPTH_MAX)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "'%s' is more than %d folders deep; name a folder below it",
				   path, KAB_IMPORT_DEPTH_MAX);
	if (names_in(path, &names, err))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		char *full kab_autofree = kab_xasprintf("%s/%s", path, names.v[i]);
		char *rest kab_autofree =
			kab_xasprintf("%s%s%s", below, *below ? "/" : "", names.v[i]);
		struct stat st;

		if (ret->n >= KAB_IMPORT_FILES_MAX)
			return kab_err_set(err, KAB_ERR_CONFIG,
					   "more than %d files below '%s'; name a folder below it",
					   KAB_IMPORT_FILES_MAX, path);
		if (lstat(full, &st))
			kab_import_unread(import, full, strerror(errno));
		else if (names.v[i][0] == '.')
			kab_import_unread(import, full, "hidden");
		else if (S_ISLNK(st.st_mode))
			kab_import_unread(import, full, "a symbolic link, not followed");
		else if (S_ISDIR(st.st_mode) && walk(full, rest, depth + 1, ret, import, err))
			return -1;
		else if (S_ISREG(st.st_mode))
			add_file(ret, full, rest);
		else if (!S_ISDIR(st.st_mode))
			kab_import_unread(import, full, "no regular file");
	}
	return 0;
}

int kab_import_walk(const char *path, struct kab_import_files *ret, bool *ret_folder,
		    struct kab_import *import, struct kab_err *err)
{
	char *clean kab_autofree = kab_xstrdup(path);
	size_t n = strlen(clean);
	struct stat st;

	if (ret_folder)
		*ret_folder = false;
	if (!strcmp(path, "-")) { /* standard input */
		add_file(ret, path, "");
		return 0;
	}
	while (n > 1 && clean[n - 1] == '/')
		clean[--n] = '\0';
	if (stat(clean, &st))
		return kab_err_errno(err, errno == ENOENT ? KAB_ERR_NOT_FOUND : KAB_ERR_ENV,
				     "cannot open '%s'", clean);
	if (ret_folder)
		*ret_folder = S_ISDIR(st.st_mode);
	if (S_ISDIR(st.st_mode))
		return walk(clean, "", 0, ret, import, err);
	/* A pipe that the user names himself (a process substitution) is as good as a file. */
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is neither a file nor a folder",
				   clean);
	add_file(ret, clean, "");
	return 0;
}
