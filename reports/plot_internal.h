/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files that make plots share. */
#ifndef KAB_REPORTS_PLOT_INTERNAL_H
#define KAB_REPORTS_PLOT_INTERNAL_H

#include "reports/plot.h"

/* The words of a plot; title is taken. */
void kab_plot_begin(struct kab_plot *plot, enum kab_plot_kind kind, char *title,
		    const struct kab_judged_row *row, double confidence);
/* A further set, without values. */
struct kab_plot_set *kab_plot_push_set(struct kab_plot *plot, size_t kernel, const char *label);
/* One for each kernel of the row. */
void kab_plot_begin_sets(const struct kab_judged_row *row, struct kab_plot *plot);
/* Nothing was to be measured there. */
bool kab_plot_is_unplanned(const struct kab_set_summary *from);
/* "fail 2/5", "missing", or NULL; caller frees. */
char *kab_plot_trouble(const struct kab_set_summary *from);
/* A plot for each sweep of the rows; hosts: their names go into the titles. */
void kab_plot_add_sweeps(const struct kab_judged_row **rows, size_t n, bool hosts,
			 double confidence, struct kab_plots *ret);

#endif
