/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A target whose `sh` is a chosen shell: a folder at the front of PATH in which sh points at dash,
 * bash or busybox (then every applet comes from busybox, too), and a work folder.
 */
#ifndef KAB_TEST_SHELLS_H
#define KAB_TEST_SHELLS_H

#include "engine/detach.h"
#include "engine/lease.h"

struct target {
	char dir[64]; /* removed at the end */
	char work[80]; /* folder for runs */
	char lease[80];
};

/* Names the shell that `sh` is now; NULL in argv[1] means dash. */
void target_setup(struct target *t, const char *shell);
void target_remove(struct target *t);

struct kab_session *target_session(void);
struct kab_detach *target_open(struct target *t, struct kab_session *s);

/* Run one shell line on the target and return its stdout; caller frees. */
char *target_sh(const char *line);

#endif
