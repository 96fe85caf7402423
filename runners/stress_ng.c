/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stress-ng: its command line. What it prints is read in stress_ng_parse.c. */
#include "runners/stress_ng.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "runners/options.h"

static const struct kab_param_def params_table[] = {
	{ "stressors", "list", "cpu", "names of the stressors: cpu, pipe, switch ..." },
	{ "instances", "int", "0", "of each; 0 is one per CPU" },
	{ "timeout_s", "int", NULL, "seconds to run; fixes the time, so that operations count" },
	{ "ops", "int", NULL,
	  "bogo operations of each stressor; fixes the work, so that the time counts" },
	{ "cpu_method", "string", NULL, "method of the cpu stressor" },
	{ "cpu_load", "int", NULL, "percent of load of the cpu stressor" },
	{ "metrics", "string", "brief", "brief, or full (CPU use and memory too)" },
	{ "times", "bool", "true", "user and system time of the run" },
	{ "rand_seed", "bool", "true", "false starts its random numbers always alike" },
	{ "args", "string", NULL, "further arguments, as in sh or as a JSON list" },
	{ "program", "string", NULL, "path of stress-ng, when it is not on the PATH" },
};

static const struct kab_metric_def metrics_table[] = {
	{ "*.bogo_ops_per_s_real_time", "ops/s", KAB_DIR_HIGHER, true,
	  "operations per second of elapsed time, per stressor" },
	{ "*.bogo_ops_per_s_usr_sys_time", "ops/s", KAB_DIR_HIGHER, false,
	  "operations per second of CPU time" },
	{ "*.bogo_ops", "ops", KAB_DIR_HIGHER, false, "informative when the operations are fixed" },
	{ "*.real_time", "s", KAB_DIR_NONE, false,
	  "lower is better when the operations are fixed" },
	{ "*.usr_time", "s", KAB_DIR_NONE, false, "lower is better when the operations are fixed" },
	{ "*.sys_time", "s", KAB_DIR_NONE, false, "lower is better when the operations are fixed" },
	{ "*.cpu_used_per_instance", "%", KAB_DIR_NONE, false, "0.12.05 on, metrics=full" },
	{ "*.rss_max", "KB", KAB_DIR_LOWER, false, "0.14.04 on, metrics=full" },
	{ "*.misc[*]", "", KAB_DIR_NONE, false,
	  "what a stressor adds; unit and direction by its words" },
	{ "times_user", "s", KAB_DIR_NONE, false, "user time of the run" },
	{ "times_system", "s", KAB_DIR_NONE, false, "system time of the run" },
	{ "times_total", "s", KAB_DIR_NONE, false, "both" },
	KAB_GNU_TIME_METRICS,
};

static const char *const tools_table[] = { "stress-ng", NULL };

static int stress_ng_unsupported(const struct kab_facts *facts, const struct kab_params *params,
				 char **ret_reason)
{
	return kab_option_needs_tool(facts, params, "stress-ng", "stress-ng", ret_reason);
}

static int add_stressors(struct kab_strv *argv, const struct kab_params *params,
			 struct kab_err *err)
{
	struct kab_strv names kab_autostrv = KAB_STRV_INIT;
	int64_t instances, ops;

	if (kab_params_int(params, "instances", 0, &instances, err) ||
	    kab_params_int(params, "ops", 0, &ops, err))
		return -1;
	if (instances < 0 || ops < 0)
		return kab_err_set(
			err, KAB_ERR_CONFIG, "parameter '%s': expected at least 0, found %" PRId64,
			instances < 0 ? "instances" : "ops", instances < 0 ? instances : ops);
	kab_strv_split(&names, kab_params_get(params, "stressors", "cpu"), ',');
	for (size_t i = 0; i < names.n; i++) {
		const char *name = kab_scan_blanks(names.v[i]);
		char word[KAB_STRESS_NAME_MAX + 1], padded[KAB_STRESS_NAME_MAX + 2];
		size_t len = strcspn(name, " \t");

		if (len < KAB_STRESS_NAME_MAX) {
			memcpy(padded, name, len);
			padded[len] = ' ';
			padded[len + 1] = '\0';
		}
		if (len >= KAB_STRESS_NAME_MAX || !kab_scan_end(name + len) ||
		    !kab_stress_ng_name(padded, word))
			return kab_err_set(
				err, KAB_ERR_CONFIG,
				"parameter 'stressors': '%s' is not the name of a stressor",
				names.v[i]);
		kab_strv_addf(argv, "--%s", word);
		kab_strv_addf(argv, "%" PRId64, instances);
		if (ops > 0) {
			kab_strv_addf(argv, "--%s-ops", word);
			kab_strv_addf(argv, "%" PRId64, ops);
		}
	}
	if (!names.n)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter 'stressors': expected at least one name");
	return 0;
}

static int stress_ng_command(const struct kab_params *params, const struct kab_facts *facts,
			     struct kab_command *ret, struct kab_err *err)
{
	const char *metrics = kab_params_get(params, "metrics", "brief");
	struct kab_strv *argv = &ret->argv;
	int64_t timeout_s, ops;

	(void)facts;
	if (strcmp(metrics, "brief") && strcmp(metrics, "full"))
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter 'metrics': expected brief or full, found '%s'",
				   metrics);
	if (kab_params_int(params, "timeout_s", 0, &timeout_s, err) ||
	    kab_params_int(params, "ops", 0, &ops, err))
		return -1;
	/* stress-ng itself would run for a day. */
	if (timeout_s < 1 && ops < 1)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "runner 'stress-ng' needs the parameter 'timeout_s' or 'ops'");
	kab_strv_add(argv, kab_option_program(params, "stress-ng"));
	if (add_stressors(argv, params, err))
		return -1;
	if (timeout_s > 0) {
		kab_strv_add(argv, "--timeout");
		kab_strv_addf(argv, "%" PRId64, timeout_s);
		ret->expected_s = (double)timeout_s;
	}
	if (kab_params_get(params, "cpu_method", NULL)) {
		kab_strv_add(argv, "--cpu-method");
		kab_strv_add(argv, kab_params_get(params, "cpu_method", NULL));
	}
	if (kab_option_int(argv, "--cpu-load", params, "cpu_load", 0, err))
		return -1;
	kab_strv_add(argv, strcmp(metrics, "full") ? "--metrics-brief" : "--metrics");
	if (kab_params_bool(params, "times", true))
		kab_strv_add(argv, "--times");
	if (!kab_params_bool(params, "rand_seed", true))
		kab_strv_add(argv, "--no-rand-seed");
	return kab_option_words(argv, params, "args", err);
}

const struct kab_runner kab_runner_stress_ng = {
	.name = "stress-ng",
	.summary = "stressors of CPU, memory, scheduler and kernel interfaces (0.05 to 0.21)",
	.parser_version = "1",
	.params = params_table,
	.params_n = KAB_ARRAY_SIZE(params_table),
	.metrics = metrics_table,
	.metrics_n = KAB_ARRAY_SIZE(metrics_table),
	.tools = tools_table,
	.unsupported = stress_ng_unsupported,
	.command = stress_ng_command,
	.parse = kab_stress_ng_parse,
};
