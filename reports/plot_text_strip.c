/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distributions: strips, histograms, boots. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/plot_bins.h"
#include "reports/plot_strip.h"
#include "reports/plot_text_internal.h"
#include "reports/renderers.h"
#include "reports/view_internal.h"

#define INDENT 2
#define CELLS (KAB_WIDTH_AIM - INDENT)

/* ---- strip ---- */

static size_t place(const void *axis, double value)
{
	return kab_axis_cell(axis, value, CELLS);
}

/* The same character drawn with lines and blocks. */
static uint32_t fancy(char c)
{
	static const char plain[] = ".:-=+*#%@";
	static const uint32_t blocks[] = { 0x2581, 0x2582, 0x2583, 0x2584, 0x2585,
					   0x2586, 0x2587, 0x2588, 0x2588 };
	const char *at = c ? strchr(plain, c) : NULL;

	return at ? blocks[at - plain] : (unsigned char)c;
}

static uint32_t fancy_box(char c, bool first)
{
	switch (c) {
	case '|':
		return first ? 0x251c : 0x2524;
	case '-':
		return 0x2500;
	case '[':
		return 0x255e;
	case ']':
		return 0x2561;
	case '=':
		return 0x2550;
	default:
		return (unsigned char)c;
	}
}

static void strip_line(struct kab_text_plot *t, const struct kab_plot_set *set, bool lettered,
		       const char *line, bool box)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	bool first = true;
	size_t n = CELLS;

	if (lettered)
		kab_text_plot_letter(t, set, &buf);
	else
		kab_buf_addc(&buf, ' ');
	kab_buf_addc(&buf, ' ');
	while (n && line[n - 1] == ' ')
		n--;
	for (size_t i = 0; i < n; i++) {
		uint32_t c = (unsigned char)line[i];

		if (t->opts->unicode)
			c = box ? fancy_box(line[i], first) : fancy(line[i]);
		if (line[i] == '|')
			first = false;
		kab_canvas_char(c, (int)set->kernel, t->opts->colour, &buf);
	}
	kab_render_eol(&buf, t->out);
}

/* Means of the boots, and the interval of the mean; what lies beyond the axis ends at its edge. */
static void boots_line(struct kab_text_plot *t, const struct kab_plot_set *set, char *line)
{
	size_t count[CELLS] = { 0 };

	if (isfinite(set->lo) && isfinite(set->hi)) {
		line[place(&t->axis, set->lo)] = set->lo < t->axis.lo ? '<' : '(';
		line[place(&t->axis, set->hi)] = set->hi > t->axis.hi ? '>' : ')';
	}
	for (size_t b = 0; b < set->n_boots; b++)
		if (set->boots[b].n)
			count[place(&t->axis, set->boots[b].mean)]++;
	for (size_t i = 0; i < CELLS; i++)
		if (count[i])
			line[i] = count[i] == 1	  ? 'o'
				  : count[i] < 10 ? (char)('0' + count[i])
						  : '@';
}

static void axis_below(struct kab_text_plot *t, const struct kab_axis *axis, size_t indent,
		       size_t width)
{
	struct kab_canvas_tick ticks[KAB_AXIS_TICKS_MAX];
	size_t n = kab_canvas_ticks(axis, width, ticks);

	kab_canvas_axis(ticks, n, indent, width, false, t->opts, t->out);
}

void kab_text_plot_strip(struct kab_text_plot *t)
{
	const struct kab_plot *plot = t->plot;
	bool boots = false, boxes = false, summaries = false;
	struct kab_buf kab_autobuf note = KAB_BUF_INIT;

	kab_axis_make(t->axis.lo, t->axis.hi, plot->unit, 8, &t->axis);
	for (size_t k = 0; k < plot->n_sets; k++) {
		const struct kab_plot_set *set = &plot->sets[k];
		const double five[] = { set->min, set->q1, set->median, set->q3, set->max };
		bool several = false;
		char line[CELLS];

		if (!set->n && !set->summary)
			continue;
		memset(line, ' ', sizeof(line));
		if (set->n) {
			kab_strip_density(&t->axis, place, set->sorted, set->n, CELLS, line);
			strip_line(t, set, true, line, false);
			memset(line, ' ', sizeof(line));
			kab_strip_box(&t->axis, place, five, set->mean, line);
			strip_line(t, set, false, line, true);
			boxes = true;
			several = kab_plot_boots(set) > 1;
			memset(line, ' ', sizeof(line));
		}
		summaries |= set->summary;
		boots |= several;
		if (several || set->summary) {
			boots_line(t, set, line);
			if (set->summary)
				line[place(&t->axis, set->mean)] = 'A';
			strip_line(t, set, set->summary, line, true);
		}
	}
	axis_below(t, &t->axis, INDENT, CELLS);
	kab_buf_addc(t->out, '\n');
	if (boxes)
		kab_buf_adds(&note, "|--[==M==]--| from the smallest over the middle half to the "
				    "largest; M median, A mean (over M)");
	if (summaries && !boxes)
		kab_buf_adds(&note, "A mean");
	if (boots)
		kab_buf_addf(&note, "%so mean of a %s, 2 of two", note.len ? "; " : "",
			     plot->restarts ? "restart" : "boot");
	if (boots || summaries)
		kab_buf_addf(&note, "; (--) %g %% interval of the mean", 100 * plot->confidence);
	kab_text_plot_say(t, kab_buf_str(&note));
}

/* ---- histogram ---- */

/* "1.20 .. 1.22" */
static char *class_name(const struct kab_bins *b, size_t bin, size_t width)
{
	struct kab_buf kab_autobuf lo = KAB_BUF_INIT, hi = KAB_BUF_INIT;

	kab_axis_label(&b->axis, b->edges[bin], &lo);
	kab_axis_label(&b->axis, b->edges[bin + 1], &hi);
	return kab_xasprintf("%*s .. %*s", (int)width, kab_buf_str(&lo), (int)width,
			     kab_buf_str(&hi));
}

static size_t edge_width(const struct kab_bins *b)
{
	size_t width = 0;

	for (size_t i = 0; i <= b->n; i++) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;

		kab_axis_label(&b->axis, b->edges[i], &text);
		width = text.len > width ? text.len : width;
	}
	return width;
}

/* A bar of count/most of the width, then the count; returns the columns used. */
static size_t bar(struct kab_text_plot *t, const struct kab_plot_set *set, size_t count,
		  size_t most, size_t width, struct kab_buf *out)
{
	size_t eighths = t->opts->unicode ? (8 * width * count + most - 1) / most
					  : 8 * ((width * count + most - 1) / most);
	size_t used = eighths / 8;
	char text[24];

	for (size_t i = 0; i < eighths / 8; i++)
		kab_canvas_char(t->opts->unicode ? 0x2588
						 : (unsigned char)kab_plot_letter(set->kernel),
				(int)set->kernel, t->opts->colour, out);
	if (eighths % 8) {
		kab_canvas_char(0x2590 - (uint32_t)(eighths % 8), (int)set->kernel, t->opts->colour,
				out);
		used++;
	}
	if (!count)
		return used;
	snprintf(text, sizeof(text), " %zu", count);
	kab_buf_adds(out, text);
	return used + strlen(text);
}

static void histogram_rows(struct kab_text_plot *t, const struct kab_bins *b, const size_t *sets,
			   size_t n)
{
	size_t edge = edge_width(b), left = 2 * edge + 6;
	size_t column = (KAB_WIDTH_AIM - left) / n, width = column - 6;
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	kab_buf_fill(&line, ' ', left);
	for (size_t i = 0; i < n; i++) {
		const struct kab_plot_set *set = &t->plot->sets[sets[i]];
		char *label kab_autofree = kab_plot_name(set->label, t->opts->unicode, column - 4);

		kab_text_plot_letter(t, set, &line);
		kab_buf_addf(&line, " %s", label);
		if (i + 1 < n)
			kab_buf_fill(&line, ' ', column - 2 - kab_text_width(label));
	}
	kab_render_eol(&line, t->out);
	for (size_t r = 0; r < b->n; r++) {
		char *name kab_autofree = class_name(b, r, edge);

		kab_buf_addf(&line, "%s  ", name);
		for (size_t i = 0; i < n; i++) {
			size_t used = bar(t, &t->plot->sets[sets[i]], b->count[sets[i] * b->n + r],
					  b->most, width, &line);

			if (i + 1 < n)
				kab_buf_fill(&line, ' ', column - used);
		}
		kab_render_eol(&line, t->out);
	}
}

void kab_text_plot_histogram(struct kab_text_plot *t)
{
	size_t *sets = kab_xcalloc(t->plot->n_sets + 1, sizeof(*sets)), n = 0, beside;
	struct kab_bins b;

	if (!kab_bins_make(t->plot, &b)) {
		kab_text_plot_say(t, "Nothing to draw: there are no single values.");
		free(sets);
		return;
	}
	for (size_t k = 0; k < t->plot->n_sets; k++)
		if (t->plot->sets[k].n)
			sets[n++] = k;
	/* As many as leave each enough room for bars to be compared. */
	beside = (KAB_WIDTH_AIM - 2 * edge_width(&b) - 6) / 18;
	beside = beside > n ? n : beside ? beside : 1;
	for (size_t i = 0; i < n; i += beside) {
		if (i)
			kab_buf_addc(t->out, '\n');
		histogram_rows(t, &b, sets + i, n - i < beside ? n - i : beside);
	}
	kab_buf_addc(t->out, '\n');
	kab_text_plot_say(t, "A value on the border of two classes is in the upper one.");
	kab_bins_release(&b);
	free(sets);
}

/* ---- boots ---- */

#define BOOT_INDENT 6
#define BOOT_CELLS (KAB_WIDTH_AIM - BOOT_INDENT)

static size_t boot_place(const void *axis, double value)
{
	return kab_axis_cell(axis, value, BOOT_CELLS);
}

static void boot_line(struct kab_text_plot *t, const struct kab_plot_set *set, size_t b)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	double *values = kab_xcalloc(set->n + 1, sizeof(*values));
	char line[BOOT_CELLS];
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		if (set->values[i].boot == b)
			values[n++] = set->values[i].value;
	memset(line, ' ', sizeof(line));
	kab_strip_density(&t->axis, boot_place, values, n, BOOT_CELLS, line);
	if (n > 1)
		line[boot_place(&t->axis, set->boots[b].mean)] = 'A';
	kab_text_plot_letter(t, set, &buf);
	kab_buf_addf(&buf, "%4zu ", b + 1);
	if (!n)
		kab_buf_adds(&buf, "no value");
	for (size_t i = 0; n && i < BOOT_CELLS; i++) {
		uint32_t c = t->opts->unicode && line[i] != 'A' ? fancy(line[i])
								: (unsigned char)line[i];

		kab_canvas_char(c, (int)set->kernel, t->opts->colour, &buf);
	}
	kab_render_eol(&buf, t->out);
	free(values);
}

void kab_text_plot_boots(struct kab_text_plot *t)
{
	size_t n = 0;

	if (!t->plot->n_values) {
		kab_text_plot_say(t, "Nothing to draw: there are no single values.");
		return;
	}
	kab_axis_make(t->axis.lo, t->axis.hi, t->plot->unit, 8, &t->axis);
	for (size_t k = 0; k < t->plot->n_sets; k++) {
		const struct kab_plot_set *set = &t->plot->sets[k];

		if (!set->n)
			continue;
		if (n++)
			kab_buf_addc(t->out, '\n');
		for (size_t b = 0; b < set->n_boots; b++)
			boot_line(t, set, b);
	}
	axis_below(t, &t->axis, BOOT_INDENT, BOOT_CELLS);
	kab_buf_addc(t->out, '\n');
	kab_text_plot_say(t, t->plot->restarts ? "The number is that of the restart; A is its mean."
					       : "The number is that of the boot; A is its mean.");
}
