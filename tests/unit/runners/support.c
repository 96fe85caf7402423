/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

char *slurp(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	char *data;
	long len;

	if (!f || fseek(f, 0, SEEK_END) || (len = ftell(f)) < 0) {
		fprintf(stderr, "cannot read %s\n", path);
		abort();
	}
	rewind(f);
	data = kab_xcalloc(1, (size_t)len + 1);
	if (fread(data, 1, (size_t)len, f) != (size_t)len)
		abort();
	fclose(f);
	*ret_len = (size_t)len;
	return data;
}

static const char *status_of(json_t *expect)
{
	const char *status = json_string_value(json_object_get(expect, "status"));
	const char *error = json_string_value(json_object_get(expect, "error"));

	if (strcmp(status, "error"))
		return status;
	if (!strcmp(error, "tool failed"))
		return "tool-failed";
	return !strcmp(error, "no result") ? "no-result" : error;
}

void fixtures_load(struct fixtures *fixtures, const char *dir)
{
	char *path = kab_xasprintf("%s/INDEX.json", dir);
	json_error_t where;
	json_t *list, *entry, *value;
	size_t i;

	*fixtures = (struct fixtures){ .doc = json_load_file(path, 0, &where) };
	if (!fixtures->doc) {
		fprintf(stderr, "%s: %s\n", path, where.text);
		abort();
	}
	free(path);
	list = json_object_get(fixtures->doc, "files");
	json_array_foreach (list, i, entry) {
		const char *tool = json_string_value(json_object_get(entry, "tool"));
		json_t *expect = json_object_get(entry, "expect");
		struct fixture *f;
		const char *key;

		if (!kab_runner_find(tool))
			continue;
		f = KAB_PUSH(fixtures);
		f->file = json_string_value(json_object_get(entry, "file"));
		f->tool = tool;
		f->status = status_of(expect);
		f->metrics = json_object_get(expect, "metrics");
		value = json_object_get(entry, "exit_status");
		f->exit_status =
			json_is_integer(value) ? (int)json_integer_value(value) : KAB_EXIT_UNKNOWN;
		json_object_foreach (json_object_get(entry, "params"), key, value)
			kab_params_set(&f->params, key, json_string_value(value));
		path = kab_xasprintf("%s/%s", dir, f->file);
		f->data = slurp(path, &f->len);
		free(path);
	}
}

void fixtures_release(struct fixtures *fixtures)
{
	for (size_t i = 0; i < fixtures->n; i++) {
		kab_params_release(&fixtures->v[i].params);
		free(fixtures->v[i].data);
	}
	free(fixtures->v);
	json_decref(fixtures->doc);
}

void parse_bytes(const char *runner, const char *data, size_t len, int exit_status,
		 const struct kab_params *params, struct kab_parse_result *ret)
{
	static const struct kab_params none = { 0 };
	/* Exactly as many bytes as there are: reading past them is found. */
	char *copy = kab_xmemdup(data, len ? len : 1);
	struct kab_stream stream = { .name = "merged", .data = copy, .len = len };
	struct kab_outputs outputs = { .v = &stream, .n = 1 };

	kab_runner_find(runner)->parse(&outputs, exit_status, params ? params : &none, ret);
	free(copy);
}

char *samples_text(const struct kab_parse_result *result)
{
	struct kab_buf out = KAB_BUF_INIT;

	for (size_t i = 0; i < result->samples.n; i++) {
		const struct kab_sample *s = &result->samples.v[i];

		kab_buf_addf(&out, "%s=%.10g %s %s;\n", s->metric, s->value, s->unit,
			     kab_direction_name(s->dir));
	}
	return kab_buf_detach(&out);
}

/* The n-th sample of that name, or NULL. */
static const struct kab_sample *nth(const struct kab_samples *samples, const char *name, size_t n)
{
	for (size_t i = 0; i < samples->n; i++)
		if (!strcmp(samples->v[i].metric, name) && n-- == 0)
			return &samples->v[i];
	return NULL;
}

char *fixture_fault(const struct fixture *fixture, const struct kab_parse_result *result)
{
	const char *status = kab_parse_status_name(result->status);
	bool usable = !strcmp(fixture->status, "ok") || !strcmp(fixture->status, "partial");
	json_t *want;
	size_t i;

	if (strcmp(status, fixture->status))
		return kab_xasprintf("status %s not %s (%s)", status, fixture->status,
				     result->message ? result->message : "");
	if ((result->status == KAB_PARSE_OK) != (result->message == NULL))
		return kab_xasprintf("status %s and message %s", status, result->message);
	if (!usable)
		return result->samples.n ? kab_xasprintf("samples in spite of %s", status) : NULL;
	json_array_foreach (fixture->metrics, i, want) {
		const char *name = json_string_value(json_object_get(want, "name"));
		const char *unit = json_string_value(json_object_get(want, "unit"));
		const char *dir = json_string_value(json_object_get(want, "direction"));
		double value = json_number_value(json_object_get(want, "value"));
		const struct kab_sample *got;
		size_t before = 0, after = 0;

		for (size_t j = 0; j < json_array_size(fixture->metrics); j++) {
			json_t *other = json_array_get(fixture->metrics, j);

			if (strcmp(json_string_value(json_object_get(other, "name")), name))
				continue;
			before += j < i;
			after += j > i;
		}
		got = nth(&result->samples, name, before);
		if (!got)
			return kab_xasprintf("sample %zu of %s is missing", before, name);
		if (!after && nth(&result->samples, name, before + 1))
			return kab_xasprintf("too many samples of %s", name);
		if (fabs(got->value - value) > 1e-9 * fabs(value))
			return kab_xasprintf("%s = %g not %g", name, got->value, value);
		if (unit && strcmp(unit, "as labelled") && strcmp(unit, got->unit))
			return kab_xasprintf("%s has unit %s not %s", name, got->unit, unit);
		if (dir && strcmp(dir, kab_direction_name(got->dir)))
			return kab_xasprintf("%s has direction %s not %s", name,
					     kab_direction_name(got->dir), dir);
	}
	return NULL;
}
