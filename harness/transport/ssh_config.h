/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The user's ssh_config, as OpenSSH itself reads it: `ssh -G` is asked, so aliases, Match, Include
 * and canonical names mean here what they mean there.
 */
#ifndef KAB_TRANSPORT_SSH_CONFIG_H
#define KAB_TRANSPORT_SSH_CONFIG_H

#include <stdbool.h>

#include "base/strv.h"
#include "transport/transport.h"

/* Effective settings of one destination. Strings are owned; NULL means not set. */
struct kab_ssh_config {
	char *dest; /* as the user names it */
	char *hostname; /* where to connect to */
	char *user;
	int port;
	char *host_key_alias;
	struct kab_strv identity_files; /* expanded paths; they need not exist */
	struct kab_strv certificate_files; /* expanded paths; not used by this transport */
	struct kab_strv known_hosts; /* the user's files, then the system's */
	bool identities_only;
	char *identity_agent; /* socket path, "none", or NULL: $SSH_AUTH_SOCK */
	char *proxy_jump; /* as written: "a,user@b:22" */
	char *proxy_command; /* as written, with its % tokens */
	int connect_timeout_s; /* 0: none given */
	char *address_family; /* "any", "inet", "inet6" */
	/* As configured; shown only. Host keys are checked whatever it says. */
	char *strict_host_key_checking;
};

/*
 * Run `ssh -G` for dest. file: for -F, or NULL; port: 0 or one that wins over the file. Blocks for
 * some 15 ms as a rule, until the deadline at most. -1: CONFIG (ssh rejects the file or the name),
 * ENV (no ssh client here), TIMEOUT, CANCELLED.
 */
int kab_ssh_config_resolve(const char *dest, const char *file, int port,
			   const struct kab_wait *wait, struct kab_ssh_config *ret,
			   struct kab_err *err);

/* The reading of `ssh -G` output alone; pure but for the home folder. -1: PARSE. */
int kab_ssh_config_parse(const char *text, const char *dest, struct kab_ssh_config *ret,
			 struct kab_err *err);

/*
 * Expand a leading ~ and the tokens %% %d %h %i %n %p %r %u (%k is the host key alias or the name).
 * Caller frees; NULL when there is a token that is not known.
 */
char *kab_ssh_config_expand(const struct kab_ssh_config *cfg, const char *text);

/* As a name for known_hosts: the alias, the host name, or "[host]:port". Caller frees. */
char *kab_ssh_config_known_name(const struct kab_ssh_config *cfg);

void kab_ssh_config_release(struct kab_ssh_config *cfg);

#endif
