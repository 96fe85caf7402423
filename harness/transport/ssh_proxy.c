/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ProxyJump and ProxyCommand by a helper process whose stdio is our socket. Jump hosts are reached
 * by the system's `ssh -W`, each by its own settings, keys and known_hosts; host keys are checked
 * and nothing is asked (StrictHostKeyChecking=yes, BatchMode=yes), on every hop. The chain is
 * written out here, hop by hop, as nested ProxyCommands: plain -J would drop those two options on
 * all hops but the last, and would follow a circle for ever.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "transport/ssh_session.h"

#define HOPS_MAX 8

struct hop {
	char *user; /* NULL: as configured */
	char *host;
	int port; /* 0: as configured */
};

struct chain {
	struct hop *v; /* in the order in which they are passed */
	size_t n, cap;
};

static void chain_release(struct chain *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].user);
		free(c->v[i].host);
	}
	free(c->v);
	*c = (struct chain){ 0 };
}

/* [ssh://][user@]host[:port], also [v6]:port */
static int read_hop(const char *text, struct hop *hop, struct kab_err *err)
{
	const char *at, *p = text, *colon;
	char *end;

	*hop = (struct hop){ 0 };
	if (strncmp(p, "ssh://", 6) == 0)
		p += 6;
	at = strrchr(p, '@');
	if (at) {
		hop->user = kab_xstrndup(p, (size_t)(at - p));
		p = at + 1;
	}
	if (*p == '[' && strchr(p, ']')) {
		const char *close = strchr(p, ']');

		hop->host = kab_xstrndup(p + 1, (size_t)(close - p - 1));
		colon = close[1] == ':' ? close + 1 : NULL;
	} else {
		colon = strchr(p, ':');
		if (colon && strchr(colon + 1, ':'))
			colon = NULL; /* a bare IPv6 address */
		hop->host = colon ? kab_xstrndup(p, (size_t)(colon - p)) : kab_xstrdup(p);
	}
	if (colon) {
		long port = strtol(colon + 1, &end, 10);

		hop->port = *end || port < 1 || port > 65535 ? -1 : (int)port;
	}
	if (!*hop->host || hop->host[0] == '-' || hop->port < 0)
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is not a jump host", text);
	return 0;
}

/* Append what has to be passed before cfg's host, by the settings of each hop. */
static int add_hops(const struct kab_ssh_config *cfg, const char *file, struct kab_strv *path,
		    const struct kab_wait *wait, struct chain *chain, struct kab_err *err)
{
	struct kab_strv list kab_autostrv = KAB_STRV_INIT;
	struct kab_ssh_config first;
	struct hop hop;
	int rc = 0;

	if (!cfg->proxy_jump)
		return 0;
	kab_strv_split(&list, cfg->proxy_jump, ',');
	if (read_hop(list.v[0], &hop, err) < 0) {
		free(hop.user);
		free(hop.host);
		return -1;
	}
	/* Only the first of a list is reached by its own proxy; the others are reached through it. */
	if (kab_strv_has(path, hop.host) || path->n >= HOPS_MAX) {
		char *walk kab_autofree = kab_strv_join(path, " -> ");

		rc = kab_err_set(err, KAB_ERR_CONFIG, "jump hosts go in a circle: %s -> %s", walk,
				 hop.host);
	} else {
		kab_strv_add(path, hop.host);
		rc = kab_ssh_config_resolve(hop.host, file, hop.port, wait, &first, err);
		if (rc == 0) {
			if (first.proxy_jump)
				rc = add_hops(&first, file, path, wait, chain, err);
			kab_ssh_config_release(&first);
		}
	}
	if (rc == 0)
		*KAB_PUSH(chain) = hop;
	else {
		free(hop.user);
		free(hop.host);
	}
	for (size_t i = 1; rc == 0 && i < list.n; i++)
		rc = read_hop(list.v[i], KAB_PUSH(chain), err);
	return rc;
}

static void add_ssh(struct kab_strv *argv, const char *file, const struct hop *hop,
		    const char *target, int port, const char *through)
{
	kab_strv_add(argv, "ssh");
	if (file) {
		kab_strv_add(argv, "-F");
		kab_strv_add(argv, file);
	}
	kab_strv_add(argv, "-oBatchMode=yes");
	kab_strv_add(argv, "-oStrictHostKeyChecking=yes");
	kab_strv_add(argv, "-oClearAllForwardings=yes");
	kab_strv_add(argv, "-oControlPath=none");
	if (through)
		kab_strv_addf(argv, "-oProxyCommand=%s", through);
	if (hop->user) {
		kab_strv_add(argv, "-l");
		kab_strv_add(argv, hop->user);
	}
	if (hop->port) {
		kab_strv_add(argv, "-p");
		kab_strv_addf(argv, "%d", hop->port);
	}
	kab_strv_add(argv, "-W");
	kab_strv_addf(argv, strchr(target, ':') ? "[%s]:%d" : "%s:%d", target, port);
	kab_strv_add(argv, "--");
	kab_strv_add(argv, hop->host);
}

/* As a ProxyCommand, where % is special. */
static char *as_command(const struct kab_strv *argv)
{
	char *line kab_autofree = kab_quote_argv((const char *const *)argv->v);
	struct kab_buf out = KAB_BUF_INIT;

	for (const char *p = line; *p; p++) {
		if (*p == '%')
			kab_buf_addc(&out, '%');
		kab_buf_addc(&out, *p);
	}
	return kab_buf_detach(&out);
}

/* The process for hop i that connects to the given target; nested for the hops before. */
static int build(const struct chain *chain, const char *file, const struct kab_ssh_config *cfg,
		 const struct kab_wait *wait, struct kab_strv *argv, struct kab_err *err)
{
	char *through = NULL;

	for (size_t i = 0; i < chain->n; i++) {
		struct kab_strv one kab_autostrv = KAB_STRV_INIT;
		struct kab_ssh_config next;

		if (i + 1 == chain->n) {
			add_ssh(argv, file, &chain->v[i], cfg->hostname, cfg->port, through);
			break;
		}
		if (kab_ssh_config_resolve(chain->v[i + 1].host, file, chain->v[i + 1].port, wait,
					   &next, err) < 0) {
			free(through);
			return -1;
		}
		add_ssh(&one, file, &chain->v[i], next.hostname, next.port, through);
		kab_ssh_config_release(&next);
		free(through);
		through = as_command(&one);
	}
	free(through);
	return 0;
}

int kab_ssh_proxy_argv(const struct kab_ssh_config *cfg, const char *ssh_config_file,
		       const struct kab_wait *wait, struct kab_strv *argv, struct kab_err *err)
{
	struct kab_strv path kab_autostrv = KAB_STRV_INIT;
	struct chain chain = { 0 };
	int rc;

	if (cfg->proxy_command) {
		/* As OpenSSH does it: the user's own words, by the user's own shell language. */
		char *command = kab_ssh_config_expand(cfg, cfg->proxy_command);

		if (!command)
			return kab_err_set(err, KAB_ERR_CONFIG,
					   "ProxyCommand '%s' has a %% token that is not known",
					   cfg->proxy_command);
		kab_strv_add(argv, "sh");
		kab_strv_add(argv, "-c");
		kab_strv_addf(argv, "exec %s", command);
		free(command);
		return 0;
	}
	if (!cfg->proxy_jump)
		return 1;
	kab_strv_add(&path, cfg->dest);
	rc = add_hops(cfg, ssh_config_file, &path, wait, &chain, err);
	if (rc == 0)
		rc = build(&chain, ssh_config_file, cfg, wait, argv, err);
	chain_release(&chain);
	return rc;
}
