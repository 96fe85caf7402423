/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs as text for other programs: CSV, the Go benchmark format that benchstat reads, KCIDB, mmtests'
 * JSON. All work on runs that were loaded and judged once. Pure apart from loading.
 */
#ifndef KAB_EXCHANGE_EXPORT_H
#define KAB_EXCHANGE_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "judge/judge.h"
#include "store/store.h"

struct kab_export_step {
	struct kab_step_info info; /* the newest attempt of its iteration; no warm-up */
	size_t boot; /* index into boots */
	int attempts;
	struct kab_samples samples; /* of the newest reading; empty unless DONE */
};

/* A run, whole but for its raw output. Owned by whoever loaded it. */
struct kab_export {
	struct kab_run_info info;
	struct kab_boot_info *boots; /* by host, then in order */
	size_t n_boots;
	struct kab_facts *facts; /* of each boot; empty when it was not proven */
	struct kab_export_step *steps; /* in order of execution */
	size_t n_steps;
	struct kab_row_list rows;
	struct kab_judgement judgement; /* of rows */
};

/* 0, or -1. *ret is to be released either way. */
int kab_export_load(struct kab_store *store, int64_t run_id, struct kab_export *ret,
		    struct kab_err *err);
void kab_export_release(struct kab_export *x);

/* Which rows go out. */
struct kab_export_opts {
	bool all; /* also metrics that carry no verdict */
	bool names; /* names of hosts, too; else "host1", "host2" where there are several */
	const char *kernel; /* only this one; NULL: all */
	bool iterations; /* benchstat: a line for each iteration, not for each boot */
	const char *origin, *lab; /* kcidb; lab NULL: the origin */
	const char *kab_version;
};

/* Append; the header line first. docs/exchange.md has the columns. */
void kab_export_csv(const struct kab_export *runs, size_t n, const struct kab_export_opts *opts,
		    struct kab_buf *ret);
/* NOT_FOUND: no run has that kernel. */
int kab_export_benchstat(const struct kab_export *runs, size_t n,
			 const struct kab_export_opts *opts, struct kab_buf *ret,
			 struct kab_err *err);
/* One run and one of its kernels. USAGE: which kernel? */
int kab_export_mmtests(const struct kab_export *run, const struct kab_export_opts *opts,
		       struct kab_buf *ret, struct kab_err *err);
/* A KCIDB 5.3 report. USAGE: the origin is missing or not [a-z0-9_]+. */
int kab_export_kcidb(const struct kab_export *runs, size_t n, const struct kab_export_opts *opts,
		     struct kab_buf *ret, struct kab_err *err);

/* The shortest decimal number that reads back as the same value. */
void kab_export_number(double value, struct kab_buf *ret);
/* What a host is called in what goes out: its label with names, else "host1" by its place in the run. */
void kab_export_host(const struct kab_export *x, const char *label, bool names,
		     struct kab_buf *ret);
/* A sentence that may name hosts, with those names in it only if names is set. */
void kab_export_sentence(const struct kab_export *x, const char *text, bool names,
			 struct kab_buf *ret);

#endif
