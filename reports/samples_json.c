/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/samples.h"
#include "stats/quantile.h"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *interval(struct kab_interval ci)
{
	if (!isfinite(ci.lo) || !isfinite(ci.hi))
		return json_null();
	return json_pack("[f,f]", ci.lo, ci.hi);
}

/* Names of files need not be UTF-8. */
static json_t *name_of(const char *name)
{
	json_t *ret = json_string(name);
	char *copy;

	if (ret)
		return ret;
	copy = strdup(name);
	for (char *p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	ret = json_string(copy ? copy : "?");
	free(copy);
	return ret;
}

static json_t *percentiles(const struct kab_sample_report *set)
{
	static const unsigned points[] = { 1, 5, 25, 50, 75, 90, 95, 99 };
	json_t *ret = json_object();

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		double value = NAN;
		char key[12];

		kab_quantile_sorted(set->sorted, set->n, 7, points[i], 100, &value);
		snprintf(key, sizeof(key), "%u", points[i]);
		json_object_set_new(ret, key, number(value));
	}
	return ret;
}

static json_t *sample(const struct kab_samples_report *report, const struct kab_sample_report *set)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", name_of(set->name));
	json_object_set_new(o, "n", json_integer((json_int_t)set->n));
	if (report->boots)
		json_object_set_new(o, "boots", json_integer((json_int_t)set->n_units));
	json_object_set_new(o, "mean", number(set->over.mean));
	json_object_set_new(o, "stddev", number(set->over.sd));
	json_object_set_new(o, "sem", number(set->over.sem));
	json_object_set_new(o, "cv_pct", number(set->over.cv_pct));
	json_object_set_new(o, "min", number(set->all.min));
	json_object_set_new(o, "max", number(set->all.max));
	json_object_set_new(o, "median", number(set->all.median));
	json_object_set_new(o, "mad", number(set->all.mad));
	json_object_set_new(o, "percentiles", percentiles(set));
	json_object_set_new(o, "ci95", interval(set->over.ci95));
	if (report->confidence_given)
		json_object_set_new(o, "ci", interval(set->over.ci));
	json_object_set_new(o, "reason",
			    set->n_units > 1 ? json_null()
			    : report->boots  ? json_string("one boot: no spread")
					     : json_string("one value: no spread"));
	return o;
}

static json_t *test(const struct kab_test *t)
{
	return json_pack("{s:o, s:o, s:o}", "t", number(t->t), "df", number(t->df), "p",
			 number(t->p));
}

static json_t *comparison(const struct kab_samples_report *report, size_t i)
{
	const struct kab_comparison *c = &report->v[i].cmp;
	const char *verdict = kab_verdict_name(c->verdict);
	json_t *o = json_object();

	json_object_set_new(o, "base", name_of(report->v[0].name));
	json_object_set_new(o, "test", name_of(report->v[i].name));
	json_object_set_new(o, "gain_pct", number(report->opts.dir ? c->gain_pct : NAN));
	json_object_set_new(o, "delta_pct", number(c->delta_pct));
	json_object_set_new(o, "difference", number(c->diff));
	json_object_set_new(o, "ratio", number(c->ratio));
	json_object_set_new(o, "ratio_ci95", interval(c->ratio_ci95));
	if (report->confidence_given)
		json_object_set_new(o, "ratio_ci", interval(c->ratio_ci));
	json_object_set_new(o, "welch", test(&c->welch.test));
	json_object_set_new(o, "ratio_test", test(&c->ratio_test));
	json_object_set_new(o, "mann_whitney",
			    json_pack("{s:o, s:o, s:b}", "u", number(c->mann_whitney.u), "p",
				      number(c->mann_whitney.p), "exact", c->mann_whitney.exact));
	json_object_set_new(o, "hodges_lehmann",
			    json_pack("{s:o, s:o}", "shift", number(c->hodges_lehmann.shift),
				      "ci95", interval(c->hodges_lehmann.ci)));
	json_object_set_new(o, "p", number(c->p));
	json_object_set_new(o, "p_adjusted", number(c->p_adjusted));
	json_object_set_new(o, "method", json_string(kab_method_name(c->method)));
	json_object_set_new(o, "verdict", *verdict ? json_string(verdict) : json_null());
	json_object_set_new(o, "reason",
			    json_sprintf("%s%s", c->base_zero ? "base is 0; " : "", c->reason));
	return o;
}

void kab_samples_report_json(const struct kab_samples_report *report, struct kab_buf *out)
{
	json_t *root = json_object(), *samples = json_array(), *comparisons = json_array();
	char *dump;

	for (size_t i = 0; i < report->n; i++)
		json_array_append_new(samples, sample(report, &report->v[i]));
	for (size_t i = 1; i < report->n; i++)
		json_array_append_new(comparisons, comparison(report, i));
	json_object_set_new(root, "samples", samples);
	json_object_set_new(root, "comparisons", comparisons);
	json_object_set_new(
		root, "unit_of_analysis",
		json_string(report->boots ? "boots" : "values, treated as independent"));
	dump = json_dumps(root, JSON_INDENT(1));
	kab_buf_adds(out, dump ? dump : "null");
	kab_buf_addc(out, '\n');
	free(dump);
	json_decref(root);
}
