/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of foreign results share: filling a struct kab_import. Pure but for reading files. */
#ifndef KAB_EXCHANGE_IMPORT_BUILD_H
#define KAB_EXCHANGE_IMPORT_BUILD_H

#include "base/buf.h"
#include "exchange/import.h"

/* Where a figure belongs. Borrowed; NULL host is "import", other NULLs are "". */
struct kab_import_place {
	const char *kernel, *host, *condition, *case_name, *row_key, *runner;
};

/* A further iteration, state DONE, status "ok", exit status unknown, no parameters; kernel, host and
 * case are entered in the lists. boot NULL: unknown. Borrowed until the next one is added. */
struct kab_import_iter *kab_import_add(struct kab_import *import,
				       const struct kab_import_place *place, const char *boot);
/* It failed: why (copied). */
void kab_import_fail(struct kab_import *import, struct kab_import_iter *iter, const char *reason);
/* A summary. PARSE (of `where`) when n, mean or sd cannot be, or when there is one already. */
int kab_import_add_summary(struct kab_import *import, const struct kab_import_place *place,
			   const char *metric, const char *unit, enum kab_direction dir, int64_t n,
			   double mean, double sd, const char *where, struct kab_err *err);
/* This metric of this case carries a verdict, once. PARSE (of `where`, may be NULL) when it had
 * another direction before. */
int kab_import_judge(struct kab_import *import, const char *case_name, const char *runner,
		     const char *metric, const char *unit, enum kab_direction dir,
		     const char *where, struct kab_err *err);
/* A sentence, once. */
void kab_import_note(struct kab_import *import, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same, to stand under every table as well. */
void kab_import_caveat(struct kab_import *import, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* path is escaped. */
void kab_import_unread(struct kab_import *import, const char *path, const char *why);
/* Bytes that came from elsewhere, fit for a message and for JSON. Caller frees. */
char *kab_import_shown(const char *text);
/* The file, and its digest into the list. NOT_FOUND, ENV. */
int kab_import_read(struct kab_import *import, const char *path, struct kab_buf *ret,
		    struct kab_err *err);
/* The same for bytes that are there. */
void kab_import_digest(struct kab_import *import, const void *bytes, size_t n);

#endif
