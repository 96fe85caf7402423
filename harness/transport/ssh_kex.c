/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "transport/ssh_kex.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "transport/ssh_key.h"

#define MSG_KEXINIT 20
#define COOKIE_BYTES 16
/* Of a list, in a message. */
#define SHOWN_MAX 160

/* In the order of the packet; what is the same both ways is looked at once. */
static const struct {
	const char *what;
	int method; /* of libssh2; -1: host keys, of which ours are given */
} lists[] = {
	{ "key exchange (KexAlgorithms)", LIBSSH2_METHOD_KEX },
	{ "host keys (HostKeyAlgorithms)", -1 },
	{ "ciphers (Ciphers)", LIBSSH2_METHOD_CRYPT_CS },
	{ "ciphers (Ciphers)", LIBSSH2_METHOD_CRYPT_SC },
	{ "MACs (MACs)", LIBSSH2_METHOD_MAC_CS },
	{ "MACs (MACs)", LIBSSH2_METHOD_MAC_SC },
};

/* Past the greeting, and the lines that may stand before it. NULL: it is not there. */
static const char *skip_greeting(const struct kab_buf *hello)
{
	const char *p = hello->data, *end = p + hello->len;

	while (p && p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));

		if (!lf)
			return NULL;
		if (end - p >= 4 && memcmp(p, "SSH-", 4) == 0)
			return lf + 1;
		p = lf + 1;
	}
	return NULL;
}

static void our_list(LIBSSH2_SESSION *ssh, int method, const char *host_keys, struct kab_strv *ret)
{
	const char **algs = NULL;
	int n;

	if (method < 0) {
		kab_strv_split(ret, host_keys, ',');
		return;
	}
	n = libssh2_session_supported_algs(ssh, method, &algs);
	for (int i = 0; i < n; i++)
		kab_strv_add(ret, algs[i]);
	if (n > 0)
		libssh2_free(ssh, algs);
}

static char *describe(const char *what, const char *list)
{
	bool rsa_only = strstr(what, "host keys") && strstr(list, "rsa") &&
			!strstr(list, "ed25519") && !strstr(list, "ecdsa");

	return kab_xasprintf("%s: the server has only %s%.*s%s", what,
			     rsa_only ? "an RSA host key, " : "", SHOWN_MAX, list,
			     strlen(list) > SHOWN_MAX ? "..." : "");
}

char *kab_ssh_kex_mismatch(LIBSSH2_SESSION *ssh, const struct kab_buf *hello, const char *host_keys)
{
	const char *p = skip_greeting(hello);
	struct kab_ssh_reader r;

	if (!p)
		return NULL;
	r = (struct kab_ssh_reader){ (const unsigned char *)p,
				     hello->len - (size_t)(p - hello->data), false };
	kab_ssh_read_u32(&r); /* length of the packet */
	if (r.bad || r.left < 2 + COOKIE_BYTES || r.p[1] != MSG_KEXINIT)
		return NULL;
	r.p += 2 + COOKIE_BYTES;
	r.left -= 2 + COOKIE_BYTES;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(lists); i++) {
		struct kab_strv ours kab_autostrv = KAB_STRV_INIT,
				     theirs kab_autostrv = KAB_STRV_INIT;
		char *list kab_autofree = NULL;
		const unsigned char *at;
		bool match = false;
		size_t n;

		at = kab_ssh_read_string(&r, &n);
		if (r.bad)
			return NULL;
		list = kab_xstrndup((const char *)at, n);
		kab_strv_split(&theirs, list, ',');
		our_list(ssh, lists[i].method, host_keys, &ours);
		for (size_t k = 0; k < theirs.n; k++)
			match = match || kab_strv_has(&ours, theirs.v[k]);
		if (!match)
			return describe(lists[i].what, list);
	}
	return NULL;
}
