/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lease: who owns a host. A generation lock in a folder of the target: lock.N is made with
 * link(2), the highest N owns, and N is the fencing token that kab_detach_start checks. It is
 * taken for a time to live on the target's own clock (uptime and boot id; the wall clock decides
 * nothing, so a step of it expires nothing).
 *
 * The folder is fixed, KAB_LEASE_DIR, and open to all users: `local`, an ssh alias and a second
 * user's run meet in the same place when they mean the same machine. It is persistent, because a
 * reboot of ours in the middle of an experiment must not free the host.
 *
 * A lease whose time is over can be taken by anybody. If a run of the former owner is still alive
 * then, acquire says BUSY, unless KAB_LEASE_KILL_LEFTOVER is given: the run is then ended first
 * (one that belongs to another user cannot be: BUSY). A lease of another boot is free, unless it
 * was extended with `persist`: that one counts its time from the start of the present boot.
 *
 * Calls block as those of the transport do and return 0, or -1 with an error.
 */
#ifndef KAB_ENGINE_LEASE_H
#define KAB_ENGINE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/transport.h"

#define KAB_LEASE_DIR "/var/tmp/kab-lease"
#define KAB_LEASE_OWNER_MAX 96
/* Clocks and shells are slow: shorter leases than this (seconds) are rounded up to it. */
#define KAB_LEASE_TTL_MIN 5

enum { KAB_LEASE_KILL_LEFTOVER = 1 };

struct kab_lease {
	uint64_t token; /* > 0 while held */
	char owner[KAB_LEASE_OWNER_MAX];
	char dir[128];
};

struct kab_lease_info {
	bool held; /* by a living lease */
	uint64_t token; /* newest generation; 0: never taken */
	char owner[KAB_LEASE_OWNER_MAX]; /* of the newest generation; "" if released or none */
	int64_t left_s; /* seconds until it expires; 0 if it has */
	bool persist; /* survives a reboot */
	bool running; /* a run started under a lease is alive */
	char run[200]; /* its folder */
};

/*
 * Take it. owner: printable, no blanks, unique to the holder ("user@machine:pid:nonce"); the same
 * owner again gets its own lease back, as a new generation. dir NULL: KAB_LEASE_DIR. ttl_s >= 1.
 * BUSY: the text names owner and time left; info (may be NULL) has them as values.
 */
int kab_lease_acquire(struct kab_session *s, const char *dir, const char *owner, int64_t ttl_s,
		      unsigned flags, const struct kab_wait *wait, struct kab_lease *ret,
		      struct kab_lease_info *info, struct kab_err *err);

/*
 * Count ttl_s anew from now: before an iteration (its timeout plus a margin), and with persist
 * before an own reboot (more than the worst boot). BUSY: it was lost to somebody else meanwhile.
 */
int kab_lease_extend(struct kab_session *s, const struct kab_lease *lease, int64_t ttl_s,
		     bool persist, const struct kab_wait *wait, struct kab_err *err);

/* Give it back. Not an error if it was lost already. */
int kab_lease_release(struct kab_session *s, struct kab_lease *lease, const struct kab_wait *wait,
		      struct kab_err *err);

int kab_lease_show(struct kab_session *s, const char *dir, const struct kab_wait *wait,
		   struct kab_lease_info *info, struct kab_err *err);

/* Take it away from whoever has it; its next extend or start fails. info (may be NULL): who it was. */
int kab_lease_break(struct kab_session *s, const char *dir, const struct kab_wait *wait,
		    struct kab_lease_info *info, struct kab_err *err);

#endif
