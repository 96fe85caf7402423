/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands above the tables of a report, from the facts that a run has stored. */
#ifndef KAB_CLI_CIRCUMSTANCES_H
#define KAB_CLI_CIRCUMSTANCES_H

#include "judge/judge.h"
#include "reports/report.h"
#include "store/store.h"

/*
 * Fill *ret (empty before; caller releases) from the boots and steps of the run. names: host names
 * and paths may be printed. Without facts (an imported run) lines stay unknown.
 */
int kab_circumstances(struct kab_store *store, const struct kab_run_info *run,
		      const struct kab_judgement *judgement, bool names, struct kab_preamble *ret,
		      struct kab_err *err);
/* One kernel of a comparison over several runs. All borrowed. */
struct kab_compared {
	const struct kab_run_info *run;
	const char *kernel; /* its label in that run */
	const char *label; /* as printed */
};
/* The same from several runs: once what they share, with its label what differs. */
int kab_circumstances_across(struct kab_store *store, const struct kab_compared *kernels, size_t n,
			     const struct kab_judgement *judgement, bool names,
			     struct kab_preamble *ret, struct kab_err *err);
/* What the runners of these rows want to be said under every table. */
void kab_circumstances_notices(const struct kab_row_list *rows, struct kab_preamble *ret);
/* "mean of boot means, ...": the `Stats` line. Caller frees. */
char *kab_circumstances_stats(const struct kab_judgement *judgement);

#endif
