/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * runs: one row per iteration of one kernel in one load, the metrics as columns, then average and
 * stddev. The group holds the metrics of that load; only_pair + 1 is the kernel.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/view_internal.h"

static void add_columns(const struct kab_group *g, const struct kab_view_opts *opts,
			struct kab_table *t)
{
	int optional = 0;

	for (size_t i = 0; i < g->n; i++)
		optional += !kab_group_row(g, i)->data->primary;
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_row_data *row = kab_group_row(g, i)->data;
		int drop = row->primary ? 0 : optional--;
		char *head;

		if (drop && drop <= opts->drop)
			continue;
		head = *row->unit ? kab_xasprintf("%s (%s)", row->metric, row->unit)
				  : kab_xstrdup(row->metric);
		kab_table_column(t, KAB_ROLE_VALUE, (int)i, row->metric, head, NULL)->drop = drop;
		free(head);
	}
	kab_table_column(t, KAB_ROLE_NOTE, -1, "what", "", NULL)->left = true;
}

void kab_view_runs(const struct kab_group *g, const struct kab_view_opts *opts, struct kab_table *t)
{
	size_t kernel = (size_t)(opts->only_pair + 1), longest = 0;
	const struct kab_judged_row *first = kab_group_row(g, 0);
	bool over_boots = false;
	struct kab_cell *cells;
	char trouble[64];

	if (kernel >= first->n_sets)
		return;
	t->title = kab_xasprintf("%s %s%s%s%s%s, %s", first->data->runner, first->data->case_name,
				 *first->data->row_key ? " " : "", first->data->row_key,
				 *first->data->condition ? " " : "", first->data->condition,
				 first->sets[kernel].data->kernel);
	add_columns(g, opts, t);
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_set_summary *set = &kab_group_row(g, i)->sets[kernel];

		longest = set->n_values > longest ? set->n_values : longest;
		/* A line that says why there are no others. */
		longest = set->summary && !longest ? 1 : longest;
		over_boots |= set->over_boots;
	}
	kab_strv_addf(&t->legend, "%s is better; stddev with n - 1, over %s",
		      first->data->dir == KAB_DIR_HIGHER  ? "HIGHER"
		      : first->data->dir == KAB_DIR_LOWER ? "LOWER"
							  : "neither direction",
		      over_boots ? "boot means; average: of boot means" : "the runs");
	for (size_t r = 0; r < longest; r++) {
		cells = kab_table_row(t);
		for (size_t c = 0; c + 1 < t->n_cols; c++) {
			const struct kab_set_summary *set =
				&kab_group_row(g, (size_t)t->cols[c].kernel)->sets[kernel];

			if (set->summary && r == 0)
				kab_cell_word(&cells[c], KAB_SUMMARY_ONLY);
			else if (r < set->n_values)
				kab_cell_number(&cells[c], set->in_order[r], set->decimals);
		}
	}
	for (int stat = 0; stat < 2; stat++) {
		cells = kab_table_row(t);
		kab_cell_text(&cells[t->n_cols - 1], stat ? "stddev" : "average");
		for (size_t c = 0; c + 1 < t->n_cols; c++) {
			const struct kab_set_summary *set =
				&kab_group_row(g, (size_t)t->cols[c].kernel)->sets[kernel];

			if (!kab_set_any(set))
				kab_cell_mean(&cells[c], set);
			else if (stat && set->summary && !isfinite(set->sd))
				kab_cell_word(&cells[c], "unknown");
			else if (stat)
				kab_cell_number(&cells[c], set->sd,
						set->sd > 0 ? kab_number_significant(set->sd, 4)
							    : set->decimals);
			else
				kab_cell_number(&cells[c], set->mean, set->decimals + 1);
		}
	}
	kab_set_trouble(&first->sets[kernel], trouble);
	if (*trouble)
		kab_strv_addf(&t->notes, "note: %s", trouble);
}
