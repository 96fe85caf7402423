/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * org and markdown: pipes with one rule. exact org: the tables that pandas users paste, each column
 * with the fewest decimals that hold its values, and the header as given.
 */
#include <string.h>

#include "base/alloc.h"
#include "reports/renderers.h"

static void escape_org(struct kab_buf *buf, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			kab_buf_adds(buf, "\\vert{}");
		else
			kab_buf_addc(buf, *text == '\n' ? ' ' : *text);
	}
}

static void escape_markdown(struct kab_buf *buf, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_|<>[]~", *text))
			kab_buf_addc(buf, '\\');
		kab_buf_addc(buf, *text == '\n' ? ' ' : *text);
	}
}

static void row(const struct kab_layout *l, char **cells, struct kab_buf *out)
{
	for (size_t c = 0; c < l->n_cols; c++)
		kab_buf_addf(out, "| %s ", cells[c]);
	kab_buf_adds(out, "|\n");
}

static void org_rule(const struct kab_layout *l, struct kab_buf *out)
{
	for (size_t c = 0; c < l->n_cols; c++) {
		kab_buf_addc(out, c ? '+' : '|');
		kab_buf_fill(out, '-', l->width[c] + 2);
	}
	kab_buf_adds(out, "|\n");
}

/* Widths between the bars of a rule that was given; widens only. */
static void take_widths(const struct kab_table *t, struct kab_layout *l)
{
	for (size_t i = 0; i < t->header.n; i++) {
		const char *p = t->header.v[i];
		size_t c = 0;

		if (strncmp(p, "|-", 2) != 0)
			continue;
		for (p++; *p && c < l->n_cols; c++) {
			size_t len = strcspn(p, "+|");

			if (len >= 2 && len - 2 > l->width[c])
				l->width[c] = len - 2;
			p += len + (p[len] != '\0');
		}
	}
}

static void exact_org(const struct kab_table *t, struct kab_buf *out)
{
	const struct kab_layout_opts opts = { NULL, NULL,
					      t->literal ? KAB_HEADS_NONE : KAB_HEADS_FLAT, 3, 3 };
	struct kab_layout l;

	kab_layout_make(t, &opts, &l);
	take_widths(t, &l);
	kab_render_head(t, out);
	if (t->literal) {
		kab_render_lines(&t->header, out);
	} else {
		row(&l, l.heads, out);
		org_rule(&l, out);
	}
	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t c = 0; c < t->n_cols; c++) {
			const char *text = l.cells[r * t->n_cols + c];
			size_t have = kab_text_width(text);
			size_t more = l.width[c] > have ? l.width[c] - have : 0;

			kab_buf_adds(out, "| ");
			kab_buf_fill(out, ' ', t->cols[c].left ? 0 : more);
			kab_buf_adds(out, text);
			kab_buf_fill(out, ' ', (t->cols[c].left ? more : 0) + 1);
		}
		kab_buf_adds(out, "|\n");
	}
	kab_layout_release(&l);
	kab_render_lines(&t->footer, out);
}

void kab_render_org(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	const struct kab_layout_opts opts = { escape_org, NULL, KAB_HEADS_FLAT, 3, 3 };
	struct kab_layout l;

	if (exact && (t->literal || t->footer.n)) {
		exact_org(t, out);
		return;
	}
	kab_render_head(t, out);
	kab_layout_make(t, &opts, &l);
	row(&l, l.heads, out);
	org_rule(&l, out);
	for (size_t r = 0; r < t->n_rows; r++)
		row(&l, &l.cells[r * t->n_cols], out);
	kab_layout_release(&l);
	kab_render_notes(t, out);
}

/* Lines of running text: one paragraph, each line with a hard break. */
static void paragraph(const struct kab_strv *lines, struct kab_buf *out)
{
	for (size_t i = 0; i < lines->n; i++) {
		escape_markdown(out, lines->v[i]);
		kab_buf_adds(out, i + 1 < lines->n ? "\\\n" : "\n");
	}
}

void kab_render_markdown(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	const struct kab_layout_opts opts = { escape_markdown, NULL, KAB_HEADS_FLAT, 3, 3 };
	struct kab_layout l;

	(void)exact;
	if (t->title) {
		kab_buf_adds(out, "**");
		escape_markdown(out, t->title);
		kab_buf_adds(out, t->legend.n ? "**\\\n" : "**\n");
	}
	paragraph(&t->legend, out);
	if (t->title || t->legend.n)
		kab_buf_addc(out, '\n');
	kab_layout_make(t, &opts, &l);
	/* The rule needs three dashes and its colons. */
	for (size_t c = 0; c < t->n_cols; c++)
		l.width[c] = l.width[c] < 3 ? 3 : l.width[c];
	for (size_t c = 0; c < t->n_cols; c++)
		kab_buf_addf(out, "| %*s ", t->cols[c].left ? -(int)l.width[c] : (int)l.width[c],
			     l.heads[c]);
	kab_buf_adds(out, "|\n");
	for (size_t c = 0; c < t->n_cols; c++) {
		kab_buf_adds(out, t->cols[c].left ? "|:" : "|-");
		kab_buf_fill(out, '-', l.width[c]);
		kab_buf_adds(out, t->cols[c].left ? "-" : ":");
	}
	kab_buf_adds(out, "|\n");
	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t c = 0; c < t->n_cols; c++)
			kab_buf_addf(out, "| %*s ",
				     t->cols[c].left ? -(int)l.width[c] : (int)l.width[c],
				     l.cells[r * t->n_cols + c]);
		kab_buf_adds(out, "|\n");
	}
	kab_layout_release(&l);
	if (t->notes.n)
		kab_buf_addc(out, '\n');
	paragraph(&t->notes, out);
}
