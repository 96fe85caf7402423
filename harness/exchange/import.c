/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a struct kab_import to a run of the store. */
#include "exchange/import.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

void kab_import_release(struct kab_import *import)
{
	for (size_t i = 0; i < import->n; i++) {
		struct kab_import_iter *it = &import->v[i];

		free(it->kernel);
		free(it->host);
		free(it->condition);
		free(it->case_name);
		free(it->row_key);
		free(it->runner);
		free(it->boot);
		free(it->reason);
		free(it->parse_status);
		free(it->params);
		free(it->runner_version);
		free(it->parser_version);
		free(it->log);
		kab_samples_release(&it->samples);
	}
	free(import->v);
	for (size_t i = 0; i < import->verdicts.n; i++) {
		free(import->verdicts.v[i].case_name);
		free(import->verdicts.v[i].runner);
		free(import->verdicts.v[i].metric);
		free(import->verdicts.v[i].unit);
	}
	free(import->verdicts.v);
	for (size_t i = 0; i < import->summaries.n; i++) {
		struct kab_import_summary *s = &import->summaries.v[i];

		free(s->kernel);
		free(s->host);
		free(s->condition);
		free(s->case_name);
		free(s->row_key);
		free(s->runner);
		free(s->metric);
		free(s->unit);
	}
	free(import->summaries.v);
	free(import->boots_text);
	kab_strv_release(&import->notes);
	kab_strv_release(&import->caveats);
	kab_strv_release(&import->unread);
	kab_strv_release(&import->digests);
	kab_strv_release(&import->kernels);
	kab_strv_release(&import->hosts);
	kab_strv_release(&import->cases);
	kab_strv_release(&import->conditions);
	*import = (struct kab_import){ 0 };
}

#define UNREAD_MAX 1000

static size_t index_of(const struct kab_strv *words, const char *word)
{
	size_t i = 0;

	while (i < words->n && strcmp(words->v[i], word))
		i++;
	return i;
}

/* NULL when a name is not UTF-8: JSON cannot hold it. */
static json_t *verdicts_of_case(const struct kab_import *import, const char *case_name,
				const char **ret_runner)
{
	json_t *list = json_array();

	for (size_t i = 0; i < import->verdicts.n; i++) {
		const struct kab_import_verdict *v = &import->verdicts.v[i];

		if (strcmp(v->case_name, case_name))
			continue;
		*ret_runner = v->runner;
		if (json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "metric", v->metric,
							  "unit", v->unit, "direction",
							  kab_direction_name(v->dir)))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* What a reader of the report must know of where the figures come from. */
static json_t *origin_of(const struct kab_import *import)
{
	json_t *notes = json_array(), *caveats = json_array(), *unread = json_array();
	char hex[KAB_SHA256_HEX_SIZE];
	const char *boots = import->boots_known ? "known" : "unknown";
	const char *text = import->boots_text ? import->boots_text : "";

	for (size_t i = 0; i < import->notes.n; i++)
		json_array_append_new(notes, json_string(import->notes.v[i]));
	for (size_t i = 0; i < import->caveats.n; i++)
		json_array_append_new(caveats, json_string(import->caveats.v[i]));
	for (size_t i = 0; i < import->unread.n && i < UNREAD_MAX; i++)
		json_array_append_new(unread, json_string(import->unread.v[i]));
	kab_import_sha256(import, hex);
	return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:I, s:o}", "boots", boots, "boots_text",
			 text, "sha256", hex, "files", (json_int_t)import->digests.n, "notes",
			 notes, "caveats", caveats, "unread_count", (json_int_t)import->unread.n,
			 "unread", unread);
}

static char *plan_of(const struct kab_import *import, const struct kab_import_opts *opts)
{
	json_t *cases = json_array(), *conditions = json_array(), *origin = origin_of(import), *doc;
	bool ok = origin != NULL;
	char *text;

	for (size_t c = 0; c < import->cases.n; c++) {
		const char *runner = "";
		json_t *list = verdicts_of_case(import, import->cases.v[c], &runner);

		ok &= list &&
		      !json_array_append_new(cases, json_pack("{s:s, s:s, s:i, s:o}", "name",
							      import->cases.v[c], "runner", runner,
							      "order", (int)c, "verdict", list));
	}
	for (size_t c = 0; c < import->conditions.n; c++)
		json_array_append_new(conditions,
				      json_pack("{s:s}", "text", import->conditions.v[c]));
	doc = json_pack("{s:s, s:o?, s:o, s:{s:s, s:s}, s:{s:f, s:o}}", "imported", opts->source,
			"import", origin, "conditions", conditions, "analysis", "design",
			import->paired ? "paired" : "unpaired", "reason",
			import->paired ? "paired by block, as the imported file says"
				       : "imported: the order of boots is not known",
			"judge", "margin_pct", opts->margin_pct, "cases", cases);
	text = ok ? json_dumps(doc, JSON_COMPACT) : NULL;
	json_decref(doc);
	return text;
}

/* The plan that would have given these results. */
struct plan {
	struct kab_store_host *hosts;
	struct kab_store_kernel *kernels;
	struct {
		struct kab_store_boot *v;
		size_t n, cap;
	} boots;
	struct kab_strv boot_names; /* "host\x1fkernel\x1fboot" */
	struct kab_store_step *steps;
};

static void plan_release(struct plan *p)
{
	free(p->hosts);
	free(p->kernels);
	free(p->boots.v);
	kab_strv_release(&p->boot_names);
	free(p->steps);
}

static size_t boot_of(struct plan *p, const struct kab_import *import,
		      const struct kab_import_iter *it)
{
	kab_autofree char *name = kab_xasprintf("%s\x1f%s\x1f%s", it->host, it->kernel,
						import->boots_known ? it->boot : "1");
	size_t i = index_of(&p->boot_names, name);
	struct kab_store_boot *b;
	int sequence = 1;

	if (i < p->boot_names.n)
		return i;
	kab_strv_add(&p->boot_names, name);
	for (size_t k = 0; k < p->boots.n; k++)
		sequence += p->boots.v[k].host == index_of(&import->hosts, it->host);
	b = KAB_PUSH(&p->boots);
	*b = (struct kab_store_boot){ .host = index_of(&import->hosts, it->host),
				      .kernel = index_of(&import->kernels, it->kernel),
				      .block = import->paired ? it->block - 1 : -1,
				      .sequence = sequence };
	return i;
}

static bool same_row(const struct kab_store_step *a, const struct kab_store_step *b)
{
	return a->boot == b->boot && !strcmp(a->case_name, b->case_name) &&
	       !strcmp(a->row_key, b->row_key) && !strcmp(a->condition, b->condition) &&
	       !strcmp(a->runner, b->runner);
}

static int by_row(const void *pa, const void *pb)
{
	const struct kab_store_step *a = *(const struct kab_store_step *const *)pa,
				    *b = *(const struct kab_store_step *const *)pb;
	int d = (a->boot > b->boot) - (a->boot < b->boot);

	if (!d)
		d = strcmp(a->case_name, b->case_name);
	if (!d)
		d = strcmp(a->row_key, b->row_key);
	if (!d)
		d = strcmp(a->condition, b->condition);
	if (!d)
		d = strcmp(a->runner, b->runner);
	return d ? d : (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static void number_iterations(struct kab_store_step *steps, size_t n)
{
	struct kab_store_step **sorted kab_autofree = kab_xcalloc(n + 1, sizeof(*sorted));

	for (size_t i = 0; i < n; i++)
		sorted[i] = &steps[i];
	qsort(sorted, n, sizeof(*sorted), by_row);
	for (size_t i = 0; i < n; i++)
		sorted[i]->iteration =
			i && same_row(sorted[i - 1], sorted[i]) ? sorted[i - 1]->iteration + 1 : 1;
}

static void make_plan(const struct kab_import *import, struct plan *p)
{
	p->hosts = kab_xcalloc(import->hosts.n + 1, sizeof(*p->hosts));
	p->kernels = kab_xcalloc(import->kernels.n + 1, sizeof(*p->kernels));
	p->steps = kab_xcalloc(import->n + 1, sizeof(*p->steps));
	for (size_t i = 0; i < import->hosts.n; i++)
		p->hosts[i] =
			(struct kab_store_host){ .label = import->hosts.v[i], .position = (int)i };
	for (size_t i = 0; i < import->kernels.n; i++)
		p->kernels[i] = (struct kab_store_kernel){ .label = import->kernels.v[i],
							   .spec = "imported",
							   .position = (int)i };
	for (size_t i = 0; i < import->n; i++) {
		const struct kab_import_iter *it = &import->v[i];

		p->steps[i] = (struct kab_store_step){
			.boot = boot_of(p, import, it),
			.condition = it->condition,
			.case_name = it->case_name,
			.row_key = it->row_key,
			.runner = it->runner,
			.params_text = it->params,
			.case_order = (int)index_of(&import->cases, it->case_name),
			.sequence = (int64_t)i + 1,
		};
	}
	number_iterations(p->steps, import->n);
}

static int commit(struct kab_store *store, int64_t id, const struct kab_import_iter *it,
		  struct kab_err *err)
{
	struct kab_store_stream stream = { "merged", it->log, it->log_len, it->log_cut };
	struct kab_store_result result = {
		.iteration_id = id,
		.state = it->state,
		.reason = it->reason,
		.parse_status = it->parse_status,
		.exit_status = it->exit_status,
		.elapsed_s = NAN,
		.user_s = NAN,
		.system_s = NAN,
		.max_rss_kb = NAN,
		.params_resolved = *it->params ? it->params : NULL,
		.runner_version = it->runner_version,
		.parser_version = it->parser_version,
		.samples = it->samples.v,
		.n_samples = it->samples.n,
		.streams = &stream,
		.n_streams = it->log ? 1 : 0,
	};

	return kab_store_commit_iteration(store, &result, err);
}

static int store_all(struct kab_store *store, struct kab_import *import, struct plan *p,
		     struct kab_store_run *run, char **ret_name, struct kab_err *err)
{
	if (kab_store_create_run(store, run, p->hosts, import->hosts.n, p->kernels,
				 import->kernels.n, p->boots.v, p->boots.n, p->steps, import->n,
				 ret_name, err))
		return -1;
	for (size_t i = 0; i < import->n; i++)
		if (commit(store, p->steps[i].id, &import->v[i], err))
			return -1;
	for (size_t i = 0; i < import->summaries.n; i++) {
		const struct kab_import_summary *s = &import->summaries.v[i];
		struct kab_store_summary summary = { s->host,	   s->kernel,  s->condition,
						     s->case_name, s->row_key, s->runner,
						     s->metric,	   s->unit,    s->dir,
						     s->n,	   s->mean,    s->sd };

		if (kab_store_put_summary(store, run->id, &summary, err))
			return -1;
	}
	for (size_t i = 0; i < p->boots.n; i++)
		if (kab_store_boot_state(store, p->boots.v[i].id, "done", NULL, err))
			return -1;
	return kab_store_set_run_state(store, run->id, KAB_RUN_COMPLETE, err);
}

/* One and the same figure as samples and as a summary: which of them is meant nobody can tell. */
static int check_mixture(const struct kab_import *import, struct kab_err *err)
{
	for (size_t i = 0; i < import->summaries.n; i++) {
		const struct kab_import_summary *s = &import->summaries.v[i];

		for (size_t k = 0; k < import->n; k++) {
			const struct kab_import_iter *it = &import->v[k];

			if (strcmp(it->kernel, s->kernel) || strcmp(it->host, s->host) ||
			    strcmp(it->condition, s->condition) ||
			    strcmp(it->case_name, s->case_name) ||
			    strcmp(it->row_key, s->row_key) || strcmp(it->runner, s->runner))
				continue;
			for (size_t m = 0; m < it->samples.n; m++)
				if (!strcmp(it->samples.v[m].metric, s->metric))
					return kab_err_set(
						err, KAB_ERR_PARSE,
						"'%s' of kernel '%s' in '%s' comes both as values "
						"and as a summary; they are not mixed: import them "
						"one by one",
						s->metric, s->kernel, s->case_name);
		}
	}
	return 0;
}

int kab_import_store(struct kab_store *store, struct kab_import *import,
		     const struct kab_import_opts *opts, int64_t *ret_id, char **ret_name,
		     struct kab_err *err)
{
	char *json kab_autofree = plan_of(import, opts);
	struct kab_store_run run = {
		.name = opts->name,
		.suite_name = "import",
		.suite_json = "{}",
		.plan_json = json,
		.command_line = opts->command_line,
		.kab_version = opts->kab_version,
		.created_wall_ns = kab_now_wall_ns(),
	};
	struct plan p = { 0 };
	int rc;

	*ret_name = NULL;
	if (check_mixture(import, err))
		return -1;
	if (!json)
		return kab_err_set(err, KAB_ERR_PARSE, "a name in it is not valid UTF-8");
	make_plan(import, &p);
	rc = kab_store_bulk_begin(store, err);
	if (!rc) {
		rc = store_all(store, import, &p, &run, ret_name, err);
		if (kab_store_bulk_end(store, !rc, rc ? NULL : err))
			rc = -1;
	}
	plan_release(&p);
	if (rc) {
		free(*ret_name);
		*ret_name = NULL;
		return -1;
	}
	*ret_id = run.id;
	return 0;
}
