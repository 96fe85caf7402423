/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pictures for the terminal: ASCII, at most 76 columns (aim 72), LF, no trailing blanks. The letter of
 * a kernel (kab_plot_letter) tells it from the others; colour, where asked for, only adds to it.
 */
#ifndef KAB_REPORTS_PLOT_TEXT_H
#define KAB_REPORTS_PLOT_TEXT_H

#include "base/buf.h"
#include "reports/plot.h"

struct kab_plot_text_opts {
	bool unicode; /* blocks, lines and braille; names keep their own letters */
	bool colour; /* ANSI sequences, 256 colours */
};

/* One picture with its title, direction and legend, in any of the kinds. */
void kab_plot_text(const struct kab_plot *plot, const struct kab_plot_text_opts *opts,
		   struct kab_buf *out);

/*
 * A line of `width` characters (1 to 200), the oldest value first; with more values than that each
 * character is the mean of some. ASCII _ . - ~ ^ from the lowest to the highest, or blocks. NAN is a
 * gap, or ! where failed[i] (failed may be NULL). Equal values are in the middle.
 */
void kab_plot_sparkline(const double *v, const bool *failed, size_t n, size_t width, bool unicode,
			struct kab_buf *out);

#endif
