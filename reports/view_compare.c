/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The default view: a row per load, baseline and tests side by side, gain, mark, interval. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/view_internal.h"

/* Optional columns in the order in which they go. */
enum { DROP_COUNT = 1, DROP_SPREAD, DROP_TROUBLE, DROP_INTERVAL = KAB_DROP_INTERVAL };

static bool is_tested(const struct kab_pair *pair)
{
	return pair->tested;
}

static bool has_interval(const struct kab_pair *pair)
{
	return isfinite(pair->gain_lo_pct) || kab_pair_unbounded(pair);
}

struct wants {
	bool marks, intervals, spreads, counts, troubles, directed;
};

static struct wants look(const struct kab_group *g, const struct kab_view_opts *opts)
{
	struct wants w = { 0 };
	size_t boots = 0, per_boot = 0;

	w.marks = kab_group_any(g, is_tested);
	w.intervals = kab_group_any(g, has_interval) && opts->drop < DROP_INTERVAL;
	w.directed = kab_group_row(g, 0)->data->dir != KAB_DIR_NONE;
	for (size_t i = 0; i < g->n; i++) {
		for (size_t k = 0; k < kab_group_row(g, i)->n_sets; k++) {
			const struct kab_set_summary *set = &kab_group_row(g, i)->sets[k];
			char trouble[64];

			if (!kab_view_shows(opts, k) || !kab_set_any(set))
				continue;
			/* How many there were is in the head, where all have as many. */
			if (set->summary) {
				w.counts |=
					boots && (boots != SIZE_MAX || per_boot != set->n_units);
				boots = SIZE_MAX;
				per_boot = set->n_units;
				continue;
			}
			kab_set_trouble(set, trouble);
			w.troubles |= trouble[0] != '\0';
			if (!boots) {
				boots = set->n_boots;
				per_boot = set->per_boot_min;
			}
			w.counts |= set->n_boots != boots || set->per_boot_min != per_boot ||
				    set->per_boot_max != per_boot;
		}
	}
	w.counts = w.counts && opts->drop < DROP_COUNT;
	w.spreads = opts->drop < DROP_SPREAD;
	w.troubles = w.troubles && opts->drop < DROP_TROUBLE;
	return w;
}

/* Values of kernel k are there, yet not all that were planned. */
static bool has_trouble(const struct kab_judged_row *row, size_t k, char trouble[64])
{
	trouble[0] = '\0';
	if (k < row->n_sets && row->sets[k].n_values)
		kab_set_trouble(&row->sets[k], trouble);
	return trouble[0] != '\0';
}

/* A warning below the rows has the counts already. */
static bool is_warned_of(const struct kab_judged_row *row, size_t k, const char *trouble)
{
	for (size_t p = 0; p < row->n_pairs; p++)
		if ((k == 0 || k == p + 1) && row->pairs[p].warning &&
		    strstr(row->pairs[p].warning, trouble))
			return true;
	return false;
}

static bool kernel_has_trouble(const struct kab_group *g, size_t k)
{
	char trouble[64];

	for (size_t i = 0; i < g->n; i++)
		if (has_trouble(kab_group_row(g, i), k, trouble))
			return true;
	return false;
}

static struct kab_column *column(struct kab_table *t, enum kab_role role, size_t k,
				 const char *label, const char *what, const char *head,
				 bool grouped)
{
	char *name = kab_xasprintf("%s_%s", label, what);
	struct kab_column *col =
		kab_table_column(t, role, (int)k, name, head, grouped ? label : NULL);

	free(name);
	return col;
}

static void add_columns(const struct kab_group *g, const struct kab_view_opts *opts,
			const struct wants *w, struct kab_table *t)
{
	char interval[24];

	snprintf(interval, sizeof(interval), "%g%% CI", 100 * g->judgement->opts.confidence);
	for (size_t k = 0; k < kab_group_kernels(g); k++) {
		char buf[32];
		const char *label = kab_view_kernel(g, opts, k, buf);

		if (!kab_view_shows(opts, k))
			continue;
		column(t, KAB_ROLE_VALUE, k, label, "mean", "mean", true);
		if (w->spreads) {
			struct kab_column *col =
				column(t, KAB_ROLE_SPREAD, k, label, "spread", "+/-", true);

			col->glue = true;
			col->drop = DROP_SPREAD;
		}
		if (w->counts) {
			struct kab_column *col = column(t, KAB_ROLE_STAT, k, label, "n", "n", true);

			col->drop = DROP_COUNT;
			col->left = true;
		}
		if (w->troubles && kernel_has_trouble(g, k)) {
			struct kab_column *col =
				column(t, KAB_ROLE_NOTE, k, label, "trouble", "lost", true);

			col->left = true;
			col->drop = DROP_TROUBLE;
		}
		if (k == 0)
			continue;
		if (w->directed)
			column(t, KAB_ROLE_GAIN, k, label, "gain_pct", "gain", false);
		else
			column(t, KAB_ROLE_DIFF, k, label, "diff_pct", "diff", false);
		if (w->marks) {
			struct kab_column *col =
				column(t, KAB_ROLE_MARK, k, label, "mark", "", false);

			col->glue = true;
			col->left = true;
		}
		if (w->intervals) {
			struct kab_column *col =
				column(t, KAB_ROLE_INTERVAL, k, label, "ci", interval, false);

			col->drop = DROP_INTERVAL;
			col->glue = w->marks;
		}
	}
}

static void add_row(const struct kab_judged_row *row, const struct kab_view_opts *opts,
		    const struct kab_labels *l, struct kab_table *t)
{
	struct kab_cell *cells = kab_table_row(t);

	kab_labels_cells(l, row, cells);
	for (size_t c = 0; c < t->n_cols; c++) {
		int k = t->cols[c].kernel;
		const struct kab_set_summary *set;
		const struct kab_pair *pair;
		char text[64];

		if (k < 0)
			continue;
		if ((size_t)k >= row->n_sets) {
			if (t->cols[c].role == KAB_ROLE_VALUE)
				kab_cell_word(&cells[c], "missing");
			continue;
		}
		set = &row->sets[k];
		pair = k ? &row->pairs[k - 1] : NULL;
		switch (t->cols[c].role) {
		case KAB_ROLE_VALUE:
			kab_cell_mean_scaled(&cells[c], set, opts);
			break;
		case KAB_ROLE_SPREAD:
			kab_cell_spread(&cells[c], set, opts);
			break;
		case KAB_ROLE_STAT:
			if (set->summary)
				snprintf(text, sizeof(text), "n=%zu", set->n_units);
			else if (set->n_boots == 1)
				snprintf(text, sizeof(text), "%zu", set->n_values);
			else if (set->per_boot_min == set->per_boot_max)
				snprintf(text, sizeof(text), "%zux%zu", set->n_boots,
					 set->per_boot_min);
			else
				snprintf(text, sizeof(text), "%zux%zu..%zu", set->n_boots,
					 set->per_boot_min, set->per_boot_max);
			kab_cell_text(&cells[c], text);
			break;
		case KAB_ROLE_NOTE:
			kab_set_trouble(set, text);
			if (*text && set->n_values)
				kab_cell_word(&cells[c], text);
			break;
		case KAB_ROLE_GAIN:
		case KAB_ROLE_DIFF:
			kab_cell_gain(&cells[c], pair, t->cols[c].role == KAB_ROLE_DIFF);
			break;
		case KAB_ROLE_MARK:
			if (pair->tested)
				kab_cell_text(&cells[c], kab_outcome_mark(pair->outcome));
			break;
		case KAB_ROLE_INTERVAL:
			kab_cell_gain_interval(&cells[c], pair);
			break;
		case KAB_ROLE_LABEL:
			break;
		}
	}
}

void kab_view_compare(const struct kab_group *g, const struct kab_view_opts *given,
		      struct kab_table *t)
{
	struct kab_view_opts scaled = *given, *opts = &scaled;
	struct wants w = look(g, opts);
	struct kab_labels l = { 0 };

	kab_view_choose_unit(g, opts);
	if (opts->side != KAB_SIDE_NONE && kab_view_side(g, opts, t))
		return;
	opts->no_spread = !w.spreads;
	opts->no_intervals = !w.intervals;
	kab_view_head(g, opts, t);
	kab_labels_find(g, false, &l);
	kab_labels_columns(&l, t);
	add_columns(g, opts, &w, t);
	for (size_t i = 0; i < g->n; i++)
		add_row(kab_group_row(g, i), opts, &l, t);
	/* Without their column, lost iterations are told below the rows. */
	for (size_t i = 0; i < g->n && opts->drop >= DROP_TROUBLE; i++) {
		for (size_t k = 0; k < kab_group_row(g, i)->n_sets; k++) {
			char *name, trouble[64];

			if (!kab_view_shows(opts, k) ||
			    !has_trouble(kab_group_row(g, i), k, trouble) ||
			    is_warned_of(kab_group_row(g, i), k, trouble))
				continue;
			name = kab_labels_text(&l, kab_group_row(g, i));
			kab_strv_addf(&t->notes, "note: %s: %s: %s", name, kab_group_kernel(g, k),
				      trouble);
			free(name);
		}
	}
	kab_view_notes(g, opts, t);
	kab_labels_release(&l);
}
