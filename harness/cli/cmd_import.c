/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "exchange/import.h"
#include "runners/runner.h"

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

static int read_params(const struct kab_args *args, struct kab_params *params, struct kab_err *err)
{
	const char *text;

	for (size_t i = 0; (text = kab_args_nth(args, "param", i)); i++) {
		const char *equals = strchr(text, '=');
		char *name kab_autofree = NULL;

		if (!equals || equals == text)
			return kab_err_set(err, KAB_ERR_USAGE,
					   "option '--param' takes NAME=VALUE, not '%s'", text);
		name = kab_xstrndup(text, (size_t)(equals - text));
		kab_params_set(params, name, equals + 1);
	}
	return 0;
}

/* "LABEL=FILE", or a FILE of the only --kernel. */
struct log {
	char *kernel;
	const char *file;
	struct kab_buf bytes;
};

struct logs {
	struct log *v;
	size_t n, cap;
};

static void logs_release(struct logs *logs)
{
	for (size_t i = 0; i < logs->n; i++) {
		free(logs->v[i].kernel);
		kab_buf_release(&logs->v[i].bytes);
	}
	free(logs->v);
}

static int read_log(const struct kab_args *args, const char *word, struct logs *logs,
		    struct kab_err *err)
{
	const char *only = kab_args_nth(args, "kernel", 0), *equals = strchr(word, '=');
	char *label kab_autofree = equals ? kab_xstrndup(word, (size_t)(equals - word)) : NULL;
	struct log *log;

	if (label && (!kab_text_is_label(label) || !access(word, F_OK)))
		equals = NULL;
	if (!equals && (!only || kab_args_nth(args, "kernel", 1)))
		return kab_err_set(
			err, KAB_ERR_USAGE,
			"of which kernel is '%s'? write LABEL=%s, or one --kernel LABEL for "
			"all files",
			word, word);
	log = KAB_PUSH(logs);
	log->kernel = kab_xstrdup(equals ? label : only);
	log->file = equals ? equals + 1 : word;
	return kab_file_read(log->file, &log->bytes, err);
}

static int by_kernel(const struct kab_args *args, const struct logs *logs, const char *baseline,
		     struct kab_import_log *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv order = KAB_STRV_INIT;
	const char *label;
	size_t n = 0;

	if (baseline)
		kab_strv_add(&order, baseline);
	for (size_t i = 0; (label = kab_args_nth(args, "kernel", i)); i++)
		if (!kab_strv_has(&order, label))
			kab_strv_add(&order, label);
	for (size_t i = 0; i < logs->n; i++)
		if (!kab_strv_has(&order, logs->v[i].kernel))
			kab_strv_add(&order, logs->v[i].kernel);
	for (size_t k = 0; k < order.n; k++) {
		size_t before = n;

		for (size_t i = 0; i < logs->n; i++) {
			const struct log *l = &logs->v[i];

			if (!strcmp(l->kernel, order.v[k]))
				ret[n++] = (struct kab_import_log){ l->kernel, l->file,
								    kab_buf_str(&l->bytes),
								    l->bytes.len, l->bytes.cut };
		}
		if (n == before)
			return kab_err_set(err, KAB_ERR_USAGE, "no file is of kernel '%s'",
					   order.v[k]);
	}
	return 0;
}

static int read_logs(const struct kab_args *args, struct kab_import *ret, struct kab_err *err)
{
	struct logs logs = { 0 };
	struct kab_import_log *sorted kab_autofree = NULL;
	struct kab_params params = { 0 };
	struct kab_import_logs_opts opts = {
		.runner = kab_args_get(args, "runner"),
		.host = kab_args_get(args, "host"),
		.case_name = kab_args_get(args, "case"),
		.params = &params,
		.boots = kab_args_flag(args, "boots"),
	};
	int64_t exit_status;
	int rc = read_params(args, &params, err);

	if (!rc)
		rc = kab_args_int(args, "exit-status", 0, 255, KAB_EXIT_UNKNOWN, &exit_status, err);
	for (size_t i = 0; !rc && i < kab_args_n(args); i++)
		rc = read_log(args, kab_args_at(args, i), &logs, err);
	if (!rc && !logs.n)
		rc = kab_err_set(err, KAB_ERR_USAGE, "no file was named");
	if (!rc) {
		opts.exit_status = (int)exit_status;
		sorted = kab_xcalloc(logs.n + 1, sizeof(*sorted));
		rc = by_kernel(args, &logs, kab_args_get(args, "baseline"), sorted, err);
	}
	if (!rc)
		rc = kab_import_logs(sorted, logs.n, &opts, ret, err);
	logs_release(&logs);
	kab_params_release(&params);
	return rc;
}

static void say_failures(struct kab_cli *cli, const struct kab_import *import)
{
	for (size_t i = 0; i < import->n; i++)
		if (import->v[i].state == KAB_ITER_FAILED || import->v[i].log)
			if (import->v[i].reason)
				kab_cli_say(cli, "kab: note: %s, iteration %zu: %s",
					    import->v[i].kernel, i + 1, import->v[i].reason);
}

static int store_it(struct kab_cli *cli, const struct kab_args *args, struct kab_import *import,
		    struct kab_err *err)
{
	const char *csv = kab_args_get(args, "csv"), *name = kab_args_get(args, "name");
	char *command_line kab_autofree = kab_strv_join(&cli->command_line, " ");
	char *got kab_autofree = NULL;
	struct kab_import_opts opts = {
		.name = name ? name : "import",
		.command_line = command_line,
		.kab_version = KAB_VERSION,
		.source = csv ? "csv" : kab_args_get(args, "runner"),
	};
	struct kab_store *store;
	int64_t id;
	int rc;

	if (kab_args_num(args, "margin", 0, 1000, 2, &opts.margin_pct, err) ||
	    kab_cli_open_store(cli, KAB_STORE_WRITE, &store, err))
		return -1;
	rc = kab_import_store(store, import, &opts, &id, &got, err);
	kab_store_close(store);
	if (rc)
		return -1;
	if (name && strcmp(name, got))
		kab_cli_say(cli, "kab: note: there is a run '%s' already; this one is '%s'", name,
			    got);
	kab_cli_say(cli, "run '%s' (%lld): %zu iterations of %zu kernels, %zu failed", got,
		    (long long)id, import->n, import->kernels.n, import->n_failed);
	fprintf(cli->out, "%s\n", got);
	return 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	bool csv = kab_args_get(args, "csv"), runner = kab_args_get(args, "runner");
	const char *name = kab_args_get(args, "name");
	struct kab_err err = KAB_ERR_INIT;
	struct kab_import import = { 0 };
	int rc;

	if (csv == runner)
		kab_err_set(&err, KAB_ERR_USAGE, "give either --csv FILE or --runner RUNNER");
	else if (name && !kab_text_is_label(name))
		kab_err_set(&err, KAB_ERR_USAGE,
			    "'%s' is no name for a run: letters, digits and . _ + - are", name);
	if (err.code)
		return kab_cli_fail(cli, &err);
	rc = csv ? read_csv(args, &import, &err) : read_logs(args, &import, &err);
	if (!rc) {
		say_failures(cli, &import);
		rc = store_it(cli, args, &import, &err);
	}
	kab_import_release(&import);
	return rc ? kab_cli_fail(cli, &err) : kab_cli_finish(cli, KAB_EXIT_OK);
}

static const struct kab_opt opts[] = {
	{ "csv", '\0', "FILE", "results as comma separated values; - is standard input", NULL },
	{ "runner", '\0', "RUNNER", "the files are logs of this benchmark, one iteration each",
	  NULL },
	{ "kernel", '\0', "LABEL", "kernel of the files that name none; repeated: the order",
	  NULL },
	{ "baseline", '\0', "LABEL", "the kernel to compare with (the first one)", NULL },
	{ "case", '\0', "NAME", "with --runner: name of the case (the runner's name)", NULL },
	{ "host", '\0', "NAME", "with --runner: name of the host (import)", NULL },
	{ "param", '\0', "NAME=VALUE",
	  "with --runner: a parameter that it ran with; may be repeated", NULL },
	{ "exit-status", '\0', "N", "with --runner: exit status of the benchmark, if known", NULL },
	{ "boots", '\0', NULL, "with --runner: each file is from a boot of its own", NULL },
	{ "name", '\0', "NAME", "name of the run (import)", NULL },
	{ "margin", '\0', "PCT", "smallest effect of interest, percent (2)", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_import = {
	.name = "import",
	.summary = "make a run of results that were measured elsewhere",
	.synopsis = "--csv FILE | --runner RUNNER [LABEL=]FILE... [--name NAME]",
	.description = "The name that the run got is printed.\n\n"
		       "--csv reads a table whose first line names the columns: kernel, value, "
		       "and, where\n"
		       "there are any, host, condition, case, row, boot, iteration, metric, unit, "
		       "direction\n"
		       "(lower, higher or none). A value that is empty, or 'fail', is a failed "
		       "iteration.\n"
		       "Several lines of one metric in one iteration are repeated samples. Without "
		       "a boot\n"
		       "column all is taken to be from one boot, and gets no verdict.\n\n"
		       "--runner reads logs as 'kab parse' does, each one iteration; a log without "
		       "a figure\n"
		       "is a failed one. All of an import is stored, or nothing.",
	.example =
		"  kab import --csv results.csv --name before-after\n"
		"  kab import --runner hackbench base=1.log base=2.log patched=3.log patched=4.log",
	.completes = "file",
	.opts = opts,
	.min_pos = 0,
	.max_pos = -1,
	.run = run,
};
