/* SPDX-License-Identifier: GPL-3.0-or-later */
/* percentiles: the distribution of one load, statistics as rows: plain columns do. */
#include "reports/renderers.h"

void kab_render_percentiles(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	kab_render_plain(t, exact, out);
}
