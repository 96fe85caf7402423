/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of which kernel each file or folder of an import is, as the command line says. */
#ifndef KAB_CLI_IMPORT_SOURCES_H
#define KAB_CLI_IMPORT_SOURCES_H

#include "cli/cli.h"
#include "exchange/import_formats.h"

/* "LABEL=PATH", or a PATH of the only --kernel, or one whose kernels the reader finds. */
struct kab_source {
	char *kernel; /* owned; NULL: not told */
	const char *path; /* borrowed from the arguments */
};

struct kab_sources {
	struct kab_source *v;
	size_t n, cap;
	struct kab_strv labels; /* of --kernel, in that order */
};

/* --kernel LABEL=PATH and what stands without an option; --kernel LABEL is the kernel of those that
 * name none, and the order of kernels. *ret is to be released either way. 0, or -1 (USAGE). */
int kab_sources_find(const struct kab_args *args, struct kab_sources *ret, struct kab_err *err);
void kab_sources_release(struct kab_sources *sources);
/* As many as there are: those of the baseline first, then in the order of --kernel, then in that of the
 * words; caller frees *ret, what is in it is borrowed. USAGE when nothing is of a --kernel. */
int kab_sources_order(const struct kab_args *args, const struct kab_sources *sources,
		      struct kab_import_source **ret, struct kab_err *err);
/* The baseline to the front. Kernels that a reader found in folders have no order: then --baseline is
 * needed (USAGE). */
int kab_sources_baseline(const struct kab_args *args, const struct kab_sources *sources,
			 const char *format, struct kab_import *import, struct kab_err *err);

#endif
