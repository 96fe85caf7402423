/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same pictures as a script for gnuplot (5.2 or later), with the data in it. Names of the user
 * stand in single quotes only, where gnuplot reads nothing but '' and terminals do not interpret
 * them (noenhanced): a script that comes out of here starts no program and opens no file.
 */
#ifndef KAB_REPORTS_PLOT_GNUPLOT_H
#define KAB_REPORTS_PLOT_GNUPLOT_H

#include "base/buf.h"
#include "reports/plot.h"

enum kab_plot_format { KAB_PLOT_SVG = 0, KAB_PLOT_PNG };

/* More pictures than this do not go on one sheet. */
#define KAB_PLOT_PANELS_MAX 24

/* Plots of one kind below one another, 1 to KAB_PLOT_PANELS_MAX; the picture goes to gnuplot's
 * standard output. */
void kab_plot_gnuplot(const struct kab_plot *plots, size_t n, enum kab_plot_format format,
		      struct kab_buf *out);

#endif
