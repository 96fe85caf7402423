/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every sample in a line of its own, and a line with a word for every sample that is not there. The
 * lines come in the order of the report, baseline first: a table has no other way to say which kernel
 * is the baseline, and who reads it takes the first one. `sequence` has the order of execution.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "exchange/export.h"

/* docs/exchange.md describes them; their order is a promise. */
static const char header[] = "run,host,kernel,release,condition,case,row,params,runner,metric,unit,"
			     "direction,boot,iteration,sample,attempts,sequence,state,value,"
			     "reason,block\n";

static void add_text(struct kab_buf *ret, const char *s)
{
	kab_text_csv(ret, s);
	kab_buf_addc(ret, ',');
}

struct line {
	const char *metric, *unit;
	enum kab_direction dir;
	int sample; /* which of the metric in its iteration, from 1; 0: none */
	const char *state, *reason;
	const double *value; /* NULL: none */
};

static void add_line(const struct kab_export *x, const struct kab_export_step *step,
		     const struct kab_export_opts *opts, const struct line *l, struct kab_buf *ret)
{
	const struct kab_boot_info *boot = &x->boots[step->boot];
	const struct kab_step_info *s = &step->info;
	struct kab_buf kab_autobuf host = KAB_BUF_INIT, reason = KAB_BUF_INIT;

	kab_export_sentence(x, l->reason, opts->names, &reason);
	kab_export_host(x, boot->host, opts->names, &host);
	add_text(ret, x->info.name);
	add_text(ret, kab_buf_str(&host));
	add_text(ret, boot->kernel);
	add_text(ret, boot->release);
	add_text(ret, s->condition);
	add_text(ret, s->case_name);
	add_text(ret, s->row_key);
	add_text(ret, s->params_resolved ? s->params_resolved : s->params_text);
	add_text(ret, s->runner);
	add_text(ret, l->metric);
	add_text(ret, l->unit);
	add_text(ret, kab_direction_name(l->dir));
	kab_buf_addf(ret, "%zu,%d,", step->boot + 1, s->iteration);
	if (l->sample)
		kab_buf_addf(ret, "%d", l->sample);
	kab_buf_addf(ret, ",%d,%lld,%s,", step->attempts, (long long)s->sequence, l->state);
	if (l->value)
		kab_export_number(*l->value, ret);
	kab_buf_addc(ret, ',');
	add_text(ret, kab_buf_str(&reason));
	/* Only where the plan has pairs: who reads it tests them as pairs then. */
	if (x->rows.n && x->rows.v[0].paired && boot->block >= 0)
		kab_buf_addf(ret, "%d", boot->block + 1);
	kab_buf_addc(ret, '\n');
}

static int ordinal(const struct kab_samples *samples, size_t i)
{
	int n = 1;

	for (size_t k = 0; k < i; k++)
		n += !strcmp(samples->v[k].metric, samples->v[i].metric) &&
		     !strcmp(samples->v[k].unit, samples->v[i].unit);
	return n;
}

static bool has_metric(const struct kab_samples *samples, const char *metric)
{
	for (size_t i = 0; i < samples->n; i++)
		if (!strcmp(samples->v[i].metric, metric))
			return true;
	return false;
}

/* The metrics that were due, and are not there. */
static size_t add_absent(const struct kab_export *x, const struct kab_export_step *step,
			 const struct kab_export_opts *opts, struct kab_buf *ret)
{
	const struct kab_step_info *s = &step->info;
	bool done = s->state == KAB_ITER_DONE;
	struct line l = { .state = done ? "missing" : kab_iter_state_name(s->state),
			  .reason = s->reason ? s->reason
				    : done    ? "the iteration has no value of it"
					      : "" };
	size_t n = 0;

	for (size_t r = 0; r < x->rows.n; r++) {
		const struct kab_row_data *row = &x->rows.v[r];

		if (!row->primary || strcmp(row->host, x->boots[step->boot].host) ||
		    strcmp(row->condition, s->condition) || strcmp(row->case_name, s->case_name) ||
		    strcmp(row->row_key, s->row_key) || has_metric(&step->samples, row->metric))
			continue;
		/* Those that kab measured itself are in no reading. */
		if (done && !strncmp(row->metric, "invocation_", 11))
			continue;
		l.metric = row->metric;
		l.unit = row->unit;
		l.dir = row->dir;
		add_line(x, step, opts, &l, ret);
		n++;
	}
	return n;
}

static bool is_judged(const struct kab_export *x, const struct kab_step_info *s, const char *metric)
{
	for (size_t r = 0; r < x->rows.n; r++) {
		const struct kab_row_data *row = &x->rows.v[r];

		if (row->primary && !strcmp(row->case_name, s->case_name) &&
		    !strcmp(row->row_key, s->row_key) && !strcmp(row->metric, metric))
			return true;
	}
	return false;
}

static bool is_row_of(const struct kab_row_data *row, const char *host,
		      const struct kab_step_info *s)
{
	return !strcmp(row->case_name, s->case_name) && !strcmp(row->row_key, s->row_key) &&
	       !strcmp(row->host, host) && !strcmp(row->condition, s->condition);
}

/* Where something stands among the rows of the report; metric NULL: the first of its rows. */
static size_t rank(const struct kab_export *x, const struct kab_export_step *step,
		   const char *metric)
{
	size_t r = 0;

	while (r < x->rows.n &&
	       !(is_row_of(&x->rows.v[r], x->boots[step->boot].host, &step->info) &&
		 (!metric || !strcmp(x->rows.v[r].metric, metric))))
		r++;
	return r;
}

static size_t kernel_rank(const struct kab_export *x, const char *kernel)
{
	size_t k = 0, n = x->rows.n ? x->rows.v[0].n_sets : 0;

	while (k < n && strcmp(x->rows.v[0].sets[k].kernel, kernel))
		k++;
	return k;
}

struct place {
	size_t kernel, row, index;
};

static int by_place(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;
	int d = (a->kernel > b->kernel) - (a->kernel < b->kernel);

	if (!d)
		d = (a->row > b->row) - (a->row < b->row);
	return d ? d : (a->index > b->index) - (a->index < b->index);
}

static void add_step(const struct kab_export *x, const struct kab_export_step *step,
		     const struct kab_export_opts *opts, struct kab_buf *ret)
{
	const struct kab_step_info *s = &step->info;
	struct place *order kab_autofree = kab_xcalloc(step->samples.n + 1, sizeof(*order));
	struct line l = { .state = kab_iter_state_name(s->state), .reason = s->reason };
	size_t n = 0;

	if (opts->kernel && strcmp(opts->kernel, x->boots[step->boot].kernel))
		return;
	for (size_t i = 0; i < step->samples.n; i++)
		order[i] = (struct place){ 0, rank(x, step, step->samples.v[i].metric), i };
	qsort(order, step->samples.n, sizeof(*order), by_place);
	for (size_t k = 0; k < step->samples.n; k++) {
		size_t i = order[k].index;
		const struct kab_sample *sample = &step->samples.v[i];

		if (!opts->all && !is_judged(x, s, sample->metric))
			continue;
		l.metric = sample->metric;
		l.unit = sample->unit;
		l.dir = sample->dir;
		l.sample = ordinal(&step->samples, i);
		l.value = &sample->value;
		add_line(x, step, opts, &l, ret);
		n++;
	}
	n += add_absent(x, step, opts, ret);
	if (!n) {
		l = (struct line){ .state = kab_iter_state_name(s->state), .reason = s->reason };
		add_line(x, step, opts, &l, ret);
	}
}

static void add_run(const struct kab_export *x, const struct kab_export_opts *opts,
		    struct kab_buf *ret)
{
	struct place *order kab_autofree = kab_xcalloc(x->n_steps + 1, sizeof(*order));

	for (size_t i = 0; i < x->n_steps; i++)
		order[i] = (struct place){ kernel_rank(x, x->boots[x->steps[i].boot].kernel),
					   rank(x, &x->steps[i], NULL), i };
	qsort(order, x->n_steps, sizeof(*order), by_place);
	for (size_t i = 0; i < x->n_steps; i++)
		add_step(x, &x->steps[order[i].index], opts, ret);
}

void kab_export_csv(const struct kab_export *runs, size_t n, const struct kab_export_opts *opts,
		    struct kab_buf *ret)
{
	kab_buf_adds(ret, header);
	for (size_t r = 0; r < n; r++)
		add_run(&runs[r], opts, ret);
}
