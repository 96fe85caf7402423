/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 (FIPS 180-4) as lower-case hex, for identities and checksums. Does not block. */
#ifndef KAB_BASE_SHA256_H
#define KAB_BASE_SHA256_H

#include <stddef.h>

#define KAB_SHA256_HEX_SIZE 65 /* 64 digits and the NUL */

/* data may be NULL while n is 0. */
void kab_sha256_hex(const void *data, size_t n, char hex[KAB_SHA256_HEX_SIZE]);

#endif
