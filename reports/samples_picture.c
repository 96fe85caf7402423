/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distributions as text on one axis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/plot_strip.h"
#include "reports/renderers.h"
#include "reports/samples.h"
#include "stats/quantile.h"

#define CELLS 68

struct axis {
	double lo, hi;
};

static size_t place(const void *data, double value)
{
	const struct axis *axis = data;
	double share = axis->hi > axis->lo ? (value - axis->lo) / (axis->hi - axis->lo) : 0.5;

	return (size_t)fmin(CELLS - 1, fmax(0, floor(share * CELLS)));
}

static void box(const struct axis *axis, const struct kab_sample_report *set, char *line)
{
	double five[] = { set->all.min, set->all.median, set->all.median, set->all.median,
			  set->all.max };

	kab_quantile_sorted(set->sorted, set->n, 7, 25, 100, &five[1]);
	kab_quantile_sorted(set->sorted, set->n, 7, 75, 100, &five[3]);
	kab_strip_box(axis, place, five, set->over.mean, line);
}

static void add_line(char letter, const char *line, struct kab_buf *out)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "%c %.*s", letter, CELLS, line);
	kab_render_eol(&buf, out);
}

void kab_samples_picture(const struct kab_samples_report *report, struct kab_buf *out)
{
	struct axis axis = { INFINITY, -INFINITY };
	struct kab_buf kab_autobuf lo = KAB_BUF_INIT, hi = KAB_BUF_INIT;

	for (size_t i = 0; i < report->n; i++) {
		axis.lo = fmin(axis.lo, report->v[i].all.min);
		axis.hi = fmax(axis.hi, report->v[i].all.max);
	}
	for (size_t i = 0; i < report->n; i++) {
		char line[CELLS];

		memset(line, ' ', sizeof(line));
		kab_strip_density(&axis, place, report->v[i].sorted, report->v[i].n, CELLS, line);
		add_line(kab_samples_letter(i), line, out);
		memset(line, ' ', sizeof(line));
		box(&axis, &report->v[i], line);
		add_line(' ', line, out);
	}
	kab_buf_addf(&lo, "%.8g", axis.lo);
	kab_buf_addf(&hi, "%.8g", axis.hi);
	kab_buf_adds(out, "  ");
	kab_buf_fill(out, '-', CELLS);
	if (axis.hi > axis.lo)
		kab_buf_addf(out, "\n  %s%*s\n", lo.data, (int)(CELLS - lo.len), hi.data);
	else
		kab_buf_addf(out, "\n%*s\n", (int)(2 + CELLS / 2 + lo.len / 2), lo.data);
}
