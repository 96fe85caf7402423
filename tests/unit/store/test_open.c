/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening: places, versions, damage, file systems, and what the user is told. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "fixture.h"

static void reopen(struct fixture *f, enum kab_store_mode mode, const struct kab_store_env *env)
{
	kab_store_close(f->store);
	OK(f, kab_store_open_env(f->path, mode, env, &f->store, &f->err));
}

static struct kab_store_env env_default(void)
{
	struct kab_store_env env = kab_store_env_default;

	env.migrations_n = kab_store_migrations_n;
	return env;
}

/* The schema as it is and one step more, of a kab to come. */
static struct kab_store_env env_next(struct kab_migration *m)
{
	struct kab_store_env env = env_default();

	for (size_t i = 0; i < kab_store_migrations_n; i++)
		m[i] = kab_store_migrations[i];
	m[kab_store_migrations_n] = (struct kab_migration){
		"next", "ALTER TABLE run ADD COLUMN remark TEXT; UPDATE run SET remark = 'old'"
	};
	env.migrations = m;
	env.migrations_n++;
	return env;
}

static void test_places(void **state)
{
	struct fixture *f = *state;
	struct kab_store *store;
	kab_autofree char *xdg = kab_xasprintf("%s/xdg", f->dir);
	kab_autofree char *want = kab_xasprintf("%s/xdg/kab/kab.db", f->dir);
	kab_autofree char *home = kab_xasprintf("%s/.local/share/kab/kab.db", f->dir);

	setenv("KAB_DB", f->path, 1);
	OK(f, kab_store_open(NULL, KAB_STORE_READ, &store, &f->err));
	assert_string_equal(kab_store_path(store), f->path);
	kab_store_close(store);
	unsetenv("KAB_DB");
	setenv("XDG_DATA_HOME", xdg, 1);
	assert_int_equal(kab_store_open(NULL, KAB_STORE_READ, &store, &f->err), -1);
	assert_int_equal(f->err.code, KAB_ERR_NOT_FOUND);
	assert_contains(f->err.text, want);
	OK(f, kab_store_open(NULL, KAB_STORE_WRITE, &store, &f->err));
	assert_string_equal(kab_store_path(store), want);
	kab_store_close(store);
	setenv("XDG_DATA_HOME", "relative", 1); /* to be ignored */
	setenv("HOME", f->dir, 1);
	OK(f, kab_store_open(NULL, KAB_STORE_WRITE, &store, &f->err));
	assert_string_equal(kab_store_path(store), home);
	kab_store_close(store);
	unsetenv("HOME");
	assert_int_equal(kab_store_open(NULL, KAB_STORE_WRITE, &store, &f->err), -1);
	assert_contains(f->err.text, "--db");
	assert_int_equal(kab_store_open("/dev/null/x/kab.db", KAB_STORE_WRITE, &store, &f->err),
			 -1);
	assert_contains(f->err.text, "/dev/null/x");
	assert_int_equal(kab_store_open(f->dir, KAB_STORE_WRITE, &store, &f->err), -1);
	assert_contains(f->err.text, "not a kab database");
}

static void test_read_only(void **state)
{
	struct fixture *f = *state;
	struct kab_store_env env = env_default();
	struct mini m;
	struct kab_run_info info;

	mini_create(f, &m, "x", MINI_PLAN);
	reopen(f, KAB_STORE_READ, &env);
	OK(f, kab_store_find_run(f->store, "x", &info, NULL, &f->err));
	kab_run_info_release(&info);
	assert_int_equal(kab_store_event(f->store, m.run.id, 0, "a", "b", &f->err), -1);
	assert_contains(f->err.text, "opened for reading");
	assert_int_equal(sqlite3_exec(f->store->db, "DELETE FROM run", NULL, NULL, NULL),
			 SQLITE_AUTH);
	mini_release(&m);
}

/* A user who may only read file and folder: in a child, as nobody when we are root. */
static void test_no_permission(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	int status;
	pid_t pid;
	kab_autofree char *folder = kab_xasprintf("%s/new", f->dir);

	mini_create(f, &m, "x", MINI_PLAN);
	kab_store_close(f->store);
	f->store = NULL;
	assert_int_equal(chmod(f->path, 0444), 0);
	assert_int_equal(chmod(folder, 0555), 0);
	assert_int_equal(chmod(f->dir, 0755), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct kab_run_info info;
		struct kab_store *store;

		if (!getuid() && (setgid(65534) || setuid(65534)))
			_exit(10);
		if (kab_store_open(f->path, KAB_STORE_READ, &store, &f->err))
			_exit(11);
		if (kab_store_find_run(store, "x", &info, NULL, &f->err))
			_exit(12);
		kab_run_info_release(&info);
		kab_store_close(store);
		if (!kab_store_open(f->path, KAB_STORE_WRITE, &store, &f->err))
			_exit(13);
		if (!strstr(f->err.text, "cannot be written") || !strstr(f->err.text, "--db"))
			_exit(14);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	mini_release(&m);
}

static void test_migrate(void **state)
{
	struct fixture *f = *state;
	struct kab_migration m[16];
	struct kab_store_env old = env_default(), next = env_next(m);
	struct mini mini;
	struct kab_store *store;
	struct kab_run_info info;
	int64_t n = 0;
	kab_autofree char *copy = kab_xasprintf("%s.bak-v%zu", f->path, kab_store_migrations_n);
	kab_autofree char *copy2 = kab_xasprintf("%s.1", copy);

	mini_create(f, &mini, "x", MINI_PLAN);
	/* Reading does not change a file behind the user's back. */
	assert_int_equal(kab_store_open_env(f->path, KAB_STORE_READ, &next, &store, &f->err), -1);
	assert_contains(f->err.text, "keeps a copy");
	assert_int_not_equal(access(copy, F_OK), 0);

	reopen(f, KAB_STORE_WRITE, &next);
	assert_contains(kab_store_notice(f->store), copy);
	OK(f,
	   kab_sql_int(f->store, &f->err, &n, "SELECT count(*) FROM run WHERE remark = 'old'", ""));
	assert_int_equal(n, 1);
	OK(f,
	   kab_sql_int(f->store, &f->err, &n, "SELECT foreign_keys FROM pragma_foreign_keys", ""));
	assert_int_equal(n, 1);
	OK(f, kab_store_find_run(f->store, "x", &info, NULL, &f->err));
	assert_int_equal(info.n_iterations, 8);
	kab_run_info_release(&info);
	reopen(f, KAB_STORE_WRITE, &next); /* a second time there is nothing to do */
	assert_null(kab_store_notice(f->store));
	assert_int_not_equal(access(copy2, F_OK), 0);

	/* The copy is the old database, whole. */
	OK(f, kab_store_open_env(copy, KAB_STORE_READ, &old, &store, &f->err));
	OK(f, kab_store_find_run(store, "x", &info, NULL, &f->err));
	assert_int_equal(info.n_iterations, 8);
	kab_run_info_release(&info);
	kab_store_close(store);

	/* And an older kab refuses the new one, with both versions. */
	for (int mode = 0; mode < 2; mode++) {
		char want[64];

		assert_int_equal(kab_store_open_env(f->path, (enum kab_store_mode)mode, &old,
						    &store, &f->err),
				 -1);
		snprintf(want, sizeof(want), "schema version %zu, this kab knows up to %zu",
			 kab_store_migrations_n + 1, kab_store_migrations_n);
		assert_contains(f->err.text, want);
	}
	mini_release(&mini);
}

/* A step that fails leaves the old schema and the data as they were. */
static void test_migrate_fails(void **state)
{
	struct fixture *f = *state;
	struct kab_migration m[16];
	struct kab_store_env old = env_default(), next = env_next(m);
	struct mini mini;
	struct kab_store *store;
	struct kab_run_info info;

	mini_create(f, &mini, "x", MINI_PLAN);
	m[kab_store_migrations_n].sql = "ALTER TABLE run ADD COLUMN remark TEXT; nonsense";
	assert_int_equal(kab_store_open_env(f->path, KAB_STORE_WRITE, &next, &store, &f->err), -1);
	assert_contains(f->err.text, "schema step 'next'");
	/* So does one that would lose what rows refer to. */
	m[kab_store_migrations_n].sql = "DELETE FROM run_kernel";
	assert_int_equal(kab_store_open_env(f->path, KAB_STORE_WRITE, &next, &store, &f->err), -1);
	assert_contains(f->err.text, "4 rows lost what they refer to");
	reopen(f, KAB_STORE_WRITE, &old);
	OK(f, kab_store_find_run(f->store, "x", &info, NULL, &f->err));
	assert_int_equal(info.n_iterations, 8);
	kab_run_info_release(&info);
	mini_release(&mini);
}

static void write_file(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	close(fd);
}

static void test_damage(void **state)
{
	static const char text[] =
		"This is not a database at all, but it is longer than one hundred "
		"bytes, as any real file would be.";
	struct fixture *f = *state;
	struct mini m;
	struct kab_store *store;
	struct kab_run_info info;
	struct stat st;
	sqlite3 *db;
	char page[4096];
	int fd;

	mini_create(f, &m, "x", MINI_PLAN);
	kab_store_close(f->store);
	f->store = NULL;
	assert_int_equal(stat(f->path, &st), 0);
	/* Cut in the middle. */
	assert_int_equal(truncate(f->path, st.st_size / 2), 0);
	for (int mode = 0; mode < 2; mode++) {
		assert_int_equal(
			kab_store_open(f->path, (enum kab_store_mode)mode, &store, &f->err), -1);
		assert_int_equal(f->err.code, KAB_ERR_STORE);
		assert_contains(f->err.text, "shorter than it says");
		assert_contains(f->err.text, ".recover");
	}
	/* Of the right length, with rubbish in it. */
	memset(page, 0xa5, sizeof(page));
	fd = open(f->path, O_WRONLY);
	assert_true(fd >= 0);
	for (off_t at = 4096; at < st.st_size; at += 4096)
		assert_int_equal(pwrite(fd, page, sizeof(page), at), sizeof(page));
	close(fd);
	if (!kab_store_open(f->path, KAB_STORE_READ, &store, &f->err)) {
		assert_int_equal(kab_store_find_run(store, "x", &info, NULL, &f->err), -1);
		kab_store_close(store);
	}
	assert_int_equal(f->err.code, KAB_ERR_STORE);
	assert_contains(f->err.text, "damaged");
	/* Other files. */
	write_file(f->path, text, sizeof(text));
	assert_int_equal(kab_store_open(f->path, KAB_STORE_WRITE, &store, &f->err), -1);
	assert_contains(f->err.text, "not a kab database");
	write_file(f->path, "x", 1);
	assert_int_equal(kab_store_open(f->path, KAB_STORE_WRITE, &store, &f->err), -1);
	unlink(f->path);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(kab_store_open(f->path, KAB_STORE_WRITE, &store, &f->err), -1);
	assert_contains(f->err.text, "another program");
	/* One that was just made, before its tables are there, is no older version. */
	unlink(f->path);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(kab_store_open(f->path, KAB_STORE_READ, &store, &f->err), -1);
	assert_int_equal(f->err.code, KAB_ERR_NOT_FOUND);
	sqlite3_close(db);
	/* An empty file is a database to be. */
	write_file(f->path, "", 0);
	OK(f, kab_store_open(f->path, KAB_STORE_WRITE, &f->store, &f->err));
	mini_release(&m);
}

static int64_t nfs(const char *path)
{
	(void)path;
	return 0x6969;
}

static void test_network(void **state)
{
	struct fixture *f = *state;
	struct kab_store_env local = env_default(), net = env_default();
	struct mini m;
	struct kab_run_info info;
	struct kab_store *store;
	kab_autofree char *wal = kab_xasprintf("%s-wal", f->path);
	double v = 1;

	net.fs_type = nfs;
	mini_create(f, &m, "x", MINI_PLAN);
	assert_null(kab_store_notice(f->store));
	assert_int_equal(access(wal, F_OK), 0);
	kab_store_close(f->store);
	f->store = NULL;
	/* Made with a log on a local disk: folded back before it is used, refused for reading. */
	assert_int_equal(kab_store_open_env(f->path, KAB_STORE_READ, &net, &store, &f->err), -1);
	assert_contains(f->err.text, "--db");
	OK(f, kab_store_open_env(f->path, KAB_STORE_WRITE, &net, &f->store, &f->err));
	assert_contains(kab_store_notice(f->store), "network file system (nfs)");
	commit_done(f, m.step[1].id, &v, 1);
	assert_int_not_equal(access(wal, F_OK), 0);
	/* A second program reads beside it. */
	OK(f, kab_store_open_env(f->path, KAB_STORE_READ, &net, &store, &f->err));
	OK(f, kab_store_find_run(store, "x", &info, NULL, &f->err));
	assert_int_equal(info.n_done, 1);
	kab_run_info_release(&info);
	commit_done(f, m.step[2].id, &v, 1);
	kab_store_close(store);
	reopen(f, KAB_STORE_WRITE, &local);
	assert_null(kab_store_notice(f->store));
	mini_release(&m);
}

static void test_locked(void **state)
{
	struct fixture *f = *state;
	struct kab_store_env env = env_default();
	struct mini m;
	sqlite3 *db;

	env.busy_ms = 200;
	mini_create(f, &m, "x", MINI_PLAN);
	reopen(f, KAB_STORE_WRITE, &env);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(kab_store_event(f->store, m.run.id, 0, "a", "b", &f->err), -1);
	assert_contains(f->err.text, "another program holds it locked");
	sqlite3_close(db);
	OK(f, kab_store_event(f->store, m.run.id, 0, "a", "b", &f->err));
	mini_release(&m);
}

static void test_backup(void **state)
{
	struct fixture *f = *state;
	struct mini m;
	struct kab_store *store;
	struct kab_run_info info;
	kab_autofree char *to = kab_xasprintf("%s/copy.db", f->dir);

	mini_create(f, &m, "x", MINI_PLAN);
	OK(f, kab_store_backup(f->store, to, &f->err));
	assert_int_equal(kab_store_backup(f->store, to, &f->err), -1); /* never over another */
	assert_contains(f->err.text, "name another file");
	OK(f, kab_store_open(to, KAB_STORE_READ, &store, &f->err));
	OK(f, kab_store_find_run(store, "x", &info, NULL, &f->err));
	kab_run_info_release(&info);
	kab_store_close(store);
	mini_release(&m);
}

/* A real full disk. What was committed stays, what was refused is not there by half, and when there
 * is room again the same commit succeeds. */
static int full_disk(struct fixture *f)
{
	kab_autofree char *path = kab_xasprintf("%s/full/kab.db", f->dir);
	kab_autofree char *ballast = kab_xasprintf("%s/full/ballast", f->dir);
	struct kab_store_stream stream = { .name = "stdout" };
	struct kab_store_result r = { .state = KAB_ITER_DONE, .n_streams = 1, .streams = &stream };
	char *noise = kab_xmalloc(300000);
	struct kab_run_info info;
	struct mini m;
	unsigned seed = 1;
	size_t stored = 0;
	int rc = 0;

	for (size_t i = 0; i < 300000; i++) /* does not compress */
		noise[i] = (char)((seed = seed * 1103515245 + 12345) >> 16);
	stream.data = noise;
	stream.len = 300000;
	write_file(ballast, noise, 300000);
	kab_store_close(f->store);
	f->store = NULL;
	OK(f, kab_store_open(path, KAB_STORE_WRITE, &f->store, &f->err));
	mini_create(f, &m, "x", MINI_PLAN);
	for (size_t i = 0; i < 12; i++) {
		r.iteration_id = m.step[i].id;
		rc = kab_store_commit_iteration(f->store, &r, &f->err);
		if (rc)
			break;
		stored++;
	}
	assert_int_equal(rc, -1);
	assert_true(stored > 0);
	assert_int_equal(f->err.code, KAB_ERR_STORE);
	assert_contains(f->err.text, "disk is full");
	assert_contains(f->err.text, "kab resume");
	assert_int_equal(kab_store_commit_iteration(f->store, &r, &f->err), -1);
	assert_int_equal(unlink(ballast), 0);
	OK(f, kab_store_commit_iteration(f->store, &r, &f->err));
	OK(f, kab_store_find_run(f->store, "x", &info, NULL, &f->err));
	assert_int_equal(info.n_done, (stored + 1) * 2 / 3); /* every third is a warm-up */
	kab_run_info_release(&info);
	kab_store_close(f->store);
	f->store = NULL;
	mini_release(&m);
	free(noise);
	return 0;
}

static void test_full(void **state)
{
	struct fixture *f = *state;
	kab_autofree char *mnt = kab_xasprintf("%s/full", f->dir);

	assert_int_equal(mkdir(mnt, 0755), 0);
	if (mount("kab-test", mnt, "tmpfs", 0, "size=2m")) {
		print_message("[  SKIPPED ] full disk: no tmpfs can be mounted: %s\n",
			      strerror(errno));
		skip();
	}
	full_disk(f);
	assert_int_equal(umount(mnt), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_places),	       T(test_read_only), T(test_no_permission), T(test_migrate),
		T(test_migrate_fails), T(test_damage),	  T(test_network),	 T(test_locked),
		T(test_backup),	       T(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
