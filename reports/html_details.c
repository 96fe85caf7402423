/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands behind a row: every number of its sets and comparisons, words included. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/html_internal.h"

/* A line of the small tables: a head, then a cell per kernel or comparison. */
static void line(struct kab_buf *out, const char *head)
{
	kab_buf_addf(out, "<tr><th scope=row>%s", head);
}

static void number(struct kab_buf *out, double value)
{
	kab_buf_adds(out, "<td>");
	kab_html_number(out, value);
}

static void text(struct kab_buf *out, const char *s)
{
	kab_buf_adds(out, "<td>");
	kab_html_escape(out, s);
}

static void count(struct kab_buf *out, size_t n)
{
	kab_buf_addf(out, "<td>%zu", n);
}

static void interval(struct kab_buf *out, double lo, double hi)
{
	kab_buf_adds(out, "<td>");
	if (!isfinite(lo) || !isfinite(hi)) {
		kab_buf_adds(out, "n/a");
		return;
	}
	kab_buf_addc(out, '[');
	kab_html_number(out, lo);
	kab_buf_adds(out, ", ");
	kab_html_number(out, hi);
	kab_buf_addc(out, ']');
}

/* Three digits: more of a p mean nothing. */
static void p_value(struct kab_buf *out, double p)
{
	kab_buf_addf(out, isfinite(p) ? "<td>%.3g" : "<td>n/a", p);
}

typedef double value_of(const struct kab_set_summary *set);

static double mean_of(const struct kab_set_summary *set)
{
	return set->mean;
}
static double sd_of(const struct kab_set_summary *set)
{
	return set->sd;
}
static double sem_of(const struct kab_set_summary *set)
{
	return set->sem;
}
static double cv_of(const struct kab_set_summary *set)
{
	return set->cv_pct;
}
static double min_of(const struct kab_set_summary *set)
{
	return set->min;
}
static double max_of(const struct kab_set_summary *set)
{
	return set->max;
}

static void values(struct kab_buf *out, const struct kab_judged_row *row, const char *head,
		   value_of *get)
{
	line(out, head);
	for (size_t k = 0; k < row->n_sets; k++)
		number(out, kab_set_any(&row->sets[k]) ? get(&row->sets[k]) : NAN);
}

static void percentiles(struct kab_buf *out, const struct kab_judged_row *row)
{
	static const double points[] = { 1, 5, 25, 50, 75, 90, 95, 99, 99.9 };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(points); i++) {
		char head[32];

		snprintf(head, sizeof(head), points[i] == 50 ? "median" : "%g %%", points[i]);
		line(out, head);
		for (size_t k = 0; k < row->n_sets; k++)
			number(out, kab_set_percentile(&row->sets[k], points[i]));
	}
}

/* Of a summary nobody knows the values. */
static bool all_summaries(const struct kab_judged_row *row)
{
	for (size_t k = 0; k < row->n_sets; k++)
		if (!row->sets[k].summary)
			return false;
	return true;
}

static const char *over(const struct kab_judged_row *row, const struct kab_set_summary *set)
{
	return set->summary	     ? "what was summarised"
	       : !set->over_boots    ? "iterations"
	       : row->data->restarts ? "restart means"
				     : "boot means";
}

static void counts(struct kab_buf *out, const struct kab_judged_row *row)
{
	bool lost = false, retried = false;
	char trouble[64];

	line(out, "iterations");
	for (size_t k = 0; k < row->n_sets; k++)
		count(out, kab_set_count(&row->sets[k]));
	line(out, row->data->restarts ? "restarts" : "boots");
	for (size_t k = 0; k < row->n_sets; k++) {
		if (row->sets[k].summary || (row->data->boots_unknown && row->sets[k].n_values))
			text(out, "unknown");
		else
			count(out, row->sets[k].n_boots);
		kab_set_trouble(&row->sets[k], trouble);
		lost |= *trouble != '\0';
		retried |= row->sets[k].data->n_retried > 0;
	}
	if (lost) {
		line(out, "lost");
		for (size_t k = 0; k < row->n_sets; k++) {
			kab_set_trouble(&row->sets[k], trouble);
			text(out, *trouble ? trouble : "none");
		}
	}
	if (retried) {
		line(out, "tried again");
		for (size_t k = 0; k < row->n_sets; k++)
			count(out, row->sets[k].data->n_retried);
	}
}

/* What a set was measured with, where a reader could not guess it. */
static void origin(struct kab_buf *out, const struct kab_judged_row *row)
{
	bool any = false;

	for (size_t k = 0; k < row->n_sets; k++)
		any |= row->sets[k].data->argv_text && *row->sets[k].data->argv_text;
	if (any) {
		line(out, "parameters");
		for (size_t k = 0; k < row->n_sets; k++)
			text(out, row->sets[k].data->argv_text ? row->sets[k].data->argv_text
							       : "unknown");
	}
	any = false;
	for (size_t k = 0; k < row->n_sets; k++)
		any |= row->sets[k].data->runner_version && *row->sets[k].data->runner_version;
	if (!any)
		return;
	line(out, "version");
	for (size_t k = 0; k < row->n_sets; k++)
		text(out, row->sets[k].data->runner_version ? row->sets[k].data->runner_version
							    : "unknown");
}

static void table_head(struct kab_buf *out, const char *cls)
{
	kab_buf_addf(out, "<table class=%s><caption>", cls);
}

static void sets_table(const struct kab_html *page, const struct kab_judged_row *row)
{
	struct kab_buf *out = page->out;
	const struct kab_row_data *d = row->data;
	char interval_head[48];

	table_head(out, "s");
	kab_html_escape(out, d->metric);
	if (*d->unit) {
		kab_buf_adds(out, ", ");
		kab_html_escape(out, d->unit);
	}
	kab_buf_adds(out, "</caption><thead><tr><td>");
	for (size_t k = 0; k < row->n_sets; k++) {
		kab_buf_adds(out, "<th scope=col>");
		kab_html_swatch(out, k);
		kab_html_escape(out, row->sets[k].data->kernel);
	}
	kab_buf_adds(out, "<tbody>");
	counts(out, row);
	line(out, "mean is over");
	for (size_t k = 0; k < row->n_sets; k++)
		text(out, over(row, &row->sets[k]));
	values(out, row, "mean", mean_of);
	values(out, row, "stddev", sd_of);
	values(out, row, "CV, %", cv_of);
	values(out, row, "standard error", sem_of);
	snprintf(interval_head, sizeof(interval_head), "%g %% interval",
		 100 * page->judgement->opts.confidence);
	line(out, interval_head);
	for (size_t k = 0; k < row->n_sets; k++)
		interval(out, row->sets[k].ci_lo, row->sets[k].ci_hi);
	if (!all_summaries(row)) {
		values(out, row, "min", min_of);
		percentiles(out, row);
		values(out, row, "max", max_of);
	}
	origin(out, row);
	kab_buf_adds(out, "</table>\n");
}

typedef void pair_cell(struct kab_buf *out, const struct kab_pair *pair);

static void gain_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	number(out, pair->gain_pct);
}
static void gain_interval_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	interval(out, pair->gain_lo_pct, pair->gain_hi_pct);
}
static void diff_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	number(out, pair->diff_pct);
}
static void difference_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	number(out, pair->compared ? pair->cmp.diff : NAN);
}
static void ratio_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	number(out, pair->compared ? pair->cmp.ratio : NAN);
}
static void p_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	p_value(out, pair->compared && pair->tested ? pair->cmp.p : NAN);
}
static void adjusted_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	p_value(out, pair->compared && pair->in_family ? pair->cmp.p_adjusted : NAN);
}
static void rank_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	p_value(out,
		pair->compared && pair->tested && !pair->summary ? pair->cmp.mann_whitney.p : NAN);
}
static void method_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	text(out, pair->compared ? kab_method_name(pair->cmp.method) : "none");
}
static void t_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	number(out, pair->compared && pair->tested ? pair->cmp.ratio_test.t : NAN);
}
static void df_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	number(out, pair->compared && pair->tested ? pair->cmp.ratio_test.df : NAN);
}
static void margin_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	number(out, pair->margin_pct);
}
static void verdict_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	kab_buf_adds(out, "<td>");
	kab_html_verdict(out, pair);
}
static void reason_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	text(out, pair->reason);
}
static void warning_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	text(out, pair->warning ? pair->warning : "none");
}
static void blocks_cell(struct kab_buf *out, const struct kab_pair *pair)
{
	kab_buf_addf(out, "<td>%zu, %zu left out", pair->blocks, pair->blocks_left_out);
}

static void pairs(struct kab_buf *out, const struct kab_judged_row *row, const char *head,
		  pair_cell *cell)
{
	line(out, head);
	for (size_t p = 0; p < row->n_pairs; p++)
		cell(out, &row->pairs[p]);
}

static void pairs_table(const struct kab_html *page, const struct kab_judged_row *row)
{
	struct kab_buf *out = page->out;
	bool directed = row->data->dir != KAB_DIR_NONE, warned = false;
	char head[64];

	table_head(out, "p");
	kab_buf_adds(out, "against ");
	kab_html_escape(out, row->sets[0].data->kernel);
	if (directed)
		kab_buf_addf(out, ", %s is better",
			     row->data->dir == KAB_DIR_LOWER ? "LOWER" : "HIGHER");
	kab_buf_adds(out, "</caption><thead><tr><td>");
	for (size_t p = 0; p < row->n_pairs; p++) {
		kab_buf_adds(out, "<th scope=col>");
		kab_html_swatch(out, p + 1);
		kab_html_escape(out, row->pairs[p].test->data->kernel);
		warned |= row->pairs[p].warning != NULL;
	}
	kab_buf_adds(out, "<tbody>");
	pairs(out, row, "verdict", verdict_cell);
	pairs(out, row, "reason", reason_cell);
	if (warned)
		pairs(out, row, "warning", warning_cell);
	if (directed) {
		pairs(out, row, "gain, %", gain_cell);
		snprintf(head, sizeof(head), "%g %% interval, %%",
			 100 * page->judgement->opts.confidence);
		pairs(out, row, head, gain_interval_cell);
	}
	pairs(out, row, "(test-base)/base, %", diff_cell);
	pairs(out, row, "test/base", ratio_cell);
	pairs(out, row, "test-base", difference_cell);
	pairs(out, row, "p", p_cell);
	if (page->judgement->family) {
		snprintf(head, sizeof(head), "p after %s over %zu",
			 kab_correction_name(page->judgement->opts.correction),
			 page->judgement->family);
		pairs(out, row, head, adjusted_cell);
	}
	pairs(out, row, "t", t_cell);
	pairs(out, row, "df", df_cell);
	pairs(out, row, "Mann-Whitney p", rank_cell);
	pairs(out, row, "method", method_cell);
	pairs(out, row, "margin, %", margin_cell);
	if (row->data->paired)
		pairs(out, row, "blocks", blocks_cell);
	line(out, "level of the test");
	for (size_t p = 0; p < row->n_pairs; p++)
		number(out, row->alpha);
	kab_buf_adds(out, "</table>\n");
}

void kab_html_details(struct kab_html *page, const struct kab_judged_row *row)
{
	char *name kab_autofree = kab_judged_row_name(row);
	struct kab_buf *out = page->out;

	/* To a browser that runs scripts this is one text; to others it is what it says. */
	if (page->lean)
		kab_buf_adds(out, "<noscript>");
	kab_buf_adds(out, "<details><summary>Numbers and order of the run</summary>\n");
	kab_html_element(out, "p", "name", name);
	kab_buf_adds(out, "<div class=two>\n");
	sets_table(page, row);
	if (row->n_pairs)
		pairs_table(page, row);
	kab_buf_adds(out, "</div>\n");
	kab_html_run_order(out, row);
	for (size_t k = 0; k < row->n_sets; k++) {
		const struct kab_sample_set *set = row->sets[k].data;
		char *first kab_autofree = NULL;

		if (!set->first_failure)
			continue;
		first = kab_xasprintf("%s, first failure: %s", set->kernel, set->first_failure);
		kab_html_element(out, "p", "why", first);
	}
	kab_buf_adds(out, page->lean ? "</details></noscript>\n" : "</details>\n");
}
