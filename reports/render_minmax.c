/* SPDX-License-Identifier: GPL-3.0-or-later */
/* minmax: Min Max Avg StdDev and the gain, a kernel per row. */
#include "reports/renderers.h"

void kab_render_minmax(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	static const char *const names[] = { "load", "kernel",	 "min",	 "max", "mean",
					     "std",  "gain_pct", "mark", NULL };

	if (kab_render_col(t, "load") < 0 || kab_render_col(t, "kernel") < 0) {
		kab_render_plain(t, exact, out);
		return;
	}
	kab_render_head(t, out);
	kab_render_columns(t, names, out);
	kab_render_notes(t, out);
}
