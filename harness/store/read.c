/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs, boots, steps, events and facts as stored. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "store/internal.h"

void kab_run_info_release(struct kab_run_info *info)
{
	free(info->name);
	free(info->suite_name);
	free(info->suite_json);
	free(info->lab_json);
	free(info->plan_json);
	free(info->command_line);
	free(info->kab_version);
	*info = (struct kab_run_info){ 0 };
}

void kab_boot_info_release(struct kab_boot_info *info)
{
	free(info->host);
	free(info->kernel);
	free(info->spec);
	free(info->release);
	free(info->build_id);
	free(info->os_boot_id);
	free(info->machine_hash);
	free(info->state);
	free(info->reason);
	*info = (struct kab_boot_info){ 0 };
}

void kab_step_info_release(struct kab_step_info *info)
{
	free(info->condition);
	free(info->case_name);
	free(info->row_key);
	free(info->runner);
	free(info->params_text);
	free(info->params_resolved);
	free(info->argv_json);
	free(info->remote_id);
	free(info->reason);
	free(info->parse_status);
	free(info->runner_version);
	*info = (struct kab_step_info){ 0 };
}

void kab_event_info_release(struct kab_event_info *info)
{
	free(info->kind);
	free(info->text);
	*info = (struct kab_event_info){ 0 };
}

#define RUN_COLUMNS                                                                                \
	"id, name, suite_name, suite_json, lab_json, plan_json, command_line, kab_version, state," \
	" created_wall_ns, coalesce(finished_wall_ns, 0)"

static int fill_run(sqlite3_stmt *stmt, struct kab_run_info *r)
{
	*r = (struct kab_run_info){
		.id = sqlite3_column_int64(stmt, 0),
		.name = kab_sql_text(stmt, 1),
		.suite_name = kab_sql_text(stmt, 2),
		.suite_json = kab_sql_text(stmt, 3),
		.lab_json = kab_sql_dup(stmt, 4),
		.plan_json = kab_sql_text(stmt, 5),
		.command_line = kab_sql_text(stmt, 6),
		.kab_version = kab_sql_text(stmt, 7),
		.created_wall_ns = sqlite3_column_int64(stmt, 9),
		.finished_wall_ns = sqlite3_column_int64(stmt, 10),
	};
	return kab_run_state_parse(kab_sql_str(stmt, 8), &r->state);
}

/* The newest attempt of each planned iteration counts, and what a later reading made of it; the
 * results of a boot that ran the wrong kernel are failures. Counted here: grouping sorts them all. */
static int count_steps(struct kab_store *store, struct kab_run_info *r, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err,
		/* the view is asked only where the output was read more than once */
		"SELECT CASE WHEN (SELECT count(*) FROM extraction e"
		" WHERE e.iteration_id = i.id) < 2 THEN i.state ELSE (SELECT o.state FROM outcome o"
		" WHERE o.iteration_id = i.id) END, b.state = 'failed'"
		" FROM iteration i JOIN boot b ON b.id = i.boot_id"
		" WHERE i.run_id = ? AND i.warmup = 0"
		" AND NOT EXISTS (SELECT 1 FROM iteration a WHERE a.retry_of = i.id)",
		"i", r->id);
	int64_t summaries = 0;
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
		enum kab_iter_state state = KAB_ITER_PENDING;

		kab_iter_state_parse(kab_sql_str(stmt, 0), &state);
		if (state == KAB_ITER_DONE && sqlite3_column_int(stmt, 1))
			state = KAB_ITER_FAILED;
		r->n_iterations++;
		if (state == KAB_ITER_DONE)
			r->n_done++;
		else if (state == KAB_ITER_FAILED)
			r->n_failed++;
		else if (state == KAB_ITER_MISSING)
			r->n_missing++;
		else
			r->n_pending++;
	}
	if (rc)
		return rc;
	rc = kab_sql_int(store, err, &summaries, "SELECT count(*) FROM summary WHERE run_id = ?",
			 "i", r->id);
	r->n_summaries = (size_t)summaries;
	return rc;
}

static int unknown_state(struct kab_store *store, struct kab_err *err)
{
	return kab_err_set(err, KAB_ERR_STORE, "database '%s' holds a state that is not known",
			   store->path);
}

/* 0, 1 when there is no such run, -1. */
static int get_run(struct kab_store *store, const char *sql, const char *name, int64_t id,
		   struct kab_run_info *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = kab_sql_query(store, err, sql, "si", name, id);
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;

	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	rc = fill_run(stmt, ret) ? unknown_state(store, err) : count_steps(store, ret, err);
	if (rc)
		kab_run_info_release(ret);
	return rc;
}

static char *describe(const struct kab_run_info *r)
{
	if (r->state == KAB_RUN_COMPLETE)
		return kab_xasprintf("run '%s' (%lld)", r->name, (long long)r->id);
	return kab_xasprintf("run '%s' (%lld, %s, %zu of %zu iterations)", r->name,
			     (long long)r->id, kab_run_state_name(r->state),
			     r->n_done + r->n_failed + r->n_missing, r->n_iterations);
}

/* "x" is run 'x', but somebody who named two runs "x" may mean the second: say so. */
static int later_wishes(struct kab_store *store, const struct kab_run_info *r, char **ret_note,
			struct kab_err *err)
{
	KAB_AUTOSTMT stmt =
		kab_sql_query(store, err,
			      "SELECT group_concat('''' || name || ''' (' || state || ')',"
			      " ', ') FROM (SELECT name, state FROM run WHERE wished_name = ?"
			      " AND id > ? ORDER BY id DESC LIMIT 5)",
			      "si", r->name, r->id);
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;
	const char *names;
	kab_autofree char *what = NULL;

	if (rc < 0)
		return -1;
	names = rc ? kab_sql_str(stmt, 0) : "";
	if (*names) {
		what = describe(r);
		*ret_note = kab_xasprintf("this is %s; newer runs of that name: %s", what, names);
	}
	return 0;
}

static int find_run(struct kab_store *store, const char *name, struct kab_run_info *ret,
		    char **ret_note, struct kab_err *err)
{
	kab_autofree char *what = NULL;
	int64_t id = 0;
	int rc;

	if (!name || !strcmp(name, "latest")) {
		rc = get_run(store,
			     "SELECT " RUN_COLUMNS " FROM run WHERE ?1 IS NULL AND ?2 = 0"
			     " ORDER BY id DESC LIMIT 1",
			     NULL, 0, ret, err);
		if (!rc) {
			what = describe(ret);
			*ret_note = kab_xasprintf("latest is %s", what);
		}
		return rc;
	}
	rc = get_run(store, "SELECT " RUN_COLUMNS " FROM run WHERE name = ?1 AND ?2 = 0", name, 0,
		     ret, err);
	if (!rc)
		return later_wishes(store, ret, ret_note, err);
	if (rc < 0 || kab_text_int(name, &id))
		return rc;
	rc = get_run(store, "SELECT " RUN_COLUMNS " FROM run WHERE ?1 IS NULL AND id = ?2", NULL,
		     id, ret, err);
	if (!rc) {
		what = describe(ret);
		*ret_note = kab_xasprintf("%s is %s", name, what);
	}
	return rc;
}

int kab_store_find_run(struct kab_store *store, const char *name, struct kab_run_info *ret,
		       char **ret_note, struct kab_err *err)
{
	char *note = NULL;
	int rc;

	*ret = (struct kab_run_info){ 0 };
	if (ret_note)
		*ret_note = NULL;
	KAB_STORE_GUARD(store);
	if (kab_tx_read_begin(store, err))
		return -1;
	rc = find_run(store, name, ret, &note, err);
	kab_tx_read_end(store);
	if (rc < 0)
		kab_run_info_release(ret);
	if (ret_note && !rc)
		*ret_note = note;
	else
		free(note);
	return rc;
}

int kab_store_list_runs(struct kab_store *store, size_t max, struct kab_run_info **ret,
			size_t *ret_n, struct kab_err *err)
{
	struct {
		struct kab_run_info *v;
		size_t n, cap;
	} list = { 0 };
	int rc = -1;

	KAB_STORE_GUARD(store);
	if (kab_tx_read_begin(store, err))
		return -1;
	{
		KAB_AUTOSTMT stmt = kab_sql_query(
			store, err, "SELECT " RUN_COLUMNS " FROM run ORDER BY id DESC LIMIT ?", "i",
			max && max < INT64_MAX ? (int64_t)max : (int64_t)-1);

		while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
			struct kab_run_info *r = KAB_PUSH(&list);

			rc = fill_run(stmt, r) ? unknown_state(store, err)
					       : count_steps(store, r, err);
			if (rc)
				break;
		}
	}
	kab_tx_read_end(store);
	if (rc < 0) {
		for (size_t i = 0; i < list.n; i++)
			kab_run_info_release(&list.v[i]);
		free(list.v);
		return -1;
	}
	*ret = list.v;
	*ret_n = list.n;
	return 0;
}

int kab_store_list_boots(struct kab_store *store, int64_t run_id, struct kab_boot_info **ret,
			 size_t *ret_n, struct kab_err *err)
{
	struct {
		struct kab_boot_info *v;
		size_t n, cap;
	} list = { 0 };
	KAB_STORE_GUARD(store);
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err,
		"SELECT b.id, rh.label, rk.label, rk.spec, k.release, k.build_id, b.os_boot_id,"
		" h.machine_hash, b.state, b.reason, b.block, b.sequence, b.restart,"
		" coalesce(b.proven_wall_ns, 0) FROM boot b JOIN run_host rh ON rh.id = "
		"b.run_host_id"
		" JOIN run_kernel rk ON rk.id = b.run_kernel_id LEFT JOIN host h ON h.id = "
		"b.host_id"
		" LEFT JOIN kernel k ON k.id = b.kernel_id WHERE b.run_id = ?"
		" ORDER BY rh.position, b.sequence, b.id",
		"i", run_id);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		*KAB_PUSH(&list) = (struct kab_boot_info){
			.id = sqlite3_column_int64(stmt, 0),
			.host = kab_sql_text(stmt, 1),
			.kernel = kab_sql_text(stmt, 2),
			.spec = kab_sql_text(stmt, 3),
			.release = kab_sql_text(stmt, 4),
			.build_id = kab_sql_text(stmt, 5),
			.os_boot_id = kab_sql_text(stmt, 6),
			.machine_hash = kab_sql_text(stmt, 7),
			.state = kab_sql_text(stmt, 8),
			.reason = kab_sql_dup(stmt, 9),
			.block = sqlite3_column_int(stmt, 10),
			.sequence = sqlite3_column_int(stmt, 11),
			.restart = sqlite3_column_int(stmt, 12) != 0,
			.proven_wall_ns = sqlite3_column_int64(stmt, 13),
		};
	if (rc < 0) {
		for (size_t i = 0; i < list.n; i++)
			kab_boot_info_release(&list.v[i]);
		free(list.v);
		return -1;
	}
	*ret = list.v;
	*ret_n = list.n;
	return 0;
}

static void fill_step(sqlite3_stmt *stmt, struct kab_step_info *s)
{
	*s = (struct kab_step_info){
		.id = sqlite3_column_int64(stmt, 0),
		.boot_id = sqlite3_column_int64(stmt, 1),
		.condition = kab_sql_text(stmt, 2),
		.case_name = kab_sql_text(stmt, 3),
		.row_key = kab_sql_text(stmt, 4),
		.runner = kab_sql_text(stmt, 5),
		.params_text = kab_sql_text(stmt, 6),
		.params_resolved = kab_sql_dup(stmt, 7),
		.argv_json = kab_sql_dup(stmt, 8),
		.remote_id = kab_sql_dup(stmt, 9),
		.reason = kab_sql_dup(stmt, 10),
		.parse_status = kab_sql_dup(stmt, 11),
		.runner_version = kab_sql_dup(stmt, 12),
		.iteration = sqlite3_column_int(stmt, 13),
		.attempt = sqlite3_column_int(stmt, 14),
		.case_order = sqlite3_column_int(stmt, 15),
		.warmup = sqlite3_column_int(stmt, 16) != 0,
		.sequence = sqlite3_column_int64(stmt, 17),
		.exit_status = sqlite3_column_type(stmt, 19) == SQLITE_NULL
				       ? -1
				       : sqlite3_column_int(stmt, 19),
		.elapsed_s = kab_sql_double(stmt, 20),
		.user_s = kab_sql_double(stmt, 21),
		.system_s = kab_sql_double(stmt, 22),
		.max_rss_kb = kab_sql_double(stmt, 23),
		.started_wall_ns = sqlite3_column_int64(stmt, 24),
		.finished_wall_ns = sqlite3_column_int64(stmt, 25),
	};
	kab_iter_state_parse(kab_sql_str(stmt, 18), &s->state);
}

/* The steps that `where` selects by ?1, the run, and ?2. */
static int list_steps(struct kab_store *store, const char *where, int64_t run_id, int64_t second,
		      struct kab_step_info **ret, size_t *ret_n, struct kab_err *err)
{
	struct {
		struct kab_step_info *v;
		size_t n, cap;
	} list = { 0 };
	KAB_STORE_GUARD(store);
	char *sql kab_autofree = kab_xasprintf(
		"SELECT i.id, i.boot_id, i.condition, i.case_name, i.row_key, i.runner,"
		" i.params_text, i.params_resolved, i.argv_json, i.remote_id, o.reason,"
		" o.parse_status, i.runner_version, i.iteration, i.attempt, i.case_order, i.warmup,"
		" i.sequence, o.state, i.exit_status, i.elapsed_s, i.user_s, i.system_s,"
		" i.max_rss_kb, coalesce(i.started_wall_ns, 0), coalesce(i.finished_wall_ns, 0)"
		" FROM iteration i JOIN outcome o ON o.iteration_id = i.id"
		" WHERE %s ORDER BY i.sequence, i.attempt",
		where);
	KAB_AUTOSTMT stmt = kab_sql_query(store, err, sql, "ii", run_id, second);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		fill_step(stmt, KAB_PUSH(&list));
	if (rc < 0) {
		for (size_t i = 0; i < list.n; i++)
			kab_step_info_release(&list.v[i]);
		free(list.v);
		return -1;
	}
	*ret = list.v;
	*ret_n = list.n;
	return 0;
}

int kab_store_list_steps(struct kab_store *store, int64_t run_id, int64_t boot_id,
			 struct kab_step_info **ret, size_t *ret_n, struct kab_err *err)
{
	return list_steps(store, "i.run_id = ?1 AND (?2 = 0 OR i.boot_id = ?2)", run_id, boot_id,
			  ret, ret_n, err);
}

int kab_store_list_invoked(struct kab_store *store, int64_t run_id, struct kab_step_info **ret,
			   size_t *ret_n, struct kab_err *err)
{
	/* With a bare column beside min() SQLite gives that of the row with the minimum. */
	return list_steps(store,
			  "i.id IN (SELECT id FROM (SELECT id, min(sequence) FROM iteration"
			  " WHERE run_id = ?1 AND warmup = ?2 AND state = 'done'"
			  " AND argv_json IS NOT NULL GROUP BY case_name, row_key))",
			  run_id, 0, ret, ret_n, err);
}

int kab_store_list_events(struct kab_store *store, int64_t run_id, struct kab_event_info **ret,
			  size_t *ret_n, struct kab_err *err)
{
	struct {
		struct kab_event_info *v;
		size_t n, cap;
	} list = { 0 };
	KAB_STORE_GUARD(store);
	KAB_AUTOSTMT stmt =
		kab_sql_query(store, err,
			      "SELECT coalesce(boot_id, 0), wall_ns, kind, text FROM event"
			      " WHERE run_id = ? ORDER BY id",
			      "i", run_id);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		*KAB_PUSH(&list) = (struct kab_event_info){
			.boot_id = sqlite3_column_int64(stmt, 0),
			.wall_ns = sqlite3_column_int64(stmt, 1),
			.kind = kab_sql_text(stmt, 2),
			.text = kab_sql_text(stmt, 3),
		};
	if (rc < 0) {
		for (size_t i = 0; i < list.n; i++)
			kab_event_info_release(&list.v[i]);
		free(list.v);
		return -1;
	}
	*ret = list.v;
	*ret_n = list.n;
	return 0;
}

int kab_store_boot_facts(struct kab_store *store, int64_t boot_id, struct kab_facts *ret,
			 struct kab_err *err)
{
	KAB_STORE_GUARD(store);
	KAB_AUTOSTMT stmt = kab_sql_query(store, err,
					  "SELECT key, value FROM environment WHERE boot_id = ?"
					  " ORDER BY position",
					  "i", boot_id);
	int rc = -1;

	*ret = (struct kab_facts){ 0 };
	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		kab_facts_set(ret, kab_sql_str(stmt, 0), kab_sql_str(stmt, 1));
	if (rc < 0)
		kab_facts_release(ret);
	return rc;
}
