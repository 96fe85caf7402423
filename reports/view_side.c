/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compare with conditions or hosts side by side: a row per load, a block of columns per condition. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/view_internal.h"

static const char *side_of(const struct kab_row_data *row, enum kab_side side)
{
	return side == KAB_SIDE_HOST ? row->host : row->condition;
}

/* The same load, whatever the condition (or host). */
static bool same_load(const struct kab_row_data *a, const struct kab_row_data *b,
		      enum kab_side side)
{
	return !strcmp(a->case_name, b->case_name) && !strcmp(a->row_key, b->row_key) &&
	       (side == KAB_SIDE_HOST ? !strcmp(a->condition, b->condition)
				      : !strcmp(a->host, b->host));
}

static void sides_of(const struct kab_group *g, enum kab_side side, struct kab_strv *ret)
{
	for (size_t i = 0; i < g->n; i++) {
		const char *name = side_of(kab_group_row(g, i)->data, side);

		if (!kab_strv_has(ret, name))
			kab_strv_add(ret, name);
	}
}

static void add_columns(const struct kab_group *g, const struct kab_view_opts *opts,
			const struct kab_strv *sides, struct kab_table *t)
{
	for (size_t s = 0; s < sides->n; s++) {
		const char *side = *sides->v[s] ? sides->v[s] : "as is";

		for (size_t k = 0; k < kab_group_kernels(g); k++) {
			char buf[32];
			const char *label = kab_view_kernel(g, opts, k, buf);
			char *name;

			if (!kab_view_shows(opts, k))
				continue;
			name = kab_xasprintf("%s_%s_mean", side, label);
			kab_table_column(t, KAB_ROLE_VALUE, (int)k, name, label, side);
			free(name);
			if (k == 0)
				continue;
			name = kab_xasprintf("%s_%s_gain_pct", side, label);
			kab_table_column(t, t->directed ? KAB_ROLE_GAIN : KAB_ROLE_DIFF, (int)k,
					 name, t->directed ? "gain" : "diff", side);
			free(name);
			name = kab_xasprintf("%s_%s_mark", side, label);
			kab_table_column(t, KAB_ROLE_MARK, (int)k, name, "", side)->glue = true;
			free(name);
		}
	}
}

static void fill(const struct kab_judged_row *row, const struct kab_view_opts *opts,
		 const struct kab_table *t, size_t from, size_t to, struct kab_cell *cells)
{
	for (size_t c = from; c < to; c++) {
		size_t k = (size_t)t->cols[c].kernel;
		const struct kab_pair *pair = k && k < row->n_sets ? &row->pairs[k - 1] : NULL;

		if (k >= row->n_sets)
			continue;
		if (t->cols[c].role == KAB_ROLE_VALUE)
			kab_cell_mean_scaled(&cells[c], &row->sets[k], opts);
		else if (t->cols[c].role == KAB_ROLE_MARK)
			kab_cell_text(&cells[c],
				      pair->tested ? kab_outcome_mark(pair->outcome) : "");
		else
			kab_cell_gain(&cells[c], pair, t->cols[c].role == KAB_ROLE_DIFF);
	}
}

static void note_troubles(const struct kab_group *g, const struct kab_view_opts *opts,
			  struct kab_table *t)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);

		for (size_t k = 0; k < row->n_sets; k++) {
			char trouble[64];

			kab_set_trouble(&row->sets[k], trouble);
			if (*trouble && row->sets[k].n_values && kab_view_shows(opts, k))
				kab_strv_addf(&t->notes, "note: %s %s: %s: %s",
					      side_of(row->data, opts->side), row->data->row_key,
					      row->sets[k].data->kernel, trouble);
		}
	}
}

bool kab_view_side(const struct kab_group *g, const struct kab_view_opts *opts, struct kab_table *t)
{
	struct kab_strv kab_autostrv sides = KAB_STRV_INIT;
	struct kab_view_opts plain = *opts;
	struct kab_labels l = { 0 };
	size_t labels, width;
	bool *done;

	sides_of(g, opts->side, &sides);
	if (sides.n < 2)
		return false;
	plain.no_spread = plain.no_intervals = true;
	kab_view_head(g, &plain, t);
	t->two_heads = true;
	kab_labels_find(g, false, &l);
	if (opts->side == KAB_SIDE_HOST)
		l.host = false;
	else
		l.condition = false;
	if (!l.host && !l.condition && l.keys.n == l.fixed.n && !l.whole_key)
		l.case_name = true;
	kab_labels_columns(&l, t);
	labels = t->n_cols;
	add_columns(g, opts, &sides, t);
	width = (t->n_cols - labels) / sides.n;
	done = kab_xcalloc(g->n + 1, sizeof(*done));
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);
		struct kab_cell *cells;

		if (done[i])
			continue;
		cells = kab_table_row(t);
		kab_labels_cells(&l, row, cells);
		for (size_t s = 0; s < sides.n; s++) {
			size_t from = labels + s * width;
			bool found = false;

			for (size_t j = i; j < g->n; j++) {
				const struct kab_judged_row *other = kab_group_row(g, j);

				if (done[j] || !same_load(row->data, other->data, opts->side) ||
				    strcmp(side_of(other->data, opts->side), sides.v[s]) != 0)
					continue;
				fill(other, opts, t, from, from + width, cells);
				done[j] = found = true;
				break;
			}
			if (!found)
				kab_cell_word(&cells[from], "missing");
		}
	}
	free(done);
	note_troubles(g, opts, t);
	kab_view_notes(g, opts, t);
	kab_labels_release(&l);
	return true;
}
