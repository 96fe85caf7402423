/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nominations, and what trials and notes make of them. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "store/history.h"
#include "store/internal.h"

int kab_store_history_nominate(struct kab_store *store, struct kab_change *c, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(
		store, err,
		"INSERT INTO history_nomination (tree, date, since, wall_ns, host, condition,"
		" case_name, row_key, runner, metric, unit, direction, origin, gain_pct, p, phi,"
		" nights, before_label, before_spec, before_release, before_commit, after_label,"
		" after_spec, after_release, after_commit)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
		"?)",
		"sssisssssssssdddissssssss", c->series.tree, c->date, c->since, c->wall_ns,
		c->series.host, c->series.condition, c->series.case_name, c->series.row_key,
		c->series.runner, c->series.metric, c->series.unit,
		kab_direction_name(c->series.dir), c->origin, c->gain_pct, c->p, c->phi,
		(int64_t)c->nights, c->before.label, c->before.spec, c->before.release,
		c->before.commit, c->after.label, c->after.spec, c->after.release, c->after.commit);
	if (!rc)
		rc = kab_sql_int(store, err, &c->id, "SELECT last_insert_rowid()", "");
	return kab_tx_end(store, rc, err, "store a nomination of '%s'", c->series.case_name);
}

static int fill_change(sqlite3_stmt *s, struct kab_change *c)
{
	*c = (struct kab_change){
		.id = sqlite3_column_int64(s, 0),
		.date = kab_sql_text(s, 2),
		.since = kab_sql_text(s, 3),
		.wall_ns = sqlite3_column_int64(s, 4),
		.series = { .tree = kab_sql_text(s, 1),
			    .host = kab_sql_text(s, 5),
			    .condition = kab_sql_text(s, 6),
			    .case_name = kab_sql_text(s, 7),
			    .row_key = kab_sql_text(s, 8),
			    .runner = kab_sql_text(s, 9),
			    .metric = kab_sql_text(s, 10),
			    .unit = kab_sql_text(s, 11) },
		.origin = kab_sql_text(s, 13),
		.gain_pct = kab_sql_double(s, 14),
		.p = kab_sql_double(s, 15),
		.phi = kab_sql_double(s, 16),
		.nights = sqlite3_column_int(s, 17),
		.before = { .label = kab_sql_text(s, 18),
			    .spec = kab_sql_text(s, 19),
			    .identity = kab_xstrdup(""),
			    .release = kab_sql_text(s, 20),
			    .commit = kab_sql_text(s, 21) },
		.after = { .label = kab_sql_text(s, 22),
			   .spec = kab_sql_text(s, 23),
			   .identity = kab_xstrdup(""),
			   .release = kab_sql_text(s, 24),
			   .commit = kab_sql_text(s, 25) },
	};
	return kab_direction_parse(kab_sql_str(s, 12), &c->series.dir);
}

static void replace(char **place, char *text)
{
	free(*place);
	*place = text;
}

/* The first verdict stands; until there is one, each trial that could not tell counts. */
static int read_trials(struct kab_store *store, struct kab_change *c, struct kab_err *err)
{
	KAB_AUTOSTMT stmt =
		kab_sql_query(store, err,
			      "SELECT date, run_name, verdict, reason, gain_pct, lo_pct, hi_pct"
			      " FROM history_trial WHERE nomination_id = ? ORDER BY id",
			      "i", c->id);
	bool decided = false;
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
		const char *verdict = kab_sql_str(stmt, 2);

		if (decided)
			continue;
		replace(&c->confirm_run, kab_sql_text(stmt, 1));
		replace(&c->confirm_reason, kab_sql_text(stmt, 3));
		c->confirmed_gain_pct = kab_sql_double(stmt, 4);
		c->lo_pct = kab_sql_double(stmt, 5);
		c->hi_pct = kab_sql_double(stmt, 6);
		if (!strcmp(verdict, "open")) {
			if (++c->tries >= KAB_CHANGE_TRIES)
				c->state = KAB_CHANGE_DROPPED;
		} else if (!strcmp(verdict, "refuted")) {
			c->state = KAB_CHANGE_REFUTED;
			decided = true;
		} else {
			c->state = KAB_CHANGE_CONFIRMED;
			c->regressed = !strcmp(verdict, "regressed");
			replace(&c->confirmed, kab_sql_text(stmt, 0));
			decided = true;
		}
	}
	return rc;
}

static int read_notes(struct kab_store *store, struct kab_change *c, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = kab_sql_query(store, err,
					  "SELECT kind, date, who, why FROM history_note"
					  " WHERE nomination_id = ? ORDER BY id",
					  "i", c->id);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
		if (!strcmp(kab_sql_str(stmt, 0), "acknowledge")) {
			replace(&c->acknowledged, kab_sql_text(stmt, 1));
			replace(&c->acknowledged_by, kab_sql_text(stmt, 2));
			replace(&c->acknowledged_why, kab_sql_text(stmt, 3));
			if (c->state == KAB_CHANGE_CONFIRMED)
				c->state = KAB_CHANGE_ACKNOWLEDGED;
		} else {
			replace(&c->recovered, kab_sql_text(stmt, 1));
			replace(&c->recovered_why, kab_sql_text(stmt, 3));
		}
	}
	return rc;
}

int kab_store_history_changes(struct kab_store *store, const struct kab_history_filter *f,
			      int64_t id, struct kab_change_list *ret, struct kab_err *err)
{
	int rc = -1;

	*ret = (struct kab_change_list){ 0 };
	KAB_STORE_GUARD(store);
	if (kab_tx_read_begin(store, err))
		return -1;
	{
		KAB_AUTOSTMT stmt = kab_sql_query(
			store, err,
			"SELECT id, tree, date, since, wall_ns, host, condition, case_name,"
			" row_key, runner, metric, unit, direction, origin, gain_pct, p, phi,"
			" nights, before_label, before_spec, before_release, before_commit,"
			" after_label, after_spec, after_release, after_commit"
			" FROM history_nomination WHERE (?1 IS NULL OR tree = ?1)"
			" AND (?2 IS NULL OR host = ?2) AND (?3 IS NULL OR case_name = ?3)"
			" AND (?4 IS NULL OR metric = ?4) AND (?5 = 0 OR id = ?5) ORDER BY id",
			"ssssi", f->tree, f->host, f->case_name, f->metric, id);

		while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
			if (fill_change(stmt, KAB_PUSH(ret))) {
				rc = kab_err_set(err, KAB_ERR_STORE,
						 "database '%s' holds a state that is not known",
						 store->path);
				break;
			}
	}
	for (size_t i = 0; !rc && i < ret->n; i++) {
		struct kab_change *c = &ret->v[i];

		c->confirmed_gain_pct = c->lo_pct = c->hi_pct = NAN;
		rc = read_trials(store, c, err);
		if (!rc)
			rc = read_notes(store, c, err);
	}
	kab_tx_read_end(store);
	if (rc)
		kab_change_list_release(ret);
	return rc;
}

int kab_store_history_put_trial(struct kab_store *store, int64_t change_id,
				const struct kab_trial *t, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "INSERT OR IGNORE INTO history_trial (nomination_id, date, wall_ns,"
			 " run_id, run_name, verdict, reason, gain_pct, lo_pct, hi_pct, p, boots)"
			 " VALUES (?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?)",
			 "isiisssddddi", change_id, t->date, t->wall_ns, t->run_id, t->run_name,
			 t->verdict, t->reason, t->gain_pct, t->lo_pct, t->hi_pct, t->p,
			 (int64_t)t->boots);
	return kab_tx_end(store, rc, err, "store the trial of nomination %lld",
			  (long long)change_id);
}

int kab_store_history_trial(struct kab_store *store, int64_t change_id, const char *run_name,
			    char **ret_verdict, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	*ret_verdict = NULL;
	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT verdict FROM history_trial WHERE nomination_id = ?"
			     " AND run_name = ?",
			     "is", change_id, run_name);
	rc = stmt ? kab_sql_step(store, stmt, err) : -1;
	if (rc == 1)
		*ret_verdict = kab_sql_text(stmt, 0);
	return rc == 1 ? 0 : rc == 0 ? 1 : -1;
}
