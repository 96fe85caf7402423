/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside the engine: a lane is one thread for one host, running one straight-line procedure. Lanes
 * share the job (read-only), the store (its own mutex), the event queue and two descriptors.
 */
#ifndef KAB_ENGINE_LANE_H
#define KAB_ENGINE_LANE_H

#include "engine/detach.h"
#include "engine/engine.h"
#include "engine/job.h"
#include "engine/lease.h"
#include "engine/queue.h"

struct kab_lane {
	/* given */
	const struct kab_engine_opts *opts;
	const struct kab_job *job;
	const struct kab_lab_host *host;
	struct kab_queue *queue;
	struct kab_boot_info *boots; /* of this host, order of sequence; owned */
	size_t n_boots;
	struct kab_step_info *steps; /* of this host, order of sequence; owned */
	size_t n_steps;
	struct kab_lane_result *result;

	/* connection */
	struct kab_endpoint ep;
	struct kab_session *session; /* NULL: not connected */
	struct kab_detach *detach;
	struct kab_lease lease;
	char owner[KAB_LEASE_OWNER_MAX];

	/* where it is */
	struct kab_facts facts; /* of the present boot and condition */
	struct kab_strv releases; /* of job->kernels, in their order; "" while unknown */
	char machine_hash[65];
	const struct kab_setting_list *condition; /* applied; NULL: none */
	bool condition_lost; /* somebody took it back: apply it again */
	size_t done;
	struct kab_strv disturbances; /* reasons that were said already */
	bool cycled; /* its power was cycled under the iteration that is being dealt with */
	int64_t throttle; /* throttle count at the last look; -1 unknown */
};

/* The procedure; the result is in lane->result. */
void kab_lane_run(struct kab_lane *lane);

/* ---- lane.c, for its parts ---- */
/* A wait of so many seconds that a hard stop ends. */
struct kab_wait kab_lane_wait(const struct kab_lane *lane, double seconds);
bool kab_lane_stopping(const struct kab_lane *lane); /* asked to stop, softly or hard */
/* Steps back into the order of the plan, after some were added. */
void kab_lane_sort_steps(struct kab_lane *lane);
/* Is the error one that a new connection may cure? */
bool kab_lane_link_lost(const struct kab_err *err);
int kab_lane_connect(struct kab_lane *lane, struct kab_err *err);
/* The same with so many seconds for it, at most. */
int kab_lane_connect_in(struct kab_lane *lane, double seconds, struct kab_err *err);
void kab_lane_disconnect(struct kab_lane *lane);
/* After a lost link: try again, with growing pauses, until deadline_ns. */
int kab_lane_reconnect(struct kab_lane *lane, int64_t deadline_ns, struct kab_err *err);
void kab_lane_note(struct kab_lane *lane, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- install_lane.c ---- */
/* Install what comes from files; fills in lane->releases. */
int kab_lane_install(struct kab_lane *lane, struct kab_err *err);

/* ---- boot.c: which kernel runs, and what comes next ---- */
enum kab_boot_answer {
	KAB_BOOT_READY, /* the session's boots are proven */
	KAB_BOOT_USER, /* the user has to boot *ret_kernel */
	KAB_BOOT_NOTHING, /* no boot of this host is pending */
};
/* Choose and prove the next session: on READY, in_session[i] says which of lane->boots take part. */
int kab_boot_next(struct kab_lane *lane, bool *in_session, enum kab_boot_answer *ret,
		  const char **ret_kernel, struct kab_err *err);

/* ---- step.c: one iteration ---- */
/* 0: it has a final state (or was left pending because of a stop: step->state tells); -1: the lane
 * cannot go on. *ret_rebooted: the host was restarted under it. */
int kab_step_run(struct kab_lane *lane, struct kab_step_info *step,
		 const struct kab_boot_info *boot, bool *ret_rebooted, struct kab_err *err);
/* The iteration will never be run: record why. */
int kab_step_missing(struct kab_lane *lane, struct kab_step_info *step,
		     const struct kab_boot_info *boot, const char *reason, struct kab_err *err);

#endif
