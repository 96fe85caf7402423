/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain: columns of blanks, as scheduler developers write them by hand. exact: the layout of the
 * arm64 hackbench tables of 2019 (label, mean +/- rsd per kernel, gain in parentheses).
 */
#include <string.h>

#include "reports/renderers.h"

static bool same_group(const struct kab_column *a, const struct kab_column *b)
{
	return a->group && b->group && !strcmp(a->group, b->group);
}

static void gap(const struct kab_table *t, size_t c, struct kab_buf *line)
{
	if (c)
		kab_buf_fill(line, ' ', t->cols[c].glue ? 1 : 2);
}

static void head(const struct kab_table *t, const struct kab_layout *l, struct kab_buf *line)
{
	for (size_t c = 0; c < t->n_cols; c++) {
		size_t span = l->width[c], have;

		gap(t, c, line);
		if (!t->cols[c].group) {
			kab_buf_adds(line, l->heads[c]);
			continue;
		}
		while (c + 1 < t->n_cols && same_group(&t->cols[c], &t->cols[c + 1])) {
			c++;
			span += l->width[c] + (t->cols[c].glue ? 1 : 2);
		}
		have = kab_text_width(t->cols[c].group);
		kab_buf_fill(line, ' ', span > have ? span - have : 0);
		kab_buf_adds(line, t->cols[c].group);
	}
}

static void clean(const struct kab_table *t, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	const struct kab_layout_opts opts = { NULL, "+/- ", KAB_HEADS_GROUPED, 2, 1 };
	struct kab_layout l;

	kab_render_head(t, out);
	kab_layout_make(t, &opts, &l);
	head(t, &l, &line);
	kab_render_eol(&line, out);
	for (size_t c = 0; c < t->n_cols && t->two_heads; c++) {
		gap(t, c, &line);
		kab_buf_addf(&line, "%*s", (int)l.width[c], t->cols[c].group ? l.heads[c] : "");
	}
	if (t->two_heads)
		kab_render_eol(&line, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t c = 0; c < t->n_cols; c++) {
			gap(t, c, &line);
			kab_buf_adds(&line, l.cells[r * t->n_cols + c]);
		}
		kab_render_eol(&line, out);
	}
	kab_layout_release(&l);
	kab_render_notes(t, out);
}

/* "+/-2.31%" or "(+2.56%)", then padded. */
static void framed(struct kab_buf *line, const struct kab_cell *cell, const char *before,
		   const char *after, bool plus, int width)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	size_t want = (size_t)(width < 0 ? -width : width);

	kab_buf_adds(&text, before);
	kab_render_number(&text, cell, 0, 2, plus, true);
	kab_buf_adds(&text, after);
	if (width > 0 && text.len < want)
		kab_buf_fill(line, ' ', want - text.len);
	kab_buf_adds(line, text.data);
	if (width < 0 && text.len < want)
		kab_buf_fill(line, ' ', want - text.len);
}

static void exact_row(const struct kab_table *t, size_t r, struct kab_buf *line)
{
	bool first = true;

	for (size_t c = 0; c < t->n_cols; c++) {
		const struct kab_cell *cell = kab_table_cell(t, r, c);
		struct kab_buf kab_autobuf label = KAB_BUF_INIT;

		switch (t->cols[c].role) {
		case KAB_ROLE_LABEL:
			kab_cell_print(cell, &label);
			kab_buf_addf(line, "%-10s", kab_buf_str(&label));
			break;
		case KAB_ROLE_SPREAD:
			kab_buf_addc(line, ' ');
			framed(line, cell, "+/-", "%", false, -9);
			break;
		case KAB_ROLE_GAIN:
		case KAB_ROLE_DIFF:
			framed(line, cell, "(", "%)", true, 10);
			break;
		default:
			kab_render_number(line, cell, first ? 10 : 12, 3, false, true);
			first = false;
		}
	}
}

void kab_render_plain(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	if (!exact || !t->literal) {
		clean(t, out);
		return;
	}
	kab_render_head(t, out);
	kab_render_lines(&t->header, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		exact_row(t, r, &line);
		kab_render_eol(&line, out);
	}
	kab_render_lines(&t->footer, out);
}
