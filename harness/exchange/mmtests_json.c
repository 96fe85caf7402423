/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `extract-mmtests.pl --print-json` prints of one benchmark under one kernel: operations, each with
 * a list by iteration of sample numbers and values. mmtests knows no boots; its iteration stands for
 * one.
 */
#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "exchange/export.h"

/* "process-pipe-groups=4", with condition, host and metric where one name would stand for several. */
static char *operation(const struct kab_export *x, const struct kab_row_data *row, bool names)
{
	struct kab_buf buf = KAB_BUF_INIT;
	bool metric = false, host = false;

	for (size_t i = 0; i < x->rows.n; i++) {
		const struct kab_row_data *other = &x->rows.v[i];

		metric |= other != row && !strcmp(other->case_name, row->case_name) &&
			  strcmp(other->metric, row->metric);
		host |= strcmp(other->host, row->host) != 0;
	}
	kab_buf_adds(&buf, row->case_name);
	if (*row->row_key)
		kab_buf_addf(&buf, "-%s", row->row_key);
	if (*row->condition)
		kab_buf_addf(&buf, "-%s", row->condition);
	if (metric)
		kab_buf_addf(&buf, "-%s", row->metric);
	if (host) {
		kab_buf_addc(&buf, '-');
		kab_export_host(x, row->host, names, &buf);
	}
	for (size_t i = 0; i < buf.len; i++)
		if (buf.data[i] == ' ')
			buf.data[i] = ',';
	return kab_buf_detach(&buf);
}

static const struct kab_sample_set *set_of(const struct kab_row_data *row, const char *kernel)
{
	for (size_t i = 0; i < row->n_sets; i++)
		if (!strcmp(row->sets[i].kernel, kernel))
			return &row->sets[i];
	return NULL;
}

/* A list with an object for each boot; the numbers of samples go on where an iteration is lost. */
static json_t *boots_of(const struct kab_sample_set *set)
{
	json_t *list = json_array();

	for (size_t b = 0; b < set->n_boots; b++) {
		json_t *values = json_array(), *numbers = json_array();

		for (size_t i = 0; i < set->boots[b].n; i++) {
			json_array_append_new(values, json_real(set->boots[b].v[i].value));
			json_array_append_new(numbers, json_integer((json_int_t)i + 1));
		}
		json_array_append_new(
			list, json_pack("{s:o, s:o}", "SampleNrs", numbers, "Values", values));
	}
	return list;
}

static int choose_kernel(const struct kab_export *x, const char *wish, const char **ret,
			 struct kab_err *err)
{
	struct kab_strv kab_autostrv all = KAB_STRV_INIT;
	char *text kab_autofree = NULL;

	for (size_t i = 0; i < x->rows.n; i++)
		for (size_t s = 0; s < x->rows.v[i].n_sets; s++) {
			const char *label = x->rows.v[i].sets[s].kernel;

			if (!kab_strv_has(&all, label))
				kab_strv_add(&all, label);
			if (wish ? !strcmp(label, wish) : all.n == 1)
				*ret = label;
		}
	text = kab_strv_join(&all, ", ");
	if (!all.n)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "there are no results in run '%s'",
				   x->info.name);
	if (wish && !*ret)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "no kernel '%s' in run '%s'; it has %s",
				   wish, x->info.name, text);
	if (!wish && all.n > 1)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "a file of mmtests is of one kernel: choose one of %s with "
				   "--kernel",
				   text);
	return 0;
}

int kab_export_mmtests(const struct kab_export *x, const struct kab_export_opts *opts,
		       struct kab_buf *ret, struct kab_err *err)
{
	json_t *data = json_object(), *units = json_object(), *doc, *order = json_array();
	const char *kernel = NULL;
	char *text;

	if (choose_kernel(x, opts->kernel, &kernel, err)) {
		json_decref(data);
		json_decref(units);
		json_decref(order);
		return -1;
	}
	for (size_t i = 0; i < x->rows.n; i++) {
		const struct kab_row_data *row = &x->rows.v[i];
		const struct kab_sample_set *set = set_of(row, kernel);
		char *name kab_autofree = operation(x, row, opts->names);

		if (!set || (!row->primary && !opts->all) || json_object_get(data, name))
			continue;
		json_object_set_new(data, name, boots_of(set));
		json_array_append_new(order, json_string(name));
		json_object_set_new(units, name,
				    json_pack("{s:s, s:s, s:i, s:i}", "unit", row->unit,
					      "direction", kab_direction_name(row->dir), "failed",
					      (int)set->n_failed, "missing", (int)set->n_missing));
	}
	doc = json_pack("{s:s, s:s, s:i, s:o, s:o, s:o}", "_ModuleName", "ExtractKab", "_TestName",
			kernel, "_DataType", 0, "_Operations", order, "_ResultData", data, "_Kab",
			units);
	text = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	json_decref(doc);
	kab_buf_adds(ret, text ? text : "{}");
	kab_buf_addc(ret, '\n');
	free(text);
	return 0;
}
