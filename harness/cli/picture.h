/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures on their way out: to the terminal, or through gnuplot to a file. */
#ifndef KAB_CLI_PICTURE_H
#define KAB_CLI_PICTURE_H

#include "cli/cli.h"
#include "reports/plot_gnuplot.h"

/* Whether standard output may be coloured: as --color says, else a terminal without NO_COLOR. */
bool kab_picture_colour(const struct kab_cli *cli);
/*
 * Draw by gnuplot and write to path (whole or not at all), or to standard output with path NULL. Blocks for
 * at most a minute. -1: ENV (gnuplot is not installed, is too old or fails), USAGE (more than
 * KAB_PLOT_PANELS_MAX plots, or bytes for a terminal).
 */
int kab_picture_draw(struct kab_cli *cli, const struct kab_plot *plots, size_t n,
		     enum kab_plot_format format, const char *path, struct kab_err *err);
/* The text, to path or to standard output as it is. */
int kab_picture_write(struct kab_cli *cli, const struct kab_buf *text, const char *path,
		      struct kab_err *err);

#endif
