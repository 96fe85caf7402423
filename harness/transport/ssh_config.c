/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "transport/ssh_config.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "transport/child.h"

void kab_ssh_config_release(struct kab_ssh_config *cfg)
{
	free(cfg->dest);
	free(cfg->hostname);
	free(cfg->user);
	free(cfg->host_key_alias);
	free(cfg->identity_agent);
	free(cfg->proxy_jump);
	free(cfg->proxy_command);
	free(cfg->address_family);
	free(cfg->strict_host_key_checking);
	kab_strv_release(&cfg->identity_files);
	kab_strv_release(&cfg->certificate_files);
	kab_strv_release(&cfg->known_hosts);
	*cfg = (struct kab_ssh_config){ 0 };
}

/* OpenSSH goes by the password file, not by $HOME. */
static void local_user(char **home, char **name)
{
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (getpwuid_r(getuid(), &pw, buf, sizeof(buf), &found) != 0)
		found = NULL;
	*home = kab_xstrdup(found ? found->pw_dir : "/");
	*name = kab_xstrdup(found ? found->pw_name : "");
}

static bool expand_token(const struct kab_ssh_config *cfg, char token, const char *home,
			 const char *me, struct kab_buf *out)
{
	switch (token) {
	case '%':
		kab_buf_addc(out, '%');
		return true;
	case 'd':
		kab_buf_adds(out, home);
		return true;
	case 'h':
		kab_buf_adds(out, cfg->hostname);
		return true;
	case 'i':
		kab_buf_addf(out, "%lu", (unsigned long)getuid());
		return true;
	case 'k':
		kab_buf_adds(out, cfg->host_key_alias ? cfg->host_key_alias : cfg->dest);
		return true;
	case 'n':
		kab_buf_adds(out, cfg->dest);
		return true;
	case 'p':
		kab_buf_addf(out, "%d", cfg->port);
		return true;
	case 'r':
		kab_buf_adds(out, cfg->user);
		return true;
	case 'u':
		kab_buf_adds(out, me);
		return true;
	default:
		return false;
	}
}

char *kab_ssh_config_expand(const struct kab_ssh_config *cfg, const char *text)
{
	struct kab_buf out = KAB_BUF_INIT;
	char *home kab_autofree = NULL;
	char *me kab_autofree = NULL;

	local_user(&home, &me);
	if (text[0] == '~' && (text[1] == '/' || !text[1])) {
		kab_buf_adds(&out, home);
		text++;
	}
	for (; *text; text++) {
		if (*text != '%') {
			kab_buf_addc(&out, *text);
		} else if (!text[1] || !expand_token(cfg, *++text, home, me, &out)) {
			kab_buf_release(&out);
			return NULL;
		}
	}
	return kab_buf_detach(&out);
}

char *kab_ssh_config_known_name(const struct kab_ssh_config *cfg)
{
	if (cfg->host_key_alias)
		return kab_xstrdup(cfg->host_key_alias);
	if (cfg->port != 22)
		return kab_xasprintf("[%s]:%d", cfg->hostname, cfg->port);
	return kab_xstrdup(cfg->hostname);
}

static void set(char **field, const char *value)
{
	free(*field);
	*field = strcmp(value, "none") == 0 ? NULL : kab_xstrdup(value);
}

static void take_line(struct kab_ssh_config *c, const char *key, const char *v)
{
	if (strcmp(key, "hostname") == 0)
		set(&c->hostname, v);
	else if (strcmp(key, "user") == 0)
		set(&c->user, v);
	else if (strcmp(key, "port") == 0)
		c->port = (int)strtol(v, NULL, 10);
	else if (strcmp(key, "hostkeyalias") == 0)
		set(&c->host_key_alias, v);
	else if (strcmp(key, "identityfile") == 0)
		kab_strv_add(&c->identity_files, v);
	else if (strcmp(key, "certificatefile") == 0)
		kab_strv_add(&c->certificate_files, v);
	else if (strcmp(key, "identitiesonly") == 0)
		c->identities_only = strcmp(v, "yes") == 0;
	else if (strcmp(key, "proxyjump") == 0)
		set(&c->proxy_jump, v);
	else if (strcmp(key, "proxycommand") == 0)
		set(&c->proxy_command, v);
	else if (strcmp(key, "connecttimeout") == 0)
		c->connect_timeout_s = (int)strtol(v, NULL, 10);
	else if (strcmp(key, "addressfamily") == 0)
		set(&c->address_family, v);
	else if (strcmp(key, "stricthostkeychecking") == 0)
		set(&c->strict_host_key_checking, v);
	else if (strcmp(key, "userknownhostsfile") == 0 || strcmp(key, "globalknownhostsfile") == 0)
		kab_strv_split(&c->known_hosts, v, ' ');
	else if (strcmp(key, "identityagent") == 0 && strcmp(v, "SSH_AUTH_SOCK") != 0) {
		free(c->identity_agent); /* "none" has a meaning of its own here */
		c->identity_agent = kab_xstrdup(v);
	}
}

static void expand_list(const struct kab_ssh_config *cfg, struct kab_strv *sv)
{
	struct kab_strv out = KAB_STRV_INIT;

	for (size_t i = 0; i < sv->n; i++) {
		char *path = *sv->v[i] && strcmp(sv->v[i], "none") != 0
				     ? kab_ssh_config_expand(cfg, sv->v[i])
				     : NULL;

		if (path)
			kab_strv_take(&out, path);
	}
	kab_strv_release(sv);
	*sv = out;
}

/* $NAME and %-tokens are allowed in IdentityAgent. */
static void expand_agent(struct kab_ssh_config *cfg)
{
	const char *text = cfg->identity_agent;
	char *path;

	if (!text || strcmp(text, "none") == 0)
		return;
	if (text[0] == '$')
		path = kab_xstrdup(getenv(text + 1) ? getenv(text + 1) : "none");
	else
		path = kab_ssh_config_expand(cfg, text);
	free(cfg->identity_agent);
	cfg->identity_agent = path;
}

int kab_ssh_config_parse(const char *text, const char *dest, struct kab_ssh_config *ret,
			 struct kab_err *err)
{
	struct kab_strv lines kab_autostrv = KAB_STRV_INIT;

	*ret = (struct kab_ssh_config){ .dest = kab_xstrdup(dest) };
	kab_strv_split(&lines, text, '\n');
	/* ssh -G names the system's files first; the user's files are looked at first. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < lines.n; i++) {
			char *line = lines.v[i];
			size_t n = strcspn(line, " ");
			bool is_global = strncmp(line, "globalknownhostsfile ", 21) == 0;

			if (!line[n] || is_global != (pass == 1))
				continue;
			line[n] = '\0';
			take_line(ret, line, line + n + 1);
			line[n] = ' ';
		}
	}
	if (!ret->hostname || !*ret->hostname || !ret->user || !*ret->user || ret->port < 1 ||
	    ret->port > 65535) {
		kab_ssh_config_release(ret);
		return kab_err_set(err, KAB_ERR_PARSE,
				   "'ssh -G %s' did not tell host name, user and port", dest);
	}
	expand_list(ret, &ret->identity_files);
	expand_list(ret, &ret->certificate_files);
	expand_list(ret, &ret->known_hosts);
	expand_agent(ret);
	return 0;
}

int kab_ssh_config_resolve(const char *dest, const char *file, int port,
			   const struct kab_wait *wait, struct kab_ssh_config *ret,
			   struct kab_err *err)
{
	struct kab_strv argv kab_autostrv = KAB_STRV_INIT;
	struct kab_exec_result res;
	struct kab_err why = KAB_ERR_INIT;
	int rc;

	*ret = (struct kab_ssh_config){ 0 };
	if (!*dest)
		return kab_err_set(err, KAB_ERR_CONFIG, "the ssh destination is empty");
	kab_strv_add(&argv, "ssh");
	kab_strv_add(&argv, "-T");
	kab_strv_add(&argv, "-G");
	if (file) {
		kab_strv_add(&argv, "-F");
		kab_strv_add(&argv, file);
	}
	if (port) {
		kab_strv_add(&argv, "-p");
		kab_strv_addf(&argv, "%d", port);
	}
	/* "--" first: a name that begins with '-' must not become an option. */
	kab_strv_add(&argv, "--");
	kab_strv_add(&argv, dest);
	struct kab_exec req = { .argv = (const char *const *)argv.v };
	if (kab_child_run(&req, wait, &res, &why) < 0) {
		if (why.os_errno == ENOENT)
			return kab_err_set(err, KAB_ERR_ENV,
					   "cannot read the ssh configuration: no 'ssh' on this "
					   "machine; install the package openssh-client");
		return kab_err_set(err, why.code, "reading the ssh configuration of '%s': %s%s",
				   dest, why.text,
				   why.code == KAB_ERR_TIMEOUT
					   ? "; does a command of 'Match exec' wait for something?"
					   : "");
	}
	if (res.exit_status != 0) {
		kab_buf_rtrim(&res.err, "\r\n");
		rc = kab_err_set(err, KAB_ERR_CONFIG, "ssh does not accept '%s': %s", dest,
				 kab_buf_str(&res.err));
	} else {
		rc = kab_ssh_config_parse(kab_buf_str(&res.out), dest, ret, err);
	}
	kab_exec_result_release(&res);
	return rc;
}
