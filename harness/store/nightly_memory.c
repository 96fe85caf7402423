/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What outlives a night: kernels, the baseline, hosts in quarantine, mails. */
#include <string.h>

#include "base/alloc.h"
#include "store/internal.h"
#include "store/nightly.h"

void kab_night_kernel_release(struct kab_night_kernel *k)
{
	free(k->identity);
	free(k->source);
	free(k->label);
	free(k->spec);
	free(k->commit);
	free(k->describe);
	free(k->tried);
	free(k->measured);
	*k = (struct kab_night_kernel){ 0 };
}

void kab_night_baseline_release(struct kab_night_baseline *b)
{
	free(b->label);
	free(b->spec);
	free(b->date);
	free(b->why);
	*b = (struct kab_night_baseline){ 0 };
}

void kab_quarantine_row_release(struct kab_quarantine_row *r)
{
	free(r->host);
	free(r->tree);
	free(r->date);
	free(r->reason);
	*r = (struct kab_quarantine_row){ 0 };
}

void kab_night_mail_row_release(struct kab_night_mail_row *r)
{
	free(r->date);
	free(r->kind);
	free(r->message_id);
	free(r->subject);
	free(r->message);
	*r = (struct kab_night_mail_row){ 0 };
}

/* ---- kernels ---- */

#define KERNEL_COLUMNS                                                                         \
	"id, identity, source, label, spec, commit_id, describe, is_release, tried, measured," \
	" seen_wall_ns"

static void read_kernel(sqlite3_stmt *stmt, struct kab_night_kernel *k)
{
	*k = (struct kab_night_kernel){
		.id = sqlite3_column_int64(stmt, 0),
		.identity = kab_sql_text(stmt, 1),
		.source = kab_sql_text(stmt, 2),
		.label = kab_sql_text(stmt, 3),
		.spec = kab_sql_text(stmt, 4),
		.commit = kab_sql_text(stmt, 5),
		.describe = kab_sql_text(stmt, 6),
		.is_release = sqlite3_column_int(stmt, 7) != 0,
		.tried = kab_sql_dup(stmt, 8),
		.measured = kab_sql_dup(stmt, 9),
		.seen_wall_ns = sqlite3_column_int64(stmt, 10),
	};
}

static int fill_kernel(struct kab_store *store, sqlite3_stmt *stmt, struct kab_night_kernel *k,
		       struct kab_err *err)
{
	int rc = kab_sql_step(store, stmt, err);

	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	read_kernel(stmt, k);
	return 0;
}

/* The label, or the label with a number that no other kernel of the tree has. Expects the lock. */
static int free_label(struct kab_store *store, const char *tree, const char *label, char **ret,
		      struct kab_err *err)
{
	for (int i = 1; i < 1000; i++) {
		char *name = i == 1 ? kab_xstrdup(label) : kab_xasprintf("%s-%d", label, i);
		int64_t n = 0;

		if (kab_sql_int(store, err, &n,
				"SELECT count(*) FROM nightly_kernel WHERE tree = ? AND label = ?",
				"ss", tree, name) < 0) {
			free(name);
			return -1;
		}
		if (!n) {
			*ret = name;
			return 0;
		}
		free(name);
	}
	return kab_err_set(err, KAB_ERR_STORE, "there are 1000 kernels '%s' in '%s'", label, tree);
}

int kab_store_night_saw(struct kab_store *store, const char *tree, const struct kab_night_kernel *k,
			int64_t now_ns, char **ret_label, struct kab_err *err)
{
	struct kab_night_kernel known = { 0 };
	char *label kab_autofree = NULL;
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	stmt = kab_sql_query(store, err,
			     "SELECT " KERNEL_COLUMNS " FROM nightly_kernel WHERE tree = ?"
			     " AND identity = ?",
			     "ss", tree, k->identity);
	rc = stmt ? fill_kernel(store, stmt, &known, err) : -1;
	kab_sql_reset(&stmt);
	stmt = NULL;
	if (rc == 0)
		label = kab_xstrdup(known.label);
	if (rc == 1)
		rc = free_label(store, tree, k->label, &label, err);
	if (rc == 0 && !known.id)
		rc = kab_sql_run(store, err,
				 "INSERT INTO nightly_kernel (tree, identity, source, label, spec,"
				 " commit_id, describe, is_release, seen_wall_ns)"
				 " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
				 "sssssssii", tree, k->identity, k->source, label, k->spec,
				 k->commit ? k->commit : "", k->describe ? k->describe : "",
				 (int64_t)k->is_release, now_ns);
	kab_night_kernel_release(&known);
	if (kab_tx_end(store, rc, err, "keep the kernel '%s'", k->label) < 0)
		return -1;
	if (ret_label) {
		*ret_label = label;
		label = NULL;
	}
	return 0;
}

int kab_store_night_kernel(struct kab_store *store, const char *tree, const char *identity,
			   const char *label, struct kab_night_kernel *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT " KERNEL_COLUMNS " FROM nightly_kernel WHERE tree = ?1 AND"
			     " CASE WHEN ?2 IS NULL THEN label = ?3 ELSE identity = ?2 END",
			     "sss", tree, identity, label);
	return stmt ? fill_kernel(store, stmt, ret, err) : -1;
}

int kab_store_night_last_measured(struct kab_store *store, const char *tree, const char *before,
				  bool only_releases, struct kab_night_kernel *ret,
				  struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT " KERNEL_COLUMNS " FROM nightly_kernel WHERE tree = ?1"
			     " AND measured IS NOT NULL AND (?2 IS NULL OR measured < ?2)"
			     " AND is_release >= ?3 ORDER BY measured DESC, id DESC LIMIT 1",
			     "ssi", tree, before, (int64_t)only_releases);
	return stmt ? fill_kernel(store, stmt, ret, err) : -1;
}

int kab_store_night_tried(struct kab_store *store, const char *tree, const char *label,
			  const char *date, bool results, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "UPDATE nightly_kernel SET tried = coalesce(tried, ?1), measured ="
			 " CASE WHEN ?2 THEN coalesce(measured, ?1) ELSE measured END"
			 " WHERE tree = ?3 AND label = ?4",
			 "siss", date, (int64_t)results, tree, label);
	return kab_tx_end(store, rc, err, "note that '%s' was tried", label);
}

int kab_store_night_kernel_list(struct kab_store *store, const char *tree,
				struct kab_night_kernel **ret, size_t *ret_n, struct kab_err *err)
{
	struct {
		struct kab_night_kernel *v;
		size_t n, cap;
	} list = { 0 };
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT " KERNEL_COLUMNS " FROM nightly_kernel WHERE tree = ?"
			     " ORDER BY id DESC",
			     "s", tree);
	if (!stmt)
		return -1;
	while ((rc = kab_sql_step(store, stmt, err)) > 0)
		read_kernel(stmt, KAB_PUSH(&list));
	*ret = list.v;
	*ret_n = list.n;
	return rc;
}

int kab_store_night_releases(struct kab_store *store, const char *tree, struct kab_strv *ret,
			     struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT k.release FROM nightly_night n"
			     " JOIN nightly_run r ON r.night_id = n.id"
			     " JOIN boot b ON b.run_id = r.run_id"
			     " JOIN kernel k ON k.id = b.kernel_id WHERE n.tree = ?"
			     " GROUP BY k.release ORDER BY max(b.id) DESC",
			     "s", tree);
	if (!stmt)
		return -1;
	while ((rc = kab_sql_step(store, stmt, err)) > 0)
		kab_strv_add(ret, kab_sql_str(stmt, 0));
	return rc;
}

/* ---- baseline ---- */

int kab_store_night_baseline(struct kab_store *store, const char *tree,
			     struct kab_night_baseline *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT label, spec, date, why FROM nightly_baseline WHERE tree = ?"
			     " ORDER BY date DESC LIMIT 1",
			     "s", tree);
	if (!stmt)
		return -1;
	rc = kab_sql_step(store, stmt, err);
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	*ret = (struct kab_night_baseline){ .label = kab_sql_text(stmt, 0),
					    .spec = kab_sql_text(stmt, 1),
					    .date = kab_sql_text(stmt, 2),
					    .why = kab_sql_text(stmt, 3) };
	return 0;
}

int kab_store_night_set_baseline(struct kab_store *store, const char *tree,
				 const struct kab_night_baseline *b, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "INSERT INTO nightly_baseline (tree, label, spec, date, why)"
			 " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			 "sssss", tree, b->label, b->spec, b->date, b->why);
	return kab_tx_end(store, rc, err, "move the baseline to '%s'", b->label);
}

/* ---- hosts ---- */

int kab_store_host_night(struct kab_store *store, const char *host, const char *tree,
			 const char *date, bool failed, const char *reason, int *ret_in_row,
			 struct kab_err *err)
{
	int64_t in_row = 0;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "INSERT INTO nightly_strike (host, tree, date, failed, reason)"
			 " VALUES (?, ?, ?, ?, ?) ON CONFLICT (host, tree, date) DO UPDATE"
			 " SET failed = excluded.failed, reason = excluded.reason",
			 "sssis", host, tree, date, (int64_t)failed, reason ? reason : "");
	/* A release from quarantine wipes the slate: see kab_store_unquarantine(). */
	if (rc == 0)
		rc = kab_sql_int(store, err, &in_row,
				 "SELECT count(*) FROM nightly_strike WHERE host = ?1 AND failed"
				 " AND date > coalesce((SELECT max(date) FROM nightly_strike"
				 "  WHERE host = ?1 AND NOT failed), '')",
				 "s", host);
	*ret_in_row = (int)in_row;
	return kab_tx_end(store, rc, err, "note how host '%s' did", host);
}

int kab_store_quarantine(struct kab_store *store, const char *host, const char *tree,
			 const char *date, const char *reason, int64_t now_ns, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "INSERT INTO nightly_quarantine (host, tree, date, since_wall_ns, reason)"
			 " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			 "sssis", host, tree, date, now_ns, reason);
	return kab_tx_end(store, rc, err, "put host '%s' into quarantine", host);
}

int kab_store_quarantined(struct kab_store *store, struct kab_quarantine_row **ret, size_t *ret_n,
			  struct kab_err *err)
{
	struct {
		struct kab_quarantine_row *v;
		size_t n, cap;
	} list = { 0 };
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT host, tree, date, reason, since_wall_ns"
			     " FROM nightly_quarantine WHERE released_wall_ns IS NULL"
			     " ORDER BY host",
			     "");
	if (!stmt)
		return -1;
	while ((rc = kab_sql_step(store, stmt, err)) > 0) {
		struct kab_quarantine_row *r = KAB_PUSH(&list);

		r->host = kab_sql_text(stmt, 0);
		r->tree = kab_sql_text(stmt, 1);
		r->date = kab_sql_text(stmt, 2);
		r->reason = kab_sql_text(stmt, 3);
		r->since_wall_ns = sqlite3_column_int64(stmt, 4);
	}
	*ret = list.v;
	*ret_n = list.n;
	return rc;
}

int kab_store_unquarantine(struct kab_store *store, const char *host, const char *who,
			   int64_t now_ns, struct kab_err *err)
{
	int64_t n = 0;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_int(store, err, &n,
			 "SELECT count(*) FROM nightly_quarantine WHERE host = ?"
			 " AND released_wall_ns IS NULL",
			 "s", host);
	if (rc == 0 && n)
		rc = kab_sql_run(store, err,
				 "UPDATE nightly_quarantine SET released_wall_ns = ?,"
				 " released_by = ? WHERE host = ? AND released_wall_ns IS NULL",
				 "iss", now_ns, who, host);
	/* Old failures do not count again. */
	if (rc == 0)
		rc = kab_sql_run(store, err, "DELETE FROM nightly_strike WHERE host = ?", "s",
				 host);
	if (kab_tx_end(store, rc, err, "release host '%s'", host) < 0)
		return -1;
	return n ? 0 : 1;
}

/* ---- mails ---- */

#define MAIL_COLUMNS "date, kind, message_id, subject, message, sent_wall_ns IS NOT NULL"

static void fill_mail(sqlite3_stmt *stmt, struct kab_night_mail_row *r)
{
	r->date = kab_sql_text(stmt, 0);
	r->kind = kab_sql_text(stmt, 1);
	r->message_id = kab_sql_text(stmt, 2);
	r->subject = kab_sql_text(stmt, 3);
	r->message = kab_sql_text(stmt, 4);
	r->sent = sqlite3_column_int(stmt, 5) != 0;
}

int kab_store_night_put_mail(struct kab_store *store, const char *tree,
			     const struct kab_night_mail_row *mail, struct kab_err *err)
{
	int64_t n = 0;
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_int(store, err, &n,
			 "SELECT count(*) FROM nightly_mail WHERE tree = ? AND date = ?", "ss",
			 tree, mail->date);
	if (rc == 0 && !n)
		rc = kab_sql_run(store, err,
				 "INSERT INTO nightly_mail (tree, date, kind, message_id, subject,"
				 " message) VALUES (?, ?, ?, ?, ?, ?)",
				 "ssssss", tree, mail->date, mail->kind, mail->message_id,
				 mail->subject, mail->message);
	if (kab_tx_end(store, rc, err, "keep the mail of the night") < 0)
		return -1;
	return n ? 1 : 0;
}

static int one_mail(struct kab_store *store, sqlite3_stmt *stmt, struct kab_night_mail_row *ret,
		    struct kab_err *err)
{
	int rc = kab_sql_step(store, stmt, err);

	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	fill_mail(stmt, ret);
	return 0;
}

int kab_store_night_first_mail(struct kab_store *store, const char *tree, const char *kind,
			       struct kab_night_mail_row *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT " MAIL_COLUMNS " FROM nightly_mail WHERE tree = ?"
			     " AND kind = ? ORDER BY id LIMIT 1",
			     "ss", tree, kind);
	return stmt ? one_mail(store, stmt, ret, err) : -1;
}

int kab_store_night_last_mail(struct kab_store *store, const char *tree, const char *kind,
			      struct kab_night_mail_row *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT " MAIL_COLUMNS " FROM nightly_mail WHERE tree = ?1"
			     " AND (?2 IS NULL OR kind = ?2) ORDER BY id DESC LIMIT 1",
			     "ss", tree, kind);
	return stmt ? one_mail(store, stmt, ret, err) : -1;
}

int kab_store_night_unsent(struct kab_store *store, const char *tree,
			   struct kab_night_mail_row **ret, size_t *ret_n, struct kab_err *err)
{
	struct {
		struct kab_night_mail_row *v;
		size_t n, cap;
	} list = { 0 };
	KAB_AUTOSTMT stmt = NULL;
	int rc;

	KAB_STORE_GUARD(store);
	stmt = kab_sql_query(store, err,
			     "SELECT " MAIL_COLUMNS " FROM nightly_mail WHERE tree = ?"
			     " AND sent_wall_ns IS NULL ORDER BY id",
			     "s", tree);
	if (!stmt)
		return -1;
	while ((rc = kab_sql_step(store, stmt, err)) > 0)
		fill_mail(stmt, KAB_PUSH(&list));
	*ret = list.v;
	*ret_n = list.n;
	return rc;
}

int kab_store_night_mail_sent(struct kab_store *store, const char *tree, const char *date,
			      int64_t now_ns, struct kab_err *err)
{
	int rc;

	KAB_STORE_GUARD(store);
	if (kab_tx_begin(store, err))
		return -1;
	rc = kab_sql_run(store, err,
			 "UPDATE nightly_mail SET sent_wall_ns = ? WHERE tree = ? AND date = ?",
			 "iss", now_ns, tree, date);
	return kab_tx_end(store, rc, err, "note that the mail was sent");
}
