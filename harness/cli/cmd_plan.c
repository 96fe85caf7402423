/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/noise_floor.h"
#include "cli/setup.h"
#include "engine/bind.h"
#include "engine/probe.h"
#include "judge/judge.h"
#include "model/expr.h"
#include "stats/plan.h"

/* What `kab run --boots` takes. */
#define BOOTS_MAX 1000

struct planning {
	struct kab_cli *cli;
	struct kab_store *store;
	struct kab_suite suite;
	struct kab_setting_list *conditions;
	size_t n_conditions;
	char machine[65]; /* "" when the host was not reached */
	/* The newest run of the same suite, where there is no A/A run. */
	struct kab_row_list rows;
	struct kab_judgement judgement;
	bool judged;
	char *run_name;
	double power_pct;
	size_t most, unknown, infeasible;
};

static bool has_boots(const struct kab_judgement *j)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->v[i].sets[0].over_boots && j->v[i].sets[0].n_units >= 2)
			return true;
	return false;
}

/* The newest stored run of that suite in which boots can differ, judged. */
static int load_earlier(struct planning *p, struct kab_err *err)
{
	struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	struct kab_run_info *runs = NULL;
	size_t n = 0;
	int status = 0;

	if (kab_store_list_runs(p->store, 200, &runs, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n && !p->judged && status == 0; i++) {
		if (strcmp(runs[i].suite_name, p->suite.name) || !runs[i].n_done)
			continue;
		status = kab_store_load_rows(p->store, &runs[i].id, 1, &p->rows, err);
		if (status == 0)
			status = kab_judge(&p->rows, &opts, &p->judgement, err);
		p->judged = status == 0 && has_boots(&p->judgement);
		if (p->judged) {
			p->run_name = kab_xstrdup(runs[i].name);
		} else {
			kab_judgement_release(&p->judgement);
			kab_row_list_release(&p->rows);
		}
	}
	for (size_t i = 0; i < n; i++)
		kab_run_info_release(&runs[i]);
	free(runs);
	return status;
}

static double earlier_cv(const struct planning *p, const struct kab_case *c,
			 const struct kab_instance *in, const char *condition, const char *metric)
{
	for (size_t i = 0; p->judged && i < p->judgement.n; i++) {
		const struct kab_judged_row *row = &p->judgement.v[i];

		if (!strcmp(row->data->case_name, c->name) &&
		    !strcmp(row->data->row_key, in->row_key) &&
		    !strcmp(row->data->condition, condition) &&
		    !strcmp(row->data->metric, metric) && row->sets[0].over_boots)
			return row->sets[0].cv_pct / 100;
	}
	return NAN;
}

static void plan_row(struct planning *p, const struct kab_instance *in, const char *condition,
		     const char *metric)
{
	const struct kab_case *c = &p->suite.cases[in->case_index];
	char *params kab_autofree = kab_params_canonical(&in->params, 0);
	char *name kab_autofree = kab_xasprintf("%s%s%s%s%s", c->name, *in->row_key ? " " : "",
						in->row_key, *condition ? " " : "", condition);
	struct kab_noise noise = { .machine_hash = *p->machine ? p->machine : NULL,
				   .runner = c->runner,
				   .params_text = params,
				   .condition = condition,
				   .metric = metric };
	char *source kab_autofree = NULL;
	double cv = NAN;
	size_t boots;

	if (kab_store_find_noise(p->store, &noise, NULL) == 0) {
		cv = noise.cv;
		source = kab_xasprintf("A/A run '%s', %lld %s", noise.run_name,
				       (long long)noise.units,
				       noise.restarts ? "restarts" : "boots");
		free(noise.run_name);
	} else {
		cv = earlier_cv(p, c, in, condition, metric);
		source = kab_xasprintf("run '%s'", p->run_name ? p->run_name : "");
	}
	if (!isfinite(cv)) {
		fprintf(p->cli->out, "%-40s %-18s  unknown: no boots stored\n", name, metric);
		p->unknown++;
		return;
	}
	boots = kab_plan_boots_for_power(cv, log1p(p->power_pct / 100), 0.05, 0.8);
	if (!boots || boots > BOOTS_MAX) {
		fprintf(p->cli->out, "%-40s %-18s  CV %.2f %%, more than %d boots (%s)\n", name,
			metric, 100 * cv, BOOTS_MAX, source);
		p->infeasible++;
		return;
	}
	fprintf(p->cli->out, "%-40s %-18s  CV %.2f %%, %zu boots per kernel (%s)\n", name, metric,
		100 * cv, boots, source);
	p->most = boots > p->most ? boots : p->most;
}

static int plan(struct planning *p, const struct kab_args *args, struct kab_err *err)
{
	struct kab_probe_host *hosts = NULL;
	struct kab_lab lab = { 0 };
	size_t n = 0;

	if (kab_args_num(args, "power", 0.01, 99, 2, &p->power_pct, err) < 0 ||
	    kab_setup_lab(p->cli, &lab, err) < 0)
		return -1;
	if (kab_setup_hosts(&lab, kab_args_get(args, "host"), &hosts, &n, err) < 0 ||
	    kab_setup_suite(kab_args_at(args, 0), &p->suite, err) < 0 ||
	    kab_condition_product(&p->suite.conditions, &p->conditions, &p->n_conditions, err) <
		    0 ||
	    kab_cli_open_store(p->cli, KAB_STORE_READ, &p->store, err) < 0) {
		kab_setup_hosts_free(hosts, n);
		kab_lab_release(&lab);
		return -1;
	}
	kab_probe_all(hosts, 1, 30, p->cli->cancel_fd, &p->cli->log);
	if (hosts[0].failed)
		kab_cli_warn(p->cli,
			     "host '%s' is not reached (%s); taking what is stored of any host",
			     hosts[0].host->name, hosts[0].err.text);
	else
		kab_probe_machine_hash(&hosts[0].facts, p->machine);
	kab_setup_hosts_free(hosts, n);
	kab_lab_release(&lab);
	if (load_earlier(p, err) < 0)
		return -1;
	fprintf(p->cli->out,
		"Boots per kernel that show a true change of %g %% in 8 of 10 runs (two-sided 5 "
		"%%, "
		"before\nany correction for several rows), from stored variances:\n",
		p->power_pct);
	for (size_t i = 0; i < p->suite.instances_n; i++) {
		struct kab_strv kab_autostrv metrics = KAB_STRV_INIT;

		kab_case_verdict_metrics(&p->suite.cases[p->suite.instances[i].case_index],
					 &metrics);
		for (size_t c = 0; c < p->n_conditions; c++)
			for (size_t m = 0; m < metrics.n; m++)
				if (!strchr(metrics.v[m], '*'))
					plan_row(p, &p->suite.instances[i], p->conditions[c].text,
						 metrics.v[m]);
	}
	if (p->most)
		fprintf(p->cli->out, "\nFor all %srows: kab run %s --boots %zu ...\n",
			p->infeasible || p->unknown ? "other " : "of these ", kab_args_at(args, 0),
			p->most);
	if (p->infeasible)
		fprintf(p->cli->out,
			"%sNot feasible on this host for %zu row%s: make it quieter, the "
			"iterations "
			"longer,\nor ask for a larger change with --power\n",
			p->most ? "" : "\n", p->infeasible, p->infeasible == 1 ? "" : "s");
	if (p->unknown)
		fprintf(p->cli->out, "%sMeasure the noise first: kab run %s --aa --boots 8\n",
			p->most ? "" : "\n", kab_args_at(args, 0));
	return 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct planning p = { .cli = cli };
	struct kab_err err = KAB_ERR_INIT;
	int status = plan(&p, args, &err) < 0 ? kab_cli_fail(cli, &err) : KAB_EXIT_OK;

	kab_judgement_release(&p.judgement);
	kab_row_list_release(&p.rows);
	for (size_t i = 0; i < p.n_conditions; i++)
		kab_setting_list_release(&p.conditions[i]);
	free(p.conditions);
	free(p.run_name);
	kab_suite_release(&p.suite);
	kab_store_close(p.store);
	return status;
}

static const struct kab_opt opts[] = {
	{ "power", '\0', "PCT", "the change that is to be seen (default 2 %)", NULL },
	{ "host", '\0', "H", "host of the lab file, or local (the default)", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_plan = {
	.name = "plan",
	.summary = "say how many boots a suite needs to show a given change",
	.synopsis = "SUITE [--power PCT] [--host H]",
	.description =
		"From stored variances (the newest A/A run of the same cases on the host, else "
		"the\n"
		"newest run of the suite with two boots or more): how many boots per kernel show "
		"a\n"
		"true change of that size in 8 of 10 runs. What the plan of a run would be is\n"
		"shown by 'kab run --dry-run'.",
	.example = "  kab plan hackbench-groups --power 2%",
	.completes = "suite",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
