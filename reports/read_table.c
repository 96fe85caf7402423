/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reports/read_table.h"

#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "reports/number.h"

#define COLUMNS_MAX 256
#define ROWS_MAX 100000

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* What a column is, from its name; the first one names the row. */
static enum kab_role role_of(const char *name, size_t place)
{
	static const struct {
		const char *end;
		enum kab_role role;
	} ends[] = {
		{ "improvement_pct", KAB_ROLE_GAIN }, { "gain_pct", KAB_ROLE_GAIN },
		{ "imp_pct", KAB_ROLE_GAIN },	      { "diff_pct", KAB_ROLE_DIFF },
		{ "change", KAB_ROLE_DIFF },	      { "rsd_pct", KAB_ROLE_SPREAD },
		{ "cv_pct", KAB_ROLE_SPREAD },	      { "stdev", KAB_ROLE_SPREAD },
		{ "stddev", KAB_ROLE_SPREAD },	      { "_mark", KAB_ROLE_MARK },
		{ "significant", KAB_ROLE_MARK },     { "mean", KAB_ROLE_VALUE },
		{ "_norm", KAB_ROLE_VALUE },	      { "_value", KAB_ROLE_VALUE },
	};

	if (place == 0)
		return KAB_ROLE_LABEL;
	for (size_t i = 0; i < KAB_ARRAY_SIZE(ends); i++)
		if (ends_with(name, ends[i].end))
			return ends[i].role;
	return KAB_ROLE_STAT;
}

static int wrong(struct kab_err *err, const char *where, const char *path, const char *expected)
{
	char place[KAB_ERR_WHERE_MAX];

	snprintf(place, sizeof(place), "%.150s: %.80s", where, path);
	return kab_err_set_at(err, KAB_ERR_CONFIG, place, "%s: %s is expected at %s", where,
			      expected, path);
}

static int lines(const json_t *root, const char *key, const char *where, struct kab_strv *ret,
		 struct kab_err *err)
{
	const json_t *list = json_object_get(root, key), *line;
	char path[64];
	size_t i;

	if (!list)
		return 0;
	snprintf(path, sizeof(path), "$.%s", key);
	if (!json_is_array(list))
		return wrong(err, where, path, "a list of lines");
	json_array_foreach (list, i, line) {
		struct kab_buf kab_autobuf safe = KAB_BUF_INIT;

		snprintf(path, sizeof(path), "$.%s[%zu]", key, i);
		if (!json_is_string(line))
			return wrong(err, where, path, "a text");
		/* Lines as they are, TABs too, but nothing that ends one or drives a terminal. */
		kab_text_escape(&safe, json_string_value(line), strlen(json_string_value(line)));
		for (char *p = safe.data; p && *p; p++)
			if (*p == '\n')
				*p = ' ';
		kab_strv_add(ret, kab_buf_str(&safe));
	}
	return 0;
}

static int read_columns(const json_t *root, const char *where, struct kab_table *t,
			struct kab_err *err)
{
	const json_t *columns = json_object_get(root, "columns"), *name;
	char path[64];
	size_t i;

	if (!json_is_array(columns) || !json_array_size(columns) ||
	    json_array_size(columns) > COLUMNS_MAX)
		return wrong(err, where, "$.columns", "a list of 1 to 256 column names");
	json_array_foreach (columns, i, name) {
		snprintf(path, sizeof(path), "$.columns[%zu]", i);
		if (!json_is_string(name))
			return wrong(err, where, path, "the name of a column");
		kab_table_column(t, role_of(json_string_value(name), i), -1,
				 json_string_value(name), NULL, NULL);
	}
	return 0;
}

static int read_cell(const json_t *value, const char *where, const char *path,
		     struct kab_cell *cell, struct kab_err *err)
{
	switch (json_typeof(value)) {
	case JSON_INTEGER:
		kab_cell_number(cell, (double)json_integer_value(value), 0);
		cell->whole = true;
		return 0;
	case JSON_REAL:
		kab_cell_number(cell, json_real_value(value), -1);
		return 0;
	case JSON_STRING:
		kab_cell_text(cell, json_string_value(value));
		return 0;
	case JSON_TRUE:
	case JSON_FALSE:
		cell->kind = KAB_CELL_FLAG;
		cell->value = json_is_true(value);
		return 0;
	case JSON_NULL:
		return 0;
	default:
		return wrong(err, where, path, "a number, a text, true, false or null");
	}
}

static int read_rows(const json_t *root, const char *where, struct kab_table *t,
		     struct kab_err *err)
{
	const json_t *rows = json_object_get(root, "rows"), *row;
	char path[64];
	size_t r;

	if (!json_is_array(rows) || json_array_size(rows) > ROWS_MAX)
		return wrong(err, where, "$.rows", "a list of rows");
	json_array_foreach (rows, r, row) {
		struct kab_cell *cells;

		snprintf(path, sizeof(path), "$.rows[%zu]", r);
		if (!json_is_array(row) || json_array_size(row) != t->n_cols)
			return wrong(err, where, path, "a list with one cell for each column");
		cells = kab_table_row(t);
		for (size_t c = 0; c < t->n_cols; c++) {
			snprintf(path, sizeof(path), "$.rows[%zu][%zu]", r, c);
			if (read_cell(json_array_get(row, c), where, path, &cells[c], err) < 0)
				return -1;
		}
	}
	return 0;
}

/* A column of texts stands left, one of numbers on its points, with the same number of decimals:
 * the fewest that hold all its values, and at least one unless all of them are whole. */
static void settle_columns(struct kab_table *t)
{
	for (size_t c = 0; c < t->n_cols; c++) {
		bool numbers = true, whole = true;
		int most = 0;

		for (size_t r = 0; r < t->n_rows; r++) {
			const struct kab_cell *cell = kab_table_cell(t, r, c);
			int d = 0;

			if (cell->kind == KAB_CELL_NUMBER && !cell->whole) {
				whole = false;
				d = kab_number_decimals(cell->value, 6);
				d = d < 1 ? 1 : d;
			}
			numbers = numbers && cell->kind != KAB_CELL_TEXT;
			most = d > most ? d : most;
		}
		t->cols[c].left = !numbers;
		for (size_t r = 0; r < t->n_rows && !whole; r++) {
			kab_table_cell(t, r, c)->decimals = most;
			kab_table_cell(t, r, c)->whole = false;
		}
	}
}

/* As a line that a terminal only shows; "" when there is none. Caller frees. */
static char *word(const json_t *root, const char *key)
{
	const char *text = json_string_value(json_object_get(root, key));
	struct kab_buf buf = KAB_BUF_INIT;

	if (text)
		kab_text_escape(&buf, text, strlen(text));
	for (char *p = buf.data; p && *p; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	return buf.data ? kab_buf_detach(&buf) : kab_xstrdup("");
}

static void read_head(const json_t *root, struct kab_table *t)
{
	char *better kab_autofree = word(root, "better");
	char *formula kab_autofree = word(json_object_get(root, "percent"), "formula");
	char *sign kab_autofree = word(json_object_get(root, "percent"), "sign");
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	t->benchmark = word(root, "benchmark");
	t->unit = word(root, "unit");
	t->directed = !strncmp(better, "lower", 5) || !strncmp(better, "higher", 6);
	t->higher = !strncmp(better, "higher", 6);
	kab_buf_addf(&buf, "%s%s%s%s", t->benchmark, *t->benchmark ? ": " : "", t->unit,
		     *t->unit ? ", " : "");
	kab_buf_adds(&buf, !t->directed ? "direction unknown"
			   : t->higher	? "HIGHER is better"
					: "LOWER is better");
	if (json_is_integer(json_object_get(root, "iterations")))
		kab_buf_addf(&buf, ", n=%lld",
			     (long long)json_integer_value(json_object_get(root, "iterations")));
	t->title = kab_buf_detach(&buf);
	if (*formula) {
		kab_buf_addf(&buf, "percent = %s", formula);
		if (*sign)
			kab_buf_addf(&buf, " (%s)", sign);
		kab_wrap(&t->legend, kab_buf_str(&buf), 72, 2);
	}
}

int kab_table_from_json(const char *text, size_t len, const char *where, struct kab_table *t,
			struct kab_err *err)
{
	json_error_t error;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	int ret = -1;

	if (!root) {
		kab_err_set_at(err, KAB_ERR_CONFIG, where, "%s:%d: %s", where, error.line,
			       error.text);
		return -1;
	}
	if (!json_is_object(root)) {
		wrong(err, where, "$", "an object with columns and rows");
		goto out;
	}
	if (read_columns(root, where, t, err) < 0 || read_rows(root, where, t, err) < 0 ||
	    lines(root, "header", where, &t->header, err) < 0 ||
	    lines(root, "footer", where, &t->footer, err) < 0)
		goto out;
	t->literal = t->header.n > 0;
	read_head(root, t);
	settle_columns(t);
	ret = 0;
out:
	json_decref(root);
	return ret;
}
