/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <unistd.h>

static void to_hex(const unsigned char *md, char hex[KAB_SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < 32; i++) {
		hex[2 * i] = digits[md[i] >> 4];
		hex[2 * i + 1] = digits[md[i] & 15];
	}
	hex[64] = '\0';
}

void kab_sha256_hex(const void *data, size_t n, char hex[KAB_SHA256_HEX_SIZE])
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	/* Fails only when no memory is left, which ends the program elsewhere too. */
	if (EVP_Digest(n ? data : "", n, md, &len, EVP_sha256(), NULL) != 1 || len != 32)
		abort();
	to_hex(md, hex);
}

int kab_sha256_file(const char *path, char hex[KAB_SHA256_HEX_SIZE], int64_t *ret_bytes,
		    struct kab_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int len = 0;
	char block[65536];
	EVP_MD_CTX *ctx;
	int64_t bytes = 0;
	ssize_t n;

	if (fd < 0)
		return kab_err_errno(err, errno == ENOENT ? KAB_ERR_NOT_FOUND : KAB_ERR_ENV,
				     "cannot open '%s'", path);
	ctx = EVP_MD_CTX_new();
	if (!ctx || EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1)
		abort();
	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			kab_err_errno(err, KAB_ERR_ENV, "cannot read '%s'", path);
			break;
		}
		if (EVP_DigestUpdate(ctx, block, (size_t)n) != 1)
			abort();
		bytes += n;
	}
	close(fd);
	if (EVP_DigestFinal_ex(ctx, md, &len) != 1 || len != 32)
		abort();
	EVP_MD_CTX_free(ctx);
	if (n < 0)
		return -1;
	to_hex(md, hex);
	if (ret_bytes)
		*ret_bytes = bytes;
	return 0;
}

/* An EVP_MD_CTX by another name, so that the header needs no OpenSSL. */
struct kab_sha256 *kab_sha256_begin(void)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	if (!ctx || EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1)
		abort();
	return (struct kab_sha256 *)ctx;
}

void kab_sha256_add(struct kab_sha256 *sum, const void *data, size_t n)
{
	if (n && EVP_DigestUpdate((EVP_MD_CTX *)sum, data, n) != 1)
		abort();
}

void kab_sha256_end(struct kab_sha256 *sum, char hex[KAB_SHA256_HEX_SIZE])
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	if (sum && hex) {
		if (EVP_DigestFinal_ex((EVP_MD_CTX *)sum, md, &len) != 1 || len != 32)
			abort();
		to_hex(md, hex);
	}
	EVP_MD_CTX_free((EVP_MD_CTX *)sum);
}
