/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/job.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "engine/bind.h"

static int load_conditions(struct kab_job *job, json_t *list)
{
	size_t i, k;
	json_t *item, *setting;

	job->n_conditions = json_array_size(list);
	job->conditions = kab_xcalloc(job->n_conditions + 1, sizeof(*job->conditions));
	json_array_foreach (list, i, item) {
		struct kab_setting_list *set = &job->conditions[i];

		set->text = kab_xstrdup(json_string_value(json_object_get(item, "text")));
		if (!set->text)
			return -1;
		json_array_foreach (json_object_get(item, "settings"), k, setting) {
			struct kab_setting *s = KAB_PUSH(set);

			s->name = kab_xstrdup(json_string_value(json_object_get(setting, "name")));
			s->value =
				kab_xstrdup(json_string_value(json_object_get(setting, "value")));
			if (!s->name || !s->value)
				return -1;
		}
	}
	return 0;
}

static int load_plan(struct kab_job *job, json_t *plan, struct kab_err *err)
{
	const char *uid = json_string_value(json_object_get(plan, "uid"));
	json_t *item, *rule, *running = json_object_get(plan, "running");
	size_t i;

	if (!uid || strlen(uid) != 16 || load_conditions(job, json_object_get(plan, "conditions")))
		return kab_err_set(err, KAB_ERR_STORE,
				   "run '%s' has a plan that this version cannot read",
				   job->info.name);
	memcpy(job->uid, uid, sizeof(job->uid));
	job->retry = (int)json_integer_value(json_object_get(plan, "retry"));
	job->boots = (int)json_integer_value(json_object_get(plan, "boots"));
	job->iterations = (int)json_integer_value(json_object_get(plan, "iterations"));
	job->warmup = (int)json_integer_value(json_object_get(plan, "warmup"));
	job->seed = (uint64_t)json_integer_value(json_object_get(plan, "seed"));
	job->aa = json_is_true(json_object_get(plan, "aa"));
	rule = json_object_get(plan, "stopping");
	job->stopping.rule = (enum kab_stop_rule)json_integer_value(json_object_get(rule, "rule"));
	job->stopping.half_width_pct = json_number_value(json_object_get(rule, "half_width_pct"));
	job->restarts = json_is_true(json_object_get(plan, "restarts"));
	job->booting = json_is_true(json_object_get(plan, "booting"));
	json_array_foreach (json_object_get(plan, "kernels"), i, item) {
		if (kab_kernel_from_json(&job->kernels, item, err) < 0)
			return -1;
	}
	json_array_foreach (json_object_get(plan, "hosts"), i, item) {
		const char *host = json_string_value(item);
		json_t *ran = host ? json_object_get(running, host) : NULL;
		const char *release = json_string_value(json_object_get(ran, "release"));
		const char *build_id = json_string_value(json_object_get(ran, "build_id"));

		kab_strv_add(&job->hosts, host ? host : "");
		kab_strv_add(&job->running, release ? release : "");
		kab_strv_add(&job->running, build_id ? build_id : "");
	}
	return 0;
}

int kab_job_load(struct kab_store *store, int64_t run_id, struct kab_job *ret, struct kab_err *err)
{
	char id[32], *note kab_autofree = NULL, *file kab_autofree = NULL;
	json_t *plan = NULL, *suite = NULL, *item;
	size_t i;
	struct kab_job job = { 0 };
	int status;

	snprintf(id, sizeof(id), "%lld", (long long)run_id);
	status = kab_store_find_run(store, id, &job.info, &note, err);
	if (status)
		return status < 0 ? -1
				  : kab_err_set(err, KAB_ERR_NOT_FOUND, "there is no run %s", id);
	file = kab_xasprintf("suite of run '%s'", job.info.name);
	status = kab_json_load_bytes("stored plan", job.info.plan_json ? job.info.plan_json : "",
				     job.info.plan_json ? strlen(job.info.plan_json) : 0, &plan,
				     err);
	if (!status)
		status = kab_json_load_bytes(file, job.info.suite_json ? job.info.suite_json : "",
					     job.info.suite_json ? strlen(job.info.suite_json) : 0,
					     &suite, err);
	if (!status)
		status = load_plan(&job, plan, err);
	if (!status)
		status = kab_suite_load_json(suite, file, &job.suite, err);
	json_array_foreach (json_object_get(plan, "condition_args"), i, item) {
		if (!status && json_is_string(item))
			status = kab_condition_add_text(&job.suite.conditions,
							json_string_value(item), err);
	}
	if (!status)
		status = kab_suite_bind(&job.suite, err);
	for (i = 0; !status && i < job.n_conditions; i++)
		status = kab_setting_bind_hooks(&job.conditions[i], job.suite.hooks,
						job.suite.hooks_n, err);
	json_decref(plan);
	json_decref(suite);
	if (status < 0) {
		kab_job_release(&job);
		return -1;
	}
	/* Moving the struct moves no hook: they are on the heap. */
	*ret = job;
	return 0;
}

void kab_job_release(struct kab_job *job)
{
	kab_run_info_release(&job->info);
	kab_suite_release(&job->suite);
	kab_kernel_list_release(&job->kernels);
	for (size_t i = 0; i < job->n_conditions; i++)
		kab_setting_list_release(&job->conditions[i]);
	free(job->conditions);
	kab_strv_release(&job->hosts);
	kab_strv_release(&job->running);
	*job = (struct kab_job){ 0 };
}

int kab_job_of_owner(struct kab_store *store, const char *owner, struct kab_run_info *ret)
{
	const char *uid = strrchr(owner, ':');
	struct kab_run_info *runs = NULL;
	size_t n = 0;
	int status = 1;

	if (!uid || kab_store_list_runs(store, 500, &runs, &n, NULL) < 0)
		return 1;
	for (size_t i = 0; i < n; i++) {
		json_t *plan = runs[i].plan_json ? json_loads(runs[i].plan_json, 0, NULL) : NULL;
		const char *have = json_string_value(json_object_get(plan, "uid"));

		if (status && have && !strcmp(have, uid + 1)) {
			*ret = runs[i];
			status = 0;
		} else {
			kab_run_info_release(&runs[i]);
		}
		json_decref(plan);
	}
	free(runs);
	return status;
}

const struct kab_instance *kab_job_instance(const struct kab_job *job, const char *case_name,
					    const char *row_key)
{
	for (size_t i = 0; i < job->suite.instances_n; i++) {
		const struct kab_instance *in = &job->suite.instances[i];

		if (!strcmp(in->row_key, row_key) &&
		    !strcmp(job->suite.cases[in->case_index].name, case_name))
			return in;
	}
	return NULL;
}

const struct kab_setting_list *kab_job_condition(const struct kab_job *job, const char *text)
{
	for (size_t i = 0; i < job->n_conditions; i++)
		if (!strcmp(job->conditions[i].text, text))
			return &job->conditions[i];
	return NULL;
}

const struct kab_kernel *kab_job_kernel(const struct kab_job *job, const char *label)
{
	for (size_t i = 0; i < job->kernels.n; i++)
		if (!strcmp(job->kernels.v[i].label, label))
			return &job->kernels.v[i];
	return NULL;
}

const struct kab_kernel *kab_job_kernel_on(const struct kab_job *job, const char *host,
					   const char *label)
{
	const struct kab_kernel *kernel = kab_job_kernel(job, label);

	return kernel ? kab_kernel_for_host(kernel, host) : NULL;
}

int kab_job_kernel_matches(const struct kab_job *job, const char *host, const char *label,
			   const struct kab_facts *facts, char **ret_why)
{
	const struct kab_kernel *kernel = kab_job_kernel_on(job, host, label);

	if (!kernel)
		return 0;
	if (kernel->kind != KAB_KERNEL_RUNNING)
		return kab_kernel_matches(kernel, facts, ret_why);
	for (size_t i = 0; i < job->hosts.n; i++) {
		const char *release = job->running.v[2 * i], *build_id = job->running.v[2 * i + 1];

		if (strcmp(job->hosts.v[i], host))
			continue;
		if (!strcmp(release, kab_facts_get(facts, "release")) &&
		    !strcmp(build_id, kab_facts_get(facts, "build_id")))
			return 1;
		if (ret_why)
			*ret_why = kab_xasprintf("runs %s, but the run was begun under %s%s",
						 kab_facts_get(facts, "release"), release,
						 strcmp(release, kab_facts_get(facts, "release"))
							 ? ""
							 : " of another build");
		return 0;
	}
	return 0;
}
