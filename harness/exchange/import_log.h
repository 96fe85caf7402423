/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs and other files of one iteration each: shared by the readers of this folder. */
#ifndef KAB_EXCHANGE_IMPORT_LOG_H
#define KAB_EXCHANGE_IMPORT_LOG_H

#include "exchange/import_build.h"
#include "exchange/import_formats.h"
#include "runners/runner.h"

/* One log, read by the runner; one without a figure is a failed iteration. Borrowed until the next
 * iteration is added. */
struct kab_import_iter *kab_import_add_log(struct kab_import *import,
					   const struct kab_runner *runner,
					   const struct kab_import_place *place,
					   const struct kab_import_log *log,
					   const struct kab_params *params, int exit_status);

/* What a reader makes of one file. */
typedef int kab_import_one(void *ctx, const struct kab_import_log *log, struct kab_import *ret,
			   struct kab_err *err);
/*
 * Every file of the sources in order, with its kernel and boot: sub-folders of a source are boots,
 * unless from->boots makes each file one. Says what became of boots in *ret, which may hold something
 * already. USAGE for a source without a kernel, CONFIG when boots are told of a part of the files only,
 * NOT_FOUND when there is no file.
 */
int kab_import_each_file(const struct kab_import_source *sources, size_t n,
			 const struct kab_import_from *from, kab_import_one *one, void *ctx,
			 struct kab_import *ret, struct kab_err *err);
/* Whether the name of the file fits from->match. */
bool kab_import_matches(const char *path, const struct kab_import_from *from);
/* Tell from->progress. */
void kab_import_tell(const struct kab_import_from *from, size_t done, size_t all);

#endif
