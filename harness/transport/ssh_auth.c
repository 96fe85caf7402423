/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who we are: the keys that ssh_config names first, then what the agent holds. A server counts each
 * offer (MaxAuthTries 6 by default), so at most five are made, and told.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "transport/ssh_key.h"
#include "transport/ssh_session.h"

#define TRIES_MAX 5

struct auth {
	struct kab_ssh_session *s;
	const struct kab_wait *wait;
	struct kab_ssh_agent agent;
	struct kab_ssh_keys held; /* by the agent */
	bool *offered; /* one for each of held */
	int tries;
	bool done; /* logged in */
	struct kab_buf notes; /* keys that could not be used, for the error text */
};

/* What signs, for libssh2's callback. */
struct signer {
	struct auth *a;
	const struct kab_ssh_key *key; /* with .rsa, or one of the agent's */
	bool by_agent, sha512;
	struct kab_err err;
};

static int sign(LIBSSH2_SESSION *ssh, unsigned char **sig, size_t *sig_len,
		const unsigned char *data, size_t len, void **abstract)
{
	struct signer *g = *abstract;

	(void)ssh;
	if (g->by_agent)
		return kab_ssh_agent_sign(&g->a->agent, &g->key->blob, data, len, g->sha512 ? 4 : 0,
					  g->a->wait, sig, sig_len, &g->err);
	return kab_ssh_key_sign_rsa(g->key->rsa, g->sha512, data, len, sig, sig_len) ? 0 : -1;
}

static void note(struct auth *a, const char *path, const char *what)
{
	kab_buf_addf(&a->notes, "%s%s %s", a->notes.len ? "; " : "", path, what);
}

/* OpenSSH wants SHA-2 with RSA; Dropbear of that age knows only the old name. */
static bool wants_sha2(struct kab_ssh_session *s)
{
	const char *banner = libssh2_session_banner_get(s->ssh);

	return !banner || !strstr(banner, "dropbear");
}

/* 1: logged in; 0: refused, go on; -1: the end (err is set). */
static int judge(struct auth *a, int rc, const char *path, const struct kab_err *g_err,
		 struct kab_err *err)
{
	char *said = NULL;

	if (rc == KAB_SSH_STOP)
		return -1;
	a->tries++;
	if (rc == 0) {
		a->done = true;
		return 1;
	}
	libssh2_session_last_error(a->s->ssh, &said, NULL, 0);
	/* -19 with this text: the server closed instead of answering. */
	if (rc == LIBSSH2_ERROR_SOCKET_DISCONNECT || rc == LIBSSH2_ERROR_SOCKET_RECV ||
	    rc == LIBSSH2_ERROR_SOCKET_SEND || (said && strstr(said, "Waiting for"))) {
		a->s->dead = true;
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"host '%s': the server hung up after %d keys; name the right one "
			"as IdentityFile and set 'IdentitiesOnly yes' for this host",
			a->s->base.ep->name, a->tries);
	}
	if (said && strstr(said, "Callback"))
		note(a, path, g_err && g_err->text[0] ? g_err->text : "could not sign");
	else
		note(a, path, "was refused");
	return 0;
}

static int by_signer(struct auth *a, const struct kab_ssh_key *key, bool by_agent, const char *path,
		     struct kab_err *err)
{
	bool rsa = strcmp(key->type, "ssh-rsa") == 0;
	struct signer g = { .a = a, .key = key, .by_agent = by_agent };
	struct kab_buf blob kab_autobuf = KAB_BUF_INIT;
	void *abstract = &g;
	int rc;

	g.sha512 = rsa && wants_sha2(a->s);
	if (g.sha512)
		kab_ssh_key_rename(&key->blob, "rsa-sha2-512", &blob);
	else
		kab_buf_add(&blob, key->blob.data, key->blob.len);
	KAB_SSH_DO(rc, a->s, a->wait, "logging in", err,
		   libssh2_userauth_publickey(a->s->ssh, a->s->cfg.user, (unsigned char *)blob.data,
					      blob.len, sign, &abstract));
	return judge(a, rc, path, &g.err, err);
}

static int by_file(struct auth *a, const struct kab_ssh_key *key, struct kab_err *err)
{
	int rc;

	KAB_SSH_DO(rc, a->s, a->wait, "logging in", err,
		   libssh2_userauth_publickey_fromfile_ex(a->s->ssh, a->s->cfg.user,
							  (unsigned)strlen(a->s->cfg.user), NULL,
							  key->path, NULL));
	return judge(a, rc, key->path, NULL, err);
}

static size_t find_held(const struct auth *a, const struct kab_buf *blob)
{
	for (size_t i = 0; blob->len && i < a->held.n; i++)
		if (a->held.v[i].blob.len == blob->len &&
		    memcmp(a->held.v[i].blob.data, blob->data, blob->len) == 0)
			return i;
	return a->held.n;
}

/* One IdentityFile: by the agent if that has it (then no passphrase is needed), else by itself. */
static int try_file(struct auth *a, const char *path, struct kab_err *err)
{
	struct kab_err why = KAB_ERR_INIT;
	struct kab_ssh_key key;
	size_t at;
	int rc = kab_ssh_key_load(path, &key, &why);

	if (rc < 0)
		note(a, path, "cannot be read");
	if (rc != 0)
		return 0;
	at = find_held(a, &key.blob);
	if (at < a->held.n) {
		a->offered[at] = true;
		rc = by_signer(a, &a->held.v[at], true, path, err);
	} else if (!key.has_private) {
		note(a, path, "has only a public half here, and the agent does not hold it");
	} else if (key.encrypted) {
		note(a, path, "has a passphrase and is not in the agent (ssh-add it)");
	} else if (strncmp(key.type, "sk-", 3) == 0) {
		note(a, path, "is a hardware key (add it to the agent)");
	} else if (key.rsa) {
		rc = by_signer(a, &key, false, path, err);
	} else {
		rc = by_file(a, &key, err);
	}
	kab_ssh_key_release(&key);
	return rc;
}

static int try_keys(struct auth *a, struct kab_err *err)
{
	const struct kab_ssh_config *cfg = &a->s->cfg;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < cfg->identity_files.n && a->tries < TRIES_MAX; i++)
		rc = try_file(a, cfg->identity_files.v[i], err);
	for (size_t i = 0; rc == 0 && !cfg->identities_only && i < a->held.n; i++) {
		if (a->offered[i])
			continue;
		if (a->tries >= TRIES_MAX) {
			kab_buf_addf(&a->notes, "; %zu more keys of the agent were not offered",
				     a->held.n - i);
			break;
		}
		rc = by_signer(a, &a->held.v[i], true, a->held.v[i].path, err);
	}
	return rc;
}

static int refused(struct auth *a, struct kab_err *err)
{
	const struct kab_ssh_config *cfg = &a->s->cfg;

	if (!a->tries)
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"host '%s': no key to log in as '%s' with%s%s; name one as "
			"IdentityFile in ssh_config, or start an ssh-agent and ssh-add it",
			a->s->base.ep->name, cfg->user, a->notes.len ? ": " : "",
			kab_buf_str(&a->notes));
	return kab_err_set(err, KAB_ERR_AUTH,
			   "host '%s': none of %d keys was accepted for user '%s' (%s); put the "
			   "public key into its authorized_keys there, or name the right one as "
			   "IdentityFile with 'IdentitiesOnly yes'",
			   a->s->base.ep->name, a->tries, cfg->user, kab_buf_str(&a->notes));
}

/* The "none" request: tells the methods, or lets us in. 1: in; 0: go on; -1. */
static int ask_methods(struct kab_ssh_session *s, const struct kab_wait *wait, struct kab_err *err)
{
	char *list;

	while (!(
		list = libssh2_userauth_list(s->ssh, s->cfg.user, (unsigned)strlen(s->cfg.user)))) {
		int rc = libssh2_session_last_errno(s->ssh);

		if (libssh2_userauth_authenticated(s->ssh))
			return 1;
		if (rc != LIBSSH2_ERROR_EAGAIN)
			return kab_ssh_fail(s, rc, "logging in", err);
		if (kab_ssh_pause(s, wait, "logging in", err) < 0)
			return -1;
	}
	if (!strstr(list, "publickey"))
		return kab_err_set(err, KAB_ERR_AUTH,
				   "host '%s' takes no keys from user '%s', only: %s; allow "
				   "PubkeyAuthentication there",
				   s->base.ep->name, s->cfg.user, list);
	return 0;
}

int kab_ssh_authenticate(struct kab_ssh_session *s, const struct kab_wait *wait,
			 struct kab_err *err)
{
	struct auth a = { .s = s, .wait = wait };
	struct kab_err why = KAB_ERR_INIT;
	int rc = ask_methods(s, wait, err);

	if (rc != 0)
		return rc > 0 ? 0 : -1;
	if (kab_ssh_agent_open(&a.agent, s->cfg.identity_agent) == 0 &&
	    kab_ssh_agent_list(&a.agent, wait, &a.held, &why) < 0)
		note(&a, "the ssh-agent:", why.text);
	a.offered = kab_xcalloc(a.held.n + 1, sizeof(*a.offered));
	rc = try_keys(&a, err);
	if (rc == 0)
		rc = refused(&a, err);
	kab_ssh_agent_close(&a.agent);
	kab_ssh_keys_release(&a.held);
	kab_buf_release(&a.notes);
	free(a.offered);
	return rc > 0 ? 0 : -1;
}
