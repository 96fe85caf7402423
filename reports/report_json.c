/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strict JSON: every number that the tables print, at full precision, and those behind it. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *interval(double lo, double hi)
{
	if (!isfinite(lo) || !isfinite(hi))
		return json_null();
	return json_pack("[f,f]", lo, hi);
}

static json_t *count(size_t n)
{
	return json_integer((json_int_t)n);
}

/* Text of other people's tools may not be UTF-8: what is not becomes '?'. */
static json_t *text(const char *s)
{
	json_t *ret = s ? json_string(s) : json_null();
	char *copy;

	if (ret)
		return ret;
	copy = strdup(s);
	for (char *p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	ret = copy ? json_string(copy) : json_null();
	free(copy);
	return ret;
}

static json_t *texts(const struct kab_strv *sv)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < sv->n; i++)
		json_array_append_new(ret, text(sv->v[i]));
	return ret;
}

static const char *why_null(const struct kab_set_summary *set)
{
	if (set->summary)
		return isfinite(set->sd) ? "summary only: n, mean and stddev"
					 : "summary only: n and mean";
	if (!set->n_values)
		return set->data->n_failed ? "every iteration failed" : "no value";
	if (set->n_units < 2)
		return "one value: no spread";
	if (!isfinite(set->cv_pct))
		return "the mean is 0 or signs mix: no CV";
	return NULL;
}

static json_t *percentiles(const struct kab_set_summary *set)
{
	static const struct {
		const char *name;
		double p;
	} points[] = { { "1", 1 },   { "5", 5 },   { "25", 25 }, { "50", 50 },	  { "75", 75 },
		       { "90", 90 }, { "95", 95 }, { "99", 99 }, { "99.9", 99.9 } };
	json_t *ret = json_object();

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		json_object_set_new(ret, points[i].name,
				    number(kab_set_percentile(set, points[i].p)));
	return ret;
}

static json_t *set_object(const struct kab_judged_row *row, const struct kab_set_summary *set)
{
	const struct kab_sample_set *d = set->data;
	json_t *o = json_object(), *units = json_array(), *values = json_array();
	size_t seen = d->n_done + d->n_failed + d->n_missing;

	json_object_set_new(o, "kernel", text(d->kernel));
	json_object_set_new(o, "n", count(kab_set_count(set)));
	json_object_set_new(o, "boots",
			    set->summary || (row->data->boots_unknown && set->n_values)
				    ? json_null()
				    : count(set->n_boots));
	json_object_set_new(o, "summary_only", json_boolean(set->summary));
	json_object_set_new(o, "planned", count(d->n_planned > seen ? d->n_planned : seen));
	json_object_set_new(o, "done", count(d->n_done));
	json_object_set_new(o, "failed", count(d->n_failed));
	json_object_set_new(o, "missing", count(d->n_missing));
	json_object_set_new(o, "retried", count(d->n_retried));
	json_object_set_new(o, "first_failure", text(d->first_failure));
	json_object_set_new(o, "over",
			    json_string(set->summary	      ? "summary"
					: !set->over_boots    ? "iterations"
					: row->data->restarts ? "restarts"
							      : "boots"));
	json_object_set_new(o, "mean", number(set->mean));
	json_object_set_new(o, "stddev", number(set->sd));
	json_object_set_new(o, "sem", number(set->sem));
	json_object_set_new(o, "cv_pct", number(set->cv_pct));
	json_object_set_new(o, "ci", interval(set->ci_lo, set->ci_hi));
	json_object_set_new(o, "min", number(set->min));
	json_object_set_new(o, "median", number(set->median));
	json_object_set_new(o, "max", number(set->max));
	json_object_set_new(o, "percentiles", percentiles(set));
	for (size_t i = 0; i < set->n_units && set->over_boots; i++)
		json_array_append_new(units, number(set->units[i]));
	json_object_set_new(o, "boot_means", units);
	for (size_t i = 0; i < set->n_values; i++)
		json_array_append_new(values, number(set->in_order[i]));
	json_object_set_new(o, "values", values);
	json_object_set_new(o, "parameters", text(d->argv_text));
	json_object_set_new(o, "runner_version", text(d->runner_version));
	json_object_set_new(o, "reason", text(why_null(set)));
	return o;
}

static json_t *pair_object(const struct kab_pair *pair)
{
	const struct kab_comparison *cmp = pair->compared ? &pair->cmp : NULL;
	json_t *o = json_object();

	json_object_set_new(o, "base", text(pair->base->data->kernel));
	json_object_set_new(o, "test", text(pair->test->data->kernel));
	json_object_set_new(o, "verdict", json_string(kab_outcome_name(pair->outcome)));
	json_object_set_new(o, "mark",
			    json_string(pair->tested ? kab_outcome_mark(pair->outcome) : ""));
	json_object_set_new(o, "reason", text(pair->reason));
	json_object_set_new(o, "warning", text(pair->warning));
	json_object_set_new(o, "gain_pct", number(pair->gain_pct));
	json_object_set_new(o, "gain_ci_pct", interval(pair->gain_lo_pct, pair->gain_hi_pct));
	json_object_set_new(o, "diff_pct", number(pair->diff_pct));
	json_object_set_new(o, "ratio", number(cmp ? cmp->ratio : NAN));
	json_object_set_new(o, "difference", number(cmp ? cmp->diff : NAN));
	json_object_set_new(o, "base_mean", number(cmp ? cmp->mean_base : NAN));
	json_object_set_new(o, "test_mean", number(cmp ? cmp->mean_test : NAN));
	json_object_set_new(o, "margin_pct", number(pair->margin_pct));
	json_object_set_new(o, "method", json_string(cmp ? kab_method_name(cmp->method) : "none"));
	json_object_set_new(o, "within_one_boot", json_boolean(pair->one_boot));
	json_object_set_new(o, "t", number(cmp && pair->tested ? cmp->ratio_test.t : NAN));
	json_object_set_new(o, "df", number(cmp && pair->tested ? cmp->ratio_test.df : NAN));
	json_object_set_new(o, "p", number(cmp && pair->tested ? cmp->p : NAN));
	json_object_set_new(o, "p_adjusted",
			    number(cmp && pair->in_family ? cmp->p_adjusted : NAN));
	json_object_set_new(
		o, "mann_whitney_p",
		number(cmp && pair->tested && !pair->summary ? cmp->mann_whitney.p : NAN));
	json_object_set_new(o, "blocks", count(pair->blocks));
	json_object_set_new(o, "blocks_left_out", count(pair->blocks_left_out));
	json_object_set_new(o, "gate", json_boolean(pair->gate));
	return o;
}

static json_t *row_object(const struct kab_judged_row *row)
{
	const struct kab_row_data *d = row->data;
	json_t *o = json_object(), *sets = json_array(), *pairs = json_array();

	json_object_set_new(o, "host", text(d->host));
	json_object_set_new(o, "condition", text(d->condition));
	json_object_set_new(o, "case", text(d->case_name));
	json_object_set_new(o, "row", text(d->row_key));
	json_object_set_new(o, "runner", text(d->runner));
	json_object_set_new(o, "metric", text(d->metric));
	json_object_set_new(o, "unit", text(d->unit));
	json_object_set_new(o, "direction", json_string(kab_direction_name(d->dir)));
	json_object_set_new(o, "primary", json_boolean(d->primary));
	json_object_set_new(o, "carries_verdict", json_boolean(row->verdict));
	json_object_set_new(o, "paired", json_boolean(d->paired));
	json_object_set_new(o, "alpha", number(row->alpha));
	json_object_set_new(o, "look", row->look ? count((size_t)row->look) : json_null());
	for (size_t i = 0; i < row->n_sets; i++)
		json_array_append_new(sets, set_object(row, &row->sets[i]));
	for (size_t i = 0; i < row->n_pairs; i++)
		json_array_append_new(pairs, pair_object(&row->pairs[i]));
	json_object_set_new(o, "sets", sets);
	json_object_set_new(o, "comparisons", pairs);
	return o;
}

static const char *kernel_of(const struct kab_judgement *j, size_t k)
{
	for (size_t r = 0; r < j->n; r++)
		if (k < j->v[r].n_sets)
			return j->v[r].sets[k].data->kernel;
	return NULL;
}

static json_t *summaries(const struct kab_judgement *j)
{
	json_t *ret = json_array();

	for (size_t p = 0; p + 1 < j->n_kernels; p++) {
		json_t *o = json_object();
		struct kab_tally tally;
		char *line;

		kab_judge_tally(j, p, &tally);
		line = kab_tally_text(&tally);
		json_object_set_new(o, "base", text(kernel_of(j, 0)));
		json_object_set_new(o, "test", text(kernel_of(j, p + 1)));
		json_object_set_new(o, "rows", count(tally.rows));
		for (int i = 0; i < KAB_OUTCOME_NO_VERDICT; i++)
			json_object_set_new(o, kab_outcome_name((enum kab_outcome)i),
					    count(tally.by[i]));
		json_object_set_new(o, "with_failures", count(tally.with_failures));
		json_object_set_new(o, "text", text(line));
		json_array_append_new(ret, o);
		free(line);
	}
	return ret;
}

static json_t *preamble_object(const struct kab_preamble *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "machine", text(p->machine));
	json_object_set_new(o, "nodes", texts(&p->nodes));
	json_object_set_new(o, "power", text(p->power));
	json_object_set_new(o, "virt", text(p->virt));
	json_object_set_new(o, "kernels", texts(&p->kernels));
	json_object_set_new(o, "config", text(p->config));
	json_object_set_new(o, "bench", texts(&p->bench));
	json_object_set_new(o, "runs", text(p->runs));
	json_object_set_new(o, "stats", text(p->stats));
	json_object_set_new(o, "quiet", text(p->quiet));
	json_object_set_new(o, "differs", texts(&p->differs));
	json_object_set_new(o, "notices", texts(&p->notices));
	json_object_set_new(o, "reproduce", texts(&p->reproduce));
	return o;
}

void kab_report_json(const struct kab_judgement *judgement, const char *metric,
		     const struct kab_preamble *preamble, struct kab_buf *out)
{
	json_t *root = json_object(), *rows = json_array(), *options = json_object();
	char *dump;

	json_object_set_new(root, "summary", summaries(judgement));
	json_object_set_new(options, "confidence_pct", number(100 * judgement->opts.confidence));
	json_object_set_new(options, "correction",
			    json_string(kab_correction_name(judgement->opts.correction)));
	json_object_set_new(options, "family", count(judgement->family));
	json_object_set_new(root, "options", options);
	json_object_set_new(root, "failed_or_missing", json_boolean(judgement->any_failed));
	json_object_set_new(root, "regressed", json_boolean(judgement->any_regressed));
	json_object_set_new(root, "preamble", preamble ? preamble_object(preamble) : json_null());
	for (size_t r = 0; r < judgement->n; r++)
		if (!metric || !strcmp(metric, judgement->v[r].data->metric))
			json_array_append_new(rows, row_object(&judgement->v[r]));
	json_object_set_new(root, "rows", rows);
	dump = json_dumps(root, JSON_INDENT(1));
	kab_buf_adds(out, dump ? dump : "null");
	kab_buf_addc(out, '\n');
	free(dump);
	json_decref(root);
}
