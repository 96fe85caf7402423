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
};

int kab_plan_make(const struct kab_suite *suite, const struct kab_kernel_list *kernels,
		  size_t n_hosts, const struct kab_plan_opts *opts, struct kab_plan *ret,
		  struct kab_err *err);
void kab_plan_release(struct kab_plan *plan);

#endif
