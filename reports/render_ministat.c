/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ministat: a letter per kernel, N Min Max Median Avg Stddev, then what the test says in words. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/renderers.h"

static const char letters[] = "x+*%#@O";

static void number(const struct kab_table *t, size_t r, const char *name, struct kab_buf *line)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	double value = kab_render_value(t, r, name);

	if (isfinite(value))
		kab_buf_addf(&text, "%.8g", value);
	else
		kab_render_named(t, r, name, &text);
	kab_buf_addf(line, " %12s", text.len ? text.data : "-");
}

static void kernel_line(const struct kab_table *t, size_t r, size_t k, struct kab_buf *line)
{
	static const char *const names[] = { "min", "max", "50%", "mean", "std" };
	struct kab_buf kab_autobuf count = KAB_BUF_INIT;

	kab_render_named(t, r, "count", &count);
	kab_buf_addf(line, "%c %5s", letters[k % (sizeof(letters) - 1)], kab_buf_str(&count));
	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++)
		number(t, r, names[i], line);
}

static void verdict_line(const struct kab_table *t, size_t base, size_t r, size_t k,
			 struct kab_buf *line)
{
	double a = kab_render_value(t, base, "mean"), b = kab_render_value(t, r, "mean");

	kab_buf_addf(line, "%c: ", letters[k % (sizeof(letters) - 1)]);
	kab_render_named(t, r, "verdict", line);
	if (isfinite(a) && isfinite(b)) {
		kab_buf_addf(line, ", difference %.6g (", b - a);
		kab_render_named(t, r, "diff_pct", line);
		kab_buf_addc(line, ')');
	}
}

void kab_render_ministat(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	size_t end;

	(void)exact;
	kab_render_head(t, out);
	for (size_t r = 0; r < t->n_rows; r = end) {
		for (end = r + 1; end < t->n_rows && kab_render_goes_on(t, end); end++)
			;
		if (r)
			kab_buf_addc(out, '\n');
		kab_render_named(t, r, "load", &line);
		kab_render_eol(&line, out);
		for (size_t k = r; k < end; k++) {
			kab_buf_addf(&line, "  %c ", letters[(k - r) % (sizeof(letters) - 1)]);
			kab_render_named(t, k, "kernel", &line);
			kab_render_eol(&line, out);
		}
		kab_buf_addf(&line, "%7s %12s %12s %12s %12s %12s", "N", "Min", "Max", "Median",
			     "Avg", "Stddev");
		kab_render_eol(&line, out);
		for (size_t k = r; k < end; k++) {
			kernel_line(t, k, k - r, &line);
			kab_render_eol(&line, out);
		}
		for (size_t k = r + 1; k < end; k++) {
			verdict_line(t, r, k, k - r, &line);
			kab_render_eol(&line, out);
		}
	}
	kab_render_notes(t, out);
}
