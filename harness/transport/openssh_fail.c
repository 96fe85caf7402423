/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `ssh` prints, in the words that the ssh transport has for it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "transport/child.h"
#include "transport/known_hosts.h"
#include "transport/openssh.h"
#include "transport/ssh_session.h"

#define TAIL_MAX 400
/* Another connection, only to see which key the server has. */
#define LOOK_S 15

static bool has(const char *text, const char *what)
{
	return strstr(text, what) != NULL;
}

/* For a message: the end is what matters, banners of servers come first. */
static const char *tail(const char *said)
{
	size_t len = strlen(said);

	return len > TAIL_MAX ? said + len - TAIL_MAX : said;
}

static char *one_line(const char *text, size_t len)
{
	struct kab_buf out kab_autobuf = KAB_BUF_INIT;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		bool blank = c <= ' ' || c >= 127;

		if (!blank)
			kab_buf_addc(&out, (char)c);
		else if (out.len && out.data[out.len - 1] != ' ')
			kab_buf_addc(&out, ' ');
	}
	kab_buf_rtrim(&out, " ");
	return kab_buf_detach(&out);
}

char *kab_openssh_said(const struct kab_openssh *s)
{
	struct kab_buf text kab_autobuf = { .max = (size_t)64 << 10 };

	if (!s->log || kab_file_read(s->log, &text, NULL) < 0)
		return kab_xstrdup("");
	return one_line(kab_buf_str(&text), text.len);
}

/* "debug1: Server host key: TYPE FINGERPRINT" from a second, talkative try. */
static bool see_key(struct kab_openssh *s, const struct kab_wait *wait, char **type, char **print)
{
	static const char label[] = "Server host key: ";
	struct kab_strv argv kab_autostrv = KAB_STRV_INIT;
	struct kab_wait w = kab_ssh_limit(wait, LOOK_S);
	struct kab_exec_result res;
	struct kab_err unused;
	const char *at;
	size_t n, m;

	kab_strv_add(&argv, "ssh");
	kab_strv_add(&argv, "-v");
	kab_strv_copy(&argv, &s->options);
	kab_strv_add(&argv, "-oControlPath=none");
	kab_strv_add(&argv, "--");
	kab_strv_add(&argv, s->cfg.dest);
	kab_strv_add(&argv, "true");
	struct kab_exec req = { .argv = (const char *const *)argv.v };
	if (kab_child_run(&req, &w, &res, &unused) < 0)
		return false;
	/* The last one: jump hosts have said theirs before. */
	at = NULL;
	for (const char *p = kab_buf_str(&res.err); (p = strstr(p, label)); p += sizeof(label) - 1)
		at = p + sizeof(label) - 1;
	if (at) {
		n = strcspn(at, " \r\n");
		m = at[n] == ' ' ? strcspn(at + n + 1, " \r\n") : 0;
		*type = kab_xstrndup(at, n);
		*print = kab_xstrndup(m ? at + n + 1 : "?", m ? m : 1);
	}
	kab_exec_result_release(&res);
	return at != NULL;
}

static int host_key(struct kab_openssh *s, const char *said, const struct kab_wait *wait,
		    struct kab_err *err)
{
	struct kab_known_hosts known = { 0 };
	char *type kab_autofree = NULL, *print kab_autofree = NULL;
	int rc = -1;

	/* ssh itself has judged; here it is only put into words. */
	if (has(said, "REVOKED HOST KEY"))
		kab_err_set(err, KAB_ERR_AUTH,
			    "the key of '%s' is marked as revoked in known_hosts; do not use this "
			    "host until it has a new key",
			    s->cfg.hostname);
	else if (see_key(s, wait, &type, &print) &&
		 kab_known_hosts_load(&s->cfg, wait, &known, err) == 0) {
		known.checks_ca = true;
		rc = kab_known_hosts_refuse(&known, &s->cfg, type, print, err);
	} else
		kab_err_set(err, KAB_ERR_AUTH, "ssh does not take the host key: %s", tail(said));
	kab_known_hosts_release(&known);
	return rc;
}

int kab_openssh_refused(struct kab_openssh *s, const char *locked, const struct kab_wait *wait,
			struct kab_err *err)
{
	char *said kab_autofree = kab_openssh_said(s);
	const char *name = s->base.ep->name, *host = s->cfg.hostname;

	if (has(said, "host key is known for") || has(said, "HOST IDENTIFICATION HAS CHANGED") ||
	    has(said, "REVOKED HOST KEY") || has(said, "Host key verification failed")) {
		/* Of a jump host it is said as ssh says it. */
		char *known kab_autofree = kab_ssh_config_known_name(&s->cfg);

		if (has(said, known) || !s->cfg.proxy_jump)
			host_key(s, said, wait, err);
		else
			kab_err_set(err, KAB_ERR_AUTH,
				    "ssh does not take the key of a jump host: %s", tail(said));
		return kab_err_prefix(err, "host '%s'", name);
	}
	if (has(said, "Permission denied") || has(said, "Too many authentication failures"))
		return kab_err_set(
			err, KAB_ERR_AUTH,
			"host '%s': none of the keys was accepted for user '%s' (ssh says: "
			"%s%s%s); "
			"put the public key into its authorized_keys there, or name the right one "
			"as IdentityFile with 'IdentitiesOnly yes'",
			name, s->cfg.user, tail(said), locked ? "; " : "", locked ? locked : "");
	if (has(said, "Unable to negotiate"))
		return kab_err_set(
			err, KAB_ERR_CONNECT,
			"host '%s': no algorithm in common (ssh says: %s); see "
			"HostKeyAlgorithms, Ciphers, MACs and KexAlgorithms in ssh_config",
			name, tail(said));
	if (has(said, "Could not resolve hostname"))
		return kab_err_set(err, KAB_ERR_CONNECT,
				   "host '%s': no address for '%s'; check the name (ssh says: %s)",
				   name, host, tail(said));
	if (kab_ssh_text_dropped(said))
		return kab_err_set(
			err, KAB_ERR_CONNECT,
			"host '%s': the server closed the connection before it said anything: "
			"too many logins at once (MaxStartups), a firewall, or it is no ssh server "
			"(ssh says: %s)",
			name, tail(said));
	return kab_err_set(err, KAB_ERR_CONNECT, "host '%s' (%s port %d): cannot connect: %s", name,
			   host, s->cfg.port, *said ? tail(said) : "ssh ended without a word");
}

int kab_openssh_lost(struct kab_openssh *s, const char *doing, struct kab_err *err)
{
	char *said kab_autofree = kab_openssh_said(s);
	const char *name = s->base.ep->name;

	s->dead = true;
	if (has(said, "not responding"))
		return kab_err_set(
			err, KAB_ERR_CONNECT,
			"host '%s': the connection is dead: nothing heard for %d s while %s", name,
			KAB_OPENSSH_KEEPALIVES * s->base.ep->keepalive_s, doing);
	return kab_err_set(err, KAB_ERR_CONNECT,
			   "host '%s': %s failed: the control connection of ssh ended%s%s", name,
			   doing, *said ? ": " : "", tail(said));
}
