/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/adaptive.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "judge/judge.h"
#include "model/expr.h"
#include "stats/sequential.h"

static int blocks_so_far(const struct kab_lane *lane)
{
	int blocks = 0;

	for (size_t i = 0; i < lane->n_boots; i++)
		if (lane->boots[i].block + 1 > blocks)
			blocks = lane->boots[i].block + 1;
	return blocks;
}

/* Half the 95 % interval in percent of the base; NAN where there is none. */
static double half_width_pct(const struct kab_pair *pair)
{
	const struct kab_comparison *cmp = &pair->cmp;

	switch (cmp->method) {
	case KAB_METHOD_IDENTICAL:
	case KAB_METHOD_EXACT: /* nothing varies: more blocks would not narrow it */
		return 0;
	case KAB_METHOD_DIFFERENCE:
		return 50 * (cmp->diff_ci95.hi - cmp->diff_ci95.lo) / fabs(cmp->mean_base);
	default:
		return 50 * (cmp->ratio_ci95.hi - cmp->ratio_ci95.lo);
	}
}

/* Is this comparison decided enough? */
static bool content(const struct kab_judged_row *row, const struct kab_pair *pair,
		    const struct kab_stopping *rule, size_t family)
{
	if (!pair->compared)
		return false;
	if (rule->rule == KAB_STOP_PRECISION)
		return kab_precision_reached(half_width_pct(pair), pair->blocks,
					     rule->half_width_pct, KAB_STOP_MIN_BLOCKS);
	/* Bonferroni at the bound of this look: what ends the run is what Holm then confirms. */
	return row->look && pair->cmp.p < row->alpha / (double)family;
}

/* A case that gives nothing on a side will not get narrower; it must not keep the host busy. */
static bool hopeless(const struct kab_pair *pair)
{
	return !pair->base->n_values || !pair->test->n_values;
}

static int is_content(struct kab_lane *lane, bool *ret, struct kab_err *err)
{
	struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	struct kab_row_list rows = { 0 };
	struct kab_judgement judgement = { 0 };
	int64_t id = lane->job->info.id;

	if (kab_store_load_rows(lane->opts->store, &id, 1, &rows, err) < 0)
		return -1;
	if (kab_judge(&rows, &opts, &judgement, err) < 0) {
		kab_row_list_release(&rows);
		return -1;
	}
	*ret = true;
	for (size_t i = 0; i < judgement.n; i++) {
		const struct kab_judged_row *row = &judgement.v[i];

		if (!row->verdict || strcmp(row->data->host, lane->host->name))
			continue;
		for (size_t k = 0; k < row->n_pairs; k++) {
			if (hopeless(&row->pairs[k]))
				continue;
			*ret = *ret &&
			       content(row, &row->pairs[k], &lane->job->stopping, judgement.family);
		}
	}
	kab_judgement_release(&judgement);
	kab_row_list_release(&rows);
	return 0;
}

static int remake_plan(const struct kab_lane *lane, struct kab_plan *ret, struct kab_err *err)
{
	const struct kab_job *job = lane->job;
	struct kab_plan_opts opts = { .seed = job->seed,
				      .boots = job->boots,
				      .iterations = job->iterations,
				      .warmup = job->warmup,
				      .retry = job->retry,
				      .booting = job->booting,
				      .stopping = job->stopping };

	return kab_plan_make(&job->suite, &job->kernels, job->hosts.n, &opts, ret, err);
}

/* Put what the store now has of this host into the lane. */
static int take_over(struct kab_lane *lane, const struct kab_store_boot *boots, size_t n,
		     struct kab_err *err)
{
	struct kab_boot_info *all;
	size_t n_all;

	if (kab_store_list_boots(lane->opts->store, lane->job->info.id, &all, &n_all, err) < 0)
		return -1;
	for (size_t i = 0; i < n_all; i++) {
		struct kab_step_info *steps = NULL;
		size_t n_steps = 0, k = 0;

		while (k < n && boots[k].id != all[i].id)
			k++;
		if (k == n) {
			kab_boot_info_release(&all[i]);
			continue;
		}
		lane->boots =
			kab_xreallocarray(lane->boots, lane->n_boots + 1, sizeof(*lane->boots));
		lane->boots[lane->n_boots++] = all[i];
		if (kab_store_list_steps(lane->opts->store, lane->job->info.id, boots[k].id, &steps,
					 &n_steps, err) < 0) {
			free(all);
			return -1;
		}
		lane->steps = kab_xreallocarray(lane->steps, lane->n_steps + n_steps + 1,
						sizeof(*lane->steps));
		if (n_steps)
			memcpy(lane->steps + lane->n_steps, steps, n_steps * sizeof(*steps));
		lane->n_steps += n_steps;
		free(steps);
	}
	free(all);
	kab_lane_sort_steps(lane);
	return 0;
}

static int add_blocks(struct kab_lane *lane, int from, int to, struct kab_err *err)
{
	struct kab_store_boot *boots = NULL;
	struct kab_store_step *steps = NULL;
	size_t *place = NULL, n_boots = 0, n_steps = 0, host = 0;
	struct kab_strv kab_autostrv params = KAB_STRV_INIT;
	struct kab_plan plan = { 0 };
	int status;

	if (remake_plan(lane, &plan, err) < 0)
		return -1;
	while (host < lane->job->hosts.n && strcmp(lane->job->hosts.v[host], lane->host->name))
		host++;
	boots = kab_xcalloc(plan.n_boots + 1, sizeof(*boots));
	steps = kab_xcalloc(plan.n_steps + 1, sizeof(*steps));
	place = kab_xcalloc(plan.n_boots + 1, sizeof(*place));
	for (size_t i = 0; i < lane->job->suite.instances_n; i++)
		kab_strv_take(&params,
			      kab_params_canonical(&lane->job->suite.instances[i].params, 0));
	for (size_t i = 0; i < plan.n_boots; i++) {
		place[i] = SIZE_MAX;
		if (plan.boot_v[i].host != host || plan.boot_v[i].block < from ||
		    plan.boot_v[i].block >= to)
			continue;
		place[i] = n_boots;
		kab_engine_store_boot(&plan, i, &boots[n_boots++]);
	}
	for (size_t i = 0; i < plan.n_steps; i++)
		if (place[plan.step_v[i].boot] != SIZE_MAX)
			kab_engine_store_step(&plan, &lane->job->suite, i,
					      place[plan.step_v[i].boot],
					      params.v[plan.step_v[i].instance], &steps[n_steps++]);
	status = kab_store_extend_run(lane->opts->store, lane->job->info.id, boots, n_boots, steps,
				      n_steps, err);
	if (status == 0)
		status = take_over(lane, boots, n_boots, err);
	kab_plan_release(&plan);
	free(boots);
	free(steps);
	free(place);
	return status;
}

int kab_adaptive_next(struct kab_lane *lane, bool *ret_more, struct kab_err *err)
{
	const struct kab_job *job = lane->job;
	int blocks = blocks_so_far(lane), next = blocks + 1;
	bool enough;

	*ret_more = false;
	if (job->stopping.rule == KAB_STOP_FIXED)
		return 0;
	if (blocks >= job->boots) {
		kab_lane_note(lane, "the maximum of %d blocks is reached", job->boots);
		return 0;
	}
	if (is_content(lane, &enough, err) < 0)
		return -1;
	if (enough) {
		char *text kab_autofree =
			kab_xasprintf("host '%s' stopped after %d of at most %d blocks by the rule",
				      lane->host->name, blocks, job->boots);

		kab_lane_note(lane, "enough after %d blocks", blocks);
		return kab_store_event(lane->opts->store, job->info.id, 0, "stopped-by-rule", text,
				       err);
	}
	if (job->stopping.rule == KAB_STOP_EARLY)
		for (int k = 0; k < KAB_STOP_LOOKS; k++)
			if (kab_stop_look_blocks(k, job->boots) > blocks) {
				next = kab_stop_look_blocks(k, job->boots);
				break;
			}
	kab_lane_note(lane, "not decided after %d blocks; going on to %d", blocks, next);
	if (add_blocks(lane, blocks, next, err) < 0)
		return -1;
	*ret_more = true;
	return 0;
}
