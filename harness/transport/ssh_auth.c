/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who we are: the keys that ssh_config names first, then what the agent holds. A server counts each
 * offer (MaxAuthTries 6 by default), so at most five are made, and told.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/ssh_key.h"
#include "transport/ssh_session.h"
#include "transport/ssh_shared.h"

#define TRIES_MAX 5
/* A server waits two minutes for a login as a rule (LoginGraceTime), some only for seconds. */
#define GRACE_S 2

struct auth {
	struct kab_ssh_session *s;
	struct kab_wait *wait; /* its deadline moves on while a passphrase is typed */
	struct kab_ssh_agent agent;
	struct kab_ssh_keys held; /* by the agent */
	bool *offered; /* one for each of held */
	int tries;
	int locked; /* of them, keys that could not be opened */
	bool done; /* logged in */
	struct kab_buf notes; /* keys that could not be used, for the error text */
};

/* What signs, for libssh2's callback. */
struct signer {
	struct auth *a;
	const struct kab_ssh_key *key; /* with .rsa, or one of the agent's */
	bool by_agent, sha512;
	const char *locked; /* path of a key to be opened first, or NULL */
	struct kab_err err;
};

/* The server takes this key: only now is it worth a question. */
static int sign_locked(struct signer *g, const unsigned char *data, size_t len, unsigned char **sig,
		       size_t *sig_len)
{
	int64_t came = kab_now_mono_ns();
	struct kab_ssh_agent agent;
	const char *socket;
	int rc = kab_ssh_unlock(g->a->s->base.ep->shared, g->locked, g->a->wait, &socket, &g->err);

	g->a->s->asked = kab_now_mono_ns() - came > GRACE_S * KAB_NS_PER_S;
	if (rc < 0) {
		g->a->locked++;
		return -1;
	}
	if (kab_ssh_agent_open(&agent, socket) != 0)
		return kab_err_set(&g->err, KAB_ERR_ENV, "the agent that opened it is gone");
	rc = kab_ssh_agent_sign(&agent, &g->key->blob, data, len, g->sha512 ? 4 : 0, g->a->wait,
				sig, sig_len, &g->err);
	kab_ssh_agent_close(&agent);
	return rc;
}

static int sign(LIBSSH2_SESSION *ssh, unsigned char **sig, size_t *sig_len,
		const unsigned char *data, size_t len, void **abstract)
{
	struct signer *g = *abstract;

	(void)ssh;
	if (g->locked)
		return sign_locked(g, data, len, sig, sig_len);
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
		/* No server ends it after one key: it is going down, or the link is. */
		if (a->tries < 2)
			return kab_err_set(err, KAB_ERR_CONNECT,
					   "host '%s': the connection broke during the login",
					   a->s->base.ep->name);
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"host '%s': the server hung up after %d keys; name the right one "
			"as IdentityFile and set 'IdentitiesOnly yes' for this host",
			a->s->base.ep->name, a->tries);
	}
	if (g_err && g_err->code == KAB_ERR_CANCELLED) {
		if (err)
			*err = *g_err;
		return -1;
	}
	if (said && strstr(said, "Callback"))
		note(a, path, g_err && g_err->text[0] ? g_err->text : "could not sign");
	else
		note(a, path, "was refused");
	return 0;
}

enum by { BY_KEY, BY_AGENT, BY_LOCKED };

static int by_signer(struct auth *a, const struct kab_ssh_key *key, enum by by, const char *path,
		     struct kab_err *err)
{
	bool rsa = strcmp(key->type, "ssh-rsa") == 0;
	struct signer g = { .a = a,
			    .key = key,
			    .by_agent = by == BY_AGENT,
			    .locked = by == BY_LOCKED ? path : NULL };
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

/* certificate: file of it, or NULL */
static int by_file(struct auth *a, const struct kab_ssh_key *key, const char *certificate,
		   struct kab_err *err)
{
	int rc;

	KAB_SSH_DO(rc, a->s, a->wait, "logging in", err,
		   libssh2_userauth_publickey_fromfile_ex(a->s->ssh, a->s->cfg.user,
							  (unsigned)strlen(a->s->cfg.user),
							  certificate, key->path, NULL));
	return judge(a, rc, certificate ? certificate : key->path, NULL, err);
}

/* libssh2 can present certificates of ecdsa keys; of ed25519 ones since 1.11. */
static bool can_present(const char *type)
{
	return strncmp(type, "ecdsa-", 6) == 0 ||
	       (strncmp(type, "ssh-ed25519", 11) == 0 && libssh2_version(0x010b00));
}

static bool is_certificate(const char *type)
{
	return strstr(type, "-cert-v0") != NULL;
}

/* A certificate holds the key, behind its own type and a nonce. */
static bool certifies(const struct kab_ssh_key *cert, const struct kab_ssh_key *key)
{
	struct kab_ssh_reader r = { (const unsigned char *)key->blob.data, key->blob.len, false };
	size_t n;

	kab_ssh_read_string(&r, &n);
	return is_certificate(cert->type) && r.left &&
	       memmem(cert->blob.data, cert->blob.len, r.p, r.left);
}

/* With the certificate that belongs to a key of a file, if there is one. As judge. */
static int by_certificate(struct auth *a, const struct kab_ssh_key *key, struct kab_err *err)
{
	const struct kab_strv *named = &a->s->cfg.certificate_files;
	char *beside kab_autofree = kab_xasprintf("%s-cert.pub", key->path);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i <= named->n && a->tries < TRIES_MAX; i++) {
		const char *file = i < named->n ? named->v[i] : beside;
		struct kab_ssh_key cert;

		if (kab_ssh_key_load_public(file, &cert) != 0)
			continue;
		if (!certifies(&cert, key))
			;
		else if (can_present(cert.type) && !key->encrypted)
			rc = by_file(a, key, file, err);
		else
			note(a, file,
			     "is a certificate that this transport cannot use: set \"transport\": "
			     "\"openssh\" for this host in the lab file");
		kab_ssh_key_release(&cert);
	}
	return rc;
}

static size_t find_held(const struct auth *a, const struct kab_buf *blob)
{
	for (size_t i = 0; blob->len && i < a->held.n; i++)
		if (a->held.v[i].blob.len == blob->len &&
		    memcmp(a->held.v[i].blob.data, blob->data, blob->len) == 0)
			return i;
	return a->held.n;
}

static const char hardware[] = "is a hardware key: set \"transport\": \"openssh\" for this host in "
			       "the lab file";

/* An encrypted key in an old form without FILE.pub: only when it is open can it be offered. */
static int open_first(struct auth *a, struct kab_ssh_key *key, struct kab_err *err)
{
	struct kab_err why = KAB_ERR_INIT;
	struct kab_ssh_keys held = { 0 };
	struct kab_ssh_agent agent = { -1 };
	const char *socket;
	int rc = kab_ssh_unlock(a->s->base.ep->shared, key->path, a->wait, &socket, &why);

	if (rc == 0 && kab_ssh_agent_open(&agent, socket) == 0)
		rc = kab_ssh_agent_list(&agent, a->wait, &held, &why);
	for (size_t i = 0; i < held.n; i++)
		if (strcmp(held.v[i].path, key->path) == 0)
			kab_ssh_key_set_blob(key, held.v[i].blob.data, held.v[i].blob.len);
	kab_ssh_keys_release(&held);
	kab_ssh_agent_close(&agent);
	if (rc < 0 && why.code == KAB_ERR_CANCELLED) {
		if (err)
			*err = why;
		return -1;
	}
	if (!key->blob.len)
		note(a, key->path, why.text[0] ? why.text : "could not be opened");
	return 0;
}

static int try_locked(struct auth *a, struct kab_ssh_key *key, struct kab_err *err)
{
	int rc = 0;

	if (strncmp(key->type, "sk-", 3) == 0) {
		note(a, key->path, hardware);
		return 0;
	}
	if (!key->blob.len)
		rc = open_first(a, key, err);
	if (rc == 0 && key->blob.len)
		rc = by_certificate(a, key, err);
	if (rc == 0 && key->blob.len)
		rc = by_signer(a, key, BY_LOCKED, key->path, err);
	return rc;
}

/*
 * One IdentityFile: by the agent if that has it (then no passphrase is needed), else by itself. Those
 * with a passphrase are for the second pass: perhaps another key will do. *later counts them.
 */
static int try_file(struct auth *a, const char *path, bool locked, int *later, struct kab_err *err)
{
	struct kab_err why = KAB_ERR_INIT;
	struct kab_ssh_key key;
	size_t at;
	int rc = kab_ssh_key_load(path, &key, &why);

	if (rc < 0 && !locked)
		note(a, path, "cannot be read");
	if (rc != 0)
		return 0;
	at = find_held(a, &key.blob);
	if (key.encrypted && key.has_private && at == a->held.n) {
		++*later;
		if (locked)
			rc = try_locked(a, &key, err);
	} else if (locked) {
		rc = 0;
	} else if (at < a->held.n) {
		a->offered[at] = true;
		rc = by_signer(a, &a->held.v[at], BY_AGENT, path, err);
	} else if (!key.has_private) {
		note(a, path, "has only a public half here, and the agent does not hold it");
	} else if (strncmp(key.type, "sk-", 3) == 0) {
		note(a, path, hardware);
	} else {
		rc = by_certificate(a, &key, err);
		if (rc == 0 && a->tries < TRIES_MAX)
			rc = key.rsa ? by_signer(a, &key, BY_KEY, path, err)
				     : by_file(a, &key, NULL, err);
	}
	kab_ssh_key_release(&key);
	return rc;
}

/* A key that only the agent names. */
static int try_held(struct auth *a, size_t i, struct kab_err *err)
{
	const struct kab_ssh_key *key = &a->held.v[i];

	if (strncmp(key->type, "sk-", 3) == 0) {
		note(a, key->path, hardware);
		return 0;
	}
	if (is_certificate(key->type) && !can_present(key->type)) {
		note(a, key->path,
		     "is a certificate that this transport cannot use: set \"transport\": "
		     "\"openssh\" for this host in the lab file");
		return 0;
	}
	return by_signer(a, key, BY_AGENT, key->path, err);
}

static int try_keys(struct auth *a, struct kab_err *err)
{
	const struct kab_ssh_config *cfg = &a->s->cfg;
	int rc = 0, later = 0, ignored = 0;

	for (size_t i = 0; rc == 0 && i < cfg->identity_files.n && a->tries < TRIES_MAX; i++)
		rc = try_file(a, cfg->identity_files.v[i], false, &later, err);
	for (size_t i = 0; rc == 0 && !cfg->identities_only && i < a->held.n; i++) {
		if (a->offered[i])
			continue;
		if (a->tries >= TRIES_MAX - (later > 0)) {
			kab_buf_addf(&a->notes, "; %zu more keys of the agent were not offered",
				     a->held.n - i);
			break;
		}
		rc = try_held(a, i, err);
	}
	for (size_t i = 0; rc == 0 && later && i < cfg->identity_files.n && a->tries < TRIES_MAX;
	     i++)
		rc = try_file(a, cfg->identity_files.v[i], true, &ignored, err);
	return rc;
}

static int refused(struct auth *a, struct kab_err *err)
{
	const struct kab_ssh_config *cfg = &a->s->cfg;
	const char *name = a->s->base.ep->name;

	if (!a->tries)
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"host '%s': no key to log in as '%s' with%s%s; name one as "
			"IdentityFile in ssh_config, or start an ssh-agent and ssh-add it",
			name, cfg->user, a->notes.len ? ": " : "", kab_buf_str(&a->notes));
	if (a->locked == a->tries)
		return kab_err_set(err, KAB_ERR_AUTH,
				   "host '%s' would take a key from user '%s', but %s", name,
				   cfg->user, kab_buf_str(&a->notes));
	return kab_err_set(err, KAB_ERR_AUTH,
			   "host '%s': none of %d keys was accepted for user '%s' (%s); put the "
			   "public key into its authorized_keys there, or name the right one as "
			   "IdentityFile with 'IdentitiesOnly yes'",
			   name, a->tries, cfg->user, kab_buf_str(&a->notes));
}

/* No key will do: what the server wants instead, and what to do about it. Returns -1. */
static int wants_other(struct kab_ssh_session *s, const char *list, bool after_key,
		       struct kab_err *err)
{
	const char *name = s->base.ep->name, *user = s->cfg.user;

	if (after_key)
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"host '%s' took a key from user '%s' and wants %s as well, which nobody is "
			"there to answer; ask for an exception in its AuthenticationMethods",
			name, user, list);
	if (strstr(list, "gssapi"))
		return kab_err_set(err, KAB_ERR_AUTH,
				   "host '%s' takes no keys from user '%s', only: %s; for Kerberos "
				   "set \"transport\": \"openssh\" for this host in the lab file, "
				   "else allow PubkeyAuthentication there",
				   name, user, list);
	return kab_err_set(err, KAB_ERR_AUTH,
			   "host '%s' takes no keys from user '%s', only: %s; kab answers no "
			   "question for a password: allow PubkeyAuthentication in its sshd_config "
			   "and put a public key into %s's authorized_keys there",
			   name, user, list, user);
}

/* The "none" request: tells the methods, or lets us in. 1: in; 0: *list is borrowed; -1. */
static int ask_methods(struct kab_ssh_session *s, const struct kab_wait *wait, const char **list,
		       struct kab_err *err)
{
	while (!(*list = libssh2_userauth_list(s->ssh, s->cfg.user,
					       (unsigned)strlen(s->cfg.user)))) {
		int rc = libssh2_session_last_errno(s->ssh);

		if (libssh2_userauth_authenticated(s->ssh))
			return 1;
		if (rc != LIBSSH2_ERROR_EAGAIN)
			return kab_ssh_fail(s, rc, "logging in", err);
		if (kab_ssh_pause(s, wait, "logging in", err) < 0)
			return -1;
	}
	return 0;
}

/* None of the keys was the last word. A second look tells a key that is not enough from a wrong one. */
static int conclude(struct auth *a, struct kab_err *err)
{
	struct kab_err unused = KAB_ERR_INIT;
	const char *list;

	if (a->tries > a->locked && ask_methods(a->s, a->wait, &list, &unused) == 0 &&
	    !strstr(list, "publickey"))
		return wants_other(a->s, list, true, err);
	return refused(a, err);
}

int kab_ssh_authenticate(struct kab_ssh_session *s, struct kab_wait *wait, struct kab_err *err)
{
	struct auth a = { .s = s, .wait = wait };
	struct kab_err why = KAB_ERR_INIT;
	const char *list;
	int rc = ask_methods(s, wait, &list, err);

	if (rc != 0)
		return rc > 0 ? 0 : -1;
	if (!strstr(list, "publickey"))
		return wants_other(s, list, false, err);
	if (kab_ssh_agent_open(&a.agent, s->cfg.identity_agent) == 0 &&
	    kab_ssh_agent_list(&a.agent, wait, &a.held, &why) < 0)
		note(&a, "the ssh-agent:", why.text);
	a.offered = kab_xcalloc(a.held.n + 1, sizeof(*a.offered));
	rc = try_keys(&a, err);
	if (rc == 0)
		rc = conclude(&a, err);
	kab_ssh_agent_close(&a.agent);
	kab_ssh_keys_release(&a.held);
	kab_buf_release(&a.notes);
	free(a.offered);
	return rc > 0 ? 0 : -1;
}
