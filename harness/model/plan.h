/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan: every step in order, made from suite x kernels x conditions x hosts x boots x
 * iterations by a recorded seed. Pure.
 *
 * Order. A block holds every kernel once, in random order; a boot holds, for each condition (random
 * order), the warm-up rounds and then the rounds of iterations, each round all cases in random
 * order. When all labels are the same kernel (A/A) and nothing is booted, the kernels of a block
 * are interleaved step by step, and the block is a restart, not a boot.
 *
 * The analysis (paired by block, or Welch on boot means) is fixed here, before any data.
 */
#ifndef KAB_MODEL_PLAN_H
#define KAB_MODEL_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strv.h"
#include "model/condition.h"
#include "model/kernel.h"
#include "model/suite.h"

#define KAB_PLAN_STEPS_MAX 2000000
/* From so many complete blocks on, pairs are tested paired (STATS 2.5). */
#define KAB_PLAN_PAIRED_BLOCKS 6

/* When to stop measuring. The rule is fixed before the data and is part of the record. */
enum kab_stop_rule {
	KAB_STOP_FIXED, /* the plan as it is */
	KAB_STOP_PRECISION, /* enough when the 95 % interval of every verdict is narrow enough */
	KAB_STOP_EARLY, /* five looks with O'Brien-Fleming-type spending */
};
#define KAB_STOP_MIN_BLOCKS 8 /* of PRECISION: earlier stops undercover (STATS 2.9) */
#define KAB_STOP_MAX_BLOCKS 20 /* unless --boots says otherwise */
#define KAB_STOP_LOOKS 5

struct kab_stopping {
	enum kab_stop_rule rule;
	double half_width_pct; /* PRECISION: of the ratio's interval, percent */
};
/* Blocks after which look k (from 0) is taken, of max_blocks. */
int kab_stop_look_blocks(int k, int max_blocks);

struct kab_plan_boot {
	size_t host, kernel; /* indices */
	int block; /* from 0 */
	int sequence; /* on that host, from 1 */
};

struct kab_plan_step {
	size_t boot, condition, instance; /* indices */
	int iteration; /* from 1; warm-ups count on their own */
	bool warmup;
	int64_t sequence; /* within the run, from 1 */
};

struct kab_plan {
	uint64_t seed;
	int boots, iterations, warmup, retry;
	bool restarts; /* all kernels are one and nothing is booted: interleaved */
	bool booting; /* kab boots the hosts itself; otherwise the user does */
	bool paired;
	const char *analysis; /* the reason for paired or not; a constant */
	struct kab_stopping stopping;
	char *stop_text; /* the rule in words; NULL: fixed. Owned */
	int first_blocks; /* blocks that are planned at once; the others follow as the rule wants */
	struct kab_setting_list *conditions;
	size_t n_conditions;
	struct kab_plan_boot *boot_v;
	size_t n_boots, cap_boots;
	struct kab_plan_step *step_v;
	size_t n_steps, cap_steps;
};

struct kab_plan_opts {
	uint64_t seed;
	int boots, iterations, warmup, retry; /* -1: as the suite says */
	bool booting;
	struct kab_stopping stopping; /* with a rule, boots is the hard maximum */
};

int kab_plan_make(const struct kab_suite *suite, const struct kab_kernel_list *kernels,
		  size_t n_hosts, const struct kab_plan_opts *opts, struct kab_plan *ret,
		  struct kab_err *err);
void kab_plan_release(struct kab_plan *plan);

#endif
