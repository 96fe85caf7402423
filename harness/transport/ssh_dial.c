/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names to addresses, addresses to a connected socket; or a helper process as the way. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/child.h"
#include "transport/ssh_session.h"

#define RESOLVE_S 10
#define CONNECT_S 15
#define HELPER_GRACE_MS 300

/* No look-up: AI_NUMERICHOST never blocks. */
static bool is_numeric(const char *host)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct addrinfo *ai;

	if (getaddrinfo(host, NULL, &hints, &ai) != 0)
		return false;
	freeaddrinfo(ai);
	return true;
}

/* getaddrinfo has no deadline, so a process with one asks: lines of "ADDRESS STREAM name". */
static int resolve(const char *host, const struct kab_wait *wait, struct kab_strv *ret,
		   struct kab_err *err)
{
	const char *argv[] = { "getent", "ahosts", host, NULL };
	struct kab_exec req = { .argv = argv };
	struct kab_wait w = kab_ssh_limit(wait, RESOLVE_S);
	struct kab_strv lines kab_autostrv = KAB_STRV_INIT;
	struct kab_exec_result res;

	if (is_numeric(host)) {
		kab_strv_add(ret, host);
		return 0;
	}
	if (kab_child_run(&req, &w, &res, err) < 0)
		return kab_err_prefix(err, "looking up '%s'", host);
	kab_strv_split(&lines, kab_buf_str(&res.out), '\n');
	kab_exec_result_release(&res);
	for (size_t i = 0; i < lines.n; i++) {
		char *line = lines.v[i];

		line[strcspn(line, " \t")] = '\0';
		if (*line && !kab_strv_has(ret, line))
			kab_strv_add(ret, line);
	}
	if (!ret->n)
		return kab_err_set(err, KAB_ERR_CONNECT, "no address for '%s'; check the name",
				   host);
	return 0;
}

static int connect_one(const struct sockaddr *sa, socklen_t len, const struct kab_wait *wait,
		       struct kab_err *err)
{
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd pfd[2] = { { .fd = fd, .events = POLLOUT },
				 { .fd = wait->cancel_fd, .events = POLLIN } };
	int so_error = 0, n;
	socklen_t so_len = sizeof(so_error);

	if (fd < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot make a socket");
	if (connect(fd, sa, len) == 0)
		return fd;
	if (errno != EINPROGRESS) {
		kab_err_errno(err, KAB_ERR_CONNECT, "cannot connect");
		close(fd);
		return -1;
	}
	do
		n = poll(pfd, 2, kab_deadline_poll_ms(wait->deadline_ns));
	while ((n < 0 && errno == EINTR) || (n == 0 && kab_now_mono_ns() < wait->deadline_ns));
	if (n > 0 && pfd[1].revents) {
		kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
	} else if (n <= 0) {
		kab_err_set(err, KAB_ERR_TIMEOUT, "no answer: host down, or a firewall drops");
	} else {
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &so_error, &so_len);
		if (!so_error)
			return fd;
		errno = so_error;
		kab_err_errno(err, KAB_ERR_CONNECT, "cannot connect");
	}
	close(fd);
	return -1;
}

static int connect_address(const char *address, const struct kab_ssh_config *cfg,
			   const struct kab_wait *wait, struct kab_err *err)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *ai;
	char port[8];
	int fd;

	if (cfg->address_family && strcmp(cfg->address_family, "inet") == 0)
		hints.ai_family = AF_INET;
	if (cfg->address_family && strcmp(cfg->address_family, "inet6") == 0)
		hints.ai_family = AF_INET6;
	snprintf(port, sizeof(port), "%d", cfg->port);
	if (getaddrinfo(address, port, &hints, &ai) != 0)
		return kab_err_set(err, KAB_ERR_CONNECT, "address '%s' is not of family '%s'",
				   address, cfg->address_family ? cfg->address_family : "any");
	fd = connect_one(ai->ai_addr, ai->ai_addrlen, wait, err);
	freeaddrinfo(ai);
	return fd;
}

static int dial_direct(struct kab_ssh_session *s, const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_strv addresses kab_autostrv = KAB_STRV_INIT;
	struct kab_err why = KAB_ERR_INIT;
	int on = 1, ms = s->base.ep->keepalive_s * 3000;

	if (resolve(s->cfg.hostname, wait, &addresses, err) < 0)
		return kab_err_prefix(err, "host '%s'", s->base.ep->name);
	for (size_t i = 0; i < addresses.n && s->fd < 0; i++) {
		struct kab_wait w = kab_ssh_limit(
			wait, s->cfg.connect_timeout_s > 0 ? s->cfg.connect_timeout_s : CONNECT_S);

		s->fd = connect_address(addresses.v[i], &s->cfg, &w, &why);
		if (s->fd < 0 && why.code == KAB_ERR_CANCELLED)
			break;
	}
	if (s->fd < 0)
		return kab_err_set(err, why.code, "host '%s' (%s port %d): %s", s->base.ep->name,
				   s->cfg.hostname, s->cfg.port, why.text);
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (ms)
		setsockopt(s->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	return 0;
}

static int dial_helper(struct kab_ssh_session *s, const struct kab_strv *argv, struct kab_err *err)
{
	int pair[2] = { -1, -1 }, errp[2] = { -1, -1 };
	int rc = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    pipe2(errp, O_CLOEXEC) < 0)
		kab_err_errno(err, KAB_ERR_ENV, "cannot make a socket pair");
	else
		rc = kab_child_spawn((const char *const *)argv->v, pair[1], pair[1], errp[1],
				     &s->helper, err);
	if (rc == 0) {
		fcntl(pair[0], F_SETFL, O_NONBLOCK);
		fcntl(errp[0], F_SETFL, O_NONBLOCK);
		s->fd = pair[0];
		s->helper_err = errp[0];
		s->via_helper = true;
	} else {
		if (pair[0] >= 0)
			close(pair[0]);
		if (errp[0] >= 0)
			close(errp[0]);
	}
	if (pair[1] >= 0)
		close(pair[1]);
	if (errp[1] >= 0)
		close(errp[1]);
	return rc;
}

int kab_ssh_dial(struct kab_ssh_session *s, const struct kab_wait *wait, struct kab_err *err)
{
	struct kab_strv argv kab_autostrv = KAB_STRV_INIT;
	int rc = kab_ssh_proxy_argv(&s->cfg, s->base.ep->ssh_config, wait, &argv, err);

	if (rc < 0)
		return kab_err_prefix(err, "host '%s'", s->base.ep->name);
	return rc == 1 ? dial_direct(s, wait, err) : dial_helper(s, &argv, err);
}

char *kab_ssh_helper_text(struct kab_ssh_session *s)
{
	char text[400];
	ssize_t n;
	struct pollfd pfd = { .fd = s->helper_err, .events = POLLIN };

	if (s->helper_err < 0 || poll(&pfd, 1, HELPER_GRACE_MS) <= 0)
		return NULL;
	n = read(s->helper_err, text, sizeof(text) - 1);
	if (n <= 0)
		return NULL;
	for (ssize_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ')
			text[i] = ' ';
	while (n > 0 && text[n - 1] == ' ')
		n--;
	return n ? kab_xstrndup(text, (size_t)n) : NULL;
}

void kab_ssh_hang_up(struct kab_ssh_session *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->helper_err >= 0)
		close(s->helper_err);
	if (s->helper > 0)
		kab_child_end(s->helper, HELPER_GRACE_MS);
	s->fd = s->helper_err = -1;
	s->helper = 0;
}
