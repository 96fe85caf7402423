/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statements, transactions, and what to tell the user when SQLite refuses. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "store/internal.h"

struct kab_store *kab_store_lock_(struct kab_store *store)
{
	pthread_mutex_lock(&store->lock);
	return store;
}

void kab_store_unlock_(struct kab_store **store)
{
	pthread_mutex_unlock(&(*store)->lock);
}

static const char *remedy(int rc, int os_errno)
{
	if (os_errno == ENOSPC || os_errno == EDQUOT)
		rc = SQLITE_FULL;
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return "the disk is full: free space on that file system and try again; a run "
		       "that was begun goes on with 'kab resume'";
	case SQLITE_IOERR:
		return "the disk refused to read or write: see the kernel log (dmesg), and keep "
		       "the file where disks are sound (--db PATH)";
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return "the file is damaged or no database: put a backup in its place "
		       "(kab backup makes them, kab.db.bak-v* are kept by updates), or save what "
		       "can be read with: sqlite3 FILE .recover";
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return "another program holds it locked for too long: end that program (fuser -v "
		       "FILE names it) and try again";
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return "it cannot be written: give this user the right to write the file and its "
		       "folder, or name another with --db";
	case SQLITE_CANTOPEN:
		return "it cannot be opened: check that its folder exists and may be written, or "
		       "name another with --db";
	case SQLITE_TOOBIG:
		return "a value is too long for it";
	default:
		return NULL;
	}
}

int kab_store_fail(struct kab_store *store, int rc, struct kab_err *err)
{
	/* Where SQLite itself had no complaint, ours has the code only. */
	const char *what = store->db && sqlite3_errcode(store->db) != SQLITE_OK
				   ? sqlite3_errmsg(store->db)
				   : sqlite3_errstr(rc);
	int os_errno = store->db ? sqlite3_system_errno(store->db) : 0;
	const char *help;

	/* SQLite keeps the errno of an earlier failure: it belongs to these codes only. */
	if ((rc & 0xff) != SQLITE_IOERR && (rc & 0xff) != SQLITE_CANTOPEN &&
	    (rc & 0xff) != SQLITE_FULL)
		os_errno = 0;
	help = remedy(rc, os_errno);
	if (help)
		kab_err_set(err, KAB_ERR_STORE, "database '%s': %s%s%s; %s", store->path, what,
			    os_errno ? ": " : "", os_errno ? strerrordesc_np(os_errno) : "", help);
	else
		kab_err_set(err, KAB_ERR_STORE, "database '%s': %s (sqlite code %d)", store->path,
			    what, rc);
	if (err)
		err->os_errno = os_errno;
	return -1;
}

static sqlite3_stmt *prepared(struct kab_store *store, const char *sql, struct kab_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc;

	for (size_t i = 0; i < store->n_cache; i++)
		if (store->cache[i].sql == sql || !strcmp(store->cache[i].sql, sql))
			return store->cache[i].stmt;
	rc = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
	if (rc != SQLITE_OK) {
		kab_store_fail(store, rc, err);
		return NULL;
	}
	if (store->n_cache == KAB_STORE_STATEMENTS) {
		sqlite3_finalize(stmt);
		kab_err_set(err, KAB_ERR_INTERNAL, "more statements than the store has room for");
		return NULL;
	}
	/* The caller's text may be gone by the next call: the copy that the statement holds stays. */
	store->cache[store->n_cache].sql = sqlite3_sql(stmt);
	store->cache[store->n_cache++].stmt = stmt;
	return stmt;
}

static int bind_values(sqlite3_stmt *stmt, const char *fmt, va_list ap)
{
	int rc = SQLITE_OK;

	for (int i = 1; *fmt && rc == SQLITE_OK; fmt++, i++) {
		switch (*fmt) {
		case 'i':
			rc = sqlite3_bind_int64(stmt, i, va_arg(ap, int64_t));
			break;
		case 'd': {
			double d = va_arg(ap, double);

			rc = isnan(d) ? sqlite3_bind_null(stmt, i)
				      : sqlite3_bind_double(stmt, i, d);
			break;
		}
		case 's':
			rc = sqlite3_bind_text(stmt, i, va_arg(ap, const char *), -1,
					       SQLITE_STATIC);
			break;
		case 'b': {
			const void *data = va_arg(ap, const void *);
			size_t n = va_arg(ap, size_t);

			rc = sqlite3_bind_blob64(stmt, i, n ? data : "", n, SQLITE_STATIC);
			break;
		}
		default:
			rc = sqlite3_bind_null(stmt, i);
		}
	}
	return rc;
}

static sqlite3_stmt *query(struct kab_store *store, struct kab_err *err, const char *sql,
			   const char *fmt, va_list ap)
{
	sqlite3_stmt *stmt = prepared(store, sql, err);
	int rc;

	if (!stmt)
		return NULL;
	rc = bind_values(stmt, fmt, ap);
	if (rc != SQLITE_OK) {
		kab_store_fail(store, rc, err);
		kab_sql_reset(&stmt);
		return NULL;
	}
	return stmt;
}

sqlite3_stmt *kab_sql_query(struct kab_store *store, struct kab_err *err, const char *sql,
			    const char *fmt, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;

	va_start(ap, fmt);
	stmt = query(store, err, sql, fmt, ap);
	va_end(ap);
	return stmt;
}

int kab_sql_step(struct kab_store *store, sqlite3_stmt *stmt, struct kab_err *err)
{
	int rc = sqlite3_step(stmt);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	return kab_store_fail(store, rc, err);
}

void kab_sql_reset(sqlite3_stmt **stmt)
{
	if (*stmt) {
		sqlite3_reset(*stmt);
		sqlite3_clear_bindings(*stmt);
	}
	*stmt = NULL;
}

int kab_sql_run(struct kab_store *store, struct kab_err *err, const char *sql, const char *fmt, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;
	int rc = -1;

	va_start(ap, fmt);
	stmt = query(store, err, sql, fmt, ap);
	va_end(ap);
	if (!stmt)
		return -1;
	while ((rc = kab_sql_step(store, stmt, err)) == 1)
		;
	kab_sql_reset(&stmt);
	return rc;
}

int kab_sql_int(struct kab_store *store, struct kab_err *err, int64_t *ret, const char *sql,
		const char *fmt, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	stmt = query(store, err, sql, fmt, ap);
	va_end(ap);
	if (!stmt)
		return -1;
	rc = kab_sql_step(store, stmt, err);
	if (rc == 1)
		*ret = sqlite3_column_int64(stmt, 0);
	kab_sql_reset(&stmt);
	return rc < 0 ? -1 : !rc;
}

static void pause_ms(long ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* SQLite's own busy handler is not called where it sees a deadlock coming (switching the journal
 * mode, recovery, a commit under readers), so these are tried again here, within the same bound. */
static int exec_retry(struct kab_store *store, const char *sql)
{
	int64_t deadline = kab_now_mono_ns() + store->busy_ms * KAB_NS_PER_MS;
	long ms = 2;
	int rc;

	while ((rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL)) != SQLITE_OK) {
		if (((rc & 0xff) != SQLITE_BUSY && (rc & 0xff) != SQLITE_LOCKED) ||
		    kab_now_mono_ns() >= deadline)
			break;
		pause_ms(ms);
		ms = ms < 100 ? ms * 2 : 100;
	}
	return rc;
}

int kab_sql_script(struct kab_store *store, const char *sql, struct kab_err *err)
{
	int rc = exec_retry(store, sql);

	return rc == SQLITE_OK ? 0 : kab_store_fail(store, rc, err);
}

const char *kab_sql_str(sqlite3_stmt *stmt, int i)
{
	const char *s = (const char *)sqlite3_column_text(stmt, i);

	return s ? s : "";
}

char *kab_sql_dup(sqlite3_stmt *stmt, int i)
{
	return kab_xstrdup((const char *)sqlite3_column_text(stmt, i));
}

char *kab_sql_text(sqlite3_stmt *stmt, int i)
{
	return kab_xstrdup(kab_sql_str(stmt, i));
}

double kab_sql_double(sqlite3_stmt *stmt, int i)
{
	return sqlite3_column_type(stmt, i) == SQLITE_NULL ? (double)NAN
							   : sqlite3_column_double(stmt, i);
}

int kab_tx_begin(struct kab_store *store, struct kab_err *err)
{
	if (store->mode == KAB_STORE_READ)
		return kab_err_set(err, KAB_ERR_INTERNAL, "database '%s' was opened for reading",
				   store->path);
	if (!store->bulk_depth && kab_store_check_place(store, err))
		return -1;
	return kab_sql_script(store, store->bulk_depth ? "SAVEPOINT verb" : "BEGIN IMMEDIATE", err);
}

int kab_tx_end(struct kab_store *store, int rc, struct kab_err *err, const char *what_fmt, ...)
{
	bool bulk = store->bulk_depth > 0;
	kab_autofree char *what = NULL;
	va_list ap;

	if (rc == 0 && kab_sql_script(store, bulk ? "RELEASE verb" : "COMMIT", err))
		rc = -1;
	/* A full disk rolls everything back by itself; then there is nothing to undo. */
	if (rc && !sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, bulk ? "ROLLBACK TO verb; RELEASE verb" : "ROLLBACK", NULL,
			     NULL, NULL);
	if (rc < 0 && err) {
		va_start(ap, what_fmt);
		what = kab_xvasprintf(what_fmt, ap);
		va_end(ap);
		kab_err_prefix(err, "cannot %s", what);
	}
	return rc;
}

int kab_tx_read_begin(struct kab_store *store, struct kab_err *err)
{
	return store->bulk_depth ? 0 : kab_sql_script(store, "BEGIN", err);
}

void kab_tx_read_end(struct kab_store *store)
{
	if (!store->bulk_depth && !sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
}
