/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of this machine, and where the program's own are. These block on disk. */
#ifndef KAB_BASE_FILE_H
#define KAB_BASE_FILE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Append the file to *ret (its max holds, then cut is set). "-" is standard input.
 * NOT_FOUND when there is none, ENV for other failures. */
int kab_file_read(const char *path, struct kab_buf *ret, struct kab_err *err);
/* Write whole: a temporary beside it, fsync, rename. */
int kab_file_write(const char *path, const void *data, size_t n, unsigned mode,
		   struct kab_err *err);
/* The path from the root, links resolved; as it is given when there is nothing of that name, NULL for
 * NULL. Caller frees. */
char *kab_file_absolute(const char *path);
/* mkdir -p, mode 0755 (0700 where private). */
int kab_file_mkdirs(const char *path, unsigned mode, struct kab_err *err);
/* $XDG_<what>_HOME/kab, or the default under $HOME; what is "DATA", "CONFIG", "STATE" or "CACHE".
 * ENV error when neither variable is set. Caller frees *ret. */
int kab_file_xdg(const char *what, char **ret, struct kab_err *err);

#endif
