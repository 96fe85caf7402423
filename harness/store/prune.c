/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Giving room back: raw output that nobody will read again, and whole runs. */
#include "store/internal.h"

int kab_store_output_bytes(struct kab_store *store, int64_t run_id, int64_t *ret_n,
			   int64_t *ret_bytes, struct kab_err *err)
{
	KAB_STORE_GUARD(store);
	KAB_AUTOSTMT stmt =
		kab_sql_query(store, err,
			      "SELECT count(*), coalesce(sum(length(o.data)), 0) FROM output o"
			      " JOIN iteration i ON i.id = o.iteration_id WHERE i.run_id = ?",
			      "i", run_id);
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;

	if (rc < 0)
		return -1;
	*ret_n = sqlite3_column_int64(stmt, 0);
	*ret_bytes = sqlite3_column_int64(stmt, 1);
	return 0;
}

/* In the transaction that deletes: a run that goes on is not to lose its rows under its feet. */
static int must_be_over(struct kab_store *store, int64_t run_id, struct kab_err *err)
{
	int64_t going;

	if (kab_sql_int(store, err, &going,
			"SELECT count(*) FROM run WHERE id = ? AND state IN ('running', 'waiting')",
			"i", run_id))
		return -1;
	return going ? kab_err_set(err, KAB_ERR_BUSY,
				   "run %lld is not over; end it, or go on with: kab resume %lld",
				   (long long)run_id, (long long)run_id)
		     : 0;
}

static int delete_of_run(struct kab_store *store, int64_t run_id, const char *sql, const char *what,
			 struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = must_be_over(store, run_id, err);
	if (!rc)
		rc = kab_sql_run(store, err, sql, "i", run_id);
	return kab_tx_end(store, rc, err, "delete %s of run %lld", what, (long long)run_id);
}

int kab_store_delete_output(struct kab_store *store, int64_t run_id, struct kab_err *err)
{
	return delete_of_run(store, run_id,
			     "DELETE FROM output WHERE iteration_id IN"
			     " (SELECT id FROM iteration WHERE run_id = ?)",
			     "the output", err);
}

int kab_store_delete_run(struct kab_store *store, int64_t run_id, struct kab_err *err)
{
	return delete_of_run(store, run_id, "DELETE FROM run WHERE id = ?", "the rows", err);
}

int kab_store_shrink(struct kab_store *store, int64_t *ret_freed, struct kab_err *err)
{
	int64_t before, after, page;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_sql_int(store, err, &page, "PRAGMA page_size", "") ||
	    kab_sql_int(store, err, &before, "PRAGMA page_count", ""))
		return -1;
	/* VACUUM takes SQLite's own json_valid() and not the harmless one; the schema was compared
	 * with ours when the file was opened. */
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1, NULL);
	rc = kab_sql_run(store, err, "VACUUM", "");
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (rc || kab_sql_int(store, err, &after, "PRAGMA page_count", ""))
		return -1;
	*ret_freed = (before - after) * page;
	/* The file itself shrinks with the checkpoint; a reader may hold that up, which is no harm. */
	kab_sql_script(store, "PRAGMA wal_checkpoint(TRUNCATE)", NULL);
	return 0;
}
