/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "stats/change.h"
#include "stats/describe.h"

#define WINDOW 50
#define MIN_SEGMENT 5
#define NEAR 4 /* nights by which the same split may be found elsewhere in another night */
#define APART 2 /* nights by which a split may be off */

const char *kab_break_name(enum kab_break why)
{
	static const char *const names[] = {
		"",
		"",
		"another machine",
		"hardware changed",
		"another reference kernel",
		"benchmark changed",
		"baseline reset",
	};

	return names[why];
}

void kab_segments_release(struct kab_segments *s)
{
	free(s->v);
	*s = (struct kab_segments){ 0 };
}

bool kab_point_counts(const struct kab_point *p)
{
	if (!(p->ratio > 0) || !isfinite(p->ratio))
		return false;
	return p->state == KAB_POINT_OK ||
	       (p->state == KAB_POINT_PARTIAL && 2 * p->done >= p->planned);
}

double kab_history_gain_pct(double log_change, enum kab_direction dir)
{
	double ratio = exp(log_change);

	if (dir == KAB_DIR_NONE)
		return NAN;
	return 100 * (dir == KAB_DIR_LOWER ? 1 - ratio : ratio - 1);
}

/* What is known of a night, carried on over nights of which it is not. */
struct circumstances {
	const char *machine, *hardware, *reference, *series;
};

static bool differs(const char **kept, const char *now)
{
	bool other = **kept && *now && strcmp(*kept, now) != 0;

	if (*now)
		*kept = now;
	return other;
}

static enum kab_break break_at(struct circumstances *c, const struct kab_point *p)
{
	/* All of them are looked at: each keeps what is known. */
	bool machine = differs(&c->machine, p->machine_hash);
	bool hardware = differs(&c->hardware, p->hardware);
	bool reference = differs(&c->reference, p->reference_identity);
	bool series = differs(&c->series, p->series_key);

	/* A new CPU often comes with a new machine id; the CPU says more. */
	return hardware	   ? KAB_BREAK_HARDWARE
	       : machine   ? KAB_BREAK_MACHINE
	       : reference ? KAB_BREAK_REFERENCE
	       : series	   ? KAB_BREAK_BENCHMARK
			   : KAB_BREAK_NONE;
}

/* The newest reset at or before this night and after the one before it. */
static bool reset_between(const struct kab_note_list *notes, const struct kab_point *before,
			  const struct kab_point *p)
{
	for (size_t i = 0; notes && i < notes->n; i++) {
		const struct kab_note *note = &notes->v[i];

		if (note->kind == KAB_NOTE_RESET && kab_note_concerns(note, &p->series) &&
		    strcmp(note->date, p->date) <= 0 && strcmp(note->date, before->date) > 0)
			return true;
	}
	return false;
}

static struct kab_segment *push_segment(struct kab_segments *s, size_t first, enum kab_break why)
{
	struct kab_segment *seg = KAB_PUSH(s);

	*seg = (struct kab_segment){
		.first = first, .why = why, .level = NAN, .sd_pct = NAN, .p = NAN, .gain_pct = NAN
	};
	return seg;
}

/* The parts between two breaks, one segment each. */
static void find_parts(const struct kab_point *points, size_t n, const struct kab_note_list *notes,
		       struct kab_segments *ret)
{
	struct circumstances c = { "", "", "", "" };

	for (size_t i = 0; i < n; i++) {
		enum kab_break why = break_at(&c, &points[i]);

		if (!i)
			why = KAB_BREAK_START;
		else if (why == KAB_BREAK_NONE && reset_between(notes, &points[i - 1], &points[i]))
			why = KAB_BREAK_RESET;
		if (why == KAB_BREAK_NONE)
			continue;
		if (ret->n)
			ret->v[ret->n - 1].end = i;
		push_segment(ret, i, why);
	}
	if (ret->n)
		ret->v[ret->n - 1].end = n;
}

/* ln(ratio) of the nights of a part that count, and which they are. */
struct values {
	double *x;
	size_t *at;
	size_t n;
};

static void values_of(const struct kab_point *points, size_t first, size_t end, struct values *ret)
{
	ret->x = kab_xcalloc(end - first + 1, sizeof(*ret->x));
	ret->at = kab_xcalloc(end - first + 1, sizeof(*ret->at));
	ret->n = 0;
	for (size_t i = first; i < end; i++) {
		if (!kab_point_counts(&points[i]))
			continue;
		ret->x[ret->n] = log(points[i].ratio);
		ret->at[ret->n++] = i;
	}
}

static void values_release(struct values *v)
{
	free(v->x);
	free(v->at);
}

static struct kab_change_opts change_opts(const struct kab_history_opts *opts)
{
	return (struct kab_change_opts){ .window = WINDOW,
					 .min_segment = MIN_SEGMENT,
					 .p = opts->p,
					 .draws = opts->draws,
					 .seed = opts->seed };
}

static void describe(struct kab_segment *seg, const double *x, size_t n, double phi)
{
	struct kab_moments m;

	seg->n = n;
	seg->phi = phi;
	if (!n)
		return;
	m = kab_moments_of(x, n);
	seg->level = exp(m.mean);
	seg->sd_pct = n > 1 ? 100 * m.sd : NAN;
}

/* First of the values whose night is not before the date; v->n when there is none. */
static size_t value_since(const struct kab_point *points, const struct values *v, const char *date)
{
	size_t i = 0;

	while (i < v->n && strcmp(points[v->at[i]].date, date) < 0)
		i++;
	return i;
}

static void insert_split(struct kab_changes *c, size_t at, double p)
{
	size_t i = c->n;

	c->at = kab_xreallocarray(c->at, c->n + 1, sizeof(*c->at));
	c->p = kab_xreallocarray(c->p, c->n + 1, sizeof(*c->p));
	for (; i && c->at[i - 1] > at; i--) {
		c->at[i] = c->at[i - 1];
		c->p[i] = c->p[i - 1];
	}
	c->at[i] = at;
	c->p[i] = p;
	c->n++;
}

/* Where a level begins was confirmed: better known than by a split. */
static void add_confirmed(const struct kab_point *points, const struct values *v,
			  const struct kab_change_list *list, struct kab_changes *splits)
{
	for (size_t i = 0; list && v->n && i < list->n; i++) {
		const struct kab_change *c = &list->v[i];
		size_t at, kept = 0;

		if (!c->confirmed || !kab_series_id_same(&c->series, &points[v->at[0]].series))
			continue;
		at = value_since(points, v, c->since);
		if (!at || at >= v->n)
			continue;
		for (size_t k = 0; k < splits->n; k++) {
			/* Those that were confirmed have no p. */
			if (isnan(splits->p[k])
				    ? splits->at[k] == at
				    : splits->at[k] + NEAR >= at && splits->at[k] <= at + NEAR)
				continue;
			splits->at[kept] = splits->at[k];
			splits->p[kept++] = splits->p[k];
		}
		splits->n = kept;
		insert_split(splits, at, NAN);
	}
}

void kab_history_segments(const struct kab_point *points, size_t n,
			  const struct kab_note_list *notes, const struct kab_change_list *list,
			  const struct kab_history_opts *opts, struct kab_segments *ret)
{
	struct kab_change_opts co = change_opts(opts);
	struct kab_segments parts = { 0 };

	*ret = (struct kab_segments){ 0 };
	find_parts(points, n, notes, &parts);
	for (size_t p = 0; p < parts.n; p++) {
		const struct kab_segment *part = &parts.v[p];
		enum kab_direction dir = points[part->first].series.dir;
		struct kab_changes changes;
		struct values v;

		values_of(points, part->first, part->end, &v);
		kab_changes_find(v.x, v.n, &co, &changes);
		add_confirmed(points, &v, list, &changes);
		for (size_t k = 0; k <= changes.n; k++) {
			size_t from = k ? changes.at[k - 1] : 0;
			size_t to = k < changes.n ? changes.at[k] : v.n;
			struct kab_segment *seg = push_segment(ret, k ? v.at[from] : part->first,
							       k ? KAB_BREAK_NONE : part->why);

			seg->end = k < changes.n ? v.at[to] : part->end;
			describe(seg, v.x + from, to - from, changes.phi);
			if (!k)
				continue;
			seg->p = changes.p[k - 1];
			seg->gain_pct = kab_history_gain_pct(log(seg->level / seg[-1].level), dir);
		}
		kab_changes_release(&changes);
		values_release(&v);
	}
	kab_segments_release(&parts);
}

/* ---- what is new ---- */

/* A change that was nominated before is not asked about again: the same split is found a night or two
 * off as values are added, and the fast path sees the same nights four times. */
static bool is_known(const struct kab_point *points, const struct values *v,
		     const struct kab_change_list *known, size_t since, double gain)
{
	for (size_t i = 0; known && i < known->n; i++) {
		const struct kab_change *c = &known->v[i];
		size_t at;

		if (!kab_series_id_same(&c->series, &points[v->at[since]].series))
			continue;
		at = value_since(points, v, c->since);
		if ((c->gain_pct > 0) == (gain > 0) && at + NEAR >= since && at <= since + NEAR)
			return true;
	}
	return false;
}

static void add(const struct kab_point *points, const struct values *v,
		const struct kab_change_list *known, const struct kab_candidate_change *c,
		struct kab_candidate_changes *ret)
{
	struct kab_candidate_change *to;

	if (!isfinite(c->gain_pct) || is_known(points, v, known, c->since, c->gain_pct))
		return;
	for (size_t i = 0; i < ret->n; i++) {
		const struct kab_candidate_change *o = &ret->v[i];

		if ((o->gain_pct > 0) == (c->gain_pct > 0) &&
		    labs((long)o->since - (long)v->at[c->since]) <= NEAR)
			return;
	}
	/* The kernel did not change: nothing of it can be the reason. */
	if (!strcmp(points[v->at[c->before]].kernel.label, points[v->at[c->after]].kernel.label))
		return;
	to = KAB_PUSH(ret);
	*to = *c;
	to->since = v->at[c->since];
	to->before = v->at[c->before];
	to->after = v->at[c->after];
}

static void splits(const struct kab_point *points, const struct values *v,
		   const struct kab_changes *changes, const struct kab_change_list *known,
		   enum kab_direction dir, struct kab_candidate_changes *ret)
{
	for (size_t k = 0; k < changes->n; k++) {
		size_t at = changes->at[k], from = k ? changes->at[k - 1] : 0;
		size_t to = k + 1 < changes->n ? changes->at[k + 1] : v->n;
		double left = kab_moments_of(v->x + from, at - from).mean;
		double right = kab_moments_of(v->x + at, to - at).mean;
		struct kab_candidate_change c = {
			.since = at,
			.before = at - 1 > from + APART ? at - 1 - APART : at - 1,
			.after = at + APART < to ? at + APART : at,
			.nights = v->n,
			.gain_pct = kab_history_gain_pct(right - left, dir),
			.p = changes->p[k],
			.phi = changes->phi,
		};

		if (at + WINDOW >= v->n)
			add(points, v, known, &c, ret);
	}
}

/* The current level begins at the newest split, or at a change that was confirmed meanwhile. */
static size_t segment_begin(const struct kab_point *points, const struct values *v,
			    const struct kab_changes *changes, const struct kab_change_list *known)
{
	size_t begin = changes->n ? changes->at[changes->n - 1] : 0;

	for (size_t i = 0; known && v->n && i < known->n; i++) {
		const struct kab_change *c = &known->v[i];
		size_t at;

		if (!c->confirmed || !kab_series_id_same(&c->series, &points[v->at[0]].series))
			continue;
		at = value_since(points, v, c->since);
		if (at < v->n && at > begin)
			begin = at;
	}
	return begin;
}

static void young(const struct kab_point *points, const struct values *v,
		  const struct kab_changes *changes, const struct kab_change_list *known,
		  const struct kab_history_opts *opts, enum kab_direction dir,
		  struct kab_candidate_changes *ret)
{
	size_t segment = segment_begin(points, v, changes, known), k;
	struct kab_fast fast;
	struct kab_candidate_change c = { .fast = true, .nights = v->n - segment };

	if (kab_change_fast(v->x, v->n, segment, changes->phi, opts->fast_p, &fast) || !fast.nights)
		return;
	/* Where the step lies: the number of nights that stands out most. */
	k = fast.nights;
	for (size_t i = k; i < KAB_FAST_NIGHTS; i++)
		if (fast.p[i] < fast.p[k - 1])
			k = i + 1;
	c.since = v->n - k;
	c.after = v->n - 1;
	c.before = c.since - (k > 1 && c.since > segment + 1 ? 2 : 1);
	c.gain_pct = kab_history_gain_pct(fast.shift[k - 1], dir);
	c.p = fast.p[k - 1];
	c.phi = changes->phi;
	add(points, v, known, &c, ret);
}

void kab_history_candidates(const struct kab_point *points, size_t n,
			    const struct kab_note_list *notes, const struct kab_change_list *known,
			    const struct kab_history_opts *opts, struct kab_candidate_changes *ret)
{
	struct kab_change_opts co = change_opts(opts);
	struct kab_segments parts = { 0 };
	struct kab_changes changes;
	struct values v;
	size_t skip;

	*ret = (struct kab_candidate_changes){ 0 };
	find_parts(points, n, notes, &parts);
	if (parts.n && points[0].series.dir != KAB_DIR_NONE) {
		values_of(points, parts.v[parts.n - 1].first, n, &v);
		/* What is long past costs time and says nothing of today. Windows move on by whole
		 * ones, so that the same nights are looked at in the same way again. */
		skip = v.n > 3 * WINDOW ? (v.n - 2 * WINDOW) / WINDOW * WINDOW : 0;
		struct values rest = { v.x + skip, v.at + skip, v.n - skip };

		kab_changes_find(rest.x, rest.n, &co, &changes);
		splits(points, &rest, &changes, known, points[0].series.dir, ret);
		young(points, &rest, &changes, known, opts, points[0].series.dir, ret);
		kab_changes_release(&changes);
		values_release(&v);
	}
	kab_segments_release(&parts);
}
