/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One instance at a time on this machine: a file that is locked with flock(2) while its holder lives,
 * and that says who holds it: process, its start time, the boot of the machine. The kernel lets go of
 * the lock when the process dies, however it dies; what the file still says then tells the next one
 * that a job was cut off.
 */
#ifndef KAB_JOBS_LOCK_H
#define KAB_JOBS_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct kab_lock {
	int fd; /* -1: not held */
	char *path;
};
#define KAB_LOCK_INIT     \
	{                 \
		.fd = -1, \
	}

struct kab_lock_holder {
	int64_t pid;
	int64_t start_ticks; /* of the process, since the boot */
	char boot_id[40];
	int64_t since_wall_ns;
	bool alive; /* that process runs, on this boot of this machine */
};

/*
 * Take it; the folder must exist. 0: held. 1: somebody else has it: *ret_holder (may be NULL) says who.
 * *ret_left (may be NULL; caller frees) becomes a sentence when the last holder was cut off, else NULL.
 */
int kab_lock_take(const char *path, int64_t now_ns, struct kab_lock *ret,
		  struct kab_lock_holder *ret_holder, char **ret_left, struct kab_err *err);
/* An orderly end: the file is emptied. Not held is fine. */
void kab_lock_release(struct kab_lock *lock);
/* Who holds it, without taking it. 1: nobody. A holder that was cut off is not alive. */
int kab_lock_show(const char *path, struct kab_lock_holder *ret, struct kab_err *err);

#endif
