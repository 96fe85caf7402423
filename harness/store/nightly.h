/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What nightly jobs keep in the store. As in store/store.h: 0 or -1 (STORE), 1 for "there is none".
 * Every verb that writes may be repeated: a night that was killed is gone through again.
 */
#ifndef KAB_STORE_NIGHTLY_H
#define KAB_STORE_NIGHTLY_H

#include "base/strv.h"
#include "store/store.h"

struct kab_night_row {
	int64_t id;
	char *tree, *date; /* "2026-12-01" */
	char *state; /* "running", "done", "missed", "skipped", "failed" */
	char *purpose; /* "night", "aa", "more", or "" */
	int64_t begin_wall_ns, end_wall_ns; /* its window */
	int64_t started_wall_ns, finished_wall_ns; /* 0: not yet */
	char *test_label, *test_spec, *baseline_label, *baseline_spec, *baseline_why;
	char *reference_label, *reference_spec;
	char *summary;
	int exit_status; /* -1: none yet */
};
void kab_night_row_release(struct kab_night_row *row);

/* Adds the night, or reads it if it is there (then *ret_new is false). One that was missed, skipped or
 * failed becomes "running" again where that is the state asked for. */
int kab_store_night_begin(struct kab_store *store, const char *tree, const char *date,
			  const char *state, int64_t begin_ns, int64_t end_ns, int64_t now_ns,
			  struct kab_night_row *ret, bool *ret_new, struct kab_err *err);
int kab_store_night_find(struct kab_store *store, const char *tree, const char *date,
			 struct kab_night_row *ret, struct kab_err *err);
/* The night that was begun and not ended. */
int kab_store_night_running(struct kab_store *store, const char *tree, struct kab_night_row *ret,
			    struct kab_err *err);
/* The newest max ones, newest first; caller releases each and frees the array. */
int kab_store_night_list(struct kab_store *store, const char *tree, size_t max,
			 struct kab_night_row **ret, size_t *ret_n, struct kab_err *err);
/* The kernels that were chosen and why: row's purpose, labels, specs. */
int kab_store_night_kernels(struct kab_store *store, const struct kab_night_row *row,
			    struct kab_err *err);
int kab_store_night_end(struct kab_store *store, int64_t id, const char *state, const char *summary,
			int exit_status, int64_t now_ns, struct kab_err *err);

struct kab_night_run_row {
	int64_t run_id;
	char *host, *purpose, *note, *run_name;
	bool judged;
	enum kab_run_state state;
};
void kab_night_run_row_release(struct kab_night_run_row *row);
int kab_store_night_add_run(struct kab_store *store, int64_t night_id, int64_t run_id,
			    const char *host, const char *purpose, const char *note,
			    struct kab_err *err);
int kab_store_night_judged(struct kab_store *store, int64_t run_id, struct kab_err *err);
int kab_store_night_runs(struct kab_store *store, int64_t night_id, struct kab_night_run_row **ret,
			 size_t *ret_n, struct kab_err *err);

struct kab_night_remark {
	char *kind, *host, *text; /* kind: "cut", "host", "noboot", "source", "busy", ... */
};
void kab_night_remark_release(struct kab_night_remark *remark);
int kab_store_night_remark(struct kab_store *store, int64_t night_id, const char *kind,
			   const char *host, const char *text, struct kab_err *err);
int kab_store_night_remarks(struct kab_store *store, int64_t night_id,
			    struct kab_night_remark **ret, size_t *ret_n, struct kab_err *err);

struct kab_night_kernel {
	int64_t id;
	char *identity, *source, *label, *spec, *commit, *describe;
	bool is_release;
	char *tried; /* date of the night that tried it; NULL: never */
	char *measured; /* of the first one that has results of it; NULL: never */
	int64_t seen_wall_ns;
};
void kab_night_kernel_release(struct kab_night_kernel *kernel);
/* Adds it unless the identity is known; a label that another kernel has gets "-2" and so on behind
 * it: *ret_label (caller frees; may be NULL). */
int kab_store_night_saw(struct kab_store *store, const char *tree,
			const struct kab_night_kernel *kernel, int64_t now_ns, char **ret_label,
			struct kab_err *err);
/* By identity or (identity NULL) by label. */
int kab_store_night_kernel(struct kab_store *store, const char *tree, const char *identity,
			   const char *label, struct kab_night_kernel *ret, struct kab_err *err);
/* The kernel measured last of all that were measured before `before` (a date; NULL: ever), only
 * releases where asked. */
int kab_store_night_last_measured(struct kab_store *store, const char *tree, const char *before,
				  bool only_releases, struct kab_night_kernel *ret,
				  struct kab_err *err);
/* The night tried it; results: and measured something of it. */
int kab_store_night_tried(struct kab_store *store, const char *tree, const char *label,
			  const char *date, bool results, struct kab_err *err);

/* All kernels of the tree, newest first; caller releases each and frees the array. */
int kab_store_night_kernel_list(struct kab_store *store, const char *tree,
				struct kab_night_kernel **ret, size_t *ret_n, struct kab_err *err);
/* Releases that nights of the tree have booted, the one booted last first; appended. */
int kab_store_night_releases(struct kab_store *store, const char *tree, struct kab_strv *ret,
			     struct kab_err *err);

struct kab_night_baseline {
	char *label, *spec, *date, *why;
};
void kab_night_baseline_release(struct kab_night_baseline *baseline);
int kab_store_night_baseline(struct kab_store *store, const char *tree,
			     struct kab_night_baseline *ret, struct kab_err *err);
int kab_store_night_set_baseline(struct kab_store *store, const char *tree,
				 const struct kab_night_baseline *baseline, struct kab_err *err);

/* How a host did in a night; *ret_in_row: failed nights of it up to now, without a good one between.
 * Nights before its last release from quarantine do not count. */
int kab_store_host_night(struct kab_store *store, const char *host, const char *tree,
			 const char *date, bool failed, const char *reason, int *ret_in_row,
			 struct kab_err *err);
struct kab_quarantine_row {
	char *host, *tree, *date, *reason;
	int64_t since_wall_ns;
};
void kab_quarantine_row_release(struct kab_quarantine_row *row);
int kab_store_quarantine(struct kab_store *store, const char *host, const char *tree,
			 const char *date, const char *reason, int64_t now_ns, struct kab_err *err);
/* The hosts that are in it now, of all trees. */
int kab_store_quarantined(struct kab_store *store, struct kab_quarantine_row **ret, size_t *ret_n,
			  struct kab_err *err);
/* 1: it was not in quarantine. */
int kab_store_unquarantine(struct kab_store *store, const char *host, const char *who,
			   int64_t now_ns, struct kab_err *err);

struct kab_night_mail_row {
	char *date, *kind, *message_id, *subject, *message;
	bool sent;
};
void kab_night_mail_row_release(struct kab_night_mail_row *row);
/* 1: the night has one already; it is left as it is. */
int kab_store_night_put_mail(struct kab_store *store, const char *tree,
			     const struct kab_night_mail_row *mail, struct kab_err *err);
/* The first mail of a kind: what later ones are threaded under. */
int kab_store_night_first_mail(struct kab_store *store, const char *tree, const char *kind,
			       struct kab_night_mail_row *ret, struct kab_err *err);
/* The newest mail of that kind (NULL: of any). */
int kab_store_night_last_mail(struct kab_store *store, const char *tree, const char *kind,
			      struct kab_night_mail_row *ret, struct kab_err *err);
/* What is not sent yet, oldest first. */
int kab_store_night_unsent(struct kab_store *store, const char *tree,
			   struct kab_night_mail_row **ret, size_t *ret_n, struct kab_err *err);
int kab_store_night_mail_sent(struct kab_store *store, const char *tree, const char *date,
			      int64_t now_ns, struct kab_err *err);

/* ---- how long things take, and when they were last done ---- */
/* Median of the seconds between the last iteration of a boot and the proof of the next one. */
int kab_store_typical_boot(struct kab_store *store, const char *host, double *ret_s,
			   struct kab_err *err);
/* Wall clock of the last iteration of the case on the host in nights of the tree. */
int kab_store_night_case_last(struct kab_store *store, const char *tree, const char *host,
			      const char *case_name, const char *row_key, int64_t *ret_wall_ns,
			      struct kab_err *err);

#endif
