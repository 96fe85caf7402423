/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rng.h"
#include "transport/ssh_kex.h"
#include "transport/ssh_session.h"

/* A host that says nothing for so many keepalives is gone. */
#define KEEPALIVES_MISSED 3

static pthread_once_t library = PTHREAD_ONCE_INIT;

static void init_library(void)
{
	libssh2_init(0);
}

struct kab_wait kab_ssh_limit(const struct kab_wait *wait, double seconds)
{
	struct kab_wait w = *wait;
	int64_t at = kab_deadline_s(seconds);

	if (at < w.deadline_ns)
		w.deadline_ns = at;
	return w;
}

double kab_ssh_drop_pause_s(int drops, struct kab_rng *rng)
{
	double pause = drops < 5 ? 0.1 * (1 << drops) : 2.5;

	return pause * (0.5 + kab_rng_uniform(rng));
}

bool kab_ssh_text_dropped(const char *said)
{
	/* An `ssh` behind which another one, of a jump host, gave up says that it was dropped, too. */
	if (strstr(said, "ost key verification failed") || strstr(said, "Permission denied") ||
	    strstr(said, "stdio forwarding failed"))
		return false;
	return strstr(said, "kex_exchange_identification") || strstr(said, "banner exchange");
}

/* Not sticky, so it is set again before each sleep: a delayed ACK costs 40 ms a step. */
static void quick_ack(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

/* libssh2 never tells that an answer to a keepalive is missing; so we note each byte that comes. */
static ssize_t on_recv(libssh2_socket_t fd, void *buf, size_t len, int flags, void **abstract)
{
	struct kab_ssh_session *s = *abstract;
	ssize_t n;

	/* libssh2 reads lines before the greeting without an end as long as they come. */
	if (s->hello.max && s->hello.cut)
		return -ECONNABORTED;
	n = recv(fd, buf, len, flags | MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	if (n > 0)
		s->last_rx_ns = kab_now_mono_ns();
	if (n > 0 && s->hello.max)
		kab_buf_add(&s->hello, buf, (size_t)n);
	return n;
}

int kab_ssh_new_session(struct kab_ssh_session *s, struct kab_err *err)
{
	pthread_once(&library, init_library);
	s->ssh = libssh2_session_init_ex(NULL, NULL, NULL, s);
	if (!s->ssh)
		return kab_err_set(err, KAB_ERR_ENV, "cannot make an ssh session: out of memory");
	libssh2_session_set_blocking(s->ssh, 0);
	libssh2_session_callback_set(s->ssh, LIBSSH2_CALLBACK_RECV, (void *)on_recv);
	return 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Send a keepalive when one is due. Only when no packet of ours is half written and the socket
 * takes one: libssh2 would otherwise mix the two up.
 */
static void ping(struct kab_ssh_session *s, int64_t now, int64_t every)
{
	struct pollfd pfd = { .fd = s->fd, .events = POLLOUT };
	int next;

	if (!s->authenticated || now < earlier(s->last_ping_ns, s->last_rx_ns) + every ||
	    now < s->last_ping_ns + every)
		return;
	if (libssh2_session_block_directions(s->ssh) & LIBSSH2_SESSION_BLOCK_OUTBOUND)
		return;
	if (poll(&pfd, 1, 0) != 1 || !(pfd.revents & POLLOUT))
		return;
	libssh2_keepalive_config(s->ssh, 1, 1);
	libssh2_keepalive_send(s->ssh, &next);
	s->last_ping_ns = now;
}

int kab_ssh_pause(struct kab_ssh_session *s, const struct kab_wait *wait, const char *doing,
		  struct kab_err *err)
{
	const char *name = s->base.ep->name;
	int64_t every = s->base.ep->keepalive_s * KAB_NS_PER_S;
	int64_t now = kab_now_mono_ns(), until = wait->deadline_ns;
	struct pollfd pfd[2] = { { .fd = s->fd }, { .fd = wait->cancel_fd, .events = POLLIN } };
	int dir, n;

	if (every && s->authenticated) {
		if (now >= s->last_rx_ns + KEEPALIVES_MISSED * every) {
			s->dead = true;
			return kab_err_set(
				err, KAB_ERR_CONNECT,
				"host '%s': the connection is dead: nothing heard for %d s "
				"while %s",
				name, KEEPALIVES_MISSED * s->base.ep->keepalive_s, doing);
		}
		ping(s, now, every);
		until = earlier(until, s->last_rx_ns + KEEPALIVES_MISSED * every);
		until = earlier(until, s->last_ping_ns + every);
	}
	if (now >= wait->deadline_ns) {
		s->dead = true;
		return kab_err_set(err, KAB_ERR_TIMEOUT, "host '%s': no answer in time while %s",
				   name, doing);
	}
	dir = libssh2_session_block_directions(s->ssh);
	if (dir & LIBSSH2_SESSION_BLOCK_OUTBOUND)
		pfd[0].events |= POLLOUT;
	if ((dir & LIBSSH2_SESSION_BLOCK_INBOUND) || !pfd[0].events)
		pfd[0].events |= POLLIN;
	if (!s->via_helper)
		quick_ack(s->fd);
	n = poll(pfd, 2, kab_deadline_poll_ms(until));
	if (n < 0 && errno != EINTR) {
		s->dead = true;
		return kab_err_errno(err, KAB_ERR_ENV, "poll failed");
	}
	if (n > 0 && pfd[1].revents)
		return kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
	/* It was full and drains: the other side takes bytes, however slowly. */
	if (n > 0 && (pfd[0].revents & (POLLOUT | POLLERR | POLLHUP)) == POLLOUT)
		s->last_rx_ns = kab_now_mono_ns();
	return 0;
}

/* The codes that say least, and what they mean in practice. */
static const char *remedy(int rc)
{
	switch (rc) {
	case LIBSSH2_ERROR_SOCKET_DISCONNECT:
	case LIBSSH2_ERROR_SOCKET_RECV:
	case LIBSSH2_ERROR_SOCKET_SEND:
		return "the other side closed the connection";
	case LIBSSH2_ERROR_BANNER_RECV:
		return "the server closed the connection before it said anything: too many logins "
		       "at "
		       "once (MaxStartups), a firewall, or it is no ssh server";
	case LIBSSH2_ERROR_CHANNEL_FAILURE:
		return "the server refuses another channel (MaxSessions) or the command";
	default:
		return NULL;
	}
}

/* libssh2 says -5 for whatever it was. */
static int no_algorithm(struct kab_ssh_session *s, int rc, struct kab_err *err)
{
	char *ours kab_autofree = kab_known_hosts_prefer(&s->known);
	char *why kab_autofree = kab_ssh_kex_mismatch(s->ssh, &s->hello, ours);

	return kab_err_set(err, KAB_ERR_CONNECT,
			   "host '%s': no algorithm in common%s%s (libssh2 %d); set \"transport\": "
			   "\"openssh\" for this host in the lab file",
			   s->base.ep->name, why ? " for " : "", why ? why : "", rc);
}

int kab_ssh_fail(struct kab_ssh_session *s, int rc, const char *doing, struct kab_err *err)
{
	const char *name = s->base.ep->name;
	char *said = NULL;
	char *proxy kab_autofree =
		s->via_helper && !s->authenticated ? kab_ssh_helper_text(s) : NULL;
	const char *why = remedy(rc);
	int saved = rc;

	if (rc == KAB_SSH_STOP) /* kab_ssh_pause has said it */
		return -1;
	s->dead = true;
	if (rc == LIBSSH2_ERROR_KEX_FAILURE || rc == LIBSSH2_ERROR_METHOD_NONE)
		return no_algorithm(s, rc, err);
	if (s->ssh)
		libssh2_session_last_error(s->ssh, &said, NULL, 0);
	/* -13, -43 or -2, whichever it is while the banner is awaited */
	if (!s->authenticated && said && strstr(said, "banner"))
		why = remedy(LIBSSH2_ERROR_BANNER_RECV);
	return kab_err_set(err, KAB_ERR_CONNECT, "host '%s': %s failed: %s (libssh2 %d: %s)%s%s",
			   name, doing, why ? why : "unexpected", saved,
			   said && *said ? said : "no text", proxy ? "; the jump host says: " : "",
			   proxy ? proxy : "");
}
