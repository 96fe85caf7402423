/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load_rows: from iterations that count to rows with a sample set for each kernel. */
#include <string.h>

#include "base/alloc.h"
#include "store/rows.h"

/* Metrics of a family are named by a pattern with one '*': "latency_p*", "*.bogo_ops". */
static bool matches(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');
	size_t before, behind, n = strlen(name);

	if (!star)
		return !strcmp(pattern, name);
	before = (size_t)(star - pattern);
	behind = strlen(star + 1);
	return n >= before + behind && !strncmp(pattern, name, before) &&
	       !strcmp(star + 1, name + n - behind);
}

/* What the row of a family is called when nobody measured a member: "latency_p", "bogo_ops". */
static char *family_name(const char *pattern)
{
	const char *star = strchr(pattern, '*');
	const char *behind;

	if (!star)
		return kab_xstrdup(pattern);
	behind = star + 1;
	if (star == pattern)
		behind += strspn(behind, "._");
	return kab_xasprintf("%.*s%s", (int)(star - pattern), pattern, behind);
}

/* What the plan wants judged of a group: marks the metrics, adds those that nobody measured. */
static void ask_verdicts(const struct rows *rows, struct rows_group *g)
{
	size_t rank = 0;

	for (size_t i = 0; i < rows->verdicts.n; i++) {
		const struct rows_verdict *v = &rows->verdicts.v[i];
		bool found = false;

		if (strcmp(v->case_name, g->case_name) ||
		    (*v->runner && strcmp(v->runner, g->runner)))
			continue;
		for (size_t m = 0; m < g->n; m++) {
			struct rows_metric *metric = &g->v[m];

			if (!matches(v->metric, metric->name))
				continue;
			found = true;
			if (metric->primary)
				continue; /* an earlier run said so: the first one counts */
			metric->primary = true;
			metric->margin_pct = v->margin_pct;
			/* Time and memory of an invocation: less is better, once somebody asks. */
			if (metric->origin == ROWS_INVOCATION)
				metric->dir = KAB_DIR_LOWER;
			metric->origin = ROWS_VERDICT;
			metric->rank = rank++;
		}
		if (!found) {
			kab_autofree char *name = family_name(v->metric);
			size_t m = kab_rows_metric(g, name, v->unit ? v->unit : "", v->dir,
						   ROWS_VERDICT);

			g->v[m].primary = true;
			g->v[m].margin_pct = v->margin_pct;
			g->v[m].rank = rank++;
		}
	}
}

/* Different texts of one set, each once, joined by "; ". */
static void add_text(char **text, const char *more)
{
	size_t n = more ? strlen(more) : 0;
	char *joined;

	if (!more)
		return;
	if (!*text) {
		*text = kab_xstrdup(more);
		return;
	}
	for (const char *p = *text; (p = strstr(p, more)); p++)
		if ((p == *text || (p >= *text + 2 && !strncmp(p - 2, "; ", 2))) &&
		    (!p[n] || !strncmp(p + n, "; ", 2)))
			return;
	joined = kab_xasprintf("%s; %s", *text, more);
	free(*text);
	*text = joined;
}

static struct kab_boot_obs *boot_of(struct kab_sample_set *set, const struct rows_iter *it)
{
	struct kab_boot_obs *b;

	for (size_t i = set->n_boots; i-- > 0;)
		if (set->boots[i].boot_id == it->boot_id)
			return &set->boots[i];
	kab_grow_((void **)&set->boots, &set->n_boots, &set->cap_boots, sizeof(*set->boots));
	b = &set->boots[set->n_boots - 1];
	b->boot_id = it->boot_id;
	b->block = it->block;
	return b;
}

static void add_failure(struct kab_sample_set *set, const char *reason, const char *fallback)
{
	if (!set->first_failure)
		set->first_failure = kab_xstrdup(reason ? reason : fallback);
}

static void add_iteration(struct kab_row_data *row, const struct rows_iter *it, size_t metric,
			  bool boots_unknown)
{
	struct kab_sample_set *set = &row->sets[it->kernel];
	const struct rows_value *value = NULL;

	set->n_planned++;
	set->n_retried += it->attempt > 1;
	row->restarts |= it->restart;
	row->boots_unknown |= boots_unknown;
	if (it->state == KAB_ITER_FAILED) {
		set->n_failed++;
		add_failure(set, it->reason, "failed");
		return;
	}
	if (it->state == KAB_ITER_MISSING) {
		set->n_missing++;
		add_failure(set, it->reason, "missing");
		return;
	}
	if (it->state != KAB_ITER_DONE)
		return;
	add_text(&set->argv_text, it->argv_text);
	add_text(&set->runner_version, it->runner_version);
	for (size_t i = 0; i < it->n && !value; i++)
		if (it->v[i].metric == metric)
			value = &it->v[i];
	if (!value) {
		/* It ended well but printed no such figure (a partial result). */
		set->n_missing++;
		add_failure(set, it->reason, "the benchmark printed no such figure");
		return;
	}
	set->n_done++;
	*KAB_PUSH(boot_of(set, it)) = (struct kab_obs){
		.value = value->mean,
		.repeats = value->repeats,
		.sequence = it->sequence,
		.iteration_id = it->id,
	};
}

static void add_summary(struct kab_row_data *row, const struct rows_summary *s)
{
	struct kab_sample_set *set = &row->sets[s->kernel];

	set->summary.n = s->n;
	set->summary.mean = s->mean;
	set->summary.sd = s->sd;
	set->n_planned = set->n_done = s->n;
	row->boots_unknown = true;
}

struct order {
	const struct rows_group *group;
	size_t group_index, metric;
};

static int compare(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int by_suite(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;
	const struct rows_metric *m = &a->group->v[a->metric], *n = &b->group->v[b->metric];
	int d = compare(a->group->host_rank, b->group->host_rank);

	if (!d)
		d = compare(a->group->condition_rank, b->group->condition_rank);
	if (!d)
		d = (a->group->order > b->group->order) - (a->group->order < b->group->order);
	if (!d)
		d = strverscmp(a->group->row_key, b->group->row_key);
	if (!d)
		d = compare(a->group_index, b->group_index);
	if (!d)
		d = compare(m->origin, n->origin);
	if (!d)
		d = compare(m->rank, n->rank);
	return d ? d : compare(a->metric, b->metric);
}

static void build(struct rows *rows, struct kab_row_list *ret)
{
	struct {
		struct order *v;
		size_t n, cap;
	} order = { 0 };
	/* Iterations of a group, chained in order: next[i] and the first of each. */
	size_t *first = kab_xcalloc(rows->groups.n + 1, sizeof(*first));
	size_t *next = kab_xcalloc(rows->iters.n + 1, sizeof(*next));
	bool paired = rows->n_runs > 0;

	for (size_t i = 0; i < rows->n_runs; i++)
		paired &= rows->run[i].paired;
	for (size_t i = rows->iters.n; i-- > 0;) {
		next[i] = first[rows->iters.v[i].group];
		first[rows->iters.v[i].group] = i + 1;
	}
	for (size_t g = 0; g < rows->groups.n; g++) {
		ask_verdicts(rows, &rows->groups.v[g]);
		for (size_t m = 0; m < rows->groups.v[g].n; m++)
			*KAB_PUSH(&order) = (struct order){ &rows->groups.v[g], g, m };
	}
	if (order.n)
		qsort(order.v, order.n, sizeof(*order.v), by_suite);
	for (size_t o = 0; o < order.n; o++) {
		const struct rows_group *g = order.v[o].group;
		const struct rows_metric *m = &g->v[order.v[o].metric];
		struct kab_row_data *row = KAB_PUSH(ret);

		row->host = kab_xstrdup(g->host);
		row->condition = kab_xstrdup(g->condition);
		row->case_name = kab_xstrdup(g->case_name);
		row->row_key = kab_xstrdup(g->row_key);
		row->runner = kab_xstrdup(g->runner);
		row->metric = kab_xstrdup(m->name);
		row->unit = kab_xstrdup(m->unit);
		row->dir = m->dir;
		row->primary = m->primary;
		row->margin_pct = m->margin_pct;
		row->paired = paired;
		if (rows->n_runs == 1) {
			row->looks = rows->run[0].looks;
			row->max_blocks = rows->run[0].max_blocks;
		}
		row->order = g->order;
		row->n_sets = rows->kernels.n;
		row->sets = kab_xcalloc(row->n_sets + 1, sizeof(*row->sets));
		for (size_t k = 0; k < row->n_sets; k++)
			row->sets[k].kernel = kab_xstrdup(rows->kernels.v[k]);
		for (size_t i = first[order.v[o].group_index]; i; i = next[i - 1])
			add_iteration(row, &rows->iters.v[i - 1], order.v[o].metric,
				      rows->run[rows->iters.v[i - 1].run].boots_unknown);
		for (size_t i = 0; i < rows->summaries.n; i++)
			if (rows->summaries.v[i].group == order.v[o].group_index &&
			    rows->summaries.v[i].metric == order.v[o].metric)
				add_summary(row, &rows->summaries.v[i]);
	}
	free(order.v);
	free(first);
	free(next);
}

int kab_store_load_rows(struct kab_store *store, const int64_t *run_ids, size_t n_runs,
			struct kab_row_list *ret, struct kab_err *err)
{
	struct rows rows = { 0 };
	int rc;

	*ret = (struct kab_row_list){ 0 };
	{
		KAB_STORE_GUARD(store);
		if (kab_tx_read_begin(store, err))
			return -1;
		rc = kab_rows_read(store, run_ids, n_runs, &rows, err);
		kab_tx_read_end(store);
	}
	if (!rc)
		build(&rows, ret);
	kab_rows_release(&rows);
	return rc;
}
