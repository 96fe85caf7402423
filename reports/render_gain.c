/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain: `Process 10 groups :       3.00,       3.07(  -2.33)`, a load per line. */
#include <math.h>

#include "reports/number.h"
#include "reports/renderers.h"

static size_t label_width(const struct kab_table *t)
{
	size_t most = 0;

	for (size_t r = 0; r < t->n_rows; r++) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;

		kab_render_named(t, r, "load", &text);
		most = text.len > most ? text.len : most;
	}
	return most;
}

static void put(double value, int width, const char *word, bool exact, struct kab_buf *line)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	if (!isfinite(value))
		kab_buf_adds(&text, word);
	else if (exact)
		kab_buf_addf(&text, "%.2f", value);
	else
		kab_number_fixed(&text, value, 2, false);
	kab_buf_addf(line, "%*s", width, kab_buf_str(&text));
}

void kab_render_gain(const struct kab_table *t, bool exact, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;
	size_t width = label_width(t);

	kab_render_head(t, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		struct kab_buf kab_autobuf word = KAB_BUF_INIT;

		if (!kab_render_goes_on(t, r)) {
			if (r)
				kab_render_eol(&line, out);
			kab_render_named(t, r, "load", &line);
			kab_buf_fill(&line, ' ', width - line.len);
			kab_buf_adds(&line, " :");
		} else {
			kab_buf_addc(&line, ',');
		}
		kab_render_named(t, r, "mean", &word);
		/* Two decimals are of the original; 0.0023 s has more to say. */
		put(exact ? kab_render_value(t, r, "mean") : NAN, 11, kab_buf_str(&word), exact,
		    &line);
		if (kab_render_goes_on(t, r)) {
			kab_buf_addc(&line, '(');
			put(kab_render_value(t, r, "gain_pct"), 7, "n/a", exact, &line);
			kab_buf_addc(&line, ')');
		}
	}
	if (t->n_rows)
		kab_render_eol(&line, out);
	kab_render_notes(t, out);
}
