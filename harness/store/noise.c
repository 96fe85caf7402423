/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The noise floor: what A/A runs have found. */
#include "base/alloc.h"
#include "store/internal.h"

int kab_store_put_noise(struct kab_store *store, int64_t run_id, const struct kab_noise *n,
			struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "INSERT INTO noise (run_id, machine_hash, runner, params_text, condition,"
			 " metric, cv, units, restarts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			 "isssssdii", run_id, n->machine_hash, n->runner, n->params_text,
			 n->condition, n->metric, n->cv, n->units, (int64_t)n->restarts);
	return kab_tx_end(store, rc, err, "store the noise floor of run %lld", (long long)run_id);
}

bool kab_store_any_noise(struct kab_store *store)
{
	KAB_AUTOSTMT stmt = NULL;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, NULL, "SELECT 1 FROM noise LIMIT 1", "");
	return stmt && kab_sql_step(store, stmt, NULL) == 1;
}

int kab_store_find_noise(struct kab_store *store, struct kab_noise *n, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(
		store, err,
		"SELECT n.cv, n.units, n.restarts, r.name FROM noise n"
		" JOIN run r ON r.id = n.run_id WHERE (?1 IS NULL OR n.machine_hash = ?1)"
		" AND n.runner = ?2 AND n.params_text = ?3 AND n.condition = ?4"
		" AND n.metric = ?5 ORDER BY n.id DESC LIMIT 1",
		"sssss", n->machine_hash, n->runner, n->params_text, n->condition, n->metric);
	if (!stmt)
		return -1;
	rc = kab_sql_step(store, stmt, err);
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	n->cv = kab_sql_double(stmt, 0);
	n->units = sqlite3_column_int64(stmt, 1);
	n->restarts = sqlite3_column_int(stmt, 2) != 0;
	n->run_name = kab_sql_text(stmt, 3);
	return 0;
}
