/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Iterations: started, finished, tried again, read again. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "store/internal.h"

struct iteration {
	enum kab_iter_state state;
	char *runner, *params, *runner_version; /* owned */
};

static void iteration_release(struct iteration *it)
{
	free(it->runner);
	free(it->params);
	free(it->runner_version);
}
#define AUTO_ITERATION struct iteration __attribute__((cleanup(iteration_release)))

static bool is_final(enum kab_iter_state state)
{
	return state == KAB_ITER_DONE || state == KAB_ITER_FAILED || state == KAB_ITER_MISSING;
}

static int get_iteration(struct kab_store *store, int64_t id, struct iteration *ret,
			 struct kab_err *err)
{
	KAB_AUTOSTMT stmt =
		kab_sql_query(store, err,
			      "SELECT state, runner, coalesce(params_resolved, params_text),"
			      " runner_version FROM iteration WHERE id = ?",
			      "i", id);
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (!rc)
		return kab_err_set(err, KAB_ERR_STORE, "there is no iteration %lld in '%s'",
				   (long long)id, store->path);
	if (kab_iter_state_parse(kab_sql_str(stmt, 0), &ret->state))
		return kab_err_set(err, KAB_ERR_STORE, "iteration %lld has an unknown state",
				   (long long)id);
	ret->runner = kab_sql_text(stmt, 1);
	ret->params = kab_sql_text(stmt, 2);
	ret->runner_version = kab_sql_text(stmt, 3);
	return 0;
}

int kab_store_iteration_started(struct kab_store *store, int64_t iteration_id,
				const char *remote_id, int64_t wall_ns, struct kab_err *err)
{
	AUTO_ITERATION it = { 0 };
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = get_iteration(store, iteration_id, &it, err);
	if (!rc && is_final(it.state))
		rc = kab_err_set(err, KAB_ERR_STORE, "it is %s already",
				 kab_iter_state_name(it.state));
	if (!rc)
		rc = kab_sql_run(store, err,
				 "UPDATE iteration SET state = 'running', remote_id = ?2,"
				 " started_wall_ns = ?3 WHERE id = ?1",
				 "isi", iteration_id, remote_id, wall_ns);
	return kab_tx_end(store, rc, err, "store the start of iteration %lld",
			  (long long)iteration_id);
}

int kab_store_iteration_abandoned(struct kab_store *store, int64_t iteration_id,
				  struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "UPDATE iteration SET state = 'pending', remote_id = NULL,"
			 " started_wall_ns = NULL WHERE id = ?1 AND state = 'running'",
			 "i", iteration_id);
	return kab_tx_end(store, rc, err, "store that iteration %lld was abandoned",
			  (long long)iteration_id);
}

static int series_id(struct kab_store *store, const struct kab_extraction *x,
		     const struct kab_sample *sample, int64_t *ret, struct kab_err *err)
{
	const char *unit = sample->unit ? sample->unit : "";
	kab_autofree char *key =
		kab_series_key(x->runner, x->runner_version, x->params, sample->metric, unit);
	int rc = kab_sql_int(store, err, ret, "SELECT id FROM series WHERE key = ?", "s", key);

	if (rc <= 0)
		return rc;
	if (kab_sql_run(store, err,
			"INSERT INTO series (key, runner, runner_version, params, metric, unit)"
			" VALUES (?, ?, ?, ?, ?, ?)",
			"ssssss", key, x->runner, x->runner_version, x->params, sample->metric,
			unit))
		return -1;
	*ret = sqlite3_last_insert_rowid(store->db);
	return 0;
}

int kab_store_put_extraction(struct kab_store *store, const struct kab_extraction *x,
			     struct kab_err *err)
{
	int64_t extraction;

	if (kab_sql_run(
		    store, err,
		    "INSERT INTO extraction (iteration_id, runner, parser_version, parse_status,"
		    " message, created_wall_ns) VALUES (?, ?, ?, ?, ?, ?)",
		    "issssi", x->iteration_id, x->runner,
		    x->parser_version ? x->parser_version : "", x->parse_status, x->message,
		    kab_now_wall_ns()))
		return -1;
	extraction = sqlite3_last_insert_rowid(store->db);
	for (size_t i = 0; i < x->n; i++) {
		const struct kab_sample *s = &x->samples[i];
		int64_t series = 0;

		if (!isfinite(s->value))
			return kab_err_set(err, KAB_ERR_INTERNAL, "metric '%s' has no finite value",
					   s->metric);
		if (series_id(store, x, s, &series, err) ||
		    kab_sql_run(store, err,
				"INSERT INTO sample (extraction_id, position, series_id, direction,"
				" value) VALUES (?, ?, ?, ?, ?)",
				"iiisd", extraction, (int64_t)i, series, kab_direction_name(s->dir),
				s->value))
			return -1;
	}
	return 0;
}

static int put_result(struct kab_store *store, const struct kab_store_result *r,
		      struct kab_err *err)
{
	return kab_sql_run(
		store, err,
		"UPDATE iteration SET state = ?2, reason = ?3, exit_status = ?4,"
		" started_wall_ns = coalesce(nullif(?5, 0), started_wall_ns),"
		" finished_wall_ns = nullif(?6, 0), elapsed_s = ?7, user_s = ?8,"
		" system_s = ?9, max_rss_kb = ?10, argv_json = ?11, params_resolved = ?12,"
		" runner_version = ?13 WHERE id = ?1",
		"issiiiddddsss", r->iteration_id, kab_iter_state_name(r->state), r->reason,
		(int64_t)r->exit_status, r->started_wall_ns, r->finished_wall_ns, r->elapsed_s,
		r->user_s, r->system_s, r->max_rss_kb, r->argv_json, r->params_resolved,
		r->runner_version);
}

int kab_store_commit_iteration(struct kab_store *store, const struct kab_store_result *r,
			       struct kab_err *err)
{
	AUTO_ITERATION it = { 0 };
	int rc;

	KAB_STORE_GUARD(store);
	if (!is_final(r->state))
		return kab_err_set(err, KAB_ERR_INTERNAL, "iteration %lld is not finished (%s)",
				   (long long)r->iteration_id, kab_iter_state_name(r->state));
	if (kab_tx_begin(store, err))
		return -1;
	rc = get_iteration(store, r->iteration_id, &it, err);
	if (!rc && is_final(it.state))
		rc = 1;
	if (!rc)
		rc = put_result(store, r, err);
	if (!rc && (r->parse_status || r->n_samples)) {
		struct kab_extraction x = {
			.iteration_id = r->iteration_id,
			.runner = it.runner,
			.runner_version = r->runner_version ? r->runner_version : "",
			.params = r->params_resolved ? r->params_resolved : it.params,
			.parser_version = r->parser_version,
			.parse_status = r->parse_status ? r->parse_status : "ok",
			.message = r->reason,
			.samples = r->samples,
			.n = r->n_samples,
		};

		rc = kab_store_put_extraction(store, &x, err);
	}
	for (size_t i = 0; !rc && i < r->n_streams; i++)
		rc = kab_store_put_output(store, r->iteration_id, &r->streams[i], err);
	return kab_tx_end(store, rc, err, "store iteration %lld", (long long)r->iteration_id);
}

int kab_store_retry_iteration(struct kab_store *store, int64_t iteration_id, int64_t *ret_id,
			      struct kab_err *err)
{
	AUTO_ITERATION it = { 0 };
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = get_iteration(store, iteration_id, &it, err);
	if (!rc && it.state != KAB_ITER_FAILED && it.state != KAB_ITER_MISSING)
		rc = kab_err_set(err, KAB_ERR_STORE, "it is %s: only a failed one is tried again",
				 kab_iter_state_name(it.state));
	if (!rc) {
		int64_t newer;

		rc = kab_sql_int(store, err, &newer, "SELECT id FROM iteration WHERE retry_of = ?",
				 "i", iteration_id);
		if (rc == 0)
			rc = kab_err_set(err, KAB_ERR_STORE, "it was tried again as %lld",
					 (long long)newer);
		else if (rc == 1)
			rc = 0;
	}
	if (!rc)
		rc = kab_sql_run(
			store, err,
			"INSERT INTO iteration (run_id, boot_id, condition, case_name, row_key,"
			" runner, params_text, case_order, iteration, warmup, attempt, retry_of,"
			" sequence) SELECT run_id, boot_id, condition, case_name, row_key,"
			" runner, params_text, case_order, iteration, warmup, attempt + 1, id,"
			" sequence FROM iteration WHERE id = ?",
			"i", iteration_id);
	if (!rc)
		*ret_id = sqlite3_last_insert_rowid(store->db);
	return kab_tx_end(store, rc, err, "plan another attempt of iteration %lld",
			  (long long)iteration_id);
}

int kab_store_add_extraction(struct kab_store *store, int64_t iteration_id, const char *runner,
			     const char *parser_version, const char *parse_status,
			     const char *message, const struct kab_sample *samples, size_t n,
			     struct kab_err *err)
{
	AUTO_ITERATION it = { 0 };
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = get_iteration(store, iteration_id, &it, err);
	if (!rc && !is_final(it.state))
		rc = kab_err_set(err, KAB_ERR_STORE, "it is %s: there is nothing to read yet",
				 kab_iter_state_name(it.state));
	if (!rc) {
		struct kab_extraction x = {
			.iteration_id = iteration_id,
			.runner = runner ? runner : it.runner,
			.runner_version = it.runner_version,
			.params = it.params,
			.parser_version = parser_version,
			.parse_status = parse_status,
			.message = message,
			.samples = samples,
			.n = n,
		};

		rc = kab_store_put_extraction(store, &x, err);
	}
	return kab_tx_end(store, rc, err, "store another reading of iteration %lld",
			  (long long)iteration_id);
}

int kab_store_longest_elapsed(struct kab_store *store, const char *machine_hash, const char *runner,
			      const char *params_text, double *ret_s, struct kab_err *err)
{
	KAB_STORE_GUARD(store);
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err,
		"SELECT i.elapsed_s FROM iteration i JOIN boot b ON b.id = i.boot_id"
		" JOIN host h ON h.id = b.host_id WHERE i.runner = ? AND i.params_text = ?"
		" AND i.state = 'done' AND i.elapsed_s IS NOT NULL AND h.machine_hash = ?"
		" ORDER BY i.elapsed_s DESC LIMIT 1",
		"sss", runner, params_text, machine_hash);
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (rc)
		*ret_s = sqlite3_column_double(stmt, 0);
	return !rc;
}

int kab_store_typical_elapsed(struct kab_store *store, const char *runner, const char *params_text,
			      double *ret_s, struct kab_err *err)
{
	KAB_STORE_GUARD(store);
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err,
		"WITH d AS (SELECT elapsed_s AS e, row_number() OVER (ORDER BY elapsed_s) AS r,"
		" count(*) OVER () AS n FROM iteration WHERE runner = ? AND params_text = ?"
		" AND state = 'done' AND elapsed_s IS NOT NULL)"
		" SELECT avg(e) FROM d WHERE r IN ((n + 1) / 2, (n + 2) / 2)",
		"ss", runner, params_text);
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (!rc || sqlite3_column_type(stmt, 0) == SQLITE_NULL)
		return 1;
	*ret_s = sqlite3_column_double(stmt, 0);
	return 0;
}
