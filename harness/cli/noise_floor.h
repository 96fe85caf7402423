/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What A/A runs say about the smallest change that a host can show. */
#ifndef KAB_CLI_NOISE_FLOOR_H
#define KAB_CLI_NOISE_FLOOR_H

#include "judge/judge.h"
#include "store/store.h"

/* Smallest true change, percent, that a two-sided 5 % test on k boots per kernel finds in 8 of 10
 * runs, when boot means have the coefficient of variation cv (a fraction). NAN for k < 2. */
double kab_noise_floor_pct(double cv, size_t k);

/* A sentence for the head of a report of that run, from the newest A/A run on the same machine and
 * the same cases: "in 5 boots this host cannot resolve less than 1.4 %". NULL when there is none.
 * Caller frees. */
char *kab_noise_floor_text(struct kab_store *store, const struct kab_run_info *run,
			   const struct kab_judgement *judgement);

#endif
