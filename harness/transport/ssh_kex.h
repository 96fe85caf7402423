/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why there is no common algorithm. libssh2 only says -5; but what a server offers is the first packet
 * it sends, in the clear (RFC 4253, section 7.1). Internal to the ssh transport.
 */
#ifndef KAB_TRANSPORT_SSH_KEX_H
#define KAB_TRANSPORT_SSH_KEX_H

#include <libssh2.h>

#include "base/buf.h"

/* So much of what a server sends first is kept, bytes. */
#define KAB_SSH_HELLO_MAX ((size_t)64 << 10)

/*
 * hello: the first bytes from a server: its greeting, then its KEXINIT. host_keys: what we take, comma
 * separated; the other lists are libssh2's. The first list without a match in words, as "key exchange
 * (the server has only A,B)"; caller frees. NULL when all match, or hello is not what it should be.
 */
char *kab_ssh_kex_mismatch(LIBSSH2_SESSION *ssh, const struct kab_buf *hello,
			   const char *host_keys);

#endif
