/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run before anything runs: the plan becomes rows of the store. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/bind.h"
#include "engine/engine.h"
#include "model/expr.h"

static json_t *verdicts_of(const struct kab_suite *suite)
{
	json_t *cases = json_array();

	for (size_t i = 0; i < suite->cases_n; i++) {
		const struct kab_case *c = &suite->cases[i];
		struct kab_strv kab_autostrv metrics = KAB_STRV_INIT;
		json_t *list = json_array();

		kab_case_verdict_metrics(c, &metrics);
		for (size_t m = 0; m < metrics.n; m++) {
			const struct kab_metric_def *def =
				kab_runner_metric(kab_case_runner(c), metrics.v[m]);

			/* Unit and direction let a row that nobody measured still say what failed. */
			json_array_append_new(
				list,
				json_pack("{s:s, s:f, s:s, s:s}", "metric", metrics.v[m],
					  "margin_pct", kab_case_margin(c, metrics.v[m]), "unit",
					  def ? def->unit : "", "direction",
					  kab_direction_name(def ? def->dir : KAB_DIR_LOWER)));
		}
		json_array_append_new(cases,
				      json_pack("{s:s, s:s, s:i, s:o}", "name", c->name, "runner",
						c->runner, "order", (int)i, "verdict", list));
	}
	return json_pack("{s:f, s:o}", "margin_pct", suite->margin_pct, "cases", cases);
}

static json_t *conditions_of(const struct kab_plan *plan)
{
	json_t *all = json_array();

	for (size_t i = 0; i < plan->n_conditions; i++) {
		json_t *settings = json_array();

		for (size_t k = 0; k < plan->conditions[i].n; k++)
			json_array_append_new(settings,
					      json_pack("{s:s, s:s}", "name",
							plan->conditions[i].v[k].name, "value",
							plan->conditions[i].v[k].value));
		json_array_append_new(all, json_pack("{s:s, s:o}", "text", plan->conditions[i].text,
						     "settings", settings));
	}
	return all;
}

/* What "running" meant on each host when the run was made: a resume must find the same kernel. */
static json_t *running_of(const struct kab_engine_new *what)
{
	json_t *hosts = json_object();

	for (size_t i = 0; i < what->n_hosts; i++)
		json_object_set_new(hosts, what->hosts[i]->name,
				    json_pack("{s:s, s:s}", "release",
					      kab_facts_get(&what->facts[i], "release"), "build_id",
					      kab_facts_get(&what->facts[i], "build_id")));
	return hosts;
}

static char *plan_json(const struct kab_engine_new *what, struct kab_err *err)
{
	const struct kab_plan *plan = what->plan;
	json_t *kernels = json_array(), *hosts = json_array(), *doc;
	uint64_t nonce;
	char uid[17], *text, *analysis kab_autofree = NULL;

	/* Names runs on the targets: two databases must never mean the same folder. */
	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce)) {
		kab_err_errno(err, KAB_ERR_ENV, "cannot get random bytes");
		json_decref(kernels);
		json_decref(hosts);
		return NULL;
	}
	snprintf(uid, sizeof(uid), "%016llx", (unsigned long long)nonce);
	for (size_t i = 0; i < what->kernels->n; i++)
		json_array_append_new(kernels, kab_kernel_to_json(&what->kernels->v[i]));
	for (size_t i = 0; i < what->n_hosts; i++)
		json_array_append_new(hosts, json_string(what->hosts[i]->name));
	analysis = plan->stop_text ? kab_xasprintf("%s; %s", plan->analysis, plan->stop_text)
				   : kab_xstrdup(plan->analysis);
	doc = json_pack(
		"{s:i, s:s, s:I, s:i, s:i, s:i, s:i, s:b, s:b, s:{s:s, s:s}, s:o, s:o, s:o, "
		"s:o, s:o}",
		"format", 1, "uid", uid, "seed", (json_int_t)plan->seed, "boots", plan->boots,
		"iterations", plan->iterations, "warmup", plan->warmup, "retry", plan->retry,
		"restarts", plan->restarts, "booting", plan->booting, "analysis", "design",
		plan->paired ? "paired" : "unpaired", "reason", analysis, "kernels", kernels,
		"hosts", hosts, "running", running_of(what), "conditions", conditions_of(plan),
		"judge", verdicts_of(what->suite));
	if (plan->stopping.rule != KAB_STOP_FIXED)
		json_object_set_new(
			doc, "stopping",
			json_pack("{s:i, s:s, s:f, s:i}", "rule", (int)plan->stopping.rule, "text",
				  plan->stop_text, "half_width_pct", plan->stopping.half_width_pct,
				  "looks",
				  plan->stopping.rule == KAB_STOP_EARLY ? KAB_STOP_LOOKS : 0));
	if (what->condition_args && what->condition_args->n) {
		json_t *list = json_array();

		for (size_t i = 0; i < what->condition_args->n; i++)
			json_array_append_new(list, json_string(what->condition_args->v[i]));
		json_object_set_new(doc, "condition_args", list);
	}
	if (what->aa)
		json_object_set_new(doc, "aa", json_true());
	text = json_dumps(doc, JSON_COMPACT);
	json_decref(doc);
	return text;
}

void kab_engine_store_boot(const struct kab_plan *plan, size_t i, struct kab_store_boot *ret)
{
	*ret = (struct kab_store_boot){ .host = plan->boot_v[i].host,
					.kernel = plan->boot_v[i].kernel,
					.block = plan->boot_v[i].block,
					.sequence = plan->boot_v[i].sequence,
					.restart = plan->restarts };
}

void kab_engine_store_step(const struct kab_plan *plan, const struct kab_suite *suite, size_t i,
			   size_t boot, const char *params, struct kab_store_step *ret)
{
	const struct kab_plan_step *s = &plan->step_v[i];
	const struct kab_instance *in = &suite->instances[s->instance];
	const struct kab_case *c = &suite->cases[in->case_index];

	*ret = (struct kab_store_step){ .boot = boot,
					.condition = plan->conditions[s->condition].text,
					.case_name = c->name,
					.row_key = in->row_key,
					.runner = c->runner,
					.params_text = params,
					.case_order = in->order,
					.iteration = s->iteration,
					.warmup = s->warmup,
					.sequence = s->sequence };
}

int kab_engine_create(struct kab_store *store, const struct kab_engine_new *what, int64_t *ret_id,
		      char **ret_name, struct kab_err *err)
{
	const struct kab_plan *plan = what->plan;
	struct kab_store_host *hosts kab_autofree = kab_xcalloc(what->n_hosts + 1, sizeof(*hosts));
	struct kab_store_kernel *kernels kab_autofree =
		kab_xcalloc(what->kernels->n + 1, sizeof(*kernels));
	struct kab_store_boot *boots kab_autofree = kab_xcalloc(plan->n_boots + 1, sizeof(*boots));
	struct kab_store_step *steps kab_autofree = kab_xcalloc(plan->n_steps + 1, sizeof(*steps));
	size_t *place kab_autofree = kab_xcalloc(plan->n_boots + 1, sizeof(*place));
	size_t n_boots = 0, n_steps = 0;
	char **params kab_autofree = kab_xcalloc(what->suite->instances_n + 1, sizeof(*params));
	char *json kab_autofree = plan_json(what, err);
	char *lab kab_autofree = NULL;
	struct kab_store_run run = {
		.name = what->name,
		.suite_name = what->suite->name,
		.suite_json = what->suite->json,
		.plan_json = json,
		.command_line = what->command_line,
		.kab_version = what->version,
		.created_wall_ns = kab_now_wall_ns(),
	};
	int status;

	if (!json)
		return -1;
	if (what->lab->file) {
		char *path kab_autofree = realpath(what->lab->file, NULL);
		json_t *doc = json_pack("{s:s}", "file", path ? path : what->lab->file);

		lab = json_dumps(doc, JSON_COMPACT);
		json_decref(doc);
		run.lab_json = lab;
	}
	for (size_t i = 0; i < what->n_hosts; i++)
		hosts[i] = (struct kab_store_host){ .label = what->hosts[i]->name,
						    .position = (int)i };
	for (size_t i = 0; i < what->kernels->n; i++)
		kernels[i] = (struct kab_store_kernel){ .label = what->kernels->v[i].label,
							.spec = what->kernels->v[i].spec,
							.position = (int)i };
	/* With a stopping rule only the first blocks are planned now. */
	for (size_t i = 0; i < plan->n_boots; i++) {
		if (plan->boot_v[i].block >= plan->first_blocks)
			continue;
		place[i] = n_boots;
		kab_engine_store_boot(plan, i, &boots[n_boots++]);
	}
	for (size_t i = 0; i < what->suite->instances_n; i++)
		params[i] = kab_params_canonical(&what->suite->instances[i].params, 0);
	for (size_t i = 0; i < plan->n_steps; i++) {
		const struct kab_plan_step *s = &plan->step_v[i];

		if (plan->boot_v[s->boot].block < plan->first_blocks)
			kab_engine_store_step(plan, what->suite, i, place[s->boot],
					      params[s->instance], &steps[n_steps++]);
	}
	status = kab_store_create_run(store, &run, hosts, what->n_hosts, kernels, what->kernels->n,
				      boots, n_boots, steps, n_steps, ret_name, err);
	*ret_id = run.id;
	for (size_t i = 0; i < what->suite->instances_n; i++)
		free(params[i]);
	return status;
}
