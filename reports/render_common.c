/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
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

void kab_render_given(const struct kab_strv *lines, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	if (exact) {
		kab_render_lines(lines, out);
		return;
	}
	for (size_t i = 0; i < lines->n; i++) {
		for (const char *p = lines->v[i]; *p; p++) {
			if (*p == '\t') {
				kab_buf_fill(&line, ' ',
					     8 - kab_text_width(kab_buf_str(&line)) % 8);
			} else if (!strncmp(p, "\xc2\xb1", 2)) {
				kab_buf_adds(&line, "+-");
				p++;
			} else {
				kab_buf_addc(&line, *p);
			}
		}
		kab_render_eol(&line, out);
	}
}

void kab_render_head(const struct kab_table *t, struct kab_buf *out)
{
	if (!t->title && !t->legend.n)
		return;
	if (t->title) {
		struct kab_strv kab_autostrv lines = KAB_STRV_INIT;

		kab_wrap(&lines, t->title, 72, 2);
		kab_render_lines(&lines, out);
	}
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

int kab_render_col(const struct kab_table *t, const char *name)
{
	for (size_t c = 0; c < t->n_cols; c++)
		if (!strcmp(t->cols[c].name, name))
			return (int)c;
	return -1;
}

void kab_render_named(const struct kab_table *t, size_t r, const char *name, struct kab_buf *buf)
{
	int c = kab_render_col(t, name);

	if (c >= 0)
		kab_cell_print(kab_table_cell(t, r, (size_t)c), buf);
}

double kab_render_value(const struct kab_table *t, size_t r, const char *name)
{
	int c = kab_render_col(t, name);
	const struct kab_cell *cell = c < 0 ? NULL : kab_table_cell(t, r, (size_t)c);

	if (!cell || (cell->kind != KAB_CELL_NUMBER && cell->kind != KAB_CELL_PERCENT))
		return NAN;
	return cell->value;
}

bool kab_render_goes_on(const struct kab_table *t, size_t r)
{
	struct kab_buf kab_autobuf a = KAB_BUF_INIT, b = KAB_BUF_INIT;

	if (!r)
		return false;
	kab_cell_print(kab_table_cell(t, r - 1, 0), &a);
	kab_cell_print(kab_table_cell(t, r, 0), &b);
	return !strcmp(kab_buf_str(&a), kab_buf_str(&b));
}

void kab_render_columns(const struct kab_table *t, const char *const *names, struct kab_buf *out)
{
	const struct kab_layout_opts opts = { NULL, NULL, KAB_HEADS_FLAT, 2, 2 };
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	struct kab_layout l;

	kab_layout_make(t, &opts, &l);
	for (size_t r = 0; r <= t->n_rows; r++) {
		bool first = true;

		for (const char *const *name = names; *name; name++) {
			int c = kab_render_col(t, *name);

			if (c < 0 || !l.width[c])
				continue;
			kab_buf_adds(&line, first ? "" : "  ");
			kab_buf_adds(&line,
				     r ? l.cells[(r - 1) * t->n_cols + (size_t)c] : l.heads[c]);
			first = false;
		}
		kab_render_eol(&line, out);
	}
	kab_layout_release(&l);
}
