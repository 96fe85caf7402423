/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A runner knows one benchmark: which command line, how to read its output, its metrics. It is a
 * const struct in the table of runners/table.c, and three pure functions: no host, no clock, no
 * shell string, no I/O.
 *
 * To add one: write runners/<name>.c ending in `const struct kab_runner kab_runner_<name>`, and
 * name it in runners/table.c (and in CMakeLists.txt). tests/unit/runners/test_table.c fails when a
 * runner is declared but not listed, has no primary metric, or lacks a fixture.
 */
#ifndef KAB_RUNNERS_RUNNER_H
#define KAB_RUNNERS_RUNNER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strv.h"
#include "model/facts.h"
#include "model/metric.h"
#include "model/params.h"

/* What became of one output. The words of `kab parse`: "ok", "partial", ... */
enum kab_parse_status {
	KAB_PARSE_OK, /* all that was asked for is there */
	KAB_PARSE_PARTIAL, /* usable samples, but something is missing: see message */
	KAB_PARSE_TOOL_FAILED, /* the tool failed or was interrupted; samples are not to be used */
	KAB_PARSE_NO_RESULT, /* it ran and printed no usable figure */
	KAB_PARSE_TRUNCATED, /* the output stops before the result */
};
const char *kab_parse_status_name(enum kab_parse_status status);

/* One named byte stream of an iteration; data is borrowed, not necessarily NUL-terminated. */
struct kab_stream {
	const char *name; /* "stdout", "stderr", "merged", or a file that the command declared */
	const char *data;
	size_t len;
	bool cut; /* the end is missing: it was longer than the cap */
};

struct kab_outputs {
	const struct kab_stream *v;
	size_t n;
};

struct kab_parse_result {
	enum kab_parse_status status;
	struct kab_samples samples;
	char *version; /* owned; of the tool, as it printed it; NULL when it did not */
	char *message; /* owned; one sentence saying why not ok; NULL when ok */
};
void kab_parse_result_release(struct kab_parse_result *result);

/* KAB_EXIT_UNKNOWN: a log without a recorded status. Signals are passed as 128 + number. */
#define KAB_EXIT_UNKNOWN (-1)

/* A file that must lie in the iteration's directory before the command starts. */
struct kab_place_file {
	char *name; /* owned; no '/' */
	char *data; /* owned */
	size_t len;
	bool executable;
};

/* How to run one iteration. argv[0] is looked up on the host's PATH unless it holds a '/'. */
struct kab_command {
	struct kab_strv argv;
	struct kab_strv env; /* "NAME=value", on top of LC_ALL=C */
	struct kab_strv output_files; /* names in the iteration's directory to fetch as streams */
	struct kab_place_file *place;
	size_t place_n, place_cap;
	struct kab_strv
		prepare; /* argv run before (untimed), or empty: e.g. sysbench fileio prepare */
	struct kab_strv cleanup; /* argv run after (untimed), or empty */
	/* A load that runs beside the benchmark: started before, stopped after; argv, or empty. */
	struct kab_strv background;
	double expected_s; /* a guess of the duration for the plan's estimate, 0 when unknown */
};
void kab_command_release(struct kab_command *cmd);

/* A parameter that the runner understands; an unknown one is a configuration error. */
struct kab_param_def {
	const char *name;
	const char *type; /* "int", "bool", "string", "number", "list" (comma separated) */
	const char *missing; /* text of the default; NULL: the tool's own */
	const char *summary;
};

struct kab_runner {
	const char *name; /* [a-z0-9-]+ */
	const char *summary; /* one line */
	const char *parser_version; /* changes whenever the same bytes may give other samples */
	const struct kab_param_def *params;
	size_t params_n;
	const struct kab_metric_def *metrics; /* exactly one primary */
	size_t metrics_n;
	const char *const *tools; /* names that the probe looks for, NULL-terminated */
	/* Printed under every table that has this runner's figures; NULL mostly. */
	const char *notice;
	/* 0: it can run; 1: it cannot, *ret_reason (caller frees) says why and what to install. */
	int (*unsupported)(const struct kab_facts *facts, const struct kab_params *params,
			   char **ret_reason);
	/* 0 and *ret filled (caller releases), or -1 (config: a parameter is wrong). */
	int (*command)(const struct kab_params *params, const struct kab_facts *facts,
		       struct kab_command *ret, struct kab_err *err);
	/* NULL, or whether a metric of the table is printed with these parameters: 0, or 1 and
	 * *ret_why (caller frees) says what to ask for. */
	int (*unprinted)(const char *metric, const struct kab_params *params, char **ret_why);
	/* Never fails: what cannot be read is a status. *ret is filled, caller releases.
	 * params may be empty (a log of unknown origin). Deterministic; linear in the input. */
	void (*parse)(const struct kab_outputs *outputs, int exit_status,
		      const struct kab_params *params, struct kab_parse_result *ret);
};

/* The table; kab_runners[i] for i < kab_runners_n. */
extern const struct kab_runner *const kab_runners[];
extern const size_t kab_runners_n;
/* NULL when there is none of that name. */
const struct kab_runner *kab_runner_find(const char *name);
/* As kab_runner_find; NULL with a NOT_FOUND error that names the nearest one. */
const struct kab_runner *kab_runner_get(const char *name, struct kab_err *err);
/* The metric of that name (families included), or NULL. */
const struct kab_metric_def *kab_runner_metric(const struct kab_runner *runner, const char *name);
/* What is measured around every invocation, whatever the runner. */
extern const struct kab_metric_def kab_invocation_metrics[];
extern const size_t kab_invocation_metrics_n;
/* True for a metric that only a log written under GNU time holds, never a run of kab. Then
 * *ret_instead is the one that a run has instead, or NULL. */
bool kab_metric_is_of_logs(const struct kab_metric_def *metric, const char **ret_instead);
/* Borrowed; never NULL. */
const struct kab_metric_def *kab_runner_primary(const struct kab_runner *runner);
/* Check names and types of params against the runner's; error names the nearest known one. */
int kab_runner_check_params(const struct kab_runner *runner, const struct kab_params *params,
			    struct kab_err *err);

#endif
