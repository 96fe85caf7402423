/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bundle into the store. Nothing in it is trusted: first all of it is checked, then it is stored. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "exchange/bundle_internal.h"

bool kab_bundle_is(const char *bytes, size_t n)
{
	return n >= 4 && !memcmp(bytes, "\x28\xb5\x2f\xfd", 4);
}

void kab_bundle_result_release(struct kab_bundle_result *r)
{
	kab_strv_release(&r->wished);
	kab_strv_release(&r->names);
	free(r->here.v);
	for (size_t i = 0; i < r->other.n; i++)
		free(r->other.v[i]);
	free(r->other.v);
	*r = (struct kab_bundle_result){ 0 };
}

/* What the first reading finds out about each run. */
struct section {
	char *name;
	int64_t created_wall_ns;
	char sha256[KAB_SHA256_HEX_SIZE];
	bool here;
};

struct reader {
	FILE *f;
	const char *file;
	struct kab_bundle_lines *lines;
	struct kab_store *store;
	struct {
		struct section *v;
		size_t n, cap;
	} sections;
	struct kab_bundle_result *result;
	const char *kab_version;
	struct kab_err *err;
};

static int fail(struct reader *r, const char *what)
{
	return kab_err_set_at(r->err, KAB_ERR_PARSE, r->file, "%s: line %lld: %s", r->file,
			      (long long)kab_bundle_lines_number(r->lines), what);
}

static json_t *parse(struct reader *r, const char *line, size_t n, const char **ret_key,
		     json_t **ret_value)
{
	json_error_t why;
	json_t *doc = json_loadb(line, n, JSON_REJECT_DUPLICATES, &why);
	void *at = json_object_iter(doc);

	if (!doc) {
		char *text kab_autofree = kab_xasprintf("this is no JSON: %s", why.text);

		fail(r, text);
		return NULL;
	}
	if (json_object_size(doc) != 1) {
		json_decref(doc);
		fail(r, "an object of one key is due");
		return NULL;
	}
	*ret_key = json_object_iter_key(at);
	*ret_value = json_object_iter_value(at);
	return doc;
}

static int rewind_lines(struct reader *r)
{
	kab_bundle_lines_free(r->lines);
	r->lines = NULL;
	if (fseek(r->f, 0, SEEK_SET))
		return kab_err_errno(r->err, KAB_ERR_ENV, "cannot read '%s' again", r->file);
	return kab_bundle_lines_open(r->f, r->file, &r->lines, r->err);
}

/* ---- the first reading: is it whole, and as it was written? ---- */

static int read_header(struct reader *r, const char *line, size_t n, size_t *ret_runs)
{
	const char *key;
	json_t *v, *doc;
	json_int_t format, runs;
	int rc = -1;

	if (strncmp(line, "{\"kab_bundle\":", 14))
		return kab_err_set_at(r->err, KAB_ERR_PARSE, r->file, "%s: no bundle of kab",
				      r->file);
	doc = parse(r, line, n, &key, &v);
	if (!doc)
		return -1;
	format = json_integer_value(json_object_get(v, "format"));
	runs = json_integer_value(json_object_get(v, "runs"));
	if (format > KAB_BUNDLE_FORMAT)
		kab_err_set_at(r->err, KAB_ERR_PARSE, r->file,
			       "%s: made by a newer kab: bundle format %lld, this kab reads %d; "
			       "update kab",
			       r->file, (long long)format, KAB_BUNDLE_FORMAT);
	else if (format < 1 || runs < 1 || runs > 100000)
		fail(r, "the header of the bundle is wrong");
	else
		rc = 0;
	*ret_runs = (size_t)runs;
	r->result->output = json_is_true(json_object_get(v, "output"));
	r->result->anonymous = json_is_true(json_object_get(v, "anonymous"));
	json_decref(doc);
	return rc;
}

static int read_run(struct reader *r, const char *line, size_t n)
{
	const char *key, *name;
	json_t *v, *doc = parse(r, line, n, &key, &v), *created;
	struct section *s;

	if (!doc)
		return -1;
	name = json_string_value(json_object_get(v, "name"));
	created = json_object_get(v, "created_wall_ns");
	if (!name || !kab_text_is_label(name) || !json_is_integer(created)) {
		json_decref(doc);
		return fail(r, "a run without a proper name and time");
	}
	s = KAB_PUSH(&r->sections);
	s->name = kab_xstrdup(name);
	s->created_wall_ns = json_integer_value(created);
	json_decref(doc);
	return 0;
}

/* {"PREFIX...sha256":"HEX"}} */
static int take_hash(struct reader *r, const char *line, size_t n, char hex[KAB_SHA256_HEX_SIZE],
		     json_int_t *ret_lines)
{
	const char *key, *text;
	json_t *v, *doc = parse(r, line, n, &key, &v);
	bool ok;

	if (!doc)
		return -1;
	text = json_string_value(json_object_get(v, "sha256"));
	ok = text && strlen(text) == 64;
	if (ok)
		memcpy(hex, text, KAB_SHA256_HEX_SIZE);
	if (ret_lines)
		*ret_lines = json_integer_value(json_object_get(v, "lines"));
	json_decref(doc);
	return ok ? 0 : fail(r, "a SHA-256 is due");
}

static int changed(struct reader *r)
{
	return kab_err_set_at(r->err, KAB_ERR_PARSE, r->file,
			      "%s: its content does not have the SHA-256 that it states: it was "
			      "changed or damaged; nothing was stored",
			      r->file);
}

static bool begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

/* Lines between the header and the end. run is the hash of the run at hand, NULL between runs. */
static int check_line(struct reader *r, const char *line, size_t n, struct kab_sha256 **run)
{
	char hex[KAB_SHA256_HEX_SIZE];
	struct section *s;

	if (begins(line, "{\"run\":")) {
		if (*run)
			return fail(r, "a run begins within another");
		*run = kab_sha256_begin();
		if (read_run(r, line, n))
			return -1;
	} else if (!*run) {
		return fail(r, "a run is due");
	}
	if (begins(line, "{\"run_end\":")) {
		s = &r->sections.v[r->sections.n - 1];
		kab_sha256_end(*run, s->sha256);
		*run = NULL;
		if (take_hash(r, line, n, hex, NULL))
			return -1;
		return strcmp(hex, s->sha256) ? changed(r) : 0;
	}
	kab_sha256_add(*run, line, n);
	kab_sha256_add(*run, "\n", 1);
	return 0;
}

static int check_all(struct reader *r, struct kab_sha256 **all, struct kab_sha256 **run)
{
	char stated[KAB_SHA256_HEX_SIZE] = "";
	size_t runs = 0, n;
	json_int_t lines = -1;
	const char *line;
	bool ended = false;
	int rc;

	while ((rc = kab_bundle_lines_next(r->lines, &line, &n, r->err)) == 1) {
		if (ended)
			return fail(r, "there is something behind the end");
		if (kab_bundle_lines_number(r->lines) == 1) {
			rc = read_header(r, line, n, &runs);
		} else if (!*run && begins(line, "{\"end\":")) {
			ended = true;
			r->result->info.lines = kab_bundle_lines_number(r->lines) - 1;
			kab_sha256_end(*all, r->result->info.sha256);
			*all = NULL;
			if (take_hash(r, line, n, stated, &lines))
				return -1;
			continue;
		} else {
			rc = check_line(r, line, n, run);
		}
		if (rc)
			return -1;
		kab_sha256_add(*all, line, n);
		kab_sha256_add(*all, "\n", 1);
	}
	if (rc < 0)
		return -1;
	if (!ended)
		return kab_err_set_at(r->err, KAB_ERR_PARSE, r->file,
				      kab_bundle_lines_number(r->lines)
					      ? "%s: cut off: its end is missing; fetch it again"
					      : "%s: empty",
				      r->file);
	if (strcmp(stated, r->result->info.sha256) || lines != r->result->info.lines)
		return changed(r);
	if (runs != r->sections.n)
		return fail(r, "another number of runs than the header says");
	r->result->info.runs = runs;
	r->result->info.bytes = kab_bundle_lines_bytes(r->lines);
	return 0;
}

/* ---- the second reading: rows ---- */

/* Columns that go to terminals and into tables as they are. */
static bool is_name(const char *column)
{
	static const char *const names[] = { "suite_name", "label",   "spec",	"condition",
					     "case_name",  "row_key", "runner", "metric",
					     "unit",	   "name",    "key",	"kind" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++)
		if (!strcmp(column, names[i]))
			return true;
	return false;
}

static int text_value(const char *column, json_t *v, struct kab_strv *kept, const char **ret)
{
	const char *s = json_string_value(v), *packed;

	if (!s) {
		struct kab_buf buf;

		packed = json_object_size(v) == 1 ? json_string_value(json_object_get(v, "base64"))
						  : NULL;
		kab_buf_init(&buf, KAB_BUNDLE_LINE_MAX);
		if (!packed || kab_base64_decode(&buf, packed, strlen(packed)) ||
		    memchr(kab_buf_str(&buf), '\0', buf.len)) {
			kab_buf_release(&buf);
			return -1;
		}
		kab_strv_take(kept, kab_buf_detach(&buf));
		s = kept->v[kept->n - 1];
	}
	if (is_name(column))
		for (const char *p = s; *p; p++)
			if ((unsigned char)*p < ' ' || *p == 0x7f)
				return -1;
	if ((!strcmp(column, "label") || !strcmp(column, "suite_name")) && !kab_text_is_label(s))
		return -1;
	*ret = s;
	return 0;
}

static int get_values(struct reader *r, const struct kab_dump_def *def, json_t *row,
		      struct kab_strv *kept, struct kab_dump_value *values)
{
	if (!json_is_object(row) || json_object_size(row) != def->n) {
		char *text kab_autofree =
			kab_xasprintf("a row of '%s' has %zu values", def->name, def->n);

		return fail(r, text);
	}
	for (size_t i = 0; i < def->n; i++) {
		const struct kab_dump_column *c = &def->columns[i];
		json_t *v = json_object_get(row, c->name);
		bool ok = v != NULL;

		values[i] = (struct kab_dump_value){ .null = json_is_null(v) };
		if (!ok || values[i].null)
			ok = ok && c->may_be_null;
		else if (c->type == KAB_DUMP_TEXT)
			ok = !text_value(c->name, v, kept, &values[i].s);
		else if (c->type == KAB_DUMP_REAL)
			ok = json_is_number(v);
		else
			ok = json_is_integer(v);
		if (ok && c->type == KAB_DUMP_REAL)
			values[i].d = json_number_value(v);
		else if (ok && c->type != KAB_DUMP_TEXT)
			values[i].i = json_integer_value(v);
		if (!ok) {
			char *text kab_autofree = kab_xasprintf(
				"column '%s' of '%s' is missing or wrong", c->name, def->name);

			return fail(r, text);
		}
	}
	return 0;
}

static int load_data(struct reader *r, struct kab_store_load *load, json_t *v)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	const char *packed;

	if (json_is_string(v))
		return kab_store_load_output(load, json_string_value(v), json_string_length(v),
					     r->err);
	packed = json_object_size(v) == 1 ? json_string_value(json_object_get(v, "base64")) : NULL;
	kab_buf_init(&buf, KAB_BUNDLE_LINE_MAX);
	if (!packed || kab_base64_decode(&buf, packed, strlen(packed)))
		return fail(r, "output that is neither text nor base64");
	return kab_store_load_output(load, kab_buf_str(&buf), buf.len, r->err);
}

static int load_line(struct reader *r, struct kab_store_load *load, const char *line, size_t n)
{
	struct kab_dump_value values[KAB_DUMP_COLUMNS_MAX];
	struct kab_strv kab_autostrv kept = KAB_STRV_INIT;
	const char *key;
	json_t *v, *doc = parse(r, line, n, &key, &v);
	int table = 0, rc;

	if (!doc)
		return -1;
	while (table < KAB_DUMP_TABLES && strcmp(kab_dump_defs[table].name, key))
		table++;
	if (!strcmp(key, "data"))
		rc = load_data(r, load, v);
	else if (table == KAB_DUMP_TABLES)
		rc = fail(r, "this kab knows no such row");
	else
		rc = get_values(r, &kab_dump_defs[table], v, &kept, values) ||
				     kab_store_load_row(load, (enum kab_dump_table)table, values,
							r->err)
			     ? -1
			     : 0;
	json_decref(doc);
	/* What the store says has no line of ours in it. */
	if (rc && r->err && !*r->err->where)
		kab_err_prefix(r->err, "%s: line %lld", r->file,
			       (long long)kab_bundle_lines_number(r->lines));
	return rc;
}

/* Can it be judged at all? The plan comes from elsewhere, too. */
static int try_rows(struct reader *r, int64_t run_id)
{
	struct kab_row_list rows = { 0 };
	int rc = kab_store_load_rows(r->store, &run_id, 1, &rows, r->err);

	kab_row_list_release(&rows);
	return rc;
}

static int end_run(struct reader *r, struct kab_store_load *load)
{
	struct kab_bundle_result *result = r->result;
	char *name = NULL, *text kab_autofree = NULL;
	int64_t id;

	if (kab_store_load_end(load, &id, &name, r->err)) {
		kab_err_prefix(r->err, "%s", r->file);
		return -1;
	}
	kab_strv_take(&result->names, name);
	text = kab_xasprintf("imported from a bundle with SHA-256 %s, by kab %s",
			     result->info.sha256, r->kab_version);
	return try_rows(r, id) || kab_store_event(r->store, id, 0, "bundle", text, r->err) ? -1 : 0;
}

static int store_all(struct reader *r)
{
	struct kab_store_load *load = NULL;
	char hex[KAB_SHA256_HEX_SIZE];
	struct kab_sha256 *all = kab_sha256_begin();
	size_t at = 0, n;
	const char *line;
	int rc;

	while ((rc = kab_bundle_lines_next(r->lines, &line, &n, r->err)) == 1) {
		int64_t number = kab_bundle_lines_number(r->lines);
		struct section *s = at < r->sections.n ? &r->sections.v[at] : NULL;

		if (number <= r->result->info.lines) {
			kab_sha256_add(all, line, n);
			kab_sha256_add(all, "\n", 1);
		}
		if (number == 1 || !s)
			continue;
		if (begins(line, "{\"run_end\":")) {
			if (s->here)
				kab_strv_add(&r->result->names, r->result->other.v[at]);
			rc = s->here ? 0 : end_run(r, load);
			kab_store_load_free(load);
			load = NULL;
			at++;
		} else if (!s->here) {
			if (!load)
				load = kab_store_load_begin(r->store);
			rc = load_line(r, load, line, n);
		} else {
			rc = 0;
		}
		if (rc)
			break;
	}
	kab_store_load_free(load);
	kab_sha256_end(all, hex);
	/* The file may have been replaced between the two readings. */
	if (!rc && strcmp(hex, r->result->info.sha256))
		rc = changed(r);
	return rc;
}

/* ---- is a run here already? ---- */

static int name_of_run(struct reader *r, int64_t id, char **ret)
{
	struct kab_run_info *runs;
	size_t n;

	if (kab_store_list_runs(r->store, 0, &runs, &n, r->err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (runs[i].id == id)
			*ret = kab_xstrdup(runs[i].name);
		kab_run_info_release(&runs[i]);
	}
	free(runs);
	return 0;
}

static int same_run(struct reader *r, int64_t id, const struct section *s, bool *ret)
{
	struct kab_bundle_opts opts = { .output = r->result->output,
					.anonymous = r->result->anonymous };
	char hex[KAB_SHA256_HEX_SIZE];

	if (kab_bundle_run_hash(r->store, id, s->name, &opts, hex, r->err))
		return -1;
	*ret = !strcmp(hex, s->sha256);
	return 0;
}

static int look_for(struct reader *r, struct section *s)
{
	char **other = KAB_PUSH(&r->result->other);
	bool *here = KAB_PUSH(&r->result->here);
	int64_t *ids = NULL;
	size_t n = 0;
	int rc = kab_store_runs_begun(r->store, s->created_wall_ns, &ids, &n, r->err);

	kab_strv_add(&r->result->wished, s->name);
	for (size_t i = 0; !rc && i < n && !s->here; i++) {
		rc = same_run(r, ids[i], s, &s->here);
		if (!rc && (s->here || !*other)) {
			free(*other);
			*other = NULL;
			rc = name_of_run(r, ids[i], other);
		}
	}
	*here = s->here;
	free(ids);
	return rc;
}

static int open_file(struct reader *r)
{
	char block[65536];
	size_t n;

	if (strcmp(r->file, "-")) {
		r->f = fopen(r->file, "re");
		return r->f ? 0
			    : kab_err_errno(r->err,
					    errno == ENOENT ? KAB_ERR_NOT_FOUND : KAB_ERR_ENV,
					    "cannot open '%s'", r->file);
	}
	/* It is read twice. */
	r->f = tmpfile();
	while (r->f && (n = fread(block, 1, sizeof(block), stdin)))
		if (fwrite(block, 1, n, r->f) != n)
			return kab_err_errno(r->err, KAB_ERR_ENV, "cannot write a temporary file");
	return r->f ? 0 : kab_err_errno(r->err, KAB_ERR_ENV, "cannot make a temporary file");
}

static int check_file(struct reader *r, const char *want_sha256)
{
	struct kab_sha256 *all = kab_sha256_begin(), *run = NULL;
	int rc = rewind_lines(r);

	if (!rc)
		rc = check_all(r, &all, &run);
	kab_sha256_end(all, NULL);
	kab_sha256_end(run, NULL);
	if (!rc && want_sha256 && strcmp(want_sha256, r->result->info.sha256))
		rc = kab_err_set_at(r->err, KAB_ERR_PARSE, r->file,
				    "%s: its SHA-256 is %s, not the one that was asked for",
				    r->file, r->result->info.sha256);
	return rc;
}

int kab_bundle_read(struct kab_store *store, const char *file, const char *want_sha256,
		    const char *kab_version, struct kab_bundle_result *ret, struct kab_err *err)
{
	struct reader r = {
		.file = file, .store = store, .result = ret, .kab_version = kab_version, .err = err
	};
	int rc;

	*ret = (struct kab_bundle_result){ 0 };
	rc = open_file(&r);
	if (!rc)
		rc = check_file(&r, want_sha256);
	for (size_t i = 0; !rc && i < r.sections.n; i++)
		rc = look_for(&r, &r.sections.v[i]);
	if (!rc)
		rc = rewind_lines(&r);
	if (!rc)
		rc = kab_store_bulk_begin(store, err);
	if (!rc) {
		rc = store_all(&r);
		if (kab_store_bulk_end(store, !rc, rc ? NULL : err))
			rc = -1;
	}
	kab_bundle_lines_free(r.lines);
	if (r.f)
		fclose(r.f);
	for (size_t i = 0; i < r.sections.n; i++)
		free(r.sections.v[i].name);
	free(r.sections.v);
	if (rc)
		kab_bundle_result_release(ret);
	return rc;
}
