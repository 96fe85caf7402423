/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points, nominations, trials and notes of histories; searches for commits. As in store/store.h: 0 or
 * -1 (STORE), 1 for "there is none". What is there already is left as it is, so that every verb may be
 * repeated.
 */
#ifndef KAB_STORE_HISTORY_H
#define KAB_STORE_HISTORY_H

#include "model/history.h"
#include "store/store.h"

/* NULL members do not restrict. */
struct kab_history_filter {
	const char *tree, *host, *case_name, *metric;
	const char *from, *to; /* dates, both included */
};

int kab_store_history_put_point(struct kab_store *store, const struct kab_point *point,
				struct kab_err *err);
/* By series (in the order in which they were first seen), then by date. */
int kab_store_history_points(struct kab_store *store, const struct kab_history_filter *filter,
			     struct kab_point_list *ret, struct kab_err *err);
/* Names of the trees that have points, newest first. */
struct kab_strv;
int kab_store_history_trees(struct kab_store *store, struct kab_strv *ret, struct kab_err *err);
/* Dates of all nights of a tree that have any point, ascending. */
int kab_store_history_dates(struct kab_store *store, const char *tree, struct kab_strv *ret,
			    struct kab_err *err);

/* Adds a nomination; the id is filled in. */
int kab_store_history_nominate(struct kab_store *store, struct kab_change *change,
			       struct kab_err *err);
/* With the states that trials and notes add up to, oldest first. from and to of the filter are not
 * looked at. id 0: all. */
int kab_store_history_changes(struct kab_store *store, const struct kab_history_filter *filter,
			      int64_t id, struct kab_change_list *ret, struct kab_err *err);

struct kab_trial {
	int64_t run_id;
	const char *date, *run_name, *verdict,
		*reason; /* verdict: regressed improved refuted open */
	double gain_pct, lo_pct, hi_pct, p; /* NAN unknown */
	int boots;
	int64_t wall_ns;
};
int kab_store_history_put_trial(struct kab_store *store, int64_t change_id,
				const struct kab_trial *trial, struct kab_err *err);
/* The verdict that the run gave before: *ret_verdict (caller frees); 1: none yet. */
int kab_store_history_trial(struct kab_store *store, int64_t change_id, const char *run_name,
			    char **ret_verdict, struct kab_err *err);

/* 1: that change has such a note already (acknowledge, recovered). */
int kab_store_history_put_note(struct kab_store *store, const struct kab_note *note,
			       struct kab_err *err);
int kab_store_history_notes(struct kab_store *store, struct kab_note_list *ret,
			    struct kab_err *err);

/* What ran as that label on that host of the run: kernel, machine; facts of its newest proven boot.
 * Strings are "" where no boot was proven. 1: the run has no such label. */
struct kab_run_kernel {
	struct kab_kernel_ref kernel;
	char *machine_hash, *hardware; /* owned */
};
void kab_run_kernel_release(struct kab_run_kernel *k);
int kab_store_run_kernel(struct kab_store *store, int64_t run_id, const char *host,
			 const char *label, struct kab_run_kernel *ret, struct kab_err *err);

/* ---- searches for commits ---- */
struct kab_bisect_row {
	int64_t id;
	char *name, *setup_json, *state, *summary;
};
void kab_bisect_row_release(struct kab_bisect_row *row);
/* The name must be new: else CONFIG. */
int kab_store_bisect_create(struct kab_store *store, const char *name, const char *setup_json,
			    int64_t now_ns, int64_t *ret_id, struct kab_err *err);
/* name NULL: the newest one. 1: none. */
int kab_store_bisect_find(struct kab_store *store, const char *name, struct kab_bisect_row *ret,
			  struct kab_err *err);
int kab_store_bisect_end(struct kab_store *store, int64_t id, const char *state,
			 const char *summary, struct kab_err *err);
/* What a search that is under way is asked for from now on. */
int kab_store_bisect_setup(struct kab_store *store, int64_t id, const char *setup_json,
			   struct kab_err *err);
/* Names of all searches, the oldest first, appended. */
int kab_store_bisect_names(struct kab_store *store, struct kab_strv *ret, struct kab_err *err);
/* The search with all that it knows; its runs stay. */
int kab_store_bisect_delete(struct kab_store *store, int64_t id, struct kab_err *err);

struct kab_bisect_commit {
	char *revision, *subject;
	char *spec; /* NULL: not built yet */
	char *skipped; /* why it cannot be measured; NULL: not skipped */
};
struct kab_bisect_commits {
	struct kab_bisect_commit *v; /* good first, bad last */
	size_t n, cap;
};
void kab_bisect_commits_release(struct kab_bisect_commits *commits);
int kab_store_bisect_put_commits(struct kab_store *store, int64_t id,
				 const struct kab_bisect_commits *commits, struct kab_err *err);
int kab_store_bisect_commits(struct kab_store *store, int64_t id, struct kab_bisect_commits *ret,
			     struct kab_err *err);
/* spec or skipped of one commit becomes known (NULL: unchanged). */
int kab_store_bisect_update(struct kab_store *store, int64_t id, size_t position, const char *spec,
			    const char *skipped, struct kab_err *err);

struct kab_bisect_run {
	int sequence;
	char *purpose; /* "ends", "step", "final", "lost" */
	char *positions_json;
	int64_t run_id; /* 0: not begun, or deleted */
	char *run_name;
	bool done;
};
struct kab_bisect_runs {
	struct kab_bisect_run *v;
	size_t n, cap;
};
void kab_bisect_runs_release(struct kab_bisect_runs *runs);
int kab_store_bisect_put_run(struct kab_store *store, int64_t id, const struct kab_bisect_run *run,
			     struct kab_err *err);
int kab_store_bisect_run_done(struct kab_store *store, int64_t id, int sequence,
			      struct kab_err *err);
/* It says nothing of a commit: the lab failed. */
int kab_store_bisect_lose_run(struct kab_store *store, int64_t id, int sequence,
			      struct kab_err *err);
int kab_store_bisect_runs(struct kab_store *store, int64_t id, struct kab_bisect_runs *ret,
			  struct kab_err *err);

#endif
