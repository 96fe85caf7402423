/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pictures of a row: its distribution as a strip, and its iterations in the order of the run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/html_internal.h"
#include "reports/html_svg.h"
#include "reports/number.h"

#define STRIP_WIDTH 180
#define STRIP_LANE 14
#define STRIP_LANE_LOW 10 /* where there are more than four kernels */
#define STRIP_PAD 6

#define PLOT_WIDTH 720
#define PLOT_HEIGHT 190
#define PLOT_LEFT 76
#define PLOT_RIGHT 12
#define PLOT_TOP 10
#define PLOT_BOTTOM 34
#define TICKS 4

struct axis {
	double lo, hi;
	int from, to; /* pixels */
};

static int place(const struct axis *a, double value)
{
	double share = a->hi > a->lo ? (value - a->lo) / (a->hi - a->lo) : 0.5;

	return a->from + (int)lround(share * (a->to - a->from));
}

static bool find_range(const struct kab_judged_row *row, struct axis *a)
{
	a->lo = INFINITY;
	a->hi = -INFINITY;
	for (size_t k = 0; k < row->n_sets; k++) {
		if (!row->sets[k].n_values)
			continue;
		a->lo = fmin(a->lo, row->sets[k].min);
		a->hi = fmax(a->hi, row->sets[k].max);
	}
	return a->lo <= a->hi;
}

static const char *unit_of(const struct kab_judged_row *row)
{
	return row->data->unit;
}

static void describe_set(const struct kab_judged_row *row, size_t k, struct kab_buf *buf)
{
	const struct kab_set_summary *set = &row->sets[k];
	const char *word = row->data->restarts ? "restart" : "boot";
	char trouble[64];

	kab_buf_addf(buf, "%s: ", set->data->kernel);
	if (set->summary) {
		kab_buf_addf(buf, "summary of %zu only", set->n_units);
		return;
	}
	if (!set->n_values) {
		kab_set_trouble(set, trouble);
		kab_buf_adds(buf, trouble);
		return;
	}
	kab_buf_addf(buf, "%zu in %zu %s%s, ", set->n_values, set->n_boots, word,
		     set->n_boots == 1 ? "" : "s");
	kab_html_number(buf, set->min);
	kab_buf_adds(buf, " to ");
	kab_html_number(buf, set->max);
	kab_buf_adds(buf, ", median ");
	kab_html_number(buf, set->median);
}

static void describe_row(const struct kab_judged_row *row, struct kab_buf *buf)
{
	for (size_t k = 0; k < row->n_sets; k++) {
		if (k)
			kab_buf_adds(buf, "; ");
		describe_set(row, k, buf);
	}
	if (*unit_of(row))
		kab_buf_addf(buf, " (%s)", unit_of(row));
}

/* Iterations that fall on one pixel are one tick, from y downwards. */
static void strip_ticks(struct kab_buf *out, const struct kab_set_summary *set,
			const struct axis *x, int y, int height)
{
	int last = -1;

	kab_svg_path(out, "i");
	for (size_t i = 0; i < set->n_values; i++) {
		int at = place(x, set->values[i]);

		if (at != last)
			kab_svg_vertical(out, at, y, height);
		last = at;
	}
	kab_svg_path_end(out);
}

static void strip_means(struct kab_buf *out, const struct kab_set_summary *set, size_t k,
			const struct axis *x, int y, int radius)
{
	bool seen[STRIP_WIDTH + 1] = { false };

	kab_svg_marks(out, k, radius);
	for (size_t i = 0; i < set->n_units; i++) {
		int at = place(x, set->units[i]);

		if (at < 0 || at > STRIP_WIDTH || seen[at])
			continue;
		seen[at] = true;
		kab_svg_mark(out, k, at, y, radius);
	}
	kab_svg_path_end(out);
}

void kab_html_strip(struct kab_buf *out, const struct kab_judged_row *row)
{
	struct axis x = { .from = STRIP_PAD, .to = STRIP_WIDTH - STRIP_PAD };
	struct kab_buf kab_autobuf title = KAB_BUF_INIT;
	int lanes = 0, lane, y = 0;

	if (!find_range(row, &x))
		return;
	for (size_t k = 0; k < row->n_sets; k++)
		lanes += row->sets[k].n_values > 0;
	lane = lanes > 4 ? STRIP_LANE_LOW : STRIP_LANE;
	describe_row(row, &title);
	kab_svg_open(out, "strip", STRIP_WIDTH, lane * lanes, kab_buf_str(&title), NULL);
	for (size_t k = 0; k < row->n_sets; k++) {
		const struct kab_set_summary *set = &row->sets[k];
		int radius = lane == STRIP_LANE ? 3 : 2, tick = 2 * radius + 2;

		if (!set->n_values)
			continue;
		kab_svg_kernel(out, k);
		/* Marks above, iterations below; without marks they have the lane. */
		if (set->over_boots)
			strip_means(out, set, k, &x, y + radius + 1, radius);
		else
			tick = 2;
		strip_ticks(out, set, &x, y + tick, lane - 1 - tick);
		kab_svg_kernel_end(out);
		y += lane;
	}
	kab_svg_close(out);
}

void kab_html_symbols(struct kab_buf *out, size_t kernels)
{
	kab_buf_adds(out, "<svg class=symbols aria-hidden=true>");
	for (size_t k = 0; k < kernels; k++) {
		kab_buf_addf(out, "<symbol id=m%zu viewBox=\"0 0 12 12\">", k);
		kab_svg_kernel(out, k);
		kab_svg_marks(out, k, 4);
		kab_svg_mark(out, k, 6, 6, 4);
		kab_svg_path_end(out);
		kab_svg_kernel_end(out);
		kab_buf_adds(out, "</symbol>");
	}
	kab_svg_close(out);
	kab_buf_addc(out, '\n');
}

void kab_html_swatch(struct kab_buf *out, size_t k)
{
	kab_buf_addf(out, "<svg class=swatch aria-hidden=true><use href=#m%zu /></svg>", k);
}

/* ---- order of the run ---- */

struct point {
	int64_t sequence;
	size_t kernel, boot; /* boot: index within its set */
	double value;
};

static int by_sequence(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	if (p->sequence != q->sequence)
		return p->sequence < q->sequence ? -1 : 1;
	return p->kernel < q->kernel ? -1 : p->kernel > q->kernel;
}

/* Caller frees; in the order of execution. */
static struct point *points_of(const struct kab_judged_row *row, size_t *ret_n)
{
	struct point *v;
	size_t n = 0;

	for (size_t k = 0; k < row->n_sets; k++)
		n += row->sets[k].n_values;
	v = kab_xcalloc(n + 1, sizeof(*v));
	n = 0;
	for (size_t k = 0; k < row->n_sets; k++) {
		const struct kab_sample_set *set = row->sets[k].data;

		for (size_t b = 0; b < set->n_boots; b++)
			for (size_t i = 0; i < set->boots[b].n; i++)
				v[n++] = (struct point){ set->boots[b].v[i].sequence, k, b,
							 set->boots[b].v[i].value };
	}
	qsort(v, n, sizeof(*v), by_sequence);
	*ret_n = n;
	return v;
}

/* 1, 2 or 5 times a power of ten, so that about TICKS of them fit. */
static double tick_step(double span)
{
	double raw = span / TICKS, unit = pow(10, floor(log10(raw)));
	double times = raw / unit;

	return unit * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

/* As many digits as tell two ticks apart. */
static void tick_label(struct kab_buf *out, const struct axis *y, double value, double step)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	int places = (int)-floor(log10(step) + 1e-9);

	if (value != 0 && (fabs(value) >= 1e7 || places > 6))
		kab_buf_addf(&text, "%.*g", (int)floor(log10(fabs(value))) + places + 1, value);
	else
		kab_number_fixed(&text, value, places < 0 ? 0 : places, false);
	kab_svg_text(out, PLOT_LEFT - 8, place(y, value) + 4, "end", kab_buf_str(&text));
}

static void frame(struct kab_buf *out, const struct kab_judged_row *row, const struct axis *y)
{
	double step = y->hi > y->lo ? tick_step(y->hi - y->lo) : 0;
	char *label kab_autofree = kab_xasprintf("iterations in recorded order, lines are %smeans",
						 row->data->boots_unknown ? ""
						 : row->data->restarts	  ? "restart "
									  : "boot ");
	struct kab_buf kab_autobuf only = KAB_BUF_INIT;
	long first, last;

	kab_svg_path(out, "a");
	kab_svg_vertical(out, PLOT_LEFT, PLOT_TOP, PLOT_HEIGHT - PLOT_TOP - PLOT_BOTTOM);
	kab_svg_horizontal(out, PLOT_LEFT, PLOT_HEIGHT - PLOT_BOTTOM,
			   PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT);
	kab_svg_path_end(out);
	first = step > 0 ? lround(ceil(y->lo / step - 1e-9)) : 0;
	last = step > 0 ? lround(floor(y->hi / step + 1e-9)) : -1;
	if (last - first > 2 * TICKS)
		last = first - 1;
	kab_svg_path(out, "g");
	for (long i = first; i <= last; i++)
		kab_svg_horizontal(out, PLOT_LEFT, place(y, (double)i * step),
				   PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT);
	kab_svg_path_end(out);
	for (long i = first; i <= last; i++)
		tick_label(out, y, (double)i * step, step);
	if (last < first) {
		kab_html_number(&only, y->lo);
		kab_svg_text(out, PLOT_LEFT - 8, place(y, y->lo) + 4, "end", kab_buf_str(&only));
	}
	kab_svg_text(out, PLOT_LEFT, PLOT_HEIGHT - 8, "start", label);
}

/* A line over the iterations of each boot, at their mean. */
static void boot_lines(struct kab_buf *out, const struct kab_judged_row *row, size_t k,
		       const struct point *v, size_t n, const struct axis *x, const struct axis *y)
{
	const struct kab_set_summary *set = &row->sets[k];
	size_t boots = set->data->n_boots, unit = 0;
	size_t *lo = kab_xcalloc(boots + 1, sizeof(*lo)), *hi = kab_xcalloc(boots + 1, sizeof(*hi));

	for (size_t i = n; i-- > 0;)
		if (v[i].kernel == k)
			lo[v[i].boot] = i;
	for (size_t i = 0; i < n; i++)
		if (v[i].kernel == k)
			hi[v[i].boot] = i;
	kab_svg_path(out, "l");
	for (size_t b = 0; b < boots; b++) {
		int from = place(x, (double)lo[b] - 0.4), to = place(x, (double)hi[b] + 0.4);

		if (!set->data->boots[b].n)
			continue;
		kab_svg_horizontal(out, from,
				   place(y, set->over_boots ? set->units[unit] : set->mean),
				   to - from);
		unit++;
	}
	kab_svg_path_end(out);
	free(lo);
	free(hi);
}

static void dots(struct kab_buf *out, size_t k, const struct point *v, size_t n,
		 const struct axis *x, const struct axis *y)
{
	int last_x = -1, last_y = -1, radius = n > 150 ? 2 : 3;

	kab_svg_marks(out, k, radius);
	for (size_t i = 0; i < n; i++) {
		int px = place(x, (double)i), py = place(y, v[i].value);

		if (v[i].kernel != k || (px == last_x && py == last_y))
			continue;
		kab_svg_mark(out, k, px, py, radius);
		last_x = px;
		last_y = py;
	}
	kab_svg_path_end(out);
}

void kab_html_run_order(struct kab_buf *out, const struct kab_judged_row *row)
{
	struct axis y = { .from = PLOT_HEIGHT - PLOT_BOTTOM - 4, .to = PLOT_TOP + 4 }, x;
	struct kab_buf kab_autobuf desc = KAB_BUF_INIT;
	struct point *v;
	size_t n;

	if (!find_range(row, &y))
		return;
	v = points_of(row, &n);
	x = (struct axis){ -0.5, (double)n - 0.5, PLOT_LEFT + 4, PLOT_WIDTH - PLOT_RIGHT };
	kab_buf_addf(&desc, "%zu iterations, ", n);
	kab_html_number(&desc, y.lo);
	kab_buf_adds(&desc, " to ");
	kab_html_number(&desc, y.hi);
	kab_buf_addf(&desc, " %s", row->data->unit);
	kab_svg_open(out, "plot", PLOT_WIDTH, PLOT_HEIGHT, "Order of the run", kab_buf_str(&desc));
	frame(out, row, &y);
	for (size_t k = 0; k < row->n_sets; k++) {
		if (!row->sets[k].n_values)
			continue;
		kab_svg_kernel(out, k);
		boot_lines(out, row, k, v, n, &x, &y);
		dots(out, k, v, n, &x, &y);
		kab_svg_kernel_end(out);
	}
	kab_svg_close(out);
	free(v);
}
