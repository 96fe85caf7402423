/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/circumstances.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/imported.h"
#include "cli/machine_text.h"
#include "cli/noise_floor.h"
#include "cli/reproduce.h"
#include "cli/run_text.h"

static bool same_kernel(const struct kab_seen_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct kab_boot_info *a = list->v[0].boot, *b = list->v[i].boot;

		if (!a->build_id || !*a->build_id || !b->build_id ||
		    strcmp(a->build_id, b->build_id) || strcmp(a->release, b->release))
			return false;
	}
	return list->n > 1;
}

/* The kernels that were booted on that host. */
static int look_at_boots(struct kab_store *store, const struct kab_boot_info *boots, size_t n,
			 const char *host, struct kab_seen_list *list, struct kab_err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct kab_seen *seen;
		bool known =
			!boots[i].release || !*boots[i].release || strcmp(boots[i].host, host) != 0;

		for (size_t k = 0; k < list->n; k++)
			known = known || !strcmp(list->v[k].boot->kernel, boots[i].kernel);
		if (known)
			continue;
		seen = KAB_PUSH(list);
		seen->boot = &boots[i];
		seen->label = boots[i].kernel;
		seen->place = list->n - 1;
		if (kab_store_boot_facts(store, boots[i].id, &seen->facts, err) < 0)
			return -1;
	}
	return 0;
}

/* Baseline first: boots are stored in the order in which they were run. */
static void order_kernels(const struct kab_judgement *j, struct kab_seen_list *list)
{
	size_t place = 0;

	for (size_t k = 0; j->n && k < j->v[0].n_sets; k++) {
		for (size_t i = place; i < list->n; i++) {
			struct kab_seen tmp = list->v[i];

			if (strcmp(tmp.boot->kernel, j->v[0].sets[k].data->kernel))
				continue;
			tmp.place = k;
			memmove(&list->v[place + 1], &list->v[place],
				(i - place) * sizeof(list->v[0]));
			list->v[place++] = tmp;
			break;
		}
	}
}

static void say_one_kernel(const struct kab_seen_list *list, struct kab_preamble *ret)
{
	if (same_kernel(list))
		kab_strv_add(&ret->notices,
			     "All labels are one and the same kernel (A/A): what differs is "
			     "the noise of this machine.");
}

/* One text where all have the same, else each with its label. Takes the texts. */
static char *once_or_each(const struct kab_strv *labels, char **texts)
{
	struct kab_strv kab_autostrv each = KAB_STRV_INIT;
	bool same = true;
	char *ret;

	for (size_t i = 0; i < labels->n; i++) {
		const char *text = texts[i] && *texts[i] ? texts[i] : "unknown";

		same = same && texts[i] && texts[0] && !strcmp(texts[i], texts[0]);
		kab_strv_addf(&each, "%s: %s", labels->v[i], text);
	}
	ret = same ? kab_xstrdup(labels->n ? texts[0] : "") : kab_strv_join(&each, "; ");
	for (size_t i = 0; i < labels->n; i++)
		free(texts[i]);
	free(texts);
	return ret;
}

static void describe_machines(const struct kab_seen_list *list, const struct kab_judgement *j,
			      bool names, struct kab_preamble *ret)
{
	char **machine = kab_xcalloc(list->n + 1, sizeof(char *));
	char **power = kab_xcalloc(list->n + 1, sizeof(char *));
	char **virt = kab_xcalloc(list->n + 1, sizeof(char *));
	struct kab_strv kab_autostrv labels = KAB_STRV_INIT;
	bool any = false;

	for (size_t i = 0; i < list->n; i++) {
		const struct kab_facts *facts = &list->v[i].facts;

		any |= facts->n > 0;
		kab_strv_add(&labels, list->v[i].label);
		machine[i] = facts->n ? kab_machine_text(facts) : kab_xstrdup("unknown");
		power[i] = facts->n ? kab_power_text(facts, j) : kab_xstrdup("unknown");
		virt[i] = kab_xstrdup(kab_facts_get(facts, "virt"));
		if (names)
			kab_strv_addf(&ret->nodes, "host %s (%s)", list->v[i].boot->host,
				      list->v[i].label);
	}
	ret->machine = once_or_each(&labels, machine);
	ret->power = once_or_each(&labels, power);
	ret->virt = once_or_each(&labels, virt);
	if (any)
		return;
	free(ret->machine);
	free(ret->power);
	free(ret->virt);
	ret->machine = ret->power = ret->virt = NULL;
}

/* What one run says, where no run before it has said the same. */
static int describe_run(struct kab_store *store, const struct kab_run_info *run,
			const struct kab_judgement *j, bool names, struct kab_strv *runs,
			struct kab_strv *quiet, struct kab_preamble *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv bench = KAB_STRV_INIT;
	char *busy kab_autofree = NULL;

	kab_strv_take(runs, kab_run_text(run, j));
	if (run->command_line && *run->command_line)
		kab_strv_take(&ret->reproduce,
			      kab_reproduce_command(run->command_line, run->plan_json, names));
	if (kab_run_benchmarks(store, run->id, j, &bench, err) < 0 ||
	    kab_run_quiet(store, run->id, &busy, err) < 0)
		return -1;
	for (size_t i = 0; i < bench.n; i++)
		if (!kab_strv_has(&ret->bench, bench.v[i]))
			kab_strv_add(&ret->bench, bench.v[i]);
	if (busy)
		kab_strv_addf(quiet, "%s (run %s)", busy, run->name);
	return 0;
}

int kab_circumstances_across(struct kab_store *store, const struct kab_compared *kernels, size_t n,
			     const struct kab_judgement *judgement, bool names,
			     struct kab_preamble *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv runs = KAB_STRV_INIT, quiet = KAB_STRV_INIT;
	struct kab_boot_info **boots = kab_xcalloc(n + 1, sizeof(*boots));
	size_t *n_boots = kab_xcalloc(n + 1, sizeof(*n_boots));
	struct kab_seen_list list = { 0 };
	int status = 0;

	for (size_t k = 0; k < n && !status; k++) {
		bool seen = false;

		for (size_t i = 0; i < k; i++)
			seen |= kernels[i].run->id == kernels[k].run->id;
		if (!seen)
			status = describe_run(store, kernels[k].run, judgement, names, &runs,
					      &quiet, ret, err);
		if (!status)
			status = kab_store_list_boots(store, kernels[k].run->id, &boots[k],
						      &n_boots[k], err);
		for (size_t b = 0; b < n_boots[k] && !status; b++) {
			const struct kab_boot_info *boot = &boots[k][b];
			struct kab_seen *s;

			if (strcmp(boot->kernel, kernels[k].kernel) || !boot->release ||
			    !*boot->release)
				continue;
			s = KAB_PUSH(&list);
			s->boot = boot;
			s->label = kernels[k].label;
			s->place = k;
			status = kab_store_boot_facts(store, boot->id, &s->facts, err);
			break;
		}
	}
	if (!status) {
		bool same = true;

		describe_machines(&list, judgement, names, ret);
		for (size_t k = 0; k < list.n; k++)
			kab_strv_take(&ret->kernels, kab_kernel_text(&list.v[k], n));
		for (size_t i = 1; i < runs.n; i++)
			same = same && !strcmp(runs.v[i], runs.v[0]);
		ret->config = kab_config_text(&list);
		ret->runs = same && runs.n
				    ? kab_xasprintf("%s%s", runs.n > 1 ? "each " : "", runs.v[0])
				    : kab_strv_join(&runs, "; and ");
		ret->stats = kab_circumstances_stats(judgement);
		ret->quiet = quiet.n ? kab_strv_join(&quiet, "; ") : NULL;
		kab_machine_differences(&list, &ret->differs);
		kab_circumstances_notices(judgement->rows_data, ret);
		for (size_t k = 0; k < n; k++)
			kab_imported_caveats(kernels[k].run, &ret->notices);
		say_one_kernel(&list, ret);
	}
	for (size_t i = 0; i < list.n; i++)
		kab_facts_release(&list.v[i].facts);
	free(list.v);
	for (size_t k = 0; k < n; k++) {
		for (size_t b = 0; b < n_boots[k]; b++)
			kab_boot_info_release(&boots[k][b]);
		free(boots[k]);
	}
	free(boots);
	free(n_boots);
	return status < 0 ? -1 : 0;
}

/* Hosts with a proven boot, in the order of the rows. */
static void list_hosts(const struct kab_judgement *j, const struct kab_boot_info *boots, size_t n,
		       struct kab_strv *ret)
{
	for (size_t r = 0; r < j->n + n; r++) {
		const char *host = r < j->n ? j->v[r].data->host : boots[r - j->n].host;
		bool booted = false;

		for (size_t b = 0; b < n && !booted; b++)
			booted = boots[b].release && *boots[b].release &&
				 !strcmp(boots[b].host, host);
		if (booted && !kab_strv_has(ret, host))
			kab_strv_add(ret, host);
	}
}

/* The line of each kernel: once where it is the same on all hosts, else with the host. */
static void add_kernels(const struct kab_strv *hosts, const struct kab_seen_list *lists,
			size_t n_kernels, struct kab_strv *ret)
{
	size_t most = 0;

	for (size_t h = 0; h < hosts->n; h++)
		most = lists[h].n > most ? lists[h].n : most;
	for (size_t k = 0; k < most; k++) {
		struct kab_strv kab_autostrv lines = KAB_STRV_INIT;
		bool same = true;

		for (size_t h = 0; h < hosts->n; h++) {
			char *line kab_autofree =
				k < lists[h].n ? kab_kernel_text(&lists[h].v[k], n_kernels)
					       : kab_xstrdup("");

			same = same && (!h || !strcmp(line, lines.v[0]));
			kab_strv_add(&lines, line);
		}
		for (size_t h = 0; h < (same ? 1 : hosts->n); h++)
			if (*lines.v[h])
				kab_strv_addf(ret, "%s%s%s", lines.v[h], same ? "" : " on ",
					      same ? "" : hosts->v[h]);
	}
}

static void describe_hosts(const struct kab_strv *hosts, const struct kab_seen_list *lists,
			   const struct kab_judgement *j, bool names, struct kab_preamble *ret)
{
	char **machine = kab_xcalloc(hosts->n + 1, sizeof(char *));
	char **power = kab_xcalloc(hosts->n + 1, sizeof(char *));
	char **virt = kab_xcalloc(hosts->n + 1, sizeof(char *));
	char **config = kab_xcalloc(hosts->n + 1, sizeof(char *));
	bool one = true, any = false;

	for (size_t h = 0; h < hosts->n; h++) {
		const struct kab_facts *facts = &lists[h].v[0].facts;
		struct kab_strv kab_autostrv nodes = KAB_STRV_INIT, differs = KAB_STRV_INIT;
		bool alone = hosts->n == 1;

		any |= facts->n > 0;
		machine[h] = facts->n ? kab_machine_text(facts) : NULL;
		power[h] = facts->n ? kab_power_text(facts, j) : NULL;
		virt[h] = kab_xstrdup(kab_facts_get(facts, "virt"));
		config[h] = kab_config_text(&lists[h]);
		kab_machine_nodes(facts, &nodes);
		kab_machine_differences(&lists[h], &differs);
		for (size_t i = 0; i < nodes.n; i++)
			kab_strv_addf(&ret->nodes, "%s%s%s", alone ? "" : hosts->v[h],
				      alone ? "" : " ", nodes.v[i]);
		for (size_t i = 0; i < differs.n; i++)
			kab_strv_addf(&ret->differs, "%s%s%s", alone ? "" : hosts->v[h],
				      alone ? "" : ": ", differs.v[i]);
		if (names && alone)
			kab_strv_addf(&ret->nodes, "host %s", hosts->v[h]);
		one = one && same_kernel(&lists[h]);
	}
	add_kernels(hosts, lists, j->n_kernels, &ret->kernels);
	ret->machine = once_or_each(hosts, machine);
	if (hosts->n > 1 && strncmp(ret->machine, hosts->v[0], strlen(hosts->v[0])) != 0) {
		char *text kab_autofree = ret->machine;

		ret->machine = kab_xasprintf("%zu hosts, each %s", hosts->n, text);
	}
	ret->power = once_or_each(hosts, power);
	ret->virt = once_or_each(hosts, virt);
	ret->config = once_or_each(hosts, config);
	if (hosts->n && one)
		say_one_kernel(&lists[0], ret);
	if (any)
		return;
	free(ret->machine);
	free(ret->power);
	free(ret->virt);
	free(ret->config);
	ret->machine = ret->power = ret->virt = ret->config = NULL;
}

int kab_circumstances(struct kab_store *store, const struct kab_run_info *run,
		      const struct kab_judgement *judgement, bool names, struct kab_preamble *ret,
		      struct kab_err *err)
{
	struct kab_strv kab_autostrv hosts = KAB_STRV_INIT;
	struct kab_seen_list *lists;
	struct kab_boot_info *boots;
	int status = 0;
	size_t n;

	if (kab_store_list_boots(store, run->id, &boots, &n, err) < 0)
		return -1;
	list_hosts(judgement, boots, n, &hosts);
	lists = kab_xcalloc(hosts.n + 1, sizeof(*lists));
	for (size_t h = 0; h < hosts.n && !status; h++) {
		status = look_at_boots(store, boots, n, hosts.v[h], &lists[h], err);
		order_kernels(judgement, &lists[h]);
	}
	if (!status) {
		describe_hosts(&hosts, lists, judgement, names, ret);
		ret->runs = kab_run_text(run, judgement);
		ret->stats = kab_circumstances_stats(judgement);
		ret->noise = kab_noise_floor_text(store, run, judgement);
		kab_circumstances_notices(judgement->rows_data, ret);
		kab_imported_caveats(run, &ret->notices);
		if (run->command_line && *run->command_line)
			kab_strv_take(
				&ret->reproduce,
				kab_reproduce_command(run->command_line, run->plan_json, names));
		status = kab_run_benchmarks(store, run->id, judgement, &ret->bench, err);
		if (!status)
			status = kab_run_quiet(store, run->id, &ret->quiet, err);
	}
	for (size_t h = 0; h < hosts.n; h++) {
		for (size_t i = 0; i < lists[h].n; i++)
			kab_facts_release(&lists[h].v[i].facts);
		free(lists[h].v);
	}
	free(lists);
	for (size_t i = 0; i < n; i++)
		kab_boot_info_release(&boots[i]);
	free(boots);
	return status;
}
