/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readers of other people's result files and folders. Each gets sources (a path, and a label where
 * the user named one) and fills a struct kab_import; nothing is stored. All block on disk.
 *
 * Common rules: what is found and not used is listed in `unread`; units and directions are those of
 * the format's documentation or none, and a note says which were taken for granted; symbolic links
 * inside folders are not followed; which values share a boot is known or it is said that it is not.
 */
#ifndef KAB_EXCHANGE_IMPORT_FORMATS_H
#define KAB_EXCHANGE_IMPORT_FORMATS_H

#include "exchange/import.h"

struct kab_import_source {
	const char *kernel; /* label; NULL: the reader finds it, or refuses */
	const char *path;
};

/* All may be 0, but exit_status, which is -1 when unknown. Borrowed. */
struct kab_import_from {
	const char *runner; /* of plain logs */
	const char *host, *case_name; /* instead of "import" and what the reader takes */
	const struct kab_params *params; /* of plain logs */
	int exit_status; /* of plain logs */
	const char *match; /* only files whose name fits this pattern (glob) */
	bool boots; /* each file (mmtests: each folder of a run) is from a boot of its own */
	int64_t repeat; /* how often perf stat -r repeated; 0: not told */
	/* Called now and then; may be NULL. */
	void (*progress)(void *ctx, size_t done, size_t all);
	void *ctx;
};

/* *ret is to be released either way. 0, or -1: PARSE with file and line, USAGE, NOT_FOUND, ENV. */
typedef int kab_import_reader(const struct kab_import_source *sources, size_t n,
			      const struct kab_import_from *from, struct kab_import *ret,
			      struct kab_err *err);

/* Logs of one benchmark (from->runner): each file is an iteration; below a folder, each sub-folder is
 * a boot when there are any. */
kab_import_reader kab_import_log_files;
/* Folders that mmtests wrote (work/log/RUN, or work/log): hackbench. A run is a kernel; iter-N are
 * repeated within one boot. */
kab_import_reader kab_import_mmtests;
/* Result roots of lkp-tests (.../hackbench/PARAMS/HOST/ROOTFS/KCONFIG/COMPILER/COMMIT/N, any folder
 * above or below): a commit is a kernel, each N a boot, but not of a local run. */
kab_import_reader kab_import_lkp;
/* perf stat -x or -j; with -r summaries, then from->repeat is needed. */
kab_import_reader kab_import_perf_stat;
/* hyperfine --export-json. */
kab_import_reader kab_import_hyperfine;
/* Tables of n, mean and standard deviation, CSV or JSON; kernels are named in them. */
kab_import_reader kab_import_summary_table;

struct kab_import_format {
	const char *name; /* as --from takes it */
	kab_import_reader *read;
};
/* NULL when there is none of that name. */
const struct kab_import_format *kab_import_format_find(const char *name);

#endif
