/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a night has measured, judged: points of the history, nominations, kernels that do not boot. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "jobs/history.h"
#include "jobs/night.h"

void kab_night_verdict_release(struct kab_night_verdict *v)
{
	kab_judgement_release(&v->judgement);
	kab_row_list_release(&v->rows);
	kab_run_info_release(&v->info);
	*v = (struct kab_night_verdict){ 0 };
}

/* The reference is there for the history. In a table of the night it would be a column of no interest,
 * and more comparisons to correct for. */
static void drop_set(struct kab_row_data *row, const char *kernel)
{
	for (size_t i = 1; i < row->n_sets; i++) {
		struct kab_sample_set *set = &row->sets[i];
		struct kab_sample_set gone;

		if (strcmp(set->kernel, kernel) != 0)
			continue;
		/* To the end, where the list still owns it: n_sets counts what is judged. */
		gone = *set;
		memmove(set, set + 1, (row->n_sets - i - 1) * sizeof(*set));
		row->sets[row->n_sets - 1] = gone;
		return;
	}
}

/* n_sets of rows whose last set is hidden while they are judged. */
static bool is_last(const struct kab_row_data *row, const char *kernel)
{
	return row->n_sets > 2 && !strcmp(row->sets[row->n_sets - 1].kernel, kernel);
}

static void release_set(struct kab_sample_set *set)
{
	for (size_t i = 0; i < set->n_boots; i++)
		free(set->boots[i].v);
	free(set->boots);
	free(set->kernel);
	free(set->first_failure);
	free(set->argv_text);
	free(set->runner_version);
	*set = (struct kab_sample_set){ 0 };
}

static void without_reference(struct kab_night *night, struct kab_row_list *rows)
{
	const char *reference = night->k.reference.label;

	if (!reference)
		return;
	for (size_t i = 0; i < rows->n; i++) {
		struct kab_row_data *row = &rows->v[i];

		if (night->k.test.label && !strcmp(reference, night->k.test.label))
			continue;
		drop_set(row, reference);
		if (is_last(row, reference))
			release_set(&row->sets[--row->n_sets]);
	}
}

int kab_night_load_verdict(struct kab_night *night, int64_t run_id, struct kab_night_verdict *ret,
			   struct kab_err *err)
{
	const struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	char *id kab_autofree = kab_xasprintf("%lld", (long long)run_id);
	int status;

	*ret = (struct kab_night_verdict){ .run_id = run_id };
	status = kab_store_find_run(night->env->store, id, &ret->info, NULL, err);
	if (status == 0)
		status = kab_store_load_rows(night->env->store, &run_id, 1, &ret->rows, err);
	if (status == 0 && !ret->rows.n)
		status = 1;
	if (status == 0) {
		without_reference(night, &ret->rows);
		status = kab_judge(&ret->rows, &opts, &ret->judgement, err);
	}
	if (status)
		kab_night_verdict_release(ret);
	return status;
}

/* Kernels of the run that the host could not boot, each once. */
static int find_unbootable(struct kab_night *night, int64_t run_id, struct kab_err *err)
{
	struct kab_boot_info *boots = NULL;
	size_t n = 0;
	int status = 0;

	if (kab_store_list_boots(night->env->store, run_id, &boots, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (status == 0 && !strcmp(boots[i].state, "failed") && boots[i].reason &&
		    strstr(boots[i].reason, "does not boot")) {
			night->failures = true;
			status = kab_night_remark(night, "noboot", boots[i].host, err, "%s",
						  boots[i].reason);
		}
	}
	for (size_t i = 0; i < n; i++)
		kab_boot_info_release(&boots[i]);
	free(boots);
	return status;
}

/* A whole case without a value: said by name, so that it is not lost among the others. */
static int find_failed(struct kab_night *night, const struct kab_night_verdict *v,
		       struct kab_err *err)
{
	struct kab_strv kab_autostrv said = KAB_STRV_INIT;

	for (size_t r = 0; r < v->judgement.n; r++) {
		const struct kab_judged_row *row = &v->judgement.v[r];

		for (size_t i = 0; i < row->n_sets; i++)
			if (night->k.test.label && row->sets[i].data->n_done &&
			    !strcmp(row->sets[i].data->kernel, night->k.test.label))
				night->results = true;
		for (size_t p = 0; row->verdict && p < row->n_pairs; p++) {
			char *key kab_autofree =
				kab_xasprintf("%s %s", row->data->case_name, row->data->row_key);

			if (row->pairs[p].outcome != KAB_OUTCOME_FAILED &&
			    row->pairs[p].outcome != KAB_OUTCOME_MISSING)
				continue;
			if (kab_strv_has(&said, key))
				continue;
			kab_strv_add(&said, key);
			if (kab_night_remark(night, "failed", row->data->host, err, "%s%s%s: %s",
					     row->data->case_name, *row->data->row_key ? " " : "",
					     row->data->row_key, row->pairs[p].reason) < 0)
				return -1;
		}
	}
	if (v->judgement.any_failed)
		night->failures = true;
	return 0;
}

/* What tonight's own comparison calls a change is only a suspicion yet. */
static int nominate_rows(struct kab_night *night, const struct kab_night_verdict *v,
			 struct kab_err *err)
{
	const struct kab_night_kernels *k = &night->k;

	for (size_t r = 0; r < v->judgement.n; r++) {
		const struct kab_judged_row *row = &v->judgement.v[r];

		for (size_t p = 0; row->verdict && p < row->n_pairs; p++) {
			const struct kab_pair *pair = &row->pairs[p];
			struct kab_history_suspect s = { .tree = night->c->name,
							 .date = night->window.date,
							 .host = row->data->host,
							 .condition = row->data->condition,
							 .case_name = row->data->case_name,
							 .row_key = row->data->row_key,
							 .metric = row->data->metric,
							 .before_label = k->baseline.label,
							 .before_spec = k->baseline.spec,
							 .after_label = k->test.label,
							 .after_spec = k->test.spec,
							 .gain_pct = pair->gain_pct,
							 .p = NAN };
			char *name kab_autofree = NULL;
			int status;

			if (pair->outcome != KAB_OUTCOME_REGRESSED &&
			    pair->outcome != KAB_OUTCOME_IMPROVED)
				continue;
			if (strcmp(pair->test->data->kernel, k->test.label) != 0)
				continue;
			status = kab_history_nominate_row(night->env->store, &s, err);
			if (status < 0)
				return -1;
			name = kab_judged_row_name(row);
			kab_log(night->env->log, KAB_LOG_INFO, "%s: %+.2f %% against '%s'%s", name,
				pair->gain_pct, k->baseline.label,
				status ? ", known already" : "; it is nominated for confirmation");
		}
	}
	return 0;
}

static int judge_run(struct kab_night *night, const struct kab_night_run_row *row,
		     struct kab_err *err)
{
	const struct kab_night_kernels *k = &night->k;
	struct kab_history_night point = { .tree = night->c->name,
					   .date = night->window.date,
					   .run_id = row->run_id,
					   .reference = k->reference.label,
					   .baseline = k->baseline.label,
					   .test = k->test.label,
					   .wall_ns = night->window.from_ns };
	struct kab_night_verdict v = { 0 };
	int status;

	if (find_unbootable(night, row->run_id, err) < 0)
		return -1;
	status = kab_night_load_verdict(night, row->run_id, &v, err);
	/* Nothing was measured: of a host that failed or was in use it is said already. */
	if (status == 1 || (status == 0 && !v.info.n_done && !v.info.n_failed)) {
		kab_night_verdict_release(&v);
		return 0;
	}
	if (status == 0)
		status = find_failed(night, &v, err);
	/* An A/A run says nothing of a kernel, and more boots of an old one are of the old night. */
	if (status == 0 && !strcmp(row->purpose, "night")) {
		status = kab_history_record(night->env->store, &point, err);
		if (status == 0)
			status = nominate_rows(night, &v, err);
	}
	kab_night_verdict_release(&v);
	return status;
}

int kab_night_judge(struct kab_night *night, struct kab_err *err)
{
	struct kab_night_run_row *rows = NULL;
	bool any = false;
	size_t n = 0, found = 0;
	int status = 0;

	if (kab_store_night_runs(night->env->store, night->row.id, &rows, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n && status == 0; i++) {
		if (!strcmp(rows[i].purpose, "confirm"))
			continue;
		any = any || !strcmp(rows[i].purpose, "night");
		status = judge_run(night, &rows[i], err);
		if (status == 0)
			status = kab_store_night_judged(night->env->store, rows[i].run_id, err);
	}
	if (status == 0 && any) {
		status = kab_history_nominate(night->env->store, night->c->name, night->window.date,
					      1, &found, err);
		if (status == 0 && found)
			kab_log(night->env->log, KAB_LOG_INFO,
				"%zu series look changed over the nights; nominated for "
				"confirmation",
				found);
	}
	for (size_t i = 0; i < n; i++)
		kab_night_run_row_release(&rows[i]);
	free(rows);
	return status;
}
