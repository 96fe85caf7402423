/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "reports/number.h"
#include "reports/renderers.h"

void kab_render_lines(const struct kab_strv *lines, struct kab_buf *out)
{
	for (size_t i = 0; i < lines->n; i++) {
		kab_buf_adds(out, lines->v[i]);
		kab_buf_addc(out, '\n');
	}
}

void kab_render_head(const struct kab_table *t, struct kab_buf *out)
{
	if (!t->title && !t->legend.n)
		return;
	if (t->title)
		kab_buf_addf(out, "%s\n", t->title);
	kab_render_lines(&t->legend, out);
	kab_buf_addc(out, '\n');
}

void kab_render_notes(const struct kab_table *t, struct kab_buf *out)
{
	if (t->notes.n)
		kab_buf_addc(out, '\n');
	kab_render_lines(&t->notes, out);
}

void kab_render_eol(struct kab_buf *line, struct kab_buf *out)
{
	kab_buf_rtrim(line, " \t");
	kab_buf_adds(out, kab_buf_str(line));
	kab_buf_addc(out, '\n');
	kab_buf_clear(line);
}

void kab_render_number(struct kab_buf *buf, const struct kab_cell *cell, int width, int decimals,
		       bool plus, bool exact)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	size_t want = (size_t)(width < 0 ? -width : width), have;

	if (cell->kind != KAB_CELL_NUMBER && cell->kind != KAB_CELL_PERCENT) {
		kab_cell_print(cell, &text);
		if (!text.len)
			kab_buf_addc(&text, '-');
	} else if (cell->text) {
		kab_buf_adds(&text, cell->text);
	} else if (exact) {
		kab_buf_addf(&text, plus ? "%+.*f" : "%.*f", decimals, cell->value);
	} else {
		kab_number_fixed(&text, cell->value, decimals, plus);
	}
	have = kab_text_width(kab_buf_str(&text));
	if (width > 0 && have < want)
		kab_buf_fill(buf, ' ', want - have);
	kab_buf_adds(buf, kab_buf_str(&text));
	if (width < 0 && have < want)
		kab_buf_fill(buf, ' ', want - have);
}
