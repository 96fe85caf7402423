/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics that carry no verdict, one per row: shown, not judged. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "reports/view_internal.h"

enum { DROP_SPREAD = 1 };

static void fill(const struct kab_judged_row *row, const struct kab_view_opts *opts,
		 const struct kab_table *t, struct kab_cell *cells)
{
	for (size_t c = 0; c < t->n_cols; c++) {
		int k = t->cols[c].kernel;

		if (k < 0 || (size_t)k >= row->n_sets)
			continue;
		if (t->cols[c].role == KAB_ROLE_VALUE)
			kab_cell_mean(&cells[c], &row->sets[k]);
		else if (t->cols[c].role == KAB_ROLE_SPREAD)
			kab_cell_spread(&cells[c], &row->sets[k], opts);
		else
			kab_cell_gain(&cells[c], &row->pairs[k - 1], true);
	}
}

void kab_view_other_head(const struct kab_group *g, struct kab_table *t)
{
	const struct kab_row_data *first = kab_group_row(g, 0)->data;

	t->title = kab_xasprintf("Other metrics of %s: shown, not judged", first->case_name);
	t->unit = kab_xstrdup("");
	kab_strv_add(&t->legend,
		     "diff = (test-base)/base, its sign is not a verdict; +/- is the CV");
}

/* 0.00 ms against 0.00 ms: one line for all such rows. */
static void note_unresolved(const struct kab_group *g, const struct kab_labels *l,
			    struct kab_table *t)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	char *all kab_autofree = NULL, *line kab_autofree = NULL;

	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);
		bool unresolved = false;

		for (size_t p = 0; p < row->n_pairs; p++)
			unresolved |= row->pairs[p].outcome == KAB_OUTCOME_BELOW_RESOLUTION;
		if (unresolved)
			kab_strv_take(&names, kab_labels_text(l, row));
	}
	if (!names.n)
		return;
	all = kab_strv_join(&names, ", ");
	line = kab_xasprintf("note: below resolution, printed as 0 on both sides: %s", all);
	kab_wrap(&t->notes, line, KAB_WIDTH_AIM, 6);
}

void kab_view_other(const struct kab_group *g, const struct kab_view_opts *opts,
		    struct kab_table *t)
{
	struct kab_labels l = { 0 };

	kab_view_other_head(g, t);
	kab_labels_find(g, true, &l);
	kab_labels_columns(&l, t);
	for (size_t k = 0; k < kab_group_kernels(g); k++) {
		char buf[32];
		const char *label = kab_view_kernel(g, opts, k, buf);

		if (!kab_view_shows(opts, k))
			continue;
		kab_view_column(t, KAB_ROLE_VALUE, k, label, "mean", "mean");
		if (opts->drop < DROP_SPREAD) {
			struct kab_column *col =
				kab_view_column(t, KAB_ROLE_SPREAD, k, label, "spread", "+/-");

			col->glue = true;
			col->drop = DROP_SPREAD;
		}
		if (k) {
			char *name = kab_xasprintf("%s_diff_pct", label);

			kab_table_column(t, KAB_ROLE_DIFF, (int)k, name, "diff", NULL);
			free(name);
		}
	}
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);
		struct kab_cell *cells;
		bool any = false;

		for (size_t k = 0; k < row->n_sets; k++)
			any |= kab_set_any(&row->sets[k]);
		if (!any)
			continue;
		cells = kab_table_row(t);
		kab_labels_cells(&l, row, cells);
		fill(row, opts, t, cells);
	}
	note_unresolved(g, &l, t);
	kab_labels_release(&l);
}
