/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside the store: the handle, statements, transactions. Every function here expects the lock to
 * be held (KAB_STORE_GUARD in the public verb) unless it says otherwise.
 */
#ifndef KAB_STORE_INTERNAL_H
#define KAB_STORE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "base/buf.h"
#include "store/store.h"

#define KAB_STORE_APPLICATION_ID 0x6b616220 /* "kab " */
#define KAB_STORE_BUSY_MS 30000
#define KAB_STORE_STATEMENTS 256
#define KAB_STORE_OUTPUT_MAX ((int64_t)1 << 27) /* bytes of one stream */

/* schemas/sql/NNNN_*.sql in order; entry i brings user_version i to i + 1. */
struct kab_migration {
	const char *name;
	const char *sql;
};
extern const struct kab_migration kab_store_migrations[];
extern const size_t kab_store_migrations_n;

/* What tests replace. */
struct kab_store_env {
	const struct kab_migration *migrations;
	size_t migrations_n;
	/* Magic number of the file system that holds `path` (an existing file or folder), as in
	 * statfs(2), or -1. */
	int64_t (*fs_type)(const char *path);
	int busy_ms;
};
extern const struct kab_store_env kab_store_env_default;
/* kab_store_open with another environment (borrowed for the call). */
int kab_store_open_env(const char *path, enum kab_store_mode mode, const struct kab_store_env *env,
		       struct kab_store **ret, struct kab_err *err);

struct kab_store {
	sqlite3 *db;
	pthread_mutex_t lock;
	char *path;
	char *notice;
	enum kab_store_mode mode;
	int busy_ms;
	bool network; /* on a file system whose file numbers may change */
	char *gone; /* said since the file is no longer at its path */
	int64_t bulk_depth; /* > 0: verbs are savepoints of one transaction */
	struct {
		const char *sql; /* address of a literal: compared as a pointer first */
		sqlite3_stmt *stmt;
	} cache[KAB_STORE_STATEMENTS];
	size_t n_cache;
};

struct kab_store *kab_store_lock_(struct kab_store *store);
void kab_store_unlock_(struct kab_store **store);
#define KAB_STORE_GUARD(store)                                                         \
	struct kab_store *guard_ __attribute__((cleanup(kab_store_unlock_), unused)) = \
		kab_store_lock_(store)

/* Is the file still at its path? If not, what it holds is copied beside it, and -1. */
int kab_store_check_place(struct kab_store *store, struct kab_err *err);
/* Takes file system, path and remedy into the text. rc is a (extended) result code. Returns -1. */
int kab_store_fail(struct kab_store *store, int rc, struct kab_err *err);

/*
 * A statement, prepared once per handle, bound and ready to step. fmt has a letter per value:
 * i int64_t, d double (NAN is NULL), s const char * (NULL is NULL), b const void * and size_t,
 * n no argument: NULL. Reset it with kab_sql_reset (or KAB_AUTOSTMT) before its next use.
 */
sqlite3_stmt *kab_sql_query(struct kab_store *store, struct kab_err *err, const char *sql,
			    const char *fmt, ...);
/* 1: a row is there; 0: no more; -1: error. */
int kab_sql_step(struct kab_store *store, sqlite3_stmt *stmt, struct kab_err *err);
void kab_sql_reset(sqlite3_stmt **stmt);
#define KAB_AUTOSTMT sqlite3_stmt __attribute__((cleanup(kab_sql_reset))) *
/* Run it to its end, rows are dropped. 0 or -1. */
int kab_sql_run(struct kab_store *store, struct kab_err *err, const char *sql, const char *fmt,
		...);
/* The first column of the only row as an integer: 0; 1 when there is no row; -1. */
int kab_sql_int(struct kab_store *store, struct kab_err *err, int64_t *ret, const char *sql,
		const char *fmt, ...);
/* Several statements without values and without the cache: pragmas, migrations. Waits while
 * another program is busy, at most the bound of the handle. */
int kab_sql_script(struct kab_store *store, const char *sql, struct kab_err *err);

/* Column i. kab_sql_str: borrowed until the next step, "" for NULL (which a damaged file may have
 * where the schema allows none). kab_sql_dup: a copy, NULL for NULL; kab_sql_text: a copy, "" for
 * NULL; kab_sql_double: NAN for NULL. */
const char *kab_sql_str(sqlite3_stmt *stmt, int i);
char *kab_sql_dup(sqlite3_stmt *stmt, int i);
char *kab_sql_text(sqlite3_stmt *stmt, int i);
double kab_sql_double(sqlite3_stmt *stmt, int i);

/* Write transactions take the write lock at once, so that they never fail half-way for want of it.
 * kab_tx_end: commits when rc is 0, else rolls back; rc is returned, or -1 when the commit fails;
 * then the error is prefixed with what was tried. */
int kab_tx_begin(struct kab_store *store, struct kab_err *err);
int kab_tx_end(struct kab_store *store, int rc, struct kab_err *err, const char *what_fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Read transactions: every statement inside sees one moment. */
int kab_tx_read_begin(struct kab_store *store, struct kab_err *err);
void kab_tx_read_end(struct kab_store *store);

/* Is what lies beside the file (log, journal) what SQLite leaves there? STORE error when not. */
int kab_guard_files(const char *path, struct kab_err *err);
/* Before the first statement: nothing in the file may run, attach, or (READ) write. */
int kab_guard_connection(struct kab_store *store, struct kab_err *err);
/* Are the tables, views and triggers those of that version? STORE error that names the first that is
 * not. */
int kab_guard_schema(struct kab_store *store, const struct kab_store_env *env, int64_t version,
		     struct kab_err *err);

/* Bring an opened database to the newest schema, or refuse it. */
int kab_store_migrate(struct kab_store *store, const struct kab_store_env *env,
		      struct kab_err *err);
/* A consistent copy of the database at a path that does not exist yet. */
int kab_store_copy_to(struct kab_store *store, const char *path, struct kab_err *err);

/* An extraction with its samples, inside a transaction. */
struct kab_extraction {
	int64_t iteration_id;
	const char *runner, *runner_version, *params, *parser_version, *parse_status, *message;
	const struct kab_sample *samples;
	size_t n;
};
int kab_store_put_extraction(struct kab_store *store, const struct kab_extraction *x,
			     struct kab_err *err);
/* The row of a run, inside a transaction, under the name it wishes or a free one like it. */
int kab_store_put_run(struct kab_store *store, struct kab_store_run *run, char **ret_name,
		      struct kab_err *err);
int kab_store_put_output(struct kab_store *store, int64_t iteration_id,
			 const struct kab_store_stream *stream, struct kab_err *err);

#endif
