/* SPDX-License-Identifier: GPL-3.0-or-later */
/* States of runs and boots, events. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "store/internal.h"

static int must_exist(struct kab_store *store, const char *what, int64_t id, struct kab_err *err)
{
	if (sqlite3_changes(store->db) > 0)
		return 0;
	return kab_err_set(err, KAB_ERR_STORE, "there is no %s %lld in '%s'", what, (long long)id,
			   store->path);
}

int kab_store_set_run_state(struct kab_store *store, int64_t run_id, enum kab_run_state state,
			    struct kab_err *err)
{
	bool over = state == KAB_RUN_COMPLETE || state == KAB_RUN_INTERRUPTED;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "UPDATE run SET state = ?2, finished_wall_ns ="
			 " CASE WHEN ?3 <> 0 THEN ?3 ELSE NULL END WHERE id = ?1",
			 "isi", run_id, kab_run_state_name(state),
			 over ? kab_now_wall_ns() : (int64_t)0);
	if (!rc)
		rc = must_exist(store, "run", run_id, err);
	return kab_tx_end(store, rc, err, "store the state of run %lld", (long long)run_id);
}

static int put_identities(struct kab_store *store, const struct kab_kernel_id *kernel,
			  const char *machine_hash, int64_t *ret_kernel, int64_t *ret_host,
			  struct kab_err *err)
{
	kab_autofree char *identity = kab_kernel_identity(kernel);

	if (kab_sql_run(store, err,
			"INSERT INTO kernel (identity, release, build_id, commit_id, config_hash)"
			" VALUES (?, ?, ?, ?, ?) ON CONFLICT (identity) DO NOTHING",
			"sssss", identity, kernel->release ? kernel->release : "",
			kernel->build_id ? kernel->build_id : "",
			kernel->commit ? kernel->commit : "",
			kernel->config_hash ? kernel->config_hash : "") ||
	    kab_sql_int(store, err, ret_kernel, "SELECT id FROM kernel WHERE identity = ?", "s",
			identity))
		return -1;
	*ret_host = 0;
	if (!machine_hash || !*machine_hash)
		return 0;
	if (kab_sql_run(store, err,
			"INSERT INTO host (machine_hash) VALUES (?)"
			" ON CONFLICT (machine_hash) DO NOTHING",
			"s", machine_hash) ||
	    kab_sql_int(store, err, ret_host, "SELECT id FROM host WHERE machine_hash = ?", "s",
			machine_hash))
		return -1;
	return 0;
}

/* 0: to be stored; 1: proven as just this before; -1: it was something else. */
static int boot_before(struct kab_store *store, int64_t boot_id, int64_t kernel_id,
		       const char *os_boot_id, struct kab_err *err)
{
	KAB_AUTOSTMT stmt =
		kab_sql_query(store, err,
			      "SELECT state, kernel_id, coalesce(os_boot_id, '') FROM boot"
			      " WHERE id = ?",
			      "i", boot_id);
	const char *state;
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (!rc)
		return kab_err_set(err, KAB_ERR_STORE, "there is no boot %lld in '%s'",
				   (long long)boot_id, store->path);
	state = kab_sql_str(stmt, 0);
	if (!strcmp(state, "planned"))
		return 0;
	if (!strcmp(state, "proven") && sqlite3_column_int64(stmt, 1) == kernel_id &&
	    !strcmp(kab_sql_str(stmt, 2), os_boot_id))
		return 1;
	return kab_err_set(
		err, KAB_ERR_STORE,
		"it is %s already, as another boot of the machine or another kernel; what "
		"ran then and what runs now are two boots",
		state);
}

int kab_store_boot_proven(struct kab_store *store, int64_t boot_id,
			  const struct kab_kernel_id *kernel, const char *machine_hash,
			  const char *os_boot_id, const struct kab_facts *facts, int64_t wall_ns,
			  struct kab_err *err)
{
	int64_t kernel_id = 0, host_id = 0;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = put_identities(store, kernel, machine_hash, &kernel_id, &host_id, err);
	if (!rc)
		rc = boot_before(store, boot_id, kernel_id, os_boot_id ? os_boot_id : "", err);
	if (!rc)
		rc = kab_sql_run(store, err,
				 "UPDATE boot SET state = 'proven', reason = NULL, kernel_id = ?2,"
				 " host_id = nullif(?3, 0), os_boot_id = ?4, proven_wall_ns = ?5"
				 " WHERE id = ?1",
				 "iiisi", boot_id, kernel_id, host_id, os_boot_id ? os_boot_id : "",
				 wall_ns);
	for (size_t i = 0; !rc && facts && i < facts->n; i++)
		rc = kab_sql_run(store, err,
				 "INSERT INTO environment (boot_id, position, key, value)"
				 " VALUES (?, ?, ?, ?)",
				 "iiss", boot_id, (int64_t)i, facts->v[i].key, facts->v[i].value);
	if (rc == 1)
		rc = 0;
	return kab_tx_end(store, rc, err, "store that boot %lld was proven", (long long)boot_id);
}

int kab_store_boot_state(struct kab_store *store, int64_t boot_id, const char *state,
			 const char *reason, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err, "UPDATE boot SET state = ?2, reason = ?3 WHERE id = ?1", "iss",
			 boot_id, state, reason);
	if (!rc)
		rc = must_exist(store, "boot", boot_id, err);
	return kab_tx_end(store, rc, err, "store the state of boot %lld", (long long)boot_id);
}

int kab_store_boot_again(struct kab_store *store, int64_t boot_id, int64_t *ret_boot_id,
			 struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "INSERT INTO boot (run_id, run_host_id, run_kernel_id, block, sequence,"
			 " restart, replaces) SELECT run_id, run_host_id, run_kernel_id, block,"
			 " sequence, restart, id FROM boot WHERE id = ?",
			 "i", boot_id);
	if (!rc)
		rc = must_exist(store, "boot", boot_id, err);
	if (!rc) {
		*ret_boot_id = sqlite3_last_insert_rowid(store->db);
		/* What was running there ended with that boot. */
		rc = kab_sql_run(
			store, err,
			"UPDATE iteration SET boot_id = ?2, state = 'pending', remote_id = NULL,"
			" started_wall_ns = NULL"
			" WHERE boot_id = ?1 AND state IN ('pending', 'running')",
			"ii", boot_id, *ret_boot_id);
	}
	if (!rc)
		rc = kab_sql_run(store, err,
				 "UPDATE boot SET state = 'broken', reason = coalesce(reason,"
				 " 'repeated') WHERE id = ? AND state IN ('planned', 'proven')",
				 "i", boot_id);
	return kab_tx_end(store, rc, err, "plan boot %lld again", (long long)boot_id);
}

int kab_store_event(struct kab_store *store, int64_t run_id, int64_t boot_id, const char *kind,
		    const char *text, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "INSERT INTO event (run_id, boot_id, wall_ns, kind, text)"
			 " VALUES (?, nullif(?, 0), ?, ?, ?)",
			 "iiiss", run_id, boot_id, kab_now_wall_ns(), kind, text);
	return kab_tx_end(store, rc, err, "store an event of run %lld", (long long)run_id);
}

int kab_store_bulk_begin(struct kab_store *store, struct kab_err *err)
{
	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	store->bulk_depth = 1;
	return 0;
}

int kab_store_bulk_end(struct kab_store *store, bool keep, struct kab_err *err)
{
	KAB_STORE_GUARD(store);
	store->bulk_depth = 0;
	if (sqlite3_get_autocommit(store->db))
		return keep ? kab_err_set(
				      err, KAB_ERR_STORE,
				      "database '%s' gave up the transaction; nothing of it was "
				      "kept",
				      store->path)
			    : 0;
	return kab_tx_end(store, keep ? 0 : 1, err, "store what was read") < 0 ? -1 : 0;
}

int kab_store_backup(struct kab_store *store, const char *path, struct kab_err *err)
{
	KAB_STORE_GUARD(store);
	return kab_store_copy_to(store, path, err);
}
