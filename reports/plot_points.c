/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plots of points: sweeps from judged rows, histories from whoever has them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "reports/plot_internal.h"
#include "reports/view_internal.h"

/* ---- sweeps ---- */

/* The parts of "groups=4,fds=2". */
struct sweep_key {
	struct kab_strv names, values;
};

static void key_release(struct sweep_key *key)
{
	kab_strv_release(&key->names);
	kab_strv_release(&key->values);
}

static void key_read(const char *row_key, struct sweep_key *ret)
{
	struct kab_strv kab_autostrv parts = KAB_STRV_INIT;

	kab_strv_split(&parts, row_key, ',');
	for (size_t i = 0; i < parts.n; i++) {
		const char *eq = strchr(parts.v[i], '=');

		kab_strv_add_n(&ret->names, parts.v[i],
			       eq ? (size_t)(eq - parts.v[i]) : strlen(parts.v[i]));
		kab_strv_add(&ret->values, eq ? eq + 1 : "");
	}
}

static bool same_but_key(const struct kab_row_data *a, const struct kab_row_data *b)
{
	return !strcmp(a->host, b->host) && !strcmp(a->condition, b->condition) &&
	       !strcmp(a->case_name, b->case_name) && !strcmp(a->runner, b->runner) &&
	       !strcmp(a->metric, b->metric) && !strcmp(a->unit, b->unit) && a->dir == b->dir;
}

struct swept {
	const struct kab_judged_row **rows;
	struct sweep_key *keys;
	bool *taken;
	size_t n;
};

/* The parameter with the most values among the rows like row `first`; ties: the first one. */
static size_t pick_parameter(const struct swept *s, size_t first)
{
	size_t best = 0, most = 0;

	for (size_t p = 0; p < s->keys[first].names.n; p++) {
		struct kab_strv kab_autostrv seen = KAB_STRV_INIT;

		for (size_t i = 0; i < s->n; i++)
			if (same_but_key(s->rows[first]->data, s->rows[i]->data) &&
			    kab_strv_equal(&s->keys[first].names, &s->keys[i].names) &&
			    !kab_strv_has(&seen, s->keys[i].values.v[p]))
				kab_strv_add(&seen, s->keys[i].values.v[p]);
		if (seen.n > most) {
			most = seen.n;
			best = p;
		}
	}
	return best;
}

static bool same_but_one(const struct swept *s, size_t a, size_t b, size_t parameter)
{
	if (!same_but_key(s->rows[a]->data, s->rows[b]->data) ||
	    !kab_strv_equal(&s->keys[a].names, &s->keys[b].names))
		return false;
	for (size_t p = 0; p < s->keys[a].names.n; p++)
		if (p != parameter && strcmp(s->keys[a].values.v[p], s->keys[b].values.v[p]))
			return false;
	return true;
}

static void add_point(struct kab_plot *plot, const struct kab_judged_row *row, const char *text,
		      double x)
{
	for (size_t k = 0; k < row->n_sets && k < plot->n_sets; k++) {
		const struct kab_set_summary *from = &row->sets[k];
		struct kab_plot_set *set = &plot->sets[k];
		struct kab_plot_point *p;

		set->points =
			kab_xreallocarray(set->points, set->n_points + 1, sizeof(*set->points));
		p = &set->points[set->n_points++];
		*p = (struct kab_plot_point){ .x = x, .text = kab_xstrdup(text) };
		set->unplanned =
			(set->n_points == 1 || set->unplanned) && kab_plot_is_unplanned(from);
		p->value = from->mean;
		p->lo = from->ci_lo;
		p->hi = from->ci_hi;
		p->word = kab_plot_trouble(from);
		plot->n_values += kab_set_any(from);
		plot->one_boot |= from->n_values > 1 && !from->over_boots;
		if (from->decimals > set->decimals)
			set->decimals = from->decimals;
	}
}

static int by_x(const void *a, const void *b)
{
	const struct kab_plot_point *p = a, *q = b;

	return p->x < q->x ? -1 : p->x > q->x;
}

static void add_sweep(struct swept *s, size_t first, const char *host, double confidence,
		      struct kab_plots *ret)
{
	size_t parameter = pick_parameter(s, first), at = 0;
	const struct kab_row_data *data = s->rows[first]->data;
	struct kab_buf kab_autobuf title = KAB_BUF_INIT;
	struct kab_plot *plot = KAB_PUSH(ret);

	if (*host)
		kab_buf_addf(&title, "%s/", host);
	if (*data->condition)
		kab_buf_addf(&title, "%s/", data->condition);
	kab_buf_addf(&title, "%s/", data->case_name);
	for (size_t p = 0; p < s->keys[first].names.n; p++)
		if (p != parameter)
			kab_buf_addf(&title, "%s=%s/", s->keys[first].names.v[p],
				     s->keys[first].values.v[p]);
	kab_buf_adds(&title, data->metric);
	kab_plot_begin(plot, KAB_PLOT_SWEEP, kab_buf_detach(&title), s->rows[first], confidence);
	kab_plot_begin_sets(s->rows[first], plot);
	plot->x_name = kab_xstrdup(s->keys[first].names.v[parameter]);
	for (size_t i = first; i < s->n; i++) {
		double x;

		if (same_but_one(s, first, i, parameter) &&
		    kab_text_double(s->keys[i].values.v[parameter], &x) < 0)
			plot->x_words = true;
	}
	for (size_t i = first; i < s->n; i++) {
		const char *text = s->keys[i].values.v[parameter];
		double x = (double)at;

		if (!same_but_one(s, first, i, parameter))
			continue;
		if (!plot->x_words)
			kab_text_double(text, &x);
		add_point(plot, s->rows[i], text, x);
		s->taken[i] = true;
		at++;
	}
	for (size_t k = 0; k < plot->n_sets; k++)
		qsort(plot->sets[k].points, plot->sets[k].n_points, sizeof(*plot->sets[k].points),
		      by_x);
}

void kab_plot_add_sweeps(const struct kab_judged_row **rows, size_t n, bool hosts,
			 double confidence, struct kab_plots *ret)
{
	struct swept s = { rows, kab_xcalloc(n + 1, sizeof(*s.keys)),
			   kab_xcalloc(n + 1, sizeof(bool)), n };

	for (size_t i = 0; i < n; i++)
		key_read(rows[i]->data->row_key, &s.keys[i]);
	for (size_t i = 0; i < n; i++)
		if (!s.taken[i] && s.keys[i].names.n)
			add_sweep(&s, i, hosts ? rows[i]->data->host : "", confidence, ret);
	for (size_t i = 0; i < n; i++)
		key_release(&s.keys[i]);
	free(s.keys);
	free(s.taken);
}

/* ---- history ---- */

void kab_plot_history_begin(struct kab_plot *plot, const char *title, const char *metric,
			    const char *unit, enum kab_direction dir, double confidence)
{
	memset(plot, 0, sizeof(*plot));
	plot->kind = KAB_PLOT_HISTORY;
	plot->title = kab_xstrdup(title);
	plot->metric = kab_xstrdup(metric);
	plot->unit = kab_xstrdup(unit);
	plot->dir = dir;
	plot->confidence = confidence;
}

static struct kab_plot_point *history_point(struct kab_plot *plot, size_t segment,
					    const char *label, double time_s)
{
	struct kab_plot_set *set = NULL;
	struct kab_plot_point *p;

	for (size_t i = 0; i < plot->n_sets && !set; i++)
		if (plot->sets[i].kernel == segment)
			set = &plot->sets[i];
	if (!set)
		set = kab_plot_push_set(plot, segment, label);
	if (set->n_points == set->cap_points) {
		set->cap_points = set->cap_points ? 2 * set->cap_points : 16;
		set->points = kab_xreallocarray(set->points, set->cap_points, sizeof(*set->points));
	}
	p = &set->points[set->n_points++];
	*p = (struct kab_plot_point){ .x = time_s, .value = NAN, .lo = NAN, .hi = NAN };
	return p;
}

void kab_plot_history_add(struct kab_plot *plot, size_t segment, const char *label, double time_s,
			  double value, double lo, double hi)
{
	struct kab_plot_point *p = history_point(plot, segment, label, time_s);

	p->value = value;
	p->lo = lo;
	p->hi = hi;
	plot->n_values += isfinite(value) != 0;
}

void kab_plot_history_gap(struct kab_plot *plot, size_t segment, const char *label, double time_s,
			  bool failed, const char *word)
{
	struct kab_plot_point *p = history_point(plot, segment, label, time_s);

	p->failed = failed;
	p->word = kab_xstrdup(word ? word : failed ? "failed" : "missing");
}
