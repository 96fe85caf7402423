/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One function for each kind: data blocks and settings first, then the parts of the plot command. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/plot_bins.h"
#include "reports/plot_gnuplot_internal.h"
#include "reports/plot_words.h"

#define LABEL_MAX 24
/* More borders than this are a grey field. */
#define BORDERS_MAX 200

static void begin_data(struct kab_gnuplot *g, const char *what, size_t set)
{
	kab_buf_addf(g->out, "$%s%zu_%zu << EOD\n", what, g->panel, set);
}

static void end_data(struct kab_gnuplot *g)
{
	kab_buf_adds(g->out, "EOD\n");
}

/* A line of numbers that are not in the metric's unit stands as it is. */
static void add_plain(struct kab_gnuplot *g, double value)
{
	kab_number_shortest(g->out, value);
}

static void add_part(struct kab_gnuplot *g, const char *what, size_t set, const char *style,
		     const char *title)
{
	kab_strv_addf(&g->parts, "$%s%zu_%zu %s %s", what, g->panel, set, style, title);
}

/* "lc rgb '#0072b2'" */
static void colour(size_t kernel, char text[32])
{
	snprintf(text, 32, "lc rgb '#%06x'", kab_plot_colour(kernel));
}

/* ---- strip ---- */

static void strip_set(struct kab_gnuplot *g, size_t k, double y)
{
	const struct kab_plot_set *set = &g->plot->sets[k];
	char *title kab_autofree = kab_gnuplot_title(g, set);
	char *style kab_autofree = NULL;
	char lc[32];

	colour(set->kernel, lc);
	if (set->n) {
		begin_data(g, "box", k);
		for (int i = 0; i < 5; i++) {
			const double five[] = { set->min, set->q1, set->median, set->q3, set->max };

			kab_gnuplot_number(g, five[i]);
			kab_buf_addc(g->out, ' ');
		}
		add_plain(g, y);
		kab_buf_addc(g->out, '\n');
		end_data(g);
		begin_data(g, "all", k);
		for (size_t i = 0; i < set->n; i++) {
			kab_gnuplot_number(g, set->sorted[i]);
			/* Equal values one above the other, in a few rows. */
			kab_buf_addf(g->out, " %.3f\n", y + 0.24 + 0.045 * (double)(i % 4));
		}
		end_data(g);
	}
	begin_data(g, "mean", k);
	kab_gnuplot_number(g, set->mean);
	kab_buf_addf(g->out, " %g\n", y);
	end_data(g);
	if (set->n) {
		style = kab_xasprintf("using 3:6:1:5:6:6 with boxxyerror %s lw 1.5", lc);
		add_part(g, "box", k, style, "notitle");
		free(style);
		style = kab_xasprintf("using 3:6:2:4:($6-0.16):($6+0.16) with boxxyerror %s fs "
				      "pattern %d border %s",
				      lc, kab_gnuplot_pattern(set->kernel), lc);
		add_part(g, "box", k, style, "notitle");
		free(style);
		add_part(g, "box", k,
			 "using 3:6:3:3:($6-0.16):($6+0.16) with boxxyerror lc rgb '#000000' lw 3",
			 "notitle");
		style = kab_xasprintf("with points pt %d ps 0.4 %s", kab_gnuplot_point(set->kernel),
				      lc);
		add_part(g, "all", k, style, "notitle");
		free(style);
		style = NULL;
	}
	if (kab_plot_boots(set) > 1) {
		begin_data(g, "boot", k);
		for (size_t b = 0; b < set->n_boots; b++) {
			if (!set->boots[b].n)
				continue;
			kab_gnuplot_number(g, set->boots[b].mean);
			kab_buf_addf(g->out, " %g\n", y - 0.27);
		}
		end_data(g);
		style = kab_xasprintf("with points pt %d ps 1 lw 1.5 %s",
				      kab_gnuplot_point(set->kernel), lc);
		add_part(g, "boot", k, style, "notitle");
		free(style);
	}
	if ((kab_plot_boots(set) > 1 || set->summary) && isfinite(set->lo) && isfinite(set->hi)) {
		begin_data(g, "ci", k);
		/* A bound that a logarithmic axis has no place for lies beyond its end. */
		kab_gnuplot_number(g, g->axis.log ? fmax(set->lo, g->axis.lo / 2) : set->lo);
		kab_buf_addc(g->out, ' ');
		kab_gnuplot_number(g, set->hi);
		kab_buf_addf(g->out, " %g\n", y - 0.38);
		end_data(g);
		style = kab_xasprintf("using 1:3:1:2 with xerrorbars pt 0 lw 2 %s", lc);
		add_part(g, "ci", k, style, "notitle");
		free(style);
	}
	/* White within a black edge: seen on any fill. */
	add_part(g, "mean", k, "with points pt 7 ps 1.1 lc rgb '#000000'", "notitle");
	add_part(g, "mean", k, "with points pt 7 ps 0.6 lc rgb '#ffffff'", "notitle");
	style = kab_xasprintf("keyentry with points pt %d ps 1.2 %s %s",
			      kab_gnuplot_point(set->kernel), lc, title);
	kab_strv_add(&g->parts, style);
}

void kab_gnuplot_strip(struct kab_gnuplot *g)
{
	const struct kab_plot *plot = g->plot;
	char *words kab_autofree = NULL, *note kab_autofree = NULL;
	size_t lanes = 0, lane;

	kab_gnuplot_metric_axis(g, 'x');
	words = kab_plot_metric_words(plot, &g->axis);
	note = kab_xasprintf("box: middle half; bar: median; white: mean; below it: means of %ss "
			     "and their %g %% interval",
			     plot->restarts ? "restart" : "boot", 100 * plot->confidence);
	kab_gnuplot_below(g, words, note);
	for (size_t k = 0; k < plot->n_sets; k++)
		lanes += plot->sets[k].n || plot->sets[k].summary;
	lane = lanes;
	kab_buf_addf(g->out, "set yrange [0.45:%zu.5]\nset ytics (", lanes);
	for (size_t k = 0; k < plot->n_sets; k++) {
		if (!plot->sets[k].n && !plot->sets[k].summary)
			continue;
		kab_buf_adds(g->out, lane < lanes ? ", " : "");
		kab_gnuplot_quote(g->out, plot->sets[k].label, LABEL_MAX, true);
		kab_buf_addf(g->out, " %zu", lane--);
	}
	kab_buf_adds(g->out, ") noenhanced\n");
	for (size_t k = 0; k < plot->n_sets; k++)
		if (plot->sets[k].n || plot->sets[k].summary)
			strip_set(g, k, (double)lanes--);
}

/* ---- histogram ---- */

void kab_gnuplot_histogram(struct kab_gnuplot *g)
{
	const struct kab_plot *plot = g->plot;
	size_t sets = 0, at = 0, stride = 1;
	struct kab_bins b;

	if (!kab_bins_make(plot, &b))
		return;
	for (size_t k = 0; k < plot->n_sets; k++)
		sets += plot->sets[k].n > 0;
	kab_buf_addf(
		g->out,
		"set xrange [-0.1:%zu.1]\nset yrange [0:%g]\nset ylabel 'iterations'\nset grid "
		"noxtics ytics\nset xtics (",
		b.n, 1.08 * (double)b.most);
	for (size_t i = 0; i <= b.n; i += stride) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;

		kab_axis_label(&b.axis, b.edges[i], &text);
		kab_buf_adds(g->out, i ? ", " : "");
		kab_gnuplot_quote(g->out, kab_buf_str(&text), 40, true);
		kab_buf_addf(g->out, " %zu", i);
		/* As many labels as stand beside one another. */
		if (!i)
			while ((b.n / stride + 1) * (text.len + 3) > 110)
				stride++;
	}
	kab_buf_adds(g->out, ")\n");
	if (b.most < 8)
		kab_buf_adds(g->out, "set ytics 1\n");
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];
		char *title kab_autofree = kab_gnuplot_title(g, set);
		char *style kab_autofree = NULL;
		double width = 0.9 / (double)sets;
		char lc[32];

		if (!set->n)
			continue;
		colour(set->kernel, lc);
		begin_data(g, "bins", k);
		for (size_t i = 0; i < b.n; i++)
			if (b.count[k * b.n + i])
				kab_buf_addf(g->out, "%.4f %zu\n",
					     (double)i + 0.05 + width * ((double)at + 0.5),
					     b.count[k * b.n + i]);
		end_data(g);
		at++;
		style = kab_xasprintf("using 1:2:(%.4f) with boxes %s fs pattern %d border %s",
				      0.92 * width, lc, kab_gnuplot_pattern(set->kernel), lc);
		add_part(g, "bins", k, style, title);
	}
	kab_bins_release(&b);
}

/* ---- order of the run ---- */

static void order_borders(struct kab_gnuplot *g)
{
	bool *border = kab_xcalloc(g->plot->n_values + 1, sizeof(*border));

	if (kab_plot_borders(g->plot, border) <= BORDERS_MAX)
		for (size_t i = 1; i < g->plot->n_values; i++)
			if (border[i])
				kab_buf_addf(
					g->out,
					"set arrow from %zu.5, graph 0 to %zu.5, graph 1 nohead "
					"back dt 3 lc rgb '#999999'\n",
					i, i);
	free(border);
}

void kab_gnuplot_order(struct kab_gnuplot *g)
{
	const struct kab_plot *plot = g->plot;
	bool crowd = plot->n_values > 200;

	kab_gnuplot_metric_axis(g, 'y');
	kab_buf_addf(g->out, "set xrange [0.3:%zu.7]\nset xtics autofreq\n", plot->n_values);
	kab_gnuplot_below(g, "iteration, in the order of the run",
			  plot->restarts ? "dotted: borders of blocks of restarts; bars: means of "
					   "restarts"
					 : "dotted: borders of boots; bars: means of boots");
	if (plot->n_values <= 20)
		kab_buf_adds(g->out, "set xtics 1\n");
	order_borders(g);
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];
		char *title kab_autofree = kab_gnuplot_title(g, set);
		char *points kab_autofree = NULL, *lines kab_autofree = NULL;
		char lc[32];

		if (!set->n)
			continue;
		colour(set->kernel, lc);
		begin_data(g, "order", k);
		for (size_t i = 0; i < set->n; i++) {
			kab_buf_addf(g->out, "%zu ", set->values[i].place + 1);
			kab_gnuplot_number(g, set->values[i].value);
			kab_buf_addc(g->out, '\n');
		}
		end_data(g);
		begin_data(g, "means", k);
		for (size_t b = 0; b < set->n_boots; b++) {
			const struct kab_plot_boot *boot = &set->boots[b];

			if (!boot->n)
				continue;
			kab_buf_addf(g->out, "%g ", (double)boot->first + 0.65);
			kab_gnuplot_number(g, boot->mean);
			kab_buf_addf(g->out, " %g\n", (double)(boot->last - boot->first) + 0.7);
		}
		end_data(g);
		/* Among very many points only black is seen. */
		lines = kab_xasprintf("using 1:2:3:(0) with vectors nohead lw 2 dt %d %s",
				      kab_gnuplot_dash(set->kernel),
				      crowd ? "lc rgb '#000000'" : lc);
		points = kab_xasprintf("with points pt %d ps %g lw 1.5 %s",
				       kab_gnuplot_point(set->kernel),
				       plot->n_values > 2000 ? 0.25
				       : crowd		     ? 0.5
							     : 0.9,
				       lc);
		if (!crowd)
			add_part(g, "means", k, lines, "notitle");
		add_part(g, "order", k, points, title);
		if (crowd)
			add_part(g, "means", k, lines, "notitle");
	}
}

/* ---- CDF ---- */

void kab_gnuplot_cdf(struct kab_gnuplot *g)
{
	const struct kab_plot *plot = g->plot;
	char *words kab_autofree = kab_plot_metric_words(plot, &g->axis);

	kab_gnuplot_metric_axis(g, 'x');
	kab_gnuplot_below(g, words, "marks: quartiles");
	kab_buf_adds(g->out, "set yrange [0:102]\nset ytics 25\nset grid ytics\n"
			     "set ylabel 'percent of the iterations'\n");
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];
		char *title kab_autofree = kab_gnuplot_title(g, set);
		char *steps kab_autofree = NULL, *points kab_autofree = NULL,
			    *entry kab_autofree = NULL;
		double room = (g->axis.hi - g->axis.lo) / 25;
		char lc[32];

		if (!set->n)
			continue;
		colour(set->kernel, lc);
		begin_data(g, "cdf", k);
		kab_gnuplot_number(g, set->sorted[0]);
		kab_buf_adds(g->out, " 0\n");
		for (size_t i = 0; i < set->n; i++) {
			kab_gnuplot_number(g, set->sorted[i]);
			kab_buf_addf(g->out, " %.5g\n", 100 * (double)(i + 1) / (double)set->n);
		}
		/* All are at most so large, to the end of the picture. */
		kab_gnuplot_number(g, g->axis.log ? g->axis.hi * 1.2 : g->axis.hi + room);
		kab_buf_adds(g->out, " 100\n");
		end_data(g);
		begin_data(g, "quarter", k);
		kab_gnuplot_number(g, set->q1);
		kab_buf_adds(g->out, " 25\n");
		kab_gnuplot_number(g, set->median);
		kab_buf_adds(g->out, " 50\n");
		kab_gnuplot_number(g, set->q3);
		kab_buf_adds(g->out, " 75\n");
		end_data(g);
		steps = kab_xasprintf("with steps lw 2 dt %d %s", kab_gnuplot_dash(set->kernel),
				      lc);
		points = kab_xasprintf("with points pt %d ps 1.2 %s",
				       kab_gnuplot_point(set->kernel), lc);
		entry = kab_xasprintf("keyentry with linespoints lw 2 dt %d pt %d ps 1.2 %s %s",
				      kab_gnuplot_dash(set->kernel), kab_gnuplot_point(set->kernel),
				      lc, title);
		add_part(g, "cdf", k, steps, "notitle");
		add_part(g, "quarter", k, points, "notitle");
		kab_strv_add(&g->parts, entry);
	}
}

/* ---- boots ---- */

void kab_gnuplot_boots(struct kab_gnuplot *g)
{
	const struct kab_plot *plot = g->plot;
	bool crowd = plot->n_values > 500;
	struct kab_buf kab_autobuf names = KAB_BUF_INIT;
	size_t at = 0;

	kab_gnuplot_metric_axis(g, 'y');
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];
		char *title kab_autofree = kab_gnuplot_title(g, set);
		char *points kab_autofree = NULL, *lines kab_autofree = NULL;
		char lc[32];

		if (!set->n)
			continue;
		colour(set->kernel, lc);
		if (at++)
			kab_buf_addf(g->out,
				     "set arrow from %zu, graph 0 to %zu, graph 1 nohead back dt 3 "
				     "lc rgb '#999999'\n",
				     at - 1, at - 1);
		begin_data(g, "dots", k);
		for (size_t i = 0; i < set->n; i++) {
			kab_buf_addf(g->out, "%zu ", at + set->values[i].boot);
			kab_gnuplot_number(g, set->values[i].value);
			kab_buf_addc(g->out, '\n');
		}
		end_data(g);
		begin_data(g, "means", k);
		for (size_t b = 0; b < set->n_boots; b++) {
			if (!set->boots[b].n)
				continue;
			kab_buf_addf(g->out, "%g ", (double)(at + b) - 0.35);
			kab_gnuplot_number(g, set->boots[b].mean);
			kab_buf_adds(g->out, " 0.7\n");
		}
		end_data(g);
		kab_buf_adds(&names, names.len ? ", " : "");
		kab_gnuplot_quote(&names, set->label, plot->n_sets > 5 ? 10 : LABEL_MAX, true);
		kab_buf_addf(&names, " %g", (double)at + ((double)set->n_boots - 1) / 2);
		at += set->n_boots;
		lines = kab_xasprintf("using 1:2:3:(0) with vectors nohead lw 3 %s",
				      crowd ? "lc rgb '#000000'" : lc);
		points = kab_xasprintf("with points pt %d ps %g lw 1.5 %s",
				       kab_gnuplot_point(set->kernel), crowd ? 0.3 : 0.8, lc);
		if (!crowd)
			add_part(g, "means", k, lines, "notitle");
		add_part(g, "dots", k, points, title);
		if (crowd)
			add_part(g, "means", k, lines, "notitle");
	}
	kab_buf_addf(g->out, "set xrange [0.2:%zu.8]\nset xtics (%s) noenhanced scale 0\n",
		     at ? at - 1 : 1, kab_buf_str(&names));
	kab_gnuplot_below(g,
			  plot->restarts ? "a column for each restart" : "a column for each boot",
			  "dots: iterations; bars: means");
}

/* ---- sweep and history ---- */

/* Lines of "x value lo hi"; a blank line, which ends a curve, where a value is missing. */
static void points_data(struct kab_gnuplot *g, size_t k, const double *x)
{
	const struct kab_plot_set *set = &g->plot->sets[k];

	begin_data(g, "points", k);
	for (size_t i = 0; i < set->n_points; i++) {
		const struct kab_plot_point *p = &set->points[i];
		bool interval = isfinite(p->lo) && isfinite(p->hi);

		if (!isfinite(p->value)) {
			kab_buf_addc(g->out, '\n');
			continue;
		}
		add_plain(g, x[i]);
		kab_buf_addc(g->out, ' ');
		kab_gnuplot_number(g, p->value);
		kab_buf_addc(g->out, ' ');
		kab_gnuplot_number(g, interval ? p->lo : p->value);
		kab_buf_addc(g->out, ' ');
		kab_gnuplot_number(g, interval ? p->hi : p->value);
		kab_buf_addc(g->out, '\n');
	}
	end_data(g);
}

static void points_parts(struct kab_gnuplot *g, size_t k)
{
	const struct kab_plot_set *set = &g->plot->sets[k];
	char *title kab_autofree = kab_gnuplot_title(g, set);
	char *lines kab_autofree = NULL, *bars kab_autofree = NULL;
	char lc[32];

	colour(set->kernel, lc);
	bars = kab_xasprintf("using 1:2:3:4 with yerrorbars pt %d ps 1.1 lw 1.5 %s",
			     kab_gnuplot_point(set->kernel), lc);
	lines = kab_xasprintf("using 1:2 with linespoints pt %d ps 1.1 lw 1.5 dt %d %s",
			      kab_gnuplot_point(set->kernel), kab_gnuplot_dash(set->kernel), lc);
	add_part(g, "points", k, bars, "notitle");
	add_part(g, "points", k, lines, title);
}

void kab_gnuplot_sweep(struct kab_gnuplot *g)
{
	const struct kab_plot *plot = g->plot;
	char *name kab_autofree = NULL;
	struct kab_axis x = { 0 };
	double lo, hi;
	size_t shown = 0, ordinal = 0;

	if (!kab_plot_range_x(plot, &lo, &hi))
		return;
	kab_gnuplot_metric_axis(g, 'y');
	x.lo = lo;
	x.hi = hi > lo ? hi : lo + 1;
	/* Doubling parameters (1, 2, 4 ... 64) are spread evenly. */
	x.log = lo > 0 && hi / lo >= 8;
	name = kab_xasprintf("%s%s", plot->x_name,
			     x.log	     ? " (logarithmic)"
			     : plot->x_words ? " (in the order of the suite)"
					     : "");
	kab_gnuplot_below(g, name, "");
	kab_buf_adds(g->out, "set xrange [-0.06:1.06]\nset xtics (");
	for (size_t i = 0; plot->n_sets && i < plot->sets[0].n_points; i++) {
		kab_buf_adds(g->out, i ? ", " : "");
		kab_gnuplot_quote(g->out, plot->sets[0].points[i].text, LABEL_MAX, true);
		kab_buf_addf(g->out, " %.5f", kab_axis_share(&x, plot->sets[0].points[i].x));
	}
	kab_buf_adds(g->out, ") noenhanced\n");
	for (size_t k = 0; k < plot->n_sets; k++)
		shown += !plot->sets[k].unplanned;
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];
		double *at = kab_xcalloc(set->n_points + 1, sizeof(*at));
		/* Beside one another, so that their bars do not hide each other. */
		double shift = 0.008 * ((double)ordinal - ((double)shown - 1) / 2);

		for (size_t i = 0; i < set->n_points; i++)
			at[i] = round(1e5 * (kab_axis_share(&x, set->points[i].x) + shift)) / 1e5;
		if (kab_plot_any_point(set)) {
			points_data(g, k, at);
			points_parts(g, k);
		}
		ordinal += !set->unplanned;
		free(at);
	}
}

/* What has no value lies on the lower edge. */
static void history_marks(struct kab_gnuplot *g, bool failed)
{
	const struct kab_plot *plot = g->plot;
	const char *what = failed ? "failed" : "missing";
	char *style kab_autofree = NULL;
	double lo = g->axis.log ? g->axis.lo : g->axis.lo - (g->axis.hi - g->axis.lo) / 30;
	size_t n = 0;

	begin_data(g, what, 0);
	for (size_t k = 0; k < plot->n_sets; k++) {
		for (size_t i = 0; i < plot->sets[k].n_points; i++) {
			const struct kab_plot_point *p = &plot->sets[k].points[i];

			if (isfinite(p->value) || p->failed != failed)
				continue;
			add_plain(g, p->x);
			kab_buf_addc(g->out, ' ');
			kab_gnuplot_number(g, lo);
			kab_buf_addc(g->out, '\n');
			n++;
		}
	}
	end_data(g);
	if (!n)
		return;
	style = kab_xasprintf("using 1:2 with points pt %d ps 1.2 lw 2 lc rgb '#000000' title '%zu "
			      "%s'",
			      failed ? 2 : 4, n, what);
	add_part(g, what, 0, style, "");
}

void kab_gnuplot_history(struct kab_gnuplot *g)
{
	const struct kab_plot *plot = g->plot;
	double lo, hi, room;

	if (!kab_plot_range_x(plot, &lo, &hi))
		return;
	room = fmax(43200, (hi - lo) / 40);
	kab_gnuplot_metric_axis(g, 'y');
	kab_gnuplot_below(g, "day (UTC)", "");
	kab_buf_addf(g->out,
		     "set xdata time\nset timefmt '%%s'\nset format x '%%Y-%%m-%%d'\nset xrange "
		     "[%.0f:%.0f]\nset xtics autofreq\n",
		     lo - room, hi + room);
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];
		double *at = kab_xcalloc(set->n_points + 1, sizeof(*at));

		for (size_t i = 0; i < set->n_points; i++)
			at[i] = set->points[i].x;
		if (kab_plot_any_point(set)) {
			points_data(g, k, at);
			points_parts(g, k);
		}
		free(at);
	}
	history_marks(g, true);
	history_marks(g, false);
}
