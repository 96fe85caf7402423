/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all pictures for the terminal have in common: title, direction, legend. */
#include "reports/plot_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/plot_text_internal.h"
#include "reports/plot_words.h"
#include "reports/renderers.h"
#include "reports/view_internal.h"

void kab_text_plot_say(struct kab_text_plot *t, const char *text)
{
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;

	kab_wrap(&lines, text, KAB_WIDTH_AIM, 2);
	kab_render_lines(&lines, t->out);
}

void kab_text_plot_letter(struct kab_text_plot *t, const struct kab_plot_set *set,
			  struct kab_buf *out)
{
	kab_canvas_char((unsigned char)kab_plot_letter(set->kernel), (int)set->kernel,
			t->opts->colour, out);
}

/* "x base  15 in 5 boots: ..." */
static void legend_line(struct kab_text_plot *t, const struct kab_plot_set *set, size_t label_width)
{
	char *label kab_autofree = kab_plot_name(set->label, t->opts->unicode, label_width);
	char *words kab_autofree = kab_plot_set_words(t->plot, set, &t->axis);
	char *plain kab_autofree = kab_plot_name(words, false, KAB_WIDTH_HARD * 4);
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;

	/* The letter comes last, so that its colour does not count in the width. */
	kab_buf_addf(&text, "%s", label);
	kab_buf_fill(&text, ' ', label_width - kab_text_width(label));
	kab_buf_addf(&text, "  %s", plain);
	kab_wrap(&lines, kab_buf_str(&text), KAB_WIDTH_AIM - 2, label_width + 2);
	for (size_t i = 0; i < lines.n; i++) {
		if (i == 0)
			kab_text_plot_letter(t, set, t->out);
		kab_buf_addf(t->out, "%s%s\n", i ? "  " : " ", lines.v[i]);
	}
}

static void legend(struct kab_text_plot *t)
{
	char *rest kab_autofree = kab_plot_rest_words(t->plot);
	size_t width = 4;

	for (size_t k = 0; k < t->plot->n_sets; k++) {
		size_t n = t->plot->sets[k].unplanned ? 0 : kab_text_width(t->plot->sets[k].label);

		width = n > width ? n : width;
	}
	/* Longer names lose their middle: half of the line is for the numbers. */
	if (width > 32)
		width = 32;
	for (size_t k = 0; k < t->plot->n_sets; k++)
		if (!t->plot->sets[k].unplanned)
			legend_line(t, &t->plot->sets[k], width);
	if (rest)
		kab_buf_addf(t->out, "  %s\n", rest);
	kab_buf_addc(t->out, '\n');
}

void kab_plot_text(const struct kab_plot *plot, const struct kab_plot_text_opts *opts,
		   struct kab_buf *out)
{
	static void (*const draw[KAB_PLOT_KINDS])(struct kab_text_plot *) = {
		[KAB_PLOT_STRIP] = kab_text_plot_strip,
		[KAB_PLOT_HISTOGRAM] = kab_text_plot_histogram,
		[KAB_PLOT_ORDER] = kab_text_plot_order,
		[KAB_PLOT_SWEEP] = kab_text_plot_sweep,
		[KAB_PLOT_CDF] = kab_text_plot_cdf,
		[KAB_PLOT_BOOTS] = kab_text_plot_boots,
		[KAB_PLOT_HISTORY] = kab_text_plot_history,
	};
	struct kab_text_plot t = { .plot = plot, .opts = opts, .out = out };
	char *title kab_autofree = kab_plot_name(plot->title, opts->unicode, KAB_WIDTH_AIM);
	char *head kab_autofree = NULL, *plain kab_autofree = NULL;
	double lo, hi;
	bool any = kab_plot_range(plot, &lo, &hi);

	if (any)
		kab_axis_make(lo, hi, plot->unit, KAB_CANVAS_HEIGHT / 3, &t.axis);
	head = kab_plot_head_words(plot, any ? &t.axis : NULL);
	plain = kab_plot_name(head, opts->unicode, 4 * KAB_WIDTH_AIM);
	kab_buf_addf(out, "%s\n", title);
	kab_text_plot_say(&t, plain);
	kab_buf_addc(out, '\n');
	if (!any) {
		t.axis.factor = 1;
		legend(&t);
		kab_text_plot_say(&t, "Nothing to draw: there is no value.");
		return;
	}
	legend(&t);
	draw[plot->kind](&t);
}
