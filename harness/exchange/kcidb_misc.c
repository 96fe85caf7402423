/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and "misc" of a test in a KCIDB report: all that its schema has no place for. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "exchange/kcidb_internal.h"

static void add_part(struct kab_buf *path, const char *s)
{
	if (!*s)
		return;
	if (path->len)
		kab_buf_addc(path, '.');
	for (; *s; s++)
		kab_buf_addc(path, isalnum((unsigned char)*s) || *s == '_' || *s == '-' ? *s : '_');
}

char *kab_kcidb_path(const struct kab_row_data *row)
{
	struct kab_buf path = KAB_BUF_INIT;

	add_part(&path, row->runner);
	if (strcmp(row->case_name, row->runner))
		add_part(&path, row->case_name);
	add_part(&path, row->condition);
	add_part(&path, row->row_key);
	add_part(&path, row->metric);
	return kab_buf_detach(&path);
}

static void set_count(json_t *to, const char *key, size_t n)
{
	json_object_set_new(to, key, json_integer((json_int_t)n));
}

static void set_interval(json_t *to, const char *key, double lo, double hi)
{
	if (isfinite(lo) && isfinite(hi))
		json_object_set_new(to, key, json_pack("[f,f]", lo, hi));
}

static const char *unit_of_analysis(const struct kab_judged_row *row,
				    const struct kab_set_summary *set)
{
	if (!set->over_boots)
		return "iteration";
	return row->data->restarts ? "restart" : "boot";
}

static json_t *compared(const struct kab_judgement *j, const struct kab_judged_row *row, size_t s)
{
	const struct kab_pair *pair = &row->pairs[s - 1];
	json_t *o = json_object();

	kab_kcidb_text(o, "baseline", row->sets[0].data->kernel);
	kab_kcidb_real(o, "baseline_value", row->sets[0].mean);
	kab_kcidb_text(o, "verdict", kab_outcome_name(pair->outcome));
	kab_kcidb_text(o, "reason", pair->reason);
	if (pair->compared) {
		kab_kcidb_real(o, "gain_pct", pair->gain_pct);
		set_interval(o, "gain_interval_pct", pair->gain_lo_pct, pair->gain_hi_pct);
	}
	if (pair->compared && pair->tested) {
		kab_kcidb_real(o, "p", pair->cmp.p);
		kab_kcidb_real(o, "p_adjusted", pair->cmp.p_adjusted);
	}
	kab_kcidb_text(o, "correction", kab_correction_name(j->opts.correction));
	kab_kcidb_real(o, "margin_pct", pair->margin_pct);
	return o;
}

json_t *kab_kcidb_misc(const struct kab_run_info *run, const struct kab_judgement *j,
		       const struct kab_judged_row *row, size_t s, const char *lab)
{
	const struct kab_set_summary *set = &row->sets[s];
	json_t *misc = json_object();

	kab_kcidb_text(misc, "runtime", lab);
	kab_kcidb_text(misc, "suite", run->suite_name);
	kab_kcidb_text(misc, "run", run->name);
	kab_kcidb_text(misc, "runner", row->data->runner);
	kab_kcidb_text(misc, "case", row->data->case_name);
	kab_kcidb_text(misc, "row", row->data->row_key);
	kab_kcidb_text(misc, "condition", row->data->condition);
	kab_kcidb_text(misc, "metric", row->data->metric);
	kab_kcidb_text(misc, "direction", kab_direction_name(row->data->dir));
	kab_kcidb_text(misc, "kernel", set->data->kernel);
	kab_kcidb_text(misc, "parameters", set->data->argv_text);
	set_count(misc, "n", kab_set_count(set));
	set_count(misc, "boots", set->n_boots);
	if (row->data->restarts)
		json_object_set_new(misc, "boots_are_restarts", json_true());
	set_count(misc, "planned", set->data->n_planned);
	set_count(misc, "failed", set->data->n_failed);
	set_count(misc, "missing", set->data->n_missing);
	if (kab_set_any(set)) {
		kab_kcidb_text(misc, "statistic",
			       set->summary				? "imported summary"
			       : set->over_boots && row->data->restarts ? "mean of restart means"
			       : set->over_boots			? "mean of boot means"
									: "mean");
		kab_kcidb_text(misc, "unit_of_analysis", unit_of_analysis(row, set));
		kab_kcidb_real(misc, "stddev", set->sd);
		set_interval(misc, "interval", set->ci_lo, set->ci_hi);
		kab_kcidb_real(misc, "confidence", j->opts.confidence);
		if (!isfinite(set->sd))
			kab_kcidb_text(misc, "stddev_reason", "one value");
		if (!isfinite(set->ci_lo) || !isfinite(set->ci_hi))
			kab_kcidb_text(misc, "interval_reason", "one value");
		kab_kcidb_real(misc, "min", set->min);
		kab_kcidb_real(misc, "max", set->max);
	} else {
		kab_kcidb_text(misc, "number_reason",
			       set->data->n_failed ? "every iteration failed" : "no value");
	}
	if (s)
		json_object_set_new(misc, "comparison", compared(j, row, s));
	return misc;
}
