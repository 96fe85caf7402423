/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands over an open ssh session. Internal to the ssh transport. */
#ifndef KAB_TRANSPORT_SSH_EXEC_H
#define KAB_TRANSPORT_SSH_EXEC_H

#include "transport/ssh_session.h"

/* As kab_transport.exec. The command replaces the login shell, so a signal is told as one. */
int kab_ssh_exec(struct kab_ssh_session *s, const struct kab_exec *req, const struct kab_wait *wait,
		 struct kab_exec_result *ret, struct kab_err *err);

/* Room for what a login shell's start-up files may print before the mark, bytes. */
#define KAB_SSH_CHATTER_MAX ((size_t)64 << 10)
/* Cut off everything up to and with the mark, then what is over max bytes. */
void kab_ssh_drop_chatter(struct kab_buf *out, const char *mark, size_t max);

#endif
