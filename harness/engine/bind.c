/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/bind.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/expr.h"

static int fail(const struct kab_suite *suite, const struct kab_case *c, struct kab_err *err,
		const char *why)
{
	char where[KAB_ERR_WHERE_MAX];

	snprintf(where, sizeof(where), "%.120s: %.120s", suite->file, c->path);
	return kab_err_set_at(err, KAB_ERR_CONFIG, where, "%s: %s (case '%s'): %s", suite->file,
			      c->path, c->name, why);
}

static int fail_param(const struct kab_suite *suite, const struct kab_case *c, const char *name,
		      struct kab_err *err, const char *why)
{
	char where[KAB_ERR_WHERE_MAX];

	snprintf(where, sizeof(where), "%.120s: %.90s.params.%.30s", suite->file, c->path, name);
	return kab_err_set_at(err, KAB_ERR_CONFIG, where, "%s: %s.params.%s (case '%s'): %s",
			      suite->file, c->path, name, c->name, why);
}

static int bind_runner(const struct kab_suite *suite, const struct kab_case *c, struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	char *why kab_autofree = NULL;
	const char *near;

	if (kab_runner_find(c->runner))
		return 0;
	for (size_t i = 0; i < kab_runners_n; i++)
		kab_strv_add(&names, kab_runners[i]->name);
	near = kab_text_nearest(c->runner, (const char *const *)kab_strv_argv(&names));
	why = kab_xasprintf("there is no runner '%s'; %s%s%s", c->runner,
			    near ? "did you mean '" : "see 'kab runners'", near ? near : "",
			    near ? "'?" : "");
	return fail(suite, c, err, why);
}

static bool is_numeric(const struct kab_runner *runner, const char *name)
{
	for (size_t i = 0; i < runner->params_n; i++)
		if (!strcmp(runner->params[i].name, name))
			return !strcmp(runner->params[i].type, "int") ||
			       !strcmp(runner->params[i].type, "number");
	return false;
}

static int bind_instance(const struct kab_suite *suite, struct kab_instance *in,
			 struct kab_err *err)
{
	const struct kab_case *c = &suite->cases[in->case_index];
	const struct kab_runner *runner = kab_runner_find(c->runner);
	struct kab_err why = KAB_ERR_INIT;

	for (size_t i = 0; i < in->params.n; i++) {
		struct kab_param *p = &in->params.v[i];
		double number;

		if (!is_numeric(runner, p->name) || kab_text_double(p->text, &number) == 0)
			continue;
		p->is_expr = true;
		free(p->value);
		p->value = NULL;
		if (kab_expr_check_names(p->text, &in->params, &why) < 0)
			return fail_param(suite, c, p->name, err, why.text);
	}
	if (kab_runner_check_params(runner, &in->params, &why) < 0)
		return fail(suite, c, err, why.text);
	return 0;
}

/* One instance that prints it is enough: the others are informative there. */
static int check_printed(const struct kab_suite *suite, const struct kab_case *c, const char *name,
			 struct kab_err *err)
{
	const struct kab_runner *runner = kab_runner_find(c->runner);
	char *first kab_autofree = NULL, *why kab_autofree = NULL;

	for (size_t i = 0; runner->unprinted && i < suite->instances_n; i++) {
		const struct kab_instance *in = &suite->instances[i];
		char *one kab_autofree = NULL;

		if (&suite->cases[in->case_index] != c)
			continue;
		if (!runner->unprinted(name, &in->params, &one))
			return 0;
		if (!first) {
			first = one;
			one = NULL;
		}
	}
	if (!first)
		return 0;
	why = kab_xasprintf("runner '%s' will not print the metric '%s': %s", c->runner, name,
			    first);
	return fail(suite, c, err, why);
}

static int bind_metric(const struct kab_suite *suite, const struct kab_case *c, const char *name,
		       struct kab_err *err)
{
	const struct kab_runner *runner = kab_runner_find(c->runner);
	const struct kab_metric_def *metric = kab_runner_metric(runner, name);
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	char *why kab_autofree = NULL, *all kab_autofree = NULL;
	const char *near, *instead;

	for (size_t i = 0; i < kab_invocation_metrics_n; i++)
		if (!strcmp(kab_invocation_metrics[i].name, name))
			return 0;
	if (metric && kab_metric_is_of_logs(metric, &instead)) {
		why = kab_xasprintf("the metric '%s' is only in logs written under GNU time; %s%s",
				    name, instead ? "a run measures " : "a run has no such figure",
				    instead ? instead : "");
		return fail(suite, c, err, why);
	}
	if (metric)
		return check_printed(suite, c, name, err);
	for (size_t i = 0; i < runner->metrics_n; i++)
		if (!kab_metric_is_of_logs(&runner->metrics[i], &instead))
			kab_strv_add(&names, runner->metrics[i].name);
	for (size_t i = 0; i < kab_invocation_metrics_n; i++)
		kab_strv_add(&names, kab_invocation_metrics[i].name);
	near = kab_text_nearest(name, (const char *const *)kab_strv_argv(&names));
	all = kab_strv_join(&names, ", ");
	why = near ? kab_xasprintf("runner '%s' has no metric '%s'; did you mean '%s'?", c->runner,
				   name, near)
		   : kab_xasprintf("runner '%s' has no metric '%s'; it has %s", c->runner, name,
				   all);
	return fail(suite, c, err, why);
}

int kab_suite_bind(struct kab_suite *suite, struct kab_err *err)
{
	for (size_t i = 0; i < suite->cases_n; i++)
		if (bind_runner(suite, &suite->cases[i], err) < 0)
			return -1;
	/* Before the metrics: some are printed only when a parameter asks for them. */
	for (size_t i = 0; i < suite->instances_n; i++)
		if (bind_instance(suite, &suite->instances[i], err) < 0)
			return -1;
	for (size_t i = 0; i < suite->cases_n; i++) {
		const struct kab_case *c = &suite->cases[i];

		for (size_t m = 0; m < c->metrics.n; m++)
			if (bind_metric(suite, c, c->metrics.v[m], err) < 0)
				return -1;
		for (size_t m = 0; m < c->margins_n; m++)
			if (bind_metric(suite, c, c->margins[m].metric, err) < 0)
				return -1;
	}
	return 0;
}

const struct kab_runner *kab_case_runner(const struct kab_case *c)
{
	return kab_runner_find(c->runner);
}

void kab_case_verdict_metrics(const struct kab_case *c, struct kab_strv *ret)
{
	const char *primary = kab_runner_primary(kab_case_runner(c))->name;

	kab_strv_add(ret, primary);
	for (size_t i = 0; i < c->metrics.n; i++)
		if (!kab_strv_has(ret, c->metrics.v[i]))
			kab_strv_add(ret, c->metrics.v[i]);
}
