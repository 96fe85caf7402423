/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts of a host, over an open session. */
#ifndef KAB_ENGINE_PROBE_H
#define KAB_ENGINE_PROBE_H

#include "base/err.h"
#include "model/facts.h"
#include "model/lab.h"
#include "model/record.h"
#include "transport/transport.h"

/* Run the probe script, looking for the tools of every runner. Blocks; errors of the transport,
 * or REMOTE when the shell there is not a POSIX one. */
/* The boot id of now, nothing else: one small command. */
int kab_probe_boot_id(struct kab_session *s, const struct kab_wait *wait, char ret[40],
		      struct kab_err *err);
int kab_probe(struct kab_session *s, const struct kab_wait *wait, struct kab_facts *ret,
	      struct kab_err *err);
/* The endpoint of a lab host; strings are borrowed from it. */
struct kab_endpoint kab_probe_endpoint(const struct kab_lab_host *host, const struct kab_log *log);
/* Open a session for a lab host. */
int kab_probe_open(const struct kab_endpoint *ep, const struct kab_wait *wait,
		   struct kab_session **ret, struct kab_err *err);
/* Who the running kernel is, from facts; caller releases. */
void kab_probe_kernel_id(const struct kab_facts *facts, struct kab_kernel_id *ret);
/* Hex sha256 of the machine id: the identity of a host. */
void kab_probe_machine_hash(const struct kab_facts *facts, char hex[65]);

/* One host of a parallel probe. */
struct kab_probe_host {
	const struct kab_lab_host *host; /* in */
	struct kab_facts facts; /* out; caller releases */
	int failed; /* out: 1 when err is set */
	struct kab_err err;
};
/* Probe all at once, a thread each. deadline_s for each host. Never fails as a whole. */
void kab_probe_all(struct kab_probe_host *hosts, size_t n, double deadline_s, int cancel_fd,
		   const struct kab_log *log);

#endif
