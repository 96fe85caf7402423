/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is written of a night: the report, the files of the archive. */
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "jobs/history.h"
#include "jobs/night.h"
#include "jobs/night_text.h"
#include "transport/child.h"

#define PUBLISH_S 1800.0

static const struct {
	const char *kind, *head;
} heads[] = {
	{ "noboot", "Kernels that do not boot" },
	{ "quarantined", "Hosts put into quarantine (back with: kab hosts --recheck)" },
	{ "quarantine", "Hosts in quarantine: nothing was measured there" },
	{ "host", "Hosts that failed" },
	{ "busy", "Hosts that were in use by others" },
	{ "failed", "Cases without a result" },
	{ "missing", "Cases that cannot run" },
	{ "cut", "Left out" },
	{ "waits", "Put off" },
	{ "unconfirmed", "Not confirmed" },
	{ "source", "Sources that could not be read" },
	{ "publish", "Publishing" },
	{ "mail", "Mail" },
	{ "noise", "Noise floor" },
};

/* Remarks under their heads, only those kinds for which `wanted` says so. */
static int remarks(struct kab_night *night, struct kab_buf *out, struct kab_err *err)
{
	struct kab_night_remark *v = NULL;
	size_t n = 0;

	if (kab_store_night_remarks(night->env->store, night->row.id, &v, &n, err) < 0)
		return -1;
	for (size_t k = 0; k < KAB_ARRAY_SIZE(heads); k++) {
		bool begun = false;

		for (size_t i = 0; i < n; i++) {
			char *text kab_autofree = NULL;

			if (strcmp(v[i].kind, heads[k].kind) != 0)
				continue;
			if (!begun)
				kab_buf_addf(out, "%s:\n", heads[k].head);
			begun = true;
			text = *v[i].host && strncmp(v[i].text, v[i].host, strlen(v[i].host)) != 0
				       ? kab_xasprintf("%s: %s", v[i].host, v[i].text)
				       : kab_xstrdup(v[i].text);
			kab_night_wrap(out, "  - ", text);
		}
		if (begun)
			kab_buf_addc(out, '\n');
	}
	for (size_t i = 0; i < n; i++)
		kab_night_remark_release(&v[i]);
	free(v);
	return 0;
}

static void kernel_line(struct kab_buf *out, const char *role, const struct kab_night_kernel *k,
			const char *why)
{
	char *text kab_autofree = NULL;

	if (!k->label)
		return;
	text = kab_xasprintf("%s%s%s%s%s%.12s%s", k->label, why ? ": " : "", why ? why : "",
			     k->commit && *k->commit ? " (" : "",
			     k->commit && *k->commit ? "commit " : "", k->commit ? k->commit : "",
			     k->commit && *k->commit ? ")" : "");
	kab_night_wrap(out, role, text);
}

static void head(struct kab_night *night, struct kab_buf *out)
{
	char from[24], to[24], *text kab_autofree = NULL;

	text = kab_xasprintf("night of %s, window %s to %s", night->window.date,
			     kab_window_local(night->window.from_ns, from),
			     kab_window_local(night->window.to_ns, to) + 11);
	kab_buf_addf(out, "Tree     : %s\n", night->c->name);
	kab_night_wrap(out, "Night    : ", text);
	kernel_line(out, "Test     : ", &night->k.test, night->k.test_why);
	kernel_line(out, "Baseline : ", &night->k.baseline, night->k.baseline_why);
	if (night->k.reference.label && night->k.test.label)
		kernel_line(out, "Reference: ", &night->k.reference,
			    "measured in the same blocks, for the history");
	if (night->blind || !*night->k.purpose) {
		char *none kab_autofree =
			night->blind
				? kab_xasprintf("nothing: %s", night->blind)
				: kab_xasprintf("no new kernel; policy '%s': nothing but what "
						"waits for confirmation",
						kab_unchanged_policy_name(night->c->unchanged));

		kab_night_wrap(out, "Measured : ", none);
	}
	kab_buf_addc(out, '\n');
}

/* The tables of one run, with what it was measured on. 1: it has none. */
static int tables(struct kab_night *night, const struct kab_night_run_row *row, bool brief,
		  struct kab_buf *out, struct kab_err *err)
{
	const struct kab_nightly_env *env = night->env;
	struct kab_report_opts opts = { .style = kab_style_find("plain"),
					.only_judged = true,
					.brief = brief };
	struct kab_night_verdict v = { 0 };
	struct kab_preamble preamble = { 0 };
	int status = kab_night_load_verdict(night, row->run_id, &v, err);

	if (status)
		return status;
	if (env->circumstances)
		status = env->circumstances(env->ctx, &v.info, &v.judgement, &preamble, err);
	if (status == 0) {
		kab_buf_addf(out, "Host %s%s, run %s\n\n", row->host,
			     !strcmp(row->purpose, "confirm") ? ", confirmation" : "",
			     row->run_name);
		kab_report_text(&v.judgement, &opts, env->circumstances ? &preamble : NULL, out);
		kab_buf_addc(out, '\n');
	}
	kab_preamble_release(&preamble);
	kab_night_verdict_release(&v);
	return status;
}

int kab_night_tables(struct kab_night *night, const char *only, bool brief, struct kab_buf *ret,
		     struct kab_err *err)
{
	struct kab_night_run_row *rows = NULL;
	size_t n = 0;
	int status = 0;

	if (kab_store_night_runs(night->env->store, night->row.id, &rows, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (status >= 0 && (!only || !strcmp(rows[i].run_name, only)))
			status = tables(night, &rows[i], brief, ret, err);
		kab_night_run_row_release(&rows[i]);
	}
	free(rows);
	return status < 0 ? -1 : 0;
}

int kab_night_remark_text(struct kab_night *night, struct kab_buf *ret, struct kab_err *err)
{
	return remarks(night, ret, err);
}

void kab_night_head_text(struct kab_night *night, struct kab_buf *ret)
{
	head(night, ret);
}

int kab_night_report(struct kab_night *night, struct kab_buf *ret, struct kab_err *err)
{
	head(night, ret);
	if (remarks(night, ret, err) < 0)
		return -1;
	return kab_night_tables(night, NULL, false, ret, err);
}

/* ---- the archive ---- */

static int write_file(const char *dir, const char *name, const char *suffix,
		      const struct kab_buf *buf, struct kab_err *err)
{
	char *path kab_autofree = kab_xasprintf("%s/%s%s", dir, name, suffix);

	return kab_file_write(path, kab_buf_str(buf), buf->len, 0644, err);
}

static int archive_run(struct kab_night *night, const char *dir,
		       const struct kab_night_run_row *row, struct kab_err *err)
{
	const struct kab_nightly_env *env = night->env;
	struct kab_buf kab_autobuf json = KAB_BUF_INIT, csv = KAB_BUF_INIT;
	struct kab_night_verdict v = { 0 };
	struct kab_preamble preamble = { 0 };
	int status = kab_night_load_verdict(night, row->run_id, &v, err);

	if (status)
		return status < 0 ? -1 : 0;
	if (env->circumstances)
		status = env->circumstances(env->ctx, &v.info, &v.judgement, &preamble, err);
	if (status == 0) {
		kab_report_json(&v.judgement, NULL, &preamble, &json);
		kab_report_csv(&v.judgement, NULL, &csv);
		status = write_file(dir, row->run_name, ".json", &json, err);
	}
	if (status == 0)
		status = write_file(dir, row->run_name, ".csv", &csv, err);
	kab_preamble_release(&preamble);
	kab_night_verdict_release(&v);
	return status;
}

static int write_archive(struct kab_night *night, const char *dir, struct kab_err *err)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	struct kab_night_run_row *rows = NULL;
	size_t n = 0;
	int status;

	if (kab_file_mkdirs(dir, 0755, err) < 0 || kab_night_report(night, &text, err) < 0 ||
	    write_file(dir, "report", ".txt", &text, err) < 0 ||
	    kab_store_night_runs(night->env->store, night->row.id, &rows, &n, err) < 0)
		return -1;
	status = 0;
	for (size_t i = 0; i < n; i++) {
		if (status == 0)
			status = archive_run(night, dir, &rows[i], err);
		kab_night_run_row_release(&rows[i]);
	}
	free(rows);
	return status;
}

static int publish(struct kab_night *night, const char *dir, struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(PUBLISH_S),
				 .cancel_fd = night->env->cancel_fd };
	struct kab_exec req = { .out_max = 65536, .err_max = 65536 };
	struct kab_exec_result res = { 0 };
	const char *said;
	size_t n = 0;
	int status;

	kab_strv_copy(&argv, &night->c->publish);
	kab_strv_add(&argv, dir);
	req.argv = (const char *const *)kab_strv_argv(&argv);
	if (kab_child_run(&req, &wait, &res, err) < 0)
		return -1;
	kab_buf_rtrim(&res.err, "\n ");
	said = kab_text_tail(kab_buf_str(&res.err), res.err.len, 1, &n);
	status = res.exit_status == 0
			 ? 0
			 : kab_err_set(err, KAB_ERR_ENV, "'%s' ended with status %d%s%.*s",
				       argv.v[0], res.exit_status, n ? ": " : "", (int)n, said);
	kab_exec_result_release(&res);
	return status;
}

/* The night was measured and is in the store: what goes wrong from here on is told, and no more. */
static int went_wrong(struct kab_night *night, const char *what, const struct kab_err *why,
		      struct kab_err *err)
{
	night->failures = true;
	kab_strv_addf(&night->news, "%s: %s", what, why->text);
	return kab_night_remark(night, "publish", "", err, "%s: %s", what, why->text);
}

int kab_night_archive(struct kab_night *night, struct kab_err *err)
{
	char *dir kab_autofree = NULL;
	struct kab_err why = KAB_ERR_INIT;

	if (!night->c->archive)
		return 0;
	dir = kab_xasprintf("%s/%s", night->c->archive, night->window.date);
	if (write_archive(night, dir, &why) < 0)
		return why.code == KAB_ERR_STORE
			       ? kab_err_set(err, why.code, "%s", why.text)
			       : went_wrong(night, "the archive is not complete", &why, err);
	if (night->c->publish.n && publish(night, dir, &why) < 0)
		return went_wrong(night, "publishing failed", &why, err);
	return 0;
}
