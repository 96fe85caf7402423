/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What hyperfine exports as JSON: of each command its times, in seconds, one per run, and the exit
 * codes (null: ended by a signal). A run that failed is a failure, and its time is none. Version 2 of
 * the format has a list of measurements instead.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "exchange/import_log.h"

#define RUNNER "hyperfine"

struct reader {
	const struct kab_import_from *from;
	const char *case_name;
	struct kab_strv rows, kernels, commands; /* side by side, as they were read */
};

static void add_value(struct kab_buf *buf, const char *name, const json_t *value)
{
	char *text kab_autofree = json_is_string(value)
					  ? kab_xstrdup(json_string_value(value))
					  : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	kab_buf_addf(buf, "%s%s=%s", buf->len ? " " : "", name, text ? text : "");
}

static const char *command_of(json_t *result)
{
	const char *command = json_string_value(json_object_get(result, "command"));

	return command ? command : "";
}

/* "size=10 threads=2" of a parameter scan; "" without. Caller frees. */
static char *parameters_of(json_t *result)
{
	struct kab_buf buf = KAB_BUF_INIT;
	json_t *value;
	const char *key;

	json_object_foreach (json_object_get(result, "parameters"), key, value)
		add_value(&buf, key, value);
	return buf.data ? kab_buf_detach(&buf) : kab_xstrdup("");
}

/* What tells this result from the others of its file: the parameters, else the command. */
static char *row_of(json_t *results, size_t index)
{
	json_t *result = json_array_get(results, index);
	char *own = parameters_of(result), *both;
	bool unique = true;

	for (size_t i = 0; i < json_array_size(results); i++) {
		char *other kab_autofree = parameters_of(json_array_get(results, i));

		unique &= i == index || strcmp(own, other) != 0;
	}
	if (unique)
		return own;
	both = kab_xasprintf("%s%s%s", own, *own ? " " : "", command_of(result));
	free(own);
	return both;
}

/* One run of the command; status NULL: not told. */
static int add_run(struct reader *r, const struct kab_import_log *log,
		   const struct kab_import_place *place, const struct kab_json *time,
		   json_t *status, struct kab_import *ret, struct kab_err *err)
{
	struct kab_import_iter *it;
	char reason[48];

	(void)r;
	if (!json_is_number(time->value) || !(json_number_value(time->value) >= 0) ||
	    !isfinite(json_number_value(time->value))) {
		char found[80];

		return kab_json_fail(time, err, "expected a time in seconds, found %s",
				     kab_json_found(time, found));
	}
	it = kab_import_add(ret, place, log->boot);
	if (!status || (json_is_integer(status) && json_integer_value(status) == 0)) {
		it->exit_status = status ? 0 : -1;
		kab_samples_add(&it->samples, "time", "s", KAB_DIR_LOWER,
				json_number_value(time->value));
		return 0;
	}
	if (json_is_integer(status)) {
		snprintf(reason, sizeof(reason), "exit status %lld",
			 (long long)json_integer_value(status));
		if (json_integer_value(status) > 0 && json_integer_value(status) < 256)
			it->exit_status = (int)json_integer_value(status);
	} else {
		snprintf(reason, sizeof(reason), "ended by a signal: no exit status");
	}
	kab_import_fail(ret, it, reason);
	return 0;
}

static void add_memory(struct kab_import *ret, size_t first, json_t *memory, size_t n)
{
	if (!json_is_array(memory) || json_array_size(memory) != n)
		return;
	for (size_t i = 0; i < n; i++) {
		json_t *value = json_array_get(memory, i);

		if (json_is_number(value) && ret->v[first + i].state == KAB_ITER_DONE)
			kab_samples_add(&ret->v[first + i].samples, "memory_usage", "B",
					KAB_DIR_NONE, json_number_value(value));
	}
}

static int read_times(struct reader *r, const struct kab_import_log *log,
		      const struct kab_import_place *place, const struct kab_json *result,
		      struct kab_import *ret, struct kab_err *err)
{
	struct kab_json times = kab_json_get(result, "times");
	struct kab_json codes = kab_json_get(result, "exit_codes");
	size_t n, first = ret->n;

	if (!times.value)
		return kab_json_fail(result, err,
				     "there are no 'times', only their mean, and how many there "
				     "were is not told; export with hyperfine 1.4 or later, or "
				     "import it as a summary table");
	if (kab_json_array(&times, err) || (codes.value && kab_json_array(&codes, err)))
		return -1;
	n = json_array_size(times.value);
	if (codes.value && json_array_size(codes.value) != n)
		return kab_json_fail(&codes, err, "%zu exit codes for %zu times",
				     json_array_size(codes.value), n);
	if (!codes.value)
		kab_import_caveat(ret,
				  "no exit codes in the file: whether a run failed is not known");
	for (size_t i = 0; i < n; i++) {
		struct kab_json time = kab_json_at(&times, i);

		if (add_run(r, log, place, &time,
			    codes.value ? json_array_get(codes.value, i) : NULL, ret, err))
			return -1;
	}
	add_memory(ret, first, json_object_get(result->value, "memory_usage_byte"), n);
	if (json_object_get(result->value, "user"))
		kab_import_note(ret, "user and system time are not imported: the file has their "
				     "means only, those of failed runs in them");
	return 0;
}

/* Version 2: [{"time_wall_clock": {"value": 1.0, "unit": "second"}, "exit_code": 0}]. */
static int read_measurements(struct reader *r, const struct kab_import_log *log,
			     const struct kab_import_place *place, const struct kab_json *list,
			     struct kab_import *ret, struct kab_err *err)
{
	if (kab_json_array(list, err))
		return -1;
	for (size_t i = 0; i < json_array_size(list->value); i++) {
		struct kab_json item = kab_json_at(list, i);
		struct kab_json wall = kab_json_get(&item, "time_wall_clock");
		struct kab_json value = kab_json_get(&wall, "value");
		const char *unit = json_string_value(json_object_get(wall.value, "unit"));

		if (!unit || strcmp(unit, "second"))
			return kab_json_fail(&wall, err, "expected a time with unit 'second'");
		if (add_run(r, log, place, &value, json_object_get(item.value, "exit_code"), ret,
			    err))
			return -1;
	}
	kab_import_note(ret, "only the wall clock time of each measurement is imported");
	return 0;
}

/* Two kernels of which each ran something else are not compared without a word. */
static void note_command(struct reader *r, const char *row, const char *kernel, const char *command,
			 struct kab_import *ret)
{
	for (size_t i = 0; i < r->rows.n; i++)
		if (!strcmp(r->rows.v[i], row) && strcmp(r->commands.v[i], command))
			kab_import_caveat(ret, "not the same command: '%s' of %s, '%s' of %s",
					  r->commands.v[i], r->kernels.v[i], command, kernel);
	kab_strv_add(&r->rows, row);
	kab_strv_add(&r->kernels, kernel);
	kab_strv_add(&r->commands, command);
	kab_import_note(ret, "command of %s%s%s: %s", kernel, *row ? ", " : "", row, command);
}

static int read_result(struct reader *r, const struct kab_import_log *log, json_t *results,
		       size_t index, const struct kab_json *result, struct kab_import *ret,
		       struct kab_err *err)
{
	char *row kab_autofree = NULL, *shown kab_autofree = NULL, *command kab_autofree = NULL;
	struct kab_import_place place = { .kernel = log->kernel,
					  .host = r->from->host,
					  .case_name = r->case_name,
					  .runner = RUNNER };
	struct kab_json measurements;

	if (kab_json_object(result, NULL, err))
		return -1;
	measurements = kab_json_get(result, "measurements");
	row = row_of(results, index);
	shown = kab_import_shown(row);
	place.row_key = shown;
	command = kab_import_shown(command_of(result->value));
	note_command(r, shown, log->kernel, command, ret);
	if (measurements.value)
		return read_measurements(r, log, &place, &measurements, ret, err);
	return read_times(r, log, &place, result, ret, err);
}

static int read_one(void *ctx, const struct kab_import_log *log, struct kab_import *ret,
		    struct kab_err *err)
{
	struct reader *r = ctx;
	char *file kab_autofree = kab_import_shown(log->file);
	struct kab_json root, results;
	json_t *doc;
	int rc = 0;

	if (log->cut)
		return kab_err_set(err, KAB_ERR_PARSE, "%s: longer than %zu bytes", file, log->len);
	if (kab_json_load_bytes(file, log->bytes, log->len, &doc, err))
		return -1;
	root = kab_json_root(doc, file);
	results = kab_json_get(&root, "results");
	if (!results.value)
		rc = kab_json_fail(&root, err,
				   "there is no 'results': this is no export of hyperfine");
	else
		rc = kab_json_array(&results, err);
	for (size_t i = 0; !rc && i < json_array_size(results.value); i++) {
		struct kab_json result = kab_json_at(&results, i);

		rc = read_result(r, log, results.value, i, &result, ret, err);
	}
	json_decref(doc);
	return rc;
}

int kab_import_hyperfine(const struct kab_import_source *sources, size_t n,
			 const struct kab_import_from *from, struct kab_import *ret,
			 struct kab_err *err)
{
	struct reader reader = { .from = from,
				 .case_name = from->case_name ? from->case_name : RUNNER };
	int rc;

	*ret = (struct kab_import){ 0 };
	rc = kab_import_each_file(sources, n, from, read_one, &reader, ret, err);
	if (!rc)
		rc = kab_import_judge(ret, reader.case_name, RUNNER, "time", "s", KAB_DIR_LOWER,
				      NULL, err);
	kab_strv_release(&reader.rows);
	kab_strv_release(&reader.kernels);
	kab_strv_release(&reader.commands);
	return rc;
}
