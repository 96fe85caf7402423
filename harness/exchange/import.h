/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results that somebody else measured, as a run of the store. Two readers (a CSV file, logs of a
 * benchmark) fill one struct kab_import; kab_import_store() makes the run: all of it or nothing.
 */
#ifndef KAB_EXCHANGE_IMPORT_H
#define KAB_EXCHANGE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strv.h"
#include "model/metric.h"
#include "model/params.h"
#include "model/record.h"
#include "store/store.h"

/* One iteration. Strings are owned. */
struct kab_import_iter {
	char *kernel, *host, *condition, *case_name, *row_key, *runner, *boot;
	enum kab_iter_state state; /* DONE or FAILED */
	char *reason; /* NULL when all is well */
	char *parse_status; /* words of `kab parse` */
	char *params; /* canonical; "" */
	char *runner_version, *parser_version; /* may be NULL */
	int exit_status; /* -1 unknown */
	struct kab_samples samples;
	char *log; /* raw bytes, stream "merged"; NULL without */
	size_t log_len;
	bool log_cut;
};

/* A metric that carries a verdict. `metric` may end in '*'. */
struct kab_import_verdict {
	char *case_name, *runner, *metric, *unit;
	enum kab_direction dir;
};

struct kab_import {
	struct kab_import_iter *v;
	size_t n, cap;
	struct {
		struct kab_import_verdict *v;
		size_t n, cap;
	} verdicts;
	struct kab_strv kernels; /* baseline first */
	struct kab_strv hosts, cases; /* in order of appearance */
	size_t n_failed;
};
void kab_import_release(struct kab_import *import);

/*
 * Columns (in any order): kernel and value must be there; host ("import"), condition, case ("import"),
 * row, runner ("import"), boot ("1"), iteration, metric ("value"), unit and direction ("none") may be
 * missing. Without an iteration column every line of a metric is an iteration of its own; several
 * lines of one metric in one iteration are repeated samples. A value that is empty, or "fail", is a
 * failed iteration; an empty one beside values of other metrics only lacks that metric. The first
 * kernel is the baseline unless `baseline` (may be NULL) names another. Errors are PARSE with
 * file:line and column.
 */
int kab_import_csv(const char *file, const char *bytes, size_t n, const char *baseline,
		   struct kab_import *ret, struct kab_err *err);

struct kab_import_log {
	const char *kernel; /* label */
	const char *file; /* for messages */
	const char *bytes;
	size_t len;
	bool cut;
};
struct kab_import_logs_opts {
	const char *runner, *host,
		*case_name; /* host, case_name NULL: "import", the runner's name */
	const struct kab_params *params; /* that the benchmark ran with; may be empty */
	int exit_status; /* of each, -1 unknown */
	bool boots; /* each log is from a boot of its own */
};
/* Each log is one iteration, read by the runner. A log without a figure is a failed iteration. */
int kab_import_logs(const struct kab_import_log *logs, size_t n,
		    const struct kab_import_logs_opts *opts, struct kab_import *ret,
		    struct kab_err *err);

struct kab_import_opts {
	const char *name; /* wished name of the run */
	double margin_pct;
	const char *command_line, *kab_version, *source; /* source: "csv", "hackbench logs", ... */
};
int kab_import_store(struct kab_store *store, struct kab_import *import,
		     const struct kab_import_opts *opts, int64_t *ret_id, char **ret_name,
		     struct kab_err *err);

#endif
