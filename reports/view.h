/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Views: from a judgement to tables. Rows that belong together (same benchmark and metric) are a
 * group; a view makes one table of a group.
 */
#ifndef KAB_REPORTS_VIEW_H
#define KAB_REPORTS_VIEW_H

#include "judge/judge.h"
#include "reports/table.h"

/* What stands behind +/-. */
enum kab_pm { KAB_PM_CV, KAB_PM_SD, KAB_PM_SEM, KAB_PM_CI95 };
/* 0 and *ret, or -1 for another word than cv, sd, sem, ci95. */
int kab_pm_parse(const char *word, enum kab_pm *ret);

struct kab_group {
	const struct kab_judgement *judgement; /* borrowed */
	size_t *rows; /* owned: indices into judgement->v, in the order to print */
	size_t n;
};

struct kab_groups {
	struct kab_group *v;
	size_t n, cap;
	struct kab_group other; /* rows without a verdict, or n 0 */
};

enum kab_sort { KAB_SORT_SUITE, KAB_SORT_EFFECT };

/* What stands side by side instead of below one another. */
enum kab_side { KAB_SIDE_NONE, KAB_SIDE_CONDITION, KAB_SIDE_HOST };

struct kab_view_opts {
	enum kab_pm pm;
	int drop; /* columns with 0 < drop <= this are left out */
	int only_pair; /* -1: all test kernels; else that one and the baseline */
	enum kab_side side;
	double scale; /* values are multiplied by this; 0 is 1 */
	const char *unit; /* of the scaled values; NULL: the metric's own */
	int exponent; /* "10^N" is said before the unit; scale has it already */
	bool no_legend; /* title line only */
	bool raw; /* percentages are (test-base)/base: their sign is not a verdict */
	bool short_labels; /* "base", "test1" for kernels, explained in the legend */
	/* What the table does not have, so that the legend is silent about it. */
	bool no_gain, no_spread, no_marks, no_test, no_intervals;
};
#define KAB_VIEW_OPTS_INIT      \
	{                       \
		.only_pair = -1 \
	}

/* Adds title, legend, columns, rows and notes to *t, which is empty. */
typedef void kab_view_fn(const struct kab_group *group, const struct kab_view_opts *opts,
			 struct kab_table *t);

/*
 * Group the rows: those with a verdict by (runner, metric, unit), all others into `other`. metric:
 * only that one (then it is a group whether or not it carries verdicts), or NULL.
 */
void kab_groups_make(const struct kab_judgement *judgement, const char *metric, enum kab_sort sort,
		     struct kab_groups *ret);
void kab_groups_release(struct kab_groups *groups);

kab_view_fn kab_view_compare; /* base, test, gain, verdict: the default */
kab_view_fn kab_view_other; /* rows without a verdict, a metric per row */
kab_view_fn kab_view_runs; /* one row per iteration of one kernel, metrics as columns */
kab_view_fn kab_view_percentiles; /* rows min avg 50 ... max of one load */
kab_view_fn kab_view_kernels; /* a kernel per row, with every statistic */
/* The same with the legend of layouts that print only a part of them. */
kab_view_fn kab_view_describe;
kab_view_fn kab_view_gain;
kab_view_fn kab_view_minmax;
kab_view_fn kab_view_ministat;
kab_view_fn kab_view_kernels_raw; /* the same for layouts with a raw percentage */
kab_view_fn kab_view_kernels_sem; /* the same where the standard error stands behind +- */
/* The columns that the tools of these names need, in the order of `kab render`. */
kab_view_fn kab_view_mmtests;
kab_view_fn kab_view_norm;
kab_view_fn kab_view_schedtests;
kab_view_fn kab_view_fastpath;
kab_view_fn kab_view_lkp;

#endif
