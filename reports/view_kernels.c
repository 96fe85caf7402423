/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Views with a kernel per row: everything that is known of a set, for the styles that pick from it
 * (describe, minmax, gain, perfstat, ministat, stacked, list); and the percentiles of one load.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/view_internal.h"

enum {
	C_LOAD,
	C_KERNEL,
	C_COUNT,
	C_BOOTS,
	C_MEAN,
	C_STD,
	C_MIN,
	C_P25,
	C_P50,
	C_P75,
	C_MAX,
	C_SEM,
	C_CV,
	C_GAIN,
	C_CI,
	C_DIFF,
	C_MARK,
	C_VERDICT,
	COLUMNS
};

static const struct {
	const char *name;
	enum kab_role role;
} columns[COLUMNS] = {
	[C_LOAD] = { "load", KAB_ROLE_LABEL },	   [C_KERNEL] = { "kernel", KAB_ROLE_LABEL },
	[C_COUNT] = { "count", KAB_ROLE_STAT },	   [C_BOOTS] = { "boots", KAB_ROLE_STAT },
	[C_MEAN] = { "mean", KAB_ROLE_VALUE },	   [C_STD] = { "std", KAB_ROLE_SPREAD },
	[C_MIN] = { "min", KAB_ROLE_STAT },	   [C_P25] = { "25%", KAB_ROLE_STAT },
	[C_P50] = { "50%", KAB_ROLE_STAT },	   [C_P75] = { "75%", KAB_ROLE_STAT },
	[C_MAX] = { "max", KAB_ROLE_STAT },	   [C_SEM] = { "sem", KAB_ROLE_SPREAD },
	[C_CV] = { "cv_pct", KAB_ROLE_SPREAD },	   [C_GAIN] = { "gain_pct", KAB_ROLE_GAIN },
	[C_CI] = { "gain_ci", KAB_ROLE_INTERVAL }, [C_DIFF] = { "diff_pct", KAB_ROLE_DIFF },
	[C_MARK] = { "mark", KAB_ROLE_MARK },	   [C_VERDICT] = { "verdict", KAB_ROLE_NOTE },
};

static void fill_set(struct kab_cell *cells, const struct kab_set_summary *set)
{
	int spread = set->sd > 0 ? kab_number_significant(set->sd, 4) : set->decimals;

	kab_cell_number(&cells[C_COUNT], (double)kab_set_count(set), 0);
	cells[C_COUNT].whole = true;
	if (set->over_boots) {
		kab_cell_number(&cells[C_BOOTS], (double)set->n_boots, 0);
		cells[C_BOOTS].whole = true;
	}
	kab_cell_mean(&cells[C_MEAN], set);
	if (!kab_set_any(set))
		return;
	if (set->summary) {
		kab_cell_word(&cells[C_BOOTS], "unknown");
		for (size_t c = C_MIN; c <= C_MAX; c++)
			kab_cell_word(&cells[c], KAB_SUMMARY_ONLY);
	} else {
		kab_cell_number(&cells[C_MIN], set->min, set->decimals);
		kab_cell_number(&cells[C_P25], kab_set_percentile(set, 25), set->decimals);
		kab_cell_number(&cells[C_P50], set->median, set->decimals);
		kab_cell_number(&cells[C_P75], kab_set_percentile(set, 75), set->decimals);
		kab_cell_number(&cells[C_MAX], set->max, set->decimals);
	}
	if (isfinite(set->sd))
		kab_cell_number(&cells[C_STD], set->sd, spread);
	else if (set->summary)
		kab_cell_word(&cells[C_STD], "unknown");
	else
		kab_cell_number(&cells[C_STD], set->sd, spread);
	kab_cell_number(&cells[C_SEM], set->sem, spread);
	kab_cell_percent(&cells[C_CV], set->cv_pct, 2, false);
}

static void fill_pair(struct kab_cell *cells, const struct kab_pair *pair)
{
	kab_cell_gain(&cells[C_GAIN], pair, false);
	kab_cell_gain(&cells[C_DIFF], pair, true);
	kab_cell_gain_interval(&cells[C_CI], pair);
	kab_cell_text(&cells[C_MARK], pair->tested ? kab_outcome_mark(pair->outcome) : "");
	kab_cell_text(&cells[C_VERDICT], kab_outcome_name(pair->outcome));
}

static void kernels(const struct kab_group *g, const struct kab_view_opts *opts,
		    struct kab_table *t)
{
	struct kab_labels l = { 0 };

	kab_labels_find(g, kab_group_mixed(g), &l);
	for (size_t c = 0; c < COLUMNS; c++)
		kab_table_column(t, columns[c].role, -1, columns[c].name, NULL, NULL)->left =
			c == C_LOAD || c == C_KERNEL;
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);
		char *load = kab_labels_text(&l, row);

		for (size_t k = 0; k < row->n_sets; k++) {
			struct kab_cell *cells;
			char buf[32], trouble[64];

			if (!kab_view_shows(opts, k))
				continue;
			cells = kab_table_row(t);
			kab_cell_text(&cells[C_LOAD], load);
			kab_cell_text(&cells[C_KERNEL], kab_view_kernel(g, opts, k, buf));
			fill_set(cells, &row->sets[k]);
			if (k)
				fill_pair(cells, &row->pairs[k - 1]);
			kab_set_trouble(&row->sets[k], trouble);
			if (*trouble && row->sets[k].n_values)
				kab_strv_addf(&t->notes, "note: %s: %s: %s", load,
					      row->sets[k].data->kernel, trouble);
		}
		free(load);
	}
	if (!kab_group_mixed(g))
		kab_view_notes(g, opts, t);
	kab_labels_release(&l);
}

void kab_view_kernels(const struct kab_group *g, const struct kab_view_opts *opts,
		      struct kab_table *t)
{
	if (kab_group_mixed(g))
		kab_view_other_head(g, t);
	else
		kab_view_head(g, opts, t);
	kernels(g, opts, t);
}

/* A number of values beside a deviation that is not over them. */
static void say_units(const struct kab_group *g, const char *count, const char *std,
		      struct kab_table *t)
{
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < kab_group_row(g, i)->n_sets; k++) {
			if (!kab_group_row(g, i)->sets[k].over_boots)
				continue;
			kab_strv_addf(&t->legend, "%s is of iterations, %s over %s means", count,
				      std,
				      kab_group_row(g, i)->data->restarts ? "restart" : "boot");
			return;
		}
}

void kab_view_describe(const struct kab_group *g, const struct kab_view_opts *opts,
		       struct kab_table *t)
{
	struct kab_view_opts bare = *opts;

	bare.no_gain = bare.no_spread = bare.no_marks = bare.no_test = bare.no_intervals = true;
	kab_view_head(g, &bare, t);
	if (!opts->no_legend)
		say_units(g, "count", "std", t);
	kernels(g, &bare, t);
}

void kab_view_gain(const struct kab_group *g, const struct kab_view_opts *opts, struct kab_table *t)
{
	struct kab_view_opts bare = *opts;

	bare.no_spread = bare.no_marks = bare.no_test = bare.no_intervals = true;
	kab_view_head(g, &bare, t);
	kernels(g, &bare, t);
}

void kab_view_minmax(const struct kab_group *g, const struct kab_view_opts *opts,
		     struct kab_table *t)
{
	struct kab_view_opts bare = *opts;

	bare.no_spread = bare.no_intervals = true;
	kab_view_head(g, &bare, t);
	if (!opts->no_legend)
		say_units(g, "min to max", "std", t);
	kernels(g, &bare, t);
}

void kab_view_ministat(const struct kab_group *g, const struct kab_view_opts *opts,
		       struct kab_table *t)
{
	struct kab_view_opts bare = *opts;

	/* The verdict is a word there. */
	bare.raw = bare.no_spread = bare.no_marks = bare.no_intervals = true;
	kab_view_head(g, &bare, t);
	if (!opts->no_legend)
		say_units(g, "N", "Stddev", t);
	kernels(g, &bare, t);
}

/* For layouts whose percentage is raw. */
void kab_view_kernels_raw(const struct kab_group *g, const struct kab_view_opts *opts,
			  struct kab_table *t)
{
	struct kab_view_opts raw = *opts;

	raw.raw = raw.no_marks = raw.no_intervals = true;
	kab_view_head(g, &raw, t);
	kernels(g, opts, t);
}

/* For perfstat: behind +- stands the standard error, whatever --pm says. */
void kab_view_kernels_sem(const struct kab_group *g, const struct kab_view_opts *opts,
			  struct kab_table *t)
{
	struct kab_view_opts sem = *opts;

	sem.no_gain = sem.no_marks = sem.no_test = sem.no_intervals = true;
	sem.pm = KAB_PM_SEM;
	kab_view_head(g, &sem, t);
	kernels(g, &sem, t);
}

/* Statistics as rows, kernels as columns: the distribution of one load. */
void kab_view_percentiles(const struct kab_group *g, const struct kab_view_opts *opts,
			  struct kab_table *t)
{
	static const double points[] = { 0, -1, 50, 75, 90, 95, 99, 99.9, 100 };
	const struct kab_judged_row *row = kab_group_row(g, 0);
	struct kab_view_opts bare = *opts;
	bool directed = row->data->dir != KAB_DIR_NONE, unsupported = false;

	bare.no_marks = bare.no_spread = bare.no_intervals = true;
	kab_view_head(g, &bare, t);
	if (*row->data->row_key || *row->data->condition)
		kab_strv_addf(&t->legend, "%s%s%s", row->data->condition,
			      *row->data->condition ? " " : "", row->data->row_key);
	kab_table_column(t, KAB_ROLE_LABEL, -1, "statistic", "", NULL)->left = true;
	for (size_t k = 0; k < row->n_sets; k++) {
		char buf[32];
		const char *label = kab_view_kernel(g, opts, k, buf);
		char *name;

		if (!kab_view_shows(opts, k))
			continue;
		kab_table_column(t, KAB_ROLE_VALUE, (int)k, label, NULL, NULL);
		name = kab_xasprintf("%s_%s", label, directed ? "gain_pct" : "diff_pct");
		if (k)
			kab_table_column(t, directed ? KAB_ROLE_GAIN : KAB_ROLE_DIFF, (int)k, name,
					 directed ? "gain" : "diff", NULL)
				->drop = 1;
		free(name);
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(points); i++) {
		struct kab_cell *cells = kab_table_row(t);
		double p = points[i];
		char text[32];

		snprintf(text, sizeof(text), "%g%%", p);
		kab_cell_text(&cells[0], p < 0 ? "avg" : p == 0 ? "min" : p == 100 ? "max" : text);
		for (size_t c = 1; c < t->n_cols; c++) {
			const struct kab_set_summary *base = &row->sets[0];
			const struct kab_set_summary *set = &row->sets[t->cols[c].kernel];
			double a, b;

			if (!kab_set_any(set)) {
				kab_cell_mean(&cells[c], set);
				continue;
			}
			if (set->summary && p >= 0) {
				kab_cell_word(&cells[c], KAB_SUMMARY_ONLY);
				continue;
			}
			a = p < 0 ? base->mean : kab_set_percentile(base, p);
			b = p < 0 ? set->mean : kab_set_percentile(set, p);
			if (t->cols[c].role != KAB_ROLE_VALUE) {
				double sign = row->data->dir == KAB_DIR_LOWER ? -1 : 1;

				kab_cell_percent(&cells[c], a > 0 ? sign * 100 * (b - a) / a : NAN,
						 1, true);
			} else if (p <= 0 || p == 100 || kab_set_percentile_supported(set, p)) {
				kab_cell_number(&cells[c], b,
						p < 0 ? kab_set_mean_decimals(set) : set->decimals);
			} else {
				struct kab_buf kab_autobuf num = KAB_BUF_INIT;

				unsupported = true;
				kab_buf_addc(&num, '(');
				kab_number_fixed(&num, b, set->decimals, false);
				kab_buf_addc(&num, ')');
				kab_cell_word(&cells[c], kab_buf_str(&num));
				cells[c].value = b;
			}
		}
	}
	for (size_t k = 0; k < row->n_sets; k++) {
		char trouble[64];

		kab_set_trouble(&row->sets[k], trouble);
		if (*trouble && row->sets[k].n_values && kab_view_shows(opts, k))
			kab_strv_addf(&t->notes, "note: %s: %s", row->sets[k].data->kernel,
				      trouble);
	}
	if (unsupported)
		kab_strv_add(&t->notes, "(..): too few values for this percentile");
	kab_view_notes(g, opts, t);
}
