/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the database and kab_row_list: what load_rows reads (rows_read.c) before it is arranged
 * into rows and sets (rows.c). Strings are owned by the struct that holds them.
 */
#ifndef KAB_STORE_ROWS_H
#define KAB_STORE_ROWS_H

#include "store/internal.h"

/* One value of an iteration: mean of the repeated samples of one metric. */
struct rows_value {
	size_t metric; /* index into the group's metrics */
	double mean;
	size_t repeats;
};

/* The attempt that counts of one planned iteration. */
struct rows_iter {
	int64_t id, extraction_id, boot_id;
	size_t run, group, kernel; /* indices */
	int block;
	int64_t sequence; /* over all runs, so that an earlier run comes first */
	int attempt;
	bool restart;
	enum kab_iter_state state; /* as it counts: see view outcome */
	char *reason;
	char *argv_text, *runner_version; /* may be NULL */
	struct rows_value *v;
	size_t n, cap;
};

/* An imported summary. */
struct rows_summary {
	size_t run, group, kernel, metric; /* indices */
	size_t n;
	double mean, sd; /* sd NAN: unknown */
};

enum rows_origin { ROWS_VERDICT, ROWS_SAMPLE, ROWS_INVOCATION };

struct rows_metric {
	char *name, *unit;
	enum kab_direction dir;
	bool dir_seen;
	enum rows_origin origin;
	size_t rank; /* within the origin */
	bool primary;
	double margin_pct;
};

/* What is compared: host, condition, case, row, runner. */
struct rows_group {
	char *host, *condition, *case_name, *row_key, *runner;
	size_t host_rank, condition_rank;
	int order;
	struct rows_metric *v;
	size_t n, cap;
};

/* A verdict that the plan asks for. */
struct rows_verdict {
	size_t run;
	/* unit (may be NULL) and dir are for a metric that nobody measured: what was measured says
	 * it itself. */
	char *case_name, *runner, *metric, *unit;
	enum kab_direction dir;
	double margin_pct;
	int order; /* of the case in the suite */
};

struct rows_run {
	int64_t id;
	char *name;
	bool paired;
	bool boots_unknown; /* imported, and nobody said which values share a boot */
	bool has_summaries;
	int looks, max_blocks; /* as in struct kab_row_data */
	int64_t sequence_base;
	int block_base;
};

/* A label of a kernel in a run and the column that it became. */
struct rows_label {
	size_t run;
	char *label;
	size_t kernel; /* index into kernels */
};

struct rows {
	struct rows_run *run;
	size_t n_runs;
	struct {
		struct rows_label *v;
		size_t n, cap;
	} labels;
	struct {
		char **v;
		size_t n, cap;
	} kernels, conditions, hosts;
	struct {
		struct rows_iter *v;
		size_t n, cap;
	} iters;
	struct {
		struct rows_summary *v;
		size_t n, cap;
	} summaries;
	struct {
		struct rows_group *v;
		size_t n, cap;
	} groups;
	struct {
		struct rows_verdict *v;
		size_t n, cap;
	} verdicts;
};

/* Everything of the runs, inside one read transaction that the caller holds. 0 or -1; *rows is to
 * be released either way. */
int kab_rows_read(struct kab_store *store, const int64_t *run_ids, size_t n_runs, struct rows *rows,
		  struct kab_err *err);
void kab_rows_release(struct rows *rows);
/* The summaries of run r, after its labels are known. */
int kab_rows_read_summaries(struct kab_store *store, struct rows *rows, size_t r,
			    struct kab_err *err);
/* The iterations of run r, after its labels are known. */
int kab_rows_read_iterations(struct kab_store *store, struct rows *rows, size_t r,
			     struct kab_err *err);
/* One more value of an iteration; values of the same metric are averaged. */
void kab_rows_add_value(struct rows *rows, struct rows_iter *it, const char *name, const char *unit,
			enum kab_direction dir, enum rows_origin origin, double value);
/* Index of the group, added when it is new; *hint is where the one before was (0 at first). */
size_t kab_rows_group(struct rows *rows, size_t *hint, const char *host, const char *condition,
		      const char *case_name, const char *row_key, const char *runner, int order);
/* Column of a label of a run. -1: the run has none of that name; the database is damaged. */
int kab_rows_kernel(struct kab_store *store, const struct rows *rows, size_t run, const char *label,
		    size_t *ret, struct kab_err *err);
/* Index of the metric in the group, added when it is new. */
size_t kab_rows_metric(struct rows_group *group, const char *name, const char *unit,
		       enum kab_direction dir, enum rows_origin origin);

#endif
