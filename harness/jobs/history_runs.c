/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The history of what was run by hand: runs that have a reference kernel in common. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jobs/history_points.h"
#include "store/history.h"

/* The reference of a run: its label and what it was there. */
struct candidate {
	struct kab_run_info run;
	struct kab_row_list rows;
	const char *label; /* borrowed from rows */
	char *identity; /* "": never booted */
};

static void candidate_release(struct candidate *c)
{
	kab_run_info_release(&c->run);
	kab_row_list_release(&c->rows);
	free(c->identity);
}

/* 0; 1: the run is of no use here. */
static int load(struct kab_store *store, struct candidate *c, const char *reference,
		const char *host, struct kab_err *err)
{
	struct kab_run_kernel kernel;
	int rc;

	c->identity = kab_xstrdup("");
	if (kab_store_load_rows(store, &c->run.id, 1, &c->rows, err))
		return -1;
	for (size_t r = 0; r < c->rows.n && !c->label; r++) {
		const struct kab_row_data *row = &c->rows.v[r];
		const struct kab_sample_set *set =
			reference ? kab_history_set(row, reference) : &row->sets[0];

		if (row->n_sets < 2 || !set || (host && strcmp(host, row->host) != 0))
			continue;
		c->label = set->kernel;
		rc = kab_store_run_kernel(store, c->run.id, row->host, c->label, &kernel, err);
		if (rc < 0)
			return -1;
		if (!rc) {
			free(c->identity);
			c->identity = kab_xstrdup(kernel.kernel.identity);
			kab_run_kernel_release(&kernel);
		}
	}
	return c->label ? 0 : 1;
}

/* The kernel that most runs have as their reference; of equals the newest. */
static const char *most_common(const struct candidate *c, size_t n)
{
	const char *best = "";
	size_t most = 0;

	for (size_t i = 0; i < n; i++) {
		size_t count = 0;

		for (size_t k = 0; k < n; k++)
			count += c[k].label && !strcmp(c[i].identity, c[k].identity);
		if (c[i].label && count > most) {
			most = count;
			best = c[i].identity;
		}
	}
	return best;
}

static int add_points(struct kab_store *store, const struct candidate *c, const char *host,
		      struct kab_point_list *ret, struct kab_err *err)
{
	char date[24];

	kab_format_utc(c->run.created_wall_ns, date);
	date[10] = '\0';
	for (size_t r = 0; r < c->rows.n; r++) {
		const struct kab_row_data *row = &c->rows.v[r];

		if (!kab_history_wants(row) || (host && strcmp(host, row->host) != 0) ||
		    !kab_history_set(row, c->label))
			continue;
		for (size_t k = 0; k < row->n_sets; k++) {
			struct kab_point point;

			if (!strcmp(row->sets[k].kernel, c->label))
				continue;
			if (kab_history_point(store, &c->run, row, "", date, c->run.created_wall_ns,
					      c->label, row->sets[k].kernel, &point, err))
				return -1;
			*KAB_PUSH(ret) = point;
		}
	}
	return 0;
}

static int series_order(const struct kab_series_id *a, const struct kab_series_id *b)
{
	const char *const left[] = { a->host,	   a->case_name, a->row_key,
				     a->condition, a->metric,	 a->unit };
	const char *const right[] = { b->host,	    b->case_name, b->row_key,
				      b->condition, b->metric,	  b->unit };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(left); i++) {
		int order = strcmp(left[i], right[i]);

		if (order)
			return order;
	}
	return 0;
}

static int point_order(const void *a, const void *b)
{
	const struct kab_point *x = a, *y = b;
	int order = series_order(&x->series, &y->series);

	if (order)
		return order;
	if (x->wall_ns != y->wall_ns)
		return x->wall_ns < y->wall_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

int kab_history_from_runs(struct kab_store *store, const char *reference, const char *host,
			  size_t max_runs, struct kab_point_list *ret, size_t *ret_left_out,
			  struct kab_err *err)
{
	struct kab_run_info *runs;
	struct candidate *c;
	const char *common;
	size_t n;
	int rc = 0;

	*ret = (struct kab_point_list){ 0 };
	*ret_left_out = 0;
	if (kab_store_list_runs(store, max_runs, &runs, &n, err))
		return -1;
	c = kab_xcalloc(n + 1, sizeof(*c));
	for (size_t i = 0; i < n; i++)
		c[i].run = runs[i];
	free(runs);
	for (size_t i = 0; i < n && rc >= 0; i++)
		rc = load(store, &c[i], reference, host, err);
	common = most_common(c, n);
	/* Oldest first. */
	for (size_t i = n; i-- > 0 && rc >= 0;) {
		if (!c[i].label)
			continue;
		if (strcmp(c[i].identity, common) != 0)
			(*ret_left_out)++;
		else
			rc = add_points(store, &c[i], host, ret, err);
	}
	for (size_t i = 0; i < n; i++)
		candidate_release(&c[i]);
	free(c);
	if (rc < 0) {
		kab_point_list_release(ret);
		return -1;
	}
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i].id = (int64_t)i;
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), point_order);
	return 0;
}
