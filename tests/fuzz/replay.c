/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Feed files, and all files of folders, to a fuzz target: a corpus as an ordinary test. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "fuzz.h"

static size_t feed(const char *path)
{
	struct kab_buf kab_autobuf data = KAB_BUF_INIT;
	struct kab_err err = KAB_ERR_INIT;
	struct dirent *entry;
	struct stat st;
	size_t n = 0;
	DIR *dir;

	if (stat(path, &st)) {
		fprintf(stderr, "no such file: %s\n", path);
		exit(1);
	}
	if (!S_ISDIR(st.st_mode)) {
		if (kab_file_read(path, &data, &err)) {
			fprintf(stderr, "%s\n", err.text);
			exit(1);
		}
		fprintf(stderr, "%s\n", path); /* the last one is the culprit of an abort */
		LLVMFuzzerTestOneInput((const uint8_t *)kab_buf_str(&data), data.len);
		return 1;
	}
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		char *inner kab_autofree = kab_xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_name[0] != '.')
			n += feed(inner);
	}
	if (dir)
		closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	size_t n = 0;

	for (int i = 1; i < argc; i++)
		n += feed(argv[i]);
	printf("%zu inputs\n", n);
	/* An empty corpus would pass without having tested anything. */
	return n ? 0 : 1;
}
