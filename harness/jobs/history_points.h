/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the rows of a run to points of a history: what history.c and history_runs.c share. */
#ifndef KAB_JOBS_HISTORY_POINTS_H
#define KAB_JOBS_HISTORY_POINTS_H

#include "jobs/history.h"
#include "judge/judge.h"

/* The set of a label; NULL: the row has none. */
const struct kab_sample_set *kab_history_set(const struct kab_row_data *row, const char *label);
/* Is the row worth a history: measured by the benchmark itself, with a direction? */
bool kab_history_wants(const struct kab_row_data *row);
/* Judge one kernel of a row against another one, as if the row had only these. Everything in *ret
 * points into *rows; both are released with kab_history_unjudge. */
struct kab_history_judged {
	struct kab_row_data row; /* borrows its strings */
	struct kab_sample_set sets[2]; /* borrowed */
	struct kab_row_list rows;
	struct kab_judgement judgement;
	const struct kab_pair *pair;
};
int kab_history_judge(const struct kab_row_data *row, const struct kab_sample_set *base,
		      const struct kab_sample_set *test, struct kab_history_judged *ret,
		      struct kab_err *err);
void kab_history_unjudge(struct kab_history_judged *judged);

/* The point of one kernel of a row. *ret is the caller's. */
int kab_history_point(struct kab_store *store, const struct kab_run_info *run,
		      const struct kab_row_data *row, const char *tree, const char *date,
		      int64_t wall_ns, const char *reference, const char *test,
		      struct kab_point *ret, struct kab_err *err);

/* Info of a run by its id. */
int kab_history_run(struct kab_store *store, int64_t run_id, struct kab_run_info *ret,
		    struct kab_err *err);

#endif
