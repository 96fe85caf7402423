/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run as rows, and rows as a run: what a bundle holds. Rows refer to each other by ordinals (1, 2 ...
 * of the rows of a table, in the order in which they come), never by the ids of a database; so the
 * same run gives the same rows wherever it is stored. All text is as stored, which need not be UTF-8.
 */
#ifndef KAB_STORE_DUMP_H
#define KAB_STORE_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/* In this order; a table may have no rows, but KAB_DUMP_RUN has one. */
enum kab_dump_table {
	KAB_DUMP_RUN,
	KAB_DUMP_HOST,
	KAB_DUMP_KERNEL,
	KAB_DUMP_BOOT,
	KAB_DUMP_ENVIRONMENT,
	KAB_DUMP_ITERATION,
	KAB_DUMP_EXTRACTION,
	KAB_DUMP_SERIES,
	KAB_DUMP_SAMPLE,
	KAB_DUMP_SUMMARY,
	KAB_DUMP_NOISE,
	KAB_DUMP_EVENT,
	KAB_DUMP_OUTPUT,
	KAB_DUMP_TABLES
};

enum kab_dump_type {
	KAB_DUMP_INT,
	KAB_DUMP_REAL, /* finite */
	KAB_DUMP_TEXT,
	KAB_DUMP_REF, /* an ordinal */
};

struct kab_dump_column {
	const char *name;
	enum kab_dump_type type;
	bool may_be_null;
	enum kab_dump_table ref; /* of KAB_DUMP_REF: rows of which table */
};

struct kab_dump_def {
	const char *name; /* "iteration" */
	const struct kab_dump_column *columns;
	size_t n;
};
extern const struct kab_dump_def kab_dump_defs[KAB_DUMP_TABLES];
#define KAB_DUMP_COLUMNS_MAX 32

struct kab_dump_value {
	bool null;
	int64_t i; /* INT, REF */
	double d; /* REAL */
	const char *s; /* TEXT, NUL-terminated; borrowed for the call */
};

/* Where the rows go; each returns 0 or -1 (error set). They must not call the store. */
struct kab_dump_sink {
	void *ctx;
	int (*row)(void *ctx, enum kab_dump_table table, const struct kab_dump_value *values,
		   struct kab_err *err);
	/* Bytes of the output whose row came last, in pieces. NULL: no outputs are wanted. */
	int (*output)(void *ctx, const char *data, size_t n, struct kab_err *err);
};
/* Every row of a run, as of one moment. Output is unpacked as it is read: memory does not depend on
 * how much there is. An imported run does not show that it was imported. */
int kab_store_dump(struct kab_store *store, int64_t run_id, const struct kab_dump_sink *sink,
		   struct kab_err *err);

/*
 * The way back. Inside kab_store_bulk_begin() and _end(): rows in the order of a dump, references to
 * rows that came before, numbers that the schema allows; else -1 (PARSE). The run gets the name that
 * is in its row, or a free one like it.
 */
struct kab_store_load;
struct kab_store_load *kab_store_load_begin(struct kab_store *store);
int kab_store_load_row(struct kab_store_load *load, enum kab_dump_table table,
		       const struct kab_dump_value *values, struct kab_err *err);
int kab_store_load_output(struct kab_store_load *load, const char *data, size_t n,
			  struct kab_err *err);
/* All rows came. *ret_name is the caller's. */
int kab_store_load_end(struct kab_store_load *load, int64_t *ret_run_id, char **ret_name,
		       struct kab_err *err);
void kab_store_load_free(struct kab_store_load *load); /* NULL is fine */

/* Runs that began at that moment (to the nanosecond): the same run, before or after an import. Caller
 * frees *ret_ids. */
int kab_store_runs_begun(struct kab_store *store, int64_t created_wall_ns, int64_t **ret_ids,
			 size_t *ret_n, struct kab_err *err);
/* Runs whose noise floors (the newest of each series) a report of this run would use, itself apart. */
int kab_store_noise_runs(struct kab_store *store, int64_t run_id, int64_t **ret_ids, size_t *ret_n,
			 struct kab_err *err);

#endif
