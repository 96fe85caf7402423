/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/dry_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "engine/bind.h"
#include "model/expr.h"
#include "transport/transport.h"

/* Steps beyond this many are only counted, unless -v asks for all. */
#define LISTED_STEPS 60

/* Seconds that one iteration of an instance takes on a host, NAN when nobody can tell. */
static double estimate(const struct kab_engine_new *what, struct kab_store *store, size_t h,
		       const struct kab_instance *in, char **ret_argv)
{
	const struct kab_case *c = &what->suite->cases[in->case_index];
	const struct kab_runner *runner = kab_case_runner(c);
	char *canonical kab_autofree = kab_params_canonical(&in->params, 0);
	struct kab_params params = { 0 };
	struct kab_command cmd = { 0 };
	double seconds = NAN;

	kab_params_copy(&params, &in->params);
	if (kab_params_resolve(&params, &what->facts[h], NULL) == 0 &&
	    runner->command(&params, &what->facts[h], &cmd, NULL) == 0) {
		if (cmd.expected_s > 0)
			seconds = cmd.expected_s;
		if (ret_argv)
			*ret_argv = kab_quote_argv((const char *const *)kab_strv_argv(&cmd.argv));
	}
	if (store && kab_store_typical_elapsed(store, c->runner, canonical, &seconds, NULL) != 0 &&
	    cmd.expected_s > 0)
		seconds = cmd.expected_s;
	kab_command_release(&cmd);
	kab_params_release(&params);
	return seconds;
}

static void print_cases(FILE *f, const struct kab_engine_new *what, struct kab_store *store)
{
	for (size_t i = 0; i < what->suite->instances_n; i++) {
		const struct kab_instance *in = &what->suite->instances[i];
		const struct kab_case *c = &what->suite->cases[in->case_index];
		char *argv kab_autofree = NULL, *time kab_autofree = NULL;
		double s = estimate(what, store, 0, in, &argv);

		time = isnan(s) ? kab_xstrdup("time unknown") : kab_text_duration(s);
		fprintf(f, "  %s%s%s: %s  (%s)\n", c->name, *in->row_key ? " " : "", in->row_key,
			argv ? argv : "cannot run on the first host", time);
	}
}

static void print_steps(FILE *f, const struct kab_engine_new *what, bool all)
{
	const struct kab_plan *plan = what->plan;
	size_t shown = 0, last_boot = SIZE_MAX;

	for (size_t i = 0; i < plan->n_steps; i++) {
		const struct kab_plan_step *s = &plan->step_v[i];
		const struct kab_plan_boot *b = &plan->boot_v[s->boot];
		const struct kab_instance *in = &what->suite->instances[s->instance];
		const char *condition = plan->conditions[s->condition].text;

		if (!all && shown == LISTED_STEPS) {
			fprintf(f, "  ... and %zu more steps (-v lists all)\n",
				plan->n_steps - shown);
			return;
		}
		if (s->boot != last_boot && !plan->restarts)
			fprintf(f, "  host %s, boot %d: kernel '%s'\n", what->hosts[b->host]->name,
				b->sequence, what->kernels->v[b->kernel].label);
		last_boot = s->boot;
		fprintf(f, "  %5lld  %s%s%s%s%s  %s  %s%d\n", (long long)s->sequence,
			what->suite->cases[in->case_index].name, *in->row_key ? " " : "",
			in->row_key, *condition ? " " : "", condition,
			what->kernels->v[b->kernel].label, s->warmup ? "warm-up " : "iteration ",
			s->iteration);
		shown++;
	}
}

void kab_dry_run_print(struct kab_cli *cli, const struct kab_engine_new *what,
		       struct kab_store *store)
{
	const struct kab_plan *plan = what->plan;
	char *time kab_autofree = NULL;
	double longest = 0;
	bool unknown = false, known = false;
	FILE *f = cli->out;

	fprintf(f, "Suite %s: %s\n", what->suite->name, what->suite->summary);
	fprintf(f, "Hosts:");
	for (size_t h = 0; h < what->n_hosts; h++)
		fprintf(f, " %s", what->hosts[h]->name);
	fprintf(f, "\nKernels:");
	for (size_t k = 0; k < what->kernels->n; k++)
		fprintf(f, "%s %s=%s%s", k ? "," : "", what->kernels->v[k].label,
			what->kernels->v[k].spec, k ? "" : " (baseline)");
	fprintf(f, "\nSeed %llu; %d %s%s x %d iteration%s%s", (unsigned long long)plan->seed,
		plan->boots, plan->restarts ? "restart" : "boot", plan->boots == 1 ? "" : "s",
		plan->iterations, plan->iterations == 1 ? "" : "s",
		plan->warmup ? "" : ", no warm-up");
	if (plan->warmup)
		fprintf(f, ", %d warm-up%s", plan->warmup, plan->warmup == 1 ? "" : "s");
	fprintf(f, "\nAnalysis: %s\n", plan->analysis);
	if (plan->stop_text)
		fprintf(f, "Length: %s; the first %d blocks are run in any case\n", plan->stop_text,
			plan->first_blocks);
	if (plan->n_conditions > 1 || *plan->conditions[0].text) {
		fprintf(f, "Conditions:");
		for (size_t c = 0; c < plan->n_conditions; c++)
			fprintf(f, "%s %s", c ? "," : "", plan->conditions[c].text);
		fprintf(f, "\n");
	}
	fprintf(f, "Cases:\n");
	print_cases(f, what, store);
	fprintf(f, "Steps in order:\n");
	print_steps(f, what, cli->verbosity > 0);
	for (size_t h = 0; h < what->n_hosts; h++) {
		double total = 0;

		for (size_t i = 0; i < plan->n_steps; i++) {
			const struct kab_plan_step *s = &plan->step_v[i];
			double one;

			if (plan->boot_v[s->boot].host != h)
				continue;
			one = estimate(what, store, h, &what->suite->instances[s->instance], NULL);
			unknown = unknown || isnan(one);
			known = known || !isnan(one);
			total += isnan(one) ? 0 : one;
		}
		longest = fmax(longest, total);
	}
	time = kab_text_duration(longest);
	fprintf(f, "%s%zu steps, ", plan->stop_text ? "up to " : "", plan->n_steps);
	if (known)
		fprintf(f, "%s%s%s of measuring", unknown ? "at least " : "about ", time,
			unknown ? " (some durations are unknown)" : "");
	else
		fprintf(f, "how long they measure is not known yet");
	fprintf(f, "; reboots by kab: ");
	if (plan->booting)
		fprintf(f, "%zu\n", plan->n_boots);
	else
		fprintf(f, "none\n");
	fprintf(f, "Nothing was run or stored.\n");
}
