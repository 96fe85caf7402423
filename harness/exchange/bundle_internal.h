/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of exchange/bundle.h. */
#ifndef KAB_EXCHANGE_BUNDLE_INTERNAL_H
#define KAB_EXCHANGE_BUNDLE_INTERNAL_H

#include "base/buf.h"
#include "exchange/bundle.h"
#include "store/dump.h"

#define KAB_BUNDLE_CHUNK ((size_t)256 << 10) /* bytes of output in a line */

/* ---- lines (bundle_write.c) ---- */

/* {"TABLE":{"column":value,...}} and LF. Text that is not UTF-8 is {"base64":"..."}. */
void kab_bundle_line(struct kab_buf *line, enum kab_dump_table table,
		     const struct kab_dump_value *values);
/* The hash over the lines of one run, its own last line apart, under the given name (NULL: its own). */
int kab_bundle_run_hash(struct kab_store *store, int64_t run_id, const char *name,
			const struct kab_bundle_opts *opts, char hex[KAB_SHA256_HEX_SIZE],
			struct kab_err *err);

/* ---- base64 (bundle_base64.c) ---- */
void kab_base64_encode(struct kab_buf *to, const char *data, size_t n);
/* -1 when it is not base64 with its padding. */
int kab_base64_decode(struct kab_buf *to, const char *text, size_t n);

/* ---- what is not told (bundle_anonymous.c) ---- */
/* The text without users, passwords and queries of URLs; NULL: there are none. Caller frees. */
char *kab_bundle_hide_secrets(const char *text);
struct kab_anonymous;
/* What has to be hidden of a run is gathered from its rows first. */
int kab_anonymous_new(struct kab_store *store, int64_t run_id, struct kab_anonymous **ret,
		      struct kab_err *err);
/* values are changed where they tell something; what they then point to lives until the next call. */
void kab_anonymous_row(struct kab_anonymous *a, enum kab_dump_table table,
		       struct kab_dump_value *values);
void kab_anonymous_free(struct kab_anonymous *a);

/* ---- reading lines (bundle_lines.c) ---- */
struct kab_bundle_lines;
int kab_bundle_lines_open(FILE *f, const char *file, struct kab_bundle_lines **ret,
			  struct kab_err *err);
void kab_bundle_lines_free(struct kab_bundle_lines *lines); /* not f */
/* 1 and the next line without its LF (borrowed until the next call), 0 at the end, -1. */
int kab_bundle_lines_next(struct kab_bundle_lines *lines, const char **ret, size_t *ret_n,
			  struct kab_err *err);
int64_t kab_bundle_lines_bytes(const struct kab_bundle_lines *lines); /* unpacked so far */
int64_t kab_bundle_lines_number(const struct kab_bundle_lines *lines); /* of the last line */

#endif
