/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ssh transport: libssh2, one non-blocking session that only poll waits for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rng.h"
#include "transport/remote_file.h"
#include "transport/ssh_exec.h"
#include "transport/ssh_kex.h"
#include "transport/ssh_shared.h"

#define CONFIG_S 10
#define HANDSHAKE_S 30
#define AUTH_S 40
#define CLOSE_S 0.5

static void forget_connection(struct kab_ssh_session *s)
{
	if (s->ssh) {
		/* Nothing can be sent any more, so freeing cannot wait for anything. */
		if (s->fd >= 0)
			shutdown(s->fd, SHUT_RDWR);
		for (int i = 0; i < 100 && libssh2_session_free(s->ssh) == LIBSSH2_ERROR_EAGAIN;
		     i++)
			;
		s->ssh = NULL;
	}
	kab_ssh_hang_up(s);
}

static void ssh_close(struct kab_session *ks)
{
	struct kab_ssh_session *s = (struct kab_ssh_session *)ks;
	struct kab_wait w = { kab_deadline_s(CLOSE_S), -1 };
	struct kab_err unused;
	int rc;

	if (!s)
		return;
	if (s->ssh && !s->dead && s->authenticated)
		KAB_SSH_DO(rc, s, &w, "closing", &unused,
			   libssh2_session_disconnect(s->ssh, "done"));
	forget_connection(s);
	kab_buf_release(&s->hello);
	kab_known_hosts_release(&s->known);
	kab_ssh_config_release(&s->cfg);
	free(s);
}

/* 0; 1: dropped before the banner, worth another try; -1. */
static int shake_hands(struct kab_ssh_session *s, const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_wait w = kab_ssh_limit(wait, HANDSHAKE_S);
	char *prefer kab_autofree = kab_known_hosts_prefer(&s->known);
	char *said = NULL;
	bool dropped;
	int rc;

	if (kab_ssh_new_session(s, err) < 0)
		return -1;
	libssh2_session_method_pref(s->ssh, LIBSSH2_METHOD_HOSTKEY, prefer);
	kab_buf_release(&s->hello);
	s->hello.max = KAB_SSH_HELLO_MAX;
	KAB_SSH_DO(rc, s, &w, "greeting", err, libssh2_session_handshake(s->ssh, s->fd));
	if (rc == 0) {
		kab_buf_release(&s->hello);
		s->hello.max = 0;
		return 0;
	}
	if (rc == KAB_SSH_STOP)
		return -1;
	if (s->hello.cut)
		return kab_err_set(err, KAB_ERR_CONNECT,
				   "host '%s': what answers is no ssh server: it sends and sends, "
				   "and no greeting",
				   s->base.ep->name);
	libssh2_session_last_error(s->ssh, &said, NULL, 0);
	dropped = said && strstr(said, "banner");
	if (dropped && s->via_helper) {
		/* Silent: it is the host that dropped us. Else a jump host may have. */
		char *text kab_autofree = kab_ssh_helper_text(s);

		dropped = !text || kab_ssh_text_dropped(text);
		if (!dropped) {
			s->dead = true;
			return kab_err_set(err, KAB_ERR_CONNECT,
					   "host '%s': greeting failed; the jump host says: %s",
					   s->base.ep->name, text);
		}
	}
	kab_ssh_fail(s, rc, "greeting", err);
	return dropped ? 1 : -1;
}

/* One try, of those that wait before the same server. As shake_hands. */
static int try_to_greet(struct kab_ssh_session *s, const char *place, struct kab_wait *wait,
			struct kab_err *err)
{
	struct kab_ssh_shared *shared = s->base.ep->shared;
	int rc;

	if (kab_ssh_gate_enter(shared, place, wait, err) < 0)
		return kab_err_prefix(err, "host '%s'", s->base.ep->name);
	rc = kab_ssh_dial(s, wait, err);
	if (rc == 0)
		rc = shake_hands(s, wait, err);
	/* Who has greeted is inside until it has logged in. */
	if (rc != 0)
		kab_ssh_gate_leave(shared, place, rc > 0 ? KAB_SSH_DROPPED : KAB_SSH_ELSE);
	return rc;
}

static int connect_and_greet(struct kab_ssh_session *s, const char *place, struct kab_wait *wait,
			     struct kab_err *err)
{
	struct kab_rng rng;

	kab_rng_seed_label(&rng, (uint64_t)kab_now_mono_ns(), s->cfg.dest);
	for (int drops = 0;; drops++) {
		double pause = kab_ssh_drop_pause_s(drops, &rng);
		int rc = try_to_greet(s, place, wait, err);

		if (rc <= 0)
			return rc;
		forget_connection(s);
		s->dead = false;
		if (kab_now_mono_ns() >= wait->deadline_ns ||
		    (drops + 1 >= KAB_SSH_DROPS_MAX &&
		     !kab_ssh_gate_known(s->base.ep->shared, place)))
			return -1;
		kab_log(s->base.ep->log, KAB_LOG_DEBUG,
			"host '%s': dropped before the greeting, again in %.1f s", s->base.ep->name,
			pause);
		if (kab_wait_until(kab_deadline_s(pause), wait->cancel_fd, err) < 0)
			return -1;
	}
}

static int check_host_key(struct kab_ssh_session *s, struct kab_err *err)
{
	size_t len = 0;
	int type = 0;
	const char *blob = libssh2_session_hostkey(s->ssh, &len, &type);

	if (!blob)
		return kab_err_set(err, KAB_ERR_AUTH, "the server showed no host key");
	return kab_known_hosts_admit(&s->known, &s->cfg, s->base.ep, blob, len, err);
}

/* Connect and log in: one turn at the server. */
static int log_in(struct kab_ssh_session *s, const char *place, struct kab_wait *wait,
		  struct kab_err *err)
{
	int rc;

	if (connect_and_greet(s, place, wait, err) < 0)
		return -1;
	rc = check_host_key(s, err);
	if (rc < 0) {
		kab_err_prefix(err, "host '%s'", s->base.ep->name);
	} else {
		struct kab_wait w = kab_ssh_limit(wait, AUTH_S);
		int64_t deadline = w.deadline_ns;

		rc = kab_ssh_authenticate(s, &w, err);
		wait->deadline_ns += w.deadline_ns - deadline;
	}
	kab_ssh_gate_leave(s->base.ep->shared, place, KAB_SSH_PASSED);
	s->authenticated = rc == 0;
	return rc;
}

static int bring_up(struct kab_ssh_session *s, struct kab_wait wait, struct kab_err *err)
{
	const struct kab_endpoint *ep = s->base.ep;
	char *place kab_autofree = NULL;
	struct kab_wait w;
	int rc;

	if (kab_ssh_gate_enter(ep->shared, KAB_SSH_GATE_TOOLS, &wait, err) < 0)
		return kab_err_prefix(err, "host '%s'", ep->name);
	w = kab_ssh_limit(&wait, CONFIG_S);
	rc = kab_ssh_config_resolve(ep->ssh, ep->ssh_config, ep->port, &w, &s->cfg, err);
	if (rc == 0)
		rc = kab_known_hosts_load(&s->cfg, &w, &s->known, err);
	kab_ssh_gate_leave(ep->shared, KAB_SSH_GATE_TOOLS, KAB_SSH_PASSED);
	if (rc < 0)
		return kab_err_prefix(err, "host '%s'", ep->name);
	kab_known_hosts_tell_faults(&s->cfg, ep);
	place = kab_ssh_place(&s->cfg);
	rc = log_in(s, place, &wait, err);
	if (rc < 0 && s->dead && s->asked) {
		/* The server did not wait for the passphrase; now nobody need be asked. */
		forget_connection(s);
		s->dead = s->asked = false;
		rc = log_in(s, place, &wait, err);
	}
	return rc;
}

static int ssh_open(const struct kab_endpoint *ep, const struct kab_wait *wait,
		    struct kab_session **ret, struct kab_err *err)
{
	struct kab_ssh_session *s;
	struct kab_rng rng;

	*ret = NULL;
	if (!ep->ssh)
		return kab_err_set(err, KAB_ERR_CONFIG, "host '%s' has no \"ssh\" destination",
				   ep->name);
	s = kab_xcalloc(1, sizeof(*s));
	s->base.ops = &kab_transport_ssh;
	s->base.ep = ep;
	s->fd = s->helper_err = -1;
	kab_rng_seed_label(&rng, (uint64_t)kab_now_wall_ns() ^ (uint64_t)getpid(), ep->name);
	snprintf(s->mark, sizeof(s->mark), "kab-%016llx", (unsigned long long)kab_rng_u64(&rng));
	if (bring_up(s, *wait, err) < 0) {
		ssh_close(&s->base);
		return -1;
	}
	*ret = &s->base;
	return 0;
}

static int ssh_exec(struct kab_session *ks, const struct kab_exec *req, const struct kab_wait *wait,
		    struct kab_exec_result *ret, struct kab_err *err)
{
	return kab_ssh_exec((struct kab_ssh_session *)ks, req, wait, ret, err);
}

const struct kab_transport kab_transport_ssh = {
	.name = "ssh",
	.open = ssh_open,
	.exec = ssh_exec,
	.put = kab_remote_put,
	.get = kab_remote_get,
	.close = ssh_close,
};
