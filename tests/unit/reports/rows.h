/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Row lists for tests, built by hand. */
#ifndef KAB_TESTS_ROWS_H
#define KAB_TESTS_ROWS_H

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "model/record.h"

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

static inline struct kab_row_data *rows_add(struct kab_row_list *rows, const char *case_name,
					    const char *row_key, const char *metric,
					    const char *unit, enum kab_direction dir)
{
	struct kab_row_data *row = KAB_PUSH(rows);

	row->host = kab_xstrdup("box");
	row->condition = kab_xstrdup("");
	row->case_name = kab_xstrdup(case_name);
	row->row_key = kab_xstrdup(row_key);
	row->runner = kab_xstrdup("hackbench");
	row->metric = kab_xstrdup(metric);
	row->unit = kab_xstrdup(unit);
	row->dir = dir;
	row->primary = true;
	row->margin_pct = 2;
	return row;
}

static inline void row_word(char **place, const char *text)
{
	free(*place);
	*place = kab_xstrdup(text);
}

/* A further kernel of the row, without values. */
static inline struct kab_sample_set *row_kernel(struct kab_row_data *row, const char *kernel)
{
	struct kab_sample_set *set;

	row->sets = kab_xreallocarray(row->sets, row->n_sets + 1, sizeof(*row->sets));
	set = &row->sets[row->n_sets++];
	memset(set, 0, sizeof(*set));
	set->kernel = kab_xstrdup(kernel);
	set->argv_text = kab_xstrdup("groups=4");
	set->runner_version = kab_xstrdup("1.0");
	return set;
}

/* A boot with n values. */
static inline void set_boot(struct kab_sample_set *set, int block, const double *v, size_t n)
{
	struct kab_boot_obs *boot;

	set->boots = kab_xreallocarray(set->boots, set->n_boots + 1, sizeof(*set->boots));
	boot = &set->boots[set->n_boots++];
	memset(boot, 0, sizeof(*boot));
	boot->boot_id = (int64_t)set->n_boots;
	boot->block = block;
	for (size_t i = 0; i < n; i++) {
		struct kab_obs *o = KAB_PUSH(boot);

		o->value = v[i];
		o->repeats = 1;
		o->sequence = (int64_t)(1000 * set->n_boots + i);
		o->iteration_id = o->sequence;
	}
	set->n_done += n;
	set->n_planned += n;
}

#endif
