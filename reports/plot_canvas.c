/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/plot_canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "reports/renderers.h"
#include "reports/table.h"

void kab_canvas_init(struct kab_canvas *canvas, size_t w, size_t h)
{
	*canvas = (struct kab_canvas){ .w = w, .h = h };
	canvas->cells = kab_xcalloc(w * h + 1, sizeof(*canvas->cells));
}

void kab_canvas_release(struct kab_canvas *canvas)
{
	free(canvas->cells);
	canvas->cells = NULL;
}

static struct kab_canvas_cell *cell_at(struct kab_canvas *canvas, size_t x, size_t y)
{
	return x < canvas->w && y < canvas->h ? &canvas->cells[y * canvas->w + x] : NULL;
}

void kab_canvas_put(struct kab_canvas *canvas, size_t x, size_t y, uint32_t c, int kernel)
{
	struct kab_canvas_cell *cell = cell_at(canvas, x, y);

	if (cell)
		*cell = (struct kab_canvas_cell){ c, kernel };
}

void kab_canvas_under(struct kab_canvas *canvas, size_t x, size_t y, uint32_t c, int kernel)
{
	struct kab_canvas_cell *cell = cell_at(canvas, x, y);

	if (cell && !cell->c)
		*cell = (struct kab_canvas_cell){ c, kernel };
}

void kab_canvas_mark(struct kab_canvas *canvas, size_t x, size_t y, size_t kernel)
{
	struct kab_canvas_cell *cell = cell_at(canvas, x, y);
	uint32_t letter = (unsigned char)kab_plot_letter(kernel);

	if (!cell)
		return;
	if (cell->c == '&' || (cell->kernel >= 0 && cell->c && cell->kernel != (int)kernel &&
			       cell->c == (unsigned char)kab_plot_letter((size_t)cell->kernel))) {
		*cell = (struct kab_canvas_cell){ '&', -1 };
		canvas->shared = true;
		return;
	}
	*cell = (struct kab_canvas_cell){ letter, (int)kernel };
}

size_t kab_canvas_row(const struct kab_canvas *canvas, const struct kab_axis *y, double value)
{
	return canvas->h - 1 - kab_axis_cell(y, value, canvas->h);
}

static void add_utf8(uint32_t c, struct kab_buf *out)
{
	if (c < 0x80) {
		kab_buf_addc(out, (char)c);
	} else if (c < 0x800) {
		kab_buf_addc(out, (char)(0xc0 | c >> 6));
		kab_buf_addc(out, (char)(0x80 | (c & 0x3f)));
	} else {
		kab_buf_addc(out, (char)(0xe0 | c >> 12));
		kab_buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		kab_buf_addc(out, (char)(0x80 | (c & 0x3f)));
	}
}

void kab_canvas_char(uint32_t c, int kernel, bool colour, struct kab_buf *out)
{
	/* The nearest of the 256 to kab_plot_colour(), lighter where that is dark: terminals may be. */
	static const int codes[KAB_PLOT_COLOURS] = { 32, 166, 36, 175, 178, 74, 250, 242 };

	if (!colour || kernel < 0 || c == ' ') {
		add_utf8(c, out);
		return;
	}
	kab_buf_addf(out, "\033[38;5;%dm", codes[(size_t)kernel % KAB_PLOT_COLOURS]);
	add_utf8(c, out);
	kab_buf_adds(out, "\033[0m");
}

size_t kab_axis_label_width(const struct kab_axis *axis)
{
	size_t width = 0;

	for (size_t i = 0; i < axis->n_ticks; i++) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;

		kab_axis_label(axis, axis->ticks[i], &text);
		width = text.len > width ? text.len : width;
	}
	return width;
}

size_t kab_canvas_ticks(const struct kab_axis *axis, size_t width, struct kab_canvas_tick *ret)
{
	for (size_t i = 0; i < axis->n_ticks; i++) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;

		kab_axis_label(axis, axis->ticks[i], &text);
		ret[i].x = kab_axis_cell(axis, axis->ticks[i], width);
		snprintf(ret[i].text, sizeof(ret[i].text), "%s", kab_buf_str(&text));
	}
	return axis->n_ticks;
}

/* Label i begins here: below its tick, but within the line. */
static size_t label_start(const struct kab_canvas_tick *tick, size_t indent, size_t limit)
{
	size_t n = strlen(tick->text), middle = indent + tick->x;
	size_t start = middle > n / 2 ? middle - n / 2 : 0;

	return start + n > limit && limit >= n ? limit - n : start;
}

void kab_canvas_axis(const struct kab_canvas_tick *ticks, size_t n, size_t indent, size_t width,
		     bool corner, const struct kab_plot_text_opts *opts, struct kab_buf *out)
{
	struct kab_buf kab_autobuf labels = KAB_BUF_INIT;

	for (size_t x = 0; x < indent; x++)
		kab_buf_addc(out, corner && x + 1 == indent ? '+' : ' ');
	for (size_t x = 0; x < width; x++) {
		bool tick = false;

		for (size_t i = 0; i < n; i++)
			tick |= ticks[i].x == x;
		kab_canvas_char(opts->unicode ? (tick ? 0x252c : 0x2500) : (tick ? '+' : '-'), -1,
				false, out);
	}
	kab_buf_addc(out, '\n');
	for (size_t i = 0; i < n; i++) {
		size_t start = label_start(&ticks[i], indent, indent + width);

		if (labels.len && start < labels.len + 2)
			continue;
		kab_buf_fill(&labels, ' ', start - labels.len);
		kab_buf_adds(&labels, ticks[i].text);
	}
	kab_render_eol(&labels, out);
}

void kab_canvas_print(const struct kab_canvas *canvas, const struct kab_axis *y,
		      const struct kab_canvas_tick *ticks, size_t n_ticks,
		      const struct kab_plot_text_opts *opts, struct kab_buf *out)
{
	size_t label_width = kab_axis_label_width(y), above = (size_t)-1;

	for (size_t r = 0; r < canvas->h; r++) {
		struct kab_buf kab_autobuf line = KAB_BUF_INIT, label = KAB_BUF_INIT;
		bool tick = false;

		/* The upper of two ticks that fall on one row; its label would hide the other's. */
		for (size_t i = y->n_ticks; i-- > 0;) {
			if (kab_canvas_row(canvas, y, y->ticks[i]) != r || above == r)
				continue;
			kab_axis_label(y, y->ticks[i], &label);
			above = r;
			tick = true;
		}
		kab_buf_addf(&line, "%*s ", (int)label_width, kab_buf_str(&label));
		kab_canvas_char(opts->unicode ? (tick ? 0x2524 : 0x2502) : (tick ? '+' : '|'), -1,
				false, &line);
		for (size_t x = 0; x < canvas->w; x++) {
			const struct kab_canvas_cell *cell = &canvas->cells[r * canvas->w + x];

			kab_canvas_char(cell->c ? cell->c : ' ', cell->kernel, opts->colour, &line);
		}
		kab_render_eol(&line, out);
	}
	kab_canvas_axis(ticks, n_ticks, label_width + 2, canvas->w, true, opts, out);
}

/* ---- names ---- */

static void to_ascii(struct kab_buf *text)
{
	size_t k = 0;

	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->data[i];

		/* One ? for each character: what follows its first byte goes. */
		if ((c & 0xc0) != 0x80)
			text->data[k++] = c < 0x80 ? (char)c : '?';
	}
	text->len = k;
	if (text->data)
		text->data[k] = '\0';
}

/* Bytes of the first n characters. */
static size_t bytes_of(const char *text, size_t n)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && n-- == 0)
			break;
	return i;
}

char *kab_plot_name(const char *text, bool unicode, size_t max)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	struct kab_buf ret = KAB_BUF_INIT;
	size_t n, front;

	kab_text_escape(&buf, text, strlen(text));
	for (size_t i = 0; i < buf.len; i++)
		if (buf.data[i] == '\n' || buf.data[i] == '\t')
			buf.data[i] = ' ';
	if (!unicode)
		to_ascii(&buf);
	n = kab_text_width(kab_buf_str(&buf));
	if (n <= max || max < 8) {
		kab_buf_add(&ret, kab_buf_str(&buf), bytes_of(kab_buf_str(&buf), max));
		return ret.data ? kab_buf_detach(&ret) : kab_xstrdup("");
	}
	front = (max - 3) / 2;
	kab_buf_add(&ret, buf.data, bytes_of(buf.data, front));
	kab_buf_adds(&ret, "...");
	kab_buf_adds(&ret, buf.data + bytes_of(buf.data, n - (max - 3 - front)));
	return kab_buf_detach(&ret);
}
