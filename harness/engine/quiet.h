/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is the host quiet? Looked at before each iteration: what others use of the CPUs, package managers
 * and maintenance jobs, logins; and whether the CPUs were throttled since the last look. The suite's
 * policy says what follows.
 */
#ifndef KAB_ENGINE_QUIET_H
#define KAB_ENGINE_QUIET_H

#include <stdint.h>

#include "base/err.h"
#include "model/suite.h"
#include "transport/transport.h"

struct kab_quiet_look {
	char *busy; /* reasons, "; " between them; NULL: quiet. Owned */
	int64_t throttle; /* count since boot; -1 unknown */
};
void kab_quiet_look_release(struct kab_quiet_look *look);

/* Blocks about half a second. `cpus`: how much of a CPU others may use. Errors of the transport. */
int kab_quiet_look(struct kab_session *s, double cpus, const struct kab_wait *wait,
		   struct kab_quiet_look *ret, struct kab_err *err);

#endif
