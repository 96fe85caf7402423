/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/export_submit.h"
#include "cli/find_run.h"
#include "exchange/bundle.h"
#include "exchange/export.h"
#include "store/dump.h"

/* Text in memory: a report of a million samples has about 200 MB. */
#define TEXT_MAX ((size_t)2 << 30)

struct ids {
	int64_t *v;
	size_t n, cap;
};

static bool has_id(const struct ids *ids, int64_t id)
{
	for (size_t i = 0; i < ids->n; i++)
		if (ids->v[i] == id)
			return true;
	return false;
}

/* The runs that were named, or the newest; each once. */
static int find_runs(struct kab_cli *cli, const struct kab_args *args, struct kab_store *store,
		     struct ids *ret, struct kab_err *err)
{
	size_t n = kab_args_n(args);

	for (size_t i = 0; i < (n ? n : 1); i++) {
		struct kab_run_info run;

		if (kab_cli_find_measured(cli, store, kab_args_at(args, i), &run, err))
			return -1;
		if (!has_id(ret, run.id))
			*KAB_PUSH(ret) = run.id;
		kab_run_info_release(&run);
	}
	return 0;
}

/* ---- bundles ---- */

/* A report quotes the noise floor of an A/A run: that run belongs to the bundle, in front. */
static int add_noise_runs(struct kab_cli *cli, struct kab_store *store, struct ids *ids,
			  struct kab_err *err)
{
	struct ids all = { 0 };

	for (size_t i = 0; i < ids->n; i++) {
		int64_t *v = NULL;
		size_t n = 0;

		if (kab_store_noise_runs(store, ids->v[i], &v, &n, err)) {
			free(all.v);
			return -1;
		}
		for (size_t k = 0; k < n; k++)
			if (!has_id(ids, v[k]) && !has_id(&all, v[k]))
				*KAB_PUSH(&all) = v[k];
		free(v);
	}
	if (all.n)
		kab_cli_say(cli,
			    "kab: note: with %zu A/A run%s whose noise floor the report quotes "
			    "(--no-noise leaves them out)",
			    all.n, all.n == 1 ? "" : "s");
	for (size_t i = 0; i < ids->n; i++)
		*KAB_PUSH(&all) = ids->v[i];
	free(ids->v);
	*ids = all;
	return 0;
}

/* A file beside the one that was named, then a rename: nobody ever sees half of it. */
static int write_bundle(struct kab_store *store, const struct ids *ids,
			const struct kab_bundle_opts *opts, const char *path,
			struct kab_bundle_info *info, struct kab_err *err)
{
	char *temporary kab_autofree = kab_xasprintf("%s.kab-%ld", path, (long)getpid());
	FILE *f = fopen(temporary, "wxe");
	int rc;

	if (!f)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot create '%s'", temporary);
	rc = kab_bundle_write(store, ids->v, ids->n, opts, f, path, info, err);
	if (!rc && (fflush(f) || fsync(fileno(f))))
		rc = kab_err_errno(err, KAB_ERR_ENV, "cannot write '%s'", path);
	fclose(f);
	if (!rc && rename(temporary, path))
		rc = kab_err_errno(err, KAB_ERR_ENV, "cannot rename '%s' to '%s'", temporary, path);
	if (rc)
		unlink(temporary);
	return rc;
}

static int export_bundle(struct kab_cli *cli, const struct kab_args *args, struct kab_store *store,
			 struct ids *ids, struct kab_err *err)
{
	const char *path = kab_args_get(args, "output");
	struct kab_bundle_opts opts = { .output = !kab_args_flag(args, "without-output"),
					.anonymous = kab_args_flag(args, "anonymous"),
					.kab_version = KAB_VERSION };
	struct kab_bundle_info info;
	int rc;

	if ((!path || !strcmp(path, "-")) && isatty(STDOUT_FILENO))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "a bundle is not for a terminal; name a file with --output");
	if (!kab_args_flag(args, "no-noise") && add_noise_runs(cli, store, ids, err))
		return -1;
	if (path && strcmp(path, "-"))
		rc = write_bundle(store, ids, &opts, path, &info, err);
	else
		rc = kab_bundle_write(store, ids->v, ids->n, &opts, cli->raw, "standard output",
				      &info, err);
	if (!rc)
		kab_cli_say(cli,
			    "kab: bundle of %zu run%s, %lld lines, %lld bytes unpacked\nSHA-256 %s",
			    info.runs, info.runs == 1 ? "" : "s", (long long)info.lines,
			    (long long)info.bytes, info.sha256);
	return rc;
}

/* ---- text ---- */

static int make_text(const struct kab_args *args, const char *format, const struct kab_export *runs,
		     size_t n, struct kab_buf *ret, struct kab_err *err)
{
	struct kab_export_opts opts = { .all = kab_args_flag(args, "all"),
					.names = kab_args_flag(args, "names"),
					.iterations = kab_args_flag(args, "iterations"),
					.kernel = kab_args_get(args, "kernel"),
					.origin = kab_args_get(args, "origin"),
					.lab = kab_args_get(args, "lab-name"),
					.kab_version = KAB_VERSION };

	if (!opts.origin)
		opts.origin = getenv("KAB_KCIDB_ORIGIN");
	if (!strcmp(format, "benchstat"))
		return kab_export_benchstat(runs, n, &opts, ret, err);
	if (!strcmp(format, "kcidb"))
		return kab_export_kcidb(runs, n, &opts, ret, err);
	if (!strcmp(format, "mmtests"))
		return n == 1 ? kab_export_mmtests(&runs[0], &opts, ret, err)
			      : kab_err_set(err, KAB_ERR_USAGE, "a file of mmtests is of one run");
	kab_export_csv(runs, n, &opts, ret);
	return 0;
}

static int export_text(struct kab_cli *cli, const struct kab_args *args, struct kab_store *store,
		       const struct ids *ids, const char *format, struct kab_buf *ret,
		       struct kab_err *err)
{
	struct kab_export *runs kab_autofree = kab_xcalloc(ids->n + 1, sizeof(*runs));
	size_t n = 0;
	int rc = 0;

	(void)cli;
	while (!rc && n < ids->n) {
		rc = kab_export_load(store, ids->v[n], &runs[n], err);
		n++;
	}
	if (!rc)
		rc = make_text(args, format, runs, n, ret, err);
	for (size_t i = 0; i < n; i++)
		kab_export_release(&runs[i]);
	if (!rc && ret->cut)
		rc = kab_err_set(err, KAB_ERR_UNSUPPORTED, "this is more than %zu bytes of text",
				 ret->max);
	return rc;
}

static int print_text(struct kab_cli *cli, const struct kab_args *args, const struct kab_buf *text,
		      struct kab_err *err)
{
	const char *path = kab_args_get(args, "output");
	/* Byte for byte, but a terminal is not driven by what it says. */
	FILE *out = isatty(STDOUT_FILENO) ? cli->out : cli->raw;

	if (path && strcmp(path, "-"))
		return kab_file_write(path, kab_buf_str(text), text->len, 0644, err);
	/* What is sent is not printed, too, unless that is asked for. */
	if (path || !kab_args_get(args, "submit"))
		fwrite(kab_buf_str(text), 1, text->len, out);
	return 0;
}

/* ---- the command ---- */

static int check(const struct kab_args *args, const char *format, struct kab_err *err)
{
	static const struct {
		const char *option, *format;
	} only[] = {
		{ "without-output", "bundle" }, { "anonymous", "bundle" }, { "no-noise", "bundle" },
		{ "iterations", "benchstat" },	{ "origin", "kcidb" },	   { "lab-name", "kcidb" },
		{ "submit", "kcidb" },
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(only); i++)
		if (kab_args_flag(args, only[i].option) && strcmp(format, only[i].format))
			return kab_err_set(err, KAB_ERR_USAGE, "--%s goes with --format %s",
					   only[i].option, only[i].format);
	if (!strcmp(format, "bundle") &&
	    (kab_args_get(args, "kernel") || kab_args_flag(args, "all") ||
	     kab_args_flag(args, "names")))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "a bundle has whole runs: no --kernel, --all or --names");
	return 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	const char *format = kab_args_get(args, "format");
	struct kab_err err = KAB_ERR_INIT;
	struct kab_store *store = NULL;
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	struct ids ids = { 0 };
	int rc, status;

	if (kab_args_flag(args, "submit-spool"))
		return kab_export_submit_spool(cli, args);
	format = format ? format : kab_args_get(args, "submit") ? "kcidb" : "csv";
	kab_buf_init(&text, TEXT_MAX);
	if (check(args, format, &err) || kab_cli_open_store(cli, KAB_STORE_READ, &store, &err))
		return kab_cli_fail(cli, &err);
	rc = find_runs(cli, args, store, &ids, &err);
	if (!rc && !strcmp(format, "bundle"))
		rc = export_bundle(cli, args, store, &ids, &err);
	else if (!rc)
		rc = export_text(cli, args, store, &ids, format, &text, &err);
	kab_store_close(store);
	free(ids.v);
	if (!rc && strcmp(format, "bundle"))
		rc = print_text(cli, args, &text, &err);
	if (rc)
		return kab_cli_fail(cli, &err);
	status = kab_args_get(args, "submit")
			 ? kab_export_submit(cli, args, kab_buf_str(&text), text.len)
			 : KAB_EXIT_OK;
	return kab_cli_finish(cli, status);
}

static const struct kab_opt opts[] = {
	{ "format", 'f', "FORMAT", "what to write (csv)", "csv|bundle|benchstat|kcidb|mmtests" },
	{ "output", 'o', "FILE", "to this file instead of standard output", NULL },
	{ "kernel", '\0', "LABEL", "only this kernel", NULL },
	{ "all", 'a', NULL, "also the metrics that carry no verdict", NULL },
	{ "names", '\0', NULL, "names of hosts, too", NULL },
	{ "without-output", '\0', NULL, "bundle: no raw output", NULL },
	{ "anonymous", '\0', NULL, "bundle: no names of hosts and users, no folders, no output",
	  NULL },
	{ "no-noise", '\0', NULL, "bundle: not the A/A runs whose noise floor is quoted", NULL },
	{ "iterations", '\0', NULL, "benchstat: a line for each iteration, not for each boot",
	  NULL },
	{ "origin", '\0', "NAME", "kcidb: who reports (else $KAB_KCIDB_ORIGIN)", NULL },
	{ "lab-name", '\0', "NAME", "kcidb: the name of the lab (the origin)", NULL },
	{ "submit", '\0', "URL", "kcidb: send the report there", NULL },
	{ "token-file", '\0', "FILE", "token for --submit (else $KAB_KCIDB_TOKEN)", NULL },
	{ "submit-for", '\0', "SECONDS", "try for so long before it is left in the spool (60)",
	  NULL },
	{ "submit-spool", '\0', NULL, "send what waits in the spool", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_export = {
	.name = "export",
	.summary = "write runs for another kab, a spreadsheet, benchstat, KCIDB or mmtests",
	.synopsis = "[--format F] [--output FILE] [RUN...] | --submit-spool",
	.description =
		"csv: a line for each sample, in full precision; what failed or is missing is a\n"
		"line with a word. 'kab import --csv' reads it.\n"
		"bundle: whole runs with raw output, for 'kab import --bundle' elsewhere; its\n"
		"SHA-256 is said. Passwords in URLs are never in it.\n"
		"benchstat: the Go benchmark format; a line is the mean of a boot, since lines\n"
		"are taken for independent.\n"
		"kcidb: a report for KCIDB, version 5.3; FAIL is only a regression that was "
		"tested\n"
		"over boots. --submit sends it; what the server does not take now waits in the\n"
		"spool, and nothing is sent twice.\n"
		"mmtests: what extract-mmtests.pl --print-json prints, of one kernel.\n\n"
		"Without RUN it is the newest one.",
	.example = "  kab export nightly-3 --format bundle --output nightly-3.kab\n"
		   "  kab export --format benchstat | benchstat -col kernel -\n"
		   "  kab export --submit https://example.org/submit --origin mylab --token-file "
		   "~/.kcidb",
	.completes = "run",
	.opts = opts,
	.min_pos = 0,
	.max_pos = -1,
	.run = run,
};
