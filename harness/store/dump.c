/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as rows. */
#include "store/dump.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "store/internal.h"

#define I(name)                              \
	{                                    \
		name, KAB_DUMP_INT, false, 0 \
	}
#define I0(name)                            \
	{                                   \
		name, KAB_DUMP_INT, true, 0 \
	}
#define D(name)                               \
	{                                     \
		name, KAB_DUMP_REAL, false, 0 \
	}
#define D0(name)                             \
	{                                    \
		name, KAB_DUMP_REAL, true, 0 \
	}
#define S(name)                               \
	{                                     \
		name, KAB_DUMP_TEXT, false, 0 \
	}
#define S0(name)                             \
	{                                    \
		name, KAB_DUMP_TEXT, true, 0 \
	}
#define R(name, table)                           \
	{                                        \
		name, KAB_DUMP_REF, false, table \
	}
#define R0(name, table)                         \
	{                                       \
		name, KAB_DUMP_REF, true, table \
	}

static const struct kab_dump_column run_columns[] = {
	S("name"),	S("suite_name"),      S("suite_json"),
	S("plan_json"), S("command_line"),    S("kab_version"),
	S("state"),	I("created_wall_ns"), I0("finished_wall_ns"),
};
static const struct kab_dump_column host_columns[] = { S("label"), I("position") };
static const struct kab_dump_column kernel_columns[] = { S("label"), S("spec"), I("position") };
static const struct kab_dump_column boot_columns[] = {
	R("host", KAB_DUMP_HOST),
	R("kernel", KAB_DUMP_KERNEL),
	I("block"),
	I("sequence"),
	I("restart"),
	S("state"),
	S0("reason"),
	R0("replaces", KAB_DUMP_BOOT),
	S0("machine_hash"),
	S0("release"),
	S0("build_id"),
	S0("commit_id"),
	S0("config_hash"),
	S0("os_boot_id"),
	I0("proven_wall_ns"),
};
static const struct kab_dump_column environment_columns[] = { R("boot", KAB_DUMP_BOOT),
							      I("position"), S("key"), S("value") };
static const struct kab_dump_column iteration_columns[] = {
	R("boot", KAB_DUMP_BOOT),
	S("condition"),
	S("case_name"),
	S("row_key"),
	S("runner"),
	S("params_text"),
	I("case_order"),
	I("iteration"),
	I("warmup"),
	I("attempt"),
	R0("retry_of", KAB_DUMP_ITERATION),
	I("sequence"),
	S("state"),
	S0("remote_id"),
	S0("reason"),
	I0("exit_status"),
	I0("started_wall_ns"),
	I0("finished_wall_ns"),
	D0("elapsed_s"),
	D0("user_s"),
	D0("system_s"),
	D0("max_rss_kb"),
	S0("argv_json"),
	S0("params_resolved"),
	S0("runner_version"),
};
static const struct kab_dump_column extraction_columns[] = {
	R("iteration", KAB_DUMP_ITERATION),
	S("runner"),
	S("parser_version"),
	S("parse_status"),
	S0("message"),
	I("created_wall_ns"),
};
static const struct kab_dump_column series_columns[] = { S("runner"), S("runner_version"),
							 S("params"), S("metric"), S("unit") };
static const struct kab_dump_column sample_columns[] = { R("extraction", KAB_DUMP_EXTRACTION),
							 I("position"),
							 R("series", KAB_DUMP_SERIES),
							 S("direction"), D("value") };
static const struct kab_dump_column summary_columns[] = {
	R("host", KAB_DUMP_HOST),
	R("kernel", KAB_DUMP_KERNEL),
	S("condition"),
	S("case_name"),
	S("row_key"),
	S("runner"),
	S("metric"),
	S("unit"),
	S("direction"),
	I("n"),
	D("mean"),
	D0("stddev"),
};
static const struct kab_dump_column noise_columns[] = {
	S("machine_hash"), S("runner"), S("params_text"), S("condition"),
	S("metric"),	   D("cv"),	I("units"),	  I("restarts"),
};
static const struct kab_dump_column event_columns[] = { R0("boot", KAB_DUMP_BOOT), I("wall_ns"),
							S("kind"), S("text") };
static const struct kab_dump_column output_columns[] = { R("iteration", KAB_DUMP_ITERATION),
							 S("name"), I("bytes"), I("cut") };

#define DEF(name, columns)                             \
	{                                              \
		name, columns, KAB_ARRAY_SIZE(columns) \
	}
const struct kab_dump_def kab_dump_defs[KAB_DUMP_TABLES] = {
	[KAB_DUMP_RUN] = DEF("run", run_columns),
	[KAB_DUMP_HOST] = DEF("host", host_columns),
	[KAB_DUMP_KERNEL] = DEF("kernel", kernel_columns),
	[KAB_DUMP_BOOT] = DEF("boot", boot_columns),
	[KAB_DUMP_ENVIRONMENT] = DEF("environment", environment_columns),
	[KAB_DUMP_ITERATION] = DEF("iteration", iteration_columns),
	[KAB_DUMP_EXTRACTION] = DEF("extraction", extraction_columns),
	[KAB_DUMP_SERIES] = DEF("series", series_columns),
	[KAB_DUMP_SAMPLE] = DEF("sample", sample_columns),
	[KAB_DUMP_SUMMARY] = DEF("summary", summary_columns),
	[KAB_DUMP_NOISE] = DEF("noise", noise_columns),
	[KAB_DUMP_EVENT] = DEF("event", event_columns),
	[KAB_DUMP_OUTPUT] = DEF("output", output_columns),
};

/* Column 0 is the id (0 where nothing refers to the table), then the columns of the definition. The
 * order must not depend on ids that another database would give. */
static const char *const queries[KAB_DUMP_TABLES] = {
	[KAB_DUMP_RUN] = "SELECT id, name, suite_name, suite_json, plan_json, command_line,"
			 " kab_version, state, created_wall_ns, finished_wall_ns"
			 " FROM run WHERE id = ?1",
	[KAB_DUMP_HOST] = "SELECT id, label, position FROM run_host WHERE run_id = ?1"
			  " ORDER BY position",
	[KAB_DUMP_KERNEL] = "SELECT id, label, spec, position FROM run_kernel WHERE run_id = ?1"
			    " ORDER BY position",
	[KAB_DUMP_BOOT] =
		"SELECT b.id, b.run_host_id, b.run_kernel_id, b.block, b.sequence, b.restart,"
		" b.state, b.reason, b.replaces, h.machine_hash, k.release, k.build_id,"
		" k.commit_id, k.config_hash, b.os_boot_id, b.proven_wall_ns FROM boot b"
		" LEFT JOIN host h ON h.id = b.host_id LEFT JOIN kernel k ON k.id = b.kernel_id"
		" WHERE b.run_id = ?1 ORDER BY b.id",
	[KAB_DUMP_ENVIRONMENT] =
		"SELECT 0, e.boot_id, e.position, e.key, e.value FROM environment e"
		" JOIN boot b ON b.id = e.boot_id WHERE b.run_id = ?1"
		" ORDER BY e.boot_id, e.position",
	[KAB_DUMP_ITERATION] =
		"SELECT id, boot_id, condition, case_name, row_key, runner, params_text,"
		" case_order, iteration, warmup, attempt, retry_of, sequence, state, remote_id,"
		" reason, exit_status, started_wall_ns, finished_wall_ns, elapsed_s, user_s,"
		" system_s, max_rss_kb, argv_json, params_resolved, runner_version"
		" FROM iteration WHERE run_id = ?1 ORDER BY id",
	[KAB_DUMP_EXTRACTION] =
		"SELECT x.id, x.iteration_id, x.runner, x.parser_version, x.parse_status,"
		" x.message, x.created_wall_ns FROM iteration i"
		" JOIN extraction x ON x.iteration_id = i.id WHERE i.run_id = ?1 ORDER BY x.id",
	[KAB_DUMP_SERIES] =
		"SELECT id, runner, runner_version, params, metric, unit FROM series WHERE id IN"
		" (SELECT s.series_id FROM iteration i JOIN extraction x ON x.iteration_id = i.id"
		" JOIN sample s ON s.extraction_id = x.id WHERE i.run_id = ?1) ORDER BY key",
	[KAB_DUMP_SAMPLE] =
		"SELECT 0, s.extraction_id, s.position, s.series_id, s.direction, s.value"
		" FROM iteration i JOIN extraction x ON x.iteration_id = i.id"
		" JOIN sample s ON s.extraction_id = x.id WHERE i.run_id = ?1"
		" ORDER BY s.extraction_id, s.position",
	[KAB_DUMP_SUMMARY] =
		"SELECT 0, run_host_id, run_kernel_id, condition, case_name, row_key, runner,"
		" metric, unit, direction, n, mean, stddev FROM summary WHERE run_id = ?1"
		" ORDER BY id",
	[KAB_DUMP_NOISE] = "SELECT 0, machine_hash, runner, params_text, condition, metric, cv,"
			   " units, restarts FROM noise WHERE run_id = ?1 ORDER BY id",
	[KAB_DUMP_EVENT] = "SELECT 0, boot_id, wall_ns, kind, text FROM event WHERE run_id = ?1"
			   " AND kind <> 'bundle' ORDER BY id",
	[KAB_DUMP_OUTPUT] = "SELECT o.id, o.iteration_id, o.name, o.bytes, o.cut FROM iteration i"
			    " JOIN output o ON o.iteration_id = i.id WHERE i.run_id = ?1"
			    " ORDER BY o.id",
};

struct pair {
	int64_t id, ordinal;
};

struct dump {
	struct kab_store *store;
	const struct kab_dump_sink *sink;
	struct {
		struct pair *v;
		size_t n, cap;
	} ids[KAB_DUMP_TABLES]; /* sorted by id once the table is through */
	struct kab_err *err;
};

static int by_id(const void *a, const void *b)
{
	int64_t x = ((const struct pair *)a)->id, y = ((const struct pair *)b)->id;

	return (x > y) - (x < y);
}

/* 0 when it is not there. Rows may refer to earlier ones of their own table, which come by id. */
static int64_t ordinal_of(const struct dump *d, enum kab_dump_table table, int64_t id)
{
	struct pair key = { .id = id };
	const struct pair *p = d->ids[table].n ? bsearch(&key, d->ids[table].v, d->ids[table].n,
							 sizeof(key), by_id)
					       : NULL;

	return p ? p->ordinal : 0;
}

static int get_value(struct dump *d, sqlite3_stmt *stmt, int at, const struct kab_dump_def *def,
		     struct kab_dump_value *v)
{
	const struct kab_dump_column *c = &def->columns[at - 1];
	int type = sqlite3_column_type(stmt, at);
	bool bad = false;

	*v = (struct kab_dump_value){ .null = type == SQLITE_NULL };
	if (v->null)
		return c->may_be_null ? 0
				      : kab_err_set(d->err, KAB_ERR_STORE,
						    "a row of '%s' has no %s", def->name, c->name);
	switch (c->type) {
	case KAB_DUMP_INT:
		v->i = sqlite3_column_int64(stmt, at);
		break;
	case KAB_DUMP_REAL:
		v->d = sqlite3_column_double(stmt, at);
		bad = !isfinite(v->d);
		break;
	case KAB_DUMP_TEXT:
		v->s = kab_sql_str(stmt, at);
		break;
	case KAB_DUMP_REF:
		v->i = ordinal_of(d, c->ref, sqlite3_column_int64(stmt, at));
		bad = !v->i;
		break;
	}
	return bad ? kab_err_set(d->err, KAB_ERR_STORE,
				 "a row of '%s' has a wrong %s; run 'kab doctor'", def->name,
				 c->name)
		   : 0;
}

static int unpack(struct dump *d, sqlite3_blob *blob, ZSTD_DStream *stream)
{
	const size_t room_in = ZSTD_DStreamInSize(), room_out = ZSTD_DStreamOutSize();
	kab_autofree char *from = kab_xmalloc(room_in), *to = kab_xmalloc(room_out);
	int size = sqlite3_blob_bytes(blob);
	size_t left = 1;

	for (int at = 0; at < size;) {
		int n = size - at < (int)room_in ? size - at : (int)room_in;
		ZSTD_inBuffer in = { from, (size_t)n, 0 };
		int rc = sqlite3_blob_read(blob, from, n, at);

		if (rc != SQLITE_OK)
			return kab_store_fail(d->store, rc, d->err);
		at += n;
		while (in.pos < in.size) {
			ZSTD_outBuffer out = { to, room_out, 0 };

			left = ZSTD_decompressStream(stream, &out, &in);
			if (ZSTD_isError(left))
				return kab_err_set(d->err, KAB_ERR_STORE, "it is damaged: %s",
						   ZSTD_getErrorName(left));
			if (out.pos && d->sink->output(d->sink->ctx, to, out.pos, d->err))
				return -1;
		}
		/* What is still inside the decoder when all was fed. */
		for (ZSTD_outBuffer out = { to, room_out, room_out };
		     at == size && left && out.pos == out.size;) {
			ZSTD_inBuffer none = { from, 0, 0 };

			out.pos = 0;
			left = ZSTD_decompressStream(stream, &out, &none);
			if (ZSTD_isError(left))
				return kab_err_set(d->err, KAB_ERR_STORE, "it is damaged: %s",
						   ZSTD_getErrorName(left));
			if (out.pos && d->sink->output(d->sink->ctx, to, out.pos, d->err))
				return -1;
		}
	}
	return left ? kab_err_set(d->err, KAB_ERR_STORE, "it is damaged: its end is missing") : 0;
}

static int dump_output(struct dump *d, int64_t id)
{
	ZSTD_DStream *stream = NULL;
	sqlite3_blob *blob = NULL;
	int rc = sqlite3_blob_open(d->store->db, "main", "output", "data", id, 0, &blob);

	if (rc != SQLITE_OK) {
		sqlite3_blob_close(blob);
		return kab_store_fail(d->store, rc, d->err);
	}
	stream = ZSTD_createDStream();
	rc = stream ? unpack(d, blob, stream)
		    : kab_err_set(d->err, KAB_ERR_ENV, "no memory for a decoder");
	if (rc)
		kab_err_prefix(d->err, "output %lld", (long long)id);
	ZSTD_freeDStream(stream);
	sqlite3_blob_close(blob);
	return rc;
}

static int dump_table(struct dump *d, enum kab_dump_table table, int64_t run_id)
{
	const struct kab_dump_def *def = &kab_dump_defs[table];
	KAB_AUTOSTMT stmt = kab_sql_query(d->store, d->err, queries[table], "i", run_id);
	struct kab_dump_value values[KAB_DUMP_COLUMNS_MAX];
	int rc = -1;

	while (stmt && (rc = kab_sql_step(d->store, stmt, d->err)) == 1) {
		int64_t id = sqlite3_column_int64(stmt, 0);
		struct pair *p;

		for (size_t i = 0; i < def->n; i++)
			if (get_value(d, stmt, (int)i + 1, def, &values[i]))
				return -1;
		if (d->sink->row(d->sink->ctx, table, values, d->err) ||
		    (table == KAB_DUMP_OUTPUT && dump_output(d, id)))
			return -1;
		p = KAB_PUSH(&d->ids[table]);
		*p = (struct pair){ .id = id, .ordinal = (int64_t)d->ids[table].n };
	}
	if (rc < 0)
		return -1;
	if (d->ids[table].n)
		qsort(d->ids[table].v, d->ids[table].n, sizeof(struct pair), by_id);
	if (table == KAB_DUMP_RUN && !d->ids[table].n)
		return kab_err_set(d->err, KAB_ERR_NOT_FOUND, "there is no run %lld",
				   (long long)run_id);
	return 0;
}

int kab_store_dump(struct kab_store *store, int64_t run_id, const struct kab_dump_sink *sink,
		   struct kab_err *err)
{
	struct dump d = { .store = store, .sink = sink, .err = err };
	int rc = 0;

	KAB_STORE_GUARD(store);
	if (kab_tx_read_begin(store, err))
		return -1;
	for (int t = 0; !rc && t < KAB_DUMP_TABLES; t++)
		if (t != KAB_DUMP_OUTPUT || sink->output)
			rc = dump_table(&d, (enum kab_dump_table)t, run_id);
	kab_tx_read_end(store);
	for (int t = 0; t < KAB_DUMP_TABLES; t++)
		free(d.ids[t].v);
	return rc;
}

static int get_ids(struct kab_store *store, const char *sql, int64_t key, int64_t **ret_ids,
		   size_t *ret_n, struct kab_err *err)
{
	struct {
		int64_t *v;
		size_t n, cap;
	} list = { 0 };
	KAB_STORE_GUARD(store);
	KAB_AUTOSTMT stmt = kab_sql_query(store, err, sql, "i", key);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		*KAB_PUSH(&list) = sqlite3_column_int64(stmt, 0);
	if (rc < 0) {
		free(list.v);
		return -1;
	}
	*ret_ids = list.v;
	*ret_n = list.n;
	return 0;
}

int kab_store_runs_begun(struct kab_store *store, int64_t created_wall_ns, int64_t **ret_ids,
			 size_t *ret_n, struct kab_err *err)
{
	return get_ids(store, "SELECT id FROM run WHERE created_wall_ns = ? ORDER BY id",
		       created_wall_ns, ret_ids, ret_n, err);
}

int kab_store_noise_runs(struct kab_store *store, int64_t run_id, int64_t **ret_ids, size_t *ret_n,
			 struct kab_err *err)
{
	return get_ids(
		store,
		"SELECT DISTINCT n.run_id FROM noise n WHERE n.run_id <> ?1 AND n.machine_hash IN"
		" (SELECT h.machine_hash FROM boot b JOIN host h ON h.id = b.host_id"
		" WHERE b.run_id = ?1) AND EXISTS (SELECT 1 FROM iteration i WHERE i.run_id = ?1"
		" AND i.runner = n.runner AND i.params_text = n.params_text"
		" AND i.condition = n.condition) AND NOT EXISTS (SELECT 1 FROM noise m"
		" WHERE m.id > n.id AND m.machine_hash = n.machine_hash AND m.runner = n.runner"
		" AND m.params_text = n.params_text AND m.condition = n.condition"
		" AND m.metric = n.metric) ORDER BY n.run_id",
		run_id, ret_ids, ret_n, err);
}
