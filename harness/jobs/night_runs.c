/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is run tonight: durations, the cut to the windows, plans in the store. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/text.h"
#include "engine/bind.h"
#include "jobs/history.h"
#include "jobs/night.h"
#include "model/expr.h"
#include "model/plan.h"
#include "transport/transport.h"

/* Where nothing is stored yet: a case that says nothing of itself, a reboot, and what comes around
 * every iteration (start, fetch, parse). */
#define GUESS_CASE_S 60.0
#define GUESS_REBOOT_S 180.0
#define OVERHEAD_S 2.0

double kab_night_budget_s(const struct kab_night *night, const struct kab_night_host *h)
{
	int64_t from = kab_night_now(night);

	if (from < h->window.from_ns)
		from = h->window.from_ns;
	return fmax((double)(h->window.to_ns - from) / 1e9 - night->c->margin_s, 0);
}

double kab_night_reboot_s(struct kab_night *night, const struct kab_night_host *h)
{
	double s = GUESS_REBOOT_S;

	if (h->host->boot == KAB_BOOT_NONE)
		return 0;
	if (kab_store_typical_boot(night->env->store, h->host->name, &s, NULL) != 0)
		s = GUESS_REBOOT_S;
	return s;
}

/* Seconds of one iteration; *ret_known: from what was measured, or by what the runner says. */
static double one_iteration(struct kab_night *night, const struct kab_night_host *h,
			    const struct kab_instance *in, bool *ret_known)
{
	const struct kab_case *c = &night->env->suite->cases[in->case_index];
	char *canonical kab_autofree = kab_params_canonical(&in->params, 0);
	struct kab_params params = { 0 };
	struct kab_command cmd = { 0 };
	double s = NAN;

	*ret_known = true;
	if (kab_store_typical_elapsed(night->env->store, c->runner, canonical, &s, NULL) == 0)
		return s;
	kab_params_copy(&params, &in->params);
	if (kab_params_resolve(&params, &h->facts, NULL) == 0 &&
	    kab_case_runner(c)->command(&params, &h->facts, &cmd, NULL) == 0 && cmd.expected_s > 0)
		s = cmd.expected_s;
	kab_command_release(&cmd);
	kab_params_release(&params);
	*ret_known = !isnan(s);
	return isnan(s) ? GUESS_CASE_S : s;
}

static int make_plan(const struct kab_night_host *h, const struct kab_suite *suite,
		     const struct kab_kernel_list *kernels, int boots, const char *label,
		     struct kab_plan *ret, struct kab_err *err)
{
	struct kab_plan_opts opts = { .boots = boots,
				      .iterations = -1,
				      .warmup = -1,
				      .retry = -1,
				      .booting = h->host->boot != KAB_BOOT_NONE };
	struct kab_rng rng;

	/* The order is another one every night, and the same when a night is begun again. */
	kab_rng_seed_label(&rng, 1, label);
	opts.seed = kab_rng_u64(&rng) >> 32;
	return kab_plan_make(suite, kernels, 1, &opts, ret, err);
}

int kab_night_costs(struct kab_night *night, const struct kab_night_host *h,
		    const struct kab_kernel_list *kernels, struct kab_night_case *ret,
		    struct kab_err *err)
{
	const struct kab_suite *suite = night->env->suite;
	struct kab_plan plan = { 0 };
	double *seconds kab_autofree = kab_xcalloc(suite->instances_n + 1, sizeof(*seconds));
	bool *known kab_autofree = kab_xcalloc(suite->instances_n + 1, sizeof(*known));

	if (make_plan(h, suite, kernels, 1, "costs", &plan, err) < 0)
		return -1;
	for (size_t i = 0; i < suite->cases_n; i++)
		ret[i] = (struct kab_night_case){ .known = true, .width_pct = NAN };
	for (size_t i = 0; i < suite->instances_n; i++) {
		const struct kab_instance *in = &suite->instances[i];
		struct kab_night_case *c = &ret[in->case_index];
		int64_t last = 0;

		seconds[i] = one_iteration(night, h, in, &known[i]) + OVERHEAD_S;
		c->known = c->known && known[i];
		if (kab_store_night_case_last(night->env->store, night->c->name, h->host->name,
					      suite->cases[in->case_index].name, in->row_key, &last,
					      err) < 0) {
			kab_plan_release(&plan);
			return -1;
		}
		if (last > c->last_ns)
			c->last_ns = last;
	}
	for (size_t i = 0; i < plan.n_steps; i++)
		ret[suite->instances[plan.step_v[i].instance].case_index].boot_s +=
			seconds[plan.step_v[i].instance] / (double)kernels->n;
	kab_plan_release(&plan);
	return 0;
}

int kab_night_must(struct kab_night *night, const char *host, bool *cases, struct kab_err *err)
{
	for (int pass = 0; pass < 2; pass++) {
		struct kab_change_list list = { 0 };
		int status = pass ? kab_history_open_changes(night->env->store, night->c->name,
							     &list, err)
				  : kab_history_confirmations(night->env->store, night->c->name,
							      &list, err);

		if (status < 0)
			return -1;
		for (size_t i = 0; i < list.n; i++)
			for (size_t c = 0; c < night->env->suite->cases_n; c++)
				if (!strcmp(list.v[i].series.host, host) &&
				    !strcmp(list.v[i].series.case_name,
					    night->env->suite->cases[c].name))
					cases[c] = true;
		kab_change_list_release(&list);
	}
	return 0;
}

/* The suite with some of its cases. */
static int part_of_suite(const struct kab_suite *suite, const bool *cases, struct kab_suite *ret,
			 struct kab_err *err)
{
	json_t *doc = NULL, *list, *kept = json_array();
	int status;

	if (kab_json_load_bytes(suite->file, suite->json, strlen(suite->json), &doc, err) < 0) {
		json_decref(kept);
		return -1;
	}
	list = json_object_get(doc, "cases");
	for (size_t i = 0; i < json_array_size(list) && i < suite->cases_n; i++)
		if (cases[i])
			json_array_append(kept, json_array_get(list, i));
	json_object_set_new(doc, "cases", kept);
	status = kab_suite_load_json(doc, suite->file, ret, err);
	json_decref(doc);
	if (status == 0 && kab_suite_bind(ret, err) < 0) {
		kab_suite_release(ret);
		status = -1;
	}
	return status;
}

/* What would stop the run before it begins. 1: something; it is remarked. */
static int preflight(struct kab_night *night, struct kab_night_host *h,
		     const struct kab_engine_new *what, struct kab_err *err)
{
	struct kab_strv kab_autostrv problems = KAB_STRV_INIT, warnings = KAB_STRV_INIT;
	struct kab_strv kab_autostrv touches = KAB_STRV_INIT;
	struct kab_err why = KAB_ERR_INIT;

	if (night->env->execute)
		return 0;
	if (kab_engine_preflight(what, night->env->log, night->env->stop_fd, &problems, &warnings,
				 &touches, &why) < 0) {
		if (kab_night_stopping(night)) {
			night->stopped = true;
			return 1;
		}
		kab_strv_add(&problems, why.text);
	}
	for (size_t i = 0; i < warnings.n; i++)
		if (kab_night_remark(night, "missing", h->host->name, err,
				     "%s; its results will be missing", warnings.v[i]) < 0)
			return -1;
	for (size_t i = 0; i < touches.n; i++)
		kab_log(night->env->log, KAB_LOG_INFO, "will touch: %s", touches.v[i]);
	for (size_t i = 0; i < problems.n; i++)
		if (kab_night_remark(night, "host", h->host->name, err, "%s", problems.v[i]) < 0)
			return -1;
	if (!problems.n)
		return 0;
	night->failures = true;
	h->tried = true;
	h->failed = true;
	free(h->reason);
	h->reason = kab_xstrdup(problems.v[0]);
	return 1;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * A `kab run` that measures the same: what a reader of the report needs. Kernels from files are named by
 * them, without the folders of this machine.
 */
static char *as_command(const struct kab_night *night, const struct kab_night_order *o,
			const struct kab_plan *plan)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;

	kab_strv_add(&argv, "kab");
	kab_strv_add(&argv, "run");
	kab_strv_add(&argv, base_name(night->c->suite));
	for (size_t i = 0; i < o->kernels->n; i++) {
		const struct kab_kernel *k = &o->kernels->v[i];

		if (k->sources.n)
			kab_strv_addf(&argv, "--kernel=%s=%.*s:%s", k->label,
				      (int)strcspn(k->spec, ":"), k->spec,
				      base_name(k->sources.v[0]));
		else
			kab_strv_addf(&argv, "--kernel=%s=%s", k->label, k->spec);
	}
	kab_strv_addf(&argv, "--boots=%d", plan->boots);
	kab_strv_addf(&argv, "--host=%s", o->host->host->name);
	return kab_quote_argv((const char *const *)kab_strv_argv(&argv));
}

int kab_night_make_run(struct kab_night *night, const struct kab_night_order *o,
		       struct kab_err *err)
{
	const struct kab_nightly_env *env = night->env;
	const struct kab_lab_host *hosts[1] = { o->host->host };
	char *name kab_autofree = NULL, *stored kab_autofree = NULL;
	char *command kab_autofree = NULL;
	struct kab_suite suite = { 0 };
	struct kab_plan plan = { 0 };
	struct kab_engine_new what = { .suite = &suite,
				       .kernels = o->kernels,
				       .plan = &plan,
				       .lab = env->lab,
				       .hosts = hosts,
				       .facts = &o->host->facts,
				       .n_hosts = 1,
				       .aa = !strcmp(o->purpose, "aa"),
				       .version = env->version };
	int64_t run_id = 0;
	int status;

	name = kab_xasprintf("%s-%s-%s%s", night->c->name, night->window.date, o->host->host->name,
			     o->name_suffix ? o->name_suffix : "");
	what.name = name;
	if (part_of_suite(env->suite, o->cases, &suite, err) < 0)
		return -1;
	status = make_plan(o->host, &suite, o->kernels, o->boots, name, &plan, err);
	if (status == 0) {
		command = as_command(night, o, &plan);
		what.command_line = command;
		status = preflight(night, o->host, &what, err);
	}
	if (status == 0) {
		/* A run that the night does not know of would be run by nobody. */
		status = kab_store_bulk_begin(env->store, err);
		if (status == 0) {
			status = kab_engine_create(env->store, &what, &run_id, &stored, err);
			if (status == 0)
				status = kab_store_night_add_run(env->store, night->row.id, run_id,
								 o->host->host->name, o->purpose,
								 o->note, err);
			if (kab_store_bulk_end(env->store, status == 0, status == 0 ? err : NULL) <
			    0)
				status = -1;
		}
	}
	if (status == 0) {
		o->host->tried = true;
		kab_log(env->log, KAB_LOG_INFO, "run '%s': %zu steps, %d boots of %zu kernels",
			stored, plan.n_steps, plan.boots, o->kernels->n);
	}
	kab_plan_release(&plan);
	kab_suite_release(&suite);
	return status;
}

/* ---- the work of a night ---- */

/* The kernels of the night's runs: baseline, test, reference, each once. */
static int night_kernels(struct kab_night *night, struct kab_kernel_list *ret, struct kab_err *err)
{
	const struct kab_night_kernel *list[] = { &night->k.baseline, &night->k.test,
						  &night->k.reference };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(list); i++) {
		bool there = !list[i]->label;

		for (size_t k = 0; k < ret->n; k++)
			there = there || !strcmp(ret->v[k].label, list[i]->label);
		if (!there && kab_night_add_kernel(ret, list[i]->label, list[i]->spec,
						   list[i]->commit, list[i]->describe, err) < 0)
			return -1;
	}
	return 0;
}

struct work {
	struct kab_kernel_list kernels;
	struct kab_night_case *cases; /* n_hosts x cases_n */
	double *budget, *reboot;
	int boots;
};

static int look_at_hosts(struct kab_night *night, struct work *w, struct kab_err *err)
{
	size_t n = night->env->suite->cases_n;

	w->cases = kab_xcalloc(night->n_hosts * n + 1, sizeof(*w->cases));
	w->budget = kab_xcalloc(night->n_hosts + 1, sizeof(*w->budget));
	w->reboot = kab_xcalloc(night->n_hosts + 1, sizeof(*w->reboot));
	for (size_t h = 0; h < night->n_hosts; h++) {
		struct kab_night_host *host = &night->hosts[h];
		bool *must kab_autofree = kab_xcalloc(n + 1, sizeof(*must));

		if (!host->probed || host->failed)
			continue;
		w->budget[h] = kab_night_budget_s(night, host);
		w->reboot[h] = kab_night_reboot_s(night, host);
		if (kab_night_costs(night, host, &w->kernels, &w->cases[h * n], err) < 0 ||
		    kab_night_must(night, host->host->name, must, err) < 0)
			return -1;
		for (size_t c = 0; c < n; c++)
			w->cases[h * n + c].must = must[c];
	}
	return 0;
}

/* Which case goes where, into hosts[].cases. */
static void give_out(struct kab_night *night, const struct work *w)
{
	size_t n = night->env->suite->cases_n, m = night->n_hosts;
	double *cost kab_autofree = kab_xcalloc(n * m + 1, sizeof(*cost));
	size_t *before kab_autofree = kab_xcalloc(n + 1, sizeof(*before));
	size_t *to kab_autofree = kab_xcalloc(n + 1, sizeof(*to));

	for (size_t h = 0; h < m; h++) {
		night->hosts[h].cases = kab_xcalloc(n + 1, sizeof(bool));
		for (size_t c = 0; c < n && !night->c->spread; c++)
			night->hosts[h].cases[c] = night->hosts[h].probed;
	}
	if (!night->c->spread)
		return;
	for (size_t c = 0; c < n; c++) {
		int64_t last = 0;

		before[c] = m;
		for (size_t h = 0; h < m; h++) {
			const struct kab_night_case *one = &w->cases[h * n + c];

			cost[c * m + h] = night->hosts[h].probed && !night->hosts[h].failed
						  ? w->boots * (double)w->kernels.n * one->boot_s
						  : INFINITY;
			if (one->last_ns > last) {
				last = one->last_ns;
				before[c] = h;
			}
		}
	}
	kab_night_spread(cost, w->budget, before, n, m, to);
	for (size_t c = 0; c < n; c++)
		if (to[c] < m)
			night->hosts[to[c]].cases[c] = true;
}

static int tell_cut(struct kab_night *night, const struct kab_night_host *h,
		    const struct kab_night_case *mine, const size_t *index, const bool *take,
		    size_t n, int boots, int wanted, double budget_s, struct kab_err *err)
{
	char *budget kab_autofree = kab_text_duration(budget_s);
	struct kab_strv kab_autostrv names = KAB_STRV_INIT, guessed = KAB_STRV_INIT;
	char *list kab_autofree = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *name = night->env->suite->cases[index[i]].name;

		if (!take[i])
			kab_strv_add(&names, name);
		if (!mine[i].known)
			kab_strv_add(&guessed, name);
	}
	if (guessed.n) {
		char *unknown kab_autofree = kab_strv_join(&guessed, ", ");

		kab_log(night->env->log, KAB_LOG_INFO,
			"host '%s': the duration of %s is not known yet; %.0f s are assumed",
			h->host->name, unknown, GUESS_CASE_S);
	}
	if (!boots)
		return kab_night_remark(night, "cut", h->host->name, err,
					"nothing of the suite fits into %s", budget);
	if (boots < wanted &&
	    kab_night_remark(night, "cut", h->host->name, err,
			     "%d boots per kernel in place of %d: the window has %s left", boots,
			     wanted, budget) < 0)
		return -1;
	if (!names.n)
		return 0;
	list = kab_strv_join(&names, ", ");
	return kab_night_remark(night, "cut", h->host->name, err,
				"left out for want of time: %s (the window has %s left)", list,
				budget);
}

static int order_host(struct kab_night *night, const struct work *w, size_t h, struct kab_err *err)
{
	struct kab_night_host *host = &night->hosts[h];
	size_t n = night->env->suite->cases_n, mine_n = 0;
	struct kab_night_case *mine kab_autofree = kab_xcalloc(n + 1, sizeof(*mine));
	size_t *index kab_autofree = kab_xcalloc(n + 1, sizeof(*index));
	bool *take kab_autofree = kab_xcalloc(n + 1, sizeof(*take));
	struct kab_night_order order = { .host = host,
					 .purpose = night->k.purpose,
					 .kernels = &w->kernels,
					 .cases = host->cases };
	struct kab_night_fit fit = { .budget_s = w->budget[h],
				     .reboot_s = w->reboot[h],
				     .kernels = (int)w->kernels.n,
				     .boots = w->boots,
				     .min_boots = night->c->min_boots < w->boots
							  ? night->c->min_boots
							  : w->boots,
				     .widest_first = !strcmp(night->k.purpose, "more") };
	double seconds = 0;
	int status;

	for (size_t c = 0; c < n; c++) {
		if (!host->cases[c])
			continue;
		index[mine_n] = c;
		mine[mine_n++] = w->cases[h * n + c];
	}
	if (!mine_n)
		return 0;
	kab_night_fit(&fit, mine, mine_n, &order.boots, take, &seconds);
	if (tell_cut(night, host, mine, index, take, mine_n, order.boots, w->boots, w->budget[h],
		     err) < 0)
		return -1;
	if (!order.boots) {
		host->cut = true;
		return 0;
	}
	for (size_t i = 0; i < mine_n; i++)
		host->cases[index[i]] = take[i];
	if (night->env->dry_run && night->env->plan_text) {
		char *time kab_autofree = kab_text_duration(seconds);

		kab_buf_addf(night->env->plan_text,
			     "  %s: %d boots of %zu kernels, about %s:", host->host->name,
			     order.boots, w->kernels.n, time);
		for (size_t c = 0; c < n; c++)
			if (host->cases[c])
				kab_buf_addf(night->env->plan_text, " %s",
					     night->env->suite->cases[c].name);
		kab_buf_addc(night->env->plan_text, '\n');
		return 0;
	}
	status = kab_night_make_run(night, &order, err);
	return status < 0 ? -1 : 0;
}

int kab_night_make_runs(struct kab_night *night, struct kab_err *err)
{
	struct work w = { .boots = night->c->boots ? night->c->boots : night->env->suite->boots };
	int status;

	/* Fewer boots than a verdict needs are only taken when the suite itself asks for them. */
	if (!night->c->boots && w.boots < night->c->min_boots)
		w.boots = night->c->min_boots;
	status = night_kernels(night, &w.kernels, err);
	if (status == 0)
		status = look_at_hosts(night, &w, err);
	if (status == 0)
		give_out(night, &w);
	for (size_t h = 0; status == 0 && h < night->n_hosts && !night->stopped; h++)
		if (night->hosts[h].probed && !night->hosts[h].failed)
			status = order_host(night, &w, h, err);
	kab_kernel_list_release(&w.kernels);
	free(w.cases);
	free(w.budget);
	free(w.reboot);
	return status;
}
