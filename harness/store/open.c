/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening: where the database is, on what file system, and whether it is one of ours. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/internal.h"

static int64_t fs_type(const char *path)
{
	struct statfs st;

	return statfs(path, &st) ? -1 : (int64_t)(uint32_t)st.f_type;
}

const struct kab_store_env kab_store_env_default = {
	.migrations = kab_store_migrations,
	.fs_type = fs_type,
	.busy_ms = KAB_STORE_BUSY_MS,
};

/* The shared memory of WAL works on one machine only, and FUSE does not promise it at all. */
static const char *network_fs(int64_t type)
{
	static const struct {
		int64_t magic;
		const char *name;
	} known[] = {
		{ 0x6969, "nfs" },	  { 0x517b, "smb" },	    { 0xff534d42, "cifs" },
		{ 0xfe534d42, "smb2" },	  { 0x65735546, "fuse" },   { 0x5346414f, "afs" },
		{ 0x73757245, "coda" },	  { 0x01021997, "9p" },	    { 0x00c36400, "ceph" },
		{ 0x0bd00bd0, "lustre" }, { 0x47504653, "gpfs" },   { 0x01161970, "gfs2" },
		{ 0x7461636f, "ocfs2" },  { 0x786f4256, "vboxsf" }, { 0xbacbacbc, "vmhgfs" },
		{ 0x6b414653, "kafs" },	  { 0x61636673, "acfs" },   { 0x19830326, "fhgfs" },
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(known); i++)
		if (known[i].magic == type)
			return known[i].name;
	return NULL;
}

static char *default_path(void)
{
	const char *db = getenv("KAB_DB"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (db && *db)
		return kab_xstrdup(db);
	if (data && data[0] == '/') /* a relative one is to be ignored (XDG base directories) */
		return kab_xasprintf("%s/kab/kab.db", data);
	if (home && *home)
		return kab_xasprintf("%s/.local/share/kab/kab.db", home);
	return NULL;
}

static char *folder_of(const char *path)
{
	kab_autofree char *copy = kab_xstrdup(path);

	return kab_xstrdup(dirname(copy));
}

static int make_folders(const char *path, struct kab_err *err)
{
	kab_autofree char *folder = folder_of(path);

	for (char *p = folder + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(folder, 0700) && errno != EEXIST && access(folder, X_OK))
			return kab_err_errno(err, KAB_ERR_STORE,
					     "cannot make folder '%s' for the database '%s'; name "
					     "another place with --db",
					     folder, path);
		*p = c;
		if (!c)
			return 0;
	}
}

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool exists_with(const char *path, const char *suffix)
{
	kab_autofree char *name = kab_xasprintf("%s%s", path, suffix);
	struct stat st;

	return !stat(name, &st) && st.st_size > 0;
}

/* What the file is, before SQLite opens it. */
struct header {
	bool empty, wal, short_file;
};

/*
 * The first bytes of a database through SQLite's own access to files: a process that closes a file
 * loses all of its locks on it (POSIX), and there may be another connection of ours. SQLite closes
 * late where that matters. n bytes, or -1 with *ret_errno.
 */
static int read_start(const char *path, unsigned char *buf, int n, int *ret_errno)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	kab_autofree char *full = kab_xcalloc(1, (size_t)vfs->mxPathname + 1);
	kab_autofree sqlite3_file *file = kab_xcalloc(1, (size_t)vfs->szOsFile);
	sqlite3_filename name;
	int rc = vfs->xFullPathname(vfs, path, vfs->mxPathname, full), flags = 0;

	/* A warning tells of a link on the way. */
	if ((rc & 0xff) != SQLITE_OK) {
		*ret_errno = ENAMETOOLONG;
		return -1;
	}
	name = sqlite3_create_filename(full, "", "", 0, NULL);
	if (!name) {
		*ret_errno = ENOMEM;
		return -1;
	}
	errno = 0;
	rc = vfs->xOpen(vfs, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, &flags);
	if (rc == SQLITE_OK && n > 0)
		rc = file->pMethods->xRead(file, buf, n, 0);
	*ret_errno = errno ? errno : EIO;
	if (file->pMethods)
		file->pMethods->xClose(file);
	sqlite3_free_filename(name);
	return rc == SQLITE_OK ? n : -1;
}

/* 0 with *ret, or -1: it cannot be read, or is no database. A missing file is empty. */
static int read_header(const char *path, struct header *ret, struct kab_err *err)
{
	unsigned char h[100];
	struct stat st;
	int64_t page;
	int n = 0, why = 0;

	*ret = (struct header){ .empty = true };
	if (stat(path, &st))
		return errno == ENOENT ? 0
				       : kab_err_errno(err, KAB_ERR_STORE,
						       "cannot read database '%s'", path);
	/* Before it is opened: a FIFO would block. */
	if (S_ISREG(st.st_mode))
		n = read_start(path, h,
			       st.st_size < (off_t)sizeof(h) ? (int)st.st_size : (int)sizeof(h),
			       &why);
	if (n < 0) {
		errno = why;
		return kab_err_errno(err, KAB_ERR_STORE, "cannot read database '%s'", path);
	}
	if (S_ISREG(st.st_mode) && n == 0)
		return 0;
	if (!S_ISREG(st.st_mode) || n < (int)sizeof(h) || memcmp(h, "SQLite format 3", 16))
		return kab_err_set(err, KAB_ERR_STORE,
				   "'%s' is not a kab database%s; name another with --db", path,
				   S_ISREG(st.st_mode) ? "" : " (not even a file)");
	page = (int64_t)h[16] << 8 | h[17];
	if (page == 1)
		page = 65536;
	ret->empty = false;
	ret->wal = h[18] == 2;
	/* The length in the header holds only if it was written with the last change; a journal
	 * beside the file means that the file is not the whole story. */
	ret->short_file = be32(h + 24) == be32(h + 92) && st.st_size < page * be32(h + 28) &&
			  !exists_with(path, "-wal") && !exists_with(path, "-journal");
	return 0;
}

static int check_file(const char *path, struct header *ret, struct kab_err *err)
{
	for (int try = 0; try < 3; try++) {
		if (read_header(path, ret, err))
			return -1;
		if (!ret->short_file)
			return 0;
		/* Another program may have been in the middle of a checkpoint. */
		usleep(50000);
	}
	return kab_err_set(
		err, KAB_ERR_STORE,
		"database '%s' is damaged: the file is shorter than it says of itself "
		"(cut by a full disk or an unfinished copy?); put a backup in its place, or "
		"save what can be read with: sqlite3 FILE .recover",
		path);
}

static int open_file(struct kab_store *store, struct kab_err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	kab_autofree char *folder = folder_of(store->path);
	int rc;

	if (store->mode == KAB_STORE_WRITE) {
		/* Outputs and command lines are the user's own; its log takes the same mode. */
		int fd = open(store->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		if (fd >= 0)
			close(fd);
		flags |= SQLITE_OPEN_CREATE;
	}
	rc = sqlite3_open_v2(store->path, &store->db, flags, NULL);
	if (rc != SQLITE_OK)
		return kab_store_fail(store, rc, err);
	sqlite3_busy_timeout(store->db, store->busy_ms);
	if (store->mode == KAB_STORE_WRITE && sqlite3_db_readonly(store->db, "main") == 1)
		return kab_store_fail(store, SQLITE_READONLY, err);
	/* In a folder that cannot be written there can be no shared memory file; with no log beside
	 * it the file alone is complete and nobody can be writing it. */
	if (store->mode == KAB_STORE_READ && access(folder, W_OK) &&
	    !exists_with(store->path, "-wal") && sqlite3_db_readonly(store->db, "main") == 1) {
		kab_autobuf struct kab_buf uri = KAB_BUF_INIT;

		kab_buf_adds(&uri, "file:");
		for (const char *p = store->path; *p; p++) {
			if (strchr("%?#", *p))
				kab_buf_addf(&uri, "%%%02X", (unsigned char)*p);
			else
				kab_buf_addc(&uri, *p);
		}
		kab_buf_adds(&uri, "?immutable=1");
		sqlite3_close(store->db);
		store->db = NULL;
		rc = sqlite3_open_v2(kab_buf_str(&uri), &store->db,
				     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
					     SQLITE_OPEN_EXRESCODE,
				     NULL);
		if (rc != SQLITE_OK)
			return kab_store_fail(store, rc, err);
		sqlite3_busy_timeout(store->db, store->busy_ms);
	}
	return 0;
}

static int journal_mode(struct kab_store *store, char mode[16], struct kab_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store->db, "PRAGMA journal_mode", -1, &stmt, NULL);

	if (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		snprintf(mode, 16, "%s", (const char *)sqlite3_column_text(stmt, 0));
		rc = SQLITE_OK;
	}
	if (rc != SQLITE_OK)
		kab_store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	return rc == SQLITE_OK ? 0 : -1;
}

static int set_journal(struct kab_store *store, const char *network, const struct header *header,
		       struct kab_err *err)
{
	char mode[16] = "";

	if (network) {
		store->notice = kab_xasprintf(
			"database '%s' is on a network file system (%s): the write-ahead log is "
			"not used there; a local path (--db) is faster and safer",
			store->path, network);
		if (store->mode == KAB_STORE_READ)
			return header->wal ? kab_err_set(err, KAB_ERR_STORE,
							 "database '%s' was kept with a "
							 "write-ahead log and "
							 "now lies on a network file system (%s), "
							 "where that "
							 "cannot be read safely; copy it to a "
							 "local disk and "
							 "pass it with --db",
							 store->path, network)
					   : 0;
		/* Exclusive mode does without the shared memory while a log is folded back. */
		return kab_sql_script(
			store,
			"PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=DELETE;"
			"PRAGMA locking_mode=NORMAL; SELECT count(*) FROM sqlite_schema;"
			"PRAGMA synchronous=FULL",
			err);
	}
	if (store->mode == KAB_STORE_READ)
		return 0;
	if (!header->wal && kab_sql_script(store, "PRAGMA journal_mode=WAL", err))
		return -1;
	if (journal_mode(store, mode, err))
		return -1;
	if (strcmp(mode, "wal"))
		store->notice = kab_xasprintf("database '%s' is kept without a write-ahead log "
					      "(journal mode %s): this file system cannot have one",
					      store->path, mode);
	return kab_sql_script(store, "PRAGMA synchronous=FULL; PRAGMA journal_size_limit=67108864",
			      err);
}

static int set_up(struct kab_store *store, const struct kab_store_env *env, struct kab_err *err)
{
	struct header header;
	kab_autofree char *folder = folder_of(store->path);
	const char *network;

	if (check_file(store->path, &header, err))
		return -1;
	if (store->mode != KAB_STORE_WRITE && header.empty)
		return kab_err_set(err, KAB_ERR_NOT_FOUND,
				   "there is no database '%s' yet; 'kab run' or 'kab import' makes "
				   "one, --db names another",
				   store->path);
	if (store->mode == KAB_STORE_CHANGE)
		store->mode = KAB_STORE_WRITE;
	else if (store->mode == KAB_STORE_WRITE && make_folders(store->path, err))
		return -1;
	network = network_fs(env->fs_type(header.empty ? folder : store->path));
	store->network = network != NULL;
	if (kab_guard_files(store->path, err) || open_file(store, err) ||
	    kab_guard_connection(store, err) ||
	    kab_sql_script(store, "PRAGMA foreign_keys=ON", err) ||
	    set_journal(store, network, &header, err) || kab_store_migrate(store, env, err))
		return -1;
	return store->mode == KAB_STORE_READ ? kab_sql_script(store, "PRAGMA query_only=ON", err)
					     : 0;
}

int kab_store_open_env(const char *path, enum kab_store_mode mode, const struct kab_store_env *env,
		       struct kab_store **ret, struct kab_err *err)
{
	struct kab_store *store;

	*ret = NULL;
	store = kab_xcalloc(1, sizeof(*store));
	pthread_mutex_init(&store->lock, NULL);
	store->path = path ? kab_xstrdup(path) : default_path();
	/* ":memory:" and "file:x?mode=memory" are files here: a run is not to vanish with kab. */
	if (store->path && (store->path[0] == ':' || !strncmp(store->path, "file:", 5))) {
		char *file = kab_xasprintf("./%s", store->path);

		free(store->path);
		store->path = file;
	}
	store->mode = mode;
	store->busy_ms = env->busy_ms;
	if (!store->path) {
		kab_store_close(store);
		return kab_err_set(err, KAB_ERR_STORE,
				   "no place for the database: HOME is not set; pass --db PATH");
	}
	if (!*store->path) {
		kab_store_close(store);
		return kab_err_set(err, KAB_ERR_STORE,
				   "the name of the database is empty; pass --db PATH");
	}
	if (set_up(store, env, err)) {
		kab_store_close(store);
		return -1;
	}
	*ret = store;
	return 0;
}

int kab_store_open(const char *path, enum kab_store_mode mode, struct kab_store **ret,
		   struct kab_err *err)
{
	struct kab_store_env env = kab_store_env_default;

	env.migrations_n = kab_store_migrations_n;
	return kab_store_open_env(path, mode, &env, ret, err);
}

void kab_store_close(struct kab_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->n_cache; i++)
		sqlite3_finalize(store->cache[i].stmt);
	sqlite3_close(store->db);
	pthread_mutex_destroy(&store->lock);
	free(store->path);
	free(store->notice);
	free(store->gone);
	free(store);
}

const char *kab_store_path(const struct kab_store *store)
{
	return store->path;
}

const char *kab_store_notice(const struct kab_store *store)
{
	return store->notice;
}
