/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The history of nightly jobs: points are recorded from runs, looked at for changes, and what looks
 * like one is confirmed (or not) by a fresh comparison. Every call takes an open store (WRITE unless
 * said otherwise) and may be repeated: a night that was killed is gone through again, and nothing is
 * counted twice. 0 or -1.
 *
 * Life of a change: nominated -> confirmed -> acknowledged; or nominated -> refuted or dropped. Only a
 * confirmed one is called a change. `recovered` is a date beside that: the level of before is back.
 */
#ifndef KAB_JOBS_HISTORY_H
#define KAB_JOBS_HISTORY_H

#include "base/err.h"
#include "model/history.h"
#include "store/store.h"

struct kab_history_night {
	const char *tree, *date;
	int64_t run_id;
	/* Labels of kernels of the run. baseline may be NULL (there was none). test may be the
	 * reference itself (A/A). */
	const char *reference, *baseline, *test;
	int64_t wall_ns; /* 0: when the run was created */
};
/* One point for every row (host, condition, case, metric) of the run; and where the run shows that
 * the level before an open change is back (its baseline is the kernel before the change), that is
 * noted as recovered. Points that are there already stay. */
int kab_history_record(struct kab_store *store, const struct kab_history_night *night,
		       struct kab_err *err);

/* Look at every judged series of the tree up to the night: E-divisive and the fast path (see
 * judge/history.h). *ret_new (may be NULL): nominations that were added. */
int kab_history_nominate(struct kab_store *store, const char *tree, const char *date, uint64_t seed,
			 size_t *ret_new, struct kab_err *err);

/* A row that the comparison of a night itself calls improved or regressed. */
struct kab_history_suspect {
	const char *tree, *date, *host, *condition, *case_name, *row_key, *metric;
	const char *before_label, *before_spec, *after_label, *after_spec;
	double gain_pct; /* + is better */
	double p; /* NAN unknown */
};
/* 1: known already: a nomination of the series with the same kernel after it, or an open (nominated,
 * confirmed) one in the same direction that has not recovered. The series must have been recorded. */
int kab_history_nominate_row(struct kab_store *store, const struct kab_history_suspect *suspect,
			     struct kab_err *err);

/* Nominations that wait for a comparison, oldest first. The caller releases. */
int kab_history_confirmations(struct kab_store *store, const char *tree,
			      struct kab_change_list *ret, struct kab_err *err);

enum kab_confirm_verdict {
	KAB_CONFIRM_REGRESSED,
	KAB_CONFIRM_IMPROVED,
	KAB_CONFIRM_REFUTED, /* equivalent, or the other way round */
	KAB_CONFIRM_OPEN, /* could not tell (or failed); after KAB_CHANGE_TRIES it is dropped */
};
/* Judge a nomination by a run that has both of its kernels under their labels. A run that has judged
 * it already: the same answer again. */
int kab_history_confirm(struct kab_store *store, int64_t change_id, int64_t run_id,
			const char *date, enum kab_confirm_verdict *ret, struct kab_err *err);

/* Confirmed changes that nobody has acknowledged, oldest first; those that have recovered are among
 * them (`recovered` is set): they need not hold a baseline. READ is enough. */
int kab_history_open_changes(struct kab_store *store, const char *tree, struct kab_change_list *ret,
			     struct kab_err *err);

/* Points of stored runs that share a reference kernel: the history of what was run by hand. `reference`
 * is a label (NULL: the first kernel of each run); of several kernels under that name the one of most
 * runs is taken, and *ret_left_out counts the others. READ is enough. */
int kab_history_from_runs(struct kab_store *store, const char *reference, const char *host,
			  size_t max_runs, struct kab_point_list *ret, size_t *ret_left_out,
			  struct kab_err *err);

#endif
