/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is this the host's key? `ssh-keygen -F` finds the lines (hashed names, wildcards, negation,
 * markers); the comparing and the refusing are done here. StrictHostKeyChecking of ssh_config is not
 * looked at: only the lab file can say, host by host, that a key is taken that is not on record.
 *
 * The name is "[host]:port" for any port but 22. As for OpenSSH, a line without the port vouches for
 * its very key at other ports too, but says nothing of another key there.
 */
#ifndef KAB_TRANSPORT_KNOWN_HOSTS_H
#define KAB_TRANSPORT_KNOWN_HOSTS_H

#include "transport/ssh_config.h"

enum kab_known_marker { KAB_KNOWN_PLAIN, KAB_KNOWN_CA, KAB_KNOWN_REVOKED };

struct kab_known_key {
	enum kab_known_marker marker;
	char *type; /* "ssh-ed25519" */
	struct kab_buf blob; /* the public key as on the wire */
	char *file;
	int line;
	bool without_port; /* found under the host's name alone, for another port than 22 */
};

struct kab_known_hosts {
	struct kab_known_key *v;
	size_t n, cap;
	char *name; /* what was looked for */
	bool checks_ca; /* who asks has looked at certificates */
};

/* Look the host up in all its files. Files that do not exist are skipped. -1: ENV, TIMEOUT, ... */
int kab_known_hosts_load(const struct kab_ssh_config *cfg, const struct kab_wait *wait,
			 struct kab_known_hosts *ret, struct kab_err *err);
/* Tell ep's log, once for each, of lines in its files that are no keys: one of them may be meant for
 * this host. */
void kab_known_hosts_tell_faults(const struct kab_ssh_config *cfg, const struct kab_endpoint *ep);
/* What is wrong with a line of a known_hosts file, or NULL: it is a key, a comment, or empty. */
const char *kab_known_hosts_fault(const char *line);

/* The reading of `ssh-keygen -F` output alone: appends to *kh. Pure. file: where it looked. */
void kab_known_hosts_read(struct kab_known_hosts *kh, const char *found, const char *file);

/*
 * Host key algorithms in the order of preference: those of which a key is known first, because a
 * server that has several shows only one. Caller frees.
 */
char *kab_known_hosts_prefer(const struct kab_known_hosts *kh);

/*
 * 0: known. -1, AUTH: unknown, changed or revoked; the text says which, has the fingerprint and the
 * command that would change it.
 */
int kab_known_hosts_check(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			  const void *blob, size_t len, struct kab_err *err);
/* The same, but ep->host_key_check may take one that is not on record; an unknown one then gets on
 * record, and the log is told. */
int kab_known_hosts_admit(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			  const struct kab_endpoint *ep, const void *blob, size_t len,
			  struct kab_err *err);

/* Say of a key that is not recorded whether the host is unknown or its key has changed. type: as
 * "ssh-ed25519"; print: its fingerprint. Always -1, AUTH. */
int kab_known_hosts_refuse(const struct kab_known_hosts *kh, const struct kab_ssh_config *cfg,
			   const char *type, const char *print, struct kab_err *err);

void kab_known_hosts_release(struct kab_known_hosts *kh);

/* "SHA256:..." of a key blob, as ssh-keygen -l prints it; caller frees. */
char *kab_ssh_fingerprint(const void *blob, size_t len);
/* Base64 text without blanks to bytes. False when it is not base64. */
bool kab_ssh_base64(const char *text, size_t len, struct kab_buf *ret);

#endif
