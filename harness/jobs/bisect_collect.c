/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the runs of a search say of its commits. Failures of the lab never vote. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "jobs/bisect_state.h"
#include "jobs/history_points.h"

static double mean_of(const struct kab_boot_obs *boot)
{
	double sum = 0;

	for (size_t i = 0; i < boot->n; i++)
		sum += boot->v[i].value;
	return sum / (double)boot->n;
}

static const struct kab_boot_obs *boot_of(const struct kab_sample_set *set, int block)
{
	for (size_t i = 0; i < set->n_boots; i++)
		if (set->boots[i].block == block && set->boots[i].n)
			return &set->boots[i];
	return NULL;
}

/* Sums over the blocks in which both sides have a value. */
static void add_blocks(const struct kab_sample_set *base, const struct kab_sample_set *test,
		       struct kab_bisect_node *to)
{
	for (size_t i = 0; i < test->n_boots; i++) {
		const struct kab_boot_obs *b = boot_of(base, test->boots[i].block);
		double x, y;

		if (!test->boots[i].n || !b)
			continue;
		x = mean_of(&test->boots[i]);
		y = mean_of(b);
		if (!(x > 0) || !(y > 0))
			continue;
		to->blocks++;
		to->sum += log(x / y);
		to->sum_sq += log(x / y) * log(x / y);
	}
}

static double residual(const struct kab_bisect_node *n)
{
	return n->blocks ? fmax(0, n->sum_sq - n->sum * n->sum / (double)n->blocks) : 0;
}

/* Every boot of that label failed: the kernel does not boot. *ret_why is its reason. */
static int boots_failed(struct kab_bisect *b, int64_t run_id, const char *label, char **ret_why,
			struct kab_err *err)
{
	struct kab_boot_info *boots;
	size_t n, up = 0;

	*ret_why = NULL;
	if (kab_store_list_boots(b->env->store, run_id, &boots, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(boots[i].kernel, label)) {
			up += !strcmp(boots[i].state, "done") || !strcmp(boots[i].state, "proven");
			if (!strcmp(boots[i].state, "failed") && boots[i].reason && !*ret_why)
				*ret_why = kab_xasprintf("does not boot: %s", boots[i].reason);
		}
		kab_boot_info_release(&boots[i]);
	}
	free(boots);
	if (up) {
		free(*ret_why);
		*ret_why = NULL;
	}
	return 0;
}

int kab_bisect_skip(struct kab_bisect *b, size_t i, const char *why, struct kab_err *err)
{
	if (b->nodes)
		b->nodes[i].skipped = true;
	if (b->commits.v[i].skipped)
		return 0;
	b->commits.v[i].skipped = kab_xstrdup(why);
	return kab_store_bisect_update(b->env->store, b->id, i, NULL, why, err);
}

/* The lab lost a run: it does not vote, and whoever goes on makes another one. */
static int lose(struct kab_bisect *b, struct kab_bisect_run *run, const char *failure,
		struct kab_err *err)
{
	if (kab_store_bisect_lose_run(b->env->store, b->id, run->sequence, err))
		return -1;
	return kab_err_set(
		err, KAB_ERR_ENV,
		"run '%s' lost too many boots of the good end to say anything of a "
		"commit%s%s; see that the lab works, then go on with: kab bisect --resume "
		"%s",
		run->run_name, failure ? ": " : "", failure ? failure : "", b->setup.name);
}

/* Nothing of the kernel, although the good end was fine: it is the kernel's fault. */
static int blame(struct kab_bisect *b, const struct kab_bisect_run *run, size_t test,
		 const struct kab_sample_set *set, struct kab_err *err)
{
	char label[KAB_BISECT_LABEL];
	kab_autofree char *why = NULL;

	kab_bisect_label(b, test, label);
	if (boots_failed(b, run->run_id, label, &why, err))
		return -1;
	if (!why)
		why = kab_xasprintf("the benchmark fails under it: %s",
				    set && set->first_failure ? set->first_failure
							      : "no reason is known");
	return kab_bisect_skip(b, test, why, err);
}

/* The blocks of one run. A third of the good end's boots lost is too much: what fails there is the lab. */
static int read_run(struct kab_bisect *b, size_t r, struct kab_bisect_node *ret,
		    struct kab_err *err)
{
	struct kab_bisect_run *run = &b->runs.v[r];
	const struct kab_row_data *row;
	const struct kab_sample_set *base = NULL, *test = NULL;
	struct kab_row_list rows = { 0 };
	size_t lost = 1, planned = 1;
	int rc = 0;

	*ret = (struct kab_bisect_node){ 0 };
	if (kab_store_load_rows(b->env->store, &run->run_id, 1, &rows, err))
		return -1;
	row = kab_bisect_row(b, &rows);
	if (row && row->n_sets == 2) {
		base = &row->sets[0];
		test = &row->sets[1];
		add_blocks(base, test, ret);
		planned = base->n_planned;
		lost = planned - base->n_done;
	}
	if (!planned || 3 * lost >= planned)
		rc = lose(b, run, base ? base->first_failure : NULL, err);
	else if (!ret->blocks)
		rc = blame(b, run, kab_bisect_test_of(run), test, err);
	kab_row_list_release(&rows);
	return rc;
}

int kab_bisect_collect(struct kab_bisect *b, struct kab_err *err)
{
	struct kab_bisect_node ends = { 0 };
	double spread = 0, df = 0;

	free(b->nodes);
	b->nodes = kab_xcalloc(b->commits.n + 1, sizeof(*b->nodes));
	for (size_t i = 0; i < b->commits.n; i++)
		b->nodes[i].skipped = b->commits.v[i].skipped != NULL;
	for (size_t r = 0; r < b->runs.n; r++) {
		const struct kab_bisect_run *run = &b->runs.v[r];
		struct kab_bisect_node blocks, *to = &b->nodes[kab_bisect_test_of(run)];

		if (!run->done || !strcmp(run->purpose, "lost"))
			continue;
		if (!run->run_id)
			return kab_err_set(err, KAB_ERR_STORE,
					   "run '%s' of the bisection was deleted; begin anew",
					   run->run_name);
		if (read_run(b, r, &blocks, err))
			return -1;
		if (blocks.blocks) {
			spread += residual(&blocks);
			df += (double)blocks.blocks - 1;
		}
		if (!strcmp(run->purpose, "ends"))
			ends = blocks;
		/* Last comparisons have another base. */
		if (strcmp(run->purpose, "step") != 0)
			continue;
		to->blocks += blocks.blocks;
		to->sum += blocks.sum;
		to->sum_sq += blocks.sum_sq;
	}
	if (ends.blocks < 2)
		return kab_err_set(err, KAB_ERR_ENV,
				   "the end points have fewer than two complete blocks");
	b->levels = (struct kab_bisect_levels){
		.delta = ends.sum / (double)ends.blocks,
		.blocks = ends.blocks,
		.df = df,
		.sd = sqrt(spread / df),
	};
	/* Values without any spread: a thousandth of the change is less than anybody can see. */
	b->levels.sd = fmax(b->levels.sd, fabs(b->levels.delta) / 1000);
	return 0;
}

double kab_bisect_effect(const struct kab_bisect *b, size_t i)
{
	return b->nodes[i].blocks ? expm1(b->nodes[i].sum / (double)b->nodes[i].blocks) : 0;
}

double kab_bisect_odds(const struct kab_bisect *b, size_t i)
{
	return exp(kab_bisect_log_odds(&b->levels, &b->nodes[i]));
}
