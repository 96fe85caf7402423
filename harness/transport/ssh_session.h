/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ssh transport's session and the parts of it that are files of their own. Internal. */
#ifndef KAB_TRANSPORT_SSH_SESSION_H
#define KAB_TRANSPORT_SSH_SESSION_H

#include <libssh2.h>
#include <sys/types.h>

#include "transport/known_hosts.h"
#include "transport/ssh_config.h"
#include "transport/transport.h"

struct kab_ssh_session {
	struct kab_session base;
	struct kab_ssh_config cfg;
	struct kab_known_hosts known;
	LIBSSH2_SESSION *ssh;
	int fd;
	bool via_helper; /* fd is a socketpair to a proxy process */
	pid_t helper;
	int helper_err; /* its stderr, for the error text; -1 */
	bool authenticated;
	bool dead;
	bool asked; /* a passphrase was asked for so long that the server may have given up */
	int64_t last_rx_ns; /* when a byte came last, or an operation began */
	int64_t last_ping_ns; /* when a keepalive was sent last */
	struct kab_buf hello; /* what the server sent first, until the greeting is over */
	char mark[40]; /* line that separates rc-file chatter from output */
};

/* deadline = the earlier of wait's and now + seconds */
struct kab_wait kab_ssh_limit(const struct kab_wait *wait, double seconds);

/* A full sshd (MaxStartups) drops us at random: that is no reason to call a host down. So many tries
 * are made, and before each further one this is waited, with a jitter that spreads many hosts. */
#define KAB_SSH_DROPS_MAX 10
struct kab_rng;
double kab_ssh_drop_pause_s(int drops, struct kab_rng *rng);
/* Does the text of an `ssh` say that it was dropped before the greeting? */
bool kab_ssh_text_dropped(const char *said);

/* ---- ssh_dial.c: a connected descriptor in s->fd ---- */
int kab_ssh_dial(struct kab_ssh_session *s, const struct kab_wait *wait, struct kab_err *err);
/* Close the descriptor and end the helper. */
void kab_ssh_hang_up(struct kab_ssh_session *s);
/* What the proxy process complained, or NULL; caller frees. */
char *kab_ssh_helper_text(struct kab_ssh_session *s);

/* ---- ssh_proxy.c ---- */
/* argv of the process that connects stdio to the host: `ssh -W` over the jump hosts, or the user's
 * ProxyCommand. 1: no proxy is configured. -1: CONFIG (a circle of jump hosts, ...). */
int kab_ssh_proxy_argv(const struct kab_ssh_config *cfg, const char *ssh_config_file,
		       const struct kab_wait *wait, struct kab_strv *argv, struct kab_err *err);

/* ---- ssh_auth.c ---- */
/* The deadline moves on by the time that a passphrase takes. */
int kab_ssh_authenticate(struct kab_ssh_session *s, struct kab_wait *wait, struct kab_err *err);

/* ---- ssh_wait.c: one non-blocking session, driven by poll ---- */
int kab_ssh_new_session(struct kab_ssh_session *s, struct kab_err *err);
/* Sleep until libssh2 can go on. -1: the session is dead now, but after CANCELLED only if the call
 * that was waiting cannot be given up. */
int kab_ssh_pause(struct kab_ssh_session *s, const struct kab_wait *wait, const char *doing,
		  struct kab_err *err);
/* A libssh2 call failed with rc: say what that means and what to do. Returns -1; marks it dead. */
int kab_ssh_fail(struct kab_ssh_session *s, int rc, const char *doing, struct kab_err *err);

/* Repeat `call` until it is not EAGAIN; rc is its value, or 1 when pausing failed (err is set). */
#define KAB_SSH_DO(rc, s, wait, doing, err, call)             \
	do {                                                  \
		(rc) = (call);                                \
		if ((rc) != LIBSSH2_ERROR_EAGAIN)             \
			break;                                \
		if (kab_ssh_pause(s, wait, doing, err) < 0) { \
			(rc) = KAB_SSH_STOP;                  \
			break;                                \
		}                                             \
	} while (1)
#define KAB_SSH_STOP 4711

#endif
