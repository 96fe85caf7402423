/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One night of a nightly file: find a new kernel, measure it against its baseline and the reference on
 * every host within the window, judge it against history, confirm, write the mail, clean up.
 *
 * What touches the world is given by the caller as functions; NULL takes the real thing. A night is
 * kept in the store step by step, so that one that was cut off is gone on with by the next call.
 * Times are nanoseconds since 1970 of the given clock.
 */
#ifndef KAB_JOBS_NIGHTLY_H
#define KAB_JOBS_NIGHTLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "engine/engine.h"
#include "jobs/source.h"
#include "judge/judge.h"
#include "model/facts.h"
#include "model/lab.h"
#include "model/nightly.h"
#include "model/suite.h"
#include "reports/report.h"
#include "store/nightly.h"

/* A run of the night that is to be executed; it is stored already. */
struct kab_night_run {
	int64_t run_id;
	char *name;
	char *purpose; /* "night", "aa", "more", "confirm" */
	const struct kab_lab_host *host;
	int64_t not_before_ns; /* the host's window begins */
	int64_t soft_ns; /* finish the iteration and stop */
	int64_t hard_ns; /* stop now: the host's window ends */
	/* out */
	enum kab_lane_outcome outcome;
	struct kab_err err; /* of FAILED */
};

/* Strings of *ret are owned by whoever asked. */
struct kab_nightly_env {
	const struct kab_nightly *config;
	const struct kab_lab *lab;
	const struct kab_suite *suite; /* bound */
	struct kab_store *store; /* for writing */
	const char *state_dir; /* exists */
	const char *version; /* of kab, for the record */
	const struct kab_log *log; /* of the night; may be NULL */
	int stop_fd, cancel_fd; /* -1: never */
	bool now; /* ignore the window: begin at once, for as long as a window lasts */
	const char *date; /* with now: the night to be; NULL: that of today */
	bool dry_run; /* look and plan only */
	struct kab_buf *plan_text; /* dry_run: what would be measured and why */
	bool mail_always; /* --mail: write the mail of this night whatever happened */
	void *ctx; /* of all that follow */
	int64_t (*now_ns)(void *ctx); /* NULL: the clock of this machine */
	/* Which night it is, as soon as that is known. May be NULL. */
	void (*begun)(void *ctx, const char *date);
	/* What all sources have, newest last, in place of looking at them. */
	int (*look)(void *ctx, struct kab_candidates *ret, struct kab_err *err);
	/* Facts of a host. NULL: over its transport. */
	int (*probe)(void *ctx, const struct kab_lab_host *host, struct kab_facts *ret,
		     struct kab_err *err);
	/* Carry out runs side by side; NULL: the engine. -1: nothing could be started. */
	int (*execute)(void *ctx, struct kab_night_run *runs, size_t n, struct kab_err *err);
	/* What stands above the tables of a report. NULL: nothing. */
	int (*circumstances)(void *ctx, const struct kab_run_info *run,
			     const struct kab_judgement *judgement, struct kab_preamble *ret,
			     struct kab_err *err);
	/* Send a message (headers and body). NULL: by SMTP, as the file says. */
	int (*send)(void *ctx, const char *from, const struct kab_strv *to, const char *message,
		    struct kab_err *err);
};

enum kab_night_end {
	KAB_NIGHT_MEASURED, /* also with failures: see exit_status */
	KAB_NIGHT_SKIPPED, /* nothing was new, and the policy is to skip */
	KAB_NIGHT_OUTSIDE, /* not in the window */
	KAB_NIGHT_ALREADY, /* this night is done */
	KAB_NIGHT_FAILED, /* nothing could be measured */
	KAB_NIGHT_INTERRUPTED, /* the next call goes on */
	KAB_NIGHT_DRY, /* dry_run */
};

struct kab_nightly_result {
	enum kab_night_end end;
	int exit_status; /* 0, 3, 4, 5, 130; regressions do not change it */
	bool news; /* something that a person should see */
	size_t regressed, improved; /* confirmed in this night */
	size_t open; /* confirmed regressions that nobody has acknowledged */
	size_t missed; /* nights recorded as missed by this call */
	bool resumed; /* a night that was cut off was gone on with */
	char date[12];
	char *summary; /* one line; caller frees */
};
void kab_nightly_result_release(struct kab_nightly_result *result);

/* Go through the night of now. 0: see *ret. -1: nothing was decided (store, configuration). */
int kab_nightly_night(const struct kab_nightly_env *env, struct kab_nightly_result *ret,
		      struct kab_err *err);

/* $state of the file, else below XDG_STATE_HOME; made, private. Caller frees. */
int kab_nightly_state_dir(const struct kab_nightly *config, char **ret, struct kab_err *err);

/* ---- nightly_status.c: for people and for monitoring ---- */
/* What is going on and what was, as text. env: store (NULL: there is none yet), state_dir, now_ns. */
int kab_nightly_status(const struct kab_nightly_env *env, struct kab_buf *ret, struct kab_err *err);
/*
 * Is the nightly job itself alive? 0: yes. 1: no; *ret_why (caller frees) is a sentence either way. By the
 * heartbeat in the state folder and the nights in the store: the last window that is over must have
 * been seen by a job.
 */
int kab_nightly_check(const struct kab_nightly_env *env, char **ret_why, struct kab_err *err);
/* The job has been here: at its begin and at its end. */
int kab_nightly_heartbeat(const char *state_dir, int64_t now_ns, const char *text,
			  struct kab_err *err);

#endif
