/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two files that write gnuplot's language share. */
#ifndef KAB_REPORTS_PLOT_GNUPLOT_INTERNAL_H
#define KAB_REPORTS_PLOT_GNUPLOT_INTERNAL_H

#include "base/strv.h"
#include "reports/plot_axis.h"
#include "reports/plot_gnuplot.h"

struct kab_gnuplot {
	const struct kab_plot *plot; /* borrowed */
	size_t panel;
	struct kab_axis axis; /* of the metric */
	struct kab_buf *out; /* borrowed */
	struct kab_strv parts; /* of the plot command */
};

/* 'text' as gnuplot reads it back, at most `max` characters; tick: also for a label of an axis, in
 * which % would be a format. */
void kab_gnuplot_quote(struct kab_buf *out, const char *text, size_t max, bool tick);
/* A number in the unit of the axis. */
void kab_gnuplot_number(struct kab_gnuplot *g, double value);
/* Point type, dash type and fill pattern of kernel k. */
int kab_gnuplot_point(size_t kernel);
int kab_gnuplot_dash(size_t kernel);
int kab_gnuplot_pattern(size_t kernel);
/* "set xtics (...)", range, logscale of the metric, on axis 'x' or 'y'. */
void kab_gnuplot_metric_axis(struct kab_gnuplot *g, char which);
/* What stands below the picture: a line for its axis ("" for none) and one of explanation. A blank line
 * follows, so that the key keeps clear of it. */
void kab_gnuplot_below(struct kab_gnuplot *g, const char *axis, const char *note);
/* The key's entry of a set, as "title '...'"; caller frees. */
char *kab_gnuplot_title(struct kab_gnuplot *g, const struct kab_plot_set *set);

void kab_gnuplot_strip(struct kab_gnuplot *g);
void kab_gnuplot_histogram(struct kab_gnuplot *g);
void kab_gnuplot_order(struct kab_gnuplot *g);
void kab_gnuplot_sweep(struct kab_gnuplot *g);
void kab_gnuplot_cdf(struct kab_gnuplot *g);
void kab_gnuplot_boots(struct kab_gnuplot *g);
void kab_gnuplot_history(struct kab_gnuplot *g);

#endif
