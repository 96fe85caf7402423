/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Imported figures of which only n, mean and standard deviation are known; what was imported. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/rows.h"

int kab_store_put_summary(struct kab_store *store, int64_t run_id,
			  const struct kab_store_summary *s, struct kab_err *err)
{
	int64_t host, kernel;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_int(store, err, &host,
			 "SELECT id FROM run_host WHERE run_id = ? AND label = ?", "is", run_id,
			 s->host);
	if (!rc)
		rc = kab_sql_int(store, err, &kernel,
				 "SELECT id FROM run_kernel WHERE run_id = ? AND label = ?", "is",
				 run_id, s->kernel);
	if (rc == 1)
		rc = kab_err_set(err, KAB_ERR_INTERNAL, "the run has no host '%s' or kernel '%s'",
				 s->host, s->kernel);
	if (!rc)
		rc = kab_sql_run(store, err,
				 "INSERT INTO summary (run_id, run_host_id, run_kernel_id,"
				 " condition, case_name, row_key, runner, metric, unit, direction,"
				 " n, mean, stddev) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
				 "iiisssssssidd", run_id, host, kernel, s->condition, s->case_name,
				 s->row_key, s->runner, s->metric, s->unit,
				 kab_direction_name(s->dir), s->n, s->mean, s->sd);
	return kab_tx_end(store, rc, err, "store a summary of '%s'", s->metric);
}

int kab_store_find_import(struct kab_store *store, const char *sha256, char **ret_name,
			  struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	*ret_name = NULL;
	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT name FROM run WHERE suite_name = 'import'"
			     " AND plan_json ->> '$.import.sha256' = ?"
			     " ORDER BY id DESC LIMIT 1",
			     "s", sha256);
	rc = stmt ? kab_sql_step(store, stmt, err) : -1;
	if (rc == 1)
		*ret_name = kab_sql_text(stmt, 0);
	return rc == 1 ? 0 : rc == 0 ? 1 : -1;
}

#define SUMMARY_SQL                                                                                \
	"SELECT rh.label, rk.label, s.condition, s.case_name, s.row_key, s.runner, s.metric,"      \
	" s.unit, s.direction, s.n, s.mean, s.stddev FROM summary s"                               \
	" JOIN run_host rh ON rh.id = s.run_host_id JOIN run_kernel rk ON rk.id = s.run_kernel_id" \
	" WHERE s.run_id = ? ORDER BY s.id"

void kab_summary_info_release(struct kab_summary_info *info)
{
	free(info->host);
	free(info->kernel);
	free(info->condition);
	free(info->case_name);
	free(info->row_key);
	free(info->runner);
	free(info->metric);
	free(info->unit);
	*info = (struct kab_summary_info){ 0 };
}

int kab_store_list_summaries(struct kab_store *store, int64_t run_id, struct kab_summary_info **ret,
			     size_t *ret_n, struct kab_err *err)
{
	struct {
		struct kab_summary_info *v;
		size_t n, cap;
	} list = { 0 };
	KAB_AUTOSTMT stmt = NULL;
	int rc = -1;

	*ret = NULL;
	*ret_n = 0;
	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err, SUMMARY_SQL, "i", run_id);
	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
		struct kab_summary_info *s = KAB_PUSH(&list);

		s->host = kab_sql_text(stmt, 0);
		s->kernel = kab_sql_text(stmt, 1);
		s->condition = kab_sql_text(stmt, 2);
		s->case_name = kab_sql_text(stmt, 3);
		s->row_key = kab_sql_text(stmt, 4);
		s->runner = kab_sql_text(stmt, 5);
		s->metric = kab_sql_text(stmt, 6);
		s->unit = kab_sql_text(stmt, 7);
		kab_direction_parse(kab_sql_str(stmt, 8), &s->dir);
		s->n = sqlite3_column_int64(stmt, 9);
		s->mean = sqlite3_column_double(stmt, 10);
		s->sd = kab_sql_double(stmt, 11);
	}
	if (rc) {
		for (size_t i = 0; i < list.n; i++)
			kab_summary_info_release(&list.v[i]);
		free(list.v);
		return -1;
	}
	*ret = list.v;
	*ret_n = list.n;
	return 0;
}

/* The place that the plan gives to a case, last where it says nothing. */
static int order_of(const struct rows *rows, size_t run, const char *case_name)
{
	for (size_t i = 0; i < rows->verdicts.n; i++)
		if (rows->verdicts.v[i].run == run &&
		    !strcmp(rows->verdicts.v[i].case_name, case_name))
			return rows->verdicts.v[i].order;
	return INT32_MAX;
}

int kab_rows_read_summaries(struct kab_store *store, struct rows *rows, size_t r,
			    struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	size_t hint = 0;
	int rc = -1;

	if (!rows->run[r].has_summaries)
		return 0;
	stmt = kab_sql_query(store, err, SUMMARY_SQL, "i", rows->run[r].id);
	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
		const char *case_name = kab_sql_str(stmt, 3);
		enum kab_direction dir = KAB_DIR_NONE;
		struct rows_summary *s = KAB_PUSH(&rows->summaries);

		kab_direction_parse(kab_sql_str(stmt, 8), &dir);
		s->run = r;
		if (kab_rows_kernel(store, rows, r, kab_sql_str(stmt, 1), &s->kernel, err))
			return -1;
		s->group = kab_rows_group(rows, &hint, kab_sql_str(stmt, 0), kab_sql_str(stmt, 2),
					  case_name, kab_sql_str(stmt, 4), kab_sql_str(stmt, 5),
					  order_of(rows, r, case_name));
		s->metric = kab_rows_metric(&rows->groups.v[s->group], kab_sql_str(stmt, 6),
					    kab_sql_str(stmt, 7), dir, ROWS_SAMPLE);
		s->n = (size_t)sqlite3_column_int64(stmt, 9);
		s->mean = sqlite3_column_double(stmt, 10);
		s->sd = kab_sql_double(stmt, 11);
	}
	return rc;
}
