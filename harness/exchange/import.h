/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results that somebody else measured, as a run of the store. Readers (import_formats.h, a CSV file)
 * fill one struct kab_import; kab_import_store() makes the run: all of it or nothing.
 */
#ifndef KAB_EXCHANGE_IMPORT_H
#define KAB_EXCHANGE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
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
	int block; /* of pairs of boots, from 1; 0: none */
};

/* A metric that carries a verdict. `metric` may end in '*'. */
struct kab_import_verdict {
	char *case_name, *runner, *metric, *unit;
	enum kab_direction dir;
};

/* Figures of which only n, mean and standard deviation (n - 1) are known. Strings are owned. */
struct kab_import_summary {
	char *kernel, *host, *condition, *case_name, *row_key, *runner, *metric, *unit;
	enum kab_direction dir;
	int64_t n; /* 1 or more */
	double mean, sd; /* sd NAN: unknown */
};

struct kab_import {
	struct kab_import_iter *v;
	size_t n, cap;
	struct {
		struct kab_import_verdict *v;
		size_t n, cap;
	} verdicts;
	struct {
		struct kab_import_summary *v;
		size_t n, cap;
	} summaries;
	struct kab_strv kernels; /* baseline first */
	struct kab_strv hosts, cases; /* in order of appearance */
	struct kab_strv
		conditions; /* the same, where they are not in the order of the iterations */
	size_t n_failed;
	/*
	 * Which iterations share a boot: known only where the files say so (or the user). If not, all
	 * of a kernel stand in one boot and nothing is tested. boots_text says how it was found out:
	 * "each sub-folder is a boot"; NULL with unknown boots.
	 */
	bool boots_known;
	char *boots_text;
	bool paired; /* every iteration has its block */
	struct kab_strv
		notes; /* what was made of the files that the numbers do not show; sentences */
	struct kab_strv caveats; /* those of the notes that belong under every table */
	struct kab_strv unread; /* "FILE: why", of all that was found and not used; escaped */
	struct kab_strv digests; /* SHA-256 of each file that was read */
};
void kab_import_release(struct kab_import *import);

/*
 * Columns (in any order): kernel and value must be there; host ("import"), condition, case ("import"),
 * row, runner ("import"), boot ("1"), iteration, metric ("value"), unit and direction ("none") may be
 * missing. Without an iteration column every line of a metric is an iteration of its own; several
 * lines of one metric in one iteration are repeated samples. A value that is empty, or "fail", is a
 * failed iteration; an empty one beside values of other metrics only lacks that metric. With a column
 * sequence that is the order of execution, else the order of the lines is. The first kernel is the baseline unless `baseline` (may be NULL) names another. Errors are PARSE with
 * file:line and column.
 */
int kab_import_csv(const char *file, const char *bytes, size_t n, const char *baseline,
		   struct kab_import *ret, struct kab_err *err);

struct kab_import_log {
	const char *kernel; /* label */
	const char *file; /* for messages */
	const char *shown; /* what the reason of a failed iteration calls it; NULL: nothing */
	const char *bytes;
	size_t len;
	bool cut;
	const char *boot; /* name of its boot; NULL: unknown, or with opts.boots one of its own */
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
	const char *command_line, *kab_version,
		*source; /* source: "csv", "hackbench", "mmtests", ... */
};
/* Hash of the content that was read, whatever the files and kernels are called and in whichever order
 * they came. */
void kab_import_sha256(const struct kab_import *import, char hex[KAB_SHA256_HEX_SIZE]);
/* What would be stored, for people: rows, counts, boots, notes, what was not read. */
void kab_import_describe(const struct kab_import *import, struct kab_buf *ret);
/* These metrics are better when lower (higher), whatever the files say. NOT_FOUND for a name that
 * nothing has, USAGE for one in both lists. */
int kab_import_direct(struct kab_import *import, const struct kab_strv *lower,
		      const struct kab_strv *higher, struct kab_err *err);
/* The kernel moves to the front. NOT_FOUND when there is none of that label. */
int kab_import_choose_baseline(struct kab_import *import, const char *label, struct kab_err *err);
/* One transaction. USAGE when a row has samples and a summary of one metric and kernel. */
int kab_import_store(struct kab_store *store, struct kab_import *import,
		     const struct kab_import_opts *opts, int64_t *ret_id, char **ret_name,
		     struct kab_err *err);

#endif
