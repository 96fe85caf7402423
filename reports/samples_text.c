/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of numbers in plain words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/renderers.h"
#include "reports/samples.h"
#include "reports/view_internal.h"

static void cell(double value, int width, struct kab_buf *line)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	if (isfinite(value))
		kab_buf_addf(&text, "%.8g", value == 0 ? 0.0 : value);
	else
		kab_buf_adds(&text, "n/a");
	kab_buf_addf(line, " %*s", width, text.data);
}

static void table(const struct kab_samples_report *report, struct kab_buf *out)
{
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	kab_buf_addf(&line, "%8s%s %10s %10s %10s %10s %10s", "N", report->boots ? "  Boots" : "",
		     "Min", "Max", "Median", "Avg", "Stddev");
	kab_render_eol(&line, out);
	for (size_t i = 0; i < report->n; i++) {
		const struct kab_sample_report *set = &report->v[i];

		kab_buf_addf(&line, "%c%7zu", kab_samples_letter(i), set->n);
		if (report->boots)
			kab_buf_addf(&line, " %6zu", set->n_units);
		cell(set->all.min, 10, &line);
		cell(set->all.max, 10, &line);
		cell(set->all.median, 10, &line);
		cell(set->over.mean, 10, &line);
		cell(set->over.sd, 10, &line);
		kab_render_eol(&line, out);
	}
}

static void percent(struct kab_buf *buf, double value, double half_width, bool plus)
{
	int d = kab_number_supported(half_width, 2);

	kab_number_fixed(buf, value, d < 0 ? 2 : d, plus);
}

/* "[-5.8 %, -2.2 %]" of the change, raw or as a gain. */
static void add_interval(struct kab_buf *buf, const struct kab_comparison *c, int dir,
			 double confidence)
{
	double lo = 100 * (c->ratio_ci.lo - 1), hi = 100 * (c->ratio_ci.hi - 1), tmp;

	if (!isfinite(lo) || !isfinite(hi))
		return;
	if (dir < 0) {
		tmp = lo;
		lo = -hi;
		hi = -tmp;
	}
	kab_buf_adds(buf, " [");
	percent(buf, lo, (hi - lo) / 2, true);
	kab_buf_adds(buf, ", ");
	percent(buf, hi, (hi - lo) / 2, true);
	kab_buf_adds(buf, "]");
	/* The sentence says 95 %: another level has to be said. */
	if (confidence != 0.95)
		kab_buf_addf(buf, " (%g %% interval)", 100 * confidence);
}

static void add_change(struct kab_buf *buf, const struct kab_comparison *c, int dir,
		       double confidence)
{
	double value = dir ? c->gain_pct : c->delta_pct;

	if (c->identical && !isfinite(value)) {
		kab_buf_adds(buf, "none: identical");
		return;
	}
	if (c->base_zero) {
		kab_buf_addf(buf, "n/a (base is 0), difference %.6g", c->diff);
		return;
	}
	if (!isfinite(value)) {
		kab_buf_addf(buf, "n/a (signs mix), difference %.6g", c->diff);
		return;
	}
	percent(buf, value, 50 * (c->ratio_ci.hi - c->ratio_ci.lo), true);
	kab_buf_adds(buf, " %");
	add_interval(buf, c, dir, confidence);
}

/* A change that was not shown is not a change that is not there: how large could it be? */
static void add_detectable(struct kab_buf *buf, const struct kab_comparison *c, double alpha)
{
	double seen = kab_compare_detectable_pct(c, alpha, 0.8);

	if (!isfinite(seen))
		return;
	kab_buf_adds(buf, "; a difference above ");
	kab_number_fixed(buf, seen, kab_number_significant(seen, 2), false);
	kab_buf_adds(buf, " % would have been seen in 8 of 10 such experiments");
}

static void sentence(const struct kab_samples_report *report, size_t i, struct kab_buf *buf)
{
	const struct kab_sample_report *set = &report->v[i];
	/* Without a direction the words are higher and lower, as if higher were better. */
	const struct kab_comparison *c = report->opts.dir ? &set->cmp : &set->raised;
	double confidence = 100 * (1 - report->opts.alpha);

	switch (c->verdict) {
	case KAB_VERDICT_IMPROVED:
	case KAB_VERDICT_REGRESSED:
		if (report->opts.dir)
			kab_buf_addf(buf, "%s at %g %%", kab_verdict_name(c->verdict), confidence);
		else
			kab_buf_addf(buf, "%s at %g %%",
				     c->verdict == KAB_VERDICT_IMPROVED ? "higher" : "lower",
				     confidence);
		if (c->size_not_resolved)
			kab_buf_addf(buf, " (size not resolved against %g %%)",
				     100 * report->opts.margin);
		break;
	case KAB_VERDICT_EQUIVALENT:
		if (c->identical)
			kab_buf_adds(buf, "identical");
		else
			kab_buf_addf(buf, "equivalent within %g %%%s", 100 * report->opts.margin,
				     c->shift_below_margin ? " (a shift is shown, below that)"
							   : "");
		break;
	case KAB_VERDICT_INCONCLUSIVE:
		if (set->n_units < 2 && report->v[0].n_units < 2)
			kab_buf_addf(buf, "inconclusive (one %s)%s",
				     report->boots ? "boot" : "value",
				     c->identical ? ", identical" : "");
		else if (c->method == KAB_METHOD_NONE || c->method == KAB_METHOD_EXACT)
			kab_buf_addf(buf, "inconclusive (%s)", c->reason);
		else
			kab_buf_addf(buf, "no difference shown at %g %%", confidence);
		if (c->method != KAB_METHOD_NONE)
			add_detectable(buf, c, report->opts.alpha);
		break;
	case KAB_VERDICT_NONE:
		kab_buf_adds(buf, c->reason);
		break;
	}
}

static void add_p(struct kab_buf *buf, double p)
{
	if (p < 1e-4)
		kab_buf_adds(buf, "p < 0.0001");
	else
		kab_buf_addf(buf, "p %.2g", p);
}

static void numbers(const struct kab_samples_report *report, size_t i, struct kab_strv *lines)
{
	const struct kab_sample_report *set = &report->v[i];
	const struct kab_comparison *c = &set->cmp;
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "  %s ", report->opts.dir ? "gain" : "change");
	add_change(&buf, c, report->opts.dir, report->opts.confidence);
	if (isfinite(c->welch.test.t)) {
		kab_buf_addf(&buf, "; Welch t %.4g, df ", c->welch.test.t);
		kab_number_fixed(&buf, c->welch.test.df, 1, false);
		kab_buf_adds(&buf, ", ");
		add_p(&buf, c->welch.test.p);
	}
	if (set->n_units > 1 || report->v[0].n_units > 1) {
		kab_buf_adds(&buf, "; Mann-Whitney ");
		add_p(&buf, c->mann_whitney.p);
	}
	kab_wrap(lines, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
	kab_buf_clear(&buf);
	if (c->rank_floor && set->n_units > 1 && report->v[0].n_units > 1) {
		kab_buf_addf(&buf, "  rank test: %zu against %zu %s cannot go below p %.2g",
			     c->n_base, c->n_test, report->boots ? "boots" : "values",
			     c->mann_whitney.p_floor);
		kab_wrap(lines, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
	} else if (c->rank_disagrees) {
		kab_strv_add(lines,
			     "  the tests by mean and by rank disagree: look at the picture");
	}
}

static void remarks(const struct kab_samples_report *report, struct kab_strv *lines)
{
	bool few = false;

	for (size_t i = 0; i < report->n; i++)
		few |= report->v[i].n_units < 2;
	if (report->boots)
		kab_wrap(lines,
			 "Avg, Stddev and all tests are over boot means; Min, Max and Median over "
			 "all values.",
			 KAB_WIDTH_AIM, 2);
	else
		kab_wrap(
			lines,
			"A plain file has no boots: the values are treated as independent. If they "
			"come from several boots, use --boots.",
			KAB_WIDTH_AIM, 2);
	if (few && report->n > 1)
		kab_wrap(
			lines,
			report->boots
				? "One boot has no spread between boots: 'kab run SUITE --boots 5' "
				  "would tell."
				: "One value has no spread: a test and an interval need more "
				  "values "
				  "in that file.",
			KAB_WIDTH_AIM, 2);
	if (report->n > 2)
		kab_wrap(lines, "Verdicts are adjusted (Holm) for the number of comparisons.",
			 KAB_WIDTH_AIM, 2);
	if (!report->opts.dir && report->n > 1)
		kab_wrap(lines,
			 "No direction: --direction lower|higher says which is better, and adds "
			 "the verdict.",
			 KAB_WIDTH_AIM, 2);
}

void kab_samples_report_text(const struct kab_samples_report *report, bool picture,
			     struct kab_buf *out)
{
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;

	for (size_t i = 0; i < report->n; i++)
		kab_buf_addf(out, "%c %s%s\n", kab_samples_letter(i), report->v[i].name,
			     i == 0 && report->n > 1 ? " (baseline)" : "");
	if (picture) {
		kab_buf_addc(out, '\n');
		kab_samples_picture(report, out);
	}
	kab_buf_addc(out, '\n');
	table(report, out);
	for (size_t i = 1; i < report->n; i++) {
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

		if (i == 1)
			kab_strv_add(&lines, "");
		kab_buf_addf(&buf, "%c %s: ", kab_samples_letter(i), report->v[i].name);
		sentence(report, i, &buf);
		kab_wrap(&lines, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
		numbers(report, i, &lines);
	}
	kab_strv_add(&lines, "");
	remarks(report, &lines);
	kab_render_lines(&lines, out);
}
