/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The noise floor of an A/A run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/job.h"
#include "judge/judge.h"
#include "model/expr.h"

/* Both labels are one kernel, so both spreads estimate the same: pool them. */
static double pooled_cv(const struct kab_judged_row *row)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < row->n_sets; i++) {
		const struct kab_set_summary *set = &row->sets[i];

		if (!set->over_boots || !isfinite(set->cv_pct))
			return NAN;
		sum += set->cv_pct * set->cv_pct / 1e4;
		n++;
	}
	return n ? sqrt(sum / (double)n) : NAN;
}

const char *kab_engine_machine_of(const struct kab_boot_info *boots, size_t n, const char *host)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(boots[i].host, host) && boots[i].machine_hash && *boots[i].machine_hash)
			return boots[i].machine_hash;
	return NULL;
}

static int store_row(struct kab_store *store, const struct kab_job *job,
		     const struct kab_judged_row *row, const char *machine, struct kab_err *err)
{
	const struct kab_instance *in =
		kab_job_instance(job, row->data->case_name, row->data->row_key);
	char *params kab_autofree = in ? kab_params_canonical(&in->params, 0) : NULL;
	struct kab_noise noise = { .machine_hash = machine,
				   .runner = row->data->runner,
				   .params_text = params,
				   .condition = row->data->condition,
				   .metric = row->data->metric,
				   .cv = pooled_cv(row),
				   .units = (int64_t)row->sets[0].n_units,
				   .restarts = row->data->restarts };

	if (!in || !machine || !isfinite(noise.cv) || noise.units < 2)
		return 0;
	return kab_store_put_noise(store, job->info.id, &noise, err);
}

int kab_engine_store_noise(struct kab_store *store, int64_t run_id, struct kab_err *err)
{
	struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	struct kab_judgement judgement = { 0 };
	struct kab_row_list rows = { 0 };
	struct kab_boot_info *boots = NULL;
	struct kab_job job = { 0 };
	size_t n_boots = 0;
	int status = -1;

	if (kab_job_load(store, run_id, &job, err) < 0)
		return -1;
	if (!job.aa) {
		kab_job_release(&job);
		return 0;
	}
	if (kab_store_list_boots(store, run_id, &boots, &n_boots, err) == 0 &&
	    kab_store_load_rows(store, &run_id, 1, &rows, err) == 0 &&
	    kab_judge(&rows, &opts, &judgement, err) == 0) {
		status = 0;
		for (size_t i = 0; status == 0 && i < judgement.n; i++)
			if (judgement.v[i].verdict)
				status = store_row(store, &job, &judgement.v[i],
						   kab_engine_machine_of(boots, n_boots,
									 judgement.v[i].data->host),
						   err);
	}
	kab_judgement_release(&judgement);
	kab_row_list_release(&rows);
	for (size_t i = 0; i < n_boots; i++)
		kab_boot_info_release(&boots[i]);
	free(boots);
	kab_job_release(&job);
	return status;
}
