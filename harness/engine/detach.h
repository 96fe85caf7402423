/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Detached runs: a benchmark started on a host so that neither a lost connection nor a dead
 * controller loses or doubles it. A shell script (agent.sh, sent once per handle) does the work on
 * the target; a run is a directory there, named by the controller.
 *
 * Life of a run:
 *	open ─▶ start ─▶ wait ─▶ fetch ... ─▶ clean ─▶ close
 * After a lost connection (-1 with CONNECT or TIMEOUT): open a new session, open a new handle, and
 * repeat the same call with the same run id. start is idempotent: a run id is executed at most
 * once, whatever is repeated. Nothing of ours polls while a benchmark is timed: wait sleeps on a
 * FIFO whose writing end is held by the supervisor, so it also returns when that dies.
 *
 * All calls block until done, until wait->deadline_ns or cancellation, and return 0, or -1 with an
 * error. A handle belongs to the thread of its session, which it borrows.
 */
#ifndef KAB_ENGINE_DETACH_H
#define KAB_ENGINE_DETACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

struct kab_detach; /* a session with the agent in place */

/*
 * Find a work folder, put the agent there, and see that `become` works.
 * workdir: absolute path from the lab file, or NULL: $XDG_STATE_HOME/kab, ~/.local/state/kab or
 * /var/tmp/kab-UID, the first that is writable, ours, and not on a file system in memory. A named
 * folder must be writable; nothing is ever executed from it, so noexec is fine.
 * become: NULL, or "sudo": runs are started through `sudo -n`; everything that this handle places
 * or reads is then root's.
 * Errors: REMOTE (no usable folder: says which were tried and why each was refused; remedy
 * "workdir"), AUTH (sudo would ask for a password), and those of the transport.
 */
int kab_detach_open(struct kab_session *s, const char *workdir, const char *become,
		    const struct kab_wait *wait, struct kab_detach **ret, struct kab_err *err);
void kab_detach_close(struct kab_detach *d); /* NULL is fine; the session stays open */
const char *kab_detach_base(const struct kab_detach *d); /* the work folder; borrowed */

struct kab_detach_file {
	const char *name; /* relative to the run's working folder; no '/', not "." or ".." */
	const void *data;
	size_t len; /* bytes */
	unsigned mode; /* 0: 0644 */
};

struct kab_detach_spec {
	const char *run_id; /* [A-Za-z0-9._-], 1 to 120 bytes, not starting with '.' or '-' */
	/*
	 * Token of the lease (engine/lease.h). The target refuses to start under any but the
	 * newest. 0: no lease is looked at. lease_dir NULL: KAB_LEASE_DIR.
	 */
	uint64_t token;
	const char *lease_dir;

	const char *const *argv; /* NULL-terminated; reaches the program byte for byte */
	const char *const
		*env; /* "NAME=VALUE" ..., NULL-terminated, or NULL. LC_ALL=C is set before */
	const struct kab_detach_file *files; /* placed in the working folder before anything runs */
	size_t n_files;

	/*
	 * Untimed steps, each an argv, NULL-terminated list of NULL-terminated lists, or NULL; run
	 * by the supervisor on the target, one after the other, in the same folder and environment.
	 * A failing prepare step ends the run without a measurement (result: step, exit_status);
	 * cleanup steps run in any case, also after a timeout or a kill, and their failure is noted
	 * in cleanup_failed. Their output is the stream "steps".
	 */
	const char *const *const *prepare;
	const char *const *const *cleanup;

	/* A load that runs beside the benchmark: its own group, started before, stopped after; its
	 * output is the stream "background". If it ends by itself, background_died says so. NULL: none */
	const char *const *background;
	unsigned settle_s; /* seconds between the start of the load and that of the benchmark */

	/* Seconds, > 0: the supervisor ends the benchmark after it, so that no dead controller
	 * leaves one running. Each untimed step gets step_timeout_s (0: the same). */
	unsigned timeout_s;
	unsigned step_timeout_s;
};

enum kab_detach_state {
	KAB_DETACH_NONE, /* no such run: never started, or cleaned */
	KAB_DETACH_STARTING, /* placed, the supervisor has not claimed it yet */
	KAB_DETACH_RUNNING,
	KAB_DETACH_DONE, /* the result is there */
	KAB_DETACH_LOST, /* the supervisor died without a result */
	KAB_DETACH_REBOOTED, /* lost because the host was restarted */
	KAB_DETACH_ABORTED, /* killed before it began */
};
const char *kab_detach_state_name(enum kab_detach_state state); /* "done", "lost", ... */

struct kab_detach_result {
	enum kab_detach_state state;
	bool group_alive; /* LOST: processes of the run still live; kab_detach_kill ends them */

	/* The rest is meaningful when state is DONE. */
	int exit_status; /* 0..255, 128+n after signal n; of the step that ended the run */
	int signal; /* 0: ended by itself. From GNU time where it is there, else exit_status-128 */
	bool timed_out; /* ended by the supervisor after timeout_s */
	bool killed; /* ended by kab_detach_kill */
	bool oom; /* the kernel's log or cgroup says it killed for memory during the run.
			    Only meaningful if oom_known */
	bool oom_known;
	char step[32]; /* "benchmark", or what failed before: "prepare 1", "background" */
	bool background_died;
	int cleanup_failed; /* number of failed cleanup steps */
	double elapsed_s; /* /proc/uptime, resolution 10 ms; NAN if missing */
	double user_s, system_s; /* of the benchmark and its waited-for children; NAN if missing */
	int64_t max_rss_kb; /* largest process; -1 if missing, then why is in rss_missing */
	char rss_missing[64];
	char boot_id[40]; /* of the boot in which it ran */
};

/*
 * Place and start. Already there: nothing happens, and ret tells its present state. ret may be NULL.
 * Errors: BUSY (token is not the newest: the lease was lost), CONFIG (a name is not allowed), REMOTE.
 */
int kab_detach_start(struct kab_detach *d, const struct kab_detach_spec *spec,
		     const struct kab_wait *wait, struct kab_detach_result *ret,
		     struct kab_err *err);

/*
 * Sleep until the run is over; ret->state is then DONE, LOST, REBOOTED, ABORTED or NONE. Give a
 * deadline beyond the run's own timeouts: TIMEOUT here means that the host does not answer.
 */
int kab_detach_wait(struct kab_detach *d, const char *run_id, const struct kab_wait *wait,
		    struct kab_detach_result *ret, struct kab_err *err);

/* As it is now; never waits for the run. */
int kab_detach_status(struct kab_detach *d, const char *run_id, const struct kab_wait *wait,
		      struct kab_detach_result *ret, struct kab_err *err);

/*
 * Append at most max bytes from offset of a stream to *ret: "stdout", "stderr", "background",
 * "steps", or the name of a file in the run's working folder. ret->cut is set when there is more.
 * Works while it runs, too. 1: there is no such file.
 */
int kab_detach_fetch(struct kab_detach *d, const char *run_id, const char *name, uint64_t offset,
		     size_t max, const struct kab_wait *wait, struct kab_buf *ret,
		     struct kab_err *err);

/*
 * End a run: TERM to its groups and to whatever else carries its mark in the environment, KILL
 * 2 s later. Returns when nothing of it is left; ret (may be NULL) is the state after. Not an
 * error if it is already over or does not exist.
 */
int kab_detach_kill(struct kab_detach *d, const char *run_id, const struct kab_wait *wait,
		    struct kab_detach_result *ret, struct kab_err *err);

/* Remove the run's folder. BUSY while it runs; not an error if it is not there. */
int kab_detach_clean(struct kab_detach *d, const char *run_id, const struct kab_wait *wait,
		     struct kab_err *err);

/* Names of the runs in the work folder (for a resume or a sweep), appended. */
struct kab_strv;
int kab_detach_list(struct kab_detach *d, const struct kab_wait *wait, struct kab_strv *ret,
		    struct kab_err *err);

#endif
