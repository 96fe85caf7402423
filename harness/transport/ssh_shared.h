/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the connections of one process share: a queue before each server, so that many hosts behind
 * one jump host do not drive each other out (MaxStartups), and the keys whose passphrase was asked
 * for. Made and freed by the command line, borrowed by endpoints; safe from any thread.
 */
#ifndef KAB_TRANSPORT_SSH_SHARED_H
#define KAB_TRANSPORT_SSH_SHARED_H

#include <pthread.h>

#include "base/strv.h"
#include "transport/transport.h"

struct kab_ssh_shared *kab_ssh_shared_new(void);
/* Ends the agent that holds keys. NULL is fine. */
void kab_ssh_shared_free(struct kab_ssh_shared *sh);

/* ---- ssh_gate.c: so many logins at a time at one place ---- */
/* sshd begins to drop at ten unfinished logins (MaxStartups); others use it as well. */
#define KAB_SSH_GATE_WIDTH 8

enum kab_ssh_passage {
	KAB_SSH_PASSED, /* it spoke with us */
	KAB_SSH_DROPPED, /* by a server that was full: the gate gets narrower for a while */
	KAB_SSH_ELSE, /* no answer, refused, interrupted */
};

/*
 * Wait for a turn at `place`, as kab_ssh_place() names it. wait's deadline is moved on by the time
 * that took: a queue that moves is no reason to give a host up. 0, or -1 CANCELLED. With sh NULL
 * it is always one's turn.
 */
int kab_ssh_gate_enter(struct kab_ssh_shared *sh, const char *place, struct kab_wait *wait,
		       struct kab_err *err);
void kab_ssh_gate_leave(struct kab_ssh_shared *sh, const char *place, enum kab_ssh_passage how);
/* The place of the small programs that are asked before a connection: hundreds at once would make
 * each other late. */
#define KAB_SSH_GATE_TOOLS "programs of this machine"
/* Has it ever spoken with anybody? Then being dropped means that it is full. */
bool kab_ssh_gate_known(struct kab_ssh_shared *sh, const char *place);
/* The server that is knocked at first: of a jump host, else of the host itself. Caller frees. */
struct kab_ssh_config;
char *kab_ssh_place(const struct kab_ssh_config *cfg);

/* ---- ssh_unlock.c: keys with a passphrase ---- */
/*
 * Have the key of that file in an agent of our own. The passphrase is asked for once for each file,
 * by the terminal or $SSH_ASKPASS; all others wait for the answer. wait's deadline is moved on by
 * the time that took. *ret: the agent's socket, borrowed from sh. 0; -1: AUTH (wrong passphrase,
 * nobody to ask; the text has no host), ENV, CANCELLED.
 */
int kab_ssh_unlock(struct kab_ssh_shared *sh, const char *path, struct kab_wait *wait,
		   const char **ret, struct kab_err *err);

/* Is it the first time that line `no` of a file is spoken of? For warnings that concern all hosts;
 * always true with sh NULL. */
bool kab_ssh_shared_first(struct kab_ssh_shared *sh, const char *file, int no);

/* ---- inside ---- */
struct kab_ssh_gates;
struct kab_ssh_gates *kab_ssh_gates_new(void);
void kab_ssh_gates_free(struct kab_ssh_gates *gates);
struct kab_ssh_unlocked;
struct kab_ssh_unlocked *kab_ssh_unlocked_new(void);
void kab_ssh_unlocked_free(struct kab_ssh_unlocked *u);

struct kab_ssh_shared {
	pthread_mutex_t lock;
	struct kab_strv said;
	struct kab_ssh_gates *gates;
	struct kab_ssh_unlocked *unlocked;
};

#endif
