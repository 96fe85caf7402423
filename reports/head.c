/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of a table: which way is better, what the numbers are, how many, which test. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/view_internal.h"

struct span {
	size_t lo, hi;
};

static void widen(struct span *s, size_t v)
{
	s->lo = v < s->lo ? v : s->lo;
	s->hi = v > s->hi ? v : s->hi;
}

static void add_span(struct kab_buf *buf, const struct span *s)
{
	kab_buf_addf(buf, "%zu", s->lo);
	if (s->hi > s->lo)
		kab_buf_addf(buf, "..%zu", s->hi);
}

struct counts {
	struct span boots, per_boot;
	struct span summary; /* n of summaries: lo is SIZE_MAX without any */
	bool boots_unknown, restarts, any, one_boot, failed, part_missing, missing;
};

static bool has_summaries(const struct counts *c)
{
	return c->summary.lo != SIZE_MAX;
}

static struct counts count(const struct kab_group *g, const struct kab_view_opts *opts)
{
	struct counts c = { .boots = { SIZE_MAX, 0 },
			    .per_boot = { SIZE_MAX, 0 },
			    .summary = { SIZE_MAX, 0 } };

	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);

		for (size_t k = 0; k < row->n_sets; k++) {
			const struct kab_set_summary *set = &row->sets[k];
			char trouble[64];

			if (!kab_view_shows(opts, k))
				continue;
			kab_set_trouble(set, trouble);
			c.failed |= !strncmp(trouble, "fail", 4);
			c.part_missing |= !strncmp(trouble, "missing ", 8);
			c.missing |= !strcmp(trouble, "missing");
			if (set->summary)
				widen(&c.summary, set->n_units);
			if (!set->n_values)
				continue;
			c.any = true;
			c.boots_unknown |= row->data->boots_unknown;
			c.restarts |= row->data->restarts;
			c.one_boot |= set->n_boots == 1;
			widen(&c.boots, set->n_boots);
			widen(&c.per_boot, set->per_boot_min);
			widen(&c.per_boot, set->per_boot_max);
		}
	}
	return c;
}

/* "n=5 boots x 10", "n=10 in one boot", "n=4..5 boots x 8..10"; of what was imported also "n=10,
 * boots unknown", "n=10 (summary only), boots unknown". */
static char *n_text(const struct counts *c)
{
	const char *word = c->restarts ? "restart" : "boot";
	struct kab_buf buf = KAB_BUF_INIT;

	kab_buf_adds(&buf, "n=");
	if (!c->any && has_summaries(c)) {
		add_span(&buf, &c->summary);
		kab_buf_adds(&buf, " (summary only), boots unknown");
		return kab_buf_detach(&buf);
	}
	if (!c->any) {
		kab_buf_addc(&buf, '0');
	} else if (c->boots.hi == 1) {
		add_span(&buf, &c->per_boot);
		if (c->boots_unknown)
			kab_buf_adds(&buf, ", boots unknown");
		else
			kab_buf_addf(&buf, " in one %s", word);
	} else {
		add_span(&buf, &c->boots);
		kab_buf_addf(&buf, " %ss x ", word);
		add_span(&buf, &c->per_boot);
	}
	if (has_summaries(c)) {
		kab_buf_adds(&buf, ", summaries of n=");
		add_span(&buf, &c->summary);
	}
	return kab_buf_detach(&buf);
}

static const char *direction(enum kab_direction dir)
{
	return dir == KAB_DIR_LOWER    ? "LOWER is better"
	       : dir == KAB_DIR_HIGHER ? "HIGHER is better"
				       : "no direction";
}

static char *subject(const struct kab_group *g)
{
	const struct kab_row_data *first = kab_group_row(g, 0)->data;
	bool one_case = true;

	for (size_t i = 1; i < g->n; i++)
		one_case &= !strcmp(kab_group_row(g, i)->data->case_name, first->case_name);
	/* What was measured elsewhere has no runner of ours. */
	if (!strcmp(first->runner, "import"))
		return kab_xstrdup(one_case ? first->case_name : "imported results");
	if (one_case && strcmp(first->case_name, first->runner) != 0)
		return kab_xasprintf("%s %s", first->runner, first->case_name);
	return kab_xstrdup(first->runner);
}

static void describe_spread(const struct kab_view_opts *opts, const struct counts *c,
			    double confidence, struct kab_buf *buf)
{
	char interval[64];
	const char *what;

	snprintf(interval, sizeof(interval), "half the %g %% interval of the mean",
		 100 * confidence);
	what = opts->pm == KAB_PM_SD	 ? "the standard deviation"
	       : opts->pm == KAB_PM_SEM	 ? "the standard error of the mean"
	       : opts->pm == KAB_PM_CI95 ? interval
					 : "the CV";
	kab_buf_addf(buf, "+/- is %s over %s", what,
		     !c->any && has_summaries(c) ? "what was summarised"
		     : c->any && c->boots.hi > 1 ? (c->restarts ? "restart means" : "boot means")
						 : "iterations");
	if (c->one_boot && c->boots.hi > 1)
		kab_buf_addf(buf, ", over iterations where there is one %s",
			     c->restarts ? "restart" : "boot");
}

static void describe_marks(const struct kab_group *g, const struct kab_view_opts *opts,
			   struct kab_table *t)
{
	const struct kab_judgement *j = g->judgement;
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	double lo = INFINITY, hi = -INFINITY, alpha = 0;
	const struct kab_judged_row *looked = NULL;
	bool paired = false, restarts = false, tested = false, summaries = true;

	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);

		for (size_t p = 0; p < row->n_pairs; p++) {
			if (!row->pairs[p].tested || !kab_view_shows(opts, p + 1))
				continue;
			tested = true;
			summaries &= row->pairs[p].summary;
			paired |= row->data->paired;
			restarts |= row->data->restarts;
			looked = row->look ? row : looked;
			alpha = row->alpha;
			lo = fmin(lo, row->pairs[p].margin_pct);
			hi = fmax(hi, row->pairs[p].margin_pct);
		}
	}
	if (!tested)
		return;
	/* Two one-sided tests at the level of the others: alpha in each tail. */
	kab_buf_addf(&buf, "I improved, R regressed, = equivalent: %g%% CI within %g",
		     100 * (1 - 2 * alpha), lo);
	if (hi > lo)
		kab_buf_addf(&buf, "..%g", hi);
	kab_buf_adds(&buf, " %, ? inconclusive");
	if (!opts->no_marks)
		kab_wrap(&t->legend, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
	kab_buf_clear(&buf);
	if (opts->no_test)
		return;
	kab_buf_addf(&buf, "test: %s, %g %%, ",
		     summaries	? "Welch t on n, mean and stddev"
		     : paired	? "paired t on log ratios of blocks"
		     : restarts ? "Welch t on restart means"
				: "Welch t on boot means",
		     100 * j->opts.confidence);
	/* The last bound is below the level: what the earlier looks may have spent is taken off. */
	if (looked)
		kab_buf_addf(&buf, "look %d of %d with p below %.2g, ", looked->look,
			     looked->data->looks, looked->alpha);
	if (j->opts.correction == KAB_CORRECT_NONE)
		kab_buf_adds(&buf, "no correction");
	else
		kab_buf_addf(&buf, "%s over %zu",
			     j->opts.correction == KAB_CORRECT_HOLM ? "Holm" : "Benjamini-Hochberg",
			     j->family);
	if (!opts->no_intervals)
		kab_buf_adds(&buf, "; intervals unadjusted");
	kab_wrap(&t->legend, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
}

static void describe_limits(const struct kab_group *g, const struct kab_view_opts *opts,
			    const struct counts *c, struct kab_table *t)
{
	const char *word = c->restarts ? "restart" : "boot";
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	char name[32];

	if (c->any && c->one_boot && c->boots.hi > 1) {
		kab_buf_addf(&buf, "no test, no mark, no interval where a side has one %s", word);
		kab_wrap(&t->legend, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
		kab_buf_clear(&buf);
	} else if (c->any && c->one_boot && c->boots_unknown) {
		kab_buf_adds(&buf, "which boots the values are from is not known: taken as one, no "
				   "test, no marks");
		if (!opts->no_intervals)
			kab_buf_adds(&buf, "; intervals are as within one boot");
		kab_wrap(&t->legend, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
		kab_buf_clear(&buf);
	} else if (c->any && c->one_boot) {
		kab_buf_addf(&buf, "one %s per kernel: inconclusive (one %s), no marks; ", word,
			     word);
		if (!opts->no_intervals)
			kab_buf_addf(&buf, "intervals are within one %s only; ", word);
		kab_buf_addf(&buf, "5 %ss or more (--boots) allow a test", word);
		kab_wrap(&t->legend, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
		kab_buf_clear(&buf);
	} else if (c->any && c->boots.lo < 5 && !opts->no_intervals) {
		kab_buf_addf(&buf, "fewer than 5 %ss per kernel: intervals are wide", word);
		kab_wrap(&t->legend, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
		kab_buf_clear(&buf);
	}
	if (c->failed || c->part_missing || c->missing) {
		if (c->failed)
			kab_buf_adds(&buf, "fail K/N: K of N planned iterations failed");
		if (c->part_missing)
			kab_buf_addf(&buf, "%smissing K/N: K of N planned iterations not there",
				     buf.len ? "; " : "");
		if (c->missing)
			kab_buf_addf(&buf, "%smissing: not measured", buf.len ? "; " : "");
		kab_wrap(&t->legend, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
	}
	if (!opts->short_labels)
		return;
	for (size_t k = 0; k < kab_group_kernels(g); k++) {
		if (!kab_view_shows(opts, k))
			continue;
		kab_buf_clear(&buf);
		kab_buf_addf(&buf, "%s = %s", kab_view_kernel(g, opts, k, name),
			     kab_group_kernel(g, k));
		kab_strv_add(&t->legend, kab_buf_str(&buf));
	}
}

void kab_view_head(const struct kab_group *g, const struct kab_view_opts *opts, struct kab_table *t)
{
	const struct kab_row_data *first = kab_group_row(g, 0)->data;
	const char *metric, *word = opts->unit ? opts->unit : first->unit;
	char *unit kab_autofree =
		opts->exponent ? kab_xasprintf("10^%d%s%s", opts->exponent, *word ? " " : "", word)
			       : kab_xstrdup(word);
	struct counts c = count(g, opts);
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	char *what = subject(g), *n = n_text(&c), *fixed;
	struct kab_labels l = { 0 };

	t->benchmark = kab_xstrdup(what);
	t->unit = kab_xstrdup(unit);
	t->directed = first->dir != KAB_DIR_NONE;
	t->higher = first->dir == KAB_DIR_HIGHER;
	kab_labels_find(g, false, &l);
	fixed = kab_strv_join(&l.fixed, " ");
	metric = l.part ? kab_metric_base(first->metric) : first->metric;
	kab_labels_release(&l);
	kab_buf_addf(&buf, "%s%s%s: %s%s%s%s, %s, %s", what, *fixed ? " " : "", fixed, metric,
		     *unit ? " (" : "", unit, *unit ? ")" : "", direction(first->dir), n);
	t->title = kab_xstrdup(kab_buf_str(&buf));
	free(what);
	free(n);
	free(fixed);
	if (opts->no_legend)
		return;
	kab_buf_clear(&buf);
	if (opts->raw || first->dir == KAB_DIR_NONE)
		kab_buf_adds(&buf, "diff = (test-base)/base, its sign is not a verdict");
	else
		kab_buf_addf(&buf, "gain = %s/base, + is better",
			     first->dir == KAB_DIR_LOWER ? "(base-test)" : "(test-base)");
	if (opts->no_gain)
		kab_buf_clear(&buf);
	if (!opts->no_spread) {
		if (buf.len)
			kab_buf_adds(&buf, "; ");
		describe_spread(opts, &c, g->judgement->opts.confidence, &buf);
	}
	if (buf.len)
		kab_wrap(&t->legend, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
	describe_marks(g, opts, t);
	describe_limits(g, opts, &c, t);
}
