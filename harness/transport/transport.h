/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a host is reached: open, exec, put, get, close. Every call blocks until it is done, until its
 * deadline, or until cancel_fd becomes readable; it returns 0, or -1 with an error (CONNECT when
 * the link is gone, TIMEOUT, AUTH, CANCELLED, REMOTE). After CONNECT or TIMEOUT the session is
 * dead: close it and open a new one. A session belongs to one thread.
 *
 * Commands are argv arrays; quoting for the remote shell is done here and nowhere else.
 */
#ifndef KAB_TRANSPORT_TRANSPORT_H
#define KAB_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"

/* Deadlines are absolute, CLOCK_MONOTONIC, nanoseconds: see base/clock.h. */
struct kab_wait {
	int64_t deadline_ns;
	int cancel_fd; /* -1: not cancellable */
};

/* What is done with a host key that is not on record. A revoked one is always refused. */
enum kab_host_key_check {
	KAB_HOST_KEY_STRICT, /* refused */
	KAB_HOST_KEY_ACCEPT_NEW, /* of an unknown host: put on record */
	KAB_HOST_KEY_ANY, /* of an unknown host: put on record; a changed one: taken */
};

struct kab_ssh_shared;

/* How to reach one host; filled from the lab file, borrowed until close. */
struct kab_endpoint {
	const char *name; /* label in the lab: for messages */
	const char *transport; /* "local", "ssh", "openssh", "fake" */
	const char *ssh; /* ssh destination: alias, host, or user@host; NULL for local */
	const char *ssh_config; /* -F file; NULL: the user's */
	int port; /* 0: as ssh -G says */
	int keepalive_s; /* 0: off */
	enum kab_host_key_check host_key_check;
	struct kab_ssh_shared *shared; /* ssh_shared.h; NULL: nobody is asked, no queue */
	const struct kab_log *log;
};

struct kab_exec {
	const char *const *argv; /* NULL-terminated */
	const void *in; /* bytes for stdin, then EOF */
	size_t in_len;
	size_t out_max, err_max; /* caps in bytes; 0: 1 MiB */
};

struct kab_exec_result {
	struct kab_buf out, err;
	int exit_status; /* 0..255; 128+n after signal n; -1 when the far side did not say.
			    Only a hint over SSH: believe a result file (DESIGN section 5). */
};
void kab_exec_result_release(struct kab_exec_result *res);

struct kab_session; /* one open connection */

struct kab_transport {
	const char *name;
	int (*open)(const struct kab_endpoint *ep, const struct kab_wait *wait,
		    struct kab_session **ret, struct kab_err *err);
	int (*exec)(struct kab_session *s, const struct kab_exec *req, const struct kab_wait *wait,
		    struct kab_exec_result *ret, struct kab_err *err);
	/* Write bytes to a file (created, truncated; mode as given), whole or not at all as far as a
	 * rename can promise. */
	int (*put)(struct kab_session *s, const char *path, const void *data, size_t len,
		   unsigned mode, const struct kab_wait *wait, struct kab_err *err);
	/* Read from offset; at most max bytes are appended to *ret (cut is set when there is more).
	 * A missing file is 1 with nothing appended. */
	int (*get)(struct kab_session *s, const char *path, uint64_t offset, size_t max,
		   const struct kab_wait *wait, struct kab_buf *ret, struct kab_err *err);
	void (*close)(struct kab_session *s); /* NULL is fine; never blocks longer than 1 s */
};

/* Every session starts with this member; a transport's own struct embeds it first. */
struct kab_session {
	const struct kab_transport *ops;
	const struct kab_endpoint *ep;
};

/* "local", "ssh", ...; NULL when unknown. */
const struct kab_transport *kab_transport_find(const char *name);
extern const struct kab_transport kab_transport_local;
extern const struct kab_transport kab_transport_ssh; /* libssh2 */
extern const struct kab_transport kab_transport_openssh; /* the program `ssh` */

/* One shell word: 'it'\''s'. Appended to buf; safe in dash, bash, busybox, csh is not promised. */
void kab_quote_sh(struct kab_buf *buf, const char *word);
/* argv as one shell command line; caller frees. */
char *kab_quote_argv(const char *const *argv);

#endif
