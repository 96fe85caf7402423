/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows as a run: the way back from store/dump.h. What comes in is not trusted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/alloc.h"
#include "store/dump.h"
#include "store/internal.h"

#define COPY_BYTES ((size_t)65536)

struct kab_store_load {
	struct kab_store *store;
	int64_t run_id;
	char *name;
	enum kab_dump_table last;
	struct {
		int64_t *v; /* new id of each ordinal, from 1 */
		size_t n, cap;
	} ids[KAB_DUMP_TABLES];
	/* The output that is coming in: packed into a file without a name, for it may be long. */
	struct {
		bool open;
		int64_t iteration, bytes, cut, so_far;
		char *name;
		FILE *file;
		ZSTD_CStream *stream;
	} out;
};

struct kab_store_load *kab_store_load_begin(struct kab_store *store)
{
	struct kab_store_load *load = kab_xcalloc(1, sizeof(*load));

	load->store = store;
	return load;
}

void kab_store_load_free(struct kab_store_load *load)
{
	if (!load)
		return;
	for (int t = 0; t < KAB_DUMP_TABLES; t++)
		free(load->ids[t].v);
	if (load->out.file)
		fclose(load->out.file);
	ZSTD_freeCStream(load->out.stream);
	free(load->out.name);
	free(load->name);
	free(load);
}

/* What the constraints of the schema refuse is the fault of what came in, not of the database. */
static int refused(struct kab_store_load *load, enum kab_dump_table table, struct kab_err *err)
{
	int code = sqlite3_errcode(load->store->db) & 0xff;
	char *what kab_autofree = NULL;

	if (code != SQLITE_CONSTRAINT && code != SQLITE_MISMATCH && code != SQLITE_TOOBIG)
		return -1;
	what = kab_xstrdup(sqlite3_errmsg(load->store->db));
	return kab_err_set(err, KAB_ERR_PARSE, "row %zu of '%s' cannot be: %s",
			   load->ids[table].n + 1, kab_dump_defs[table].name, what);
}

static int bind_value(sqlite3_stmt *stmt, int at, const struct kab_dump_column *c,
		      const struct kab_dump_value *v, int64_t id)
{
	if (v->null)
		return sqlite3_bind_null(stmt, at);
	switch (c->type) {
	case KAB_DUMP_INT:
		return sqlite3_bind_int64(stmt, at, v->i);
	case KAB_DUMP_REAL:
		return sqlite3_bind_double(stmt, at, v->d);
	case KAB_DUMP_TEXT:
		return sqlite3_bind_text(stmt, at, v->s, -1, SQLITE_STATIC);
	case KAB_DUMP_REF:
		return sqlite3_bind_int64(stmt, at, id);
	}
	return SQLITE_MISUSE;
}

/* Where the rows go. ?1 is the run, ?2 ... the columns of the definition in their order. */
static const char *const inserts[KAB_DUMP_TABLES] = {
	[KAB_DUMP_HOST] = "INSERT INTO run_host (run_id, label, position) VALUES (?1, ?2, ?3)",
	[KAB_DUMP_KERNEL] = "INSERT INTO run_kernel (run_id, label, spec, position)"
			    " VALUES (?1, ?2, ?3, ?4)",
	[KAB_DUMP_BOOT] =
		"INSERT INTO boot (run_id, run_host_id, run_kernel_id, block, sequence, restart,"
		" state, reason, replaces, host_id, kernel_id, os_boot_id, proven_wall_ns)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
		" (SELECT id FROM host WHERE machine_hash = ?10),"
		" (SELECT id FROM kernel WHERE identity = ?17), ?15, ?16)",
	[KAB_DUMP_ENVIRONMENT] = "INSERT INTO environment (boot_id, position, key, value)"
				 " SELECT ?2, ?3, ?4, ?5 WHERE ?1 IS NOT NULL",
	[KAB_DUMP_ITERATION] =
		"INSERT INTO iteration (run_id, boot_id, condition, case_name, row_key, runner,"
		" params_text, case_order, iteration, warmup, attempt, retry_of, sequence, state,"
		" remote_id, reason, exit_status, started_wall_ns, finished_wall_ns, elapsed_s,"
		" user_s, system_s, max_rss_kb, argv_json, params_resolved, runner_version)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"
		" ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)",
	[KAB_DUMP_EXTRACTION] =
		"INSERT INTO extraction (iteration_id, runner, parser_version, parse_status,"
		" message, created_wall_ns) SELECT ?2, ?3, ?4, ?5, ?6, ?7 WHERE ?1 IS NOT NULL",
	[KAB_DUMP_SAMPLE] = "INSERT INTO sample (extraction_id, position, series_id, direction,"
			    " value) SELECT ?2, ?3, ?4, ?5, ?6 WHERE ?1 IS NOT NULL",
	[KAB_DUMP_SUMMARY] =
		"INSERT INTO summary (run_id, run_host_id, run_kernel_id, condition, case_name,"
		" row_key, runner, metric, unit, direction, n, mean, stddev)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
	[KAB_DUMP_NOISE] =
		"INSERT INTO noise (run_id, machine_hash, runner, params_text, condition, metric,"
		" cv, units, restarts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	[KAB_DUMP_EVENT] = "INSERT INTO event (run_id, boot_id, wall_ns, kind, text)"
			   " VALUES (?1, ?2, ?3, ?4, ?5)",
};

static int insert(struct kab_store_load *load, enum kab_dump_table table,
		  const struct kab_dump_value *values, const char *identity, struct kab_err *err)
{
	const struct kab_dump_def *def = &kab_dump_defs[table];
	KAB_AUTOSTMT stmt = kab_sql_query(load->store, err, inserts[table], "i", load->run_id);

	if (!stmt)
		return -1;
	for (size_t i = 0; i < def->n; i++) {
		const struct kab_dump_column *c = &def->columns[i];
		int64_t id = 0;
		int rc;

		if (c->type == KAB_DUMP_REF && !values[i].null)
			id = load->ids[c->ref].v[values[i].i - 1];
		/* Numbers of parameters without a use (those of the kernel) do not exist. */
		rc = bind_value(stmt, (int)i + 2, c, &values[i], id);
		if (rc != SQLITE_OK)
			return kab_store_fail(load->store, rc, err);
	}
	if (identity && sqlite3_bind_text(stmt, 17, identity, -1, SQLITE_STATIC) != SQLITE_OK)
		return kab_store_fail(load->store, SQLITE_NOMEM, err);
	if (kab_sql_step(load->store, stmt, err) < 0)
		return refused(load, table, err);
	return 0;
}

static int load_run(struct kab_store_load *load, const struct kab_dump_value *v,
		    struct kab_err *err)
{
	struct kab_store_run run = {
		.name = v[0].s,
		.suite_name = v[1].s,
		.suite_json = v[2].s,
		.plan_json = v[3].s,
		.command_line = v[4].s,
		.kab_version = v[5].s,
		.created_wall_ns = v[7].i,
	};
	enum kab_run_state state;

	if (kab_run_state_parse(v[6].s, &state))
		return kab_err_set(err, KAB_ERR_PARSE, "'%s' is no state of a run", v[6].s);
	if (kab_store_put_run(load->store, &run, &load->name, err))
		return refused(load, KAB_DUMP_RUN, err);
	load->run_id = run.id;
	if (v[8].null)
		return kab_sql_run(load->store, err, "UPDATE run SET state = ?2 WHERE id = ?1",
				   "is", run.id, v[6].s);
	return kab_sql_run(load->store, err,
			   "UPDATE run SET state = ?2, finished_wall_ns = ?3 WHERE id = ?1", "isi",
			   run.id, v[6].s, v[8].i);
}

static char *text_of(const struct kab_dump_value *v)
{
	return (char *)(v->null ? "" : v->s);
}

static int load_boot(struct kab_store_load *load, const struct kab_dump_value *v,
		     struct kab_err *err)
{
	struct kab_kernel_id id = {
		.release = text_of(&v[9]),
		.build_id = text_of(&v[10]),
		.commit = text_of(&v[11]),
		.config_hash = text_of(&v[12]),
	};
	kab_autofree char *identity = v[9].null ? NULL : kab_kernel_identity(&id);

	if (identity &&
	    kab_sql_run(load->store, err,
			"INSERT INTO kernel (identity, release, build_id, commit_id, config_hash)"
			" VALUES (?, ?, ?, ?, ?) ON CONFLICT (identity) DO NOTHING",
			"sssss", identity, id.release, id.build_id, id.commit, id.config_hash))
		return -1;
	if (!v[8].null && kab_sql_run(load->store, err,
				      "INSERT INTO host (machine_hash) VALUES (?)"
				      " ON CONFLICT (machine_hash) DO NOTHING",
				      "s", v[8].s))
		return -1;
	return insert(load, KAB_DUMP_BOOT, v, identity, err);
}

static int load_series(struct kab_store_load *load, const struct kab_dump_value *v, int64_t *ret,
		       struct kab_err *err)
{
	kab_autofree char *key = kab_series_key(v[0].s, v[1].s, v[2].s, v[3].s, v[4].s);
	int rc =
		kab_sql_int(load->store, err, ret, "SELECT id FROM series WHERE key = ?", "s", key);

	if (rc <= 0)
		return rc;
	if (kab_sql_run(load->store, err,
			"INSERT INTO series (key, runner, runner_version, params, metric, unit)"
			" VALUES (?, ?, ?, ?, ?, ?)",
			"ssssss", key, v[0].s, v[1].s, v[2].s, v[3].s, v[4].s))
		return -1;
	*ret = sqlite3_last_insert_rowid(load->store->db);
	return 0;
}

static int begin_output(struct kab_store_load *load, const struct kab_dump_value *v,
			struct kab_err *err)
{
	if (v[2].i < 0 || v[2].i > KAB_STORE_OUTPUT_MAX || (v[3].i != 0 && v[3].i != 1))
		return kab_err_set(err, KAB_ERR_PARSE, "an output of %lld bytes cannot be",
				   (long long)v[2].i);
	load->out.open = true;
	load->out.iteration = load->ids[KAB_DUMP_ITERATION].v[v[0].i - 1];
	load->out.bytes = v[2].i;
	load->out.cut = v[3].i;
	load->out.so_far = 0;
	free(load->out.name);
	load->out.name = kab_xstrdup(v[1].s);
	if (!load->out.file)
		load->out.file = tmpfile();
	if (!load->out.file)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot make a temporary file");
	rewind(load->out.file);
	if (!load->out.stream)
		load->out.stream = ZSTD_createCStream();
	/* The length is in the frame, too: who reads it later compares the two. */
	if (!load->out.stream || ZSTD_isError(ZSTD_initCStream(load->out.stream, 3)) ||
	    ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(load->out.stream, (unsigned long long)v[2].i)))
		return kab_err_set(err, KAB_ERR_ENV, "no memory for an encoder");
	return 0;
}

static int pack(struct kab_store_load *load, const char *data, size_t n, ZSTD_EndDirective how,
		struct kab_err *err)
{
	char room[16384];
	ZSTD_inBuffer in = { n ? data : "", n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { room, sizeof(room), 0 };

		left = ZSTD_compressStream2(load->out.stream, &out, &in, how);
		if (ZSTD_isError(left))
			return kab_err_set(err, KAB_ERR_INTERNAL, "output cannot be packed: %s",
					   ZSTD_getErrorName(left));
		if (fwrite(room, 1, out.pos, load->out.file) != out.pos)
			return kab_err_errno(err, KAB_ERR_ENV, "cannot write a temporary file");
	} while (how == ZSTD_e_end ? left != 0 : in.pos < in.size);
	return 0;
}

int kab_store_load_output(struct kab_store_load *load, const char *data, size_t n,
			  struct kab_err *err)
{
	if (!load->out.open)
		return kab_err_set(err, KAB_ERR_PARSE, "output that belongs to nothing");
	if ((uint64_t)n > (uint64_t)(load->out.bytes - load->out.so_far))
		return kab_err_set(err, KAB_ERR_PARSE, "an output is longer than it says");
	load->out.so_far += (int64_t)n;
	return pack(load, data, n, ZSTD_e_continue, err);
}

static int copy_to_blob(struct kab_store_load *load, sqlite3_blob *blob, long size,
			struct kab_err *err)
{
	kab_autofree char *data = kab_xmalloc(COPY_BYTES);

	rewind(load->out.file);
	for (long at = 0; at < size;) {
		size_t want = (size_t)(size - at) < COPY_BYTES ? (size_t)(size - at) : COPY_BYTES;
		int rc;

		if (fread(data, 1, want, load->out.file) != want)
			return kab_err_errno(err, KAB_ERR_ENV, "cannot read a temporary file");
		rc = sqlite3_blob_write(blob, data, (int)want, (int)at);
		if (rc != SQLITE_OK)
			return kab_store_fail(load->store, rc, err);
		at += (long)want;
	}
	return 0;
}

static int end_output(struct kab_store_load *load, struct kab_err *err)
{
	sqlite3_blob *blob = NULL;
	long size;
	int rc;

	if (!load->out.open)
		return 0;
	load->out.open = false;
	if (load->out.so_far != load->out.bytes)
		return kab_err_set(err, KAB_ERR_PARSE, "an output is shorter than it says");
	if (pack(load, NULL, 0, ZSTD_e_end, err))
		return -1;
	size = ftell(load->out.file);
	if (kab_sql_run(load->store, err,
			"INSERT INTO output (iteration_id, name, bytes, cut, data)"
			" VALUES (?, ?, ?, ?, zeroblob(?))",
			"isiii", load->out.iteration, load->out.name, load->out.bytes,
			load->out.cut, (int64_t)size))
		return refused(load, KAB_DUMP_OUTPUT, err);
	rc = sqlite3_blob_open(load->store->db, "main", "output", "data",
			       sqlite3_last_insert_rowid(load->store->db), 1, &blob);
	rc = rc == SQLITE_OK ? copy_to_blob(load, blob, size, err)
			     : kab_store_fail(load->store, rc, err);
	sqlite3_blob_close(blob);
	return rc;
}

static int check_values(struct kab_store_load *load, enum kab_dump_table table,
			const struct kab_dump_value *v, struct kab_err *err)
{
	const struct kab_dump_def *def = &kab_dump_defs[table];

	if (table < load->last || (table == KAB_DUMP_RUN) != !load->run_id)
		return kab_err_set(err, KAB_ERR_PARSE, "a row of '%s' is out of order", def->name);
	for (size_t i = 0; i < def->n; i++) {
		const struct kab_dump_column *c = &def->columns[i];

		if (v[i].null ? !c->may_be_null
			      : (c->type == KAB_DUMP_REAL && !isfinite(v[i].d)) ||
					(c->type == KAB_DUMP_REF &&
					 (v[i].i < 1 || (uint64_t)v[i].i > load->ids[c->ref].n)))
			return kab_err_set(err, KAB_ERR_PARSE, "row %zu of '%s': wrong %s",
					   load->ids[table].n + 1, def->name, c->name);
	}
	return 0;
}

int kab_store_load_row(struct kab_store_load *load, enum kab_dump_table table,
		       const struct kab_dump_value *v, struct kab_err *err)
{
	int64_t id = 0;
	int rc;

	KAB_STORE_GUARD(load->store);
	if (check_values(load, table, v, err) || end_output(load, err))
		return -1;
	load->last = table;
	switch (table) {
	case KAB_DUMP_RUN:
		rc = load_run(load, v, err);
		break;
	case KAB_DUMP_BOOT:
		rc = load_boot(load, v, err);
		break;
	case KAB_DUMP_SERIES:
		rc = load_series(load, v, &id, err);
		break;
	case KAB_DUMP_OUTPUT:
		rc = begin_output(load, v, err);
		break;
	default:
		rc = insert(load, table, v, NULL, err);
	}
	if (rc)
		return -1;
	*KAB_PUSH(&load->ids[table]) = id ? id : sqlite3_last_insert_rowid(load->store->db);
	return 0;
}

/* What no program of ours leaves behind is not taken in either (see store/check.c). */
static int check_states(struct kab_store_load *load, struct kab_err *err)
{
	static const struct {
		const char *sql, *what;
	} checks[] = {
		{ "SELECT count(*) FROM iteration i WHERE run_id = ? AND state = 'done' AND NOT"
		  " EXISTS (SELECT 1 FROM extraction x WHERE x.iteration_id = i.id)",
		  "iterations are done but have no reading" },
		{ "SELECT count(*) FROM iteration WHERE run_id = ? AND state = 'running' AND"
		  " remote_id IS NULL",
		  "iterations are running without a name on their host" },
		{ "SELECT count(*) FROM run r WHERE id = ? AND state = 'complete' AND EXISTS"
		  " (SELECT 1 FROM iteration i WHERE i.run_id = r.id AND i.state IN"
		  " ('pending', 'running'))",
		  "run is complete although iterations are not" },
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(checks); i++) {
		int64_t n = 0;

		if (kab_sql_int(load->store, err, &n, checks[i].sql, "i", load->run_id) < 0)
			return -1;
		if (n)
			return kab_err_set(err, KAB_ERR_PARSE, "%lld %s", (long long)n,
					   checks[i].what);
	}
	return 0;
}

int kab_store_load_end(struct kab_store_load *load, int64_t *ret_run_id, char **ret_name,
		       struct kab_err *err)
{
	KAB_STORE_GUARD(load->store);
	if (!load->run_id)
		return kab_err_set(err, KAB_ERR_PARSE, "there is no run in it");
	if (end_output(load, err) || check_states(load, err))
		return -1;
	*ret_run_id = load->run_id;
	*ret_name = load->name;
	load->name = NULL;
	return 0;
}
