/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The two questions that are asked of an ssh-agent (draft-miller-ssh-agent): which keys, and sign.
 * libssh2's own client blocks without a deadline and cannot ask for RSA with SHA-2.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/ssh_key.h"

enum { ASK_KEYS = 11, ANSWER_KEYS = 12, ASK_SIGN = 13, ANSWER_SIGN = 14 };

#define MESSAGE_MAX ((uint32_t)256 << 10)
/* An agent may ask its user first; not for ever. */
#define AGENT_S 10

int kab_ssh_agent_open(struct kab_ssh_agent *a, const char *socket_path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	a->fd = -1;
	if (!socket_path)
		socket_path = getenv("SSH_AUTH_SOCK");
	if (!socket_path || !*socket_path || strcmp(socket_path, "none") == 0 ||
	    strlen(socket_path) >= sizeof(sa.sun_path))
		return 1;
	memcpy(sa.sun_path, socket_path, strlen(socket_path));
	a->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->fd < 0)
		return 1;
	if (connect(a->fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		kab_ssh_agent_close(a);
		return 1;
	}
	return 0;
}

void kab_ssh_agent_close(struct kab_ssh_agent *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
}

static int ready(int fd, short events, const struct kab_wait *wait, struct kab_err *err)
{
	struct pollfd pfd[2] = { { .fd = fd, .events = events },
				 { .fd = wait->cancel_fd, .events = POLLIN } };

	for (;;) {
		int n = poll(pfd, 2, kab_deadline_poll_ms(wait->deadline_ns));

		if (n > 0 && pfd[1].revents)
			return kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
		if (n > 0)
			return 0;
		if (n == 0 && kab_now_mono_ns() >= wait->deadline_ns)
			return kab_err_set(err, KAB_ERR_TIMEOUT, "the ssh-agent does not answer");
		if (n < 0 && errno != EINTR)
			return kab_err_errno(err, KAB_ERR_ENV, "poll failed");
	}
}

static int transfer(int fd, void *bytes, size_t len, bool out, const struct kab_wait *wait,
		    struct kab_err *err)
{
	char *p = bytes;

	while (len) {
		ssize_t n = out ? send(fd, p, len, MSG_NOSIGNAL) : recv(fd, p, len, 0);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			if (ready(fd, out ? POLLOUT : POLLIN, wait, err) < 0)
				return -1;
		} else if (n == 0 || errno != EINTR) {
			return kab_err_set(err, KAB_ERR_ENV, "the ssh-agent hung up");
		}
	}
	return 0;
}

static int ask(struct kab_ssh_agent *a, const struct kab_buf *question, int want,
	       const struct kab_wait *wait, struct kab_buf *answer, struct kab_err *err)
{
	struct kab_wait w = *wait;
	int64_t limit = kab_deadline_s(AGENT_S);
	struct kab_buf msg kab_autobuf = KAB_BUF_INIT;
	struct kab_ssh_reader r;
	unsigned char head[4];
	uint32_t len;
	char *body;
	int rc;

	if (limit < w.deadline_ns)
		w.deadline_ns = limit;
	kab_ssh_add_string(&msg, question->data, question->len);
	if (transfer(a->fd, msg.data, msg.len, true, &w, err) < 0 ||
	    transfer(a->fd, head, sizeof(head), false, &w, err) < 0)
		return -1;
	r = (struct kab_ssh_reader){ head, sizeof(head), false };
	len = kab_ssh_read_u32(&r);
	if (len < 1 || len > MESSAGE_MAX)
		return kab_err_set(err, KAB_ERR_ENV, "the ssh-agent answers nonsense");
	body = kab_xmalloc(len);
	rc = transfer(a->fd, body, len, false, &w, err);
	if (rc == 0 && body[0] != want)
		rc = kab_err_set(err, KAB_ERR_ENV, "the ssh-agent refused");
	if (rc == 0)
		kab_buf_add(answer, body + 1, len - 1);
	free(body);
	return rc;
}

int kab_ssh_agent_list(struct kab_ssh_agent *a, const struct kab_wait *wait,
		       struct kab_ssh_keys *ret, struct kab_err *err)
{
	struct kab_buf q kab_autobuf = KAB_BUF_INIT;
	struct kab_buf ans kab_autobuf = KAB_BUF_INIT;
	struct kab_ssh_reader r;
	uint32_t count;

	kab_buf_addc(&q, ASK_KEYS);
	if (ask(a, &q, ANSWER_KEYS, wait, &ans, err) < 0)
		return -1;
	r = (struct kab_ssh_reader){ (const unsigned char *)ans.data, ans.len, false };
	count = kab_ssh_read_u32(&r);
	for (uint32_t i = 0; i < count && !r.bad; i++) {
		size_t blob_len, note_len, type_len;
		const unsigned char *blob = kab_ssh_read_string(&r, &blob_len);
		const unsigned char *note = kab_ssh_read_string(&r, &note_len);
		struct kab_ssh_reader in = { blob, blob_len, false };
		const unsigned char *type = kab_ssh_read_string(&in, &type_len);
		struct kab_ssh_key *key;

		if (r.bad || in.bad)
			break;
		key = KAB_PUSH(ret);
		key->path = kab_xstrndup((const char *)note, note_len);
		kab_buf_add(&key->blob, blob, blob_len);
		memcpy(key->type, type,
		       type_len < sizeof(key->type) ? type_len : sizeof(key->type) - 1);
	}
	return 0;
}

int kab_ssh_agent_sign(struct kab_ssh_agent *a, const struct kab_buf *blob, const void *data,
		       size_t len, uint32_t flags, const struct kab_wait *wait, unsigned char **sig,
		       size_t *sig_len, struct kab_err *err)
{
	struct kab_buf q kab_autobuf = KAB_BUF_INIT;
	struct kab_buf ans kab_autobuf = KAB_BUF_INIT;
	struct kab_ssh_reader r, in;
	const unsigned char *p;
	size_t n;

	kab_buf_addc(&q, ASK_SIGN);
	kab_ssh_add_string(&q, blob->data, blob->len);
	kab_ssh_add_string(&q, data, len);
	kab_ssh_add_u32(&q, flags);
	if (ask(a, &q, ANSWER_SIGN, wait, &ans, err) < 0)
		return -1;
	r = (struct kab_ssh_reader){ (const unsigned char *)ans.data, ans.len, false };
	p = kab_ssh_read_string(&r, &n);
	in = (struct kab_ssh_reader){ p, n, false };
	kab_ssh_read_string(&in, &n); /* name of the algorithm */
	p = kab_ssh_read_string(&in, &n);
	if (r.bad || in.bad)
		return kab_err_set(err, KAB_ERR_ENV, "the ssh-agent answers nonsense");
	*sig = kab_xmemdup(p, n);
	*sig_len = n;
	return 0;
}
