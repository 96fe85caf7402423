/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One command over one channel: input out, both streams in, status. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/ssh_exec.h"

#define OUT_DEFAULT ((size_t)1 << 20)
/* Time for closing a channel that was given up. */
#define GIVE_UP_S 1

static const struct {
	const char *name;
	int no;
} signals[] = {
	{ "HUP", 1 },	{ "INT", 2 },	{ "QUIT", 3 },	{ "ILL", 4 },	{ "TRAP", 5 },
	{ "ABRT", 6 },	{ "BUS", 7 },	{ "FPE", 8 },	{ "KILL", 9 },	{ "USR1", 10 },
	{ "SEGV", 11 }, { "USR2", 12 }, { "PIPE", 13 }, { "ALRM", 14 }, { "TERM", 15 },
	{ "XCPU", 24 }, { "XFSZ", 25 }, { "SYS", 31 },
};

struct run {
	struct kab_ssh_session *s;
	const struct kab_exec *req;
	const struct kab_wait *wait;
	LIBSSH2_CHANNEL *ch;
	struct kab_exec_result *ret;
	struct kab_err *err;
};

/* A packet of ours is half out: only the call that sent it may follow. */
static bool is_writing(struct kab_ssh_session *s)
{
	return libssh2_session_block_directions(s->ssh) & LIBSSH2_SESSION_BLOCK_OUTBOUND;
}

static int open_channel(struct run *r)
{
	while (!(r->ch = libssh2_channel_open_session(r->s->ssh))) {
		int rc = libssh2_session_last_errno(r->s->ssh);

		if (rc != LIBSSH2_ERROR_EAGAIN)
			return kab_ssh_fail(r->s, rc, "opening a channel", r->err);
		if (kab_ssh_pause(r->s, r->wait, "opening a channel", r->err) < 0)
			return -1;
	}
	return 0;
}

/* Take what is there of a stream, a megabyte at most. 0: took something; EAGAIN: it is empty now;
 * else an error. */
static int take(struct run *r, int stream, struct kab_buf *buf)
{
	char chunk[32768];

	for (int i = 0; i < 32; i++) {
		ssize_t n = libssh2_channel_read_ex(r->ch, stream, chunk, sizeof(chunk));

		if (n < 0)
			return (int)n;
		if (n == 0)
			return LIBSSH2_ERROR_EAGAIN;
		kab_buf_add(buf, chunk, (size_t)n);
	}
	return 0;
}

/* A host that never stops talking must not keep us from looking at deadline and cancellation. */
static int look_up(struct run *r)
{
	struct pollfd pfd = { .fd = r->wait->cancel_fd, .events = POLLIN };

	if (poll(&pfd, 1, 0) > 0)
		return kab_err_set(r->err, KAB_ERR_CANCELLED, "interrupted");
	if (kab_now_mono_ns() < r->wait->deadline_ns)
		return 0;
	r->s->dead = true;
	return kab_err_set(r->err, KAB_ERR_TIMEOUT, "host '%s': the command did not end in time",
			   r->s->base.ep->name);
}

/* Both streams, without waiting for more. libssh2 may have half a window adjustment out after
 * EAGAIN: then only the same call may follow. 0; 1 at the end of both; -1. */
static int take_both(struct run *r)
{
	struct kab_buf *bufs[2] = { &r->ret->out, &r->ret->err };

	if (look_up(r) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		for (;;) {
			int rc = take(r, i ? SSH_EXTENDED_DATA_STDERR : 0, bufs[i]);

			if (rc == 0 || (rc == LIBSSH2_ERROR_EAGAIN && !is_writing(r->s)))
				break;
			if (rc != LIBSSH2_ERROR_EAGAIN)
				return kab_ssh_fail(r->s, rc, "reading output", r->err);
			if (kab_ssh_pause(r->s, r->wait, "reading output", r->err) < 0)
				return -1;
		}
	}
	return libssh2_channel_eof(r->ch) ? 1 : 0;
}

/* After take_both: sleep for more, unless some of it is already here. Reading one stream takes the
 * other's packets off the socket, too, and poll would not tell. */
static int wait_more(struct run *r)
{
	if (libssh2_poll_channel_read(r->ch, 0) > 0 ||
	    libssh2_poll_channel_read(r->ch, SSH_EXTENDED_DATA_STDERR) > 0)
		return 0;
	return kab_ssh_pause(r->s, r->wait, "waiting for the command", r->err);
}

static int send_input(struct run *r)
{
	const char *p = r->req->in;
	size_t left = r->req->in_len;
	int rc;

	while (left) {
		ssize_t n = libssh2_channel_write_ex(r->ch, 0, p, left);

		if (n > 0) {
			p += n;
			left -= (size_t)n;
			continue;
		}
		if (n == LIBSSH2_ERROR_CHANNEL_CLOSED || n == LIBSSH2_ERROR_CHANNEL_EOF_SENT)
			return 0; /* the command did not want it all; its status will tell */
		if (n != LIBSSH2_ERROR_EAGAIN && n != 0)
			return kab_ssh_fail(r->s, (int)n, "sending input", r->err);
		if (is_writing(r->s)) {
			if (kab_ssh_pause(r->s, r->wait, "sending input", r->err) < 0)
				return -1;
			continue;
		}
		/* The far window is full, and opens while we read; poll would not tell if it
		 * already has. */
		rc = take_both(r);
		if (rc == 0 && libssh2_channel_window_write_ex(r->ch, NULL) == 0)
			rc = wait_more(r);
		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	KAB_SSH_DO(rc, r->s, r->wait, "sending input", r->err, libssh2_channel_send_eof(r->ch));
	if (rc == LIBSSH2_ERROR_CHANNEL_CLOSED || rc == LIBSSH2_ERROR_CHANNEL_EOF_SENT)
		rc = 0;
	return rc == 0 ? 0 : kab_ssh_fail(r->s, rc, "sending input", r->err);
}

/* 128+n from the signal, else the status; trusted only after both sides have closed. */
static int read_status(struct run *r)
{
	char *name = NULL;
	size_t len = 0;
	int rc;

	KAB_SSH_DO(rc, r->s, r->wait, "closing", r->err, libssh2_channel_close(r->ch));
	if (rc == 0)
		KAB_SSH_DO(rc, r->s, r->wait, "closing", r->err,
			   libssh2_channel_wait_closed(r->ch));
	if (rc != 0)
		return kab_ssh_fail(r->s, rc, "reading the exit status", r->err);
	r->ret->exit_status = libssh2_channel_get_exit_status(r->ch);
	libssh2_channel_get_exit_signal(r->ch, &name, &len, NULL, NULL, NULL, NULL);
	if (!name)
		return 0;
	r->ret->exit_status = -1;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(signals); i++)
		if (strlen(signals[i].name) == len && memcmp(name, signals[i].name, len) == 0)
			r->ret->exit_status = 128 + signals[i].no;
	libssh2_free(r->s->ssh, name);
	return 0;
}

static int converse(struct run *r, const char *line)
{
	int rc;

	if (open_channel(r) < 0)
		return -1;
	KAB_SSH_DO(rc, r->s, r->wait, "starting the command", r->err,
		   libssh2_channel_exec(r->ch, line));
	if (rc != 0)
		return kab_ssh_fail(r->s, rc, "starting the command", r->err);
	if (send_input(r) < 0)
		return -1;
	while ((rc = take_both(r)) == 0)
		if (wait_more(r) < 0)
			return -1;
	return rc < 0 ? -1 : read_status(r);
}

/*
 * After a failure: a cancelled session can go on if nothing of ours is half written. The channel is
 * only told to close: OpenSSH answers when the command has ended, which may be never; it is freed
 * with the session.
 */
static void let_go(struct run *r)
{
	struct kab_wait w = { kab_deadline_s(GIVE_UP_S), -1 };
	struct kab_err unused;
	int rc;

	if (!r->ch)
		r->s->dead = true;
	else if (is_writing(r->s))
		r->s->dead = true;
	if (r->s->dead)
		return;
	do
		rc = libssh2_channel_close(r->ch);
	while (rc == LIBSSH2_ERROR_EAGAIN && is_writing(r->s) &&
	       kab_ssh_pause(r->s, &w, "closing", &unused) == 0);
	if (rc != 0 && (rc != LIBSSH2_ERROR_EAGAIN || is_writing(r->s)))
		r->s->dead = true;
}

void kab_ssh_drop_chatter(struct kab_buf *out, const char *mark, size_t max)
{
	char *at = out->len ? memmem(out->data, out->len, mark, strlen(mark)) : NULL;
	size_t skip;

	if (at) {
		skip = (size_t)(at - out->data) + strlen(mark);
		memmove(out->data, out->data + skip, out->len - skip + 1);
		out->len -= skip;
	}
	if (out->len > max) {
		out->len = max;
		out->data[max] = '\0';
		out->cut = true;
	}
	out->max = max;
}

int kab_ssh_exec(struct kab_ssh_session *s, const struct kab_exec *req, const struct kab_wait *wait,
		 struct kab_exec_result *ret, struct kab_err *err)
{
	size_t out_max = req->out_max ? req->out_max : OUT_DEFAULT;
	char *words kab_autofree = kab_quote_argv(req->argv);
	/* A login shell that reads start-up files may print anything first. */
	char *line kab_autofree = kab_xasprintf("echo %s; exec %s", s->mark, words);
	char *mark kab_autofree = kab_xasprintf("%s\n", s->mark);
	struct run r = { .s = s, .req = req, .wait = wait, .ret = ret, .err = err };
	int rc;

	kab_buf_init(&ret->out, out_max + KAB_SSH_CHATTER_MAX);
	kab_buf_init(&ret->err, req->err_max ? req->err_max : OUT_DEFAULT);
	ret->exit_status = -1;
	if (s->dead)
		return kab_err_set(err, KAB_ERR_CONNECT, "host '%s': the connection is gone",
				   s->base.ep->name);
	s->last_rx_ns = s->last_ping_ns = kab_now_mono_ns();
	rc = converse(&r, line);
	if (rc < 0) {
		let_go(&r);
		kab_exec_result_release(ret);
		return -1;
	}
	KAB_SSH_DO(rc, s, wait, "closing", err, libssh2_channel_free(r.ch));
	if (rc != 0)
		s->dead = true; /* the result is complete all the same */
	kab_ssh_drop_chatter(&ret->out, mark, out_max);
	return 0;
}
