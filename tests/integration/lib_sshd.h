/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sshd.sh from C: servers in a folder of their own, stopped whatever happens. */
#ifndef KAB_TEST_LIB_SSHD_H
#define KAB_TEST_LIB_SSHD_H

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

/* Run a line of sh with DIR as $D; returns stdout, caller frees; fails the test on a status != 0
 * unless status is given. */
char *rig_sh(struct sshd_rig *rig, int *status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
