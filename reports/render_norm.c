/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * norm: a box that says what is better, then `1.00 [ imp](CV)` per kernel, everything relative to
 * the baseline. Columns of the table: case, then norm, imp_pct and cv_pct for each kernel.
 */
#include <string.h>

#include "reports/renderers.h"

#define BOX 66
#define BLOCK 25
#define LABEL 9
#define BEHIND_NAME "[pct imp](CV)"

static size_t longest_label(const struct kab_table *t)
{
	size_t most = 0;

	for (size_t r = 0; r < t->n_rows; r++) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;
		size_t n;

		kab_cell_print(kab_table_cell(t, r, 0), &text);
		n = kab_text_width(kab_buf_str(&text));
		most = n > most ? n : most;
	}
	return most;
}

/*
 * "Case:           tip[pct imp](CV)": the name of the baseline begins 7 columns right of the labels'
 * end where it is short, and ends 10 columns right of it where it is set flush. A header that fits
 * neither leaves the usual width.
 */
static size_t label_width(const struct kab_table *t)
{
	size_t longest = longest_label(t);

	if (!t->literal)
		return longest > LABEL ? longest : LABEL;
	for (size_t i = t->header.n; i-- > 0;) {
		const char *head = t->header.v[i], *end = strstr(head, BEHIND_NAME), *start = end;
		size_t by_start, by_end;

		if (!end)
			continue;
		while (start > head && start[-1] != ' ')
			start--;
		by_start = (size_t)(start - head) < 7 ? 0 : (size_t)(start - head) - 7;
		by_end = (size_t)(end - head) < 10 ? 0 : (size_t)(end - head) - 10;
		if (!strncmp(head, "Case:", 5) || by_start == LABEL || by_end == LABEL)
			return LABEL;
		if (by_end >= longest && by_end <= longest + 4)
			return by_end;
		if (by_start >= longest && by_start <= longest + 4)
			return by_start;
		break;
	}
	return LABEL;
}

static void own_head(const struct kab_table *t, size_t width, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	for (int edge = 0; edge < 2; edge++) {
		kab_buf_fill(out, '=', BOX);
		kab_buf_addc(out, '\n');
		if (edge)
			break;
		kab_buf_addf(&line, "Test          : %s", t->benchmark ? t->benchmark : "");
		kab_render_eol(&line, out);
		kab_buf_addf(&line, "Units         : Normalized%s%s",
			     t->unit && *t->unit ? ", base in " : "", t->unit ? t->unit : "");
		kab_render_eol(&line, out);
		kab_buf_addf(out, "Interpretation: %s\n",
			     !t->directed ? "No direction"
			     : t->higher  ? "Higher is better"
					  : "Lower is better");
		kab_buf_addf(out, "Statistic     : %s\n", t->statistic ? t->statistic : "AMean");
	}
	kab_buf_adds(&line, "Case:");
	for (size_t c = 1, end = width; c + 2 < t->n_cols; c += 3) {
		const char *name = t->cols[c].group ? t->cols[c].group : t->cols[c].name;
		size_t len = strlen(name) + strlen(BEHIND_NAME);

		end += BLOCK;
		kab_buf_fill(&line, ' ', end > line.len + len ? end - line.len - len : 1);
		kab_buf_addf(&line, "%s%s", name, BEHIND_NAME);
	}
	kab_render_eol(&line, out);
}

static void block(const struct kab_table *t, size_t r, size_t c, bool exact, struct kab_buf *line)
{
	const struct kab_cell *norm = kab_table_cell(t, r, c);

	kab_buf_fill(line, ' ', 5);
	if (norm->kind == KAB_CELL_WORD || norm->kind == KAB_CELL_EMPTY) {
		kab_render_number(line, norm, 5 - BLOCK, 2, false, exact);
		return;
	}
	kab_render_number(line, norm, 0, 2, false, exact);
	kab_buf_adds(line, " [");
	kab_render_number(line, kab_table_cell(t, r, c + 1), 6, 2, false, exact);
	kab_buf_adds(line, "](");
	kab_render_number(line, kab_table_cell(t, r, c + 2), 5, 2, false, exact);
	kab_buf_adds(line, ")");
}

void kab_render_norm(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	size_t width = label_width(t);

	kab_render_head(t, out);
	if (t->literal)
		kab_render_given(&t->header, exact, out);
	else
		own_head(t, width, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		kab_render_number(&line, kab_table_cell(t, r, 0), (int)width, 0, false, exact);
		for (size_t c = 1; c + 2 < t->n_cols; c += 3)
			block(t, r, c, exact, &line);
		kab_render_eol(&line, out);
	}
	kab_render_given(&t->footer, exact, out);
	kab_render_notes(t, out);
}
