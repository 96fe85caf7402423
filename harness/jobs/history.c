/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jobs/history_points.h"
#include "store/history.h"

/* ---- recording ---- */

/* Do two intervals of a gain have nothing in common? */
static bool apart(double lo, double hi, double lo2, double hi2)
{
	return hi < lo2 || hi2 < lo;
}

/* The comparison of tonight says that the kernel before the change and tonight's are equivalent, and
 * by an interval that the change is not in. */
static int note_recovery(struct kab_store *store, const struct kab_history_night *night,
			 const struct kab_row_data *row, const struct kab_change *c,
			 struct kab_err *err)
{
	const struct kab_sample_set *a = kab_history_set(row, night->baseline);
	const struct kab_sample_set *b = kab_history_set(row, night->test);
	struct kab_history_judged j;
	int rc = 0;

	if (!a || !b)
		return 0;
	if (kab_history_judge(row, a, b, &j, err))
		return -1;
	if (j.pair->outcome == KAB_OUTCOME_EQUIVALENT && isfinite(c->lo_pct) &&
	    apart(j.pair->gain_lo_pct, j.pair->gain_hi_pct, c->lo_pct, c->hi_pct)) {
		kab_autofree char *why =
			kab_xasprintf("'%s' is equivalent to '%s' again (%+.2f %%, 95 %% interval "
				      "%+.2f .. %+.2f)",
				      night->test, night->baseline, j.pair->gain_pct,
				      j.pair->gain_lo_pct, j.pair->gain_hi_pct);
		const struct kab_note note = { .kind = KAB_NOTE_RECOVERED,
					       .change_id = c->id,
					       .tree = c->series.tree,
					       .host = c->series.host,
					       .case_name = c->series.case_name,
					       .metric = c->series.metric,
					       .date = (char *)night->date,
					       .who = (char *)"kab",
					       .why = why,
					       .wall_ns = kab_now_wall_ns() };

		rc = kab_store_history_put_note(store, &note, err) < 0 ? -1 : 0;
	}
	kab_history_unjudge(&j);
	return rc;
}

static bool is_row(const struct kab_row_data *row, const struct kab_series_id *s)
{
	return !strcmp(row->host, s->host) && !strcmp(row->condition, s->condition) &&
	       !strcmp(row->case_name, s->case_name) && !strcmp(row->row_key, s->row_key) &&
	       !strcmp(row->metric, s->metric) && (!*s->unit || !strcmp(row->unit, s->unit));
}

static int note_recoveries(struct kab_store *store, const struct kab_history_night *night,
			   const struct kab_row_list *rows, struct kab_err *err)
{
	struct kab_change_list open;
	int rc = 0;

	if (!night->baseline || !strcmp(night->baseline, night->test))
		return 0;
	if (kab_history_open_changes(store, night->tree, &open, err))
		return -1;
	for (size_t i = 0; i < open.n && !rc; i++) {
		const struct kab_change *c = &open.v[i];

		if (c->recovered || strcmp(c->before.label, night->baseline) != 0 ||
		    strcmp(c->since, night->date) >= 0)
			continue;
		for (size_t r = 0; r < rows->n && !rc; r++)
			if (is_row(&rows->v[r], &c->series))
				rc = note_recovery(store, night, &rows->v[r], c, err);
	}
	kab_change_list_release(&open);
	return rc;
}

int kab_history_record(struct kab_store *store, const struct kab_history_night *night,
		       struct kab_err *err)
{
	struct kab_run_info run;
	struct kab_row_list rows = { 0 };
	int rc = 0;

	if (kab_history_run(store, night->run_id, &run, err))
		return -1;
	if (kab_store_load_rows(store, &night->run_id, 1, &rows, err)) {
		kab_run_info_release(&run);
		return -1;
	}
	for (size_t r = 0; r < rows.n && !rc && strcmp(night->reference, night->test); r++) {
		struct kab_point point;

		if (!kab_history_wants(&rows.v[r]))
			continue;
		rc = kab_history_point(store, &run, &rows.v[r], night->tree, night->date,
				       night->wall_ns ? night->wall_ns : run.created_wall_ns,
				       night->reference, night->test, &point, err);
		if (rc)
			break;
		rc = kab_store_history_put_point(store, &point, err);
		kab_point_release(&point);
	}
	if (!rc)
		rc = note_recoveries(store, night, &rows, err);
	kab_row_list_release(&rows);
	kab_run_info_release(&run);
	return rc;
}

/* ---- confirming ---- */

static int only_state(struct kab_store *store, const char *tree, enum kab_change_state state,
		      struct kab_change_list *ret, struct kab_err *err)
{
	const struct kab_history_filter filter = { .tree = tree };
	size_t kept = 0;

	if (kab_store_history_changes(store, &filter, 0, ret, err))
		return -1;
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->v[i].state == state)
			ret->v[kept++] = ret->v[i];
		else
			kab_change_release(&ret->v[i]);
	}
	ret->n = kept;
	return 0;
}

int kab_history_confirmations(struct kab_store *store, const char *tree,
			      struct kab_change_list *ret, struct kab_err *err)
{
	return only_state(store, tree, KAB_CHANGE_NOMINATED, ret, err);
}

int kab_history_open_changes(struct kab_store *store, const char *tree, struct kab_change_list *ret,
			     struct kab_err *err)
{
	return only_state(store, tree, KAB_CHANGE_CONFIRMED, ret, err);
}

static const char *const verdicts[] = {
	[KAB_CONFIRM_REGRESSED] = "regressed",
	[KAB_CONFIRM_IMPROVED] = "improved",
	[KAB_CONFIRM_REFUTED] = "refuted",
	[KAB_CONFIRM_OPEN] = "open",
};

static enum kab_confirm_verdict decide(const struct kab_change *c, const struct kab_pair *pair,
				       char **ret_reason)
{
	bool worse = pair->outcome == KAB_OUTCOME_REGRESSED;

	*ret_reason = kab_xstrdup(pair->reason);
	switch (pair->outcome) {
	case KAB_OUTCOME_IMPROVED:
	case KAB_OUTCOME_REGRESSED:
		if (isfinite(c->gain_pct) && (c->gain_pct < 0) != worse) {
			free(*ret_reason);
			*ret_reason = kab_xasprintf("nominated as %s, but %s",
						    worse ? "improved" : "regressed",
						    worse ? "regressed" : "improved");
			return KAB_CONFIRM_REFUTED;
		}
		return worse ? KAB_CONFIRM_REGRESSED : KAB_CONFIRM_IMPROVED;
	case KAB_OUTCOME_EQUIVALENT:
		return KAB_CONFIRM_REFUTED;
	default:
		return KAB_CONFIRM_OPEN;
	}
}

/* A change the other way back to the level of before, later in the same series: what it undoes has
 * recovered. Half of the way is not back. */
static int undo(struct kab_store *store, const struct kab_change *c, double gain_pct,
		const char *date, struct kab_err *err)
{
	struct kab_change_list open;
	int rc = 0;

	if (kab_history_open_changes(store, c->series.tree, &open, err))
		return -1;
	for (size_t i = open.n; i-- > 0 && !rc;) {
		const struct kab_change *o = &open.v[i];
		double was = log1p(o->confirmed_gain_pct / 100), now = log1p(gain_pct / 100);

		if (o->id == c->id || o->recovered || !kab_series_id_same(&o->series, &c->series) ||
		    strcmp(o->since, c->since) >= 0 || (was > 0) == (now > 0) ||
		    fabs(now) < 0.5 * fabs(was))
			continue;
		kab_autofree char *why = kab_xasprintf("undone by change %lld (%+.2f %%)",
						       (long long)c->id, gain_pct);
		const struct kab_note note = { .kind = KAB_NOTE_RECOVERED,
					       .change_id = o->id,
					       .tree = o->series.tree,
					       .host = o->series.host,
					       .case_name = o->series.case_name,
					       .metric = o->series.metric,
					       .date = (char *)date,
					       .who = (char *)"kab",
					       .why = why,
					       .wall_ns = kab_now_wall_ns() };

		rc = kab_store_history_put_note(store, &note, err) < 0 ? -1 : 0;
		break;
	}
	kab_change_list_release(&open);
	return rc;
}

static int judge_trial(struct kab_store *store, const struct kab_change *c,
		       const struct kab_run_info *run, const char *date,
		       enum kab_confirm_verdict *ret, struct kab_err *err)
{
	struct kab_row_list rows = { 0 };
	const struct kab_row_data *row = NULL;
	struct kab_history_judged j = { 0 };
	kab_autofree char *reason = NULL;
	struct kab_trial trial = { .run_id = run->id,
				   .date = date,
				   .run_name = run->name,
				   .gain_pct = NAN,
				   .lo_pct = NAN,
				   .hi_pct = NAN,
				   .p = NAN,
				   .wall_ns = kab_now_wall_ns() };
	int rc;

	if (kab_store_load_rows(store, &run->id, 1, &rows, err))
		return -1;
	for (size_t r = 0; r < rows.n && !row; r++)
		if (is_row(&rows.v[r], &c->series) &&
		    kab_history_set(&rows.v[r], c->before.label) &&
		    kab_history_set(&rows.v[r], c->after.label))
			row = &rows.v[r];
	*ret = KAB_CONFIRM_OPEN;
	if (!row) {
		reason = kab_xstrdup("the run did not measure this");
		rc = 0;
	} else {
		rc = kab_history_judge(row, kab_history_set(row, c->before.label),
				       kab_history_set(row, c->after.label), &j, err);
	}
	if (!rc && row) {
		*ret = decide(c, j.pair, &reason);
		trial.gain_pct = j.pair->gain_pct;
		trial.lo_pct = j.pair->gain_lo_pct;
		trial.hi_pct = j.pair->gain_hi_pct;
		trial.p = j.pair->tested ? j.pair->cmp.p : NAN;
		trial.boots = (int)j.judgement.v[0].sets[1].n_boots;
	}
	trial.verdict = verdicts[*ret];
	trial.reason = reason;
	if (!rc)
		rc = kab_store_history_put_trial(store, c->id, &trial, err);
	if (!rc && (*ret == KAB_CONFIRM_REGRESSED || *ret == KAB_CONFIRM_IMPROVED))
		rc = undo(store, c, trial.gain_pct, date, err);
	kab_history_unjudge(&j);
	kab_row_list_release(&rows);
	return rc;
}

int kab_history_confirm(struct kab_store *store, int64_t change_id, int64_t run_id,
			const char *date, enum kab_confirm_verdict *ret, struct kab_err *err)
{
	const struct kab_history_filter filter = { 0 };
	struct kab_change_list list;
	kab_autofree char *before = NULL;
	struct kab_run_info run;
	int rc;

	if (kab_store_history_changes(store, &filter, change_id, &list, err))
		return -1;
	if (!list.n)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "there is no change %lld",
				   (long long)change_id);
	rc = kab_history_run(store, run_id, &run, err);
	if (!rc) {
		rc = kab_store_history_trial(store, change_id, run.name, &before, err);
		if (rc == 1) {
			rc = judge_trial(store, &list.v[0], &run, date, ret, err);
		} else if (!rc) {
			*ret = KAB_CONFIRM_OPEN;
			for (size_t i = 0; i < KAB_ARRAY_SIZE(verdicts); i++)
				if (!strcmp(verdicts[i], before))
					*ret = (enum kab_confirm_verdict)i;
		}
		kab_run_info_release(&run);
	}
	kab_change_list_release(&list);
	return rc;
}
