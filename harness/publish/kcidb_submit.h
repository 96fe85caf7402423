/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * KCIDB reports to a server that takes them by HTTP POST with a bearer token, as KernelCI's does: it
 * answers {"id", "status", "message"}, and tells the state of a submission at the "status" beside
 * ".../submit". A report is put into a spool folder first and stays there until the server has it; so
 * neither a bad gateway nor a restart loses it, and none is sent twice. The token is never stored.
 *
 * curl_global_init() has to have run. Messages never hold the token, nor user, password and query of
 * the URL.
 */
#ifndef KAB_PUBLISH_KCIDB_SUBMIT_H
#define KAB_PUBLISH_KCIDB_SUBMIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"

enum kab_kcidb_state {
	KAB_KCIDB_QUEUED = 0, /* not with the server yet */
	KAB_KCIDB_ACCEPTED, /* the server has it and has given an id; what it makes of it is not known */
	KAB_KCIDB_DONE, /* the server has it, and that is that */
	KAB_KCIDB_FAILED, /* the server does not want it: see words */
};

struct kab_kcidb_entry {
	char *path; /* in the spool */
	char *url;
	enum kab_kcidb_state state;
	char *id; /* that the server gave; NULL: none yet */
	char *words; /* of the server or of the network, the last ones; NULL: none */
	int64_t tries;
};
void kab_kcidb_entry_release(struct kab_kcidb_entry *entry);

/* $XDG_STATE_HOME/kab/kcidb-spool; caller frees. */
int kab_kcidb_spool_dir(char **ret, struct kab_err *err);

/* Put a report into the spool. The same report for the same URL has one place: what became of it
 * earlier is in *ret then, but one that failed is queued again. CONFIG: no http URL. */
int kab_kcidb_spool(const char *dir, const char *url, const char *report, size_t n,
		    struct kab_kcidb_entry *ret, struct kab_err *err);

struct kab_kcidb_submit {
	const char *token; /* NULL: none */
	int64_t deadline_ns; /* CLOCK_MONOTONIC: until then it is tried again */
	int cancel_fd; /* readable: stop; -1 never */
	const struct kab_log *log; /* may be NULL */
};
/*
 * Send an entry that is QUEUED, ask what became of one that is ACCEPTED, and write down what is known.
 * 0: entry->state says where it stands (QUEUED: later, words say why). Blocks until the deadline at most.
 * -1: CANCELLED, ENV (the spool cannot be written), AUTH (the token is refused; the report stays
 * queued), CONFIG (the token would go out unencrypted). BUSY: another kab is at the spool.
 */
int kab_kcidb_send(struct kab_kcidb_entry *entry, const struct kab_kcidb_submit *how,
		   struct kab_err *err);

/* All entries that are QUEUED or ACCEPTED; caller releases each and frees the array. */
int kab_kcidb_waiting(const char *dir, struct kab_kcidb_entry **ret, size_t *ret_n,
		      struct kab_err *err);

#endif
