/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of n, mean and standard deviation. CSV: a header with kernel, n, mean and, where there are
 * any, stddev (or sem, the standard error of the mean), host, condition, case, row, metric, unit,
 * direction. JSON: a list of objects with these keys.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "exchange/csv.h"
#include "exchange/import_log.h"

enum column {
	KERNEL,
	HOST,
	CONDITION,
	CASE,
	ROW,
	METRIC,
	UNIT,
	DIRECTION,
	N,
	MEAN,
	STDDEV,
	SEM,
	COLUMNS
};

static const char *const names[COLUMNS + 1] = { "kernel", "host", "condition", "case", "row",
						"metric", "unit", "direction", "n",    "mean",
						"stddev", "sem",  NULL };

/* A line of the table, as text; NULL: not there. */
struct line {
	const char *v[COLUMNS];
	const char *where;
};

static int fail(const struct line *l, enum column column, const char *what, struct kab_err *err)
{
	char *shown kab_autofree = kab_import_shown(l->v[column] ? l->v[column] : "");

	return kab_err_set_at(err, KAB_ERR_PARSE, l->where, "%s: '%s': %s, not '%s'", l->where,
			      names[column], what, shown);
}

static const char *or_else(const char *text, const char *other)
{
	return text && *text ? text : other;
}

static int add_line(const struct line *l, const char *kernel, const struct kab_import_from *from,
		    struct kab_import *ret, struct kab_err *err)
{
	const char *case_name = or_else(l->v[CASE], from->case_name ? from->case_name : "import");
	struct kab_import_place place = {
		.kernel = or_else(l->v[KERNEL], kernel),
		.host = or_else(l->v[HOST], from->host),
		.condition = or_else(l->v[CONDITION], ""),
		.case_name = case_name,
		.row_key = or_else(l->v[ROW], ""),
		.runner = "import",
	};
	const char *metric = or_else(l->v[METRIC], "value"), *unit = or_else(l->v[UNIT], "");
	enum kab_direction dir;
	double mean, sd = NAN, sem = NAN;
	int64_t n;

	if (!place.kernel || !kab_text_is_label(place.kernel))
		return fail(l, KERNEL, "a label of letters, digits and . _ + - is needed", err);
	for (size_t k = HOST; k <= UNIT; k++)
		for (const char *p = l->v[k] ? l->v[k] : ""; *p; p++)
			if ((unsigned char)*p < ' ')
				return fail(l, (enum column)k, "a control character in a name",
					    err);
	if (kab_direction_parse(or_else(l->v[DIRECTION], "none"), &dir))
		return fail(l, DIRECTION, "'lower', 'higher' or 'none' is needed", err);
	if (kab_text_int(or_else(l->v[N], ""), &n))
		return fail(l, N, "a whole number is needed", err);
	if (kab_text_double(or_else(l->v[MEAN], ""), &mean))
		return fail(l, MEAN, "a number with a decimal point is needed", err);
	if (l->v[STDDEV] && *l->v[STDDEV] && kab_text_double(l->v[STDDEV], &sd))
		return fail(l, STDDEV, "a number with a decimal point, or nothing, is needed", err);
	if (l->v[SEM] && *l->v[SEM] && kab_text_double(l->v[SEM], &sem))
		return fail(l, SEM, "a number with a decimal point, or nothing, is needed", err);
	if (!isnan(sd) && !isnan(sem))
		return fail(l, SEM, "either the deviation or the error of the mean is needed", err);
	if (!isnan(sem) && n > 0) {
		sd = sem * sqrt((double)n);
		kab_import_caveat(ret, "standard deviations were computed from standard errors: "
				       "sem * sqrt(n)");
	}
	if (isnan(sd))
		kab_import_note(ret, "some standard deviations are not known: no test there");
	if (kab_import_add_summary(ret, &place, metric, unit, dir, n, mean, sd, l->where, err))
		return -1;
	return kab_import_judge(ret, case_name, "import", metric, unit, dir, l->where, err);
}

static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = '\0';
	return s;
}

static enum column column_of(const char *name)
{
	size_t k = 0;

	if (!strcasecmp(name, "sd") || !strcasecmp(name, "std"))
		return STDDEV;
	if (!strcasecmp(name, "stderr"))
		return SEM;
	while (k < COLUMNS && strcasecmp(names[k], name))
		k++;
	return (enum column)k;
}

static int read_header(const char *file, const struct kab_csv_row *header, bool kernel,
		       size_t at[COLUMNS], struct kab_err *err)
{
	char *where kab_autofree = kab_xasprintf("%s:%zu", file, header->line);

	for (size_t k = 0; k < COLUMNS; k++)
		at[k] = SIZE_MAX;
	for (size_t i = 0; i < header->n; i++) {
		const char *name = trim(header->v[i]), *near;
		char *shown kab_autofree = kab_import_shown(name);
		enum column k = column_of(name);

		if (k < COLUMNS && at[k] != SIZE_MAX)
			return kab_err_set_at(err, KAB_ERR_PARSE, where,
					      "%s: column '%s' stands there twice", where, shown);
		if (k < COLUMNS) {
			at[k] = i;
			continue;
		}
		near = kab_text_nearest(name, names);
		return kab_err_set_at(err, KAB_ERR_PARSE, where,
				      "%s: unknown column '%s'%s%s%s; known are kernel, host, "
				      "condition, case, row, metric, unit, direction, n, mean, "
				      "stddev and sem",
				      where, shown, near ? " (did you mean '" : "",
				      near ? near : "", near ? "'?)" : "");
	}
	for (size_t k = 0; k < COLUMNS; k++)
		if (at[k] == SIZE_MAX && ((k == KERNEL && !kernel) || k == N || k == MEAN))
			return kab_err_set_at(err, KAB_ERR_PARSE, where,
					      "%s: there is no column '%s'", where, names[k]);
	return 0;
}

static int read_csv(const char *file, const struct kab_buf *bytes, const char *kernel,
		    const struct kab_import_from *from, struct kab_import *ret, struct kab_err *err)
{
	struct kab_csv csv = { 0 };
	size_t at[COLUMNS];
	int rc = kab_csv_parse(file, kab_buf_str(bytes), bytes->len, &csv, err);

	if (!rc)
		rc = read_header(file, &csv.v[0], kernel != NULL, at, err);
	if (!rc && csv.n < 2)
		rc = kab_err_set_at(err, KAB_ERR_PARSE, file, "%s: no line below the header", file);
	for (size_t i = 1; !rc && i < csv.n; i++) {
		char *where kab_autofree = kab_xasprintf("%s:%zu", file, csv.v[i].line);
		struct line l = { .where = where };

		for (size_t k = 0; k < COLUMNS; k++)
			if (at[k] != SIZE_MAX)
				l.v[k] = trim(csv.v[i].v[at[k]]);
		rc = add_line(&l, kernel, from, ret, err);
	}
	kab_csv_release(&csv);
	return rc;
}

static int read_object(const struct kab_json *node, const char *kernel,
		       const struct kab_import_from *from, struct kab_import *ret,
		       struct kab_err *err)
{
	char *where kab_autofree = kab_xasprintf("%s: %s", node->file, node->path);
	struct kab_strv kab_autostrv texts = KAB_STRV_INIT;
	struct line l = { .where = where };
	int rc = kab_json_object(node, names, err);

	for (size_t k = 0; !rc && k < COLUMNS; k++) {
		struct kab_json value = kab_json_get(node, names[k]);

		if (!value.value || json_is_null(value.value))
			kab_strv_add(&texts, "");
		else if (json_is_string(value.value))
			kab_strv_add(&texts, json_string_value(value.value));
		else if (json_is_integer(value.value))
			kab_strv_addf(&texts, "%lld", (long long)json_integer_value(value.value));
		else if (json_is_real(value.value))
			kab_strv_addf(&texts, "%.17g", json_real_value(value.value));
		else
			rc = kab_json_fail(&value, err, "expected a text or a number");
	}
	for (size_t k = 0; !rc && k < COLUMNS; k++)
		l.v[k] = texts.v[k];
	return rc ? rc : add_line(&l, kernel, from, ret, err);
}

static int read_json(const char *file, const struct kab_buf *bytes, const char *kernel,
		     const struct kab_import_from *from, struct kab_import *ret,
		     struct kab_err *err)
{
	struct kab_json root;
	json_t *doc;
	int rc;

	if (kab_json_load_bytes(file, kab_buf_str(bytes), bytes->len, &doc, err))
		return -1;
	root = kab_json_root(doc, file);
	rc = kab_json_array(&root, err);
	if (!rc && !json_array_size(root.value))
		rc = kab_json_fail(&root, err, "the list is empty");
	for (size_t i = 0; !rc && i < json_array_size(root.value); i++) {
		struct kab_json item = kab_json_at(&root, i);

		rc = read_object(&item, kernel, from, ret, err);
	}
	json_decref(doc);
	return rc;
}

int kab_import_summary_table(const struct kab_import_source *sources, size_t n,
			     const struct kab_import_from *from, struct kab_import *ret,
			     struct kab_err *err)
{
	*ret = (struct kab_import){ 0 };
	if (!n)
		return kab_err_set(err, KAB_ERR_USAGE, "no file was named");
	for (size_t i = 0; i < n; i++) {
		char *file kab_autofree = kab_import_shown(sources[i].path);
		struct kab_buf kab_autobuf bytes = KAB_BUF_INIT;
		const char *kernel = sources[i].kernel, *text;
		int rc = kab_import_read(ret, sources[i].path, &bytes, err);

		if (rc)
			return -1;
		if (bytes.cut)
			return kab_err_set(err, KAB_ERR_PARSE, "'%s' is longer than %zu bytes",
					   file, bytes.len);
		text = kab_buf_str(&bytes);
		text += strspn(text, " \t\r\n");
		rc = *text == '[' || *text == '{' ? read_json(file, &bytes, kernel, from, ret, err)
						  : read_csv(file, &bytes, kernel, from, ret, err);
		if (rc)
			return -1;
	}
	ret->boots_text = kab_xstrdup("unknown: only n, mean and standard deviation were imported");
	return 0;
}
