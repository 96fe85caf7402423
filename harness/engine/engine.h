/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Collecting: a run is created in the store with all its steps, then executed, one lane (thread)
 * for each host. Executing is the same for a new run and for a resumed one: what has a final state
 * in the store is not done again.
 */
#ifndef KAB_ENGINE_ENGINE_H
#define KAB_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "model/facts.h"
#include "model/kernel.h"
#include "model/lab.h"
#include "model/plan.h"
#include "model/suite.h"
#include "store/store.h"

/* ---- creating ---- */

struct kab_engine_new {
	const struct kab_suite *suite; /* bound */
	const struct kab_kernel_list *kernels;
	const struct kab_plan *plan;
	const struct kab_lab *lab;
	const struct kab_lab_host *const *hosts; /* n_hosts, order of the plan */
	const struct kab_facts *facts; /* n_hosts, as probed in preflight */
	size_t n_hosts;
	const struct kab_strv *condition_args; /* of --condition, as given; NULL: none */
	bool aa; /* an A/A run: its noise floor is stored */
	const char *name; /* wished name of the run */
	const char *command_line; /* for the record */
	const char *version; /* of kab */
};
/* Stores the run and its steps. *ret_name: the name it got (caller frees). */
int kab_engine_create(struct kab_store *store, const struct kab_engine_new *what, int64_t *ret_id,
		      char **ret_name, struct kab_err *err);

/* The i-th boot or step of a plan as the store takes it (also for later blocks). params: canonical,
 * unresolved, borrowed; boot: the index that the step's boot has in the store's array. */
void kab_engine_store_boot(const struct kab_plan *plan, size_t i, struct kab_store_boot *ret);
void kab_engine_store_step(const struct kab_plan *plan, const struct kab_suite *suite, size_t i,
			   size_t boot, const char *params, struct kab_store_step *ret);

/* The noise floor of a finished A/A run goes into the store: one entry for each row that carries a
 * verdict and has two or more boots (or restarts) per label. */
int kab_engine_store_noise(struct kab_store *store, int64_t run_id, struct kab_err *err);

/* Machine hash of a host as one of its boots proved it; borrowed, NULL when none did. */
const char *kab_engine_machine_of(const struct kab_boot_info *boots, size_t n, const char *host);

/* ---- executing ---- */

enum kab_lane_outcome {
	KAB_LANE_DONE, /* every step of the host has a final state */
	KAB_LANE_NEEDS_BOOT, /* the user has to boot another kernel, then resume */
	KAB_LANE_STOPPED, /* asked to stop */
	KAB_LANE_FAILED, /* err says why; resume goes on */
};

enum kab_event_kind {
	KAB_EVENT_NOTE, /* text: connected, waiting for a lease, condition applied ... */
	KAB_EVENT_BOOT, /* a boot begins: kernel, text; warmup: it is a restart only */
	KAB_EVENT_STEP_BEGIN, /* case ... iteration are set */
	KAB_EVENT_STEP_END, /* state, value, text (reason) are set too */
	KAB_EVENT_LANE_END, /* outcome; text: why it failed; kernel: which to boot */
	KAB_EVENT_HOST, /* text: "connected", "leased", "lost", "reconnected" */
};

/* Strings are owned by the event and valid during the callback. */
struct kab_event {
	enum kab_event_kind kind;
	char *host, *kernel, *condition, *case_name, *row_key, *metric, *unit, *text;
	int boot; /* of its host, from 1; 0: none */
	int iteration, attempt;
	int block, blocks; /* of a BOOT: from 1, and how many there are at most */
	bool warmup;
	enum kab_iter_state state;
	enum kab_lane_outcome outcome;
	int64_t iteration_id;
	double value; /* primary metric (mean of its samples); NAN when none */
	double elapsed_s; /* NAN unknown */
	size_t done, total; /* steps of this host, warm-ups included */
};

struct kab_lane_result {
	char *host;
	enum kab_lane_outcome outcome;
	char *kernel; /* NEEDS_BOOT: label of the kernel to boot */
	char *spec; /* NEEDS_BOOT: what it is */
	struct kab_err err;
};

struct kab_engine_opts {
	struct kab_store *store;
	int64_t run_id;
	const struct kab_lab *lab;
	int stop_fd; /* readable: finish the iteration and stop; -1 never */
	int cancel_fd; /* readable: stop now and clean the targets; -1 never */
	double lease_wait_s; /* wait so long for a host that is leased to somebody else */
	const struct kab_log *log;
	/* Called in the caller's thread, one at a time. May be NULL. */
	void (*event)(void *ctx, const struct kab_event *event);
	/* Called in the caller's thread at least every 250 ms; may be NULL. */
	void (*tick)(void *ctx);
	void *ctx;
};

/* Blocks until every lane has ended. Returns 0 also when lanes failed: see *ret (n_hosts entries,
 * released with kab_lane_results_free); -1 when nothing could be started. Sets the run's state. */
int kab_engine_execute(const struct kab_engine_opts *opts, struct kab_lane_result **ret,
		       size_t *ret_n, struct kab_err *err);
/* Is the run being carried out by a kab on this machine? */
int kab_engine_is_busy(struct kab_store *store, int64_t run_id, bool *ret, struct kab_err *err);
void kab_lane_results_free(struct kab_lane_result *results, size_t n);

/*
 * Before anything starts: is every condition possible, can each case run there, does the host run
 * a kernel of the run, or can kab boot it into each? Text for the user, one line each, is appended
 * to *problems (fatal), *warnings, and *touches (what the run will change on a host). Blocks.
 * Returns 0 also with problems.
 */
int kab_engine_preflight(const struct kab_engine_new *what, const struct kab_log *log,
			 int cancel_fd, struct kab_strv *problems, struct kab_strv *warnings,
			 struct kab_strv *touches, struct kab_err *err);

#endif
