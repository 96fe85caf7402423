/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/export_import.h"
#include "cli/import_sources.h"
#include "exchange/import.h"
#include "exchange/import_formats.h"
#include "runners/runner.h"

#define MANY_FILES 200 /* from here on their number is shown while they are read */
#define SAY_MAX 10

static int read_csv(const struct kab_args *args, struct kab_import *ret, struct kab_err *err)
{
	const char *file = kab_args_get(args, "csv");
	struct kab_buf kab_autobuf bytes = KAB_BUF_INIT;

	if (kab_args_n(args))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "with --csv there is one file, not also '%s'",
				   kab_args_at(args, 0));
	if (kab_file_read(file, &bytes, err))
		return -1;
	if (bytes.cut)
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is longer than %zu bytes", file,
				   bytes.len);
	return kab_import_csv(file, kab_buf_str(&bytes), bytes.len, kab_args_get(args, "baseline"),
			      ret, err);
}

static void tell(void *ctx, size_t done, size_t all)
{
	struct kab_cli *cli = ctx;

	if (all < MANY_FILES || !cli->terminal || cli->verbosity < 0)
		return;
	if (done == all)
		fprintf(stderr, "\r%zu files read            \n", all);
	else if (done % (MANY_FILES / 4) == 0)
		fprintf(stderr, "\r%zu of %zu files", done, all);
}

static int read_format(struct kab_cli *cli, const struct kab_args *args, const char *format,
		       struct kab_import *ret, struct kab_err *err)
{
	struct kab_sources sources = { 0 };
	struct kab_import_source *sorted kab_autofree = NULL;
	struct kab_params params = { 0 };
	struct kab_import_from from = {
		.runner = kab_args_get(args, "runner"),
		.host = kab_args_get(args, "host"),
		.case_name = kab_args_get(args, "case"),
		.params = &params,
		.match = kab_args_get(args, "match"),
		.boots = kab_args_flag(args, "boots"),
		.progress = tell,
		.ctx = cli,
	};
	int64_t exit_status;
	int rc = kab_args_params(args, &params, err);

	if (!rc)
		rc = kab_args_int(args, "exit-status", 0, 255, KAB_EXIT_UNKNOWN, &exit_status, err);
	if (!rc)
		rc = kab_args_int(args, "repeat", 2, 1000000, 0, &from.repeat, err);
	if (!rc)
		rc = kab_sources_find(args, &sources, err);
	if (!rc)
		rc = kab_sources_order(args, &sources, &sorted, err);
	if (!rc) {
		from.exit_status = (int)exit_status;
		rc = kab_import_format_find(format)->read(sorted, sources.n, &from, ret, err);
	}
	if (!rc)
		rc = kab_sources_baseline(args, &sources, format, ret, err);
	kab_sources_release(&sources);
	kab_params_release(&params);
	return rc;
}

static int set_directions(const struct kab_args *args, struct kab_import *import,
			  struct kab_err *err)
{
	struct kab_strv kab_autostrv lower = KAB_STRV_INIT, higher = KAB_STRV_INIT;
	const char *name;

	for (size_t i = 0; (name = kab_args_nth(args, "lower", i)); i++)
		kab_strv_add(&lower, name);
	for (size_t i = 0; (name = kab_args_nth(args, "higher", i)); i++)
		kab_strv_add(&higher, name);
	return kab_import_direct(import, &lower, &higher, err);
}

static void say_list(struct kab_cli *cli, const char *what, const struct kab_strv *list)
{
	for (size_t i = 0; i < list->n && i < SAY_MAX; i++)
		kab_cli_say(cli, "kab: %s: %s", what, list->v[i]);
	if (list->n > SAY_MAX)
		kab_cli_say(cli, "kab: %s: and %zu more (kab show)", what, list->n - SAY_MAX);
}

/* What stands behind the last colon of "FILE: why". */
static const char *why_of(const char *text)
{
	const char *why = text, *next;

	for (; (next = strstr(why, ": ")); why = next + 2)
		;
	return why;
}

/* Each reason once, with its first file. */
static void say_unread(struct kab_cli *cli, const struct kab_strv *unread)
{
	struct kab_strv kab_autostrv said = KAB_STRV_INIT;

	for (size_t i = 0; i < unread->n; i++) {
		const char *why = why_of(unread->v[i]);
		size_t n = 0;

		if (kab_strv_has(&said, why))
			continue;
		kab_strv_add(&said, why);
		for (size_t k = i; k < unread->n; k++)
			n += !strcmp(why_of(unread->v[k]), why);
		if (n > 1)
			kab_cli_say(cli, "kab: not read: %s, and %zu more like it", unread->v[i],
				    n - 1);
		else
			kab_cli_say(cli, "kab: not read: %s", unread->v[i]);
	}
}

static void say_what_was_found(struct kab_cli *cli, const struct kab_import *import)
{
	size_t said = 0, more = 0;

	if (import->boots_text)
		kab_cli_say(cli, "kab: note: boots: %s", import->boots_text);
	say_list(cli, "note", &import->notes);
	say_unread(cli, &import->unread);
	for (size_t i = 0; i < import->n; i++) {
		if (!import->v[i].reason)
			continue;
		if (said++ < SAY_MAX)
			kab_cli_say(cli, "kab: note: %s, iteration %zu: %s", import->v[i].kernel,
				    i + 1, import->v[i].reason);
		else
			more++;
	}
	if (more)
		kab_cli_say(cli, "kab: note: and %zu more iterations (kab show)", more);
	if (import->n && !import->boots_known)
		kab_cli_warn(cli,
			     "which values share a boot is not known: all of a kernel are taken "
			     "as one boot, and nothing is tested");
	if (import->summaries.n)
		kab_cli_warn(cli, "of summaries the boots are unknown: they are judged as if their "
				  "values were independent");
}

/* 0: new; 1: it is there already, and --again was not given; -1. */
static int look_for_same(struct kab_store *store, const struct kab_args *args,
			 const struct kab_import *import, struct kab_err *err)
{
	char hex[KAB_SHA256_HEX_SIZE], *name kab_autofree = NULL;
	int rc;

	if (kab_args_flag(args, "again"))
		return 0;
	kab_import_sha256(import, hex);
	rc = kab_store_find_import(store, hex, &name, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	kab_err_set(err, KAB_ERR_CONFIG,
		    "run '%s' was imported from the same content already; --again imports it once "
		    "more",
		    name);
	return 1;
}

static int store_it(struct kab_cli *cli, const struct kab_args *args, const char *source,
		    struct kab_import *import, struct kab_err *err)
{
	const char *name = kab_args_get(args, "name");
	char *command_line kab_autofree = kab_strv_join(&cli->command_line, " ");
	char *got kab_autofree = NULL;
	struct kab_import_opts opts = {
		.name = name ? name : "import",
		.command_line = command_line,
		.kab_version = KAB_VERSION,
		.source = source,
	};
	struct kab_store *store;
	int64_t id;
	int rc;

	if (kab_args_num(args, "margin", 0, 1000, 2, &opts.margin_pct, err) ||
	    kab_cli_open_store(cli, KAB_STORE_WRITE, &store, err))
		return -1;
	rc = look_for_same(store, args, import, err);
	if (!rc)
		rc = kab_import_store(store, import, &opts, &id, &got, err);
	kab_store_close(store);
	if (rc)
		return -1;
	if (name && strcmp(name, got))
		kab_cli_say(cli, "kab: note: there is a run '%s' already; this one is '%s'", name,
			    got);
	if (import->n)
		kab_cli_say(cli, "run '%s' (%lld): %zu iterations of %zu kernels, %zu failed", got,
			    (long long)id, import->n, import->kernels.n, import->n_failed);
	if (import->summaries.n)
		kab_cli_say(cli, "run '%s' (%lld): %zu summaries of %zu kernels", got,
			    (long long)id, import->summaries.n, import->kernels.n);
	if (import->kernels.n > 1)
		kab_cli_say(cli, "baseline: '%s' (--baseline changes it)", import->kernels.v[0]);
	fprintf(cli->out, "%s\n", got);
	return 0;
}

/* What would be stored, and whether it is there already; the database is not touched. */
static int only_show(struct kab_cli *cli, const struct kab_args *args,
		     const struct kab_import *import)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	struct kab_err err = KAB_ERR_INIT;
	struct kab_store *store;

	kab_import_describe(import, &text);
	fwrite(kab_buf_str(&text), 1, text.len, cli->out);
	if (kab_store_open(cli->db_path, KAB_STORE_READ, &store, &err))
		return 0;
	if (look_for_same(store, args, import, &err) == 1)
		kab_cli_say(cli, "kab: note: %s", err.text);
	kab_store_close(store);
	return 0;
}

/* What is to be read: "csv", a name of --from, or "logs"; NULL with a USAGE error. */
static const char *format_of(const struct kab_args *args, struct kab_err *err)
{
	const char *from = kab_args_get(args, "from");
	bool csv = kab_args_get(args, "csv"), runner = kab_args_get(args, "runner");

	if (csv + runner + (from != NULL) == 1)
		return csv ? "csv" : runner ? "logs" : from;
	kab_err_set(err, KAB_ERR_USAGE,
		    "give one of --csv FILE, --runner RUNNER, --from FORMAT and --bundle FILE");
	return NULL;
}

/* An option that would be passed over in silence is refused. */
static int check_options(const struct kab_args *args, const char *format, struct kab_err *err)
{
	static const struct {
		const char *option, *formats;
	} only[] = {
		{ "param", " logs " },
		{ "exit-status", " logs " },
		{ "repeat", " perf-stat " },
		{ "boots", " logs mmtests lkp perf-stat hyperfine " },
		{ "match", " logs mmtests perf-stat hyperfine " },
		{ "kernel", " logs mmtests lkp perf-stat hyperfine summary " },
		{ "host", " logs mmtests lkp perf-stat hyperfine summary " },
		{ "case", " logs mmtests lkp perf-stat hyperfine summary " },
	};
	char *word kab_autofree = kab_xasprintf(" %s ", format);

	for (size_t i = 0; i < KAB_ARRAY_SIZE(only); i++)
		if ((kab_args_get(args, only[i].option) || kab_args_flag(args, only[i].option)) &&
		    !strstr(only[i].formats, word))
			return kab_err_set(
				err, KAB_ERR_USAGE, "option '--%s' says nothing with %s%s",
				only[i].option,
				!strcmp(format, "csv")	  ? "--csv"
				: !strcmp(format, "logs") ? "--runner"
							  : "--from ",
				!strcmp(format, "csv") || !strcmp(format, "logs") ? "" : format);
	return 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	const char *name = kab_args_get(args, "name");
	struct kab_err err = KAB_ERR_INIT;
	struct kab_import import = { 0 };
	const char *format;
	int rc;

	if (kab_import_is_bundle(args))
		return kab_import_bundle(cli, args);
	format = format_of(args, &err);
	if (format && check_options(args, format, &err))
		return kab_cli_fail(cli, &err);
	if (format && name && !kab_text_is_label(name))
		kab_err_set(&err, KAB_ERR_USAGE,
			    "'%s' is no name for a run: letters, digits and . _ + - are", name);
	if (err.code)
		return kab_cli_fail(cli, &err);
	rc = !strcmp(format, "csv") ? read_csv(args, &import, &err)
				    : read_format(cli, args, format, &import, &err);
	if (!rc)
		rc = set_directions(args, &import, &err);
	if (!rc && kab_args_flag(args, "dry-run")) {
		rc = only_show(cli, args, &import);
	} else if (!rc) {
		say_what_was_found(cli, &import);
		rc = store_it(cli, args,
			      !strcmp(format, "logs") ? kab_args_get(args, "runner") : format,
			      &import, &err);
	}
	kab_import_release(&import);
	return rc ? kab_cli_fail(cli, &err) : kab_cli_finish(cli, KAB_EXIT_OK);
}

static const struct kab_opt opts[] = {
	{ "csv", '\0', "FILE", "results as comma separated values; - is standard input", NULL },
	{ "runner", '\0', "RUNNER", "the files are logs of this benchmark, one iteration each",
	  NULL },
	{ "from", '\0', "FORMAT", "what another tool wrote",
	  "mmtests|lkp|perf-stat|hyperfine|summary" },
	{ "bundle", '\0', "FILE", "runs that 'kab export --format bundle' wrote", NULL },
	{ "sha256", '\0', "HEX", "with --bundle: the hash that it has to have", NULL },
	{ "kernel", '\0', "LABEL[=PATH]",
	  "kernel of a path, or of those that name none; repeated: the order", NULL },
	{ "baseline", '\0', "LABEL", "the kernel to compare with (the first one)", NULL },
	{ "case", '\0', "NAME", "not with --csv: name of the case (the benchmark's)", NULL },
	{ "host", '\0', "NAME", "not with --csv: name of the host (import)", NULL },
	{ "param", '\0', "NAME=VALUE",
	  "with --runner: a parameter that it ran with; may be repeated", NULL },
	{ "exit-status", '\0', "N", "with --runner: exit status of the benchmark, if known", NULL },
	{ "match", '\0', "PATTERN", "only files whose name fits, as in *.log", NULL },
	{ "boots", '\0', NULL,
	  "each file (mmtests: each folder of a run) is from a boot of its own", NULL },
	{ "repeat", '\0', "N", "how often perf stat -r repeated", NULL },
	{ "lower", '\0', "METRIC", "less of this metric is better; may be repeated", NULL },
	{ "higher", '\0', "METRIC", "more of this metric is better; may be repeated", NULL },
	{ "name", '\0', "NAME", "name of the run (import)", NULL },
	{ "margin", '\0', "PCT", "smallest effect of interest, percent (2)", NULL },
	{ "dry-run", 'n', NULL, "print what would be stored, store nothing", NULL },
	{ "again", '\0', NULL, "also when the same content was imported before", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_import = {
	.name = "import",
	.summary = "make a run of results that were measured elsewhere",
	.synopsis = "--csv FILE | --runner RUNNER [LABEL=]PATH... | --from FORMAT [LABEL=]PATH...",
	.description =
		"The name that the run got is printed. All of an import is stored, or nothing.\n\n"
		"--csv reads a table whose first line names the columns: kernel, value, and, "
		"where\n"
		"there are any, host, condition, case, row, boot, iteration, metric, unit, "
		"direction\n"
		"(lower, higher or none). A value that is empty, or 'fail', is a failed "
		"iteration.\n"
		"Several lines of one metric in one iteration are repeated samples.\n\n"
		"--runner reads logs as 'kab parse' does, each one iteration; a log without a "
		"figure\n"
		"is a failed one. Below a folder, sub-folders are boots.\n\n"
		"--from mmtests reads work/log or work/log/RUN (hackbench), lkp a result root or\n"
		"a folder above (hackbench), perf-stat what perf stat wrote with -x or -j, "
		"hyperfine\n"
		"what --export-json wrote, summary a CSV or JSON table of kernel, n, mean, "
		"stddev.\n\n"
		"--bundle takes in whole runs, checked by their SHA-256; reports are the same as "
		"where\n"
		"they come from.\n\n"
		"Values whose boots are unknown are taken as one boot, and get no verdict. "
		"Summaries\n"
		"are tested as if their values were independent, with a warning.",
	.example = "  kab import --csv results.csv --name before-after\n"
		   "  kab import --runner hackbench --kernel base=logs/base --kernel "
		   "patched=logs/patched\n"
		   "  kab import --from mmtests --baseline 6.12 work/log --dry-run\n"
		   "  kab import --from lkp base=/lkp/result/hackbench/P/H/R/K/gcc-12/COMMIT "
		   "patched=...\n"
		   "  kab import --from perf-stat --lower task-clock base=a.csv patched=b.csv\n"
		   "  kab import --from hyperfine base=a.json patched=b.json\n"
		   "  kab import --from summary table.csv\n"
		   "  kab import --bundle nightly-3.kab",
	.completes = "file",
	.opts = opts,
	.min_pos = 0,
	.max_pos = -1,
	.run = run,
};
