/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says of how a run was done. */
#ifndef KAB_CLI_RUN_TEXT_H
#define KAB_CLI_RUN_TEXT_H

#include "judge/judge.h"
#include "store/store.h"

/* Name and version of each benchmark and its command lines, in the order of the rows. 0 or -1. */
int kab_run_benchmarks(struct kab_store *store, int64_t run_id, const struct kab_judgement *j,
		       struct kab_strv *ret, struct kab_err *err);
/* "5 boots x 3 per kernel, random order in blocks, seed 7". Caller frees. */
char *kab_run_text(const struct kab_run_info *run, const struct kab_judgement *j);
/* "no, ...": what else the host was doing; *ret is NULL when nothing was seen. Caller frees. */
int kab_run_quiet(struct kab_store *store, int64_t run_id, char **ret, struct kab_err *err);

#endif
