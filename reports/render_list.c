/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list: each load on a line of its own, a line per kernel below it. */
#include "reports/renderers.h"

static void kernel_line(const struct kab_table *t, size_t r, struct kab_buf *line)
{
	static const char *const parts[][2] = { { "mean", "" },
						{ "cv_pct", " +/- " },
						{ "gain_pct", "  gain " },
						{ "mark", " " },
						{ "gain_ci", " " } };

	kab_buf_adds(line, "  ");
	kab_render_named(t, r, "kernel", line);
	kab_buf_adds(line, ":  ");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;

		kab_render_named(t, r, parts[i][0], &text);
		if (text.len)
			kab_buf_addf(line, "%s%s", parts[i][1], text.data);
	}
}

void kab_render_list(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	(void)exact;
	kab_render_head(t, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		if (!kab_render_goes_on(t, r)) {
			kab_render_named(t, r, "load", &line);
			kab_render_eol(&line, out);
		}
		kernel_line(t, r, &line);
		kab_render_eol(&line, out);
	}
	kab_render_notes(t, out);
}
