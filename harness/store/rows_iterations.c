/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The iterations of a run: the attempt of each that counts, and what it is worth today. */
#include <stdlib.h>

#include "base/alloc.h"
#include "store/rows.h"

static void invocation_values(struct rows *rows, struct rows_iter *it, sqlite3_stmt *stmt, int from)
{
	static const struct {
		const char *name, *unit;
	} def[] = { { "invocation_elapsed", "s" },
		    { "invocation_user", "s" },
		    { "invocation_system", "s" },
		    { "invocation_max_rss", "KB" } };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(def); i++)
		if (sqlite3_column_type(stmt, from + (int)i) != SQLITE_NULL)
			kab_rows_add_value(rows, it, def[i].name, def[i].unit, KAB_DIR_NONE,
					   ROWS_INVOCATION,
					   sqlite3_column_double(stmt, from + (int)i));
}

/* What an iteration needs to know of its boot: few boots have many iterations, so it is not joined. */
struct boot_of {
	int64_t id;
	char *host, *kernel, *reason;
	int block;
	bool restart, failed;
};
struct boots_of {
	struct boot_of *v;
	size_t n, cap, last; /* last: the one that was found last */
};

static int read_boots(struct kab_store *store, int64_t run_id, struct boots_of *ret,
		      struct kab_err *err)
{
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err,
		"SELECT b.id, rh.label, rk.label, b.reason, b.block, b.restart, b.state = 'failed'"
		" FROM boot b JOIN run_host rh ON rh.id = b.run_host_id"
		" JOIN run_kernel rk ON rk.id = b.run_kernel_id WHERE b.run_id = ? ORDER BY b.id",
		"i", run_id);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		*KAB_PUSH(ret) = (struct boot_of){
			.id = sqlite3_column_int64(stmt, 0),
			.host = kab_sql_text(stmt, 1),
			.kernel = kab_sql_text(stmt, 2),
			.reason = kab_sql_dup(stmt, 3),
			.block = sqlite3_column_int(stmt, 4),
			.restart = sqlite3_column_int(stmt, 5) != 0,
			.failed = sqlite3_column_int(stmt, 6) != 0,
		};
	return rc;
}

static void boots_release(struct boots_of *boots)
{
	for (size_t i = 0; i < boots->n; i++) {
		free(boots->v[i].host);
		free(boots->v[i].kernel);
		free(boots->v[i].reason);
	}
	free(boots->v);
}

static int by_id(const void *a, const void *b)
{
	int64_t x = ((const struct boot_of *)a)->id, y = ((const struct boot_of *)b)->id;

	return (x > y) - (x < y);
}

static const struct boot_of *boot_of(struct boots_of *boots, int64_t id)
{
	const struct boot_of key = { .id = id }, *found;

	if (boots->n && boots->v[boots->last].id == id)
		return &boots->v[boots->last];
	found = boots->n ? bsearch(&key, boots->v, boots->n, sizeof(key), by_id) : NULL;
	if (found)
		boots->last = (size_t)(found - boots->v);
	return found;
}

/* What later readings of its output made of an iteration. */
static int read_outcome(struct kab_store *store, struct rows_iter *it, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = kab_sql_query(store, err,
					  "SELECT extraction_id, state, reason FROM outcome"
					  " WHERE iteration_id = ?",
					  "i", it->id);
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;

	if (rc < 1)
		return rc < 0 ? -1
			      : kab_err_set(
					err, KAB_ERR_STORE,
					"database '%s' has an iteration without an outcome; see "
					"'kab doctor --store'",
					store->path);
	it->extraction_id = sqlite3_column_int64(stmt, 0);
	kab_iter_state_parse(kab_sql_str(stmt, 1), &it->state);
	free(it->reason);
	it->reason = kab_sql_dup(stmt, 2);
	return 0;
}

static void fill(struct rows *rows, struct rows_iter *it, sqlite3_stmt *stmt, size_t r,
		 const struct boot_of *boot, size_t *hint)
{
	it->id = sqlite3_column_int64(stmt, 0);
	it->extraction_id = sqlite3_column_int64(stmt, 1);
	it->boot_id = boot->id;
	it->run = r;
	it->group = kab_rows_group(rows, hint, boot->host, kab_sql_str(stmt, 3),
				   kab_sql_str(stmt, 4), kab_sql_str(stmt, 5), kab_sql_str(stmt, 6),
				   sqlite3_column_int(stmt, 7));
	it->block = boot->block;
	if (it->block >= 0)
		it->block += rows->run[r].block_base;
	it->sequence = rows->run[r].sequence_base + sqlite3_column_int64(stmt, 8);
	it->attempt = sqlite3_column_int(stmt, 9);
	it->restart = boot->restart;
	kab_iter_state_parse(kab_sql_str(stmt, 10), &it->state);
	it->reason = kab_sql_dup(stmt, 11);
	it->argv_text = kab_sql_dup(stmt, 12);
	it->runner_version = kab_sql_dup(stmt, 13);
}

int kab_rows_read_iterations(struct kab_store *store, struct rows *rows, size_t r,
			     struct kab_err *err)
{
#define READING(which) \
	"coalesce((SELECT " which "(e.id) FROM extraction e WHERE e.iteration_id = i.id), 0)"
	/* While there was one reading of the output, the iteration has its state: the view outcome,
	 * which costs more than all the rest, is asked for the others only. */
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err,
		"SELECT i.id, " READING(
			"min") ", i.boot_id, i.condition, i.case_name, i.row_key,"
			       " i.runner, i.case_order, i.sequence, i.attempt, i.state, i.reason,"
			       " i.params_resolved, i.runner_version, i.elapsed_s, i.user_s, "
			       "i.system_s,"
			       " i.max_rss_kb, " READING(
				       "max") " FROM iteration i"
					      " WHERE i.run_id = ? AND i.warmup = 0"
					      " AND NOT EXISTS (SELECT 1 FROM iteration a WHERE "
					      "a.retry_of = i.id)"
					      " ORDER BY i.sequence, i.attempt",
		"i", rows->run[r].id);
#undef READING
	struct boots_of boots = { 0 };
	size_t hint = 0;
	int rc = stmt ? read_boots(store, rows->run[r].id, &boots, err) : -1;

	while (rc >= 0 && (rc = kab_sql_step(store, stmt, err)) == 1) {
		const struct boot_of *boot = boot_of(&boots, sqlite3_column_int64(stmt, 2));
		struct rows_iter *it;

		if (!boot) {
			rc = kab_err_set(err, KAB_ERR_STORE,
					 "database '%s' has an iteration of no boot; see 'kab "
					 "doctor --store'",
					 store->path);
			break;
		}
		it = KAB_PUSH(&rows->iters);
		fill(rows, it, stmt, r, boot, &hint);
		if ((rc = kab_rows_kernel(store, rows, r, boot->kernel, &it->kernel, err)))
			break;
		if (sqlite3_column_int64(stmt, 18) != it->extraction_id &&
		    (rc = read_outcome(store, it, err)))
			break;
		if (boot->failed && it->state == KAB_ITER_DONE) {
			it->state = KAB_ITER_FAILED;
			free(it->reason);
			it->reason = kab_xstrdup(boot->reason ? boot->reason
							      : "its boot does not count");
		}
		if (it->state == KAB_ITER_DONE)
			invocation_values(rows, it, stmt, 14);
	}
	boots_release(&boots);
	return rc;
}
