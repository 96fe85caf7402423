/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reporting.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/circumstances.h"
#include "cli/find_run.h"
#include "reports/html.h"

/* A page of some ten thousand rows. */
#define OUTPUT_MAX ((size_t)512 << 20)

/* What would be ignored is refused: who asks for it believes to have got it. */
static int refuse_ignored(const struct kab_args *args, const struct kab_reporting *r,
			  struct kab_err *err)
{
	static const struct {
		const char *name;
		bool page; /* the HTML page knows it */
	} text_only[] = { { "style", false }, { "pm", false },	  { "side", false },
			  { "wide", false },  { "exact", false }, { "short", false },
			  { "sort", true } };
	bool html = !strcmp(r->format, "html");
	bool text = !strcmp(r->format, "text") || !strcmp(r->format, "markdown");

	if (text && !r->explain)
		return 0;
	if (!text && r->explain)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--explain prints text; leave out --format %s, which has the "
				   "figures of all rows",
				   r->format);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(text_only); i++) {
		const char *name = text_only[i].name;

		if (!kab_args_get(args, name) && !kab_args_flag(args, name))
			continue;
		if (r->explain)
			return kab_err_set(err, KAB_ERR_USAGE,
					   "--%s has no meaning for --explain, which prints every "
					   "number of a row",
					   name);
		if (!html || !text_only[i].page)
			return kab_err_set(err, KAB_ERR_USAGE,
					   "--%s is for text and has no meaning for --format %s",
					   name, r->format);
	}
	return 0;
}

int kab_reporting_options(const struct kab_args *args, struct kab_reporting *ret,
			  struct kab_err *err)
{
	const struct kab_judge_opts judge = KAB_JUDGE_OPTS_INIT;
	const char *word, *style = "plain";
	double confidence;

	memset(ret, 0, sizeof(*ret));
	ret->judge = judge;
	ret->format = "text";
	ret->report.style = kab_style_find("plain");
	ret->report.only_judged = true;
	if (!args)
		return 0;
	if (kab_args_num(args, "margin", 0, 99, -1, &ret->judge.margin_pct, err) < 0 ||
	    kab_args_num(args, "confidence", 50.1, 99.9999, 95, &confidence, err) < 0)
		return -1;
	ret->judge.confidence = confidence / 100;
	if ((word = kab_args_get(args, "correction")))
		kab_correction_parse(word, &ret->judge.correction);
	if ((word = kab_args_get(args, "pm")))
		kab_pm_parse(word, &ret->report.pm);
	if ((word = kab_args_get(args, "sort")) && !strcmp(word, "effect"))
		ret->report.sort = KAB_SORT_EFFECT;
	if ((word = kab_args_get(args, "side")))
		ret->report.side = !strcmp(word, "host") ? KAB_SIDE_HOST : KAB_SIDE_CONDITION;
	if ((word = kab_args_get(args, "format")))
		ret->format = word;
	if (!strcmp(ret->format, "markdown"))
		style = "markdown";
	if ((word = kab_args_get(args, "style")))
		style = word;
	ret->report.style = kab_style_find(style);
	if (!ret->report.style) {
		char *names kab_autofree = kab_style_names();

		return kab_err_set(err, KAB_ERR_USAGE, "unknown style '%s'; it is one of %s", style,
				   names);
	}
	ret->report.metric = kab_args_get(args, "metric");
	ret->output = kab_args_get(args, "output");
	ret->explain = kab_args_get(args, "explain");
	ret->gate = kab_args_flag(args, "gate");
	ret->names = kab_args_flag(args, "names");
	ret->report.wide = kab_args_flag(args, "wide");
	ret->report.exact = kab_args_flag(args, "exact");
	ret->report.brief = kab_args_flag(args, "short");
	/* --judged is the default. */
	ret->report.only_judged = !kab_args_flag(args, "all");
	return refuse_ignored(args, ret, err);
}

/* An error is for reading: no more rows than this stand in one. */
#define ROWS_NAMED 12

/* A row is named by any of: its whole name, a part of it, its sweep values. */
static bool is_meant(const struct kab_judged_row *row, const char *what, bool whole)
{
	char *name kab_autofree = kab_judged_row_name(row);

	return whole ? !strcmp(name, what) || !strcmp(row->data->row_key, what)
		     : strstr(name, what) != NULL;
}

/* Names the rows that there are, those with a verdict when there are any. */
static int no_such_row(const struct kab_judgement *j, const char *what, struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT, all = KAB_STRV_INIT;
	char *list kab_autofree = NULL, *more kab_autofree = NULL;
	const char *near;

	for (size_t r = 0; r < j->n; r++) {
		kab_strv_take(&all, kab_judged_row_name(&j->v[r]));
		if (j->v[r].verdict)
			kab_strv_add(&names, all.v[r]);
	}
	near = kab_text_nearest(what, (const char *const *)kab_strv_argv(&all));
	if (near)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "no row '%s'; did you mean '%s'?", what,
				   near);
	if (!names.n)
		kab_strv_copy(&names, &all);
	if (names.n > ROWS_NAMED)
		more = kab_xasprintf(", and %zu more", names.n - ROWS_NAMED);
	while (names.n > ROWS_NAMED)
		free(names.v[--names.n]);
	list = kab_strv_join(&names, ", ");
	return kab_err_set(err, KAB_ERR_NOT_FOUND, "no row '%s'; there is: %s%s", what, list,
			   more ? more : "");
}

static int explain(const struct kab_judgement *j, const char *what, struct kab_buf *out,
		   struct kab_err *err)
{
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;
	bool found = false;

	for (int pass = 0; pass < 3 && !found; pass++) {
		for (size_t r = 0; r < j->n; r++) {
			/* Rows with a verdict first; the others only when no such row is meant. */
			if (!is_meant(&j->v[r], what, pass == 0) || (pass == 1 && !j->v[r].verdict))
				continue;
			if (found)
				kab_strv_add(&lines, "");
			found = true;
			kab_judge_explain(j, r, &lines);
		}
	}
	for (size_t i = 0; i < lines.n; i++) {
		kab_text_escape_line(out, lines.v[i]);
		kab_buf_addc(out, '\n');
	}
	if (found)
		return 0;
	return no_such_row(j, what, err);
}

static int check_metric(const struct kab_reporting *r, const struct kab_judgement *j,
			struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	char *all kab_autofree = NULL;

	if (!r->report.metric)
		return 0;
	for (size_t i = 0; i < j->n; i++) {
		if (!strcmp(j->v[i].data->metric, r->report.metric))
			return 0;
		if (!kab_strv_has(&names, j->v[i].data->metric))
			kab_strv_add(&names, j->v[i].data->metric);
	}
	all = kab_strv_join(&names, ", ");
	return kab_err_set(err, KAB_ERR_NOT_FOUND, "no metric '%s' here; there are %s",
			   r->report.metric, names.n ? all : "none");
}

char *kab_reporting_origin(const struct kab_run_info *run)
{
	char begun[24];

	kab_format_utc(run->created_wall_ns, begun);
	return kab_xasprintf("run %lld, suite %s, begun %s", (long long)run->id,
			     run->suite_name && *run->suite_name ? run->suite_name : "unknown",
			     begun);
}

int kab_reporting_print(struct kab_cli *cli, const struct kab_reporting *r,
			const struct kab_judgement *judgement, const struct kab_preamble *preamble,
			struct kab_err *err)
{
	const struct kab_html_about about = { r->title, r->origin, KAB_VERSION };
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;

	kab_buf_init(&out, OUTPUT_MAX);
	if (check_metric(r, judgement, err) < 0)
		return -1;
	if (r->explain) {
		if (explain(judgement, r->explain, &out, err) < 0)
			return -1;
	} else if (!strcmp(r->format, "csv")) {
		kab_report_csv(judgement, r->report.metric, &out);
	} else if (!strcmp(r->format, "json")) {
		kab_report_json(judgement, r->report.metric, preamble, &out);
	} else if (!strcmp(r->format, "html")) {
		kab_report_html(judgement, &r->report, preamble, &about, &out);
	} else {
		kab_report_text(judgement, &r->report, preamble, &out);
	}
	if (out.cut)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "the report is longer than %zu MiB; --metric makes it shorter",
				   OUTPUT_MAX >> 20);
	if (r->output && strcmp(r->output, "-") != 0)
		return kab_file_write(r->output, kab_buf_str(&out), out.len, 0644, err);
	fwrite(kab_buf_str(&out), 1, out.len, cli->out);
	return 0;
}

int kab_reporting_status(const struct kab_reporting *r, const struct kab_judgement *judgement)
{
	if (judgement->any_failed)
		return KAB_EXIT_RESULTS;
	return r->gate && judgement->any_regressed ? KAB_EXIT_REGRESSION : KAB_EXIT_OK;
}

int kab_reporting_run(struct kab_cli *cli, const char *name, const struct kab_reporting *r)
{
	struct kab_judgement judgement = { 0 };
	struct kab_preamble preamble = { 0 };
	struct kab_row_list rows = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_store *store = NULL;
	struct kab_run_info run = { 0 };
	struct kab_reporting titled = *r;
	char *origin kab_autofree = NULL;
	int status = -1;

	if (kab_cli_open_store(cli, KAB_STORE_READ, &store, &err) < 0)
		return kab_cli_fail(cli, &err);
	if (kab_cli_find_measured(cli, store, name, &run, &err) < 0 ||
	    kab_store_load_rows(store, &run.id, 1, &rows, &err) < 0)
		goto out;
	if (!rows.n) {
		kab_err_set(&err, KAB_ERR_NOT_FOUND,
			    "run '%s' has no results yet; see 'kab show %s'", run.name, run.name);
		goto out;
	}
	titled.title = run.name;
	titled.origin = origin = kab_reporting_origin(&run);
	if (kab_judge(&rows, &r->judge, &judgement, &err) < 0 ||
	    kab_circumstances(store, &run, &judgement, r->names, &preamble, &err) < 0 ||
	    kab_reporting_print(cli, &titled, &judgement, &preamble, &err) < 0)
		goto out;
	status = kab_cli_finish(cli, kab_reporting_status(r, &judgement));
out:
	if (status < 0)
		status = kab_cli_fail(cli, &err);
	kab_preamble_release(&preamble);
	kab_judgement_release(&judgement);
	kab_row_list_release(&rows);
	kab_run_info_release(&run);
	kab_store_close(store);
	return status;
}
