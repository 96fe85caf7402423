/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * put and get for transports whose exec runs on another machine: by `cat` and `tail` there, so that
 * a Dropbear without an SFTP server will do. The session's exec is called; see transport.h.
 */
#ifndef KAB_TRANSPORT_REMOTE_FILE_H
#define KAB_TRANSPORT_REMOTE_FILE_H

#include "transport/transport.h"

int kab_remote_put(struct kab_session *s, const char *path, const void *data, size_t len,
		   unsigned mode, const struct kab_wait *wait, struct kab_err *err);
int kab_remote_get(struct kab_session *s, const char *path, uint64_t offset, size_t max,
		   const struct kab_wait *wait, struct kab_buf *ret, struct kab_err *err);

#endif
