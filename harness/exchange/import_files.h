/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which files lie below a path, in an order that people expect (2 before 10). Symbolic links below it
 * are not followed, so that loops do no harm; they, hidden files, and what is no regular file, are
 * listed as not read. At most KAB_IMPORT_DEPTH_MAX folders deep and KAB_IMPORT_FILES_MAX files.
 * Blocks on disk.
 */
#ifndef KAB_EXCHANGE_IMPORT_FILES_H
#define KAB_EXCHANGE_IMPORT_FILES_H

#include "exchange/import.h"

#define KAB_IMPORT_DEPTH_MAX 24
#define KAB_IMPORT_FILES_MAX 200000

struct kab_import_file {
	char *path; /* to open it; owned */
	char *below; /* path below the folder that was named, "a/b"; "" for the file itself; owned */
};
struct kab_import_files {
	struct kab_import_file *v;
	size_t n, cap;
};

/* Appends; "-" is standard input. Whether `path` itself is a folder is told in *ret_folder (may be NULL). NOT_FOUND, ENV. */
int kab_import_walk(const char *path, struct kab_import_files *ret, bool *ret_folder,
		    struct kab_import *import, struct kab_err *err);
void kab_import_files_release(struct kab_import_files *files);
/* The last part of a path, or of what is below; borrowed. */
const char *kab_import_base(const char *path);

#endif
