/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"

static size_t *sequence(size_t n)
{
	size_t *v = kab_xcalloc(n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = i;
	return v;
}

static struct kab_plan_step *push_step(struct kab_plan *plan)
{
	kab_grow_((void **)&plan->step_v, &plan->n_steps, &plan->cap_steps, sizeof(*plan->step_v));
	return &plan->step_v[plan->n_steps - 1];
}

/*
 * The steps of one session: one boot, or (restarts) the boots of all kernels interleaved. `boots`
 * lists the boots taking part; their order is drawn anew for every case of every round.
 */
static void plan_session(struct kab_plan *plan, const struct kab_suite *suite, const size_t *boots,
			 size_t n_boots, struct kab_rng *rng)
{
	size_t *conditions kab_autofree = sequence(plan->n_conditions);
	size_t *instances kab_autofree = sequence(suite->instances_n);
	size_t *kernels kab_autofree = sequence(n_boots);
	int rounds = plan->warmup + plan->iterations;

	kab_rng_shuffle(rng, conditions, plan->n_conditions);
	for (size_t c = 0; c < plan->n_conditions; c++) {
		for (int round = 0; round < rounds; round++) {
			bool warmup = round < plan->warmup;

			kab_rng_shuffle(rng, instances, suite->instances_n);
			for (size_t i = 0; i < suite->instances_n; i++) {
				kab_rng_shuffle(rng, kernels, n_boots);
				for (size_t k = 0; k < n_boots; k++) {
					struct kab_plan_step *step = push_step(plan);

					step->boot = boots[kernels[k]];
					step->condition = conditions[c];
					step->instance = instances[i];
					step->warmup = warmup;
					step->iteration =
						1 + (warmup ? round : round - plan->warmup);
					step->sequence = (int64_t)plan->n_steps;
				}
			}
		}
	}
}

static void plan_host(struct kab_plan *plan, const struct kab_suite *suite, size_t n_kernels,
		      size_t host)
{
	size_t *order kab_autofree = sequence(n_kernels);
	size_t *boots kab_autofree = sequence(n_kernels);
	char label[32];
	struct kab_rng rng;
	int sequence_no = 0;

	/* A stream for each host: adding a host does not change the order on the others. */
	snprintf(label, sizeof(label), "host %zu", host);
	kab_rng_seed_label(&rng, plan->seed, label);
	for (int block = 0; block < plan->boots; block++) {
		kab_rng_shuffle(&rng, order, n_kernels);
		for (size_t k = 0; k < n_kernels; k++) {
			struct kab_plan_boot *boot;

			kab_grow_((void **)&plan->boot_v, &plan->n_boots, &plan->cap_boots,
				  sizeof(*plan->boot_v));
			boot = &plan->boot_v[plan->n_boots - 1];
			boot->host = host;
			boot->kernel = order[k];
			boot->block = block;
			boot->sequence = ++sequence_no;
			boots[k] = plan->n_boots - 1;
			if (!plan->restarts)
				plan_session(plan, suite, &boots[k], 1, &rng);
		}
		if (plan->restarts)
			plan_session(plan, suite, boots, n_kernels, &rng);
	}
}

int kab_stop_look_blocks(int k, int max_blocks)
{
	return (max_blocks * (k + 1) + KAB_STOP_LOOKS - 1) / KAB_STOP_LOOKS;
}

/* The rule has to be possible before it is promised. */
static int fix_stopping(struct kab_plan *plan, size_t n_kernels, struct kab_err *err)
{
	plan->first_blocks = plan->boots;
	if (plan->stopping.rule == KAB_STOP_FIXED)
		return 0;
	if (n_kernels < 2)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "a stopping rule needs two kernels to compare");
	if (!plan->booting && !plan->restarts)
		return kab_err_set(
			err, KAB_ERR_USAGE,
			"a stopping rule needs kab to boot the hosts (or an A/A run): you "
			"cannot know how often to boot");
	if (plan->stopping.rule == KAB_STOP_PRECISION) {
		if (plan->boots < KAB_STOP_MIN_BLOCKS)
			return kab_err_set(
				err, KAB_ERR_USAGE,
				"--until looks after %d boots per kernel at the earliest; "
				"--boots %d is less",
				KAB_STOP_MIN_BLOCKS, plan->boots);
		plan->first_blocks = KAB_STOP_MIN_BLOCKS;
		plan->stop_text = kab_xasprintf(
			"stops when every 95 %% interval is within +/- %g %%, looked at after each "
			"block from %d on, at most %d",
			plan->stopping.half_width_pct, KAB_STOP_MIN_BLOCKS, plan->boots);
		return 0;
	}
	if (plan->boots < 2 * KAB_STOP_LOOKS)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--early takes %d looks; it needs --boots %d or more",
				   KAB_STOP_LOOKS, 2 * KAB_STOP_LOOKS);
	plan->first_blocks = kab_stop_look_blocks(0, plan->boots);
	plan->stop_text = kab_xasprintf("%d looks with O'Brien-Fleming-type spending of 5 %% at up "
					"to %d blocks, stops when "
					"every row has crossed its bound",
					KAB_STOP_LOOKS, plan->boots);
	return 0;
}

static void fix_analysis(struct kab_plan *plan, size_t n_kernels)
{
	plan->paired = false;
	if (n_kernels < 2)
		plan->analysis = "one kernel: nothing to compare";
	else if (plan->boots < 2)
		plan->analysis = "one boot per kernel: no test";
	else if (!plan->booting && !plan->restarts)
		plan->analysis = "Welch on boot means: the user boots, so the order is not random";
	else if (plan->boots < KAB_PLAN_PAIRED_BLOCKS)
		plan->analysis = "Welch on boot means: fewer than six blocks";
	else {
		plan->paired = true;
		plan->analysis = "paired by block: six or more blocks in random order";
	}
}

int kab_plan_make(const struct kab_suite *suite, const struct kab_kernel_list *kernels,
		  size_t n_hosts, const struct kab_plan_opts *opts, struct kab_plan *ret,
		  struct kab_err *err)
{
	struct kab_plan plan = {
		.seed = opts->seed,
		.boots = opts->boots > 0       ? opts->boots
			 : opts->stopping.rule ? KAB_STOP_MAX_BLOCKS
					       : suite->boots,
		.iterations = opts->iterations > 0 ? opts->iterations : suite->iterations,
		.warmup = opts->warmup >= 0 ? opts->warmup : suite->warmup,
		.retry = opts->retry >= 0 ? opts->retry : suite->retry,
		.booting = opts->booting,
		.stopping = opts->stopping,
	};
	double total;

	if (!kernels->n)
		return kab_err_set(
			err, KAB_ERR_USAGE,
			"no kernel is named; pass --kernel LABEL=SPEC, the baseline first");
	if (kab_condition_product(&suite->conditions, &plan.conditions, &plan.n_conditions, err) <
	    0)
		return -1;
	for (size_t i = 0; i < plan.n_conditions; i++) {
		if (kab_setting_bind_hooks(&plan.conditions[i], suite->hooks, suite->hooks_n, err) <
		    0) {
			kab_plan_release(&plan);
			return -1;
		}
	}
	total = (double)n_hosts * (double)kernels->n * plan.boots *
		(double)(plan.warmup + plan.iterations) * (double)suite->instances_n *
		(double)plan.n_conditions;
	if (total > KAB_PLAN_STEPS_MAX) {
		kab_plan_release(&plan);
		return kab_err_set(
			err, KAB_ERR_CONFIG,
			"the plan has %.0f steps, more than %d; lower boots, iterations or "
			"the sweep",
			total, KAB_PLAN_STEPS_MAX);
	}
	plan.restarts = !plan.booting;
	for (size_t i = 1; i < kernels->n; i++)
		plan.restarts =
			plan.restarts && kab_kernel_same_spec(&kernels->v[0], &kernels->v[i]);
	if (fix_stopping(&plan, kernels->n, err) < 0) {
		kab_plan_release(&plan);
		return -1;
	}
	fix_analysis(&plan, kernels->n);
	for (size_t h = 0; h < n_hosts; h++)
		plan_host(&plan, suite, kernels->n, h);
	*ret = plan;
	return 0;
}

void kab_plan_release(struct kab_plan *plan)
{
	for (size_t i = 0; i < plan->n_conditions; i++)
		kab_setting_list_release(&plan->conditions[i]);
	free(plan->conditions);
	free(plan->stop_text);
	free(plan->boot_v);
	free(plan->step_v);
	*plan = (struct kab_plan){ 0 };
}
