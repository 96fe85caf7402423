/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private key files and the ssh-agent: what the ssh transport offers a server. Internal to it. */
#ifndef KAB_TRANSPORT_SSH_KEY_H
#define KAB_TRANSPORT_SSH_KEY_H

#include <openssl/evp.h>

#include "base/strv.h"
#include "transport/transport.h"

struct kab_ssh_key {
	char *path; /* or the comment of an agent's key */
	char type[48]; /* "ssh-ed25519" ...; "" when it cannot be told without the passphrase */
	struct kab_buf blob; /* public key as on the wire; empty when not known */
	bool encrypted;
	bool has_private; /* false: only FILE.pub is there, the agent may hold the rest */
	EVP_PKEY *rsa; /* of an RSA key in a file: libssh2 can only sign with SHA-1 */
};

/*
 * Look at an identity file (and FILE.pub). 0; 1 when there is nothing of that name; -1, CONFIG, with
 * a text that says why it cannot be used.
 */
int kab_ssh_key_load(const char *path, struct kab_ssh_key *ret, struct kab_err *err);
/* A file of a public key or certificate alone: 0 or -1. */
int kab_ssh_key_load_public(const char *path, struct kab_ssh_key *ret);
void kab_ssh_key_set_blob(struct kab_ssh_key *key, const void *blob, size_t len);
void kab_ssh_key_release(struct kab_ssh_key *key);

/* blob of an RSA key with the type string replaced: "rsa-sha2-512" asks for SHA-512. */
void kab_ssh_key_rename(const struct kab_buf *blob, const char *type, struct kab_buf *ret);
/* RSA signature over data; sha512 or else sha1. false when OpenSSL refuses. Caller frees *sig. */
bool kab_ssh_key_sign_rsa(EVP_PKEY *rsa, bool sha512, const void *data, size_t len,
			  unsigned char **sig, size_t *sig_len);

/* ---- big-endian fields of the SSH wire format ---- */
struct kab_ssh_reader {
	const unsigned char *p;
	size_t left;
	bool bad; /* something was missing; everything read after is empty */
};
uint32_t kab_ssh_read_u32(struct kab_ssh_reader *r);
/* A string field: borrowed bytes. */
const unsigned char *kab_ssh_read_string(struct kab_ssh_reader *r, size_t *len);
void kab_ssh_add_u32(struct kab_buf *buf, uint32_t v);
void kab_ssh_add_string(struct kab_buf *buf, const void *p, size_t n);

/* ---- ssh-agent, over its socket; every call ends at wait's deadline or 10 s ---- */
struct kab_ssh_agent {
	int fd; /* -1: none */
};
/* socket_path NULL: $SSH_AUTH_SOCK. 0; 1 when there is no agent. Never an error. */
int kab_ssh_agent_open(struct kab_ssh_agent *a, const char *socket_path);
void kab_ssh_agent_close(struct kab_ssh_agent *a);
/* Keys as blob and comment, appended to lists of the caller. -1: ENV or TIMEOUT. */
struct kab_ssh_keys {
	struct kab_ssh_key *v;
	size_t n, cap;
};
int kab_ssh_agent_list(struct kab_ssh_agent *a, const struct kab_wait *wait,
		       struct kab_ssh_keys *ret, struct kab_err *err);
/* flags 4: SHA-512 for RSA. *sig is the inner signature, caller frees. */
int kab_ssh_agent_sign(struct kab_ssh_agent *a, const struct kab_buf *blob, const void *data,
		       size_t len, uint32_t flags, const struct kab_wait *wait, unsigned char **sig,
		       size_t *sig_len, struct kab_err *err);
void kab_ssh_keys_release(struct kab_ssh_keys *keys);

#endif
