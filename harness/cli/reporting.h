/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `kab report` and `kab compare` share: options, judging, printing, exit status. */
#ifndef KAB_CLI_REPORTING_H
#define KAB_CLI_REPORTING_H

#include "cli/cli.h"
#include "judge/judge.h"
#include "reports/report.h"

/* The rows of struct kab_opt for both commands. */
#define KAB_REPORTING_OPTS                                                                         \
	{ "style", 's', "STYLE", "how the tables look (default plain)", NULL },                    \
		{ "format", 'f', "FORMAT", "text, a page, or full precision for programs",         \
		  "text|csv|json|markdown|html" },                                                 \
		{ "output", 'o', "FILE", "write it there (default: standard output)", NULL },      \
		{ "metric", 'm', "METRIC", "only this metric", NULL },                             \
		{ "margin", '\0', "PCT", "smallest change of interest (default: the suite's)",     \
		  NULL },                                                                          \
		{ "confidence", '\0', "P", "confidence in percent (default 95)", NULL },           \
		{ "correction", '\0', "KIND", "for several rows (default holm)", "holm|bh|none" }, \
		{ "pm", '\0', "KIND", "what stands behind +/- (default cv)", "cv|sd|sem|ci95" },   \
		{ "sort", '\0', "ORDER", "order of the rows (default suite)", "suite|effect" },    \
		{ "side", '\0', "WHAT", "conditions or hosts side by side", "condition|host" },    \
		{ "explain", 'x', "ROW", "every number between samples and verdict of a row",      \
		  NULL },                                                                          \
		{ "gate", '\0', NULL, "exit with 1 when something regressed", NULL },              \
		{ "wide", 'w', NULL, "no limit of 76 columns", NULL },                             \
		{ "exact", '\0', NULL, "the byte layout of the tool the style is named after",     \
		  NULL },                                                                          \
		{ "short", '\0', NULL, "three lines and the tables, for a changelog", NULL },      \
		{ "all", 'a', NULL, "also the metrics that carry no verdict", NULL },              \
		{ "judged", '\0', NULL, "only metrics that carry a verdict: the default", NULL },  \
		{ "names", '\0', NULL, "print host names and paths, too", NULL },                  \
	{                                                                                          \
		0                                                                                  \
	}

struct kab_reporting {
	struct kab_judge_opts judge;
	struct kab_report_opts report;
	const char *format; /* "text", "csv", "json", "markdown", "html" */
	const char *output; /* file, or NULL: cli->out */
	const char *explain; /* row, or NULL */
	/* What a page is called: set by whoever knows the runs; borrowed, may be NULL. */
	const char *title, *origin;
	bool gate, names;
};

/* args NULL: the defaults. 0, or -1 (usage). */
int kab_reporting_options(const struct kab_args *args, struct kab_reporting *ret,
			  struct kab_err *err);
/* Print to cli->out, or into the file. preamble may be NULL. Returns 0, or -1 (a row to explain is not
 * there, the file cannot be written). */
int kab_reporting_print(struct kab_cli *cli, const struct kab_reporting *r,
			const struct kab_judgement *judgement, const struct kab_preamble *preamble,
			struct kab_err *err);
/* "run 3, suite quick, begun 2026-11-30T22:42:03Z": which run it is. Caller frees. */
char *kab_reporting_origin(const struct kab_run_info *run);
/* 5 when something failed or is missing, else 1 when gated and regressed, else 0. */
int kab_reporting_status(const struct kab_reporting *r, const struct kab_judgement *judgement);
/* Load, judge, print one run. Returns the exit status, errors have been said. name NULL: newest. */
int kab_reporting_run(struct kab_cli *cli, const char *name, const struct kab_reporting *r);

#endif
