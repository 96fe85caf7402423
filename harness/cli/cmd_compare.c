/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any kernels against a baseline, of one run or of several. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/circumstances.h"
#include "cli/commands.h"
#include "cli/find_run.h"
#include "cli/reporting.h"

/* One argument: a run and, with a colon, one of its kernels. */
struct source {
	struct kab_run_info run;
	char *label; /* NULL: all kernels of the run */
	struct kab_row_list rows;
};

struct sources {
	struct source *v;
	size_t n, cap;
};

static int open_source(struct kab_cli *cli, struct kab_store *store, const char *arg,
		       struct source *src, struct kab_err *err)
{
	const char *colon = strrchr(arg, ':');
	char *name kab_autofree =
		colon ? kab_xstrndup(arg, (size_t)(colon - arg)) : kab_xstrdup(arg);
	bool found = false;

	if (colon)
		src->label = kab_xstrdup(colon + 1);
	if (kab_cli_find_measured(cli, store, *name ? name : NULL, &src->run, err) < 0 ||
	    kab_store_load_rows(store, &src->run.id, 1, &src->rows, err) < 0)
		return -1;
	for (size_t r = 0; r < src->rows.n; r++)
		for (size_t k = 0; k < src->rows.v[r].n_sets; k++)
			found |= !src->label || !strcmp(src->rows.v[r].sets[k].kernel, src->label);
	if (!found && src->label)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "run '%s' has no kernel '%s'",
				   src->run.name, src->label);
	if (!found)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "run '%s' has no results",
				   src->run.name);
	return 0;
}

/* The kernels of the comparison, in the order of the arguments. */
struct place {
	const struct source *src;
	char *kernel; /* owned: sets are moved away while places are still needed */
	char *label; /* owned; as printed, unique */
};
struct places {
	struct place *v;
	size_t n, cap;
};

static bool has_place(const struct places *places, const struct source *src, const char *kernel)
{
	for (size_t i = 0; i < places->n; i++)
		if (places->v[i].src->run.id == src->run.id && !strcmp(places->v[i].kernel, kernel))
			return true;
	return false;
}

static void find_places(const struct sources *sources, struct places *ret)
{
	for (size_t s = 0; s < sources->n; s++) {
		const struct source *src = &sources->v[s];

		for (size_t r = 0; r < src->rows.n; r++) {
			for (size_t k = 0; k < src->rows.v[r].n_sets; k++) {
				const char *kernel = src->rows.v[r].sets[k].kernel;
				struct place *p;

				if ((src->label && strcmp(kernel, src->label) != 0) ||
				    has_place(ret, src, kernel))
					continue;
				p = KAB_PUSH(ret);
				p->src = src;
				p->kernel = kab_xstrdup(kernel);
			}
		}
	}
	for (size_t i = 0; i < ret->n; i++) {
		bool twice = false;

		for (size_t k = 0; k < ret->n; k++)
			twice |= k != i && !strcmp(ret->v[k].kernel, ret->v[i].kernel);
		ret->v[i].label =
			twice ? kab_xasprintf("%s:%s", ret->v[i].src->run.name, ret->v[i].kernel)
			      : kab_xstrdup(ret->v[i].kernel);
	}
}

static bool same_row(const struct kab_row_data *a, const struct kab_row_data *b, bool hosts)
{
	return (!hosts || !strcmp(a->host, b->host)) && !strcmp(a->condition, b->condition) &&
	       !strcmp(a->case_name, b->case_name) && !strcmp(a->row_key, b->row_key) &&
	       !strcmp(a->runner, b->runner) && !strcmp(a->metric, b->metric) &&
	       !strcmp(a->unit, b->unit) && a->dir == b->dir;
}

/* Whether the sources share a host label; if not, hosts are what is compared. */
static bool share_hosts(const struct sources *sources)
{
	for (size_t s = 1; s < sources->n; s++) {
		bool shared = false;

		for (size_t a = 0; a < sources->v[0].rows.n; a++)
			for (size_t b = 0; b < sources->v[s].rows.n && !shared; b++)
				shared = !strcmp(sources->v[0].rows.v[a].host,
						 sources->v[s].rows.v[b].host);
		if (!shared)
			return false;
	}
	return true;
}

static struct kab_row_data *row_for(struct kab_row_list *out, const struct kab_row_data *like,
				    bool hosts, const struct places *places)
{
	struct kab_row_data *row;

	for (size_t r = 0; r < out->n; r++)
		if (same_row(&out->v[r], like, hosts))
			return &out->v[r];
	row = KAB_PUSH(out);
	*row = *like;
	row->host = kab_xstrdup(like->host);
	row->condition = kab_xstrdup(like->condition);
	row->case_name = kab_xstrdup(like->case_name);
	row->row_key = kab_xstrdup(like->row_key);
	row->runner = kab_xstrdup(like->runner);
	row->metric = kab_xstrdup(like->metric);
	row->unit = kab_xstrdup(like->unit);
	row->n_sets = places->n;
	row->sets = kab_xcalloc(places->n, sizeof(*row->sets));
	for (size_t p = 0; p < places->n; p++)
		row->sets[p].kernel = kab_xstrdup(places->v[p].label);
	return row;
}

/* Move the sets of all sources into one list; the emptied ones stay with their owners. */
static void merge(struct sources *sources, const struct places *places, bool hosts, bool one_run,
		  struct kab_row_list *out)
{
	for (size_t p = 0; p < places->n; p++) {
		const struct place *place = &places->v[p];
		struct source *src = &sources->v[place->src - sources->v];

		for (size_t r = 0; r < src->rows.n; r++) {
			struct kab_row_data *from = &src->rows.v[r], *to;

			for (size_t k = 0; k < from->n_sets; k++) {
				struct kab_sample_set *set = &from->sets[k], empty = { 0 };

				if (strcmp(set->kernel, place->kernel) != 0)
					continue;
				to = row_for(out, from, hosts, places);
				to->primary |= from->primary;
				to->restarts |= from->restarts;
				to->paired = to->paired && from->paired && one_run;
				empty.kernel = to->sets[p].kernel;
				to->sets[p] = *set;
				free(to->sets[p].kernel);
				to->sets[p].kernel = empty.kernel;
				empty.kernel = kab_xstrdup("");
				*set = empty;
			}
		}
	}
}

static int describe(struct kab_store *store, const struct places *places, bool hosts, bool names,
		    const struct kab_judgement *j, struct kab_preamble *ret, struct kab_err *err)
{
	struct kab_compared *kernels = kab_xcalloc(places->n + 1, sizeof(*kernels));
	int status;

	for (size_t p = 0; p < places->n; p++)
		kernels[p] = (struct kab_compared){ &places->v[p].src->run, places->v[p].kernel,
						    places->v[p].label };
	status = kab_circumstances_across(store, kernels, places->n, j, names, ret, err);
	free(kernels);
	kab_strv_add(&ret->notices,
		     "Kernels of different runs: tested unpaired; their order was not "
		     "randomised together, so that drift between the runs is in the result.");
	if (!hosts)
		kab_strv_add(&ret->notices,
			     "The runs have no host in common: rows are matched without the host, "
			     "and hosts differ as well as kernels.");
	return status;
}

static void add_title(const char *arg, const struct kab_run_info *run, struct kab_strv *title,
		      struct kab_strv *origin)
{
	char *what kab_autofree = kab_reporting_origin(run);
	char *text = kab_xasprintf("%s: %s", run->name, what);

	kab_strv_add(title, arg);
	if (!kab_strv_has(origin, text))
		kab_strv_add(origin, text);
	free(text);
}

static int compare(struct kab_cli *cli, struct kab_store *store, const struct kab_args *args,
		   const struct kab_reporting *r, struct sources *sources, struct kab_err *err)
{
	struct kab_strv kab_autostrv title = KAB_STRV_INIT, origin = KAB_STRV_INIT;
	char *title_text kab_autofree = NULL, *origin_text kab_autofree = NULL;
	struct kab_judgement judgement = { 0 };
	struct kab_preamble preamble = { 0 };
	struct kab_reporting titled = *r;
	struct kab_row_list rows = { 0 };
	struct places places = { 0 };
	bool hosts, one_run = true;
	int status = -1;

	/* Places point into the array: all of it first. */
	sources->v = kab_xcalloc(kab_args_n(args), sizeof(*sources->v));
	sources->n = kab_args_n(args);
	for (size_t s = 0; s < sources->n; s++) {
		if (open_source(cli, store, kab_args_at(args, s), &sources->v[s], err) < 0)
			return -1;
		one_run = one_run && sources->v[s].run.id == sources->v[0].run.id;
		add_title(kab_args_at(args, s), &sources->v[s].run, &title, &origin);
	}
	titled.title = title_text = kab_strv_join(&title, " against ");
	titled.origin = origin_text = kab_strv_join(&origin, "; ");
	hosts = share_hosts(sources);
	find_places(sources, &places);
	if (places.n < 2) {
		kab_err_set(err, KAB_ERR_USAGE,
			    "only one kernel to compare; name another run, or RUN:LABEL twice");
		goto out;
	}
	merge(sources, &places, hosts, one_run, &rows);
	if (kab_judge(&rows, &r->judge, &judgement, err) < 0)
		goto out;
	if (one_run) {
		if (kab_circumstances(store, &sources->v[0].run, &judgement, r->names, &preamble,
				      err) < 0)
			goto out;
	} else if (describe(store, &places, hosts, r->names, &judgement, &preamble, err) < 0) {
		goto out;
	}
	if (kab_reporting_print(cli, &titled, &judgement, &preamble, err) < 0)
		goto out;
	status = kab_cli_finish(cli, kab_reporting_status(r, &judgement));
out:
	for (size_t i = 0; i < places.n; i++) {
		free(places.v[i].kernel);
		free(places.v[i].label);
	}
	free(places.v);
	kab_preamble_release(&preamble);
	kab_judgement_release(&judgement);
	kab_row_list_release(&rows);
	return status;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_err err = KAB_ERR_INIT;
	struct sources sources = { 0 };
	struct kab_store *store = NULL;
	struct kab_reporting r;
	int status;

	if (kab_reporting_options(args, &r, &err) < 0 ||
	    kab_cli_open_store(cli, KAB_STORE_READ, &store, &err) < 0)
		return kab_cli_fail(cli, &err);
	status = compare(cli, store, args, &r, &sources, &err);
	for (size_t s = 0; s < sources.n; s++) {
		kab_run_info_release(&sources.v[s].run);
		kab_row_list_release(&sources.v[s].rows);
		free(sources.v[s].label);
	}
	free(sources.v);
	kab_store_close(store);
	return status < 0 ? kab_cli_fail(cli, &err) : status;
}

static const struct kab_opt opts[] = { KAB_REPORTING_OPTS };

const struct kab_cmd kab_cmd_compare = {
	.name = "compare",
	.summary = "compare any kernels, of one run or of several",
	.synopsis = "RUN[:LABEL] [RUN[:LABEL]]... [--style S] [--format F] [--gate] ...",
	.description =
		"The first kernel named is the baseline. RUN alone stands for all its kernels.\n"
		"Rows are matched by host, condition, case, sweep values and metric; where the "
		"runs\n"
		"have no host in common, without the host. Kernels of different runs are tested\n"
		"unpaired. What one side does not have is missing. Options as for 'kab report'.",
	.example = "  kab compare monday:tip friday:patched\n  kab compare a b --style grid",
	.completes = "run",
	.opts = opts,
	.min_pos = 1,
	.max_pos = -1,
	.run = run,
};
