/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A field of characters with an axis on the left and one below. */
#ifndef KAB_REPORTS_PLOT_CANVAS_H
#define KAB_REPORTS_PLOT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "reports/plot_axis.h"
#include "reports/plot_text.h"

#define KAB_CANVAS_WIDTH 72
#define KAB_CANVAS_HEIGHT 16

struct kab_canvas_cell {
	uint32_t c; /* code point, 0: blank */
	int kernel; /* -1: no colour */
};
struct kab_canvas {
	size_t w, h;
	bool shared; /* a cell has marks of several kernels */
	struct kab_canvas_cell *cells; /* owned; row 0 is the upper one */
};

void kab_canvas_init(struct kab_canvas *canvas, size_t w, size_t h);
void kab_canvas_release(struct kab_canvas *canvas);
/* Draw over what is there. Outside: nothing. */
void kab_canvas_put(struct kab_canvas *canvas, size_t x, size_t y, uint32_t c, int kernel);
/* Only where nothing is. */
void kab_canvas_under(struct kab_canvas *canvas, size_t x, size_t y, uint32_t c, int kernel);
/* The letter of a kernel; over the letter of another one it is '&' (shared). */
void kab_canvas_mark(struct kab_canvas *canvas, size_t x, size_t y, size_t kernel);
/* Row of a value: the lowest one at axis->lo. */
size_t kab_canvas_row(const struct kab_canvas *canvas, const struct kab_axis *y, double value);

/* One character in the colour of a kernel (-1: none); UTF-8. */
void kab_canvas_char(uint32_t c, int kernel, bool colour, struct kab_buf *out);
/* Width of the labels of an axis. */
size_t kab_axis_label_width(const struct kab_axis *axis);

/* A tick of the lower axis: a column and a text. */
struct kab_canvas_tick {
	size_t x;
	char text[24];
};
/* The line of an axis, indented, and its labels below; a label that would run into the one before it
 * is left out. corner: where another axis ends. */
void kab_canvas_axis(const struct kab_canvas_tick *ticks, size_t n, size_t indent, size_t width,
		     bool corner, const struct kab_plot_text_opts *opts, struct kab_buf *out);
/* The ticks of an axis on `width` cells; room for KAB_AXIS_TICKS_MAX. Returns their number. */
size_t kab_canvas_ticks(const struct kab_axis *axis, size_t width, struct kab_canvas_tick *ret);
/* The field with labels of `y` on its left (label_width columns), then the lower axis. */
void kab_canvas_print(const struct kab_canvas *canvas, const struct kab_axis *y,
		      const struct kab_canvas_tick *ticks, size_t n_ticks,
		      const struct kab_plot_text_opts *opts, struct kab_buf *out);

/* A name as it may be printed: control characters escaped, ASCII unless unicode, at most `max`
 * columns (its middle is left out). Caller frees. */
char *kab_plot_name(const char *text, bool unicode, size_t max);

#endif
