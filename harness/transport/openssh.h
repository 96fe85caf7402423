/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside the openssh transport: the system's `ssh` keeps one control connection open (the master),
 * commands go over it by further `ssh` processes. It serves what libssh2 cannot: RSA-only or hardened
 * servers, certificates, hardware keys, Kerberos.
 */
#ifndef KAB_TRANSPORT_OPENSSH_H
#define KAB_TRANSPORT_OPENSSH_H

#include <sys/types.h>

#include "transport/ssh_config.h"
#include "transport/transport.h"

/* A host that says nothing for so many keepalives is gone. */
#define KAB_OPENSSH_KEEPALIVES 3

struct kab_openssh {
	struct kab_session base;
	struct kab_ssh_config cfg;
	struct kab_strv options; /* words of ssh for a connection of its own, without the name */
	char *folder; /* private; holds the socket and what the master says */
	char *socket, *log;
	pid_t pid; /* of the master; in its group is a shell that ends it with us */
	int life; /* write end: closed when we are gone */
	bool dead;
	bool unlocked; /* keys with a passphrase were looked for */
	char mark[40]; /* line that separates rc-file chatter from output */
};

/* What the master has said so far, control characters made blanks; caller frees. */
char *kab_openssh_said(const struct kab_openssh *s);
/* The master ended before it was connected: what that means, and what to do. locked: what is the
 * matter with a key that has a passphrase, or NULL. Returns -1. */
int kab_openssh_refused(struct kab_openssh *s, const char *locked, const struct kab_wait *wait,
			struct kab_err *err);
/* The master of an open session is gone. Returns -1. */
int kab_openssh_lost(struct kab_openssh *s, const char *doing, struct kab_err *err);

#endif
