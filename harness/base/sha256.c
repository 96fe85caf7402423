/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sha256.h"

#include <openssl/evp.h>
#include <stdlib.h>

void kab_sha256_hex(const void *data, size_t n, char hex[KAB_SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	/* Fails only when no memory is left, which ends the program elsewhere too. */
	if (EVP_Digest(n ? data : "", n, md, &len, EVP_sha256(), NULL) != 1 || len != 32)
		abort();
	for (size_t i = 0; i < 32; i++) {
		hex[2 * i] = digits[md[i] >> 4];
		hex[2 * i + 1] = digits[md[i] & 15];
	}
	hex[64] = '\0';
}
