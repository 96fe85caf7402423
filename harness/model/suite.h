/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A suite: cases, sweeps, repeat policy. Loaded from JSON; pure apart from reading the file.
 * A parameter whose value is an array is a sweep; the product of all sweeps of a case gives its
 * instances, in the order written (the last list varies fastest).
 */
#ifndef KAB_MODEL_SUITE_H
#define KAB_MODEL_SUITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strv.h"
#include "model/condition.h"
#include "model/params.h"

struct kab_margin {
	char *metric;
	double pct; /* smallest effect of interest, percent of the base */
};

/* One point of a case's sweep. */
struct kab_instance {
	size_t case_index;
	char *row_key; /* "groups=4 fds=8"; "" without a sweep */
	struct kab_params params;
	int order; /* position in the suite, from 0 */
};

struct kab_case {
	char *name;
	char *path; /* JSON path, for messages */
	char *runner;
	char *summary; /* "" when none */
	struct kab_strv metrics; /* that carry verdicts besides the primary one */
	double timeout_s; /* 0: not declared */
	double margin_pct; /* of the case */
	struct kab_margin *margins; /* by metric */
	size_t margins_n, margins_cap;
	struct kab_strv background; /* argv of a load beside it; empty: none */
	unsigned settle_s; /* seconds between the start of the load and the benchmark */
	struct kab_strv sweep; /* names of the swept parameters, in order */
};

/* What to do when a host is not quiet before an iteration. */
enum kab_quiet_policy {
	KAB_QUIET_OFF, /* do not look */
	KAB_QUIET_WARN, /* say so, once for each reason, and measure */
	KAB_QUIET_WAIT, /* wait; after wait_s the iteration fails */
	KAB_QUIET_REFUSE, /* the iteration fails */
};

struct kab_suite {
	char *name, *summary;
	char *file; /* where it was read */
	char *json; /* the document, compact: goes into the store */
	int boots, iterations, warmup;
	int retry;
	double margin_pct;
	struct kab_condition_list conditions;
	struct kab_hook *hooks;
	size_t hooks_n, hooks_cap;
	enum kab_quiet_policy quiet;
	double quiet_cpus; /* CPUs that others may use, e.g. 0.25 */
	double quiet_wait_s; /* for WAIT */
	struct kab_case *cases;
	size_t cases_n, cases_cap;
	struct kab_instance *instances;
	size_t instances_n, instances_cap;
};

#define KAB_SUITE_INSTANCES_MAX 10000

/* The keys that a case and a suite may have, NULL-terminated (one source with the schema). */
extern const char *const kab_suite_keys[];
extern const char *const kab_case_keys[];

int kab_suite_load(const char *file, struct kab_suite *ret, struct kab_err *err);
int kab_suite_load_json(json_t *doc, const char *file, struct kab_suite *ret, struct kab_err *err);
/* Margin of a metric of a case, percent. */
double kab_case_margin(const struct kab_case *c, const char *metric);
void kab_suite_release(struct kab_suite *suite);

#endif
