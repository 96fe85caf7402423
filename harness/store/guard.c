/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A database may come from somebody else: what is in the file must not run, reach other files, or pretend to
 * be one of our tables. Our own statements are constants; what is guarded against is what SQLite takes
 * from the file itself (triggers, views, expressions) and from the files beside it.
 */
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/internal.h"

/* Ends a rollback journal that names another journal, which SQLite would delete when it is done. */
static const unsigned char super_magic[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };

static bool names_super_journal(const char *path)
{
	unsigned char end[8];
	struct stat st;
	bool ret;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return false;
	ret = !fstat(fd, &st) && st.st_size >= (off_t)sizeof(end) &&
	      pread(fd, end, sizeof(end), st.st_size - (off_t)sizeof(end)) == sizeof(end) &&
	      !memcmp(end, super_magic, sizeof(end));
	close(fd);
	return ret;
}

int kab_guard_files(const char *path, struct kab_err *err)
{
	static const char *const beside[] = { "-wal", "-shm", "-journal" };
	kab_autofree char *real = realpath(path, NULL); /* SQLite puts them where links lead */
	struct stat st;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(beside); i++) {
		kab_autofree char *name = kab_xasprintf("%s%s", real ? real : path, beside[i]);

		if (lstat(name, &st))
			continue;
		/* Only the rollback journal is opened: locks of this process on the others would be
		 * gone when it is closed. */
		if (!S_ISREG(st.st_mode) ||
		    (!strcmp(beside[i], "-journal") && names_super_journal(name)))
			return kab_err_set(err, KAB_ERR_STORE,
					   "'%s' beside the database is not what kab leaves there "
					   "(%s): who made it? The database is not opened with it",
					   name,
					   S_ISREG(st.st_mode)	 ? "it names other files"
					   : S_ISLNK(st.st_mode) ? "a link"
								 : "no file");
	}
	return 0;
}

/* SQLite asks when it compiles a statement, also for what triggers and views do. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *database,
		     const char *trigger)
{
	const struct kab_store *store = ctx;

	(void)b;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_ATTACH: /* VACUUM attaches a file without a name */
		return a && *a ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_UPDATE: /* pragmas that are read as tables are declared so; nothing is written */
		return store->mode == KAB_STORE_WRITE || (a && !strcmp(a, "sqlite_master"))
			       ? SQLITE_OK
			       : SQLITE_DENY;
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE:
	case SQLITE_PRAGMA:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
		return SQLITE_OK;
	default:
		return store->mode == KAB_STORE_WRITE ? SQLITE_OK : SQLITE_DENY;
	}
}

static void json_valid(sqlite3_context *ctx, int n, sqlite3_value **values)
{
	sqlite3_stmt *stmt = sqlite3_user_data(ctx);

	(void)n;
	sqlite3_bind_value(stmt, 1, values[0]);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		sqlite3_result_value(ctx, sqlite3_column_value(stmt, 0));
	else
		sqlite3_result_error(ctx, "json_valid() failed", -1);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
}

static void end_json_valid(void *stmt)
{
	sqlite3 *db = sqlite3_db_handle(stmt);

	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

/*
 * Constraints of ours use json_valid(), which SQLite does not count among the functions that a schema may
 * use when it is not trusted. The same function under the same name, declared harmless: it is asked of
 * another connection.
 */
static int declare_json_valid(struct kab_store *store, struct kab_err *err)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *other = NULL;
	int rc = sqlite3_open_v2(":memory:", &other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
				 NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(other, "SELECT json_valid(?)", -1, &stmt, NULL);
	if (rc != SQLITE_OK) {
		kab_err_set(err, KAB_ERR_STORE, "this SQLite cannot check JSON: %s",
			    sqlite3_errmsg(other));
		sqlite3_close(other);
		return -1;
	}
	rc = sqlite3_create_function_v2(store->db, "json_valid", 1,
					SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, stmt,
					json_valid, NULL, NULL, end_json_valid);
	return rc == SQLITE_OK ? 0 : kab_store_fail(store, rc, err);
}

int kab_guard_connection(struct kab_store *store, struct kab_err *err)
{
	static const struct {
		int what, on;
	} configs[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
	};
	static const struct {
		int what, most;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, (int)KAB_STORE_OUTPUT_MAX + (1 << 20) },
		{ SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
		{ SQLITE_LIMIT_COLUMN, 200 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 200 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 50 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 10 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(configs); i++)
		if (sqlite3_db_config(store->db, configs[i].what, configs[i].on, NULL) != SQLITE_OK)
			return kab_store_fail(store, SQLITE_ERROR, err);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(limits); i++)
		sqlite3_limit(store->db, limits[i].what, limits[i].most);
	if (store->mode == KAB_STORE_READ)
		sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_set_authorizer(store->db, authorize, store);
	if (declare_json_valid(store, err))
		return -1;
	return kab_sql_script(store, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", err);
}

/* Statements as one word after the other, without remarks: versions of SQLite quote and space
 * differently. */
static char *normal(const char *sql)
{
	struct kab_buf buf = KAB_BUF_INIT;
	bool in_text = false;

	for (; sql && *sql; sql++) {
		in_text ^= *sql == '\'';
		if (!in_text && !strncmp(sql, "--", 2)) {
			sql += strcspn(sql, "\n");
			if (!*sql)
				break;
			continue;
		}
		if (!isspace((unsigned char)*sql) && *sql != '"')
			kab_buf_addc(&buf, (char)tolower((unsigned char)*sql));
	}
	return buf.data ? kab_buf_detach(&buf) : kab_xstrdup("");
}

/* Without the tables that SQLite keeps for itself, and the indexes that have no text. */
static const char objects[] =
	"SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
	" AND NOT (type = 'table' AND name LIKE 'sqlite\\_%' ESCAPE '\\')";

/* 1: ours has it like this; 0: not at all; -1: another one. */
static int look_up(sqlite3 *ours, const char *type, const char *name, const char *table,
		   const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int ret = 0;

	sqlite3_prepare_v2(
		ours, "SELECT type, tbl_name, sql FROM sqlite_schema WHERE name = ? COLLATE NOCASE",
		-1, &stmt, NULL);
	sqlite3_bind_text(stmt, 1, name, -1, SQLITE_TRANSIENT);
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		kab_autofree char *want = normal((const char *)sqlite3_column_text(stmt, 2));
		kab_autofree char *have = normal(sql);

		ret = !strcmp((const char *)sqlite3_column_text(stmt, 0), type) &&
				      !strcmp((const char *)sqlite3_column_text(stmt, 1), table) &&
				      !strcmp(want, have)
			      ? 1
			      : -1;
	}
	sqlite3_finalize(stmt);
	return ret;
}

static int64_t count(sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	int64_t n = 0;

	sqlite3_prepare_v2(db, objects, -1, &stmt, NULL);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		n++;
	sqlite3_finalize(stmt);
	return n;
}

static int compare(struct kab_store *store, sqlite3 *ours, struct kab_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int64_t same = 0;
	int rc = sqlite3_prepare_v2(store->db, objects, -1, &stmt, NULL), ret = 0;

	while (!ret && rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *type = kab_sql_str(stmt, 0), *name = kab_sql_str(stmt, 1);
		int known = look_up(ours, type, name, kab_sql_str(stmt, 2), kab_sql_str(stmt, 3));

		rc = SQLITE_OK;
		same += known == 1;
		/* Views and indexes of the user's own do no harm: nobody asks them unasked. */
		if (known < 0 || (known == 0 && !strcmp(type, "trigger")))
			ret = kab_err_set(
				err, KAB_ERR_STORE,
				"database '%s' has a %s '%s' that %s: it is not opened; put a "
				"backup in its place, or name another with --db",
				store->path, type, name,
				known < 0 ? "is not the one that kab makes" : "kab does not know");
	}
	if (!ret && rc != SQLITE_DONE)
		ret = kab_store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	if (!ret && same != count(ours))
		ret = kab_err_set(
			err, KAB_ERR_STORE,
			"database '%s' lacks parts of its schema (%lld of %lld are there); "
			"put a backup in its place, or name another with --db",
			store->path, (long long)same, (long long)count(ours));
	return ret;
}

int kab_guard_schema(struct kab_store *store, const struct kab_store_env *env, int64_t version,
		     struct kab_err *err)
{
	sqlite3 *ours = NULL;
	int rc = sqlite3_open_v2(":memory:", &ours, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
				 NULL);
	int ret;

	for (int64_t i = 0; rc == SQLITE_OK && i < version; i++)
		rc = sqlite3_exec(ours, env->migrations[i].sql, NULL, NULL, NULL);
	ret = rc == SQLITE_OK
		      ? compare(store, ours, err)
		      : kab_err_set(err, KAB_ERR_INTERNAL, "schema: %s", sqlite3_errmsg(ours));
	sqlite3_close(ours);
	return ret;
}
