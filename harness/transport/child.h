/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Child processes of this machine: posix_spawn, a process group of their own, every descriptor
 * CLOEXEC, signals back to their defaults. Used by the local transport and for the small OpenSSH
 * tools that the ssh transport asks (ssh -G, ssh-keygen -F, getent).
 */
#ifndef KAB_TRANSPORT_CHILD_H
#define KAB_TRANSPORT_CHILD_H

#include <sys/types.h>

#include "transport/transport.h"

/*
 * Run argv (searched on PATH) to its end and collect what it writes, up to the caps of `req`.
 * Blocks until the process has exited: descendants that keep its stdout open are not waited for,
 * and are left alone. Input goes through an unlinked file, so that a child which does not read it
 * can never stop us. At the deadline or on cancellation the whole group gets TERM, and KILL half a
 * second later.
 *
 * 0: it ran; ret holds bytes and exit status (128+n after signal n). -1: ENV (cannot start; a
 * missing program is ENV with os_errno ENOENT), TIMEOUT, CANCELLED; ret is then released.
 */
int kab_child_run(const struct kab_exec *req, const struct kab_wait *wait,
		  struct kab_exec_result *ret, struct kab_err *err);

/* Start argv with the three given descriptors and leave it running. 0 and *pid, or -1 ENV. */
int kab_child_spawn(const char *const *argv, int fd_in, int fd_out, int fd_err, pid_t *pid,
		    struct kab_err *err);

/*
 * The same, but it ends with us, also when we are killed: a shell in its group waits for the end of
 * a pipe whose write end is *life (CLOEXEC), then ends it and removes `folder` and what is in it.
 * stdin is /dev/null. To end it from here: kab_child_end(), then close *life.
 */
int kab_child_spawn_bound(const char *const *argv, const char *folder, int fd_out, int fd_err,
			  pid_t *pid, int *life, struct kab_err *err);

/* TERM to the group, KILL at most grace_ms later, and reap. Blocks no longer than that. */
void kab_child_end(pid_t pid, int grace_ms);

#endif
