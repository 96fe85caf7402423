/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/history_points.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/history.h"

const struct kab_sample_set *kab_history_set(const struct kab_row_data *row, const char *label)
{
	for (size_t i = 0; label && i < row->n_sets; i++)
		if (!strcmp(row->sets[i].kernel, label))
			return &row->sets[i];
	return NULL;
}

bool kab_history_wants(const struct kab_row_data *row)
{
	return row->dir != KAB_DIR_NONE && strncmp(row->metric, "invocation_", 11) != 0;
}

int kab_history_judge(const struct kab_row_data *row, const struct kab_sample_set *base,
		      const struct kab_sample_set *test, struct kab_history_judged *ret,
		      struct kab_err *err)
{
	const struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;

	ret->row = *row;
	ret->sets[0] = *base;
	ret->sets[1] = *test;
	ret->row.sets = ret->sets;
	ret->row.n_sets = 2;
	ret->rows = (struct kab_row_list){ .v = &ret->row, .n = 1, .cap = 1 };
	ret->judgement = (struct kab_judgement){ 0 };
	if (kab_judge(&ret->rows, &opts, &ret->judgement, err))
		return -1;
	ret->pair = &ret->judgement.v[0].pairs[0];
	return 0;
}

void kab_history_unjudge(struct kab_history_judged *judged)
{
	kab_judgement_release(&judged->judgement);
}

int kab_history_run(struct kab_store *store, int64_t run_id, struct kab_run_info *ret,
		    struct kab_err *err)
{
	char id[24];
	int rc;

	snprintf(id, sizeof(id), "%" PRId64, run_id);
	rc = kab_store_find_run(store, id, ret, NULL, err);
	if (rc == 1)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "there is no run %s", id);
	if (!rc && ret->id != run_id) { /* a run may be named like a number */
		kab_run_info_release(ret);
		return kab_err_set(err, KAB_ERR_NOT_FOUND,
				   "run %s cannot be told from one of that name", id);
	}
	return rc;
}

static void classify(struct kab_point *p, const struct kab_sample_set *ref,
		     const struct kab_sample_set *test, const struct kab_pair *pair)
{
	const char *failure = test ? test->first_failure : NULL;

	p->state = KAB_POINT_OK;
	if (isfinite(p->ratio)) {
		size_t lost = test->n_failed + test->n_missing + ref->n_failed + ref->n_missing;

		if (lost || test->n_done < test->n_planned || ref->n_done < ref->n_planned)
			p->state = KAB_POINT_PARTIAL;
		p->reason = kab_xstrdup(failure ? failure : ref->first_failure);
		return;
	}
	if (test && !test->n_done && !test->n_failed && !test->n_missing) {
		p->state = KAB_POINT_ABSENT;
		p->reason = kab_xstrdup("nothing was measured");
	} else if (test && test->n_done && ref && !ref->n_done) {
		p->state = KAB_POINT_FAILED;
		p->reason = kab_xasprintf("the reference has no value: %s",
					  ref->first_failure ? ref->first_failure
							     : "nothing was measured");
	} else if (test && test->n_done) {
		/* There are values, but no ratio. */
		p->state = KAB_POINT_FAILED;
		p->reason = kab_xstrdup(pair && pair->reason ? pair->reason : "no ratio");
	} else {
		p->state = test ? KAB_POINT_FAILED : KAB_POINT_ABSENT;
		p->reason = kab_xstrdup(failure ? failure : "nothing was measured");
	}
}

int kab_history_point(struct kab_store *store, const struct kab_run_info *run,
		      const struct kab_row_data *row, const char *tree, const char *date,
		      int64_t wall_ns, const char *reference, const char *test, struct kab_point *p,
		      struct kab_err *err)
{
	const struct kab_sample_set *a = kab_history_set(row, reference);
	const struct kab_sample_set *b = kab_history_set(row, test);
	struct kab_run_kernel ran, ref;
	struct kab_history_judged j = { 0 };
	int rc;

	if (!a || !b)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "run '%s' has no kernel '%s'", run->name,
				   a ? test : reference);
	if (kab_history_judge(row, a, b, &j, err))
		return -1;
	rc = kab_store_run_kernel(store, run->id, row->host, test, &ran, err);
	if (!rc)
		rc = kab_store_run_kernel(store, run->id, row->host, reference, &ref, err);
	if (rc) {
		kab_history_unjudge(&j);
		return rc < 0 ? -1
			      : kab_err_set(err, KAB_ERR_NOT_FOUND, "run '%s' has no such kernel",
					    run->name);
	}
	const struct kab_comparison *cmp = &j.pair->cmp;
	const char *version = b->runner_version ? b->runner_version : "";
	const struct kab_set_summary *sets = j.judgement.v[0].sets;
	/* A summary over boots; within one boot there is a ratio, but no error of it that counts. */
	bool boots = j.pair->compared && !j.pair->one_boot;

	*p = (struct kab_point){
		.series = { .tree = kab_xstrdup(tree),
			    .host = kab_xstrdup(row->host),
			    .condition = kab_xstrdup(row->condition),
			    .case_name = kab_xstrdup(row->case_name),
			    .row_key = kab_xstrdup(row->row_key),
			    .runner = kab_xstrdup(row->runner),
			    .metric = kab_xstrdup(row->metric),
			    .unit = kab_xstrdup(row->unit),
			    .dir = row->dir },
		.date = kab_xstrdup(date),
		.wall_ns = wall_ns,
		.run_id = run->id,
		.run_name = kab_xstrdup(run->name),
		.judged = j.judgement.v[0].verdict,
		.margin_pct = row->margin_pct,
		.series_key = b->argv_text ? kab_series_key(row->runner, version, b->argv_text,
							    row->metric, row->unit)
					   : kab_xstrdup(""),
		.machine_hash =
			kab_xstrdup(*ran.machine_hash ? ran.machine_hash : ref.machine_hash),
		.hardware = kab_xstrdup(*ran.hardware ? ran.hardware : ref.hardware),
		.reference = kab_xstrdup(reference),
		.reference_identity = kab_xstrdup(ref.kernel.identity),
		.boots = (int)sets[1].n_boots,
		.reference_boots = (int)sets[0].n_boots,
		.done = (int)b->n_done,
		.failed = (int)(b->n_failed + b->n_missing),
		.planned = (int)b->n_planned,
		.ratio = j.pair->compared && j.pair->outcome != KAB_OUTCOME_NOT_COMPARABLE
				 ? cmp->ratio_estimate
				 : NAN,
		.log_se = boots ? cmp->log_se : NAN,
		.df = boots ? cmp->ratio_test.df : NAN,
		.value = sets[1].mean,
		.reference_value = sets[0].mean,
	};
	if (!isfinite(p->ratio) && j.pair->compared &&
	    j.pair->outcome != KAB_OUTCOME_NOT_COMPARABLE && cmp->ratio > 0)
		p->ratio = cmp->ratio;
	p->kernel = ran.kernel;
	ran.kernel = (struct kab_kernel_ref){ 0 };
	classify(p, a, b, j.pair);
	kab_run_kernel_release(&ran);
	kab_run_kernel_release(&ref);
	kab_history_unjudge(&j);
	return 0;
}
