/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nights: what was planned, run and said. */
#include "store/nightly.h"

#include <string.h>

#include "base/alloc.h"
#include "store/internal.h"

#define NIGHT_COLUMNS                                                                  \
	"id, tree, date, state, purpose, begin_wall_ns, end_wall_ns, started_wall_ns," \
	" coalesce(finished_wall_ns, 0), test_label, test_spec, baseline_label,"       \
	" baseline_spec, baseline_why, reference_label, reference_spec, summary,"      \
	" coalesce(exit_status, -1)"

void kab_night_row_release(struct kab_night_row *r)
{
	free(r->tree);
	free(r->date);
	free(r->state);
	free(r->purpose);
	free(r->test_label);
	free(r->test_spec);
	free(r->baseline_label);
	free(r->baseline_spec);
	free(r->baseline_why);
	free(r->reference_label);
	free(r->reference_spec);
	free(r->summary);
	*r = (struct kab_night_row){ 0 };
}

void kab_night_run_row_release(struct kab_night_run_row *r)
{
	free(r->host);
	free(r->purpose);
	free(r->note);
	free(r->run_name);
	*r = (struct kab_night_run_row){ 0 };
}

void kab_night_remark_release(struct kab_night_remark *r)
{
	free(r->kind);
	free(r->host);
	free(r->text);
	*r = (struct kab_night_remark){ 0 };
}

static void fill_night(sqlite3_stmt *stmt, struct kab_night_row *r)
{
	*r = (struct kab_night_row){
		.id = sqlite3_column_int64(stmt, 0),
		.tree = kab_sql_text(stmt, 1),
		.date = kab_sql_text(stmt, 2),
		.state = kab_sql_text(stmt, 3),
		.purpose = kab_sql_text(stmt, 4),
		.begin_wall_ns = sqlite3_column_int64(stmt, 5),
		.end_wall_ns = sqlite3_column_int64(stmt, 6),
		.started_wall_ns = sqlite3_column_int64(stmt, 7),
		.finished_wall_ns = sqlite3_column_int64(stmt, 8),
		.test_label = kab_sql_text(stmt, 9),
		.test_spec = kab_sql_text(stmt, 10),
		.baseline_label = kab_sql_text(stmt, 11),
		.baseline_spec = kab_sql_text(stmt, 12),
		.baseline_why = kab_sql_text(stmt, 13),
		.reference_label = kab_sql_text(stmt, 14),
		.reference_spec = kab_sql_text(stmt, 15),
		.summary = kab_sql_text(stmt, 16),
		.exit_status = sqlite3_column_int(stmt, 17),
	};
}

/* Expects the lock. */
static int find_night(struct kab_store *store, const char *tree, const char *date,
		      struct kab_night_row *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	stmt = kab_sql_query(store, err,
			     "SELECT " NIGHT_COLUMNS " FROM nightly_night"
			     " WHERE tree = ? AND date = ?",
			     "ss", tree, date);
	if (!stmt)
		return -1;
	rc = kab_sql_step(store, stmt, err);
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	fill_night(stmt, ret);
	return 0;
}

int kab_store_night_find(struct kab_store *store, const char *tree, const char *date,
			 struct kab_night_row *ret, struct kab_err *err)
{
	KAB_STORE_GUARD(store);
	return find_night(store, tree, date, ret, err);
}

int kab_store_night_begin(struct kab_store *store, const char *tree, const char *date,
			  const char *state, int64_t begin_ns, int64_t end_ns, int64_t now_ns,
			  struct kab_night_row *ret, bool *ret_new, struct kab_err *err)
{
	int64_t before = 0;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_int(store, err, &before,
			 "SELECT count(*) FROM nightly_night WHERE tree = ? AND date = ?", "ss",
			 tree, date);
	if (rc == 0 && !before)
		rc = kab_sql_run(store, err,
				 "INSERT INTO nightly_night (tree, date, state, begin_wall_ns,"
				 " end_wall_ns, started_wall_ns) VALUES (?, ?, ?, ?, ?, ?)",
				 "sssiii", tree, date, state, begin_ns, end_ns, now_ns);
	/* What came to nothing may be tried again while its window is open; what kept it is said anew. */
	if (rc == 0 && before && !strcmp(state, "running"))
		rc = kab_sql_run(
			store, err,
			"DELETE FROM nightly_remark"
			" WHERE kind IN ('source', 'host', 'busy', 'publish', 'mail')"
			" AND night_id IN (SELECT id FROM nightly_night WHERE tree = ? AND date = ?"
			"  AND state IN ('missed', 'skipped', 'failed'))",
			"ss", tree, date);
	if (rc == 0 && before && !strcmp(state, "running"))
		rc = kab_sql_run(
			store, err,
			"UPDATE nightly_night SET state = 'running', finished_wall_ns = NULL,"
			" exit_status = NULL, summary = '', begin_wall_ns = ?1,"
			" end_wall_ns = ?2,"
			/* With runs of its own it stays with their kernels. */
			" purpose = CASE WHEN EXISTS (SELECT 1 FROM nightly_run r"
			"  WHERE r.night_id = nightly_night.id AND r.purpose <> 'confirm')"
			"  THEN purpose ELSE '' END,"
			" test_label = CASE WHEN EXISTS (SELECT 1 FROM nightly_run r"
			"  WHERE r.night_id = nightly_night.id AND r.purpose <> 'confirm')"
			"  THEN test_label ELSE '' END"
			" WHERE tree = ?3 AND date = ?4"
			" AND state IN ('missed', 'skipped', 'failed')",
			"iiss", begin_ns, end_ns, tree, date);
	if (rc == 0)
		rc = find_night(store, tree, date, ret, err);
	*ret_new = !before;
	return kab_tx_end(store, rc, err, "begin the night %s of %s", date, tree);
}

int kab_store_night_running(struct kab_store *store, const char *tree, struct kab_night_row *ret,
			    struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT " NIGHT_COLUMNS " FROM nightly_night WHERE tree = ?"
			     " AND state = 'running' ORDER BY id DESC LIMIT 1",
			     "s", tree);
	if (!stmt)
		return -1;
	rc = kab_sql_step(store, stmt, err);
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	fill_night(stmt, ret);
	return 0;
}

int kab_store_night_list(struct kab_store *store, const char *tree, size_t max,
			 struct kab_night_row **ret, size_t *ret_n, struct kab_err *err)
{
	struct {
		struct kab_night_row *v;
		size_t n, cap;
	} list = { 0 };
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT " NIGHT_COLUMNS " FROM nightly_night WHERE tree = ?"
			     " ORDER BY date DESC LIMIT ?",
			     "si", tree, (int64_t)max);
	if (!stmt)
		return -1;
	while ((rc = kab_sql_step(store, stmt, err)) > 0)
		fill_night(stmt, KAB_PUSH(&list));
	*ret = list.v;
	*ret_n = list.n;
	return rc;
}

int kab_store_night_kernels(struct kab_store *store, const struct kab_night_row *r,
			    struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "UPDATE nightly_night SET purpose = ?, test_label = ?, test_spec = ?,"
			 " baseline_label = ?, baseline_spec = ?, baseline_why = ?,"
			 " reference_label = ?, reference_spec = ? WHERE id = ?",
			 "ssssssssi", r->purpose, r->test_label, r->test_spec, r->baseline_label,
			 r->baseline_spec, r->baseline_why, r->reference_label, r->reference_spec,
			 r->id);
	return kab_tx_end(store, rc, err, "store the kernels of the night %s", r->date);
}

int kab_store_night_end(struct kab_store *store, int64_t id, const char *state, const char *summary,
			int exit_status, int64_t now_ns, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "UPDATE nightly_night SET state = ?, summary = ?, exit_status = ?,"
			 " finished_wall_ns = ? WHERE id = ?",
			 "ssiii", state, summary, (int64_t)exit_status, now_ns, id);
	return kab_tx_end(store, rc, err, "end night %lld", (long long)id);
}

int kab_store_night_add_run(struct kab_store *store, int64_t night_id, int64_t run_id,
			    const char *host, const char *purpose, const char *note,
			    struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "INSERT INTO nightly_run (night_id, run_id, host, purpose, note)"
			 " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			 "iisss", night_id, run_id, host, purpose, note ? note : "");
	return kab_tx_end(store, rc, err, "add run %lld to the night", (long long)run_id);
}

int kab_store_night_judged(struct kab_store *store, int64_t run_id, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err, "UPDATE nightly_run SET judged = 1 WHERE run_id = ?", "i",
			 run_id);
	return kab_tx_end(store, rc, err, "mark run %lld as judged", (long long)run_id);
}

int kab_store_night_runs(struct kab_store *store, int64_t night_id, struct kab_night_run_row **ret,
			 size_t *ret_n, struct kab_err *err)
{
	struct {
		struct kab_night_run_row *v;
		size_t n, cap;
	} list = { 0 };
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT n.run_id, n.host, n.purpose, n.note, r.name, n.judged, r.state"
			     " FROM nightly_run n JOIN run r ON r.id = n.run_id"
			     " WHERE n.night_id = ? ORDER BY n.run_id",
			     "i", night_id);
	if (!stmt)
		return -1;
	while ((rc = kab_sql_step(store, stmt, err)) > 0) {
		struct kab_night_run_row *r = KAB_PUSH(&list);

		r->run_id = sqlite3_column_int64(stmt, 0);
		r->host = kab_sql_text(stmt, 1);
		r->purpose = kab_sql_text(stmt, 2);
		r->note = kab_sql_text(stmt, 3);
		r->run_name = kab_sql_text(stmt, 4);
		r->judged = sqlite3_column_int(stmt, 5) != 0;
		kab_run_state_parse(kab_sql_str(stmt, 6), &r->state);
	}
	*ret = list.v;
	*ret_n = list.n;
	return rc;
}

int kab_store_night_remark(struct kab_store *store, int64_t night_id, const char *kind,
			   const char *host, const char *text, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "INSERT INTO nightly_remark (night_id, kind, host, text)"
			 " VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			 "isss", night_id, kind, host ? host : "", text);
	return kab_tx_end(store, rc, err, "keep a remark on the night");
}

int kab_store_night_remarks(struct kab_store *store, int64_t night_id,
			    struct kab_night_remark **ret, size_t *ret_n, struct kab_err *err)
{
	struct {
		struct kab_night_remark *v;
		size_t n, cap;
	} list = { 0 };
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT kind, host, text FROM nightly_remark WHERE night_id = ?"
			     " ORDER BY id",
			     "i", night_id);
	if (!stmt)
		return -1;
	while ((rc = kab_sql_step(store, stmt, err)) > 0) {
		struct kab_night_remark *r = KAB_PUSH(&list);

		r->kind = kab_sql_text(stmt, 0);
		r->host = kab_sql_text(stmt, 1);
		r->text = kab_sql_text(stmt, 2);
	}
	*ret = list.v;
	*ret_n = list.n;
	return rc;
}

int kab_store_typical_boot(struct kab_store *store, const char *host, double *ret_s,
			   struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	/* Between two boots of one run on one host lies a reboot, and little else. */
	stmt = kab_sql_query(
		store, err,
		"WITH b AS (SELECT b.id, b.run_host_id, b.sequence, b.proven_wall_ns AS proven,"
		"  (SELECT max(finished_wall_ns) FROM iteration i WHERE i.boot_id = b.id) AS last"
		"  FROM boot b JOIN run_host h ON h.id = b.run_host_id"
		"  WHERE h.label = ?1 AND b.restart = 0 AND b.proven_wall_ns IS NOT NULL"
		"  ORDER BY b.id DESC LIMIT 200),"
		" d AS (SELECT (n.proven - p.last) / 1e9 AS s FROM b p JOIN b n"
		"  ON n.run_host_id = p.run_host_id AND n.sequence = p.sequence + 1"
		"  WHERE p.last IS NOT NULL AND n.proven > p.last)"
		" SELECT s FROM d ORDER BY s LIMIT 1 OFFSET (SELECT count(*) / 2 FROM d)",
		"s", host);
	if (!stmt)
		return -1;
	rc = kab_sql_step(store, stmt, err);
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	*ret_s = kab_sql_double(stmt, 0);
	return 0;
}

int kab_store_night_case_last(struct kab_store *store, const char *tree, const char *host,
			      const char *case_name, const char *row_key, int64_t *ret_wall_ns,
			      struct kab_err *err)
{
	int64_t last = 0;
	int rc;

	KAB_STORE_GUARD(store);
	rc = kab_sql_int(store, err, &last,
			 "SELECT coalesce(max(i.started_wall_ns), 0) FROM nightly_night n"
			 " JOIN nightly_run r ON r.night_id = n.id AND r.purpose <> 'confirm'"
			 " JOIN iteration i ON i.run_id = r.run_id AND i.state = 'done'"
			 " WHERE n.tree = ? AND r.host = ? AND i.case_name = ? AND i.row_key = ?",
			 "ssss", tree, host, case_name, row_key);
	if (rc < 0)
		return -1;
	*ret_wall_ns = last;
	return last ? 0 : 1;
}
