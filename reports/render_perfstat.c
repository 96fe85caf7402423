/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perfstat: `5.7295 +- 0.0219 seconds time elapsed  ( +-  0.38% )`: the standard error of the mean. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/renderers.h"

static void kernel_line(const struct kab_table *t, size_t r, struct kab_buf *line)
{
	double mean = kab_render_value(t, r, "mean"), sem = kab_render_value(t, r, "sem");
	const char *unit = t->unit ? t->unit : "";
	int decimals = mean != 0 ? kab_number_significant(mean, 6) : 4;
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	if (!isfinite(mean)) {
		kab_render_named(t, r, "mean", &text);
		kab_buf_addf(line, "%15s", kab_buf_str(&text));
		return;
	}
	kab_number_fixed(&text, mean, decimals, false);
	kab_buf_addf(line, "%15s", text.data);
	if (isfinite(sem)) {
		kab_buf_adds(line, " +- ");
		kab_number_fixed(line, sem, decimals, false);
	}
	kab_buf_addf(line, " %s", !strcmp(unit, "s") ? "seconds time elapsed" : unit);
	if (isfinite(sem) && mean != 0) {
		struct kab_buf kab_autobuf pct = KAB_BUF_INIT;

		kab_number_fixed(&pct, 100 * sem / fabs(mean), 2, false);
		kab_buf_addf(line, "  ( +- %5s%% )", pct.data);
	}
}

void kab_render_perfstat(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	(void)exact;
	kab_render_head(t, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		if (!kab_render_goes_on(t, r)) {
			kab_buf_adds(&line, r ? "\n " : " ");
			kab_render_named(t, r, "load", &line);
			kab_buf_addc(&line, ':');
			kab_render_eol(&line, out);
		}
		kernel_line(t, r, &line);
		kab_buf_adds(&line, "  # ");
		kab_render_named(t, r, "kernel", &line);
		kab_render_eol(&line, out);
	}
	kab_render_notes(t, out);
}
