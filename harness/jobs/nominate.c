/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What looks like a change becomes a nomination: a question for a fresh comparison. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jobs/history.h"
#include "judge/history.h"
#include "store/history.h"

static int put(struct kab_store *store, const struct kab_point *points, const char *date,
	       const struct kab_candidate_change *c, struct kab_err *err)
{
	const struct kab_point *since = &points[c->since];
	struct kab_change change = {
		.series = since->series,
		.date = (char *)date,
		.since = since->date,
		.origin = (char *)(c->fast ? "fast" : "divisive"),
		.gain_pct = c->gain_pct,
		.p = c->p,
		.phi = c->phi,
		.nights = (int)c->nights,
		.before = points[c->before].kernel,
		.after = points[c->after].kernel,
		.wall_ns = kab_now_wall_ns(),
	};

	return kab_store_history_nominate(store, &change, err);
}

/* Points [first, end) are one series. */
static int look(struct kab_store *store, const struct kab_point *points, size_t n, const char *date,
		const struct kab_note_list *notes, const struct kab_change_list *known,
		uint64_t seed, size_t *new, struct kab_err *err)
{
	const struct kab_history_opts opts = { .seed = seed };
	struct kab_candidate_changes found;
	int rc = 0;

	/* A series that ended says nothing new tonight. */
	if (!points[0].judged || strcmp(points[n - 1].date, date) != 0)
		return 0;
	kab_history_candidates(points, n, notes, known, &opts, &found);
	for (size_t i = 0; i < found.n && !rc; i++) {
		rc = put(store, points, date, &found.v[i], err);
		*new += !rc;
	}
	free(found.v);
	return rc;
}

int kab_history_nominate(struct kab_store *store, const char *tree, const char *date, uint64_t seed,
			 size_t *ret_new, struct kab_err *err)
{
	const struct kab_history_filter filter = { .tree = tree, .to = date };
	struct kab_change_list known = { 0 };
	struct kab_point_list points;
	struct kab_note_list notes = { 0 };
	size_t new = 0;
	int rc;

	if (kab_store_history_points(store, &filter, &points, err))
		return -1;
	rc = kab_store_history_notes(store, &notes, err);
	if (!rc)
		rc = kab_store_history_changes(store, &filter, 0, &known, err);
	for (size_t i = 0, end; i < points.n && !rc; i = end) {
		for (end = i + 1; end < points.n; end++)
			if (!kab_series_id_same(&points.v[i].series, &points.v[end].series))
				break;
		rc = look(store, points.v + i, end - i, date, &notes, &known, seed, &new, err);
	}
	kab_change_list_release(&known);
	kab_note_list_release(&notes);
	kab_point_list_release(&points);
	if (ret_new)
		*ret_new = new;
	return rc;
}

/* ---- rows of the comparison of a night ---- */

static bool about(const struct kab_series_id *s, const struct kab_history_suspect *q)
{
	return !strcmp(s->host, q->host) && !strcmp(s->condition, q->condition) &&
	       !strcmp(s->case_name, q->case_name) && !strcmp(s->row_key, q->row_key) &&
	       !strcmp(s->metric, q->metric);
}

/* The night that measured the kernel first; "" when none did: older than all of them. */
static const char *night_of(const struct kab_point_list *points, const char *label)
{
	for (size_t i = 0; i < points->n; i++)
		if (!strcmp(points->v[i].kernel.label, label))
			return points->v[i].date;
	return "";
}

/* A baseline that is held for another change is older than what was acknowledged meanwhile: the
 * comparison with it shows that again. */
static bool is_known(const struct kab_change *c, const struct kab_history_suspect *q,
		     const struct kab_point_list *points)
{
	bool waits = c->state == KAB_CHANGE_NOMINATED;
	bool stands = c->state == KAB_CHANGE_CONFIRMED && !c->recovered;
	bool spans = c->state == KAB_CHANGE_ACKNOWLEDGED && !c->recovered &&
		     strcmp(night_of(points, q->before_label), c->since) < 0;

	if (!about(&c->series, q) || (c->gain_pct > 0) != (q->gain_pct > 0))
		return false;
	return waits || stands || spans || !strcmp(c->after.label, q->after_label);
}

static void ref_of(struct kab_kernel_ref *ret, const struct kab_point_list *points,
		   const char *label, const char *spec)
{
	*ret = (struct kab_kernel_ref){ .label = (char *)label,
					.spec = (char *)spec,
					.identity = (char *)"",
					.release = (char *)"",
					.commit = (char *)"" };
	for (size_t i = points->n; i-- > 0;)
		if (!strcmp(points->v[i].kernel.label, label)) {
			*ret = points->v[i].kernel;
			break;
		}
}

int kab_history_nominate_row(struct kab_store *store, const struct kab_history_suspect *q,
			     struct kab_err *err)
{
	const struct kab_history_filter filter = {
		.tree = q->tree, .host = q->host, .case_name = q->case_name, .metric = q->metric
	};
	const struct kab_point *point = NULL;
	struct kab_point_list points;
	struct kab_change_list known;
	int rc;

	if (kab_store_history_points(store, &filter, &points, err))
		return -1;
	rc = kab_store_history_changes(store, &filter, 0, &known, err);
	for (size_t i = 0; i < known.n && !rc; i++)
		if (is_known(&known.v[i], q, &points))
			rc = 1;
	kab_change_list_release(&known);
	if (rc) {
		kab_point_list_release(&points);
		return rc;
	}
	for (size_t i = 0; i < points.n; i++)
		if (about(&points.v[i].series, q) && !strcmp(points.v[i].date, q->date))
			point = &points.v[i];
	if (!point) {
		rc = kab_err_set(err, KAB_ERR_INTERNAL,
				 "'%s' on '%s' was not recorded before it was nominated",
				 q->case_name, q->host);
	} else {
		struct kab_change change = { .series = point->series,
					     .date = (char *)q->date,
					     .since = (char *)q->date,
					     .origin = (char *)"ab",
					     .gain_pct = q->gain_pct,
					     .p = q->p,
					     .phi = NAN,
					     .nights = 1,
					     .wall_ns = kab_now_wall_ns() };

		ref_of(&change.before, &points, q->before_label, q->before_spec);
		ref_of(&change.after, &points, q->after_label, q->after_spec);
		rc = kab_store_history_nominate(store, &change, err);
	}
	kab_point_list_release(&points);
	return rc;
}
