/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/view_history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/renderers.h"
#include "stats/dist.h"

#define DOTS_WIDTH 72
#define DAYS_SHOWN 14 /* blanks that a longer pause gets in the line of dots */

bool kab_point_interval(const struct kab_point *p, double *lo, double *hi)
{
	double t;

	if (!(p->log_se >= 0) || !(p->df > 0) || !(p->ratio > 0))
		return false;
	t = kab_t_quantile(0.95, p->df);
	*lo = p->ratio * exp(-t * p->log_se);
	*hi = p->ratio * exp(t * p->log_se);
	return isfinite(*lo) && isfinite(*hi);
}

/* Days since 1970 of "YYYY-MM-DD"; -1 when it is none. */
static long day_of(const char *date)
{
	struct tm tm = { 0 };
	const char *end = strptime(date, "%Y-%m-%d", &tm);

	return end && !*end ? (long)(timegm(&tm) / 86400) : -1;
}

static void date_of(long day, char buf[12])
{
	time_t when = (time_t)day * 86400;
	struct tm tm;

	gmtime_r(&when, &tm);
	strftime(buf, 12, "%Y-%m-%d", &tm);
}

/* Nights between two points that have none: of a tree only, runs by hand come when they come. */
static long nights_between(const struct kab_history_view *v, const char *before, const char *after)
{
	long a = day_of(before), b = day_of(after);

	if (!*v->tree || a < 0 || b < 0)
		return 0;
	return b - a > 1 ? b - a - 1 : 0;
}

static size_t first_shown(const struct kab_history_view *v)
{
	size_t i = 0;

	while (v->since && i < v->n && strcmp(v->points[i].date, v->since) < 0)
		i++;
	return i;
}

static const struct kab_segment *break_at(const struct kab_history_view *v, size_t point)
{
	for (size_t s = 0; s < v->segments->n; s++)
		if (v->segments->v[s].first == point)
			return &v->segments->v[s];
	return NULL;
}

static bool is_mine(const struct kab_history_view *v, const struct kab_series_id *s)
{
	return v->n && kab_series_id_same(s, &v->points[0].series);
}

/* ---- the line of dots ---- */

static void range(const struct kab_history_view *v, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t i = first_shown(v); i < v->n; i++) {
		if (!(v->points[i].ratio > 0))
			continue;
		*lo = fmin(*lo, v->points[i].ratio);
		*hi = fmax(*hi, v->points[i].ratio);
	}
}

void kab_history_dots(const struct kab_history_view *v, size_t width, struct kab_buf *out)
{
	static const char steps[] = "_.-*^";
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	double lo, hi;

	range(v, &lo, &hi);
	for (size_t i = first_shown(v); i < v->n; i++) {
		const struct kab_point *p = &v->points[i];
		const struct kab_segment *seg = break_at(v, i);

		if (i > first_shown(v)) {
			long pause = nights_between(v, p[-1].date, p->date);

			kab_buf_fill(&line, ' ', (size_t)(pause > DAYS_SHOWN ? DAYS_SHOWN : pause));
			if (seg && seg->why != KAB_BREAK_NONE)
				kab_buf_addc(&line, '|');
		}
		if (p->ratio > 0) {
			int step = hi > lo ? (int)(5 * (p->ratio - lo) / (hi - lo)) : 2;

			kab_buf_addc(&line, steps[step > 4 ? 4 : step]);
		} else {
			kab_buf_addc(&line, p->state == KAB_POINT_FAILED ? 'x' : ' ');
		}
	}
	if (line.len > width)
		kab_buf_adds(out, line.data + line.len - width);
	else
		kab_buf_adds(out, kab_buf_str(&line));
}

/* ---- words ---- */

static void add_gain(struct kab_buf *buf, double gain)
{
	kab_number_fixed(buf, gain, 2, true);
	kab_buf_adds(buf, " %");
}

static void add_p(struct kab_buf *buf, double p)
{
	if (p >= 0.0001)
		kab_buf_addf(buf, "p %.2g", p);
	else
		kab_buf_addf(buf, "p %.1e", p);
}

static const char *kernel_name(const struct kab_kernel_ref *k)
{
	return *k->label ? k->label : *k->release ? k->release : "?";
}

static void add_kernel(struct kab_buf *buf, const struct kab_kernel_ref *k)
{
	kab_buf_addf(buf, "'%s'", kernel_name(k));
	if (*k->commit)
		kab_buf_addf(buf, " (%.12s)", k->commit);
}

static void add_origin(struct kab_buf *buf, const struct kab_change *c)
{
	if (!strcmp(c->origin, "ab")) {
		kab_buf_addf(buf, "nominated %s by the comparison of that night", c->date);
	} else {
		kab_buf_addf(buf, "nominated %s by %s of %d nights (", c->date,
			     !strcmp(c->origin, "fast") ? "the last" : "a split", c->nights);
		add_p(buf, c->p);
		kab_buf_addf(buf, ", phi %.2f)", c->phi);
	}
}

char *kab_change_text(const struct kab_change *c)
{
	struct kab_buf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "change %lld since %s: ", (long long)c->id, c->since);
	switch (c->state) {
	case KAB_CHANGE_NOMINATED:
		kab_buf_adds(&buf, "nominated, not confirmed yet, looks like ");
		add_gain(&buf, c->gain_pct);
		break;
	case KAB_CHANGE_CONFIRMED:
	case KAB_CHANGE_ACKNOWLEDGED:
		kab_buf_adds(&buf, c->regressed ? "REGRESSED " : "improved ");
		add_gain(&buf, c->confirmed_gain_pct);
		if (isfinite(c->lo_pct)) {
			kab_buf_adds(&buf, " (95 %: ");
			kab_number_fixed(&buf, c->lo_pct, 2, true);
			kab_buf_adds(&buf, " .. ");
			kab_number_fixed(&buf, c->hi_pct, 2, true);
			kab_buf_addc(&buf, ')');
		}
		kab_buf_addf(&buf, ", confirmed %s by run '%s'", c->confirmed, c->confirm_run);
		break;
	case KAB_CHANGE_REFUTED:
		kab_buf_addf(&buf, "no change: refuted by run '%s' (%s)", c->confirm_run,
			     c->confirm_reason);
		break;
	case KAB_CHANGE_DROPPED:
		kab_buf_addf(&buf, "undecided: %d comparisons could not tell", c->tries);
		break;
	}
	kab_buf_adds(&buf, "; ");
	add_kernel(&buf, &c->before);
	kab_buf_adds(&buf, " -> ");
	add_kernel(&buf, &c->after);
	kab_buf_adds(&buf, "; ");
	add_origin(&buf, c);
	if (c->recovered)
		kab_buf_addf(&buf, "; recovered %s: %s", c->recovered, c->recovered_why);
	if (c->acknowledged)
		kab_buf_addf(&buf, "; acknowledged %s by %s: %s", c->acknowledged,
			     c->acknowledged_by, c->acknowledged_why);
	else if (c->state == KAB_CHANGE_CONFIRMED && !c->recovered)
		kab_buf_addf(&buf, "; open since %s", c->since);
	return kab_buf_detach(&buf);
}

/* What a night is marked with: a word for each, the text is below the table. */
static void marks_of(const struct kab_history_view *v, size_t i, struct kab_buf *buf)
{
	const struct kab_point *p = &v->points[i];
	const struct kab_segment *seg = break_at(v, i);

	if (seg && *kab_break_name(seg->why))
		kab_buf_adds(buf, kab_break_name(seg->why));
	for (size_t k = 0; k < v->changes->n; k++) {
		const struct kab_change *c = &v->changes->v[k];

		if (!is_mine(v, &c->series))
			continue;
		if (!strcmp(c->since, p->date))
			kab_buf_addf(buf, "%s#%lld %s", buf->len ? ", " : "", (long long)c->id,
				     c->confirmed ? (c->regressed ? "regressed" : "improved")
						  : kab_change_state_name(c->state));
		if (c->recovered && !strcmp(c->recovered, p->date))
			kab_buf_addf(buf, "%s#%lld recovered", buf->len ? ", " : "",
				     (long long)c->id);
	}
	for (size_t k = 0; k < v->notes->n; k++) {
		const struct kab_note *n = &v->notes->v[k];

		if (n->kind == KAB_NOTE_ANNOTATE && kab_note_concerns(n, &p->series) &&
		    !strcmp(n->date, p->date))
			kab_buf_addf(buf, "%snote", buf->len ? ", " : "");
	}
}

/* ---- text ---- */

static void head(const struct kab_history_view *v, struct kab_table *t)
{
	const struct kab_point *last = &v->points[v->n - 1];
	size_t values = 0, failed = 0, partial = 0, absent = 0;
	struct kab_buf kab_autobuf dots = KAB_BUF_INIT;
	kab_autofree char *name = kab_series_id_name(&last->series);
	double lo, hi;
	long gaps = 0;

	for (size_t i = 0; i < v->n; i++) {
		values += v->points[i].ratio > 0;
		failed += v->points[i].state == KAB_POINT_FAILED;
		partial += v->points[i].state == KAB_POINT_PARTIAL;
		absent += v->points[i].state == KAB_POINT_ABSENT;
		if (i)
			gaps += nights_between(v, v->points[i - 1].date, v->points[i].date);
	}
	t->title = kab_xasprintf("%s%s%s%s", *v->tree ? v->tree : "", *v->tree ? ": " : "", name,
				 last->series.dir == KAB_DIR_LOWER    ? " (LOWER is better)"
				 : last->series.dir == KAB_DIR_HIGHER ? " (HIGHER is better)"
								      : "");
	kab_strv_addf(&t->legend, "ratio: to '%s', measured in the same blocks of the same night",
		      last->reference);
	kab_strv_add(&t->legend, "+/-: half of its 95 % interval, percent");
	kab_strv_addf(&t->legend,
		      "%zu %s: %zu with a value (%zu partial), %zu failed, %ld not measured", v->n,
		      *v->tree ? "nights" : "runs", values, partial, failed, (long)absent + gaps);
	range(v, &lo, &hi);
	if (hi >= lo) {
		kab_history_dots(v, DOTS_WIDTH, &dots);
		kab_strv_add(&t->legend, "");
		kab_strv_add(&t->legend, kab_buf_str(&dots));
		kab_strv_addf(&t->legend,
			      "(_ is %.4f, ^ is %.4f; x failed, blank not measured, | not "
			      "comparable)",
			      lo, hi);
	}
}

static void gap_row(struct kab_table *t, const char *before, long nights)
{
	struct kab_cell *cells = kab_table_row(t);
	char date[12];

	date_of(day_of(before) + 1, date);
	kab_cell_text(&cells[0], date);
	if (nights > 1) {
		kab_autofree char *text = kab_xasprintf("(%ld nights)", nights);

		kab_cell_text(&cells[1], text);
	}
	kab_cell_word(&cells[2], "absent");
}

/* Five digits of the largest value, for the whole column. */
static int decimals_of(const struct kab_history_view *v)
{
	double most = 0;

	for (size_t i = 0; i < v->n; i++)
		if (isfinite(v->points[i].value))
			most = fmax(most, fabs(v->points[i].value));
	return most > 0 ? kab_number_significant(most, 5) : 0;
}

static void point_row(const struct kab_history_view *v, size_t i, int decimals, struct kab_table *t)
{
	const struct kab_point *p = &v->points[i];
	struct kab_cell *cells = kab_table_row(t);
	struct kab_buf kab_autobuf marks = KAB_BUF_INIT;
	kab_autofree char *boots = kab_xasprintf("%d+%d", p->boots, p->reference_boots);
	double lo, hi, half = NAN;

	if (kab_point_interval(p, &lo, &hi))
		half = (hi - lo) / 2;
	kab_cell_text(&cells[0], p->date);
	kab_cell_text(&cells[1], kernel_name(&p->kernel));
	if (p->ratio > 0)
		kab_cell_number(&cells[2], p->ratio, 4);
	else
		kab_cell_word(&cells[2], kab_point_state_name(p->state));
	if (isfinite(half))
		kab_cell_percent(&cells[3], 100 * half / p->ratio, 2, false);
	else if (p->ratio > 0)
		kab_cell_word(&cells[3], "n/a");
	if (isfinite(p->value))
		kab_cell_number(&cells[4], p->value, decimals);
	kab_cell_text(&cells[5], boots);
	if (p->failed) {
		kab_autofree char *fail = kab_xasprintf("fail %d/%d", p->failed, p->planned);

		kab_buf_adds(&marks, fail);
	} else if (p->state == KAB_POINT_PARTIAL) {
		kab_buf_adds(&marks, "partial");
	}
	if (marks.len) {
		struct kab_buf kab_autobuf more = KAB_BUF_INIT;

		marks_of(v, i, &more);
		if (more.len)
			kab_buf_addf(&marks, ", %s", more.data);
	} else {
		marks_of(v, i, &marks);
	}
	kab_cell_text(&cells[6], kab_buf_str(&marks));
}

static void add_levels(const struct kab_history_view *v, struct kab_table *t)
{
	for (size_t s = 0; s < v->segments->n; s++) {
		const struct kab_segment *g = &v->segments->v[s];
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

		kab_buf_addf(&buf, "level from %s: ", v->points[g->first].date);
		if (isfinite(g->level))
			kab_buf_addf(&buf, "%.4f", g->level);
		else
			kab_buf_adds(&buf, "no value");
		if (isfinite(g->sd_pct))
			kab_buf_addf(&buf, ", sd %.2f %%", g->sd_pct);
		kab_buf_addf(&buf, ", %zu values", g->n);
		if (isfinite(g->gain_pct) && isfinite(g->p)) {
			kab_buf_adds(&buf, "; split ");
			add_gain(&buf, g->gain_pct);
			kab_buf_adds(&buf, ", ");
			add_p(&buf, g->p);
			kab_buf_addf(&buf, ", phi %.2f", g->phi);
		} else if (isfinite(g->gain_pct)) {
			kab_buf_adds(&buf, "; confirmed change, ");
			add_gain(&buf, g->gain_pct);
			kab_buf_adds(&buf, " in the ratio");
		} else if (*kab_break_name(g->why)) {
			kab_buf_addf(&buf, "; %s: not compared with what came before",
				     kab_break_name(g->why));
		}
		kab_wrap(&t->notes, kab_buf_str(&buf), 72, 2);
	}
}

static void add_words(const struct kab_history_view *v, struct kab_table *t)
{
	for (size_t i = 0; i < v->changes->n; i++) {
		if (is_mine(v, &v->changes->v[i].series)) {
			kab_autofree char *text = kab_change_text(&v->changes->v[i]);

			kab_wrap(&t->notes, text, 72, 2);
		}
	}
	for (size_t i = 0; i < v->notes->n; i++) {
		const struct kab_note *n = &v->notes->v[i];

		if ((n->kind == KAB_NOTE_ANNOTATE || n->kind == KAB_NOTE_RESET) && v->n &&
		    kab_note_concerns(n, &v->points[0].series)) {
			kab_autofree char *text = kab_xasprintf(
				"%s %s by %s: %s", n->kind == KAB_NOTE_RESET ? "reset" : "note",
				n->date, n->who, n->why);

			kab_wrap(&t->notes, text, 72, 2);
		}
	}
	for (size_t i = first_shown(v); i < v->n; i++) {
		const struct kab_point *p = &v->points[i];

		if (p->state != KAB_POINT_OK && p->reason) {
			kab_autofree char *text = kab_xasprintf(
				"%s %s: %s", p->date, kab_point_state_name(p->state), p->reason);

			kab_wrap(&t->notes, text, 72, 2);
		}
	}
}

void kab_history_text(const struct kab_history_view *v, struct kab_buf *out)
{
	static const struct {
		const char *name;
		enum kab_role role;
		bool left;
	} cols[] = {
		{ "night", KAB_ROLE_LABEL, true },  { "kernel", KAB_ROLE_LABEL, true },
		{ "ratio", KAB_ROLE_VALUE, false }, { "+/-", KAB_ROLE_STAT, false },
		{ NULL, KAB_ROLE_STAT, false },	    { "boots", KAB_ROLE_STAT, false },
		{ "marks", KAB_ROLE_NOTE, true },
	};
	struct kab_table t = { 0 };
	int decimals;

	if (!v->n)
		return;
	decimals = decimals_of(v);
	head(v, &t);
	for (size_t c = 0; c < KAB_ARRAY_SIZE(cols); c++) {
		const struct kab_series_id *s = &v->points[0].series;
		kab_autofree char *value =
			kab_xasprintf("%s%s%s", s->metric, *s->unit ? " " : "", s->unit);
		struct kab_column *col = kab_table_column(
			&t, cols[c].role, -1, cols[c].name ? cols[c].name : "value",
			cols[c].name ? cols[c].name : value, NULL);

		col->left = cols[c].left;
		col->glue = c == 3;
	}
	if (!*v->tree)
		t.cols[0].head[0] = '\0';
	for (size_t i = first_shown(v); i < v->n; i++) {
		long pause = i > first_shown(v)
				     ? nights_between(v, v->points[i - 1].date, v->points[i].date)
				     : 0;

		if (pause)
			gap_row(&t, v->points[i - 1].date, pause);
		point_row(v, i, decimals, &t);
	}
	add_levels(v, &t);
	add_words(v, &t);
	kab_render_plain(&t, false, out);
	kab_table_release(&t);
}
