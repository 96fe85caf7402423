/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs into a bundle. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "exchange/bundle_internal.h"

/* Fast enough for gigabytes of logs, and hardly larger than what more effort gives. */
#define LEVEL 9

struct writer {
	FILE *f; /* NULL: only the hash is wanted */
	const char *file;
	ZSTD_CStream *stream;
	char *room;
	struct kab_sha256 *all, *run; /* all is NULL when only that of a run is wanted */
	int64_t bytes, lines;
	struct kab_buf line, pending; /* pending: output that was not yet put into a line */
	const char *name; /* of the run, instead of its own; may be NULL */
	struct kab_anonymous *anonymous;
	struct kab_store *store;
};

static bool is_text(const char *s, size_t n, char **ret)
{
	json_t *string = memchr(s, '\0', n) ? NULL : json_stringn(s, n);

	if (!string)
		return false;
	*ret = json_dumps(string, JSON_ENCODE_ANY | JSON_COMPACT);
	json_decref(string);
	return *ret != NULL;
}

static void add_text(struct kab_buf *line, const char *s, size_t n)
{
	char *quoted kab_autofree = NULL;

	if (is_text(s, n, &quoted)) {
		kab_buf_adds(line, quoted);
		return;
	}
	kab_buf_adds(line, "{\"base64\":\"");
	kab_base64_encode(line, s, n);
	kab_buf_adds(line, "\"}");
}

/* Always with a point or an exponent: -0 is a real number, too. */
static void add_real(struct kab_buf *line, double value)
{
	size_t at = line->len;

	kab_buf_addf(line, "%.17g", value);
	if (!strpbrk(kab_buf_str(line) + at, ".e"))
		kab_buf_adds(line, ".0");
}

void kab_bundle_line(struct kab_buf *line, enum kab_dump_table table,
		     const struct kab_dump_value *values)
{
	const struct kab_dump_def *def = &kab_dump_defs[table];

	kab_buf_addf(line, "{\"%s\":{", def->name);
	for (size_t i = 0; i < def->n; i++) {
		kab_buf_addf(line, "%s\"%s\":", i ? "," : "", def->columns[i].name);
		if (values[i].null)
			kab_buf_adds(line, "null");
		else if (def->columns[i].type == KAB_DUMP_TEXT)
			add_text(line, values[i].s, strlen(values[i].s));
		else if (def->columns[i].type == KAB_DUMP_REAL)
			add_real(line, values[i].d);
		else
			kab_buf_addf(line, "%lld", (long long)values[i].i);
	}
	kab_buf_adds(line, "}}\n");
}

static int pack(struct writer *w, const char *data, size_t n, ZSTD_EndDirective how,
		struct kab_err *err)
{
	ZSTD_inBuffer in = { data, n, 0 };
	size_t left;

	if (!w->f)
		return 0;
	do {
		ZSTD_outBuffer out = { w->room, ZSTD_CStreamOutSize(), 0 };

		left = ZSTD_compressStream2(w->stream, &out, &in, how);
		if (ZSTD_isError(left))
			return kab_err_set(err, KAB_ERR_INTERNAL, "cannot compress: %s",
					   ZSTD_getErrorName(left));
		if (fwrite(w->room, 1, out.pos, w->f) != out.pos)
			return kab_err_errno(err, KAB_ERR_ENV, "cannot write '%s'", w->file);
	} while (how == ZSTD_e_end ? left != 0 : in.pos < in.size);
	return 0;
}

/* The line is in w->line. */
static int put_line(struct writer *w, struct kab_err *err)
{
	if (w->line.cut)
		return kab_err_set(err, KAB_ERR_UNSUPPORTED,
				   "a row of this run is longer than %zu bytes, which a bundle "
				   "cannot hold",
				   w->line.max);
	if (w->all)
		kab_sha256_add(w->all, w->line.data, w->line.len);
	if (w->run)
		kab_sha256_add(w->run, w->line.data, w->line.len);
	w->bytes += (int64_t)w->line.len;
	w->lines++;
	return pack(w, w->line.data, w->line.len, ZSTD_e_continue, err);
}

/* Where the last character that is not whole begins, so that a line never ends within one. */
static size_t whole_characters(const char *s, size_t n)
{
	for (size_t back = 1; back <= 3 && back < n; back++) {
		unsigned char c = (unsigned char)s[n - back];

		if (c < 0x80)
			return n;
		if (c >= 0xc0)
			return back < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? n - back : n;
	}
	return n;
}

static int put_pending(struct writer *w, size_t n, struct kab_err *err)
{
	kab_buf_clear(&w->line);
	kab_buf_adds(&w->line, "{\"data\":");
	add_text(&w->line, w->pending.data, n);
	kab_buf_adds(&w->line, "}\n");
	if (put_line(w, err))
		return -1;
	memmove(w->pending.data, w->pending.data + n, w->pending.len - n);
	w->pending.len -= n;
	w->pending.data[w->pending.len] = '\0';
	return 0;
}

static int on_output(void *ctx, const char *data, size_t n, struct kab_err *err)
{
	struct writer *w = ctx;

	while (n) {
		size_t some = KAB_BUNDLE_CHUNK - w->pending.len;

		if (some > n)
			some = n;
		kab_buf_add(&w->pending, data, some);
		data += some;
		n -= some;
		if (w->pending.len == KAB_BUNDLE_CHUNK &&
		    put_pending(w, whole_characters(w->pending.data, w->pending.len), err))
			return -1;
	}
	return 0;
}

static int end_output(struct writer *w, struct kab_err *err)
{
	return w->pending.len ? put_pending(w, w->pending.len, err) : 0;
}

static size_t column_of(enum kab_dump_table table, const char *name)
{
	const struct kab_dump_def *def = &kab_dump_defs[table];
	size_t i = 0;

	while (i < def->n && strcmp(def->columns[i].name, name))
		i++;
	return i;
}

/* The machine id of a host is not to be passed on (machine-id(5)): the boot has its hash. */
static void hide_machine_id(struct kab_dump_value *v)
{
	size_t key = column_of(KAB_DUMP_ENVIRONMENT, "key"),
	       value = column_of(KAB_DUMP_ENVIRONMENT, "value");

	if (!strcmp(v[key].s, "machine_id"))
		v[value].s = "";
}

static int on_row(void *ctx, enum kab_dump_table table, const struct kab_dump_value *values,
		  struct kab_err *err)
{
	struct kab_strv kab_autostrv hidden = KAB_STRV_INIT;
	struct kab_dump_value v[KAB_DUMP_COLUMNS_MAX];
	struct writer *w = ctx;

	if (end_output(w, err))
		return -1;
	memcpy(v, values, kab_dump_defs[table].n * sizeof(*v));
	for (size_t i = 0; i < kab_dump_defs[table].n; i++) {
		char *text = v[i].null || kab_dump_defs[table].columns[i].type != KAB_DUMP_TEXT
				     ? NULL
				     : kab_bundle_hide_secrets(v[i].s);

		if (text) {
			kab_strv_take(&hidden, text);
			v[i].s = text;
		}
	}
	if (table == KAB_DUMP_RUN && w->name)
		v[column_of(table, "name")].s = w->name;
	if (table == KAB_DUMP_ENVIRONMENT)
		hide_machine_id(v);
	if (w->anonymous)
		kab_anonymous_row(w->anonymous, table, v);
	kab_buf_clear(&w->line);
	kab_bundle_line(&w->line, table, v);
	return put_line(w, err);
}

/* The rows of a run; hex is the hash over them. */
static int put_run(struct writer *w, int64_t run_id, const struct kab_bundle_opts *opts,
		   char hex[KAB_SHA256_HEX_SIZE], struct kab_err *err)
{
	struct kab_dump_sink sink = { w, on_row,
				      opts->output && !opts->anonymous ? on_output : NULL };
	int rc = 0;

	if (opts->anonymous)
		rc = kab_anonymous_new(w->store, run_id, &w->anonymous, err);
	w->run = kab_sha256_begin();
	if (!rc)
		rc = kab_store_dump(w->store, run_id, &sink, err);
	if (!rc)
		rc = end_output(w, err);
	kab_sha256_end(w->run, hex);
	w->run = NULL;
	kab_anonymous_free(w->anonymous);
	w->anonymous = NULL;
	return rc;
}

static void writer_init(struct writer *w)
{
	kab_buf_init(&w->line, KAB_BUNDLE_LINE_MAX);
	kab_buf_init(&w->pending, KAB_BUNDLE_CHUNK);
}

static void writer_release(struct writer *w)
{
	kab_buf_release(&w->line);
	kab_buf_release(&w->pending);
	ZSTD_freeCStream(w->stream);
	free(w->room);
}

int kab_bundle_run_hash(struct kab_store *store, int64_t run_id, const char *name,
			const struct kab_bundle_opts *opts, char hex[KAB_SHA256_HEX_SIZE],
			struct kab_err *err)
{
	struct writer w = { .store = store, .name = name };
	int rc;

	writer_init(&w);
	rc = put_run(&w, run_id, opts, hex, err);
	writer_release(&w);
	return rc;
}

static int put_all(struct writer *w, const int64_t *run_ids, size_t n,
		   const struct kab_bundle_opts *opts, struct kab_bundle_info *ret,
		   struct kab_err *err)
{
	char hex[KAB_SHA256_HEX_SIZE];

	kab_buf_clear(&w->line);
	kab_buf_addf(&w->line,
		     "{\"kab_bundle\":{\"format\":%d,\"made_by\":\"kab %s\",\"runs\":%zu,"
		     "\"output\":%s,\"anonymous\":%s}}\n",
		     KAB_BUNDLE_FORMAT, opts->kab_version, n,
		     opts->output && !opts->anonymous ? "true" : "false",
		     opts->anonymous ? "true" : "false");
	if (put_line(w, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (put_run(w, run_ids[i], opts, hex, err))
			return -1;
		kab_buf_clear(&w->line);
		kab_buf_addf(&w->line, "{\"run_end\":{\"sha256\":\"%s\"}}\n", hex);
		if (put_line(w, err))
			return -1;
	}
	ret->lines = w->lines;
	ret->runs = n;
	kab_sha256_end(w->all, ret->sha256);
	w->all = NULL;
	kab_buf_clear(&w->line);
	kab_buf_addf(&w->line, "{\"end\":{\"lines\":%lld,\"sha256\":\"%s\"}}\n",
		     (long long)w->lines, ret->sha256);
	if (put_line(w, err) || pack(w, "", 0, ZSTD_e_end, err))
		return -1;
	ret->bytes = w->bytes;
	return 0;
}

int kab_bundle_write(struct kab_store *store, const int64_t *run_ids, size_t n,
		     const struct kab_bundle_opts *opts, FILE *f, const char *file,
		     struct kab_bundle_info *ret, struct kab_err *err)
{
	struct writer w = { .store = store, .f = f, .file = file };
	int rc;

	*ret = (struct kab_bundle_info){ 0 };
	writer_init(&w);
	w.room = kab_xmalloc(ZSTD_CStreamOutSize());
	w.stream = ZSTD_createCStream();
	w.all = kab_sha256_begin();
	if (!w.stream ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w.stream, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w.stream, ZSTD_c_checksumFlag, 1)))
		rc = kab_err_set(err, KAB_ERR_ENV, "no memory for an encoder");
	else
		rc = put_all(&w, run_ids, n, opts, ret, err);
	kab_sha256_end(w.all, NULL);
	writer_release(&w);
	return rc;
}
