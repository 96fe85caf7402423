/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raw output of iterations, one zstd frame a stream. */
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "store/internal.h"

int kab_store_put_output(struct kab_store *store, int64_t iteration_id,
			 const struct kab_store_stream *stream, struct kab_err *err)
{
	size_t room = ZSTD_compressBound(stream->len), n;
	kab_autofree char *packed = NULL;

	if ((uint64_t)stream->len > (uint64_t)KAB_STORE_OUTPUT_MAX)
		return kab_err_set(err, KAB_ERR_STORE, "stream '%s' is longer than %lld bytes",
				   stream->name, (long long)KAB_STORE_OUTPUT_MAX);
	packed = kab_xmalloc(room);
	n = ZSTD_compress(packed, room, stream->len ? stream->data : "", stream->len, 3);
	if (ZSTD_isError(n))
		return kab_err_set(err, KAB_ERR_INTERNAL, "stream '%s' cannot be compressed: %s",
				   stream->name, ZSTD_getErrorName(n));
	return kab_sql_run(store, err,
			   "INSERT INTO output (iteration_id, name, bytes, cut, data)"
			   " VALUES (?, ?, ?, ?, ?)",
			   "isiib", iteration_id, stream->name, (int64_t)stream->len,
			   (int64_t)stream->cut, (const void *)packed, n);
}

int kab_store_output(struct kab_store *store, int64_t iteration_id, const char *stream,
		     char **ret_data, size_t *ret_len, bool *ret_cut, struct kab_err *err)
{
	KAB_STORE_GUARD(store);
	KAB_AUTOSTMT stmt = kab_sql_query(store, err,
					  "SELECT bytes, cut, data FROM output"
					  " WHERE iteration_id = ? AND name = ?",
					  "is", iteration_id, stream);
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;
	kab_autofree char *data = NULL;
	int64_t bytes;
	size_t n;

	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	bytes = sqlite3_column_int64(stmt, 0);
	if (bytes < 0 || bytes > KAB_STORE_OUTPUT_MAX)
		return kab_err_set(err, KAB_ERR_STORE, "output '%s' of iteration %lld is damaged",
				   stream, (long long)iteration_id);
	/* The frame says how long it is: nothing is made room for that does not agree. */
	if (ZSTD_getFrameContentSize(sqlite3_column_blob(stmt, 2),
				     (size_t)sqlite3_column_bytes(stmt, 2)) != (uint64_t)bytes)
		return kab_err_set(
			err, KAB_ERR_STORE,
			"output '%s' of iteration %lld is damaged: its length is not the "
			"one that is recorded",
			stream, (long long)iteration_id);
	data = kab_xmalloc((size_t)bytes + 1);
	n = ZSTD_decompress(data, (size_t)bytes, sqlite3_column_blob(stmt, 2),
			    (size_t)sqlite3_column_bytes(stmt, 2));
	if (ZSTD_isError(n) || n != (size_t)bytes)
		return kab_err_set(err, KAB_ERR_STORE,
				   "output '%s' of iteration %lld is damaged: %s", stream,
				   (long long)iteration_id,
				   ZSTD_isError(n) ? ZSTD_getErrorName(n) : "wrong length");
	data[n] = '\0';
	if (ret_cut)
		*ret_cut = sqlite3_column_int64(stmt, 1) != 0;
	*ret_len = n;
	*ret_data = data;
	data = NULL;
	return 0;
}

int kab_store_output_names(struct kab_store *store, int64_t iteration_id, char ***ret,
			   size_t *ret_n, struct kab_err *err)
{
	struct {
		char **v;
		size_t n, cap;
	} names = { 0 };
	KAB_STORE_GUARD(store);
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err, "SELECT name FROM output WHERE iteration_id = ? ORDER BY id", "i",
		iteration_id);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		*KAB_PUSH(&names) = kab_sql_text(stmt, 0);
	if (rc < 0) {
		for (size_t i = 0; i < names.n; i++)
			free(names.v[i]);
		free(names.v);
		return -1;
	}
	*ret = names.v;
	*ret_n = names.n;
	return 0;
}

void kab_extraction_info_release(struct kab_extraction_info *info)
{
	free(info->parser_version);
	free(info->parse_status);
	free(info->message);
	kab_samples_release(&info->samples);
	*info = (struct kab_extraction_info){ 0 };
}

static int read_samples(struct kab_store *store, int64_t extraction_id, struct kab_samples *ret,
			struct kab_err *err)
{
	KAB_AUTOSTMT stmt =
		kab_sql_query(store, err,
			      "SELECT x.metric, x.unit, s.direction, s.value FROM sample s"
			      " JOIN series x ON x.id = s.series_id"
			      " WHERE s.extraction_id = ? ORDER BY s.position",
			      "i", extraction_id);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
		enum kab_direction dir = KAB_DIR_NONE;

		kab_direction_parse(kab_sql_str(stmt, 2), &dir);
		kab_samples_add(ret, kab_sql_str(stmt, 0), kab_sql_str(stmt, 1), dir,
				sqlite3_column_double(stmt, 3));
	}
	return rc;
}

int kab_store_extraction(struct kab_store *store, int64_t iteration_id,
			 struct kab_extraction_info *ret, struct kab_err *err)
{
	KAB_STORE_GUARD(store);
	/* Readings are only ever added: the one found stays as it is while its samples are read. */
	KAB_AUTOSTMT stmt =
		kab_sql_query(store, err,
			      "SELECT id, parser_version, parse_status, message"
			      " FROM extraction WHERE iteration_id = ? ORDER BY id DESC LIMIT 1",
			      "i", iteration_id);
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;

	*ret = (struct kab_extraction_info){ 0 };
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	ret->parser_version = kab_sql_text(stmt, 1);
	ret->parse_status = kab_sql_text(stmt, 2);
	ret->message = kab_sql_dup(stmt, 3);
	rc = read_samples(store, sqlite3_column_int64(stmt, 0), &ret->samples, err);
	if (rc)
		kab_extraction_info_release(ret);
	return rc;
}
