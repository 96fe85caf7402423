/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/host_facts.h"
#include "runners/runner.h"

static const char *better(enum kab_direction dir)
{
	switch (dir) {
	case KAB_DIR_LOWER:
		return "lower is better";
	case KAB_DIR_HIGHER:
		return "higher is better";
	case KAB_DIR_NONE:
		break;
	}
	return "informative";
}

/* Whether it can run there: "yes", or the reason. Nothing without facts. */
static void add_support(struct kab_buf *out, const struct kab_runner *runner,
			const struct kab_facts *facts, const char *host)
{
	static const struct kab_params none = { 0 };
	char *reason kab_autofree = NULL;

	if (!facts)
		return;
	if (!runner->unsupported(facts, &none, &reason)) {
		kab_buf_addf(out, "    on %s: can run\n", host);
		return;
	}
	kab_buf_addf(out, "    on %s: cannot run: ", host);
	/* It may quote the host's own words. */
	kab_text_escape(out, reason ? reason : "no reason given",
			reason ? strlen(reason) : strlen("no reason given"));
	kab_buf_addc(out, '\n');
}

static void add_metric(struct kab_buf *out, const struct kab_metric_def *m, int width)
{
	kab_buf_addf(out, "  %c %-*s  %-10s  %-16s  %s\n", m->primary ? '*' : ' ', width, m->name,
		     *m->unit ? m->unit : "-", better(m->dir), m->summary ? m->summary : "");
	kab_buf_rtrim(out, " \n");
	kab_buf_addc(out, '\n');
}

static void add_metrics(struct kab_buf *out, const struct kab_runner *runner)
{
	const char *instead;
	int width = 0;

	for (size_t i = 0; i < runner->metrics_n; i++)
		if ((int)strlen(runner->metrics[i].name) > width)
			width = (int)strlen(runner->metrics[i].name);
	kab_buf_adds(out, "  metrics (* is the primary one):\n");
	for (size_t i = 0; i < runner->metrics_n; i++)
		if (!kab_metric_is_of_logs(&runner->metrics[i], &instead))
			add_metric(out, &runner->metrics[i], width);
	for (size_t i = 0; i < kab_invocation_metrics_n; i++)
		add_metric(out, &kab_invocation_metrics[i], width);
	kab_buf_adds(out, "  only in logs written under GNU time -v, for kab parse and import:\n");
	for (size_t i = 0; i < runner->metrics_n; i++)
		if (kab_metric_is_of_logs(&runner->metrics[i], &instead))
			add_metric(out, &runner->metrics[i], width);
}

static void add_params(struct kab_buf *out, const struct kab_runner *runner)
{
	kab_buf_adds(out, "  parameters:\n");
	for (size_t i = 0; i < runner->params_n; i++) {
		const struct kab_param_def *p = &runner->params[i];

		kab_buf_addf(out, "    %-18s %-7s %s", p->name, p->type, p->summary);
		if (p->missing)
			kab_buf_addf(out, " [%s]", p->missing);
		kab_buf_addc(out, '\n');
	}
}

/* One runner in full, or the short entry of the list. */
static void add_runner(struct kab_buf *out, const struct kab_runner *runner, bool full,
		       const struct kab_facts *facts, const char *host)
{
	const struct kab_metric_def *primary = kab_runner_primary(runner);

	kab_buf_addf(out, "%s\n  %s\n", runner->name, runner->summary);
	if (!full)
		kab_buf_addf(out, "    primary metric: %s%s%s%s (%s)\n", primary->name,
			     *primary->unit ? " [" : "", primary->unit, *primary->unit ? "]" : "",
			     better(primary->dir));
	add_support(out, runner, facts, host);
	if (!full)
		return;
	add_metrics(out, runner);
	add_params(out, runner);
	if (runner->notice)
		kab_buf_addf(out, "  notice: %s\n", runner->notice);
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	const char *name = kab_args_at(args, 0), *host = kab_args_get(args, "host");
	const struct kab_runner *only = name ? kab_runner_find(name) : NULL;
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	struct kab_facts facts = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	const char *near;

	if (name && !only) {
		for (size_t i = 0; i < kab_runners_n; i++)
			kab_strv_add(&names, kab_runners[i]->name);
		near = kab_text_nearest(name, (const char *const *)kab_strv_argv(&names));
		kab_err_set(&err, KAB_ERR_NOT_FOUND, "no runner '%s'; %s%s%s", name,
			    near ? "did you mean '" : "'kab runners' lists them", near ? near : "",
			    near ? "'?" : "");
		return kab_cli_fail(cli, &err);
	}
	if (host && kab_cli_host_facts(cli, host, &facts, &err))
		return kab_cli_fail(cli, &err);
	for (size_t i = 0; i < kab_runners_n; i++)
		if (!only || only == kab_runners[i])
			add_runner(&out, kab_runners[i], only != NULL, host ? &facts : NULL, host);
	kab_facts_release(&facts);
	fwrite(kab_buf_str(&out), 1, out.len, cli->out);
	return kab_cli_finish(cli, KAB_EXIT_OK);
}

static const struct kab_opt opts[] = {
	{ "host", '\0', "HOST", "say of each whether it can run on this host, and why not", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_runners = {
	.name = "runners",
	.summary = "list the benchmarks that kab knows, their metrics and parameters",
	.synopsis = "[--host HOST] [NAME]",
	.description =
		"Without a name: each runner with its primary metric. With a name: all its "
		"metrics\n"
		"with unit and direction, and all its parameters with their defaults in brackets.\n"
		"A '*' in the name of a metric stands for what the benchmark puts there.",
	.example = "  kab runners hackbench",
	.completes = "runner",
	.opts = opts,
	.min_pos = 0,
	.max_pos = 1,
	.run = run,
};
