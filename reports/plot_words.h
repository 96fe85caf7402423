/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands in words beside a picture, the same in text and in gnuplot's. Caller frees. */
#ifndef KAB_REPORTS_PLOT_WORDS_H
#define KAB_REPORTS_PLOT_WORDS_H

#include "reports/plot.h"
#include "reports/plot_axis.h"

/* "time (s), LOWER is better": axis NULL: the metric's own unit. */
char *kab_plot_metric_words(const struct kab_plot *plot, const struct kab_axis *axis);
/* The same, and what the picture shows. */
char *kab_plot_head_words(const struct kab_plot *plot, const struct kab_axis *axis);
/* "15 in 5 boots, median 1.23, mean 1.234; fail 1/16", or why there is nothing. */
char *kab_plot_set_words(const struct kab_plot *plot, const struct kab_plot_set *set,
			 const struct kab_axis *axis);

/* "not measured here: 3 other kernels", or NULL: the sets that are unplanned. */
char *kab_plot_rest_words(const struct kab_plot *plot);

#endif
