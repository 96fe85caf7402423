/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is the database whole? Read-only: what can be repaired is said, not done. */
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/strv.h"
#include "store/internal.h"

#define DAMAGES_MAX 20

static const char repair[] = "put a backup in its place, or save what can be read with: "
			     "sqlite3 FILE .recover";

/* Damage ends the reading, but not the check. */
static void add_failure(struct kab_strv *problems, const struct kab_err *why)
{
	kab_strv_add(problems, why->text);
}

static void check_pages(struct kab_store *store, struct kab_strv *problems)
{
	struct kab_err why = KAB_ERR_INIT;
	KAB_AUTOSTMT stmt = kab_sql_query(store, &why, "PRAGMA integrity_check(20)", "");
	int rc = -1;

	for (int i = 0; i < DAMAGES_MAX && stmt && (rc = kab_sql_step(store, stmt, &why)) == 1;
	     i++) {
		const char *text = kab_sql_str(stmt, 0);

		if (strcmp(text, "ok"))
			kab_strv_addf(problems, "damaged: %s; %s", text, repair);
	}
	if (rc < 0)
		add_failure(problems, &why);
}

static void check_references(struct kab_store *store, struct kab_strv *problems)
{
	struct kab_err why = KAB_ERR_INIT;
	KAB_AUTOSTMT stmt = kab_sql_query(store, &why,
					  "SELECT \"table\", parent, count(*)"
					  " FROM pragma_foreign_key_check() GROUP BY 1, 2",
					  "");
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, &why)) == 1)
		kab_strv_addf(problems, "%lld rows of '%s' belong to nothing in '%s'; %s",
			      (long long)sqlite3_column_int64(stmt, 2), kab_sql_str(stmt, 0),
			      kab_sql_str(stmt, 1), repair);
	if (rc < 0)
		add_failure(problems, &why);
}

/* States that no program of ours leaves behind, not even when it is killed. */
static void check_states(struct kab_store *store, struct kab_strv *problems)
{
	static const struct {
		const char *sql, *what;
	} checks[] = {
		{ "SELECT count(*) FROM iteration i WHERE state = 'done' AND NOT EXISTS"
		  " (SELECT 1 FROM extraction x WHERE x.iteration_id = i.id)",
		  "iterations are done but have no reading" },
		{ "SELECT count(*) FROM iteration WHERE state = 'running' AND remote_id IS NULL",
		  "iterations are running without a name on their host" },
		{ "SELECT count(*) FROM run r WHERE state = 'complete' AND EXISTS"
		  " (SELECT 1 FROM iteration i WHERE i.run_id = r.id AND i.state IN"
		  " ('pending', 'running'))",
		  "runs are complete although iterations are not" },
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(checks); i++) {
		struct kab_err why = KAB_ERR_INIT;
		int64_t n = 0;

		if (kab_sql_int(store, &why, &n, checks[i].sql, "") < 0)
			add_failure(problems, &why);
		else if (n)
			kab_strv_addf(problems, "%lld %s; was the database edited?", (long long)n,
				      checks[i].what);
	}
}

/* SQLite has no checksums of its own: rubbish in a page of output is only seen by unpacking. */
static int check_outputs(struct kab_store *store, struct kab_strv *problems, struct kab_err *err)
{
	struct {
		struct {
			int64_t iteration;
			char *name;
		} * v;
		size_t n, cap;
	} list = { 0 };
	int rc = -1, bad = 0;

	{
		KAB_STORE_GUARD(store);
		KAB_AUTOSTMT stmt = kab_sql_query(
			store, err, "SELECT iteration_id, name FROM output ORDER BY id", "");

		while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
			(void)KAB_PUSH(&list);
			list.v[list.n - 1].iteration = sqlite3_column_int64(stmt, 0);
			list.v[list.n - 1].name = kab_sql_text(stmt, 1);
		}
	}
	for (size_t i = 0; i < list.n; i++) {
		struct kab_err why = KAB_ERR_INIT;
		char *data kab_autofree = NULL;
		size_t len;

		if (kab_store_output(store, list.v[i].iteration, list.v[i].name, &data, &len, NULL,
				     &why) < 0 &&
		    bad++ < DAMAGES_MAX)
			add_failure(problems, &why);
		free(list.v[i].name);
	}
	free(list.v);
	return rc;
}

int kab_store_check(struct kab_store *store, struct kab_strv *problems, struct kab_err *err)
{
	size_t before = problems->n;

	{
		KAB_STORE_GUARD(store);

		check_pages(store, problems);
		/* In a damaged file the rest would be the same damage again. */
		if (problems->n > before)
			return 0;
		check_references(store, problems);
		check_states(store, problems);
	}
	return check_outputs(store, problems, err);
}

int kab_store_journal(struct kab_store *store, char **ret, struct kab_err *err)
{
	char *log kab_autofree = kab_xasprintf("%s-wal", store->path);
	KAB_STORE_GUARD(store);
	KAB_AUTOSTMT stmt = kab_sql_query(store, err, "PRAGMA journal_mode", "");
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;
	struct stat st;

	if (rc < 0)
		return -1;
	if (strcmp(kab_sql_str(stmt, 0), "wal"))
		*ret = kab_xasprintf("undo journal (%s), in use only while something is written",
				     kab_sql_str(stmt, 0));
	else if (stat(log, &st) == 0 && st.st_size)
		*ret = kab_xasprintf("write-ahead log, %lld KiB; copy the database with 'kab "
				     "backup', not the file alone",
				     (long long)(st.st_size + 1023) / 1024);
	else
		*ret = kab_xstrdup("write-ahead log, empty");
	return 0;
}
