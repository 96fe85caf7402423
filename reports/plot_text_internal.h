/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files that draw text share. */
#ifndef KAB_REPORTS_PLOT_TEXT_INTERNAL_H
#define KAB_REPORTS_PLOT_TEXT_INTERNAL_H

#include "reports/plot_axis.h"
#include "reports/plot_canvas.h"
#include "reports/plot_text.h"

struct kab_text_plot {
	const struct kab_plot *plot; /* borrowed */
	const struct kab_plot_text_opts *opts; /* borrowed */
	struct kab_axis axis; /* of the metric */
	struct kab_buf *out; /* borrowed */
};

/* Wrapped to the width, with LF. */
void kab_text_plot_say(struct kab_text_plot *t, const char *text);
/* The letter of a set in its colour. */
void kab_text_plot_letter(struct kab_text_plot *t, const struct kab_plot_set *set,
			  struct kab_buf *out);
void kab_text_plot_strip(struct kab_text_plot *t);
void kab_text_plot_histogram(struct kab_text_plot *t);
void kab_text_plot_boots(struct kab_text_plot *t);
void kab_text_plot_order(struct kab_text_plot *t);
void kab_text_plot_cdf(struct kab_text_plot *t);
void kab_text_plot_sweep(struct kab_text_plot *t);
void kab_text_plot_history(struct kab_text_plot *t);

#endif
