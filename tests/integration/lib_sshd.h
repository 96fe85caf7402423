/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sshd.sh from C: servers in a folder of their own, stopped whatever happens. */
#ifndef KAB_TEST_LIB_SSHD_H
#define KAB_TEST_LIB_SSHD_H

#include <stdbool.h>
#include <sys/types.h>

#include "transport/transport.h"

struct sshd_rig {
	char dir[64];
	char config[96]; /* DIR/ssh_config */
};

/* exits with 77 when no sshd can run here */
void sshd_rig_up(struct sshd_rig *rig);
void sshd_rig_down(struct sshd_rig *rig);
/* `sshd.sh start DIR NAME ARGS`; returns the port. args: shell text, may be "". */
int sshd_start(struct sshd_rig *rig, const char *name, const char *args);
/* true if it cannot run here (status 77) */
bool sshd_start_or_skip(struct sshd_rig *rig, const char *name, const char *args, int *port);

/* A TCP server on 127.0.0.1 in a process of its own, *pid: it takes connections and closes each at
 * once, or, with mute, never says a word. Returns the port. End it with tcp_stop. */
int tcp_start(bool mute, pid_t *pid);
void tcp_stop(pid_t pid);
/* n connections to that port of 127.0.0.1 on which nothing is said for so long. */
void tcp_hold(int port, int n, unsigned seconds);

/* Run a line of sh with DIR as $D; returns stdout, caller frees; fails the test on a status != 0
 * unless status is given. */
char *rig_sh(struct sshd_rig *rig, int *status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
