/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A history for programs: full precision, undefined numbers empty (CSV) or null (JSON). */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "reports/number.h"
#include "reports/view_history.h"

/* ---- CSV ---- */

static const char *const csv_columns[] = {
	"tree",
	"host",
	"condition",
	"case",
	"row",
	"metric",
	"unit",
	"direction",
	"night",
	"kernel",
	"release",
	"commit",
	"reference",
	"state",
	"ratio",
	"ratio_lo95",
	"ratio_hi95",
	"value",
	"reference_value",
	"boots",
	"reference_boots",
	"done",
	"failed",
	"planned",
	"used",
	"segment",
	"hardware",
	"run",
	"reason",
};

void kab_history_csv_head(struct kab_buf *out)
{
	for (size_t i = 0; i < KAB_ARRAY_SIZE(csv_columns); i++)
		kab_buf_addf(out, "%s%s", i ? "," : "", csv_columns[i]);
	kab_buf_adds(out, "\r\n");
}

static void csv_text(struct kab_buf *out, const char *s, bool first)
{
	if (!first)
		kab_buf_addc(out, ',');
	kab_text_csv(out, s);
}

static void csv_number(struct kab_buf *out, double value)
{
	kab_buf_addc(out, ',');
	if (isfinite(value))
		kab_number_shortest(out, value);
}

static size_t segment_of(const struct kab_segments *segments, size_t point)
{
	size_t s = 0;

	while (s + 1 < segments->n && segments->v[s + 1].first <= point)
		s++;
	return s;
}

void kab_history_csv(const struct kab_history_view *v, struct kab_buf *out)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct kab_point *p = &v->points[i];
		const char *const texts[] = { p->series.tree,
					      p->series.host,
					      p->series.condition,
					      p->series.case_name,
					      p->series.row_key,
					      p->series.metric,
					      p->series.unit,
					      kab_direction_name(p->series.dir),
					      p->date,
					      p->kernel.label,
					      p->kernel.release,
					      p->kernel.commit,
					      p->reference,
					      kab_point_state_name(p->state) };
		double lo = NAN, hi = NAN;

		if (v->since && strcmp(p->date, v->since) < 0)
			continue;
		if (!kab_point_interval(p, &lo, &hi))
			lo = hi = NAN;
		for (size_t k = 0; k < KAB_ARRAY_SIZE(texts); k++)
			csv_text(out, texts[k], k == 0);
		csv_number(out, p->ratio);
		csv_number(out, lo);
		csv_number(out, hi);
		csv_number(out, p->value);
		csv_number(out, p->reference_value);
		kab_buf_addf(out, ",%d,%d,%d,%d,%d,%s,%zu", p->boots, p->reference_boots, p->done,
			     p->failed, p->planned, kab_point_counts(p) ? "yes" : "no",
			     segment_of(v->segments, i) + 1);
		csv_text(out, p->hardware, false);
		csv_text(out, p->run_name, false);
		csv_text(out, p->reason, false);
		kab_buf_adds(out, "\r\n");
	}
}

/* ---- JSON ---- */

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *pair(double lo, double hi)
{
	return isfinite(lo) && isfinite(hi) ? json_pack("[f,f]", lo, hi) : json_null();
}

/* What is not UTF-8 becomes '?'. */
static json_t *text(const char *s)
{
	json_t *ret = s ? json_string(s) : json_null();
	kab_autofree char *copy = NULL;

	if (ret)
		return ret;
	copy = kab_xstrdup(s);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return json_string(copy);
}

static json_t *kernel(const struct kab_kernel_ref *k)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "label", text(k->label), "spec", text(k->spec),
			 "release", text(k->release), "commit", text(k->commit));
}

static json_t *point(const struct kab_history_view *v, size_t i)
{
	const struct kab_point *p = &v->points[i];
	double lo = NAN, hi = NAN;
	json_t *o;

	if (!kab_point_interval(p, &lo, &hi))
		lo = hi = NAN;
	o = json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:i, s:i}", "night", text(p->date),
		      "kernel", kernel(&p->kernel), "state", kab_point_state_name(p->state),
		      "ratio", number(p->ratio), "ratio_ci95", pair(lo, hi), "value",
		      number(p->value), "reference_value", number(p->reference_value), "boots",
		      p->boots, "reference_boots", p->reference_boots);
	json_object_set_new(o, "done", json_integer(p->done));
	json_object_set_new(o, "failed", json_integer(p->failed));
	json_object_set_new(o, "planned", json_integer(p->planned));
	json_object_set_new(o, "used", json_boolean(kab_point_counts(p)));
	json_object_set_new(o, "segment", json_integer((json_int_t)segment_of(v->segments, i) + 1));
	json_object_set_new(o, "reference", text(p->reference));
	json_object_set_new(o, "hardware", text(p->hardware));
	json_object_set_new(o, "run", text(p->run_name));
	json_object_set_new(o, "reason", text(p->reason));
	return o;
}

static json_t *segment(const struct kab_history_view *v, const struct kab_segment *s)
{
	const char *why = s->why == KAB_BREAK_START  ? "start"
			  : s->why == KAB_BREAK_NONE ? "change of level"
						     : kab_break_name(s->why);

	return json_pack("{s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:f}", "from",
			 text(v->points[s->first].date), "why", why, "values", (json_int_t)s->n,
			 "level", number(s->level), "sd_pct", number(s->sd_pct), "p", number(s->p),
			 "gain_pct", number(s->gain_pct), "phi", s->phi);
}

static json_t *change(const struct kab_change *c)
{
	json_t *o =
		json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
			  (json_int_t)c->id, "state", kab_change_state_name(c->state), "since",
			  text(c->since), "nominated", text(c->date), "origin", text(c->origin),
			  "nominated_gain_pct", number(c->gain_pct), "p", number(c->p), "phi",
			  number(c->phi), "before", kernel(&c->before), "after", kernel(&c->after));

	json_object_set_new(o, "verdict",
			    c->confirmed ? json_string(c->regressed ? "regressed" : "improved")
					 : json_null());
	json_object_set_new(o, "confirmed", text(c->confirmed));
	json_object_set_new(o, "gain_pct", number(c->confirmed_gain_pct));
	json_object_set_new(o, "gain_ci95", pair(c->lo_pct, c->hi_pct));
	json_object_set_new(o, "run", text(c->confirm_run));
	json_object_set_new(o, "reason", text(c->confirm_reason));
	json_object_set_new(o, "tries", json_integer(c->tries));
	json_object_set_new(o, "recovered", text(c->recovered));
	json_object_set_new(o, "acknowledged", text(c->acknowledged));
	json_object_set_new(o, "acknowledged_by", text(c->acknowledged_by));
	json_object_set_new(o, "acknowledged_why", text(c->acknowledged_why));
	return o;
}

void kab_history_json(const struct kab_history_view *v, struct kab_buf *out)
{
	json_t *points = json_array(), *segments = json_array(), *changes = json_array();
	json_t *notes = json_array(), *o;
	const struct kab_series_id *s = &v->points[0].series;
	char *bytes;

	for (size_t i = 0; i < v->n; i++)
		if (!v->since || strcmp(v->points[i].date, v->since) >= 0)
			json_array_append_new(points, point(v, i));
	for (size_t i = 0; i < v->segments->n; i++)
		json_array_append_new(segments, segment(v, &v->segments->v[i]));
	for (size_t i = 0; i < v->changes->n; i++)
		if (kab_series_id_same(&v->changes->v[i].series, s))
			json_array_append_new(changes, change(&v->changes->v[i]));
	for (size_t i = 0; i < v->notes->n; i++) {
		const struct kab_note *n = &v->notes->v[i];

		if (kab_note_concerns(n, s) &&
		    (n->kind == KAB_NOTE_ANNOTATE || n->kind == KAB_NOTE_RESET))
			json_array_append_new(notes, json_pack("{s:s, s:o, s:o, s:o}", "kind",
							       kab_note_kind_name(n->kind), "night",
							       text(n->date), "who", text(n->who),
							       "why", text(n->why)));
	}
	o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "tree", text(v->tree), "host",
		      text(s->host), "condition", text(s->condition), "case", text(s->case_name),
		      "row", text(s->row_key), "metric", text(s->metric), "unit", text(s->unit),
		      "direction", kab_direction_name(s->dir));
	json_object_set_new(o, "points", points);
	json_object_set_new(o, "segments", segments);
	json_object_set_new(o, "changes", changes);
	json_object_set_new(o, "notes", notes);
	bytes = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	kab_buf_adds(out, bytes ? bytes : "null");
	free(bytes);
}
