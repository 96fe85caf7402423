/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/safe_out.h"
#include "transport/ssh_shared.h"

extern char **environ;

static void sink(void *ctx, enum kab_log_level level, const char *text)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	(void)ctx;
	kab_buf_addf(&buf, "kab: %s", level <= KAB_LOG_WARN ? "warning: " : "");
	kab_text_escape(&buf, text, strlen(text));
	kab_buf_addc(&buf, '\n');
	fwrite(buf.data, 1, buf.len, stderr);
}

/* A misspelt variable would silently use another database. */
static void check_environment(struct kab_cli *cli)
{
	static const char *const known[] = { "KAB_DB",
					     "KAB_LAB",
					     "KAB_SUITES",
					     "KAB_KCIDB_ORIGIN",
					     "KAB_KCIDB_TOKEN",
					     "KAB_EXTRA_FIXTURES",
					     NULL };

	for (char **e = environ; *e; e++) {
		char *name kab_autofree = NULL;
		const char *near;
		bool ok = false;

		if (strncmp(*e, "KAB_", 4))
			continue;
		name = kab_xstrndup(*e, strcspn(*e, "="));
		for (const char *const *k = known; *k; k++)
			ok = ok || !strcmp(*k, name);
		if (ok)
			continue;
		near = kab_text_nearest(name, known);
		kab_cli_warn(cli, "the environment variable '%s' is not known%s%s%s", name,
			     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
}

static const struct kab_cmd *find_command(const char *name)
{
	for (const struct kab_cmd *const *c = kab_commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static int unknown_command(const char *name)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	const char *near;

	for (const struct kab_cmd *const *c = kab_commands; *c; c++)
		kab_strv_add(&names, (*c)->name);
	near = kab_text_nearest(name, (const char *const *)kab_strv_argv(&names));
	if (near)
		fprintf(stderr, "kab: unknown command '%s'; did you mean '%s'?\n", name, near);
	else
		fprintf(stderr, "kab: unknown command '%s'; see 'kab help'\n", name);
	return KAB_EXIT_USAGE;
}

/* The command is the first word that is not a global option or its value. */
static int command_index(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1])
			return i;
		if (!strcmp(argv[i], "--db") || !strcmp(argv[i], "--lab") ||
		    !strcmp(argv[i], "--color"))
			i++;
	}
	return 0;
}

/* A core would hold the environment, and tokens are there. */
static void no_core(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) == 0) {
		limit.rlim_cur = 0;
		setrlimit(RLIMIT_CORE, &limit);
	}
}

int main(int argc, char **argv)
{
	struct kab_cli cli = { .out = kab_safe_out(STDOUT_FILENO), .raw = stdout, .cancel_fd = -1 };
	struct kab_err err = KAB_ERR_INIT;
	const struct kab_cmd *cmd = NULL;
	struct kab_args *args = NULL;
	int at = command_index(argc, argv), status, n = 0;
	char **rest;

	/* GSL's default handler aborts; every GSL call's return is checked instead. */
	gsl_set_error_handler_off();
	/* A limit on the size of files is an error of the write, not the end of kab. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	no_core();
	if (!cli.out)
		cli.out = stdout;
	cli.terminal = isatty(STDERR_FILENO);
	cli.color = cli.terminal && !getenv("NO_COLOR");
	cli.db_path = NULL;
	cli.lab_path = getenv("KAB_LAB");
	cli.ssh = kab_ssh_shared_new();
	for (int i = 0; i < argc; i++)
		kab_strv_add(&cli.command_line, argv[i]);

	rest = kab_xcalloc((size_t)argc + 1, sizeof(*rest));
	for (int i = 1; i < argc; i++)
		if (i != at)
			rest[n++] = argv[i];
	if (at) {
		cmd = find_command(argv[at]);
		if (!cmd) {
			status = unknown_command(argv[at]);
			goto out;
		}
	} else {
		for (int i = 0; i < n; i++)
			if (!strcmp(rest[i], "--version"))
				cmd = find_command("version");
		if (cmd)
			n = 0;
		else if (!n)
			cmd = NULL;
		else
			cmd = find_command("help");
		if (!cmd) {
			kab_cli_help(stderr, NULL);
			status = KAB_EXIT_USAGE;
			goto out;
		}
		if (n && strcmp(rest[0], "--help") && strcmp(rest[0], "-h") == 0)
			n = 0;
	}
	for (int i = 0; i < n; i++) {
		if (!strcmp(rest[i], "--"))
			break;
		if (!strcmp(rest[i], "--help") || !strcmp(rest[i], "-h")) {
			kab_cli_help(stdout, at ? cmd : NULL);
			status = kab_cli_finish(&cli, KAB_EXIT_OK);
			goto out;
		}
	}
	if (kab_args_parse(cmd, &cli, n, rest, &args, &err) < 0) {
		status = kab_cli_fail(&cli, &err);
		/* To git bisect run a small number is an answer. */
		for (int i = 0; i < n; i++)
			if (!strcmp(cmd->name, "bisect") && !strcmp(rest[i], "--step"))
				status = 128;
		goto out;
	}
	cli.log = (struct kab_log){
		.level = cli.verbosity >= 2   ? KAB_LOG_TRACE
			 : cli.verbosity == 1 ? KAB_LOG_DEBUG
					      : KAB_LOG_WARN,
		.sink = sink,
	};
	check_environment(&cli);
	status = kab_cli_finish(&cli, cmd->run(&cli, args));
out:
	if (cli.out)
		fclose(cli.out);
	kab_args_free(args);
	free(rest);
	kab_ssh_shared_free(cli.ssh);
	kab_strv_release(&cli.command_line);
	return status;
}
