/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the views share. */
#ifndef KAB_REPORTS_VIEW_INTERNAL_H
#define KAB_REPORTS_VIEW_INTERNAL_H

#include "reports/view.h"

#define KAB_WIDTH_AIM 72
#define KAB_WIDTH_HARD 76
/* The level of kab_view_opts.drop at which intervals go, the last of all and not for 72 columns. */
#define KAB_DROP_INTERVAL 4

/* Title and legend: direction in capitals, n, formula of the gain, +/-, marks, test. */
void kab_view_head(const struct kab_group *g, const struct kab_view_opts *opts,
		   struct kab_table *t);
/* Title and legend of a table whose rows are different metrics. */
void kab_view_other_head(const struct kab_group *g, struct kab_table *t);
/* Conditions or hosts side by side; false (and nothing done) when there is only one. */
bool kab_view_side(const struct kab_group *g, const struct kab_view_opts *opts,
		   struct kab_table *t);
/* The name of a metric without the part of the benchmark that it is of: "bogo_ops" of
 * "cpu.bogo_ops". Borrowed. */
const char *kab_metric_base(const char *metric);
/* Whether the rows are of more than one metric; a family counts as one. */
bool kab_group_mixed(const struct kab_group *g);
/* One line of notes per row that needs one: failures, what cannot be compared, warnings. */
void kab_view_notes(const struct kab_group *g, const struct kab_view_opts *opts,
		    struct kab_table *t);

/* The columns that tell the rows of a group apart, and their cells; at least one. */
struct kab_labels {
	bool host, condition, case_name, metric;
	bool part; /* rows are of one family of metrics: "cpu" and "vm" of "*.bogo_ops" */
	struct kab_strv keys; /* of the sweep, when all rows have the same ones */
	struct kab_strv fixed; /* "fds=40": keys that are the same in all rows; not columns */
	bool *hide; /* owned; per key: it is fixed */
	bool whole_key; /* else the row key as it is */
	int last; /* index of the last label column once added */
};
void kab_labels_find(const struct kab_group *g, bool with_metric, struct kab_labels *ret);
void kab_labels_columns(const struct kab_labels *l, struct kab_table *t);
void kab_labels_cells(const struct kab_labels *l, const struct kab_judged_row *row,
		      struct kab_cell *cells);
/* The same as one text: "process-pipe 4", or "4-groups" with short_key; caller frees. */
char *kab_labels_text(const struct kab_labels *l, const struct kab_judged_row *row);
/* How a load is named where only one column is for it: "4" or, with keys, "4-groups". */
char *kab_labels_load(const struct kab_labels *l, const struct kab_judged_row *row, bool with_keys);
void kab_labels_release(struct kab_labels *l);

static inline const struct kab_judged_row *kab_group_row(const struct kab_group *g, size_t i)
{
	return &g->judgement->v[g->rows[i]];
}
/* The widest row: the kernels of the group. */
size_t kab_group_kernels(const struct kab_group *g);
/* Label of kernel k (0 the baseline), from the first row that has it. */
const char *kab_group_kernel(const struct kab_group *g, size_t k);
/* As printed: the label, or "base", "test", "test2" with short_labels. */
const char *kab_view_kernel(const struct kab_group *g, const struct kab_view_opts *opts, size_t k,
			    char buf[32]);
/* Whether kernel k is shown. */
static inline bool kab_view_shows(const struct kab_view_opts *opts, size_t k)
{
	return opts->only_pair < 0 || k == 0 || k == (size_t)opts->only_pair + 1;
}
/* Any comparison of the group that is over one boot only; any that is not. */
bool kab_group_any(const struct kab_group *g, bool (*is)(const struct kab_pair *));

/* What stands in place of a number that needs values where only n, mean and stddev are known. */
#define KAB_SUMMARY_ONLY "summary only"

/* "fail 2/5", "missing 1/5", or "" when all is there. */
void kab_set_trouble(const struct kab_set_summary *set, char buf[64]);
/* Fill a VALUE cell: the mean with the decimals its interval supports, or the word. */
void kab_cell_mean(struct kab_cell *cell, const struct kab_set_summary *set);
/* The same, multiplied by opts->scale. */
void kab_cell_mean_scaled(struct kab_cell *cell, const struct kab_set_summary *set,
			  const struct kab_view_opts *opts);
/* Times that would be read as 0.00003 s or 4000000 ns get another unit of time. */
void kab_view_choose_unit(const struct kab_group *g, struct kab_view_opts *opts);
int kab_set_mean_decimals(const struct kab_set_summary *set);
/* A column for kernel k, called LABEL_WHAT, below the head of that kernel. */
struct kab_column *kab_view_column(struct kab_table *t, enum kab_role role, size_t k,
				   const char *label, const char *what, const char *head);
/* Fill a SPREAD cell. */
void kab_cell_spread(struct kab_cell *cell, const struct kab_set_summary *set,
		     const struct kab_view_opts *opts);
/* "[n/a]" where a test was made whose interval has no bounds. */
void kab_cell_gain_interval(struct kab_cell *cell, const struct kab_pair *pair);
/* Whether that is so. */
bool kab_pair_unbounded(const struct kab_pair *pair);
/* Decimals that the interval of the gain supports, 0..2. */
int kab_pair_gain_decimals(const struct kab_pair *pair);
/* Fill a GAIN (or, without a direction, DIFF) cell: percent or "n/a" or "-". */
void kab_cell_gain(struct kab_cell *cell, const struct kab_pair *pair, bool raw);
/* The word that stands for a comparison that has no percentage. */
const char *kab_pair_word(const struct kab_pair *pair);

#endif
