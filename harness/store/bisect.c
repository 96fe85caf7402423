/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches for the commit that changed a figure: what is needed to go on with them. */
#include <string.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "store/history.h"
#include "store/internal.h"

void kab_bisect_row_release(struct kab_bisect_row *r)
{
	free(r->name);
	free(r->setup_json);
	free(r->state);
	free(r->summary);
	*r = (struct kab_bisect_row){ 0 };
}

void kab_bisect_commits_release(struct kab_bisect_commits *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].revision);
		free(c->v[i].subject);
		free(c->v[i].spec);
		free(c->v[i].skipped);
	}
	free(c->v);
	*c = (struct kab_bisect_commits){ 0 };
}

void kab_bisect_runs_release(struct kab_bisect_runs *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].purpose);
		free(r->v[i].positions_json);
		free(r->v[i].run_name);
	}
	free(r->v);
	*r = (struct kab_bisect_runs){ 0 };
}

int kab_store_bisect_create(struct kab_store *store, const char *name, const char *setup_json,
			    int64_t now_ns, int64_t *ret_id, struct kab_err *err)
{
	int64_t there = 0;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_int(store, err, &there, "SELECT count(*) FROM bisect WHERE name = ?", "s",
			 name);
	if (!rc && there)
		rc = kab_err_set(
			err, KAB_ERR_CONFIG,
			"there is a bisection '%s' already: go on with it (kab bisect "
			"--resume %s), give this one another name (--name), or delete that "
			"one (kab bisect --delete %s)",
			name, name, name);
	if (!rc)
		rc = kab_sql_run(store, err,
				 "INSERT INTO bisect (name, setup_json, created_wall_ns)"
				 " VALUES (?, ?, ?)",
				 "ssi", name, setup_json, now_ns);
	if (!rc)
		rc = kab_sql_int(store, err, ret_id, "SELECT last_insert_rowid()", "");
	return kab_tx_end(store, rc, err, "store the bisection");
}

int kab_store_bisect_find(struct kab_store *store, const char *name, struct kab_bisect_row *ret,
			  struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	*ret = (struct kab_bisect_row){ 0 };
	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT id, name, setup_json, state, summary FROM bisect"
			     " WHERE (?1 IS NULL OR name = ?1) ORDER BY id DESC LIMIT 1",
			     "s", name);
	rc = stmt ? kab_sql_step(store, stmt, err) : -1;
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	*ret = (struct kab_bisect_row){
		.id = sqlite3_column_int64(stmt, 0),
		.name = kab_sql_text(stmt, 1),
		.setup_json = kab_sql_text(stmt, 2),
		.state = kab_sql_text(stmt, 3),
		.summary = kab_sql_text(stmt, 4),
	};
	return 0;
}

int kab_store_bisect_end(struct kab_store *store, int64_t id, const char *state,
			 const char *summary, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err, "UPDATE bisect SET state = ?, summary = ? WHERE id = ?", "ssi",
			 state, summary, id);
	return kab_tx_end(store, rc, err, "store the end of the bisection");
}

int kab_store_bisect_setup(struct kab_store *store, int64_t id, const char *setup_json,
			   struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err, "UPDATE bisect SET setup_json = ? WHERE id = ?", "si",
			 setup_json, id);
	return kab_tx_end(store, rc, err, "store what the bisection is asked for");
}

int kab_store_bisect_names(struct kab_store *store, struct kab_strv *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc = -1;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err, "SELECT name FROM bisect ORDER BY id", "");
	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		kab_strv_take(ret, kab_sql_text(stmt, 0));
	return rc;
}

int kab_store_bisect_delete(struct kab_store *store, int64_t id, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err, "DELETE FROM bisect WHERE id = ?", "i", id);
	return kab_tx_end(store, rc, err, "delete the bisection");
}

int kab_store_bisect_put_commits(struct kab_store *store, int64_t id,
				 const struct kab_bisect_commits *c, struct kab_err *err)
{
	int rc = 0;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	for (size_t i = 0; !rc && i < c->n; i++)
		rc = kab_sql_run(store, err,
				 "INSERT OR IGNORE INTO bisect_commit (bisect_id, position,"
				 " revision, subject, spec, skipped) VALUES (?, ?, ?, ?, ?, ?)",
				 "iissss", id, (int64_t)i, c->v[i].revision, c->v[i].subject,
				 c->v[i].spec, c->v[i].skipped);
	return kab_tx_end(store, rc, err, "store the commits of the bisection");
}

int kab_store_bisect_commits(struct kab_store *store, int64_t id, struct kab_bisect_commits *ret,
			     struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc = -1;

	*ret = (struct kab_bisect_commits){ 0 };
	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT revision, subject, spec, skipped FROM bisect_commit"
			     " WHERE bisect_id = ? ORDER BY position",
			     "i", id);
	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		*KAB_PUSH(ret) = (struct kab_bisect_commit){
			.revision = kab_sql_text(stmt, 0),
			.subject = kab_sql_text(stmt, 1),
			.spec = kab_sql_dup(stmt, 2),
			.skipped = kab_sql_dup(stmt, 3),
		};
	if (rc)
		kab_bisect_commits_release(ret);
	return rc;
}

int kab_store_bisect_update(struct kab_store *store, int64_t id, size_t position, const char *spec,
			    const char *skipped, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "UPDATE bisect_commit SET spec = coalesce(?, spec),"
			 " skipped = coalesce(?, skipped) WHERE bisect_id = ? AND position = ?",
			 "ssii", spec, skipped, id, (int64_t)position);
	return kab_tx_end(store, rc, err, "store a commit of the bisection");
}

int kab_store_bisect_put_run(struct kab_store *store, int64_t id, const struct kab_bisect_run *r,
			     struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(
		store, err,
		"INSERT INTO bisect_run (bisect_id, sequence, purpose, positions_json,"
		" run_id, run_name, done) VALUES (?, ?, ?, ?, nullif(?, 0), ?, ?)"
		" ON CONFLICT (bisect_id, sequence) DO UPDATE SET run_id = excluded.run_id,"
		" run_name = excluded.run_name",
		"iissisi", id, (int64_t)r->sequence, r->purpose, r->positions_json, r->run_id,
		r->run_name, (int64_t)r->done);
	return kab_tx_end(store, rc, err, "store a run of the bisection");
}

int kab_store_bisect_run_done(struct kab_store *store, int64_t id, int sequence,
			      struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "UPDATE bisect_run SET done = 1 WHERE bisect_id = ? AND sequence = ?",
			 "ii", id, (int64_t)sequence);
	return kab_tx_end(store, rc, err, "store the end of a run of the bisection");
}

int kab_store_bisect_lose_run(struct kab_store *store, int64_t id, int sequence,
			      struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "UPDATE bisect_run SET purpose = 'lost', done = 1 WHERE bisect_id = ?"
			 " AND sequence = ?",
			 "ii", id, (int64_t)sequence);
	return kab_tx_end(store, rc, err, "give up a run of the bisection");
}

int kab_store_bisect_runs(struct kab_store *store, int64_t id, struct kab_bisect_runs *ret,
			  struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc = -1;

	*ret = (struct kab_bisect_runs){ 0 };
	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(
		store, err,
		"SELECT sequence, purpose, positions_json, coalesce(run_id, 0),"
		" run_name, done FROM bisect_run WHERE bisect_id = ? ORDER BY sequence",
		"i", id);
	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		*KAB_PUSH(ret) = (struct kab_bisect_run){
			.sequence = sqlite3_column_int(stmt, 0),
			.purpose = kab_sql_text(stmt, 1),
			.positions_json = kab_sql_text(stmt, 2),
			.run_id = sqlite3_column_int64(stmt, 3),
			.run_name = kab_sql_text(stmt, 4),
			.done = sqlite3_column_int(stmt, 5) != 0,
		};
	if (rc)
		kab_bisect_runs_release(ret);
	return rc;
}
