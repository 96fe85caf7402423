/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bundles: whole runs in one file, for another kab. A bundle is JSON lines, compressed with zstd: a
 * header, for each run its rows (store/dump.h) and a line that ends it, and a last line with the SHA-256
 * of all bytes before it. Written and read line by line: memory does not depend on its size.
 * docs/exchange.md describes the lines.
 */
#ifndef KAB_EXCHANGE_BUNDLE_H
#define KAB_EXCHANGE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "store/store.h"

#define KAB_BUNDLE_FORMAT 1
/* What reading refuses: longer lines, and more bytes than this once unpacked. */
#define KAB_BUNDLE_LINE_MAX ((size_t)64 << 20)
#define KAB_BUNDLE_BYTES_MAX ((int64_t)64 << 30)

struct kab_bundle_opts {
	bool output; /* raw output, too; never with anonymous */
	bool anonymous; /* names of hosts and users, and folders, left out */
	const char *kab_version;
};

struct kab_bundle_info {
	char sha256[KAB_SHA256_HEX_SIZE];
	int64_t bytes; /* unpacked */
	int64_t lines;
	size_t runs;
};

/* Write the runs to f, in their order. Messages call the file `file`. */
int kab_bundle_write(struct kab_store *store, const int64_t *run_ids, size_t n,
		     const struct kab_bundle_opts *opts, FILE *f, const char *file,
		     struct kab_bundle_info *ret, struct kab_err *err);

/* What became of the runs of a bundle: a name each. */
struct kab_bundle_result {
	struct kab_bundle_info info;
	struct kab_strv wished; /* as they are called in the bundle */
	struct kab_strv names; /* as they are called here */
	struct {
		bool *v; /* it is here already, and nothing was stored */
		size_t n, cap;
	} here;
	struct {
		char **v; /* name of another state of the same run that is here, or NULL */
		size_t n, cap;
	} other;
	bool anonymous, output;
};
void kab_bundle_result_release(struct kab_bundle_result *result);

/* The whole file is checked first, then all of it is stored or nothing. want_sha256 (may be NULL): what
 * the hash has to be. PARSE: it is no bundle, damaged, cut off, changed, or of a newer format. */
int kab_bundle_read(struct kab_store *store, const char *file, const char *want_sha256,
		    const char *kab_version, struct kab_bundle_result *ret, struct kab_err *err);
/* Do these bytes begin a zstd file? */
bool kab_bundle_is(const char *bytes, size_t n);

#endif
