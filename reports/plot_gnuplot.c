/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame of a script: terminal, panels, title, axes, key. */
#include "reports/plot_gnuplot.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/plot_canvas.h"
#include "reports/plot_gnuplot_internal.h"
#include "reports/plot_words.h"

#define WIDTH 900
#define FIELD_HEIGHT 330
#define KEY_LINE 19
#define LANE 62

void kab_gnuplot_quote(struct kab_buf *out, const char *text, size_t max, bool tick)
{
	char *name kab_autofree = kab_plot_name(text, true, max);

	kab_buf_addc(out, '\'');
	for (const char *p = name; *p; p++) {
		if (*p == '\'' || (tick && *p == '%'))
			kab_buf_addc(out, *p);
		kab_buf_addc(out, *p);
	}
	kab_buf_addc(out, '\'');
}

void kab_gnuplot_number(struct kab_gnuplot *g, double value)
{
	kab_number_shortest(g->out, value * g->axis.factor);
}

int kab_gnuplot_point(size_t kernel)
{
	/* Filled circle, square, triangle, diamond, triangle upside down; plus, circle, square. */
	static const int types[] = { 7, 5, 9, 13, 11, 1, 6, 4 };

	/* The ninth kernel has the first colour again, and another shape than the first. */
	return types[(kernel + kernel / KAB_PLOT_COLOURS) % KAB_ARRAY_SIZE(types)];
}

int kab_gnuplot_dash(size_t kernel)
{
	return (int)((kernel + kernel / KAB_PLOT_COLOURS) % 5) + 1;
}

int kab_gnuplot_pattern(size_t kernel)
{
	static const int patterns[] = { 3, 4, 1, 5, 2, 6, 7 };

	return patterns[kernel % KAB_ARRAY_SIZE(patterns)];
}

void kab_gnuplot_metric_axis(struct kab_gnuplot *g, char which)
{
	double lo = g->axis.lo, hi = g->axis.hi, room = (hi - lo) / 25;

	if (g->axis.log) {
		room = pow(hi / lo, 0.04);
		kab_buf_addf(g->out, "set logscale %c\n", which);
		lo /= room;
		hi *= room;
	} else {
		lo -= room;
		hi += room;
	}
	kab_buf_addf(g->out, "set %crange [", which);
	kab_gnuplot_number(g, lo);
	kab_buf_addc(g->out, ':');
	kab_gnuplot_number(g, hi);
	kab_buf_addf(g->out, "]\nset %ctics (", which);
	for (size_t i = 0; i < g->axis.n_ticks; i++) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;

		kab_axis_label(&g->axis, g->axis.ticks[i], &text);
		kab_buf_adds(g->out, i ? ", " : "");
		kab_gnuplot_quote(g->out, kab_buf_str(&text), 40, true);
		kab_buf_addf(g->out, " %s", kab_buf_str(&text));
	}
	kab_buf_addf(g->out, ") nomirror\nset grid %ctics\n", which);
}

void kab_gnuplot_below(struct kab_gnuplot *g, const char *axis, const char *note)
{
	kab_buf_adds(g->out, "set xlabel ");
	kab_gnuplot_quote(g->out, axis, 100, false);
	if (*note) {
		kab_buf_adds(g->out, " . \"\\n\" . ");
		kab_gnuplot_quote(g->out, note, 130, false);
	}
	kab_buf_adds(g->out, " . \"\\n \" noenhanced\n");
}

char *kab_gnuplot_title(struct kab_gnuplot *g, const struct kab_plot_set *set)
{
	char *words kab_autofree = kab_plot_set_words(g->plot, set, &g->axis);
	char *label kab_autofree = kab_plot_name(set->label, true, 40);
	char *both kab_autofree = kab_xasprintf("%s: %s", label, words);
	struct kab_buf buf = KAB_BUF_INIT;

	kab_buf_adds(&buf, "title ");
	kab_gnuplot_quote(&buf, both, 120, false);
	return kab_buf_detach(&buf);
}

/* A kernel without anything to draw is in the key all the same, with the reason. */
static void add_absent(struct kab_gnuplot *g)
{
	for (size_t k = 0; k < g->plot->n_sets; k++) {
		const struct kab_plot_set *set = &g->plot->sets[k];
		char *title kab_autofree = kab_gnuplot_title(g, set);

		if (kab_plot_any_point(set) || set->unplanned || set->n ||
		    (set->summary && g->plot->kind == KAB_PLOT_STRIP))
			continue;
		kab_strv_addf(&g->parts, "keyentry with points pt %d lc rgb '#%06x' %s",
			      kab_gnuplot_point(set->kernel), kab_plot_colour(set->kernel), title);
	}
}

static void add_rest(struct kab_gnuplot *g)
{
	char *rest kab_autofree = kab_plot_rest_words(g->plot);
	struct kab_buf kab_autobuf title = KAB_BUF_INIT;

	if (!rest)
		return;
	kab_gnuplot_quote(&title, rest, 100, false);
	kab_strv_addf(&g->parts, "keyentry with points pt 0 lc rgb '#ffffff' title %s",
		      kab_buf_str(&title));
}

static void nothing(struct kab_gnuplot *g)
{
	kab_buf_adds(g->out, "set xrange [0:1]\nset yrange [0:1]\nunset xtics\nunset ytics\n"
			     "set label 1 'Nothing to draw: there is no value.' at graph 0.5,0.5 "
			     "center\n");
	kab_strv_add(&g->parts, "NaN notitle");
}

/* What stands beside an axis: upright there is less room, and the title has the whole name. */
static char *axis_words(const struct kab_plot *plot, const struct kab_axis *axis, bool along)
{
	char *metric kab_autofree = kab_plot_name(plot->metric, true, 22);
	struct kab_plot cut = *plot;

	if (!along)
		cut.metric = metric;
	return kab_plot_metric_words(&cut, axis);
}

static void panel(const struct kab_plot *plot, size_t number, struct kab_buf *out)
{
	static void (*const draw[KAB_PLOT_KINDS])(struct kab_gnuplot *) = {
		[KAB_PLOT_STRIP] = kab_gnuplot_strip,
		[KAB_PLOT_HISTOGRAM] = kab_gnuplot_histogram,
		[KAB_PLOT_ORDER] = kab_gnuplot_order,
		[KAB_PLOT_SWEEP] = kab_gnuplot_sweep,
		[KAB_PLOT_CDF] = kab_gnuplot_cdf,
		[KAB_PLOT_BOOTS] = kab_gnuplot_boots,
		[KAB_PLOT_HISTORY] = kab_gnuplot_history,
	};
	struct kab_gnuplot g = { .plot = plot, .panel = number, .out = out };
	bool drawable, along = plot->kind == KAB_PLOT_STRIP || plot->kind == KAB_PLOT_CDF ||
			       plot->kind == KAB_PLOT_HISTOGRAM;
	char *head kab_autofree = NULL, *all kab_autofree = NULL, *axis kab_autofree = NULL;
	double lo, hi;
	bool any = kab_plot_range(plot, &lo, &hi);

	g.axis.factor = 1;
	if (any)
		kab_axis_make(lo, hi, plot->unit, along ? 10 : 7, &g.axis);
	drawable = any && (plot->n_values || plot->kind == KAB_PLOT_STRIP);
	head = kab_plot_head_words(plot, any ? &g.axis : NULL);
	axis = axis_words(plot, any ? &g.axis : NULL, along);
	kab_buf_adds(out, "\nreset\nset title ");
	kab_gnuplot_quote(out, plot->title, 100, false);
	kab_buf_adds(out, " . \"\\n\" . ");
	kab_gnuplot_quote(out, head, 120, false);
	kab_buf_adds(out,
		     " noenhanced\n"
		     "set border 3\nset tics nomirror out\nset grid lc rgb '#dddddd' lt 1\n"
		     "set key below vertical maxcols 1 left Left reverse noenhanced samplen 3\n");
	if (along) {
		kab_gnuplot_below(&g, axis, "");
	} else {
		kab_buf_adds(out, "set ylabel ");
		kab_gnuplot_quote(out, axis, 72, false);
		kab_buf_adds(out, " noenhanced\n");
	}
	if (drawable)
		draw[plot->kind](&g);
	else
		nothing(&g);
	add_absent(&g);
	add_rest(&g);
	all = kab_strv_join(&g.parts, ", \\\n  ");
	kab_buf_addf(out, "plot %s\n", all);
	kab_strv_release(&g.parts);
}

static unsigned height_of(const struct kab_plot *plot)
{
	size_t height = FIELD_HEIGHT, sets = 0, lines = 0;

	for (size_t k = 0; k < plot->n_sets; k++)
		sets += !plot->sets[k].unplanned;
	lines = sets + (sets < plot->n_sets);
	if (plot->kind == KAB_PLOT_STRIP)
		height = 110 + LANE * sets;
	return (unsigned)(height + 90 + KEY_LINE * lines);
}

void kab_plot_gnuplot(const struct kab_plot *plots, size_t n, enum kab_plot_format format,
		      struct kab_buf *out)
{
	unsigned height = 0;

	for (size_t i = 0; i < n; i++)
		height = height_of(&plots[i]) > height ? height_of(&plots[i]) : height;
	kab_buf_adds(out,
		     "# Made by kab. The picture goes to standard output: gnuplot FILE >PICTURE\n"
		     "set encoding utf8\n");
	kab_buf_addf(
		out,
		format == KAB_PLOT_SVG
			? "set terminal svg size %u,%u dynamic noenhanced font 'sans-serif,12' "
			  "background '#ffffff'\n"
			: "set terminal pngcairo size %u,%u noenhanced font 'sans,10' background "
			  "'#ffffff'\n",
		WIDTH, height * (unsigned)n);
	kab_buf_addf(out, "set multiplot layout %zu,1\n", n);
	for (size_t i = 0; i < n; i++)
		panel(&plots[i], i, out);
	kab_buf_adds(out, "\nunset multiplot\n");
}
