/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From judged rows to what a picture of them shows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/plot_internal.h"
#include "reports/view_internal.h"
#include "stats/sort.h"

static const char *const kinds[KAB_PLOT_KINDS] = { "strip", "histogram", "order",  "sweep",
						   "cdf",   "boots",	 "history" };

const char *kab_plot_kind_name(enum kab_plot_kind kind)
{
	return kinds[kind];
}

int kab_plot_kind_parse(const char *word, enum kab_plot_kind *ret)
{
	for (size_t i = 0; i < KAB_ARRAY_SIZE(kinds); i++) {
		if (!strcmp(word, kinds[i])) {
			*ret = (enum kab_plot_kind)i;
			return 0;
		}
	}
	return -1;
}

unsigned kab_plot_colour(size_t kernel)
{
	static const unsigned colours[KAB_PLOT_COLOURS] = {
		0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x000000, 0x888888
	};

	return colours[kernel % KAB_PLOT_COLOURS];
}

char kab_plot_letter(size_t kernel)
{
	static const char letters[] = "x+*%#@Oabcdefghijklmnpqrstuvwyz";

	return letters[kernel % (sizeof(letters) - 1)];
}

/* ---- one row ---- */

struct timed {
	int64_t sequence;
	size_t set, boot;
	double value;
};

static int by_sequence(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	return x->boot < y->boot ? -1 : x->boot > y->boot;
}

/* Every iteration goes to its set, in the order of execution, with its place in the whole row. */
static void take_values(const struct kab_judged_row *row, struct kab_plot *plot)
{
	struct timed *all;
	size_t n = 0;

	for (size_t k = 0; k < row->n_sets; k++)
		n += row->sets[k].n_values;
	all = kab_xcalloc(n + 1, sizeof(*all));
	n = 0;
	for (size_t k = 0; k < row->n_sets; k++) {
		const struct kab_sample_set *data = row->sets[k].data;

		for (size_t b = 0; b < data->n_boots; b++)
			for (size_t i = 0; i < data->boots[b].n; i++)
				all[n++] = (struct timed){ data->boots[b].v[i].sequence, k, b,
							   data->boots[b].v[i].value };
	}
	qsort(all, n, sizeof(*all), by_sequence);
	for (size_t i = 0; i < n; i++) {
		struct kab_plot_set *set = &plot->sets[all[i].set];
		struct kab_plot_boot *boot = &set->boots[all[i].boot];

		set->values[set->n++] = (struct kab_plot_value){ all[i].value, all[i].boot, i };
		if (!boot->n++)
			boot->first = i;
		boot->last = i;
	}
	plot->n_values = n;
	free(all);
}

static void describe(const struct kab_set_summary *from, struct kab_plot_set *set)
{
	set->mean = from->mean;
	set->lo = from->ci_lo;
	set->hi = from->ci_hi;
	set->decimals = from->decimals;
	set->summary = from->summary;
	set->n_summary = from->summary ? from->n_units : 0;
	set->min = from->min;
	set->max = from->max;
	set->median = from->median;
	set->q1 = kab_set_percentile(from, 25);
	set->q3 = kab_set_percentile(from, 75);
}

char *kab_plot_trouble(const struct kab_set_summary *from)
{
	char text[64];

	kab_set_trouble(from, text);
	return *text ? kab_xstrdup(text) : NULL;
}

struct kab_plot_set *kab_plot_push_set(struct kab_plot *plot, size_t kernel, const char *label)
{
	struct kab_plot_set *set;

	plot->sets = kab_xreallocarray(plot->sets, plot->n_sets + 1, sizeof(*plot->sets));
	set = &plot->sets[plot->n_sets++];
	memset(set, 0, sizeof(*set));
	set->kernel = kernel;
	set->label = kab_xstrdup(label);
	set->min = set->q1 = set->median = set->q3 = set->max = NAN;
	set->mean = set->lo = set->hi = NAN;
	return set;
}

bool kab_plot_is_unplanned(const struct kab_set_summary *from)
{
	const struct kab_sample_set *data = from->data;

	return !kab_set_any(from) && !data->n_planned && !data->n_failed && !data->n_missing;
}

void kab_plot_begin_sets(const struct kab_judged_row *row, struct kab_plot *plot)
{
	for (size_t k = 0; k < row->n_sets; k++)
		kab_plot_push_set(plot, k, row->sets[k].data->kernel);
}

void kab_plot_begin(struct kab_plot *plot, enum kab_plot_kind kind, char *title,
		    const struct kab_judged_row *row, double confidence)
{
	plot->kind = kind;
	plot->title = title;
	plot->metric = kab_xstrdup(row->data->metric);
	plot->unit = kab_xstrdup(row->data->unit);
	plot->dir = row->data->dir;
	plot->restarts = row->data->restarts;
	plot->confidence = confidence;
}

static void add_row(const struct kab_judged_row *row, enum kab_plot_kind kind, char *title,
		    double confidence, struct kab_plots *ret)
{
	struct kab_plot *plot = KAB_PUSH(ret);

	kab_plot_begin(plot, kind, title, row, confidence);
	kab_plot_begin_sets(row, plot);
	for (size_t k = 0; k < row->n_sets; k++) {
		const struct kab_set_summary *from = &row->sets[k];
		struct kab_plot_set *set = &plot->sets[k];
		const struct kab_sample_set *data = from->data;
		size_t unit = 0;

		describe(from, set);
		set->trouble = kab_plot_trouble(from);
		set->unplanned = kab_plot_is_unplanned(from);
		set->values = kab_xcalloc(from->n_values + 1, sizeof(*set->values));
		set->sorted = kab_sorted_copy(from->values, from->n_values);
		set->boots = kab_xcalloc(data->n_boots + 1, sizeof(*set->boots));
		set->n_boots = data->n_boots;
		for (size_t b = 0; b < data->n_boots; b++) {
			set->boots[b].block = data->boots[b].block;
			set->boots[b].mean = NAN;
			/* With one boot the units are the iterations. */
			if (data->boots[b].n)
				set->boots[b].mean =
					from->over_boots ? from->units[unit++] : from->mean;
		}
	}
	take_values(row, plot);
}

/* ---- which rows ---- */

static bool is_case(const struct kab_row_data *row, const char *wanted)
{
	size_t n = strlen(row->case_name);

	if (!strcmp(row->case_name, wanted) || (*row->row_key && !strcmp(row->row_key, wanted)))
		return true;
	return !strncmp(row->case_name, wanted, n) && wanted[n] == '/' &&
	       !strcmp(row->row_key, wanted + n + 1);
}

static bool is_picked(const struct kab_judged_row *row, const struct kab_plot_pick *pick)
{
	return (!pick->host || !strcmp(row->data->host, pick->host)) &&
	       (!pick->case_name || is_case(row->data, pick->case_name)) &&
	       (!pick->metric || !strcmp(row->data->metric, pick->metric));
}

static void add_name(struct kab_strv *names, const char *name)
{
	if (!kab_strv_has(names, name))
		kab_strv_add(names, name);
}

/* Say which of the names does not exist, and what there is. */
static int nothing_picked(const struct kab_judgement *j, const struct kab_plot_pick *pick,
			  struct kab_err *err)
{
	static const char *const what[] = { "host", "case", "metric" };
	const char *wanted[] = { pick->host, pick->case_name, pick->metric };

	for (size_t w = 0; w < KAB_ARRAY_SIZE(what); w++) {
		struct kab_plot_pick one = { w == 0 ? wanted[0] : NULL, w == 1 ? wanted[1] : NULL,
					     w == 2 ? wanted[2] : NULL };
		struct kab_strv kab_autostrv names = KAB_STRV_INIT;
		char *all kab_autofree = NULL;
		bool found = false;

		for (size_t r = 0; r < j->n; r++) {
			const struct kab_row_data *d = j->v[r].data;

			found |= is_picked(&j->v[r], &one);
			add_name(&names, w == 0 ? d->host : w == 1 ? d->case_name : d->metric);
		}
		all = kab_strv_join(&names, ", ");
		if (wanted[w] && !found)
			return kab_err_set(err, KAB_ERR_NOT_FOUND, "no %s '%s' here; there %s %s",
					   what[w], wanted[w], names.n > 1 ? "are" : "is",
					   names.n ? all : "none");
	}
	return kab_err_set(err, KAB_ERR_NOT_FOUND,
			   "no row has this host, case and metric together; 'kab report --all' "
			   "shows what there is");
}

static char *title_of(const struct kab_judged_row *row, bool hosts)
{
	char *name = kab_judged_row_name(row);
	size_t n = strlen(row->data->host);

	/* Names of machines stay out where they tell nothing apart. */
	if (!hosts && n && !strncmp(name, row->data->host, n) && name[n] == '/')
		memmove(name, name + n + 1, strlen(name + n + 1) + 1);
	return name;
}

int kab_plots_make(const struct kab_judgement *judgement, enum kab_plot_kind kind,
		   const struct kab_plot_pick *pick, struct kab_plots *ret, struct kab_err *err)
{
	const struct kab_judged_row **rows = kab_xcalloc(judgement->n + 1, sizeof(*rows));
	bool judged = false, hosts = false;
	size_t n = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t r = 0; r < judgement->n; r++) {
		judged |= judgement->v[r].verdict && is_picked(&judgement->v[r], pick);
		hosts |= strcmp(judgement->v[r].data->host, judgement->v[0].data->host) != 0;
	}
	for (size_t r = 0; r < judgement->n; r++)
		if (is_picked(&judgement->v[r], pick) &&
		    (pick->metric || !judged || judgement->v[r].verdict))
			rows[n++] = &judgement->v[r];
	if (!n) {
		nothing_picked(judgement, pick, err);
	} else if (kind == KAB_PLOT_SWEEP) {
		kab_plot_add_sweeps(rows, n, hosts, judgement->opts.confidence, ret);
		if (!ret->n)
			kab_err_set(err, KAB_ERR_NOT_FOUND,
				    "no case here has a parameter with several values; another "
				    "--kind shows single rows");
	} else {
		for (size_t i = 0; i < n; i++)
			add_row(rows[i], kind, title_of(rows[i], hosts), judgement->opts.confidence,
				ret);
	}
	free(rows);
	return ret->n ? 0 : -1;
}

/* ---- all of them ---- */

static void widen(double value, double *lo, double *hi)
{
	if (!isfinite(value))
		return;
	*lo = fmin(*lo, value);
	*hi = fmax(*hi, value);
}

bool kab_plot_range(const struct kab_plot *plot, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];

		widen(set->min, lo, hi);
		widen(set->max, lo, hi);
		if (set->summary) {
			widen(set->mean, lo, hi);
			widen(set->lo, lo, hi);
			widen(set->hi, lo, hi);
		}
		for (size_t i = 0; i < set->n_points; i++) {
			if (!isfinite(set->points[i].value))
				continue;
			widen(set->points[i].value, lo, hi);
			widen(set->points[i].lo, lo, hi);
			widen(set->points[i].hi, lo, hi);
		}
	}
	return *lo <= *hi;
}

bool kab_plot_range_x(const struct kab_plot *plot, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t k = 0; k < plot->n_sets; k++)
		for (size_t i = 0; i < plot->sets[k].n_points; i++)
			widen(plot->sets[k].points[i].x, lo, hi);
	return *lo <= *hi;
}

size_t kab_plot_boots(const struct kab_plot_set *set)
{
	size_t n = 0;

	for (size_t b = 0; b < set->n_boots; b++)
		n += set->boots[b].n > 0;
	return n;
}

bool kab_plot_any_point(const struct kab_plot_set *set)
{
	for (size_t i = 0; i < set->n_points; i++)
		if (isfinite(set->points[i].value))
			return true;
	return false;
}

size_t kab_plot_borders(const struct kab_plot *plot, bool *ret)
{
	struct {
		size_t set, boot;
		int block;
	} *all = kab_xcalloc(plot->n_values + 1, sizeof(*all));
	size_t n = 0;

	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];

		for (size_t i = 0; i < set->n; i++) {
			const struct kab_plot_value *v = &set->values[i];

			all[v->place].set = k;
			all[v->place].boot = v->boot;
			all[v->place].block = set->boots[v->boot].block;
		}
	}
	for (size_t i = 1; i < plot->n_values; i++) {
		ret[i] = plot->restarts
				 ? all[i - 1].block != all[i].block
				 : all[i - 1].set != all[i].set || all[i - 1].boot != all[i].boot;
		n += ret[i];
	}
	free(all);
	return n;
}

void kab_plot_release(struct kab_plot *plot)
{
	for (size_t k = 0; k < plot->n_sets; k++) {
		struct kab_plot_set *set = &plot->sets[k];

		for (size_t i = 0; i < set->n_points; i++) {
			free(set->points[i].text);
			free(set->points[i].word);
		}
		free(set->points);
		free(set->boots);
		free(set->sorted);
		free(set->values);
		free(set->trouble);
		free(set->label);
	}
	free(plot->sets);
	free(plot->x_name);
	free(plot->unit);
	free(plot->metric);
	free(plot->title);
	memset(plot, 0, sizeof(*plot));
}

void kab_plots_release(struct kab_plots *plots)
{
	for (size_t i = 0; i < plots->n; i++)
		kab_plot_release(&plots->v[i]);
	free(plots->v);
	memset(plots, 0, sizeof(*plots));
}
