/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sending one mail over SMTP. curl_global_init() has to have run. Messages never hold a password.
 */
#ifndef KAB_PUBLISH_SMTP_H
#define KAB_PUBLISH_SMTP_H

#include <stdint.h>

#include "base/err.h"
#include "base/strv.h"

enum kab_smtp_security {
	KAB_SMTP_PLAIN, /* nothing is encrypted: for servers on this machine */
	KAB_SMTP_STARTTLS, /* refused when the server does not offer it */
	KAB_SMTP_TLS, /* from the first byte */
};

struct kab_smtp {
	const char *server; /* name or address */
	int port; /* 0: 25, 587 or 465 by security */
	enum kab_smtp_security security;
	const char *user, *password; /* NULL: without authentication */
	const char *ca_file; /* certificates to trust beside the system's place; may be NULL */
	const char *from; /* bare address of the envelope */
	const struct kab_strv *to; /* bare addresses */
	int64_t deadline_ns; /* CLOCK_MONOTONIC */
	int cancel_fd; /* readable: stop; -1 never */
};

/*
 * Send `message` (headers and body, LF) to all of them: lines end with CR LF on the way, and dots at
 * their beginning are doubled and taken off by SMTP itself. Blocks. When a recipient is refused, nobody
 * gets it.
 * CONNECT: the server cannot be reached, its certificate is not trusted or it does not offer
 * encryption; AUTH: it refuses user or password; REMOTE: it refuses the mail (its words are in the text);
 * TIMEOUT, CANCELLED; CONFIG: an address or the message cannot be sent as it is.
 */
int kab_smtp_send(const struct kab_smtp *smtp, const char *message, struct kab_err *err);

#endif
