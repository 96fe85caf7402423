/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stacked: kernels as columns; the value, below it its relative stddev, below that the raw diff. */
#include "reports/number.h"
#include "reports/renderers.h"

static const struct {
	const char *column, *before;
} lines[] = { { "mean", "" }, { "cv_pct", "std: " }, { "diff_pct", "diff: " } };

static void cell(const struct kab_table *t, size_t r, size_t what, struct kab_buf *buf)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	kab_render_named(t, r, lines[what].column, &text);
	if (text.len)
		kab_buf_addf(buf, "%s%s", lines[what].before, text.data);
}

/* The widest text that any row has in any of its lines, or as the name of its kernel. */
static size_t measure(const struct kab_table *t)
{
	size_t most = 0;

	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t what = 0; what <= 3; what++) {
			struct kab_buf kab_autobuf text = KAB_BUF_INIT;

			if (what < 3)
				cell(t, r, what, &text);
			else
				kab_render_named(t, r, "kernel", &text);
			if (text.len > most)
				most = text.len;
		}
	}
	return most;
}

static size_t label_width(const struct kab_table *t)
{
	size_t most = 0;

	for (size_t r = 0; r < t->n_rows; r++) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;

		kab_render_named(t, r, "load", &text);
		if (text.len > most)
			most = text.len;
	}
	return most;
}

void kab_render_stacked(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	size_t width = measure(t) + 2, label = label_width(t), end;
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	(void)exact;
	kab_render_head(t, out);
	for (size_t r = 0; r < t->n_rows; r = end) {
		for (end = r + 1; end < t->n_rows && kab_render_goes_on(t, end); end++)
			;
		for (size_t what = 0; what <= 3; what++) {
			/* The names of the kernels go above the first load only. */
			if (what == 0 && r)
				continue;
			if (what == 1)
				kab_render_named(t, r, "load", &line);
			kab_buf_fill(&line, ' ', label > line.len ? label - line.len : 0);
			for (size_t k = r; k < end; k++) {
				struct kab_buf kab_autobuf text = KAB_BUF_INIT;

				if (what == 0)
					kab_render_named(t, k, "kernel", &text);
				else
					cell(t, k, what - 1, &text);
				kab_buf_addf(&line, "  %-*s", (int)width - 2, kab_buf_str(&text));
			}
			kab_render_eol(&line, out);
		}
	}
	kab_render_notes(t, out);
}
