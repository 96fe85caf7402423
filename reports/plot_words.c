/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/plot_words.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"

char *kab_plot_metric_words(const struct kab_plot *plot, const struct kab_axis *axis)
{
	const char *unit = axis ? axis->unit : plot->unit;
	struct kab_buf buf = KAB_BUF_INIT;

	kab_buf_adds(&buf, plot->metric);
	if (*unit)
		kab_buf_addf(&buf, " (%s)", unit);
	kab_buf_adds(&buf, plot->dir == KAB_DIR_LOWER	 ? ", LOWER is better"
			   : plot->dir == KAB_DIR_HIGHER ? ", HIGHER is better"
							 : ", neither direction is better");
	return kab_buf_detach(&buf);
}

char *kab_plot_head_words(const struct kab_plot *plot, const struct kab_axis *axis)
{
	static const char *const what[KAB_PLOT_KINDS] = {
		[KAB_PLOT_STRIP] = "distribution of all iterations",
		[KAB_PLOT_HISTOGRAM] = "iterations in each class",
		[KAB_PLOT_ORDER] = "iterations in the order of the run",
		[KAB_PLOT_SWEEP] = "mean over ",
		[KAB_PLOT_CDF] = "percent of the iterations that are at most so large",
		[KAB_PLOT_BOOTS] = "the iterations of each boot",
		[KAB_PLOT_HISTORY] = "over time, bars are the interval",
	};
	char *metric kab_autofree = kab_plot_metric_words(plot, axis);
	const char *unit = plot->restarts ? "restart" : "boot";
	struct kab_buf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "%s; ", metric);
	if (plot->kind == KAB_PLOT_BOOTS && plot->restarts)
		kab_buf_adds(&buf, "the iterations of each restart");
	else
		kab_buf_adds(&buf, what[plot->kind]);
	if (plot->kind == KAB_PLOT_SWEEP)
		kab_buf_addf(&buf, "%s, bars are the %g %% interval over %ss%s", plot->x_name,
			     100 * plot->confidence, unit,
			     plot->one_boot ? " (over iterations where there is only one)" : "");
	if (axis && axis->log)
		kab_buf_adds(&buf, "; LOGARITHMIC axis");
	return kab_buf_detach(&buf);
}

static void add_points_words(const struct kab_plot *plot, const struct kab_plot_set *set,
			     struct kab_buf *buf)
{
	size_t there = 0, failed = 0;
	const struct kab_plot_point *first = NULL;

	for (size_t i = 0; i < set->n_points; i++) {
		there += isfinite(set->points[i].value) != 0;
		failed += set->points[i].failed;
	}
	if (plot->kind == KAB_PLOT_HISTORY) {
		kab_buf_addf(buf, "%zu value%s", there, there == 1 ? "" : "s");
		if (failed)
			kab_buf_addf(buf, "; %zu failed", failed);
		if (set->n_points - there - failed)
			kab_buf_addf(buf, "; %zu missing", set->n_points - there - failed);
		return;
	}
	kab_buf_addf(buf, "%zu of %zu points", there, set->n_points);
	for (size_t i = 0; i < set->n_points; i++) {
		const struct kab_plot_point *p = &set->points[i];

		if (!p->word)
			continue;
		kab_buf_addf(buf, "%s%s at %s", first ? ", " : "; ", p->word, p->text);
		first = p;
	}
}

/*
 * The mean with the decimals that its interval supports, the median with one more if it has them: it
 * may lie in the middle of two values. No more than were measured allow, or six digits.
 */
static void add_centre(const struct kab_plot_set *set, const struct kab_axis *axis, bool median,
		       struct kab_buf *buf)
{
	double value = (median ? set->median : set->mean) * axis->factor;
	int measured = set->decimals - (int)lround(log10(axis->factor));
	int supported =
		kab_number_supported((set->hi - set->lo) / 2 * axis->factor, KAB_DECIMALS_MAX);
	int most = kab_number_significant(value, 6);

	if (measured < 0)
		measured = 0;
	measured = median ? kab_number_decimals(value, measured + 1) : measured + 2;
	if (supported < 0)
		supported = median ? measured : measured - 2;
	else
		supported += median;
	most = measured < most ? measured : most;
	kab_number_fixed(buf, value, supported < most ? supported : most, false);
}

char *kab_plot_rest_words(const struct kab_plot *plot)
{
	size_t n = 0;

	for (size_t k = 0; k < plot->n_sets; k++)
		n += plot->sets[k].unplanned;
	return n ? kab_xasprintf("not measured here: %zu other kernel%s", n, n == 1 ? "" : "s")
		 : NULL;
}

char *kab_plot_set_words(const struct kab_plot *plot, const struct kab_plot_set *set,
			 const struct kab_axis *axis)
{
	const char *unit = plot->restarts ? "restart" : "boot";
	struct kab_buf buf = KAB_BUF_INIT;
	size_t boots = kab_plot_boots(set);

	if (set->n_points) {
		add_points_words(plot, set, &buf);
		return kab_buf_detach(&buf);
	}
	if (set->n) {
		kab_buf_addf(&buf, "%zu in %zu %s%s, median ", set->n, boots, unit,
			     boots == 1 ? "" : "s");
		add_centre(set, axis, true, &buf);
		kab_buf_adds(&buf, ", mean ");
		add_centre(set, axis, false, &buf);
	} else if (set->summary) {
		kab_buf_adds(&buf, "a summary, no single values; mean ");
		add_centre(set, axis, false, &buf);
		kab_buf_addf(&buf, " of %zu", set->n_summary);
	}
	if (set->trouble)
		kab_buf_addf(&buf, "%s%s", buf.len ? "; " : "", set->trouble);
	if (!buf.len)
		kab_buf_adds(&buf, "no value");
	return kab_buf_detach(&buf);
}
