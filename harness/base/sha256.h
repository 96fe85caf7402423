/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 (FIPS 180-4) as lower-case hex, for identities and checksums. */
#ifndef KAB_BASE_SHA256_H
#define KAB_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define KAB_SHA256_HEX_SIZE 65 /* 64 digits and the NUL */

/* data may be NULL while n is 0. */
void kab_sha256_hex(const void *data, size_t n, char hex[KAB_SHA256_HEX_SIZE]);
/* Of a whole file, read in pieces; *ret_bytes (may be NULL) is its size. Blocks on disk. NOT_FOUND
 * when there is none, ENV when it cannot be read (a folder, say). */
int kab_sha256_file(const char *path, char hex[KAB_SHA256_HEX_SIZE], int64_t *ret_bytes,
		    struct kab_err *err);
/* In pieces: begin, add any number of times, then end, which frees. */
struct kab_sha256;
struct kab_sha256 *kab_sha256_begin(void);
void kab_sha256_add(struct kab_sha256 *sum, const void *data, size_t n);
/* sum NULL is fine; hex NULL: only free it. */
void kab_sha256_end(struct kab_sha256 *sum, char hex[KAB_SHA256_HEX_SIZE]);

#endif
