/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "transport/ssh_key.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "transport/known_hosts.h"

#define KEY_FILE_MAX ((size_t)64 << 10)

void kab_ssh_key_release(struct kab_ssh_key *key)
{
	free(key->path);
	kab_buf_release(&key->blob);
	EVP_PKEY_free(key->rsa);
	*key = (struct kab_ssh_key){ 0 };
}

void kab_ssh_keys_release(struct kab_ssh_keys *keys)
{
	for (size_t i = 0; i < keys->n; i++)
		kab_ssh_key_release(&keys->v[i]);
	free(keys->v);
	*keys = (struct kab_ssh_keys){ 0 };
}

uint32_t kab_ssh_read_u32(struct kab_ssh_reader *r)
{
	uint32_t v;

	if (r->bad || r->left < 4) {
		r->bad = true;
		return 0;
	}
	memcpy(&v, r->p, 4);
	r->p += 4;
	r->left -= 4;
	return ntohl(v);
}

const unsigned char *kab_ssh_read_string(struct kab_ssh_reader *r, size_t *len)
{
	uint32_t n = kab_ssh_read_u32(r);
	const unsigned char *at = r->p;

	if (r->bad || n > r->left) {
		r->bad = true;
		*len = 0;
		return (const unsigned char *)"";
	}
	r->p += n;
	r->left -= n;
	*len = n;
	return at;
}

void kab_ssh_add_u32(struct kab_buf *buf, uint32_t v)
{
	v = htonl(v);
	kab_buf_add(buf, &v, 4);
}

void kab_ssh_add_string(struct kab_buf *buf, const void *p, size_t n)
{
	kab_ssh_add_u32(buf, (uint32_t)n);
	kab_buf_add(buf, p, n);
}

void kab_ssh_key_set_blob(struct kab_ssh_key *key, const void *blob, size_t len)
{
	struct kab_ssh_reader r = { blob, len, false };
	size_t n;
	const unsigned char *type = kab_ssh_read_string(&r, &n);

	kab_buf_clear(&key->blob);
	kab_buf_add(&key->blob, blob, len);
	snprintf(key->type, sizeof(key->type), "%.*s", (int)n, (const char *)type);
}

void kab_ssh_key_rename(const struct kab_buf *blob, const char *type, struct kab_buf *ret)
{
	struct kab_ssh_reader r = { (const unsigned char *)blob->data, blob->len, false };
	size_t n;

	kab_ssh_read_string(&r, &n);
	kab_ssh_add_string(ret, type, strlen(type));
	kab_buf_add(ret, r.p, r.left);
}

bool kab_ssh_key_sign_rsa(EVP_PKEY *rsa, bool sha512, const void *data, size_t len,
			  unsigned char **sig, size_t *sig_len)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok =
		ctx &&
		EVP_DigestSignInit(ctx, NULL, sha512 ? EVP_sha512() : EVP_sha1(), NULL, rsa) == 1 &&
		EVP_DigestSign(ctx, NULL, sig_len, data, len) == 1;

	*sig = NULL;
	if (ok) {
		*sig = kab_xmalloc(*sig_len);
		ok = EVP_DigestSign(ctx, *sig, sig_len, data, len) == 1;
	}
	if (!ok) {
		free(*sig);
		*sig = NULL;
	}
	EVP_MD_CTX_free(ctx);
	return ok;
}

/* n and e first, then what makes it private; the order is that of the OpenSSH file. */
static EVP_PKEY *make_rsa(struct kab_ssh_reader *r)
{
	static const char *const names[] = {
		OSSL_PKEY_PARAM_RSA_N,	     OSSL_PKEY_PARAM_RSA_E,
		OSSL_PKEY_PARAM_RSA_D,	     OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
		OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2,
	};
	OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	BIGNUM *bn[KAB_ARRAY_SIZE(names)] = { 0 };
	OSSL_PARAM *params = NULL;
	EVP_PKEY *key = NULL;
	bool ok = bld && ctx;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++) {
		size_t n;
		const unsigned char *p = kab_ssh_read_string(r, &n);

		bn[i] = BN_bin2bn(p, (int)n, NULL);
		/* The CRT parts are left out: OpenSSL wants all five or none. */
		if (ok && i < 3)
			ok = bn[i] && OSSL_PARAM_BLD_push_BN(bld, names[i], bn[i]);
	}
	if (ok && !r->bad)
		params = OSSL_PARAM_BLD_to_param(bld);
	if (!params || EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_KEYPAIR, params) != 1)
		key = NULL;
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(bld);
	EVP_PKEY_CTX_free(ctx);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++)
		BN_clear_free(bn[i]);
	return key;
}

/* "openssh-key-v1": the public half and the cipher stand in the clear. */
static bool read_openssh(struct kab_ssh_key *key, const struct kab_buf *raw)
{
	static const char magic[] = "openssh-key-v1";
	struct kab_ssh_reader r = { (const unsigned char *)raw->data, raw->len, false };
	struct kab_ssh_reader in;
	const unsigned char *p, *pub;
	size_t n, pub_len;

	if (r.left < sizeof(magic) || memcmp(r.p, magic, sizeof(magic)) != 0)
		return false;
	r.p += sizeof(magic);
	r.left -= sizeof(magic);
	p = kab_ssh_read_string(&r, &n);
	key->encrypted = n != 4 || memcmp(p, "none", 4) != 0;
	kab_ssh_read_string(&r, &n); /* kdf */
	kab_ssh_read_string(&r, &n);
	if (kab_ssh_read_u32(&r) != 1)
		return false;
	pub = kab_ssh_read_string(&r, &pub_len);
	p = kab_ssh_read_string(&r, &n);
	if (r.bad)
		return false;
	kab_ssh_key_set_blob(key, pub, pub_len);
	if (key->encrypted || strcmp(key->type, "ssh-rsa") != 0)
		return true;
	in = (struct kab_ssh_reader){ p, n, false };
	kab_ssh_read_u32(&in); /* two equal check numbers */
	kab_ssh_read_u32(&in);
	kab_ssh_read_string(&in, &n); /* type */
	key->rsa = make_rsa(&in);
	return key->rsa != NULL;
}

static int no_passphrase(char *buf, int size, int rwflag, void *ctx)
{
	(void)buf;
	(void)size;
	(void)rwflag;
	(void)ctx;
	return 0;
}

static void add_bignum(struct kab_buf *buf, const BIGNUM *bn)
{
	unsigned char raw[2049] = { 0 };
	int n = BN_num_bytes(bn);

	if (n >= (int)sizeof(raw))
		return;
	BN_bn2bin(bn, raw + 1);
	/* mpint: a leading zero byte keeps it positive */
	if (raw[1] & 0x80)
		kab_ssh_add_string(buf, raw, (size_t)n + 1);
	else
		kab_ssh_add_string(buf, raw + 1, (size_t)n);
}

/* Older forms; only RSA is taken apart, the others are left to libssh2. */
static void read_pem(struct kab_ssh_key *key, const char *text, size_t len)
{
	BIO *bio = BIO_new_mem_buf(text, (int)len);
	EVP_PKEY *pk = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	struct kab_buf blob = KAB_BUF_INIT;
	BIGNUM *n = NULL, *e = NULL;

	BIO_free(bio);
	if (pk && EVP_PKEY_get_base_id(pk) == EVP_PKEY_RSA &&
	    EVP_PKEY_get_bn_param(pk, OSSL_PKEY_PARAM_RSA_N, &n) == 1 &&
	    EVP_PKEY_get_bn_param(pk, OSSL_PKEY_PARAM_RSA_E, &e) == 1) {
		kab_ssh_add_string(&blob, "ssh-rsa", 7);
		add_bignum(&blob, e);
		add_bignum(&blob, n);
		kab_ssh_key_set_blob(key, blob.data, blob.len);
		key->rsa = pk;
		pk = NULL;
	}
	kab_buf_release(&blob);
	BN_free(n);
	BN_free(e);
	EVP_PKEY_free(pk);
}

static int read_file(const char *path, struct kab_buf *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char chunk[4096];
	ssize_t n;

	if (fd < 0)
		return -1;
	kab_buf_init(ret, KEY_FILE_MAX);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		kab_buf_add(ret, chunk, (size_t)n);
	close(fd);
	return n < 0 ? -1 : 0;
}

/* "TYPE BASE64 COMMENT". */
static void read_public_file(struct kab_ssh_key *key, const char *path)
{
	struct kab_buf text kab_autobuf = KAB_BUF_INIT;
	struct kab_buf blob kab_autobuf = KAB_BUF_INIT;
	const char *p;

	if (read_file(path, &text) < 0)
		return;
	p = kab_buf_str(&text);
	p += strcspn(p, " ");
	p += strspn(p, " ");
	if (kab_ssh_base64(p, strcspn(p, " \r\n"), &blob))
		kab_ssh_key_set_blob(key, blob.data, blob.len);
}

static void read_public(struct kab_ssh_key *key, const char *path)
{
	char *pub kab_autofree = kab_xasprintf("%s.pub", path);

	read_public_file(key, pub);
}

int kab_ssh_key_load_public(const char *path, struct kab_ssh_key *ret)
{
	*ret = (struct kab_ssh_key){ .path = kab_xstrdup(path) };
	read_public_file(ret, path);
	if (ret->blob.len)
		return 0;
	kab_ssh_key_release(ret);
	return -1;
}

int kab_ssh_key_load(const char *path, struct kab_ssh_key *ret, struct kab_err *err)
{
	static const char begin[] = "-----BEGIN OPENSSH PRIVATE KEY-----";
	struct kab_buf text = KAB_BUF_INIT;
	const char *at;
	bool ok = true;

	*ret = (struct kab_ssh_key){ .path = kab_xstrdup(path) };
	if (read_file(path, &text) < 0) {
		bool missing = errno == ENOENT || errno == ENOTDIR;

		if (missing)
			read_public(ret, path);
		if (ret->blob.len)
			return 0;
		if (!missing)
			kab_err_errno(err, KAB_ERR_CONFIG, "cannot read key '%s'", path);
		kab_ssh_key_release(ret);
		return missing ? 1 : -1;
	}
	ret->has_private = true;
	at = strstr(kab_buf_str(&text), begin);
	if (at) {
		struct kab_buf b64 kab_autobuf = KAB_BUF_INIT;
		struct kab_buf raw kab_autobuf = KAB_BUF_INIT;

		for (at += strlen(begin); *at && *at != '-'; at++)
			if (!strchr(" \r\n\t", *at))
				kab_buf_addc(&b64, *at);
		ok = kab_ssh_base64(kab_buf_str(&b64), b64.len, &raw) && read_openssh(ret, &raw);
		OPENSSL_cleanse(raw.data, raw.len);
		OPENSSL_cleanse(b64.data, b64.len);
	} else if (strstr(kab_buf_str(&text), "PRIVATE KEY-----")) {
		ret->encrypted = strstr(text.data, "ENCRYPTED") != NULL;
		if (!ret->encrypted)
			read_pem(ret, text.data, text.len);
		if (!ret->blob.len)
			read_public(ret, path);
	} else {
		ok = false;
	}
	if (text.data)
		OPENSSL_cleanse(text.data, text.len);
	kab_buf_release(&text);
	if (ok)
		return 0;
	kab_ssh_key_release(ret);
	return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is not a private key that can be read", path);
}
