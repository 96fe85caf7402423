/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "transport/known_hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "transport/child.h"
#include "transport/ssh_shared.h"

#define FILE_MAX ((size_t)16 << 20)
/* Lines that are named of a file that is something else altogether. */
#define FAULTS_MAX 10

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

static void split_words(const char *line, struct kab_strv *ret)
{
	while (*line) {
		size_t n;

		line += strspn(line, " \t\r");
		n = strcspn(line, " \t\r");
		if (n)
			kab_strv_add_n(ret, line, n);
		line += n;
	}
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

/* Words "names type key ..." from words.v[at - 1] on; fills in blob. NULL, or what is wrong. */
static const char *read_key(const struct kab_strv *words, size_t at, struct kab_buf *blob)
{
	char *type kab_autofree = NULL;

	if (words->n < at + 2)
		return "it ends before the key";
	if (!kab_ssh_base64(words->v[at + 1], strlen(words->v[at + 1]), blob))
		return "the key is not base64";
	type = blob_type(blob->data, blob->len);
	return strcmp(type, words->v[at]) ? "the key is not of the type that stands before it"
					  : NULL;
}

const char *kab_known_hosts_fault(const char *line)
{
	struct kab_strv words kab_autostrv = KAB_STRV_INIT;
	struct kab_buf blob kab_autobuf = KAB_BUF_INIT;

	split_words(line, &words);
	if (!words.n || words.v[0][0] == '#')
		return NULL;
	if (words.v[0][0] == '@' && strcmp(words.v[0], "@revoked") &&
	    strcmp(words.v[0], "@cert-authority"))
		return "its marker is not known";
	return read_key(&words, words.v[0][0] == '@' ? 2 : 1, &blob);
}

static void add_line(struct kab_known_hosts *kh, const char *line, int no,
		     enum kab_known_marker marker, const char *file)
{
	struct kab_strv words kab_autostrv = KAB_STRV_INIT;
	size_t at = line[0] == '@' ? 2 : 1; /* marker, names, type, key */
	struct kab_buf blob = KAB_BUF_INIT;
	struct kab_known_key *key;

	split_words(line, &words);
	if (read_key(&words, at, &blob)) {
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

/* Not a pipe, which would be waited for. */
static bool is_readable_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0;
}

static int look_up(struct kab_known_hosts *kh, const char *name, const char *file,
		   const struct kab_wait *wait, struct kab_err *err)
{
	const char *argv[] = { "ssh-keygen", "-F", name, "-f", file, NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_exec_result res;

	if (!is_readable_file(file))
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
	bool other_port = !cfg->host_key_alias && cfg->port != 22;
	size_t named;
	int rc = 0;

	*ret = (struct kab_known_hosts){ .name = kab_ssh_config_known_name(cfg) };
	for (size_t i = 0; rc == 0 && i < cfg->known_hosts.n; i++)
		rc = look_up(ret, ret->name, cfg->known_hosts.v[i], wait, err);
	/* Asked for only where it can matter: a process less for each host. */
	named = ret->n;
	for (size_t i = 0; rc == 0 && other_port && !named && i < cfg->known_hosts.n; i++)
		rc = look_up(ret, cfg->hostname, cfg->known_hosts.v[i], wait, err);
	for (size_t i = named; i < ret->n; i++)
		ret->v[i].without_port = true;
	if (rc < 0)
		kab_known_hosts_release(ret);
	return rc;
}

static void tell_faults_of(const char *file, const struct kab_endpoint *ep)
{
	struct kab_buf text kab_autobuf = { .max = FILE_MAX };
	char *p, *next;
	int no = 1, faults = 0;

	if (!is_readable_file(file) || kab_file_read(file, &text, NULL) < 0 || !text.len)
		return;
	for (p = text.data; p && *p; p = next, no++) {
		const char *fault;

		next = strchr(p, '\n');
		if (next)
			*next++ = '\0';
		fault = kab_known_hosts_fault(p);
		if (!fault)
			continue;
		if (++faults > FAULTS_MAX) {
			if (kab_ssh_shared_first(ep->shared, file, no))
				kab_log(ep->log, KAB_LOG_WARN,
					"%s:%d: and so on; is this a known_hosts file?", file, no);
			return;
		}
		if (kab_ssh_shared_first(ep->shared, file, no))
			kab_log(ep->log, KAB_LOG_WARN, "%s:%d: this line is skipped: %s", file, no,
				fault);
	}
}

void kab_known_hosts_tell_faults(const struct kab_ssh_config *cfg, const struct kab_endpoint *ep)
{
	for (size_t i = 0; ep->log && i < cfg->known_hosts.n; i++)
		tell_faults_of(cfg->known_hosts.v[i], ep);
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
	/* Added to the first of the user's files. */
	kab_buf_adds(&cmd, " >>");
	if (cfg->known_hosts.n)
		kab_quote_sh(&cmd, cfg->known_hosts.v[0]);
	else
		kab_buf_adds(&cmd, "FILE, and name that as UserKnownHostsFile in ssh_config, which "
				   "names none");
	return kab_buf_detach(&cmd);
}

int kab_known_hosts_refuse(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			   const char *type, const char *print, struct kab_err *err)
{
	char *add kab_autofree = add_command(kh, cfg, type);
	const struct kab_known_key *other = NULL, *changed = NULL, *ca = NULL;

	for (size_t i = kh->n; i-- > 0;) {
		const struct kab_known_key *k = &kh->v[i];

		if (k->without_port)
			continue;
		if (k->marker == KAB_KNOWN_CA)
			ca = k;
		else if (k->marker == KAB_KNOWN_PLAIN && strcmp(k->type, type) == 0)
			changed = k;
		else if (k->marker == KAB_KNOWN_PLAIN)
			other = k;
	}
	if (changed) {
		struct kab_buf remove kab_autobuf = KAB_BUF_INIT;
		char *before kab_autofree =
			kab_ssh_fingerprint(changed->blob.data, changed->blob.len);

		kab_quote_sh(&remove, kh->name);
		kab_buf_adds(&remove, " -f ");
		kab_quote_sh(&remove, changed->file);
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"the host key of '%s' has changed: it shows the %s key %s, but %s "
			"is recorded in %s:%d. Somebody may be in between. If "
			"the host was reinstalled: ssh-keygen -R %s, then %s",
			kh->name, type, print, before, changed->file, changed->line,
			kab_buf_str(&remove), add);
	}
	if (other)
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"'%s' shows the %s key %s, but is only known by its %s key (%s:%d); "
			"after checking the fingerprint: %s",
			kh->name, type, print, other->type, other->file, other->line, add);
	if (ca && kh->checks_ca)
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"'%s' is only known by a certificate authority (%s:%d), and has no "
			"certificate of it (HostCertificate) for its %s key %s; after checking the "
			"fingerprint: %s",
			kh->name, ca->file, ca->line, type, print, add);
	if (ca)
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"'%s' is only known by a certificate authority (%s:%d), which the "
			"transport 'ssh' cannot check; it shows the %s key %s; set \"transport\": "
			"\"openssh\" for this host in the lab file, or after checking the "
			"fingerprint: %s",
			kh->name, ca->file, ca->line, type, print, add);
	return kab_err_set(err, KAB_ERR_AUTH,
			   "the host key of '%s' is not known: it shows the %s key %s; after "
			   "checking the fingerprint: %s",
			   kh->name, type, print, add);
}

/* 1: on record; 0: not; -1: revoked. */
static int look_at(const struct kab_known_hosts *kh, const char *type, const char *print,
		   const void *blob, size_t len, struct kab_err *err)
{
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
	return same;
}

int kab_known_hosts_check(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			  const void *blob, size_t len, struct kab_err *err)
{
	char *print kab_autofree = kab_ssh_fingerprint(blob, len);
	char *type kab_autofree = blob_type(blob, len);
	int rc = look_at(kh, type, print, blob, len, err);

	return rc == 0 ? kab_known_hosts_refuse(kh, cfg, type, print, err) : rc < 0 ? -1 : 0;
}

/* As ssh does it: one line at the end of the user's first file. */
static int put_on_record(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			 const char *type, const void *blob, size_t len, struct kab_err *err)
{
	const char *path = cfg->known_hosts.n ? cfg->known_hosts.v[0] : NULL;
	unsigned char *text kab_autofree = kab_xmalloc(4 * (len / 3 + 1) + 1);
	char *line kab_autofree = NULL;
	ssize_t n;
	int fd;

	if (!path)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "'%s' has no UserKnownHostsFile for its new key", kh->name);
	EVP_EncodeBlock(text, blob, (int)len);
	line = kab_xasprintf("%s %s %s\n", kh->name, type, (char *)text);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	n = fd < 0 ? -1 : write(fd, line, strlen(line));
	if (n != (ssize_t)strlen(line))
		kab_err_errno(err, KAB_ERR_ENV, "cannot add the key of '%s' to '%s'", kh->name,
			      path);
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(line) ? 0 : -1;
}

/* Not on record. What the lab file has to say about that. */
static int take_or_refuse(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			  const struct kab_endpoint *ep, const char *type, const char *print,
			  const void *blob, size_t len, struct kab_err *err)
{
	bool has_plain = false;

	for (size_t i = 0; i < kh->n; i++)
		has_plain =
			has_plain || (kh->v[i].marker == KAB_KNOWN_PLAIN && !kh->v[i].without_port);
	if (ep->host_key_check == KAB_HOST_KEY_STRICT ||
	    (ep->host_key_check == KAB_HOST_KEY_ACCEPT_NEW && has_plain))
		return kab_known_hosts_refuse(kh, cfg, type, print, err);
	if (!has_plain && put_on_record(kh, cfg, type, blob, len, err) < 0)
		return -1;
	kab_log(ep->log, KAB_LOG_WARN,
		"host '%s': %s the %s key %s of '%s' unchecked, as its "
		"\"host_key_check\" says",
		ep->name, has_plain ? "took" : "took and put on record", type, print, kh->name);
	return 0;
}

int kab_known_hosts_admit(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			  const struct kab_endpoint *ep, const void *blob, size_t len,
			  struct kab_err *err)
{
	char *print kab_autofree = kab_ssh_fingerprint(blob, len);
	char *type kab_autofree = blob_type(blob, len);
	int rc = look_at(kh, type, print, blob, len, err);

	if (rc == 0)
		return take_or_refuse(kh, cfg, ep, type, print, blob, len, err);
	return rc < 0 ? -1 : 0;
}
