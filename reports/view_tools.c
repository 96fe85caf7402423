/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views for the layouts that belong to a tool and count improvements as positive. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/view_internal.h"

/* A number that the layout prints with its own decimals. */
static void number(struct kab_cell *cell, double value)
{
	kab_cell_number(cell, value, -1);
}

static void missing_word(struct kab_cell *cell, const struct kab_set_summary *set)
{
	char trouble[64];

	kab_set_trouble(set, trouble);
	kab_cell_word(cell, *trouble ? trouble : "missing");
}

/* What the tables of these tools cannot hold in a cell: iterations that are lost. */
static void note_troubles(const struct kab_group *g, const struct kab_view_opts *opts,
			  const struct kab_labels *l, struct kab_table *t)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);

		for (size_t k = 0; k < row->n_sets; k++) {
			char trouble[64], *name;

			kab_set_trouble(&row->sets[k], trouble);
			if (!kab_view_shows(opts, k) || !*trouble)
				continue;
			name = kab_labels_load(l, row, true);
			kab_strv_addf(&t->notes, "note: %s: %s: %s", name,
				      row->sets[k].data->kernel, trouble);
			free(name);
		}
	}
}

static bool significant(const struct kab_pair *pair)
{
	return pair->outcome == KAB_OUTCOME_IMPROVED || pair->outcome == KAB_OUTCOME_REGRESSED;
}

/* For tables that have no letter for the verdict, and no interval. */
static void head_without_marks(const struct kab_group *g, const struct kab_view_opts *opts,
			       struct kab_table *t)
{
	struct kab_view_opts bare = *opts;

	bare.no_marks = bare.no_intervals = true;
	kab_view_head(g, &bare, t);
}

enum mm_stat { MM_MEAN, MM_SD, MM_CV };

static double mm_value(const struct kab_set_summary *set, enum mm_stat stat)
{
	return stat == MM_MEAN ? set->mean : stat == MM_SD ? set->sd : set->cv_pct;
}

static void mm_row(const struct kab_judged_row *row, const struct kab_view_opts *opts,
		   const struct kab_labels *l, enum mm_stat stat, struct kab_table *t)
{
	static const char *const names[] = { "Amean", "Stddev", "CoeffVar" };
	struct kab_cell *cells = kab_table_row(t);
	char *load = kab_labels_load(l, row, false);
	size_t c = 2;

	kab_cell_text(&cells[0], names[stat]);
	kab_cell_text(&cells[1], load);
	free(load);
	for (size_t k = 0; k < row->n_sets && c + 1 < t->n_cols; k++) {
		const struct kab_set_summary *base = &row->sets[0], *set = &row->sets[k];
		double value = mm_value(set, stat), from = mm_value(base, stat), pct;

		if (!kab_view_shows(opts, k))
			continue;
		if (!kab_set_any(set))
			missing_word(&cells[c], set);
		else
			number(&cells[c], value);
		/* A spread is better when it is smaller, whatever the metric. */
		pct = k == 0		? 0
		      : stat == MM_MEAN ? row->pairs[k - 1].gain_pct
					: 100 * (from - value) / from;
		if (kab_set_any(set) && kab_set_any(base))
			number(&cells[c + 1], pct);
		c += 2;
		if (k == 0)
			continue;
		cells[c].kind = KAB_CELL_FLAG;
		cells[c].value = stat == MM_MEAN && significant(&row->pairs[k - 1]);
		c++;
	}
}

void kab_view_mmtests(const struct kab_group *g, const struct kab_view_opts *opts,
		      struct kab_table *t)
{
	struct kab_labels l = { 0 };

	head_without_marks(g, opts, t);
	if (!opts->no_legend)
		kab_strv_add(&t->legend, "(..) gain in percent, *..* improved or regressed");
	kab_labels_find(g, false, &l);
	kab_table_column(t, KAB_ROLE_LABEL, -1, "stat", NULL, NULL)->left = true;
	kab_table_column(t, KAB_ROLE_LABEL, -1, "load", NULL, NULL)->left = true;
	for (size_t k = 0; k < kab_group_kernels(g); k++) {
		char buf[32];
		const char *label = kab_view_kernel(g, opts, k, buf);

		if (!kab_view_shows(opts, k))
			continue;
		kab_view_column(t, KAB_ROLE_VALUE, k, label, "", NULL);
		kab_view_column(t, KAB_ROLE_GAIN, k, label, "pct", NULL);
		if (k)
			kab_view_column(t, KAB_ROLE_MARK, k, label, "significant", NULL);
	}
	for (int stat = MM_MEAN; stat <= MM_CV; stat++)
		for (size_t i = 0; i < g->n; i++)
			mm_row(kab_group_row(g, i), opts, &l, (enum mm_stat)stat, t);
	note_troubles(g, opts, &l, t);
	kab_view_notes(g, opts, t);
	kab_labels_release(&l);
}

void kab_view_norm(const struct kab_group *g, const struct kab_view_opts *opts, struct kab_table *t)
{
	struct kab_labels l = { 0 };

	head_without_marks(g, opts, t);
	if (!opts->no_legend)
		kab_strv_add(&t->legend, "[..] gain in percent, (..) CV in percent");
	t->statistic = kab_xstrdup("AMean");
	kab_labels_find(g, false, &l);
	kab_table_column(t, KAB_ROLE_LABEL, -1, "case", NULL, NULL);
	for (size_t k = 0; k < kab_group_kernels(g); k++) {
		char buf[32];
		const char *label = kab_view_kernel(g, opts, k, buf);

		if (!kab_view_shows(opts, k))
			continue;
		kab_view_column(t, KAB_ROLE_VALUE, k, label, "norm", NULL);
		kab_view_column(t, KAB_ROLE_GAIN, k, label, "imp_pct", NULL);
		kab_view_column(t, KAB_ROLE_SPREAD, k, label, "cv_pct", NULL);
	}
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);
		struct kab_cell *cells = kab_table_row(t);
		char *load = kab_labels_load(&l, row, true);
		size_t c = 1;

		kab_cell_text(&cells[0], load);
		free(load);
		for (size_t k = 0; k < row->n_sets && c + 2 < t->n_cols; k++) {
			const struct kab_set_summary *set = &row->sets[k];

			if (!kab_view_shows(opts, k))
				continue;
			if (!kab_set_any(set))
				missing_word(&cells[c], set);
			else
				number(&cells[c], set->mean / row->sets[0].mean);
			/* The sign of zero is what the original prints for times. */
			number(&cells[c + 1], k		  ? row->pairs[k - 1].gain_pct
					      : t->higher ? 0.0
							  : -0.0);
			number(&cells[c + 2], set->cv_pct);
			c += 3;
		}
	}
	note_troubles(g, opts, &l, t);
	kab_view_notes(g, opts, t);
	kab_labels_release(&l);
}

void kab_view_schedtests(const struct kab_group *g, const struct kab_view_opts *opts,
			 struct kab_table *t)
{
	struct kab_labels l = { 0 };

	head_without_marks(g, opts, t);
	if (!opts->no_legend)
		kab_strv_add(&t->legend, "compare% is the gain, (std%) the CV, base is 1.00");
	kab_labels_find(g, false, &l);
	l.case_name = false;
	kab_table_column(t, KAB_ROLE_LABEL, -1, "case", NULL, NULL)->left = true;
	kab_table_column(t, KAB_ROLE_LABEL, -1, "load", NULL, NULL)->left = true;
	for (size_t k = 0; k < kab_group_kernels(g); k++) {
		char buf[32];
		const char *label = kab_view_kernel(g, opts, k, buf);

		if (!kab_view_shows(opts, k))
			continue;
		kab_view_column(t, k ? KAB_ROLE_GAIN : KAB_ROLE_VALUE, k, label,
				k ? "improvement_pct" : "norm", NULL);
		kab_view_column(t, KAB_ROLE_SPREAD, k, label, "cv_pct", NULL);
	}
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);
		struct kab_cell *cells = kab_table_row(t);
		char *load = kab_labels_load(&l, row, true);
		size_t c = 2;

		kab_cell_text(&cells[0], row->data->case_name);
		kab_cell_text(&cells[1], load);
		free(load);
		for (size_t k = 0; k < row->n_sets && c + 1 < t->n_cols; k++) {
			const struct kab_set_summary *set = &row->sets[k];

			if (!kab_view_shows(opts, k))
				continue;
			if (!kab_set_any(set))
				missing_word(&cells[c], set);
			else
				number(&cells[c], k ? row->pairs[k - 1].gain_pct : 1);
			number(&cells[c + 1], set->cv_pct);
			c += 2;
		}
	}
	note_troubles(g, opts, &l, t);
	kab_view_notes(g, opts, t);
	kab_labels_release(&l);
}

void kab_view_fastpath(const struct kab_group *g, const struct kab_view_opts *opts,
		       struct kab_table *t)
{
	struct kab_view_opts raw = *opts;
	struct kab_labels l = { 0 };

	raw.raw = raw.no_intervals = true;
	kab_view_head(g, &raw, t);
	if (!opts->no_legend)
		kab_strv_add(&t->legend, "(I) improved, (R) regressed, blank: neither is shown");
	kab_labels_find(g, false, &l);
	l.case_name = false;
	kab_table_column(t, KAB_ROLE_LABEL, -1, "benchmark", "Benchmark", NULL);
	kab_table_column(t, KAB_ROLE_LABEL, -1, "result_class", "Result Class", NULL);
	for (size_t k = 1; k < kab_group_kernels(g); k++) {
		char buf[32];
		const char *label = kab_view_kernel(g, opts, k, buf);

		if (!kab_view_shows(opts, k))
			continue;
		kab_view_column(t, KAB_ROLE_DIFF, k, label, "pct", NULL);
		kab_view_column(t, KAB_ROLE_MARK, k, label, "mark", NULL);
	}
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);
		struct kab_cell *cells = kab_table_row(t);
		char *load = kab_labels_load(&l, row, true), *text;
		size_t c = 2;

		text = !strcmp(row->data->runner, "import")
			       ? kab_xstrdup(row->data->case_name)
			       : kab_xasprintf("%s/%s", row->data->runner, row->data->case_name);
		kab_cell_text(&cells[0], text);
		free(text);
		text = kab_xasprintf("%s%s%s%s%s%s", row->data->metric, *load ? " " : "", load,
				     *row->data->unit ? " (" : "", row->data->unit,
				     *row->data->unit ? ")" : "");
		kab_cell_text(&cells[1], text);
		free(text);
		free(load);
		for (size_t p = 0; p < row->n_pairs && c + 1 < t->n_cols; p++) {
			const struct kab_pair *pair = &row->pairs[p];

			if (!kab_view_shows(opts, p + 1))
				continue;
			if (!kab_set_any(pair->test) || !kab_set_any(pair->base))
				missing_word(&cells[c],
					     kab_set_any(pair->test) ? pair->base : pair->test);
			else
				number(&cells[c], pair->diff_pct);
			kab_cell_text(&cells[c + 1],
				      significant(pair) ? kab_outcome_mark(pair->outcome) : "");
			c += 2;
		}
	}
	note_troubles(g, opts, &l, t);
	kab_view_notes(g, opts, t);
	kab_labels_release(&l);
}

static void lkp_row(const struct kab_judged_row *row, size_t p, const struct kab_labels *l,
		    struct kab_table *t)
{
	const struct kab_pair *pair = &row->pairs[p];
	struct kab_cell *cells = kab_table_row(t);
	char *load = kab_labels_load(l, row, true), *text;

	for (int side = 0; side < 2; side++) {
		const struct kab_set_summary *set = side ? pair->test : pair->base;
		size_t c = side ? 3 : 0;

		if (!kab_set_any(set))
			missing_word(&cells[c], set);
		else
			number(&cells[c], set->mean);
		if (isfinite(set->cv_pct))
			number(&cells[c + 1], set->cv_pct);
	}
	if (!strcmp(row->data->unit, "%"))
		number(&cells[2], pair->cmp.diff);
	else
		kab_cell_percent(&cells[2], pair->diff_pct, 1, true);
	if (cells[2].kind == KAB_CELL_WORD)
		kab_cell_word(&cells[2], kab_pair_word(pair));
	text = kab_xasprintf("%s.%s%s%s",
			     !strcmp(row->data->runner, "import") ? row->data->case_name
								  : row->data->runner,
			     load, *load ? "." : "", row->data->metric);
	kab_cell_text(&cells[5], text);
	free(text);
	free(load);
}

void kab_view_lkp(const struct kab_group *g, const struct kab_view_opts *opts, struct kab_table *t)
{
	static const char *const heads[] = { "base", "base_rsd_pct", "change",
					     "test", "test_rsd_pct", "metric" };
	size_t p = opts->only_pair < 0 ? 0 : (size_t)opts->only_pair;
	struct kab_view_opts raw = *opts;
	struct kab_labels l = { 0 };

	raw.raw = true;
	head_without_marks(g, &raw, t);
	kab_labels_find(g, false, &l);
	l.case_name = l.case_name && g->n > 1;
	for (size_t c = 0; c < KAB_ARRAY_SIZE(heads); c++)
		kab_table_column(t,
				 c == 5	  ? KAB_ROLE_LABEL
				 : c == 2 ? KAB_ROLE_DIFF
				 : c % 3  ? KAB_ROLE_SPREAD
					  : KAB_ROLE_VALUE,
				 c == 5	 ? -1
				 : c < 2 ? 0
					 : (int)p + 1,
				 heads[c], NULL,
				 c == 5 ? NULL : kab_group_kernel(g, c < 2 ? 0 : p + 1));
	for (size_t i = 0; i < g->n; i++)
		if (p < kab_group_row(g, i)->n_pairs)
			lkp_row(kab_group_row(g, i), p, &l, t);
	note_troubles(g, opts, &l, t);
	kab_view_notes(g, opts, t);
	kab_labels_release(&l);
}
