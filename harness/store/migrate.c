/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schema versions: user_version counts the migrations that a database has seen. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/internal.h"

static int version(struct kab_store *store, int64_t *ret_version, int64_t *ret_app,
		   int64_t *ret_objects, struct kab_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc;

	rc = sqlite3_prepare_v2(store->db,
				"SELECT (SELECT user_version FROM pragma_user_version),"
				" (SELECT application_id FROM pragma_application_id),"
				" (SELECT count(*) FROM sqlite_schema)",
				-1, &stmt, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		*ret_version = sqlite3_column_int64(stmt, 0);
		*ret_app = sqlite3_column_int64(stmt, 1);
		*ret_objects = sqlite3_column_int64(stmt, 2);
	} else {
		kab_store_fail(store, rc, err);
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? 0 : -1;
}

static int sync_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -1;
	rc = fsync(fd);
	close(fd);
	return rc;
}

/* Under its name, and never over an older copy. Not every file system has links. */
static int place(const char *part, const char *path)
{
	if (!link(part, path))
		return 0;
	if ((errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) && access(path, F_OK))
		return rename(part, path);
	return -1;
}

/* Everything of one moment from one file into a new one. An SQLite result code. */
static int copy_pages(sqlite3 *from, sqlite3 *to)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
	int rc;

	if (!backup)
		return sqlite3_errcode(to);
	rc = sqlite3_backup_step(backup, -1);
	sqlite3_backup_finish(backup);
	if (rc != SQLITE_DONE)
		return rc;
	/* The copy is to be one file, readable where no log can be made. */
	return sqlite3_exec(to, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
}

int kab_store_copy_to(struct kab_store *store, const char *path, struct kab_err *err)
{
	/* Not the one of another process that copies to the same name. */
	kab_autofree char *part = kab_xasprintf("%s.%ld.part", path, (long)getpid());
	sqlite3 *from = NULL, *to = NULL;
	struct stat st;
	int fd, rc;

	if (!lstat(path, &st))
		return kab_err_set(err, KAB_ERR_STORE,
				   "cannot copy database '%s' to '%s', which is there already and "
				   "is not overwritten; name another file",
				   store->path, path);
	unlink(part);
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	/* A connection of its own: SQLite copies from none that is in a write transaction. */
	rc = sqlite3_open_v2(store->path, &from, SQLITE_OPEN_READWRITE, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_open_v2(part, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(from, store->busy_ms);
		rc = copy_pages(from, to);
	}
	sqlite3_close(from);
	sqlite3_close(to);
	if (rc != SQLITE_OK)
		kab_err_set(
			err, KAB_ERR_STORE,
			"cannot copy database '%s' to '%s': %s; see that there is room and that "
			"the folder may be written",
			store->path, path, sqlite3_errstr(rc));
	else if (sync_path(part) || place(part, path))
		rc = kab_err_errno(err, KAB_ERR_STORE, "cannot keep the copy '%s' of database '%s'",
				   path, store->path);
	unlink(part);
	return rc == SQLITE_OK ? 0 : -1;
}

/*
 * Removed, moved or replaced by a copy: SQLite would go on writing to the old file, which is gone
 * when kab ends, and its log would be taken for that of the new one.
 */
int kab_store_check_place(struct kab_store *store, struct kab_err *err)
{
	kab_autofree char *path = NULL;
	sqlite3 *to = NULL;
	int moved = 0, fd, rc;

	if (!store->gone && !store->network)
		sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	if (moved) {
		path = kab_xasprintf("%s.%ld.rescued", store->path, (long)getpid());
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		rc = fd < 0 ? SQLITE_CANTOPEN
			    : sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE, NULL);
		if (fd >= 0)
			close(fd);
		if (rc == SQLITE_OK)
			rc = copy_pages(store->db, to);
		sqlite3_close(to);
		sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
		store->gone = kab_xasprintf(
			"database '%s' was moved, removed or replaced while kab wrote to it; %s "
			"'%s'%s%s",
			store->path,
			rc == SQLITE_OK ? "all that it held is in" : "it cannot be copied to", path,
			rc == SQLITE_OK ? ": put that in its place and go on with 'kab resume'"
					: ": ",
			rc == SQLITE_OK ? "" : sqlite3_errstr(rc));
	}
	return store->gone ? kab_err_set(err, KAB_ERR_STORE, "%s", store->gone) : 0;
}

static int keep_copy(struct kab_store *store, int64_t from, char **ret, struct kab_err *err)
{
	for (int i = 0; i < 100; i++) {
		char *path = i ? kab_xasprintf("%s.bak-v%lld.%d", store->path, (long long)from, i)
			       : kab_xasprintf("%s.bak-v%lld", store->path, (long long)from);

		if (access(path, F_OK) && errno == ENOENT) {
			*ret = path;
			return kab_store_copy_to(store, path, err);
		}
		free(path);
	}
	return kab_err_set(err, KAB_ERR_STORE,
			   "there are already 100 copies '%s.bak-v*'; delete old ones",
			   store->path);
}

static int apply(struct kab_store *store, const struct kab_store_env *env, int64_t from,
		 struct kab_err *err)
{
	kab_autobuf struct kab_buf last = KAB_BUF_INIT;
	int64_t bad = 0;

	for (size_t i = (size_t)from; i < env->migrations_n; i++)
		if (kab_sql_script(store, env->migrations[i].sql, err))
			return kab_err_prefix(err, "schema step '%s'", env->migrations[i].name);
	if (kab_sql_int(store, err, &bad, "SELECT count(*) FROM pragma_foreign_key_check", "") < 0)
		return -1;
	if (bad)
		return kab_err_set(err, KAB_ERR_STORE, "%lld rows lost what they refer to",
				   (long long)bad);
	kab_buf_addf(&last, "PRAGMA user_version=%zu; PRAGMA application_id=%d", env->migrations_n,
		     KAB_STORE_APPLICATION_ID);
	return kab_sql_script(store, kab_buf_str(&last), err);
}

int kab_store_migrate(struct kab_store *store, const struct kab_store_env *env, struct kab_err *err)
{
	int64_t have, app, objects, newest = (int64_t)env->migrations_n;
	kab_autofree char *copy = NULL;
	int rc;

	if (version(store, &have, &app, &objects, err))
		return -1;
	if (objects && app != KAB_STORE_APPLICATION_ID)
		return kab_err_set(err, KAB_ERR_STORE,
				   "'%s' is a database of another program; name another with --db",
				   store->path);
	if (have > newest)
		return kab_err_set(
			err, KAB_ERR_STORE,
			"database '%s' has schema version %lld, this kab knows up to %lld; "
			"use a newer kab, or another database (--db)",
			store->path, (long long)have, (long long)newest);
	if (objects && have >= 0 && kab_guard_schema(store, env, have, err))
		return -1;
	if (have == newest)
		return 0;
	if (store->mode == KAB_STORE_READ && !objects) /* another kab is just making it */
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "database '%s' is still empty",
				   store->path);
	if (store->mode == KAB_STORE_READ)
		return kab_err_set(
			err, KAB_ERR_STORE,
			"database '%s' has schema version %lld, this kab reads %lld; a "
			"command that writes (run, resume, import, reparse) updates it and "
			"keeps a copy of the old one",
			store->path, (long long)have, (long long)newest);
	/* References cannot be switched off inside a transaction; a step may rebuild a table. */
	if (kab_sql_script(store, "PRAGMA foreign_keys=OFF", err) || kab_tx_begin(store, err))
		return -1;
	/* Another kab may have been faster. */
	rc = version(store, &have, &app, &objects, err);
	if (!rc && have < newest) {
		if (have)
			rc = keep_copy(store, have, &copy, err);
		if (!rc)
			rc = apply(store, env, have, err);
	}
	rc = kab_tx_end(store, rc, err, "update the schema of '%s' from version %lld to %lld",
			store->path, (long long)have, (long long)newest);
	if (!rc && copy && !store->notice)
		store->notice =
			kab_xasprintf("database '%s' was updated from schema version %lld to "
				      "%lld; the old one is kept as '%s'",
				      store->path, (long long)have, (long long)newest, copy);
	return rc ? rc : kab_sql_script(store, "PRAGMA foreign_keys=ON", err);
}
