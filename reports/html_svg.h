/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small writer of SVG that stands inside an HTML page. Coordinates are pixels, y grows downwards.
 * Colours come from classes: .kN for kernel N, see html_page.css. Nothing is checked: open what is
 * closed.
 */
#ifndef KAB_REPORTS_HTML_SVG_H
#define KAB_REPORTS_HTML_SVG_H

#include <stddef.h>

#include "base/buf.h"

/* How many colours and how many shapes there are; both together tell their product apart. */
#define KAB_SVG_COLOURS 8
#define KAB_SVG_SHAPES 8

/* title: what it is, for those who do not see it; desc: what it shows, or NULL. NULL title: decoration. */
void kab_svg_open(struct kab_buf *out, const char *cls, int width, int height, const char *title,
		  const char *desc);
void kab_svg_close(struct kab_buf *out);
/* A group in the colour of kernel k. */
void kab_svg_kernel(struct kab_buf *out, size_t k);
void kab_svg_kernel_end(struct kab_buf *out);
/* <path class=CLS d="...">: add parts with the functions below, then end. */
void kab_svg_path(struct kab_buf *out, const char *cls);
void kab_svg_path_end(struct kab_buf *out);
/* Parts of a path. */
void kab_svg_vertical(struct kab_buf *out, int x, int y, int height);
void kab_svg_horizontal(struct kab_buf *out, int x, int y, int width);
/* A path of marks of kernel k, in its shape; radius 2 to 4. End it as any other path. */
void kab_svg_marks(struct kab_buf *out, size_t k, int radius);
/* One of them around (x, y). */
void kab_svg_mark(struct kab_buf *out, size_t k, int x, int y, int radius);
/* anchor: "start", "middle", "end". The text is escaped. */
void kab_svg_text(struct kab_buf *out, int x, int y, const char *anchor, const char *text);

#endif
