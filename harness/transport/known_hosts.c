/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "transport/known_hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "transport/child.h"

void kab_known_hosts_release(struct kab_known_hosts *kh)
{
	for (size_t i = 0; i < kh->n; i++) {
		free(kh->v[i].type);
		free(kh->v[i].file);
		kab_buf_release(&kh->v[i].blob);
	}
	free(kh->v);
	free(kh->name);
	*kh = (struct kab_known_hosts){ 0 };
}

bool kab_ssh_base64(const char *text, size_t len, struct kab_buf *ret)
{
	unsigned char *raw kab_autofree = kab_xmalloc(len / 4 * 3 + 3);
	size_t digits = len;
	int n;

	if (len == 0 || len % 4)
		return false;
	/* EVP_DecodeBlock takes '=' anywhere, and blanks around: then two texts would be one key. */
	while (digits > len - 2 && text[digits - 1] == '=')
		digits--;
	for (size_t i = 0; i < digits; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '+' && text[i] != '/')
			return false;
	n = EVP_DecodeBlock(raw, (const unsigned char *)text, (int)len);
	if (n < 0)
		return false;
	kab_buf_add(ret, raw, (size_t)n - (len - digits));
	return true;
}

char *kab_ssh_fingerprint(const void *blob, size_t len)
{
	unsigned char sum[EVP_MAX_MD_SIZE], text[4 * EVP_MAX_MD_SIZE / 3 + 5];
	unsigned int n = 0;

	if (!EVP_Digest(blob, len, sum, &n, EVP_sha256(), NULL))
		return kab_xstrdup("SHA256:?");
	EVP_EncodeBlock(text, sum, (int)n);
	text[strcspn((char *)text, "=")] = '\0';
	return kab_xasprintf("SHA256:%s", (char *)text);
}

/* "# Host NAME found: line 12 REVOKED", then the line itself. */
static bool read_found(const char *line, int *no, enum kab_known_marker *marker)
{
	static const char tag[] = " found: line ";
	const char *at = strncmp(line, "# Host ", 7) == 0 ? strstr(line, tag) : NULL;
	char *end;

	if (!at)
		return false;
	*no = (int)strtol(at + strlen(tag), &end, 10);
	*marker = strstr(end, "REVOKED") ? KAB_KNOWN_REVOKED
		  : strstr(end, "CA")	 ? KAB_KNOWN_CA
					 : KAB_KNOWN_PLAIN;
	return true;
}

static void add_line(struct kab_known_hosts *kh, const char *line, int no,
		     enum kab_known_marker marker, const char *file)
{
	struct kab_strv words kab_autostrv = KAB_STRV_INIT;
	size_t at = line[0] == '@' ? 2 : 1; /* marker, names, type, key */
	struct kab_buf blob = KAB_BUF_INIT;
	struct kab_known_key *key;
	const char *p = line;

	while (*p) {
		size_t n;

		p += strspn(p, " \t\r");
		n = strcspn(p, " \t\r");
		if (n)
			kab_strv_add_n(&words, p, n);
		p += n;
	}
	if (words.n < at + 2 || !kab_ssh_base64(words.v[at + 1], strlen(words.v[at + 1]), &blob)) {
		kab_buf_release(&blob);
		return;
	}
	key = KAB_PUSH(kh);
	key->marker = marker;
	key->type = kab_xstrdup(words.v[at]);
	key->blob = blob;
	key->file = kab_xstrdup(file);
	key->line = no;
}

void kab_known_hosts_read(struct kab_known_hosts *kh, const char *found, const char *file)
{
	struct kab_strv lines kab_autostrv = KAB_STRV_INIT;
	enum kab_known_marker marker;
	int no;

	kab_strv_split(&lines, found, '\n');
	for (size_t i = 0; i + 1 < lines.n; i++)
		if (read_found(lines.v[i], &no, &marker))
			add_line(kh, lines.v[++i], no, marker, file);
}

static int look_up(struct kab_known_hosts *kh, const char *file, const struct kab_wait *wait,
		   struct kab_err *err)
{
	const char *argv[] = { "ssh-keygen", "-F", kh->name, "-f", file, NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_exec_result res;

	if (access(file, R_OK) != 0)
		return 0;
	if (kab_child_run(&req, wait, &res, err) < 0)
		return kab_err_prefix(err, "looking up host keys in '%s'", file);
	kab_known_hosts_read(kh, kab_buf_str(&res.out), file);
	kab_exec_result_release(&res);
	return 0;
}

int kab_known_hosts_load(const struct kab_ssh_config *cfg, const struct kab_wait *wait,
			 struct kab_known_hosts *ret, struct kab_err *err)
{
	*ret = (struct kab_known_hosts){ .name = kab_ssh_config_known_name(cfg) };
	for (size_t i = 0; i < cfg->known_hosts.n; i++) {
		if (look_up(ret, cfg->known_hosts.v[i], wait, err) < 0) {
			kab_known_hosts_release(ret);
			return -1;
		}
	}
	return 0;
}

/* What libssh2 1.10 can verify, as OpenSSH orders it. */
static const char *const supported[] = {
	"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
	"ssh-rsa",
};

static bool knows_type(const struct kab_known_hosts *kh, const char *type)
{
	for (size_t i = 0; i < kh->n; i++)
		if (kh->v[i].marker == KAB_KNOWN_PLAIN && strcmp(kh->v[i].type, type) == 0)
			return true;
	return false;
}

char *kab_known_hosts_prefer(const struct kab_known_hosts *kh)
{
	struct kab_strv order kab_autostrv = KAB_STRV_INIT;

	for (int known = 1; known >= 0; known--)
		for (size_t i = 0; i < KAB_ARRAY_SIZE(supported); i++)
			if (knows_type(kh, supported[i]) == known)
				kab_strv_add(&order, supported[i]);
	return kab_strv_join(&order, ",");
}

/* The type string at the start of a key blob; caller frees. */
static char *blob_type(const void *blob, size_t len)
{
	uint32_t n;

	if (len < 4)
		return kab_xstrdup("?");
	memcpy(&n, blob, 4);
	n = ntohl(n);
	return n > len - 4 || n > 64 ? kab_xstrdup("?") : kab_xstrndup((const char *)blob + 4, n);
}

/* Where a key is added: the first of the user's files, or its usual place. */
static const char *user_file(const struct kab_ssh_config *cfg)
{
	return cfg->known_hosts.n ? cfg->known_hosts.v[0] : "~/.ssh/known_hosts";
}

/* "ssh-keyscan ... >>FILE", which writes the name that is looked up. */
static char *add_command(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			 const char *type)
{
	const char *short_type = strncmp(type, "ecdsa", 5) == 0	    ? "ecdsa"
				 : strcmp(type, "ssh-ed25519") == 0 ? "ed25519"
								    : "rsa";
	struct kab_buf cmd = KAB_BUF_INIT;

	kab_buf_addf(&cmd, "ssh-keyscan -t %s -p %d ", short_type, cfg->port);
	kab_quote_sh(&cmd, cfg->hostname);
	if (cfg->host_key_alias) {
		/* ssh-keyscan writes the host's name; the alias has to stand there instead. */
		char *sed kab_autofree = kab_xasprintf("s/^[^ ]*/%s/", kh->name);

		kab_buf_adds(&cmd, " | sed ");
		kab_quote_sh(&cmd, sed);
	}
	kab_buf_adds(&cmd, " >>");
	kab_quote_sh(&cmd, user_file(cfg));
	return kab_buf_detach(&cmd);
}

int kab_known_hosts_refuse(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			   const char *type, const char *print, struct kab_err *err)
{
	char *add kab_autofree = add_command(kh, cfg, type);
	const struct kab_known_key *other = NULL, *changed = NULL, *ca = NULL;

	for (size_t i = 0; i < kh->n; i++) {
		const struct kab_known_key *k = &kh->v[i];

		if (k->marker == KAB_KNOWN_CA)
			ca = k;
		else if (k->marker == KAB_KNOWN_PLAIN && strcmp(k->type, type) == 0)
			changed = k;
		else if (k->marker == KAB_KNOWN_PLAIN)
			other = k;
	}
	if (changed) {
		struct kab_buf remove kab_autobuf = KAB_BUF_INIT;

		kab_quote_sh(&remove, kh->name);
		kab_buf_adds(&remove, " -f ");
		kab_quote_sh(&remove, changed->file);
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"the host key of '%s' has changed: it shows the %s key %s, but "
			"another one is recorded in %s:%d. Somebody may be in between. If "
			"the host was reinstalled: ssh-keygen -R %s, then %s",
			kh->name, type, print, changed->file, changed->line, kab_buf_str(&remove),
			add);
	}
	if (other)
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"'%s' shows the %s key %s, but is only known by its %s key (%s:%d); "
			"after checking the fingerprint: %s",
			kh->name, type, print, other->type, other->file, other->line, add);
	if (ca)
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"'%s' is only known by a certificate authority (%s:%d), which this "
			"transport cannot check; it shows the %s key %s; after checking "
			"the fingerprint: %s",
			kh->name, ca->file, ca->line, type, print, add);
	return kab_err_set(err, KAB_ERR_AUTH,
			   "the host key of '%s' is not known: it shows the %s key %s; after "
			   "checking the fingerprint: %s",
			   kh->name, type, print, add);
}

int kab_known_hosts_check(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			  const void *blob, size_t len, struct kab_err *err)
{
	char *print kab_autofree = kab_ssh_fingerprint(blob, len);
	char *type kab_autofree = blob_type(blob, len);
	bool same = false;

	for (size_t i = 0; i < kh->n; i++) {
		const struct kab_known_key *k = &kh->v[i];
		bool equal = k->blob.len == len && memcmp(k->blob.data, blob, len) == 0;

		if (k->marker == KAB_KNOWN_REVOKED && equal)
			return kab_err_set(err, KAB_ERR_AUTH,
					   "the %s key of '%s' (%s) is marked as revoked in %s:%d; "
					   "do not use this host until it has a new key",
					   type, kh->name, print, k->file, k->line);
		same = same || (k->marker == KAB_KNOWN_PLAIN && equal);
	}
	return same ? 0 : kab_known_hosts_refuse(kh, cfg, type, print, err);
}
