/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points and notes of histories. */
#include "store/history.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "store/internal.h"

int kab_store_history_put_point(struct kab_store *store, const struct kab_point *p,
				struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(
		store, err,
		"INSERT OR IGNORE INTO history_point (tree, date, wall_ns, run_id, run_name, host,"
		" condition, case_name, row_key, runner, metric, unit, direction, judged,"
		" margin_pct, series, machine_hash, hardware, label, spec, kernel, release,"
		" commit_id, reference, reference_kernel, state, reason, boots, reference_boots,"
		" done, failed, planned, ratio, log_se, df, value, reference_value)"
		" VALUES (?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		" ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"ssiisssssssssidssssssssssssiiiiiddddd", p->series.tree, p->date, p->wall_ns,
		p->run_id, p->run_name, p->series.host, p->series.condition, p->series.case_name,
		p->series.row_key, p->series.runner, p->series.metric, p->series.unit,
		kab_direction_name(p->series.dir), (int64_t)p->judged, p->margin_pct, p->series_key,
		p->machine_hash, p->hardware, p->kernel.label, p->kernel.spec, p->kernel.identity,
		p->kernel.release, p->kernel.commit, p->reference, p->reference_identity,
		kab_point_state_name(p->state), p->reason, (int64_t)p->boots,
		(int64_t)p->reference_boots, (int64_t)p->done, (int64_t)p->failed,
		(int64_t)p->planned, p->ratio, p->log_se, p->df, p->value, p->reference_value);
	return kab_tx_end(store, rc, err, "store a point of the history of '%s'",
			  p->series.case_name);
}

#define POINT_COLUMNS                                                                            \
	"p.id, p.tree, p.date, p.wall_ns, coalesce(p.run_id, 0), p.run_name, p.host,"            \
	" p.condition, p.case_name, p.row_key, p.runner, p.metric, p.unit, p.direction,"         \
	" p.judged, p.margin_pct, p.series, p.machine_hash, p.hardware, p.label, p.spec,"        \
	" p.kernel, p.release, p.commit_id, p.reference, p.reference_kernel, p.state, p.reason," \
	" p.boots, p.reference_boots, p.done, p.failed, p.planned, p.ratio, p.log_se, p.df,"     \
	" p.value, p.reference_value"

static int unknown_word(struct kab_store *store, struct kab_err *err)
{
	return kab_err_set(err, KAB_ERR_STORE, "database '%s' holds a state that is not known",
			   store->path);
}

static int fill_point(sqlite3_stmt *s, struct kab_point *p)
{
	*p = (struct kab_point){
		.id = sqlite3_column_int64(s, 0),
		.series = { .tree = kab_sql_text(s, 1),
			    .host = kab_sql_text(s, 6),
			    .condition = kab_sql_text(s, 7),
			    .case_name = kab_sql_text(s, 8),
			    .row_key = kab_sql_text(s, 9),
			    .runner = kab_sql_text(s, 10),
			    .metric = kab_sql_text(s, 11),
			    .unit = kab_sql_text(s, 12) },
		.date = kab_sql_text(s, 2),
		.wall_ns = sqlite3_column_int64(s, 3),
		.run_id = sqlite3_column_int64(s, 4),
		.run_name = kab_sql_text(s, 5),
		.judged = sqlite3_column_int(s, 14) != 0,
		.margin_pct = kab_sql_double(s, 15),
		.series_key = kab_sql_text(s, 16),
		.machine_hash = kab_sql_text(s, 17),
		.hardware = kab_sql_text(s, 18),
		.kernel = { .label = kab_sql_text(s, 19),
			    .spec = kab_sql_text(s, 20),
			    .identity = kab_sql_text(s, 21),
			    .release = kab_sql_text(s, 22),
			    .commit = kab_sql_text(s, 23) },
		.reference = kab_sql_text(s, 24),
		.reference_identity = kab_sql_text(s, 25),
		.reason = kab_sql_dup(s, 27),
		.boots = sqlite3_column_int(s, 28),
		.reference_boots = sqlite3_column_int(s, 29),
		.done = sqlite3_column_int(s, 30),
		.failed = sqlite3_column_int(s, 31),
		.planned = sqlite3_column_int(s, 32),
		.ratio = kab_sql_double(s, 33),
		.log_se = kab_sql_double(s, 34),
		.df = kab_sql_double(s, 35),
		.value = kab_sql_double(s, 36),
		.reference_value = kab_sql_double(s, 37),
	};
	if (kab_direction_parse(kab_sql_str(s, 13), &p->series.dir))
		return -1;
	return kab_point_state_parse(kab_sql_str(s, 26), &p->state);
}

int kab_store_history_points(struct kab_store *store, const struct kab_history_filter *f,
			     struct kab_point_list *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc = -1;

	*ret = (struct kab_point_list){ 0 };
	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(
		store, err,
		"SELECT " POINT_COLUMNS " FROM history_point p WHERE"
		" (?1 IS NULL OR p.tree = ?1) AND (?2 IS NULL OR p.host = ?2)"
		" AND (?3 IS NULL OR p.case_name = ?3) AND (?4 IS NULL OR p.metric = ?4)"
		" AND (?5 IS NULL OR p.date >= ?5) AND (?6 IS NULL OR p.date <= ?6)"
		" ORDER BY min(p.id) OVER (PARTITION BY p.tree, p.host, p.condition, p.case_name,"
		" p.row_key, p.runner, p.metric, p.unit), p.date, p.wall_ns, p.id",
		"ssssss", f->tree, f->host, f->case_name, f->metric, f->from, f->to);
	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		if (fill_point(stmt, KAB_PUSH(ret))) {
			rc = unknown_word(store, err);
			break;
		}
	if (rc)
		kab_point_list_release(ret);
	return rc;
}

static int words(struct kab_store *store, sqlite3_stmt *stmt, struct kab_strv *ret,
		 struct kab_err *err)
{
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		kab_strv_add(ret, kab_sql_str(stmt, 0));
	return rc;
}

int kab_store_history_trees(struct kab_store *store, struct kab_strv *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT tree FROM history_point GROUP BY tree ORDER BY max(id) DESC",
			     "");
	return words(store, stmt, ret, err);
}

int kab_store_history_dates(struct kab_store *store, const char *tree, struct kab_strv *ret,
			    struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT DISTINCT date FROM history_point WHERE tree = ? ORDER BY date",
			     "s", tree);
	return words(store, stmt, ret, err);
}

int kab_store_history_put_note(struct kab_store *store, const struct kab_note *n,
			       struct kab_err *err)
{
	int64_t there = 0;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_int(store, err, &there,
			 "SELECT count(*) FROM history_note WHERE nomination_id = nullif(?, 0)"
			 " AND kind = ?",
			 "is", n->change_id, kab_note_kind_name(n->kind));
	if (!rc && !there)
		rc = kab_sql_run(store, err,
				 "INSERT INTO history_note (kind, nomination_id, tree, host,"
				 " case_name, metric, date, who, why, wall_ns)"
				 " VALUES (?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?)",
				 "sisssssssi", kab_note_kind_name(n->kind), n->change_id, n->tree,
				 n->host, n->case_name, n->metric, n->date, n->who, n->why,
				 n->wall_ns);
	rc = kab_tx_end(store, rc, err, "store a note of the history");
	return rc ? rc : there != 0;
}

int kab_store_history_notes(struct kab_store *store, struct kab_note_list *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc = -1;

	*ret = (struct kab_note_list){ 0 };
	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(
		store, err,
		"SELECT id, kind, coalesce(nomination_id, 0), tree, host, case_name, metric, date,"
		" who, why, wall_ns FROM history_note ORDER BY date, id",
		"");
	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
		struct kab_note *n = KAB_PUSH(ret);

		*n = (struct kab_note){
			.id = sqlite3_column_int64(stmt, 0),
			.change_id = sqlite3_column_int64(stmt, 2),
			.tree = kab_sql_text(stmt, 3),
			.host = kab_sql_text(stmt, 4),
			.case_name = kab_sql_text(stmt, 5),
			.metric = kab_sql_text(stmt, 6),
			.date = kab_sql_text(stmt, 7),
			.who = kab_sql_text(stmt, 8),
			.why = kab_sql_text(stmt, 9),
			.wall_ns = sqlite3_column_int64(stmt, 10),
		};
		if (kab_note_kind_parse(kab_sql_str(stmt, 1), &n->kind)) {
			rc = unknown_word(store, err);
			break;
		}
	}
	if (rc)
		kab_note_list_release(ret);
	return rc;
}

void kab_run_kernel_release(struct kab_run_kernel *k)
{
	kab_kernel_ref_release(&k->kernel);
	free(k->machine_hash);
	free(k->hardware);
	*k = (struct kab_run_kernel){ 0 };
}

int kab_store_run_kernel(struct kab_store *store, int64_t run_id, const char *host,
			 const char *label, struct kab_run_kernel *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	*ret = (struct kab_run_kernel){ 0 };
	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(
		store, err,
		"SELECT rk.spec, k.identity, k.release, k.commit_id, h.machine_hash,"
		" (SELECT value FROM environment e WHERE e.boot_id = b.id AND e.key = 'model'),"
		" (SELECT value FROM environment e WHERE e.boot_id = b.id AND e.key = 'cpus')"
		" FROM run_kernel rk LEFT JOIN run_host rh ON rh.run_id = rk.run_id"
		" AND rh.label = ?2"
		" LEFT JOIN boot b ON b.run_kernel_id = rk.id AND b.run_host_id = rh.id"
		" AND b.kernel_id IS NOT NULL AND b.state <> 'failed'"
		" LEFT JOIN kernel k ON k.id = b.kernel_id LEFT JOIN host h ON h.id = b.host_id"
		" WHERE rk.run_id = ?1 AND rk.label = ?3 ORDER BY b.id DESC LIMIT 1",
		"iss", run_id, host, label);
	rc = stmt ? kab_sql_step(store, stmt, err) : -1;
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	const char *model = kab_sql_str(stmt, 5), *cpus = kab_sql_str(stmt, 6);
	kab_autofree char *copy = kab_xstrdup(model);

	*ret = (struct kab_run_kernel){
		.kernel = { .label = kab_xstrdup(label),
			    .spec = kab_sql_text(stmt, 0),
			    .identity = kab_sql_text(stmt, 1),
			    .release = kab_sql_text(stmt, 2),
			    .commit = kab_sql_text(stmt, 3) },
		.machine_hash = kab_sql_text(stmt, 4),
		.hardware = *copy && *cpus ? kab_xasprintf("%s, %s CPUs", copy, cpus)
			    : *copy	   ? kab_xstrdup(copy)
			    : *cpus	   ? kab_xasprintf("%s CPUs", cpus)
					   : kab_xstrdup(""),
	};
	return 0;
}
