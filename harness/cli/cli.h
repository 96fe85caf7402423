/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line. Each command is one cmd_<name>.c that ends in `const struct kab_cmd
 * kab_cmd_<name>`, named in the table of cli/commands.c. Its option table is the only source for
 * parsing, `--help`, the man page's synopsis and shell completion.
 *
 * To add a command: write cli/cmd_<name>.c, declare and list it in cli/commands.c (and name the file
 * in CMakeLists.txt), give it a section in harness/man/kab.1. tests/arch fails on what was forgotten.
 *
 * stdout (cli->out) is data; stderr is talk. A command returns the exit status of DESIGN section 7.
 */
#ifndef KAB_CLI_CLI_H
#define KAB_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/log.h"
#include "base/strv.h"
#include "model/params.h"
#include "store/store.h"

enum kab_exit {
	KAB_EXIT_OK = 0,
	KAB_EXIT_REGRESSION = 1, /* with --gate */
	KAB_EXIT_USAGE = 2,
	KAB_EXIT_INPUT = 3,
	KAB_EXIT_HOST = 4,
	KAB_EXIT_RESULTS = 5, /* finished with failed or missing results; wins over 1 */
	KAB_EXIT_INTERNAL = 6,
	KAB_EXIT_BUSY = 7,
	KAB_EXIT_INTERRUPTED = 130,
};

struct kab_ssh_shared;

struct kab_cli {
	FILE *out; /* data; what would drive a terminal is escaped on its way: cli/safe_out.h */
	FILE *raw; /* data as it is, for bytes that were asked for as such */
	const char *db_path; /* --db; NULL: kab_store_open() decides */
	const char *lab_path; /* --lab; NULL: none, or the default lab file */
	int verbosity; /* -1 with -q, 0, 1 with -v, 2 with -v -v */
	bool color; /* talk on stderr may use colour */
	bool terminal; /* stderr is a terminal */
	struct kab_log log; /* for libraries; honours verbosity */
	struct kab_ssh_shared *ssh; /* what connections to hosts share */
	int cancel_fd; /* readable after the first SIGINT, SIGTERM or SIGHUP; -1 outside run */
	struct kab_strv command_line; /* as the user called us, for the record */
};

/* One option of a command. `arg` NULL: a flag, else the name of its value in help ("N"). */
struct kab_opt {
	const char *name; /* without "--" */
	char letter; /* '\0': long form only */
	const char *arg;
	const char *help; /* one line */
	const char *words; /* "a|b|c" when only these are allowed (checked, completed), or NULL */
};

struct kab_args; /* a parsed command line */

struct kab_cmd {
	const char *name;
	const char *summary; /* one line, lower case, no full stop */
	const char *synopsis; /* "SUITE --kernel LABEL=SPEC ..." : what stands behind the name */
	const char *description; /* paragraphs for --help; lines at most 78 columns */
	const char *example; /* at least one line that works */
	/* What positionals are: "run", "suite", "runner", "style", "file", fixed words "a|b|c", or NULL. */
	const char *completes;
	const struct kab_opt *opts; /* ends with name NULL; may be NULL */
	int min_pos, max_pos; /* number of positional arguments; max -1: any */
	int (*run)(struct kab_cli *cli, const struct kab_args *args);
};

/* The table, ends with NULL. */
extern const struct kab_cmd *const kab_commands[];
/* Global options, ends with name NULL. */
extern const struct kab_opt kab_global_opts[];

/* ---- arguments ---- */
size_t kab_args_n(const struct kab_args *args); /* positionals */
const char *kab_args_at(const struct kab_args *args, size_t i); /* NULL past the end */
bool kab_args_flag(const struct kab_args *args, const char *name);
const char *kab_args_get(const struct kab_args *args, const char *name); /* last given, or NULL */
/* i-th value of a repeatable option in the order given, or NULL. */
const char *kab_args_nth(const struct kab_args *args, const char *name, size_t i);
/* Every --param NAME=VALUE into *params; USAGE for anything else. */
int kab_args_params(const struct kab_args *args, struct kab_params *params, struct kab_err *err);
/* Integer or number in [min, max], `missing` when not given; USAGE error otherwise. A trailing '%'
 * is allowed for numbers. */
int kab_args_int(const struct kab_args *args, const char *name, int64_t min, int64_t max,
		 int64_t missing, int64_t *ret, struct kab_err *err);
int kab_args_num(const struct kab_args *args, const char *name, double min, double max,
		 double missing, double *ret, struct kab_err *err);
/* Split `argv` by the command's table and the global one (which is stored into *cli). On an error
 * the text names the nearest known option. Caller frees *ret. */
int kab_args_parse(const struct kab_cmd *cmd, struct kab_cli *cli, int argc, char **argv,
		   struct kab_args **ret, struct kab_err *err);
void kab_args_free(struct kab_args *args);

/* ---- talk ---- */
/* Print "kab: TEXT" (control characters escaped) and return the exit status of the error. */
int kab_cli_fail(struct kab_cli *cli, const struct kab_err *err);
void kab_cli_warn(struct kab_cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Silent with -q. */
void kab_cli_say(struct kab_cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Flush and check cli->out: a full disk or closed pipe is an error, not silence. */
int kab_cli_finish(struct kab_cli *cli, int status);

/* Open the store of --db / KAB_DB; says its notice. */
int kab_cli_open_store(struct kab_cli *cli, enum kab_store_mode mode, struct kab_store **ret,
		       struct kab_err *err);
/* Help of one command, or of all when NULL, to f. */
void kab_cli_help(FILE *f, const struct kab_cmd *cmd);

#endif
