/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search as it stands in the store: what bisect.c decides on. */
#ifndef KAB_JOBS_BISECT_STATE_H
#define KAB_JOBS_BISECT_STATE_H

#include "jobs/bisect.h"
#include "jobs/bisect_rule.h"
#include "model/record.h"
#include "stats/verdict.h"

#define KAB_BISECT_LABEL 64

struct kab_bisect {
	const struct kab_bisect_env *env;
	int64_t id;
	char *state, *summary;
	struct kab_bisect_setup setup;
	struct kab_bisect_commits commits;
	struct kab_bisect_runs runs;
	struct kab_bisect_node *nodes; /* as many as commits after collect */
	struct kab_bisect_levels levels;
	/* the row that is looked at, by the end points */
	char *condition, *case_name, *row_key, *metric, *unit;
	int sign; /* of ln(bad/good) */
	bool worse; /* bad is worse, not better */
	char *ends_text;
};

int kab_bisect_open(const struct kab_bisect_env *env, const char *name, struct kab_bisect *ret,
		    struct kab_err *err);
void kab_bisect_close(struct kab_bisect *b);
/* Position of the bad end. */
size_t kab_bisect_last(const struct kab_bisect *b);
/* Label of a commit as a kernel. */
void kab_bisect_label(const struct kab_bisect *b, size_t i, char label[KAB_BISECT_LABEL]);
/* The position of a revision; added behind the others when it is new. */
int kab_bisect_add(struct kab_bisect *b, const char *revision, size_t *ret, struct kab_err *err);

/* The run that was begun and not ended; NULL: none. */
struct kab_bisect_run *kab_bisect_unfinished(const struct kab_bisect *b);
/* The finished run of the end points; NULL: none. */
const struct kab_bisect_run *kab_bisect_ends(const struct kab_bisect *b);
/* The second of its commits. */
size_t kab_bisect_test_of(const struct kab_bisect_run *run);
/* The row that is looked at; NULL: not there. */
const struct kab_row_data *kab_bisect_row(const struct kab_bisect *b,
					  const struct kab_row_list *rows);
/* How many last comparisons of these two are finished. */
int kab_bisect_finals(const struct kab_bisect *b, size_t base, size_t test);

/* Fills the row, levels, ends_text. 0; 2: no verdict, *ret_why (caller frees) is why; -1. */
int kab_bisect_judge_ends(struct kab_bisect *b, char **ret_why, struct kab_err *err);
/*
 * Fills nodes and the pooled spread from all finished runs. A kernel that does not boot or
 * fails in every block is skipped (and stored as such). -1 ENV when a run lost too many blocks for
 * reasons of the lab: such a run is given up, and the search is paused.
 */
int kab_bisect_collect(struct kab_bisect *b, struct kab_err *err);
int kab_bisect_skip(struct kab_bisect *b, size_t i, const char *why, struct kab_err *err);
/* Mean of exp(ln ratio) - 1 of a commit; odds of bad against good. */
double kab_bisect_effect(const struct kab_bisect *b, size_t i);
double kab_bisect_odds(const struct kab_bisect *b, size_t i);

struct kab_bisect_final {
	enum kab_verdict verdict;
	bool confirmed; /* a verdict in the direction of the end points */
	char *text; /* owned */
};
/* The newest last comparison of the two. */
int kab_bisect_judge_final(struct kab_bisect *b, size_t base, size_t test,
			   struct kab_bisect_final *ret, struct kab_err *err);

#endif
