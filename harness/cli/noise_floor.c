/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/noise_floor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/job.h"
#include "model/expr.h"
#include "stats/plan.h"

double kab_noise_floor_pct(double cv, size_t k)
{
	double log_change;

	if (k < 2)
		return NAN;
	log_change =
		kab_plan_detectable(cv * sqrt(2.0 / (double)k), 2.0 * (double)k - 2, 0.05, 0.8);
	return 100 * expm1(log_change);
}

/* What all rows together say. */
struct floor {
	double lo, hi; /* percent */
	size_t rows, k;
	bool restarts;
	char *run;
};

static void add_row(struct kab_store *store, const struct kab_job *job, const char *machine,
		    const struct kab_judged_row *row, struct floor *f)
{
	const struct kab_instance *in =
		kab_job_instance(job, row->data->case_name, row->data->row_key);
	char *params kab_autofree = in ? kab_params_canonical(&in->params, 0) : NULL;
	struct kab_noise noise = { .machine_hash = machine,
				   .runner = row->data->runner,
				   .params_text = params,
				   .condition = row->data->condition,
				   .metric = row->data->metric };
	size_t k = row->sets[0].over_boots ? row->sets[0].n_units : 5;
	double pct;

	if (!in || kab_store_find_noise(store, &noise, NULL) != 0)
		return;
	pct = kab_noise_floor_pct(noise.cv, k);
	if (isfinite(pct) && (!f->rows || k == f->k)) {
		f->lo = f->rows ? fmin(f->lo, pct) : pct;
		f->hi = f->rows ? fmax(f->hi, pct) : pct;
		f->k = k;
		f->restarts = noise.restarts;
		f->rows++;
		free(f->run);
		f->run = noise.run_name;
	} else {
		free(noise.run_name);
	}
}

char *kab_noise_floor_text(struct kab_store *store, const struct kab_run_info *run,
			   const struct kab_judgement *judgement)
{
	struct floor f = { 0 };
	struct kab_boot_info *boots = NULL;
	struct kab_job job = { 0 };
	size_t n_boots = 0;
	char *text = NULL;

	/* Loading the plan takes longer than all that follows: only where there may be an answer. */
	if (!kab_store_any_noise(store))
		return NULL;
	/* Imported runs have no cases to look up. */
	if (kab_job_load(store, run->id, &job, NULL) < 0)
		return NULL;
	if (!job.aa && kab_store_list_boots(store, run->id, &boots, &n_boots, NULL) == 0)
		for (size_t i = 0; i < judgement->n; i++) {
			const char *machine =
				kab_engine_machine_of(boots, n_boots, judgement->v[i].data->host);

			if (judgement->v[i].verdict && machine)
				add_row(store, &job, machine, &judgement->v[i], &f);
		}
	if (f.rows) {
		const char *unit = f.restarts ? "restarts" : "boots";

		text = f.hi > 1.05 * f.lo
			       ? kab_xasprintf(
					 "in %zu %s this host cannot resolve less than %.2g %% in "
					 "the quietest and %.2g %% in the noisiest row (A/A run "
					 "'%s')",
					 f.k, unit, f.lo, f.hi, f.run)
			       : kab_xasprintf("in %zu %s this host cannot resolve less than %.2g "
					       "%% (A/A "
					       "run '%s')",
					       f.k, unit, f.lo, f.run);
	}
	free(f.run);
	for (size_t i = 0; i < n_boots; i++)
		kab_boot_info_release(&boots[i]);
	free(boots);
	kab_job_release(&job);
	return text;
}
