/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder only. */
#ifndef KAB_JUDGE_INTERNAL_H
#define KAB_JUDGE_INTERNAL_H

#include "judge/judge.h"

/* Describe one set; releases with kab_set_summary_release(). */
void kab_set_summarise(const struct kab_sample_set *data, double confidence,
		       struct kab_set_summary *ret);
void kab_set_summary_release(struct kab_set_summary *set);

/* Compare pair (base and test are set); decides with the unadjusted p. */
void kab_pair_compare(const struct kab_judged_row *row, struct kab_pair *pair,
		      const struct kab_judge_opts *opts);
/* Decide again with the adjusted p. */
void kab_pair_decide(const struct kab_judged_row *row, struct kab_pair *pair, double adjusted_p,
		     const struct kab_judge_opts *opts);
void kab_pair_release(struct kab_pair *pair);
/* "boots" or "restarts" of this row, singular for n = 1. */
const char *kab_row_unit_word(const struct kab_row_data *row, size_t n);
struct kab_compare_opts kab_pair_compare_opts(const struct kab_judged_row *row,
					      const struct kab_pair *pair,
					      const struct kab_judge_opts *opts);

#endif
