/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/html_svg.h"

#include "reports/html.h"

void kab_svg_open(struct kab_buf *out, const char *cls, int width, int height, const char *title,
		  const char *desc)
{
	kab_buf_addf(out, "<svg class=%s viewBox=\"0 0 %d %d\" width=%d height=%d ", cls, width,
		     height, width, height);
	if (!title) {
		kab_buf_adds(out, "aria-hidden=true>");
		return;
	}
	kab_buf_adds(out, "role=img><title>");
	kab_html_escape(out, title);
	kab_buf_adds(out, "</title>");
	if (!desc)
		return;
	kab_buf_adds(out, "<desc>");
	kab_html_escape(out, desc);
	kab_buf_adds(out, "</desc>");
}

void kab_svg_close(struct kab_buf *out)
{
	kab_buf_adds(out, "</svg>");
}

void kab_svg_kernel(struct kab_buf *out, size_t k)
{
	kab_buf_addf(out, "<g class=k%zu>", k % KAB_SVG_COLOURS);
}

void kab_svg_kernel_end(struct kab_buf *out)
{
	kab_buf_adds(out, "</g>");
}

void kab_svg_path(struct kab_buf *out, const char *cls)
{
	kab_buf_addf(out, "<path class=%s d=\"", cls);
}

/* In SVG a slash before > is needed: inside HTML it ends the element. */
void kab_svg_path_end(struct kab_buf *out)
{
	kab_buf_adds(out, "\"/>");
}

void kab_svg_vertical(struct kab_buf *out, int x, int y, int height)
{
	kab_buf_addf(out, "M%d %dv%d", x, y, height);
}

void kab_svg_horizontal(struct kab_buf *out, int x, int y, int width)
{
	kab_buf_addf(out, "M%d %dh%d", x, y, width);
}

/* The ninth kernel has the first colour again, and another shape than the first. */
static size_t shape_of(size_t k)
{
	return (k + k / KAB_SVG_COLOURS) % KAB_SVG_SHAPES;
}

void kab_svg_marks(struct kab_buf *out, size_t k, int radius)
{
	/* A line without length and with round ends is a circle, in a quarter of the bytes. */
	if (shape_of(k) == 0)
		kab_buf_addf(out, "<path class=o%d d=\"", radius);
	else
		kab_svg_path(out, "m");
}

void kab_svg_mark(struct kab_buf *out, size_t k, int x, int y, int r)
{
	int d = 2 * r;

	switch (shape_of(k)) {
	case 0: /* circle */
		kab_svg_horizontal(out, x, y, 0);
		break;
	case 1: /* square */
		kab_buf_addf(out, "M%d %dh%dv%dh-%dz", x - r, y - r, d, d, d);
		break;
	case 2: /* triangle */
		kab_buf_addf(out, "M%d %dl%d %dh-%dz", x, y - r, r, d, d);
		break;
	case 3: /* diamond */
		kab_buf_addf(out, "M%d %dl%d %d-%d %d-%d-%dz", x, y - r - 1, r + 1, r + 1, r + 1,
			     r + 1, r + 1, r + 1);
		break;
	case 4: /* triangle upside down */
		kab_buf_addf(out, "M%d %dh%dl-%d %dz", x - r, y - r, d, r, d);
		break;
	case 5: /* plus */
		kab_buf_addf(out, "M%d %dh2v%dh%dv2h-%dv%dh-2v-%dh-%dv-2h%dz", x - 1, y - r - 1, r,
			     r, r, r, r, r, r);
		break;
	case 6: /* hourglass */
		kab_buf_addf(out, "M%d %dh%dl-%d %dh%dz", x - r, y - r, d, d, d, d);
		break;
	default: /* flag */
		kab_buf_addf(out, "M%d %dl%d %d-%d %dz", x - r, y - r, d, r, d, r);
	}
}

void kab_svg_text(struct kab_buf *out, int x, int y, const char *anchor, const char *text)
{
	kab_buf_addf(out, "<text x=%d y=%d text-anchor=%s>", x, y, anchor);
	kab_html_escape(out, text);
	kab_buf_adds(out, "</text>");
}
