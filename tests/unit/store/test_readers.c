/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One writer, and readers beside it: threads on the same handle, and handles (as other programs
 * have) of their own. Each thing read is of one moment; nobody is told "locked". */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "fixture.h"

#define RUNS 12
#define READERS 6

struct shared {
	const char *path;
	struct kab_store *store;
	int64_t first_run;
	atomic_bool stop;
	atomic_int reads, failures;
};

/* Counts of one moment add up, and rows agree with themselves. */
static bool consistent(struct kab_store *store, int64_t first_run, struct kab_err *err)
{
	struct kab_run_info *runs;
	struct kab_row_list rows;
	size_t n;
	bool ok = true;

	if (kab_store_list_runs(store, 0, &runs, &n, err))
		return false;
	for (size_t i = 0; i < n; i++) {
		ok &= runs[i].n_iterations == 8 &&
		      runs[i].n_done + runs[i].n_failed + runs[i].n_missing + runs[i].n_pending ==
			      8;
		kab_run_info_release(&runs[i]);
	}
	free(runs);
	if (kab_store_load_rows(store, &first_run, 1, &rows, err))
		return false;
	for (size_t i = 0; i < rows.n; i++) {
		for (size_t k = 0; k < rows.v[i].n_sets; k++) {
			const struct kab_sample_set *set = &rows.v[i].sets[k];
			size_t obs = 0;

			for (size_t b = 0; b < set->n_boots; b++)
				obs += set->boots[b].n;
			/* An iteration and its samples come together, or not at all. */
			ok &= obs == set->n_done && set->n_missing == 0 && set->n_planned == 4;
		}
	}
	kab_row_list_release(&rows);
	return ok;
}

static void *read_all(void *arg)
{
	struct shared *s = arg;
	struct kab_err err = KAB_ERR_INIT;

	while (!atomic_load(&s->stop)) {
		struct kab_store *store = s->store;
		bool ok = store || !kab_store_open(s->path, KAB_STORE_READ, &store, &err);

		ok = ok && consistent(store, s->first_run, &err);
		if (!s->store)
			kab_store_close(store);
		atomic_fetch_add(&s->reads, 1);
		if (!ok) {
			atomic_fetch_add(&s->failures, 1);
			print_error("reader: %s\n", err.text[0] ? err.text : "inconsistent");
			break;
		}
	}
	return NULL;
}

static void test_readers(void **state)
{
	struct fixture *f = *state;
	struct shared own = { .path = f->path, .store = f->store }, other = { .path = f->path };
	pthread_t threads[READERS];
	struct mini m[RUNS];
	int64_t samples = 0;

	for (size_t i = 0; i < RUNS; i++)
		mini_create(f, &m[i], "x", MINI_PLAN);
	own.first_run = other.first_run = m[0].run.id;
	for (size_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_all, i % 2 ? &own : &other),
				 0);
	for (size_t i = 0; i < RUNS; i++) {
		for (size_t s = 0; s < 12; s++) {
			double v[] = { (double)s, (double)i };

			OK(f,
			   kab_store_iteration_started(f->store, m[i].step[s].id, "r", 1, &f->err));
			commit_done(f, m[i].step[s].id, v, 2);
		}
	}
	atomic_store(&own.stop, true);
	atomic_store(&other.stop, true);
	for (size_t i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&own.failures) + atomic_load(&other.failures), 0);
	assert_true(atomic_load(&own.reads) > READERS / 2);
	assert_true(atomic_load(&other.reads) > READERS / 2);
	OK(f, kab_sql_int(f->store, &f->err, &samples, "SELECT count(*) FROM sample", ""));
	assert_int_equal(samples, RUNS * 12 * 2);
	for (size_t i = 0; i < RUNS; i++)
		mini_release(&m[i]);
}

struct writer {
	const char *path;
	int failures;
	char text[KAB_ERR_TEXT_MAX];
};

/* Opening, creating and writing at once, as two programs started together do. */
static void *open_and_write(void *arg)
{
	struct writer *w = arg;
	struct kab_err err = KAB_ERR_INIT;

	for (int i = 0; i < 10; i++) {
		struct kab_store *store;
		struct kab_store_run run = { .name = "same", .plan_json = "{}" };
		char *name = NULL;

		if (kab_store_open(w->path, KAB_STORE_WRITE, &store, &err) ||
		    kab_store_create_run(store, &run, NULL, 0, NULL, 0, NULL, 0, NULL, 0, &name,
					 &err)) {
			w->failures++;
			memcpy(w->text, err.text, sizeof(w->text));
		}
		free(name);
		kab_store_close(store);
	}
	return NULL;
}

static void test_writers(void **state)
{
	struct fixture *f = *state;
	kab_autofree char *path = kab_xasprintf("%s/together.db", f->dir);
	struct writer w[4];
	pthread_t threads[4];
	struct kab_run_info *runs;
	size_t n;

	for (size_t i = 0; i < 4; i++) {
		w[i] = (struct writer){ .path = path };
		assert_int_equal(pthread_create(&threads[i], NULL, open_and_write, &w[i]), 0);
	}
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		if (w[i].failures)
			print_error("writer: %s\n", w[i].text);
		assert_int_equal(w[i].failures, 0);
	}
	kab_store_close(f->store);
	OK(f, kab_store_open(path, KAB_STORE_READ, &f->store, &f->err));
	OK(f, kab_store_list_runs(f->store, 0, &runs, &n, &f->err));
	assert_int_equal(n, 40); /* each under a name of its own: the column is unique */
	assert_string_equal(runs[0].name, "same-40");
	for (size_t i = 0; i < n; i++)
		kab_run_info_release(&runs[i]);
	free(runs);
}

/* Does another process see a lock of ours on these bytes? */
static bool locked(const char *path, off_t from, off_t n)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		struct flock lock = {
			.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = n
		};
		int fd = open(path, O_RDWR | O_CLOEXEC);

		_exit(fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 ? 2 : lock.l_type != F_UNLCK);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 1;
}

/* A second handle of this process comes and goes: the locks of the first one stay, or another program
 * takes the database for unused and deletes its log. */
static void test_locks_stay(void **state)
{
	struct fixture *f = *state;
	kab_autofree char *shm = kab_xasprintf("%s-shm", f->path);
	struct kab_store *other;

	/* Where SQLite locks: bytes 2^30 of the database, 120 to 128 of the index of the log. */
	assert_true(locked(f->path, 1 << 30, 512));
	assert_true(locked(shm, 120, 9));
	for (int i = 0; i < 2; i++) {
		OK(f,
		   kab_store_open(f->path, i ? KAB_STORE_WRITE : KAB_STORE_READ, &other, &f->err));
		assert_true(locked(f->path, 1 << 30, 512));
		assert_true(locked(shm, 120, 9));
		kab_store_close(other);
		assert_true(locked(f->path, 1 << 30, 512));
		assert_true(locked(shm, 120, 9));
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { T(test_readers), T(test_writers), T(test_locks_stay) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
