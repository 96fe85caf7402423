/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/runner.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

const char *kab_parse_status_name(enum kab_parse_status status)
{
	switch (status) {
	case KAB_PARSE_OK:
		return "ok";
	case KAB_PARSE_PARTIAL:
		return "partial";
	case KAB_PARSE_TOOL_FAILED:
		return "tool-failed";
	case KAB_PARSE_NO_RESULT:
		return "no-result";
	case KAB_PARSE_TRUNCATED:
		return "truncated";
	}
	return "no-result";
}

void kab_parse_result_release(struct kab_parse_result *result)
{
	kab_samples_release(&result->samples);
	free(result->version);
	free(result->message);
	memset(result, 0, sizeof(*result));
}

void kab_command_release(struct kab_command *cmd)
{
	kab_strv_release(&cmd->argv);
	kab_strv_release(&cmd->env);
	kab_strv_release(&cmd->output_files);
	kab_strv_release(&cmd->prepare);
	kab_strv_release(&cmd->cleanup);
	kab_strv_release(&cmd->background);
	for (size_t i = 0; i < cmd->place_n; i++) {
		free(cmd->place[i].name);
		free(cmd->place[i].data);
	}
	free(cmd->place);
	memset(cmd, 0, sizeof(*cmd));
}

const struct kab_runner *kab_runner_find(const char *name)
{
	for (size_t i = 0; i < kab_runners_n; i++)
		if (!strcmp(kab_runners[i]->name, name))
			return kab_runners[i];
	return NULL;
}

const struct kab_runner *kab_runner_get(const char *name, struct kab_err *err)
{
	const struct kab_runner *runner = kab_runner_find(name);
	struct kab_strv names kab_autostrv = KAB_STRV_INIT;
	const char *near;

	if (runner)
		return runner;
	for (size_t i = 0; i < kab_runners_n; i++)
		kab_strv_add(&names, kab_runners[i]->name);
	near = kab_text_nearest(name, (const char *const *)kab_strv_argv(&names));
	kab_err_set(err, KAB_ERR_NOT_FOUND, "no runner '%s'; %s%s%s", name,
		    near ? "did you mean '" : "'kab runners' lists them", near ? near : "",
		    near ? "'?" : "");
	return NULL;
}

/* Each '*' of the pattern stands for one or more characters. */
static bool name_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *resume = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = ++name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++resume;
		} else {
			return false;
		}
	}
	return *pattern == '\0';
}

const struct kab_metric_def *kab_runner_metric(const struct kab_runner *runner, const char *name)
{
	for (size_t i = 0; i < runner->metrics_n; i++)
		if (!strcmp(runner->metrics[i].name, name))
			return &runner->metrics[i];
	for (size_t i = 0; i < runner->metrics_n; i++)
		if (name_matches(runner->metrics[i].name, name))
			return &runner->metrics[i];
	return NULL;
}

const struct kab_metric_def *kab_runner_primary(const struct kab_runner *runner)
{
	for (size_t i = 0; i < runner->metrics_n; i++)
		if (runner->metrics[i].primary)
			return &runner->metrics[i];
	return &runner->metrics[0];
}

/* Borrowed from the table, or NULL. */
static const char *nearest(const struct kab_runner *runner, const char *name)
{
	struct kab_strv names kab_autostrv = KAB_STRV_INIT;
	const char *near;

	for (size_t i = 0; i < runner->params_n; i++)
		kab_strv_add(&names, runner->params[i].name);
	near = kab_text_nearest(name, (const char *const *)kab_strv_argv(&names));
	for (size_t i = 0; near && i < runner->params_n; i++)
		if (!strcmp(runner->params[i].name, near))
			return runner->params[i].name;
	return NULL;
}

static int check_type(const struct kab_param_def *def, const struct kab_params *params,
		      struct kab_err *err)
{
	const char *value = kab_params_get(params, def->name, NULL);
	int64_t integer;
	double number;

	/* An expression has no value before a host is known. */
	if (!value)
		return 0;
	if (!strcmp(def->type, "int"))
		return kab_params_int(params, def->name, 0, &integer, err);
	if (!strcmp(def->type, "number"))
		return kab_params_double(params, def->name, 0, &number, err);
	if (!strcmp(def->type, "bool")) {
		if (!strcmp(value, "true") || !strcmp(value, "false"))
			return 0;
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter '%s': expected true or false, found '%s'", def->name,
				   value);
	}
	return 0;
}

int kab_runner_check_params(const struct kab_runner *runner, const struct kab_params *params,
			    struct kab_err *err)
{
	for (size_t i = 0; i < params->n; i++) {
		const struct kab_param_def *def = NULL;

		for (size_t j = 0; j < runner->params_n && !def; j++)
			if (!strcmp(runner->params[j].name, params->v[i].name))
				def = &runner->params[j];
		if (!def) {
			const char *near = nearest(runner, params->v[i].name);

			return kab_err_set(err, KAB_ERR_CONFIG,
					   "runner '%s' has no parameter '%s'%s%s%s; `kab runners "
					   "%s` lists them",
					   runner->name, params->v[i].name,
					   near ? "; did you mean '" : "", near ? near : "",
					   near ? "'" : "", runner->name);
		}
		if (check_type(def, params, err))
			return -1;
	}
	return 0;
}
