/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures with two axes: order of the run, CDF, sweep, history. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "reports/plot_text_internal.h"
#include "reports/view_internal.h"

static void begin(const struct kab_axis *y, struct kab_canvas *c)
{
	kab_canvas_init(c, KAB_CANVAS_WIDTH - kab_axis_label_width(y) - 2, KAB_CANVAS_HEIGHT);
}

static void end(struct kab_text_plot *t, struct kab_canvas *c, const char *note)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	kab_buf_adds(&buf, note);
	if (c->shared)
		kab_buf_addf(&buf, "%s& several kernels at one place", buf.len ? "; " : "");
	if (buf.len) {
		kab_buf_addc(t->out, '\n');
		kab_text_plot_say(t, kab_buf_str(&buf));
	}
	kab_canvas_release(c);
}

/* ---- order of the run ---- */

static size_t order_ticks(const struct kab_plot *plot, const struct kab_axis *x, size_t width,
			  struct kab_canvas_tick *ret)
{
	struct kab_axis numbers;
	size_t n = 0;

	kab_axis_make_linear(1, fmax(2, (double)plot->n_values), "", 8, &numbers);
	for (size_t i = 0; i < numbers.n_ticks; i++) {
		double number = numbers.ticks[i];

		if (number != floor(number) || number < 1 || number > (double)plot->n_values)
			continue;
		ret[n].x = kab_axis_cell(x, number, width);
		snprintf(ret[n++].text, sizeof(ret[0].text), "%.0f", number);
	}
	return n;
}

static void order_marks(struct kab_text_plot *t, const struct kab_axis *x, struct kab_canvas *c)
{
	/* By place, so that of two values in one cell the later one is seen. */
	const struct kab_plot *plot = t->plot;
	struct {
		double value;
		size_t kernel;
	} *all = kab_xcalloc(plot->n_values + 1, sizeof(*all));

	for (size_t k = 0; k < plot->n_sets; k++) {
		for (size_t i = 0; i < plot->sets[k].n; i++) {
			const struct kab_plot_value *v = &plot->sets[k].values[i];

			all[v->place].value = v->value;
			all[v->place].kernel = plot->sets[k].kernel;
		}
	}
	for (size_t i = 0; i < plot->n_values; i++)
		kab_canvas_mark(c, kab_axis_cell(x, (double)i + 1, c->w),
				kab_canvas_row(c, &t->axis, all[i].value), all[i].kernel);
	free(all);
}

void kab_text_plot_order(struct kab_text_plot *t)
{
	const struct kab_plot *plot = t->plot;
	struct kab_canvas_tick ticks[KAB_AXIS_TICKS_MAX];
	struct kab_axis x;
	struct kab_canvas c;
	size_t n_ticks, borders;
	bool *border;

	if (!plot->n_values) {
		kab_text_plot_say(t, "Nothing to draw: there are no single values.");
		return;
	}
	begin(&t->axis, &c);
	kab_axis_make_linear(0.5, (double)plot->n_values + 0.5, "", 8, &x);
	border = kab_xcalloc(plot->n_values + 1, sizeof(*border));
	borders = kab_plot_borders(plot, border);
	for (size_t i = 1; i < plot->n_values && borders <= c.w / 3; i++)
		for (size_t r = 0; border[i] && r < c.h; r++)
			kab_canvas_under(&c, kab_axis_cell(&x, (double)i + 0.5, c.w), r,
					 t->opts->unicode ? 0x250a : ':', -1);
	order_marks(t, &x, &c);
	n_ticks = order_ticks(plot, &x, c.w, ticks);
	kab_canvas_print(&c, &t->axis, ticks, n_ticks, t->opts, t->out);
	end(t, &c,
	    !borders		? "the lower axis is the number of the iteration"
	    : borders > c.w / 3 ? "the borders of boots are too many to be drawn"
	    : plot->restarts	? "':' is the border of two blocks of restarts"
				: "':' is the border of two boots");
	free(border);
}

/* ---- CDF ---- */

/* Share of the sorted values that are at most x. */
static double share_below(const struct kab_plot_set *set, double x)
{
	size_t lo = 0, hi = set->n;

	while (lo < hi) {
		size_t middle = (lo + hi) / 2;

		if (set->sorted[middle] <= x)
			lo = middle + 1;
		else
			hi = middle;
	}
	return (double)lo / (double)set->n;
}

/* The value at the right edge of column i of n. */
static double column_value(const struct kab_axis *x, size_t i, size_t n)
{
	double share = (double)(i + 1) / (double)n;

	if (i + 1 == n)
		return x->hi;
	return x->log ? x->lo * pow(x->hi / x->lo, share) : x->lo + share * (x->hi - x->lo);
}

/* Dots of braille: two columns and four rows in each cell, bits in the order of the code. */
static void braille_curve(struct kab_canvas *c, const struct kab_plot_set *set,
			  const struct kab_axis *x)
{
	static const unsigned bits[4][2] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
	};
	size_t w = 2 * c->w, h = 4 * c->h;

	for (size_t i = 0; i < w; i++) {
		double share = share_below(set, column_value(x, i, w));
		size_t y = h - 1 - (size_t)fmin((double)h - 1, floor(share * (double)h));
		struct kab_canvas_cell *cell = &c->cells[y / 4 * c->w + i / 2];

		if (share <= 0)
			continue;
		if (cell->c < 0x2800 || cell->c > 0x28ff)
			*cell = (struct kab_canvas_cell){ 0x2800, (int)set->kernel };
		cell->c |= bits[y % 4][i % 2];
	}
}

/* The letters at the quartiles say which curve it is. */
static void name_curve(struct kab_canvas *c, const struct kab_plot_set *set,
		       const struct kab_axis *x, const struct kab_axis *y)
{
	const double at[] = { 25, 50, 75 };

	for (size_t q = 0; q < KAB_ARRAY_SIZE(at); q++) {
		size_t column = 0;

		while (column + 1 < c->w &&
		       100 * share_below(set, column_value(x, column, c->w)) < at[q])
			column++;
		kab_canvas_mark(
			c, column,
			kab_canvas_row(c, y, 100 * share_below(set, column_value(x, column, c->w))),
			set->kernel);
	}
}

void kab_text_plot_cdf(struct kab_text_plot *t)
{
	struct kab_canvas_tick ticks[KAB_AXIS_TICKS_MAX];
	struct kab_axis y, *x = &t->axis;
	struct kab_canvas c;
	size_t n_ticks;

	if (!t->plot->n_values) {
		kab_text_plot_say(t, "Nothing to draw: there are no single values.");
		return;
	}
	kab_axis_make_linear(0, 100, "%", 6, &y);
	begin(&y, &c);
	kab_axis_make(x->lo, x->hi, t->plot->unit, 8, x);
	for (size_t k = 0; k < t->plot->n_sets; k++) {
		const struct kab_plot_set *set = &t->plot->sets[k];

		if (!set->n)
			continue;
		if (t->opts->unicode) {
			braille_curve(&c, set, x);
			continue;
		}
		for (size_t i = 0; i < c.w; i++) {
			double share = share_below(set, column_value(x, i, c.w));

			if (share > 0)
				kab_canvas_mark(&c, i, kab_canvas_row(&c, &y, 100 * share),
						set->kernel);
		}
	}
	for (size_t k = 0; t->opts->unicode && k < t->plot->n_sets; k++)
		if (t->plot->sets[k].n)
			name_curve(&c, &t->plot->sets[k], x, &y);
	n_ticks = kab_canvas_ticks(x, c.w, ticks);
	kab_canvas_print(&c, &y, ticks, n_ticks, t->opts, t->out);
	end(t, &c,
	    t->opts->unicode ? "letters stand at 25, 50 and 75 percent"
			     : "the left axis is in percent of the iterations");
}

/* ---- sweep ---- */

static void draw_interval(struct kab_text_plot *t, struct kab_canvas *c,
			  const struct kab_plot_point *p, size_t column, size_t kernel)
{
	size_t top, bottom;

	if (!isfinite(p->lo) || !isfinite(p->hi))
		return;
	top = kab_canvas_row(c, &t->axis, p->hi);
	bottom = kab_canvas_row(c, &t->axis, p->lo);
	for (size_t r = top; r <= bottom; r++)
		kab_canvas_under(c, column, r, t->opts->unicode ? 0x2502 : '|', (int)kernel);
}

void kab_text_plot_sweep(struct kab_text_plot *t)
{
	const struct kab_plot *plot = t->plot;
	struct kab_canvas_tick ticks[64];
	size_t n_ticks = 0, margin, sets = 0, ordinal = 0;
	struct kab_axis x = { 0 };
	struct kab_canvas c;
	char *note kab_autofree = NULL, *name kab_autofree = NULL;
	double lo, hi;

	kab_plot_range_x(plot, &lo, &hi);
	begin(&t->axis, &c);
	for (size_t k = 0; k < plot->n_sets; k++)
		sets += !plot->sets[k].unplanned;
	/* Kernels stand beside one another around the value that they share. */
	margin = sets < 16 ? sets : 16;
	x.lo = lo;
	x.hi = hi > lo ? hi : lo + 1;
	/* Doubling parameters (1, 2, 4 ... 64) are spread evenly. */
	x.log = lo > 0 && hi / lo >= 8;
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];

		for (size_t i = 0; i < set->n_points; i++) {
			const struct kab_plot_point *p = &set->points[i];
			double share = hi > lo ? kab_axis_share(&x, p->x) : 0.5;
			size_t at = margin + (size_t)lround(share * (double)(c.w - 1 - 2 * margin));
			size_t right = at + 2 * (ordinal % 16) + 1;
			size_t column = right > margin ? right - margin : 0;

			if (k == 0 && n_ticks < KAB_ARRAY_SIZE(ticks)) {
				char *text kab_autofree = kab_plot_name(p->text, false, 12);

				ticks[n_ticks].x = at;
				snprintf(ticks[n_ticks++].text, sizeof(ticks[0].text), "%s", text);
			}
			if (!isfinite(p->value))
				continue;
			draw_interval(t, &c, p, column, set->kernel);
			kab_canvas_mark(&c, column, kab_canvas_row(&c, &t->axis, p->value),
					set->kernel);
		}
		ordinal += !set->unplanned;
	}
	kab_canvas_print(&c, &t->axis, ticks, n_ticks, t->opts, t->out);
	name = kab_plot_name(plot->x_name, t->opts->unicode, 40);
	note = kab_xasprintf("the lower axis is %s%s; '|' is the interval of a mean", name,
			     x.log	     ? ", logarithmic"
			     : plot->x_words ? ", in the order of the suite"
					     : "");
	end(t, &c, note);
}

/* ---- history ---- */

static void day(double time_s, char text[24])
{
	time_t when = (time_t)time_s;
	struct tm tm;

	if (!gmtime_r(&when, &tm) || !strftime(text, 24, "%Y-%m-%d", &tm))
		snprintf(text, 24, "?");
}

void kab_text_plot_history(struct kab_text_plot *t)
{
	const struct kab_plot *plot = t->plot;
	struct kab_canvas_tick ticks[5];
	struct kab_axis x = { 0 };
	struct kab_canvas c;
	bool failed = false, missing = false;
	double lo, hi;
	size_t n_ticks;

	kab_plot_range_x(plot, &lo, &hi);
	x.lo = lo;
	x.hi = hi > lo ? hi : lo + 1;
	begin(&t->axis, &c);
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];

		for (size_t i = 0; i < set->n_points; i++) {
			const struct kab_plot_point *p = &set->points[i];
			size_t column = hi > lo ? kab_axis_cell(&x, p->x, c.w) : c.w / 2;

			if (isfinite(p->value)) {
				draw_interval(t, &c, p, column, set->kernel);
				kab_canvas_mark(&c, column, kab_canvas_row(&c, &t->axis, p->value),
						set->kernel);
				continue;
			}
			failed |= p->failed;
			missing |= !p->failed;
			kab_canvas_under(&c, column, c.h - 1, p->failed ? '!' : '_', -1);
		}
	}
	n_ticks = hi > lo ? 4 : 1;
	for (size_t i = 0; i < n_ticks; i++) {
		double at = lo + (hi - lo) * (double)i / 3;

		ticks[i].x = hi > lo ? kab_axis_cell(&x, at, c.w) : c.w / 2;
		day(at, ticks[i].text);
	}
	kab_canvas_print(&c, &t->axis, ticks, n_ticks, t->opts, t->out);
	end(t, &c,
	    failed && missing ? "! failed, _ missing"
	    : failed	      ? "! failed"
	    : missing	      ? "_ missing"
			      : "");
}

/* ---- sparkline ---- */

void kab_plot_sparkline(const double *v, const bool *failed, size_t n, size_t width, bool unicode,
			struct kab_buf *out)
{
	static const char levels[] = "_.-~^";
	size_t cells = n < width ? n : width;
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		lo = fmin(lo, v[i]);
		hi = fmax(hi, v[i]);
	}
	for (size_t i = 0; i < cells; i++) {
		size_t from = i * n / cells, to = (i + 1) * n / cells, there = 0, steps;
		bool bad = false;
		double sum = 0, share;

		for (size_t k = from; k < to; k++) {
			bad |= failed && failed[k];
			if (!isfinite(v[k]))
				continue;
			sum += v[k];
			there++;
		}
		if (!there) {
			kab_buf_addc(out, bad ? '!' : ' ');
			continue;
		}
		steps = unicode ? 8 : sizeof(levels) - 1;
		share = hi > lo ? (sum / (double)there - lo) / (hi - lo) : 0.5;
		share = fmin((double)steps - 1, floor(share * (double)steps));
		if (unicode)
			kab_canvas_char(0x2581 + (uint32_t)share, -1, false, out);
		else
			kab_buf_addc(out, levels[(size_t)share]);
	}
}
