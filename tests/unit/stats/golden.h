/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the table-driven golden tests: reads tests/data/stats/stats.json and keeps an account of
 * every number in it, so that a value nobody compares is itself a failure.
 */
#ifndef KAB_TESTS_STATS_GOLDEN_H
#define KAB_TESTS_STATS_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct golden {
	size_t checked; /* golden values compared */
	size_t failures; /* with a line on stderr each */
	size_t foreign; /* of them, records of another tool's failure, where ours must differ */
	char where[256]; /* block being compared */
};

json_t *golden_load(const char *name);
/* A JSON array of numbers (or of decimal strings) as doubles; free() it. */
double *golden_array(const json_t *a, size_t *n);
/* Flattens nested arrays. */
double *golden_flat(const json_t *a, size_t *n);
/* Every number, null, bool or numeric string below v, except under the keys in skip (NULL-ended). */
size_t golden_leaves(const json_t *v, const char *const *skip);

/*
 * Compare one golden value with ours: null means that ours must be NAN, "inf" that it is infinite.
 * rel is relative to the golden value, abs an absolute allowance on top.
 */
void golden_check(struct golden *g, const json_t *want, double got, double rel, double abs_tol,
		  const char *what);
void golden_check_interval(struct golden *g, const json_t *want, double lo, double hi, double rel,
			   double abs_tol, const char *what);
void golden_fail(struct golden *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The blocks; each accounts for all leaves below its part of the file. */
void golden_single(struct golden *g, const json_t *single);
void golden_pairs(struct golden *g, const json_t *pairs);
void golden_multiplicity(struct golden *g, const json_t *block);
void golden_hierarchical(struct golden *g, const json_t *block);
void golden_sequential(struct golden *g, const json_t *block);
void golden_change_point(struct golden *g, const json_t *block);

#endif
