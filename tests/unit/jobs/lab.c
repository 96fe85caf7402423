/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/bind.h"
#include "engine/engine.h"

static void need(int rc, const struct kab_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "lab: %s\n", err->text);
	abort();
}

int lab_number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

void lab_facts(const struct lab_world *w, const char *host, struct kab_facts *ret)
{
	*ret = (struct kab_facts){ 0 };
	kab_facts_set(ret, "arch", "x86_64");
	kab_facts_set(ret, "release", "6.0.0");
	kab_facts_set(ret, "machine_id", host);
	kab_facts_set(ret, "model", w->model ? w->model(w->ctx, host) : "Model A");
	kab_facts_set(ret, "cpus", "16");
}

void lab_suite(struct kab_suite *suite, const char *const *cases, int boots, int iterations,
	       double margin_pct)
{
	struct kab_err err = KAB_ERR_INIT;
	json_t *list = json_array(), *doc;

	for (size_t i = 0; cases[i]; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:{s:i}}", "name", cases[i], "runner",
						"synthetic", "params", "mean", 100));
	doc = json_pack("{s:s, s:{s:i, s:i, s:i}, s:f, s:o}", "name", "night", "repeat", "boots",
			boots, "iterations", iterations, "warmup", 0, "margin_pct", margin_pct,
			"cases", list);
	need(kab_suite_load_json(doc, "night.json", suite, &err), &err);
	need(kab_suite_bind(suite, &err), &err);
	json_decref(doc);
}

void lab_hosts(struct kab_lab *lab, size_t n)
{
	char path[] = "/tmp/kab-lab-XXXXXX";
	struct kab_err err = KAB_ERR_INIT;
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	fputs("{ \"hosts\": {", f);
	for (size_t i = 1; i <= n; i++)
		fprintf(f,
			"%s \"h%zu\": { \"ssh\": \"h%zu\", \"class\": \"c\", \"boot\": { "
			"\"method\": \"grub\" } }",
			i > 1 ? "," : "", i, i);
	fputs("} }\n", f);
	fclose(f);
	need(kab_lab_load(path, lab, &err), &err);
	remove(path);
}

int64_t lab_make(struct kab_store *store, const struct kab_suite *suite, const struct kab_lab *lab,
		 const struct lab_world *w, const char *name, const char *host,
		 const char *const *kernels, int boots, uint64_t seed)
{
	const struct kab_lab_host *lab_host = kab_lab_find(lab, host);
	struct kab_plan_opts opts = { .seed = seed,
				      .boots = boots,
				      .iterations = -1,
				      .warmup = -1,
				      .retry = -1,
				      .booting = true };
	struct kab_kernel_list list = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_plan plan = { 0 };
	struct kab_facts facts;
	char *got = NULL;
	int64_t id;

	for (size_t i = 0; kernels[i]; i++)
		need(kab_kernel_add(&list, kernels[i], &err), &err);
	need(kab_plan_make(suite, &list, 1, &opts, &plan, &err), &err);
	lab_facts(w, host, &facts);
	const struct kab_engine_new what = { .suite = suite,
					     .kernels = &list,
					     .plan = &plan,
					     .lab = lab,
					     .hosts = &lab_host,
					     .facts = &facts,
					     .n_hosts = 1,
					     .name = name,
					     .command_line = "test",
					     .version = "0" };

	need(kab_engine_create(store, &what, &id, &got, &err), &err);
	free(got);
	kab_facts_release(&facts);
	kab_plan_release(&plan);
	kab_kernel_list_release(&list);
	return id;
}

int64_t lab_run(struct kab_store *store, const struct kab_suite *suite, const struct kab_lab *lab,
		const struct lab_world *w, const char *name, const char *host,
		const char *const *kernels, int boots, uint64_t seed)
{
	int64_t id = lab_make(store, suite, lab, w, name, host, kernels, boots, seed);

	lab_fill(store, id, w);
	return id;
}

static void commit(struct kab_store *store, const struct kab_step_info *s, double value,
		   int64_t begin_ns, int64_t end_ns)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_sample sample = {
		.metric = (char *)"value", .unit = (char *)"s", .dir = KAB_DIR_LOWER, .value = value
	};
	const struct kab_store_result result = {
		.iteration_id = s->id,
		.state = isnan(value) ? KAB_ITER_FAILED : KAB_ITER_DONE,
		.reason = isnan(value) ? "the benchmark failed" : NULL,
		.parse_status = isnan(value) ? "no-result" : "ok",
		.exit_status = isnan(value) ? 1 : 0,
		.started_wall_ns = begin_ns,
		.finished_wall_ns = end_ns,
		.elapsed_s = (double)(end_ns - begin_ns) / 1e9,
		.user_s = NAN,
		.system_s = NAN,
		.max_rss_kb = NAN,
		.argv_json = "[]",
		.params_resolved = s->params_text,
		.runner_version = "1",
		.parser_version = "1",
		.samples = &sample,
		.n_samples = isnan(value) ? 0 : 1,
	};

	need(kab_store_commit_iteration(store, &result, &err) < 0, &err);
}

static void miss(struct kab_store *store, const struct kab_step_info *s, const char *why)
{
	struct kab_err err = KAB_ERR_INIT;
	const struct kab_store_result result = { .iteration_id = s->id,
						 .state = KAB_ITER_MISSING,
						 .reason = why,
						 .exit_status = -1,
						 .elapsed_s = NAN,
						 .user_s = NAN,
						 .system_s = NAN,
						 .max_rss_kb = NAN };

	need(kab_store_commit_iteration(store, &result, &err) < 0, &err);
}

static void fill_boot(struct kab_store *store, const struct kab_boot_info *b,
		      const struct lab_world *w, const struct kab_step_info *steps, size_t n,
		      int64_t *now_ns)
{
	bool up = !w->boots || w->boots(w->ctx, b->host, b->kernel);
	struct kab_err err = KAB_ERR_INIT;
	struct kab_facts facts;
	char os_boot[40];

	lab_facts(w, b->host, &facts);
	kab_facts_set(&facts, "release", b->kernel);
	snprintf(os_boot, sizeof(os_boot), "boot-%lld", (long long)b->id);
	*now_ns += (int64_t)(w->boot_s * 1e9);
	if (up) {
		const struct kab_kernel_id id = { .release = b->kernel,
						  .build_id = (char *)"",
						  .commit = (char *)"",
						  .config_hash = (char *)"" };

		need(kab_store_boot_proven(store, b->id, &id, b->host, os_boot, &facts, *now_ns + 1,
					   &err),
		     &err);
	}
	for (size_t i = 0; i < n; i++) {
		const struct kab_step_info *s = &steps[i];
		const struct lab_question q = { .host = b->host,
						.kernel = b->kernel,
						.case_name = s->case_name,
						.boot = b->id,
						.block = b->block,
						.iteration = s->iteration };

		if (s->boot_id != b->id || s->state != KAB_ITER_PENDING)
			continue;
		if (up) {
			int64_t begin_ns = *now_ns;

			*now_ns += (int64_t)(w->iteration_s * 1e9) + 1;
			commit(store, s, w->value(w->ctx, &q), begin_ns, *now_ns);
		} else {
			miss(store, s, "the kernel does not boot");
		}
	}
	need(kab_store_boot_state(store, b->id, up ? "done" : "failed",
				  up ? NULL : "the kernel does not boot", &err),
	     &err);
	kab_facts_release(&facts);
}

double lab_fill(struct kab_store *store, int64_t run_id, const struct lab_world *w)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_boot_info *boots;
	struct kab_step_info *steps;
	int64_t now_ns = w->now_ns;
	size_t n_boots, n_steps;

	need(kab_store_list_boots(store, run_id, &boots, &n_boots, &err), &err);
	need(kab_store_list_steps(store, run_id, 0, &steps, &n_steps, &err), &err);
	need(kab_store_bulk_begin(store, &err), &err);
	for (size_t b = 0; b < n_boots; b++)
		if (!strcmp(boots[b].state, "planned"))
			fill_boot(store, &boots[b], w, steps, n_steps, &now_ns);
	need(kab_store_set_run_state(store, run_id, KAB_RUN_COMPLETE, &err), &err);
	need(kab_store_bulk_end(store, true, &err), &err);
	for (size_t i = 0; i < n_boots; i++)
		kab_boot_info_release(&boots[i]);
	for (size_t i = 0; i < n_steps; i++)
		kab_step_info_release(&steps[i]);
	free(boots);
	free(steps);
	return (double)(now_ns - w->now_ns) / 1e9;
}
