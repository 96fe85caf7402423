/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading for load_rows: runs, kernels, iterations that count, their values, asked verdicts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/rows.h"

static void free_strings(char **v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i]);
	free(v);
}

static void group_release(struct rows_group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->v[i].name);
		free(g->v[i].unit);
	}
	free(g->v);
	free(g->host);
	free(g->condition);
	free(g->case_name);
	free(g->row_key);
	free(g->runner);
}

void kab_rows_release(struct rows *rows)
{
	for (size_t i = 0; i < rows->n_runs; i++)
		free(rows->run[i].name);
	free(rows->run);
	for (size_t i = 0; i < rows->labels.n; i++)
		free(rows->labels.v[i].label);
	free(rows->labels.v);
	free_strings(rows->kernels.v, rows->kernels.n);
	free_strings(rows->conditions.v, rows->conditions.n);
	free_strings(rows->hosts.v, rows->hosts.n);
	for (size_t i = 0; i < rows->iters.n; i++) {
		free(rows->iters.v[i].reason);
		free(rows->iters.v[i].argv_text);
		free(rows->iters.v[i].runner_version);
		free(rows->iters.v[i].v);
	}
	free(rows->iters.v);
	free(rows->summaries.v);
	for (size_t i = 0; i < rows->groups.n; i++)
		group_release(&rows->groups.v[i]);
	free(rows->groups.v);
	for (size_t i = 0; i < rows->verdicts.n; i++) {
		free(rows->verdicts.v[i].case_name);
		free(rows->verdicts.v[i].runner);
		free(rows->verdicts.v[i].metric);
		free(rows->verdicts.v[i].unit);
	}
	free(rows->verdicts.v);
	*rows = (struct rows){ 0 };
}

/* The place of a word in a list, added when it is new. */
#define WORD_INDEX(list, word)                                          \
	__extension__({                                                 \
		size_t i_ = 0;                                          \
		while (i_ < (list)->n && strcmp((list)->v[i_], (word))) \
			i_++;                                           \
		if (i_ == (list)->n)                                    \
			*KAB_PUSH(list) = kab_xstrdup(word);            \
		i_;                                                     \
	})

static int read_run(struct kab_store *store, struct rows *rows, size_t r, struct kab_err *err)
{
	struct rows_run *run = &rows->run[r];
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err,
		"SELECT name, coalesce(json_extract(plan_json, '$.analysis.design') = 'paired', 0),"
		" (SELECT coalesce(max(sequence), 0) FROM iteration WHERE run_id = run.id),"
		" (SELECT coalesce(max(block), -1) + 1 FROM boot WHERE run_id = run.id),"
		" coalesce(plan_json ->> '$.stopping.looks', 0), coalesce(plan_json ->> '$.boots', "
		"0),"
		" coalesce(plan_json ->> '$.import.boots' = 'unknown', 0),"
		" EXISTS (SELECT 1 FROM summary WHERE run_id = run.id)"
		" FROM run WHERE id = ?",
		"i", run->id);
	int rc = stmt ? kab_sql_step(store, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (!rc)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "there is no run %lld in '%s'",
				   (long long)run->id, store->path);
	run->name = kab_sql_text(stmt, 0);
	run->paired = sqlite3_column_int(stmt, 1) != 0;
	run->looks = sqlite3_column_int(stmt, 4);
	run->max_blocks = sqlite3_column_int(stmt, 5);
	run->boots_unknown = sqlite3_column_int(stmt, 6) != 0;
	run->has_summaries = sqlite3_column_int(stmt, 7) != 0;
	if (r + 1 < rows->n_runs) {
		rows->run[r + 1].sequence_base = run->sequence_base + sqlite3_column_int64(stmt, 2);
		rows->run[r + 1].block_base = run->block_base + sqlite3_column_int(stmt, 3);
	}
	return 0;
}

static int read_conditions(struct kab_store *store, struct rows *rows, size_t r,
			   struct kab_err *err)
{
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err,
		"SELECT j.value ->> '$.text' FROM run, json_each(plan_json, '$.conditions') j"
		" WHERE run.id = ? AND j.value ->> '$.text' IS NOT NULL",
		"i", rows->run[r].id);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		(void)WORD_INDEX(&rows->conditions, kab_sql_str(stmt, 0));
	return rc;
}

static int read_hosts(struct kab_store *store, struct rows *rows, size_t r, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err, "SELECT label FROM run_host WHERE run_id = ? ORDER BY position", "i",
		rows->run[r].id);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		(void)WORD_INDEX(&rows->hosts, kab_sql_str(stmt, 0));
	return rc;
}

static int read_verdicts(struct kab_store *store, struct rows *rows, size_t r, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = kab_sql_query(
		store, err,
		"SELECT c.value ->> '$.name', coalesce(c.value ->> '$.runner', ''),"
		" v.value ->> '$.metric', v.value ->> '$.unit', v.value ->> '$.direction',"
		" coalesce(v.value ->> '$.margin_pct', c.value ->> '$.margin_pct',"
		" plan_json ->> '$.judge.margin_pct', 2.0), coalesce(c.value ->> '$.order', c.key)"
		" FROM run, json_each(plan_json, '$.judge.cases') c,"
		" json_each(c.value, '$.verdict') v WHERE run.id = ?"
		" AND c.value ->> '$.name' IS NOT NULL AND v.value ->> '$.metric' IS NOT NULL"
		" ORDER BY c.key, v.key",
		"i", rows->run[r].id);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
		struct rows_verdict *v = KAB_PUSH(&rows->verdicts);
		const char *dir = kab_sql_str(stmt, 4);

		v->run = r;
		v->case_name = kab_sql_text(stmt, 0);
		v->runner = kab_sql_text(stmt, 1);
		v->metric = kab_sql_text(stmt, 2);
		v->unit = kab_sql_dup(stmt, 3);
		kab_direction_parse(dir, &v->dir); /* NONE when it is not told */
		v->margin_pct = sqlite3_column_double(stmt, 5);
		v->order = sqlite3_column_int(stmt, 6);
	}
	return rc;
}

/* ---- kernels: one column for each label, or several when a label names several kernels ---- */

struct proof {
	char *host, *identity;
};

struct proofs {
	struct proof *v;
	size_t n, cap;
};

static void proofs_release(struct proofs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].host);
		free(p->v[i].identity);
	}
	free(p->v);
}

static int read_proofs(struct kab_store *store, int64_t run_id, const char *label,
		       struct proofs *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt =
		kab_sql_query(store, err,
			      "SELECT DISTINCT rh.label, k.identity FROM boot b"
			      " JOIN run_kernel rk ON rk.id = b.run_kernel_id JOIN run_host rh ON "
			      "rh.id = b.run_host_id"
			      " JOIN kernel k ON k.id = b.kernel_id"
			      " WHERE b.run_id = ? AND rk.label = ? AND b.state <> 'failed'",
			      "is", run_id, label);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1)
		*KAB_PUSH(ret) = (struct proof){ kab_sql_text(stmt, 0), kab_sql_text(stmt, 1) };
	return rc;
}

/* Figures of which only a summary is known are not pooled with anything. */
static bool stands_alone(const struct rows *rows, size_t i, size_t j)
{
	const struct rows_label *a = &rows->labels.v[i], *b = &rows->labels.v[j];

	return a->run != b->run &&
	       (rows->run[a->run].has_summaries || rows->run[b->run].has_summaries);
}

/* On some host both were proven, and never as the same kernel. */
static bool disagree(const struct proofs *a, const struct proofs *b)
{
	for (size_t i = 0; i < a->n; i++) {
		bool both = false, same = false;

		for (size_t j = 0; j < b->n; j++) {
			if (strcmp(a->v[i].host, b->v[j].host))
				continue;
			both = true;
			for (size_t k = 0; k < a->n; k++)
				same |= !strcmp(a->v[k].host, b->v[j].host) &&
					!strcmp(a->v[k].identity, b->v[j].identity);
		}
		if (both && !same)
			return true;
	}
	return false;
}

/* Where in `labels` the label of each run stands. */
static int read_labels(struct kab_store *store, struct rows *rows, size_t r, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = kab_sql_query(store, err,
					  "SELECT label FROM run_kernel WHERE run_id = ?"
					  " ORDER BY position",
					  "i", rows->run[r].id);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
		struct rows_label *l = KAB_PUSH(&rows->labels);

		l->run = r;
		l->label = kab_sql_text(stmt, 0);
		l->kernel = SIZE_MAX;
	}
	return rc;
}

/* Column of each label: the labels of one name fall into classes of the same kernel; one class
 * keeps the name, several are named after the first run of each. */
static int name_columns(struct kab_store *store, struct rows *rows, struct kab_err *err)
{
	size_t n = rows->labels.n;
	struct proofs *proofs = kab_xcalloc(n + 1, sizeof(*proofs));
	size_t *class_of = kab_xcalloc(n + 1, sizeof(*class_of));
	int rc = 0;

	for (size_t i = 0; !rc && i < n && rows->n_runs > 1; i++)
		rc = read_proofs(store, rows->run[rows->labels.v[i].run].id,
				 rows->labels.v[i].label, &proofs[i], err);
	for (size_t i = 0; !rc && i < n; i++) {
		class_of[i] = i;
		for (size_t j = 0; j < i; j++) {
			if (class_of[j] == j &&
			    !strcmp(rows->labels.v[i].label, rows->labels.v[j].label) &&
			    !stands_alone(rows, i, j) && !disagree(&proofs[i], &proofs[j])) {
				class_of[i] = j;
				break;
			}
		}
	}
	for (size_t i = 0; !rc && i < n; i++) {
		struct rows_label *l = &rows->labels.v[i], *first = &rows->labels.v[class_of[i]];
		kab_autofree char *name = NULL;
		bool split = false;

		for (size_t j = 0; j < n; j++)
			split |= !strcmp(l->label, rows->labels.v[j].label) &&
				 class_of[j] != class_of[i];
		name = split ? kab_xasprintf("%s@%s", l->label, rows->run[first->run].name)
			     : kab_xstrdup(l->label);
		l->kernel = WORD_INDEX(&rows->kernels, name);
	}
	for (size_t i = 0; i < n; i++)
		proofs_release(&proofs[i]);
	free(proofs);
	free(class_of);
	return rc;
}

int kab_rows_kernel(struct kab_store *store, const struct rows *rows, size_t run, const char *label,
		    size_t *ret, struct kab_err *err)
{
	for (size_t i = 0; i < rows->labels.n; i++)
		if (rows->labels.v[i].run == run && !strcmp(rows->labels.v[i].label, label)) {
			*ret = rows->labels.v[i].kernel;
			return 0;
		}
	return kab_err_set(err, KAB_ERR_STORE,
			   "database '%s' has results of a kernel '%s' that run %lld has not; see "
			   "'kab doctor --store'",
			   store->path, label, (long long)rows->run[run].id);
}

/* ---- iterations ---- */

size_t kab_rows_metric(struct rows_group *group, const char *name, const char *unit,
		       enum kab_direction dir, enum rows_origin origin)
{
	struct rows_metric *m;

	for (size_t i = 0; i < group->n; i++) {
		m = &group->v[i];
		if (strcmp(m->name, name) || strcmp(m->unit, unit))
			continue;
		/* Readings that contradict each other have no direction. */
		if (m->dir_seen && dir != m->dir)
			m->dir = KAB_DIR_NONE;
		return i;
	}
	m = KAB_PUSH(group);
	*m = (struct rows_metric){
		.name = kab_xstrdup(name),
		.unit = kab_xstrdup(unit),
		.dir = dir,
		.dir_seen = true,
		.origin = origin,
		.rank = group->n - 1,
		.margin_pct = 2,
	};
	return group->n - 1;
}

void kab_rows_add_value(struct rows *rows, struct rows_iter *it, const char *name, const char *unit,
			enum kab_direction dir, enum rows_origin origin, double value)
{
	size_t m = kab_rows_metric(&rows->groups.v[it->group], name, unit, dir, origin);
	struct rows_value *v = NULL;

	for (size_t i = it->n; i-- > 0;) {
		if (it->v[i].metric == m) {
			v = &it->v[i];
			break;
		}
	}
	if (!v) {
		v = KAB_PUSH(it);
		v->metric = m;
	}
	/* Sums of equal values are not always n times the value; this mean of them is. */
	v->repeats++;
	v->mean += (value - v->mean) / (double)v->repeats;
}

size_t kab_rows_group(struct rows *rows, size_t *hint, const char *host, const char *condition,
		      const char *case_name, const char *row_key, const char *runner, int order)
{
	struct rows_group *g;

	for (size_t i = 0; i < rows->groups.n; i++) {
		size_t at = (*hint + i) % rows->groups.n;

		g = &rows->groups.v[at];
		if (!strcmp(g->case_name, case_name) && !strcmp(g->row_key, row_key) &&
		    !strcmp(g->condition, condition) && !strcmp(g->host, host) &&
		    !strcmp(g->runner, runner)) {
			*hint = at;
			return at;
		}
	}
	g = KAB_PUSH(&rows->groups);
	g->host = kab_xstrdup(host);
	g->condition = kab_xstrdup(condition);
	g->case_name = kab_xstrdup(case_name);
	g->row_key = kab_xstrdup(row_key);
	g->runner = kab_xstrdup(runner);
	g->order = order;
	g->host_rank = WORD_INDEX(&rows->hosts, host);
	g->condition_rank = WORD_INDEX(&rows->conditions, condition);
	return rows->groups.n - 1;
}

/* ---- samples ---- */

struct sample {
	int64_t extraction_id, series_id;
	size_t order; /* as read */
	enum kab_direction dir;
	double value;
};
struct samples {
	struct sample *v;
	size_t n, cap;
};

/* Metric and unit of a series, read once. */
struct name {
	int64_t id;
	char *metric, *unit;
};
struct names {
	struct name *v;
	size_t n, cap;
};

static const struct name *name_of(struct kab_store *store, struct names *names, int64_t id,
				  struct kab_err *err)
{
	KAB_AUTOSTMT stmt = NULL;
	struct name *ret;
	int rc;

	for (size_t i = names->n; i-- > 0;)
		if (names->v[i].id == id)
			return &names->v[i];
	stmt = kab_sql_query(store, err, "SELECT metric, unit FROM series WHERE id = ?", "i", id);
	rc = stmt ? kab_sql_step(store, stmt, err) : -1;
	if (rc == 0)
		kab_err_set(err, KAB_ERR_STORE, "database '%s' has samples of no series",
			    store->path);
	if (rc <= 0)
		return NULL;
	ret = KAB_PUSH(names);
	*ret = (struct name){ id, kab_sql_text(stmt, 0), kab_sql_text(stmt, 1) };
	return ret;
}

static int add_samples(struct kab_store *store, const char *sql, int64_t a, int64_t b,
		       struct samples *ret, struct kab_err *err)
{
	KAB_AUTOSTMT stmt = kab_sql_query(store, err, sql, "ii", a, b);
	int rc = -1;

	while (stmt && (rc = kab_sql_step(store, stmt, err)) == 1) {
		struct sample *s = KAB_PUSH(ret);

		s->order = ret->n;
		s->extraction_id = sqlite3_column_int64(stmt, 0);
		s->series_id = sqlite3_column_int64(stmt, 1);
		kab_direction_parse(kab_sql_str(stmt, 2), &s->dir);
		s->value = sqlite3_column_double(stmt, 3);
	}
	return rc;
}

/*
 * The samples of the newest extractions of a run, in order of extraction and position. Those of one
 * run mostly lie side by side: one scan. Where other runs are between them, each is looked up.
 */
static int load_samples(struct kab_store *store, const struct rows *rows, size_t r,
			struct samples *ret, struct kab_err *err)
{
#define SAMPLE_SQL "SELECT extraction_id, series_id, direction, value FROM sample WHERE "
	int64_t lo = INT64_MAX, hi = 0, n = 0;
	int rc = 0;

	for (size_t i = 0; i < rows->iters.n; i++) {
		int64_t id = rows->iters.v[i].extraction_id;

		if (rows->iters.v[i].run != r || !id)
			continue;
		lo = id < lo ? id : lo;
		hi = id > hi ? id : hi;
		n++;
	}
	if (n && hi - lo < 4 * n)
		return add_samples(store,
				   SAMPLE_SQL "extraction_id BETWEEN ? AND ?"
					      " ORDER BY extraction_id, position",
				   lo, hi, ret, err);
	for (size_t i = 0; !rc && i < rows->iters.n; i++) {
		int64_t id = rows->iters.v[i].extraction_id;

		if (rows->iters.v[i].run == r && id)
			rc = add_samples(store,
					 SAMPLE_SQL "extraction_id = ? AND position >= ?"
						    " ORDER BY position",
					 id, INT64_MIN, ret, err);
	}
	return rc;
#undef SAMPLE_SQL
}

static int by_extraction(const void *a, const void *b)
{
	int64_t x = ((const struct sample *)a)->extraction_id;
	int64_t y = ((const struct sample *)b)->extraction_id;

	return (x > y) - (x < y);
}

static int by_extraction_and_order(const void *a, const void *b)
{
	size_t x = ((const struct sample *)a)->order, y = ((const struct sample *)b)->order;
	int d = by_extraction(a, b);

	return d ? d : (x > y) - (x < y);
}

/* The first sample of an extraction; `hint` is where the one before it ended. */
static size_t first_of(const struct samples *samples, int64_t extraction_id, size_t hint)
{
	const struct sample key = { .extraction_id = extraction_id }, *found;
	size_t at;

	if (hint < samples->n && samples->v[hint].extraction_id == extraction_id)
		return hint;
	found = samples->n ? bsearch(&key, samples->v, samples->n, sizeof(key), by_extraction)
			   : NULL;
	if (!found)
		return samples->n;
	at = (size_t)(found - samples->v);
	while (at > 0 && samples->v[at - 1].extraction_id == extraction_id)
		at--;
	return at;
}

static int read_samples(struct kab_store *store, struct rows *rows, size_t r, struct kab_err *err)
{
	struct samples samples = { 0 };
	struct names names = { 0 };
	size_t at = 0;
	int rc = load_samples(store, rows, r, &samples, err);

	/* Looked up one by one they come in the order of the plan. */
	for (size_t i = 1; i < samples.n; i++)
		if (samples.v[i - 1].extraction_id > samples.v[i].extraction_id) {
			qsort(samples.v, samples.n, sizeof(*samples.v), by_extraction_and_order);
			break;
		}
	for (size_t i = 0; !rc && i < rows->iters.n; i++) {
		struct rows_iter *it = &rows->iters.v[i];

		if (it->run != r || it->state != KAB_ITER_DONE || !it->extraction_id)
			continue;
		at = first_of(&samples, it->extraction_id, at);
		for (; at < samples.n && samples.v[at].extraction_id == it->extraction_id; at++) {
			const struct sample *s = &samples.v[at];
			const struct name *name = name_of(store, &names, s->series_id, err);

			if (!name) {
				rc = -1;
				break;
			}
			kab_rows_add_value(rows, it, name->metric, name->unit, s->dir, ROWS_SAMPLE,
					   s->value);
		}
	}
	for (size_t i = 0; i < names.n; i++) {
		free(names.v[i].metric);
		free(names.v[i].unit);
	}
	free(names.v);
	free(samples.v);
	return rc;
}

int kab_rows_read(struct kab_store *store, const int64_t *run_ids, size_t n_runs, struct rows *rows,
		  struct kab_err *err)
{
	int rc = 0;

	rows->run = kab_xcalloc(n_runs + 1, sizeof(*rows->run));
	rows->n_runs = n_runs;
	for (size_t r = 0; r < n_runs; r++)
		rows->run[r].id = run_ids[r];
	for (size_t r = 0; r < n_runs; r++) {
		for (size_t q = 0; q < r; q++)
			if (run_ids[q] == run_ids[r])
				return kab_err_set(err, KAB_ERR_USAGE, "run '%s' is named twice",
						   rows->run[q].name);
		if (read_run(store, rows, r, err) || read_conditions(store, rows, r, err) ||
		    read_hosts(store, rows, r, err) || read_verdicts(store, rows, r, err) ||
		    read_labels(store, rows, r, err))
			return -1;
	}
	if (name_columns(store, rows, err))
		return -1;
	for (size_t r = 0; r < n_runs; r++)
		if (kab_rows_read_iterations(store, rows, r, err))
			return -1;
	for (size_t r = 0; !rc && r < n_runs; r++)
		rc = read_samples(store, rows, r, err);
	for (size_t r = 0; !rc && r < n_runs; r++)
		rc = kab_rows_read_summaries(store, rows, r, err);
	return rc;
}
