/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/circumstances.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/noise_floor.h"
#include "cli/reproduce.h"
#include "reports/number.h"
#include "runners/runner.h"

#define BENCH_LINES_MAX 8
#define QUIET_TEXTS_MAX 3

/* The first proven boot of each kernel, in the order of the kernels. */
struct seen {
	const struct kab_boot_info *boot;
	const char *label; /* as printed */
	struct kab_facts facts;
};
struct seen_list {
	struct seen *v;
	size_t n, cap;
};

static void part(struct kab_buf *buf, const char *name, const char *value)
{
	kab_buf_addf(buf, "%s%s %s", buf->len ? ", " : "", name, *value ? value : "unknown");
}

static char *machine_text(const struct kab_facts *f)
{
	int64_t sockets = kab_facts_int(f, "sockets", 0), cores = kab_facts_int(f, "cores", 0);
	int64_t cpus = kab_facts_int(f, "cpus", 0), nodes = kab_facts_int(f, "nodes", 0);
	int64_t threads = kab_facts_int(f, "threads_per_core", 0);
	int64_t memory = kab_facts_int(f, "memory_mb", 0);
	const char *arch = kab_facts_get(f, "arch"), *model = kab_facts_get(f, "model");
	struct kab_buf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "%s, %s, ", *arch ? arch : "unknown architecture",
		     *model ? model : "unknown model");
	if (sockets > 0 && cores > 0 && threads > 0)
		kab_buf_addf(&buf, "%lld x %lld x SMT%lld = ", (long long)sockets,
			     (long long)(cores / sockets), (long long)threads);
	kab_buf_addf(&buf, "%lld CPU%s", (long long)cpus, cpus == 1 ? "" : "s");
	if (nodes > 0)
		kab_buf_addf(&buf, ", %lld NUMA node%s", (long long)nodes, nodes == 1 ? "" : "s");
	if (memory > 0)
		kab_buf_addf(&buf, ", %.1f GB RAM", (double)memory / 1024);
	return kab_buf_detach(&buf);
}

static void add_nodes(const struct kab_facts *f, struct kab_strv *ret)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strncmp(f->v[i].key, "node_cpus.", 10))
			kab_strv_addf(ret, "node%s: %s", f->v[i].key + 10, f->v[i].value);
}

/* The word of the kernel command line that starts with `name=`, or "". Caller frees. */
static char *cmdline_value(const struct kab_facts *f, const char *name)
{
	struct kab_strv kab_autostrv words = KAB_STRV_INIT;
	size_t n = strlen(name);

	kab_strv_split(&words, kab_facts_get(f, "cmdline"), ' ');
	for (size_t i = 0; i < words.n; i++)
		if (!strncmp(words.v[i], name, n) && words.v[i][n] == '=')
			return kab_xstrdup(words.v[i] + n + 1);
	return kab_xstrdup("");
}

/* A setting that a condition of the rows makes is not one setting of the machine. */
static void power_part(struct kab_buf *buf, const struct kab_judgement *j, const char *name,
		       const char *key, const char *value)
{
	char *sets kab_autofree = kab_xasprintf("%s=", key);

	for (size_t r = 0; r < j->n; r++) {
		const char *at = strstr(j->v[r].data->condition, sets);

		if (at && (at == j->v[r].data->condition || at[-1] == ',' || at[-1] == ' ')) {
			part(buf, name, "by condition");
			return;
		}
	}
	if (!strcmp(value, "notsupported"))
		value = "not supported";
	else if (!strcmp(value, "notimplemented"))
		value = "not implemented";
	part(buf, name, value);
}

static char *power_text(const struct kab_facts *f, const struct kab_judgement *j)
{
	char *mitigations kab_autofree = cmdline_value(f, "mitigations");
	struct kab_buf buf = KAB_BUF_INIT;
	const char *swap = kab_facts_get(f, "swap_mb");

	power_part(&buf, j, "governor", "governor", kab_facts_get(f, "governor"));
	power_part(&buf, j, "turbo", "turbo", kab_facts_get(f, "turbo"));
	part(&buf, "C-states", kab_facts_get(f, "cstates"));
	power_part(&buf, j, "SMT", "smt", kab_facts_get(f, "smt"));
	part(&buf, "mitigations", *mitigations ? mitigations : f->n ? "default" : "");
	power_part(&buf, j, "THP", "thp", kab_facts_get(f, "thp"));
	part(&buf, "swap", !*swap ? "" : !strcmp(swap, "0") ? "off" : "on");
	return kab_buf_detach(&buf);
}

static void add_kernel(const struct seen *seen, size_t k, size_t n, struct kab_strv *ret)
{
	const struct kab_boot_info *b = seen->boot;
	const char *commit = kab_facts_get(&seen->facts, "commit");
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "%-5s %s = %s",
		     k == 0  ? "base"
		     : n > 2 ? ""
			     : "test",
		     seen->label, b->release && *b->release ? b->release : "unknown release");
	if (*commit)
		kab_buf_addf(&buf, ", commit %.12s", commit);
	if (b->build_id && *b->build_id)
		kab_buf_addf(&buf, ", build id %.12s", b->build_id);
	kab_strv_add(ret, kab_buf_str(&buf));
}

/* Words of a command line that name how it was booted rather than how the kernel behaves. */
static bool is_boot_word(const char *word)
{
	static const char *const starts[] = { "BOOT_IMAGE=", "root=",	   "initrd=",
					      "kab.",	     "rootflags=", "resume=" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(starts); i++)
		if (!strncmp(word, starts[i], strlen(starts[i])))
			return true;
	return !*word;
}

static void words_not_in(const char *a, const char *b, char sign, struct kab_buf *buf)
{
	struct kab_strv kab_autostrv mine = KAB_STRV_INIT, other = KAB_STRV_INIT;

	kab_strv_split(&mine, a, ' ');
	kab_strv_split(&other, b, ' ');
	for (size_t i = 0; i < mine.n; i++)
		if (!is_boot_word(mine.v[i]) && !kab_strv_has(&other, mine.v[i]))
			kab_buf_addf(buf, " %c%s", sign, mine.v[i]);
}

static char *config_text(const struct seen_list *list)
{
	struct kab_buf buf = KAB_BUF_INIT;
	bool known = list->n > 0, same = true;

	for (size_t i = 0; i < list->n; i++) {
		const char *hash = kab_facts_get(&list->v[i].facts, "config_hash");

		known = known && *hash;
		same = same && !strcmp(hash, kab_facts_get(&list->v[0].facts, "config_hash"));
	}
	if (list->n && !list->v[0].facts.n)
		return NULL;
	kab_buf_adds(&buf, !known ? ".config unknown" : same ? "same .config" : ".config differs");
	for (size_t i = 1; i < list->n; i++) {
		const char *a = kab_facts_get(&list->v[0].facts, "cmdline");
		const char *b = kab_facts_get(&list->v[i].facts, "cmdline");
		struct kab_buf kab_autobuf words = KAB_BUF_INIT;

		words_not_in(b, a, '+', &words);
		words_not_in(a, b, '-', &words);
		if (words.len)
			kab_buf_addf(&buf, "; command line of %s:%s", list->v[i].label, words.data);
		else if (i == 1 && list->n == 2)
			kab_buf_adds(&buf, "; same command line");
	}
	return kab_buf_detach(&buf);
}

/* Settings of the machine that must not differ between kernels unless they are the subject. */
static void add_differences(const struct seen_list *list, struct kab_strv *ret)
{
	static const char *const keys[] = { "smt",	   "governor",	   "turbo",	"thp",
					    "clocksource", "modules_tree", "microcode", "cpus",
					    "memory_mb",   "swap_mb",	   "libc",	"os",
					    "mitigations", "cstates",	   "page_size", "model",
					    "tainted" };

	for (size_t i = 1; i < list->n; i++) {
		for (size_t k = 0; k < KAB_ARRAY_SIZE(keys); k++) {
			const char *a = kab_facts_get(&list->v[0].facts, keys[k]);
			const char *b = kab_facts_get(&list->v[i].facts, keys[k]);

			if (!strcmp(list->v[0].boot->host, list->v[i].boot->host) && strcmp(a, b))
				kab_strv_addf(ret, "%s: %.60s on %s, %.60s on %s", keys[k],
					      *a ? a : "unknown", list->v[0].label,
					      *b ? b : "unknown", list->v[i].label);
		}
	}
}

/* Words of argv that a shell would split are quoted. */
static void add_word(struct kab_buf *buf, const char *word)
{
	if (buf->len)
		kab_buf_addc(buf, ' ');
	if (*word && !strpbrk(word, " \t\n'\"\\$`*?[](){}<>|&;#~"))
		kab_buf_adds(buf, word);
	else
		kab_buf_addf(buf, "'%s'", word);
}

static char *argv_text(const char *argv_json)
{
	json_t *argv = argv_json ? json_loads(argv_json, 0, NULL) : NULL, *word;
	struct kab_buf buf = KAB_BUF_INIT;
	size_t i;

	json_array_foreach (argv, i, word) {
		const char *text = json_string_value(word);
		const char *slash = text && i == 0 ? strrchr(text, '/') : NULL;

		if (text)
			add_word(&buf, slash ? slash + 1 : text);
	}
	json_decref(argv);
	return buf.data ? kab_buf_detach(&buf) : NULL;
}

/* A step that has been measured for this row, in any of its boots. */
static const struct kab_step_info *step_of(const struct kab_step_info *steps, size_t n,
					   const struct kab_row_data *row)
{
	for (size_t i = 0; i < n; i++)
		if (steps[i].state == KAB_ITER_DONE && !steps[i].warmup && steps[i].argv_json &&
		    !strcmp(steps[i].case_name, row->case_name) &&
		    !strcmp(steps[i].row_key ? steps[i].row_key : "", row->row_key))
			return &steps[i];
	return NULL;
}

/* A version once, then its command lines, each with the row that it is of. */
static void add_benchmark(struct kab_strv *ret, struct kab_strv *versions,
			  const struct kab_step_info *step, const struct kab_row_data *row,
			  const char *argv)
{
	const char *version = step->runner_version ? step->runner_version : "";
	/* Many tools begin their version with their name. */
	bool named = !strncmp(version, step->runner, strlen(step->runner));
	char *tool kab_autofree = kab_xasprintf("%s%s%s", named ? "" : step->runner,
						named || !*version ? "" : " ", version);

	if (!kab_strv_has(versions, tool)) {
		kab_strv_add(versions, tool);
		kab_strv_add(ret, tool);
	}
	kab_strv_addf(ret, "%s%s%s: %s", row->case_name, *row->row_key ? " " : "", row->row_key,
		      argv);
}

/* In the order of the suite, which is that of the rows, and not as they happened to be run. */
static int add_benchmarks(struct kab_store *store, int64_t run_id, const struct kab_judgement *j,
			  struct kab_strv *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv seen = KAB_STRV_INIT, versions = KAB_STRV_INIT;
	struct kab_step_info *steps;
	size_t n, lines = 0, more = 0;

	if (kab_store_list_invoked(store, run_id, &steps, &n, err) < 0)
		return -1;
	for (size_t r = 0; r < j->n; r++) {
		const struct kab_step_info *step = step_of(steps, n, j->v[r].data);
		char *argv kab_autofree = step ? argv_text(step->argv_json) : NULL;

		if (!argv || kab_strv_has(&seen, argv))
			continue;
		kab_strv_add(&seen, argv);
		if (lines++ < BENCH_LINES_MAX)
			add_benchmark(ret, &versions, step, j->v[r].data, argv);
		else
			more++;
	}
	for (size_t i = 0; i < n; i++)
		kab_step_info_release(&steps[i]);
	free(steps);
	if (more)
		kab_strv_addf(ret, "and %zu more command line%s", more, more == 1 ? "" : "s");
	return 0;
}

/* How many boots of a kernel have a result: fewer than planned when a run was cut short. */
static size_t boots_measured(const struct kab_judgement *j, bool *ret_tested, bool *ret_paired)
{
	size_t most = 0;

	*ret_tested = *ret_paired = false;
	for (size_t r = 0; r < j->n; r++) {
		*ret_paired |= j->v[r].data->paired;
		for (size_t k = 0; k < j->v[r].n_sets; k++)
			if (j->v[r].sets[k].n_boots > most)
				most = j->v[r].sets[k].n_boots;
		for (size_t p = 0; p < j->v[r].n_pairs; p++)
			*ret_tested |= j->v[r].pairs[p].tested;
	}
	return most;
}

static char *runs_text(const struct kab_run_info *run, const struct kab_judgement *j)
{
	json_t *plan = run->plan_json ? json_loads(run->plan_json, 0, NULL) : NULL;
	struct kab_buf buf = KAB_BUF_INIT;
	const char *reason;
	long long boots, measured;
	bool restarts, tested, random, paired;

	if (!json_is_integer(json_object_get(plan, "boots"))) {
		json_decref(plan);
		return kab_xasprintf("%zu iterations stored, order not recorded", run->n_done);
	}
	restarts = json_is_true(json_object_get(plan, "restarts"));
	boots = (long long)json_integer_value(json_object_get(plan, "boots"));
	measured = (long long)boots_measured(j, &tested, &paired);
	reason = json_string_value(json_object_get(json_object_get(plan, "analysis"), "reason"));
	random = !reason || !strstr(reason, "not random");
	if (json_object_get(plan, "stopping"))
		kab_buf_adds(&buf, "up to ");
	else if (measured < boots)
		kab_buf_addf(&buf, "%lld of ", measured);
	kab_buf_addf(&buf, "%lld %s%s x %lld per kernel", boots, restarts ? "restart" : "boot",
		     boots == 1 ? "" : "s",
		     (long long)json_integer_value(json_object_get(plan, "iterations")));
	if (json_integer_value(json_object_get(plan, "warmup")) > 0)
		kab_buf_addf(&buf, " after %lld warm-up",
			     (long long)json_integer_value(json_object_get(plan, "warmup")));
	if (random)
		kab_buf_addf(&buf, ", random order in blocks, seed %lld",
			     (long long)json_integer_value(json_object_get(plan, "seed")));
	if (run->n_failed)
		kab_buf_addf(&buf, ", %zu failed", run->n_failed);
	if (run->n_missing + run->n_pending)
		kab_buf_addf(&buf, ", %zu missing", run->n_missing + run->n_pending);
	/* What the plan wants is not what was done where there was nothing to test. */
	if (reason && tested && (paired || !strstr(reason, "paired")))
		kab_buf_addf(&buf, "; %s", reason);
	json_decref(plan);
	return kab_buf_detach(&buf);
}

/* How wide the interval of the ratio is, on the scale of logarithms: what orders the rows by how
 * small a change they can show. */
static double log_width(const struct kab_pair *pair)
{
	return pair->tested ? log(pair->cmp.ratio_ci95.hi) - log(pair->cmp.ratio_ci95.lo) : NAN;
}

char *kab_circumstances_stats(const struct kab_judgement *j)
{
	const struct kab_pair *best = NULL, *worst = NULL;
	struct kab_buf buf = KAB_BUF_INIT;
	bool over_boots = false, restarts = false, tested = false;
	double lo, hi;

	for (size_t r = 0; r < j->n; r++) {
		restarts |= j->v[r].data->restarts;
		for (size_t k = 0; k < j->v[r].n_sets; k++)
			over_boots |= j->v[r].sets[k].over_boots;
		for (size_t p = 0; p < j->v[r].n_pairs; p++) {
			const struct kab_pair *pair = &j->v[r].pairs[p];
			double width = log_width(pair);

			tested |= pair->tested;
			if (!isfinite(width) || width <= 0)
				continue;
			if (!best || width < log_width(best))
				best = pair;
			if (!worst || width > log_width(worst))
				worst = pair;
		}
	}
	kab_buf_addf(&buf, "mean of %s%s",
		     !over_boots ? "iterations"
		     : restarts	 ? "restart means"
				 : "boot means",
		     tested ? "" : ", no test");
	if (!best)
		return kab_buf_detach(&buf);
	/* Solved by bisection on noncentral t: only for the two ends. */
	lo = kab_compare_detectable_pct(&best->cmp, 1 - j->opts.confidence, 0.8);
	hi = best == worst ? lo
			   : kab_compare_detectable_pct(&worst->cmp, 1 - j->opts.confidence, 0.8);
	if (!isfinite(lo) || !isfinite(hi))
		return kab_buf_detach(&buf);
	kab_buf_adds(&buf, "; a change of ");
	kab_number_fixed(&buf, lo, kab_number_significant(lo, 2), false);
	if (hi > lo * 1.05) {
		kab_buf_adds(&buf, " to ");
		kab_number_fixed(&buf, hi, kab_number_significant(hi, 2), false);
	}
	kab_buf_adds(&buf, " % would have been seen in 8 of 10 such runs");
	return kab_buf_detach(&buf);
}

/* "uses 1.87 CPUs" and "uses 2.00 CPUs" are one reason. */
static char *without_digits(const char *text)
{
	struct kab_buf buf = KAB_BUF_INIT;

	for (; *text; text++)
		if (*text < '0' || *text > '9')
			kab_buf_addc(&buf, *text);
	return buf.data ? kab_buf_detach(&buf) : kab_xstrdup("");
}

/*
 * Whether the host was left alone: what the watch of busy processes and throttling said while the
 * iterations ran, and restarts that nobody asked for. Nothing to say where nothing was seen.
 */
static int quiet_text(struct kab_store *store, int64_t run_id, char **ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv texts = KAB_STRV_INIT, reasons = KAB_STRV_INIT;
	struct kab_event_info *events = NULL;
	size_t n = 0, reboots = 0, more = 0;

	*ret = NULL;
	if (kab_store_list_events(store, run_id, &events, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const char *text = events[i].text ? events[i].text : "";
		char *reason kab_autofree = without_digits(text);

		if (!strcmp(events[i].kind, "unexpected-reboot"))
			reboots++;
		else if (strcmp(events[i].kind, "not-quiet") != 0 || kab_strv_has(&reasons, reason))
			;
		else if (kab_strv_add(&reasons, reason), texts.n < QUIET_TEXTS_MAX)
			kab_strv_add(&texts, text);
		else
			more++;
		kab_event_info_release(&events[i]);
	}
	free(events);
	if (reboots)
		kab_strv_addf(&texts, "%zu unexpected reboot%s", reboots, reboots == 1 ? "" : "s");
	if (more)
		kab_strv_addf(&texts, "%zu more (kab show)", more);
	if (texts.n) {
		char *all kab_autofree = kab_strv_join(&texts, "; ");

		*ret = kab_xasprintf("no, %s", all);
	}
	return 0;
}

void kab_circumstances_notices(const struct kab_row_list *rows, struct kab_preamble *ret)
{
	for (size_t r = 0; r < rows->n; r++) {
		const struct kab_runner *runner = kab_runner_find(rows->v[r].runner);

		if (runner && runner->notice && !kab_strv_has(&ret->notices, runner->notice))
			kab_strv_add(&ret->notices, runner->notice);
	}
}

static bool same_kernel(const struct seen_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct kab_boot_info *a = list->v[0].boot, *b = list->v[i].boot;

		if (!a->build_id || !*a->build_id || !b->build_id ||
		    strcmp(a->build_id, b->build_id) || strcmp(a->release, b->release))
			return false;
	}
	return list->n > 1;
}

static int look_at_boots(struct kab_store *store, const struct kab_boot_info *boots, size_t n,
			 struct seen_list *list, struct kab_err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct seen *seen;
		bool known = !boots[i].release || !*boots[i].release;

		for (size_t k = 0; k < list->n; k++)
			known = known || !strcmp(list->v[k].boot->kernel, boots[i].kernel);
		if (known)
			continue;
		seen = KAB_PUSH(list);
		seen->boot = &boots[i];
		seen->label = boots[i].kernel;
		if (kab_store_boot_facts(store, boots[i].id, &seen->facts, err) < 0)
			return -1;
	}
	return 0;
}

/* Baseline first: boots are stored in the order in which they were run. */
static void order_kernels(const struct kab_judgement *j, struct seen_list *list)
{
	size_t place = 0;

	for (size_t k = 0; j->n && k < j->v[0].n_sets; k++) {
		for (size_t i = place; i < list->n; i++) {
			struct seen tmp = list->v[i];

			if (strcmp(tmp.boot->kernel, j->v[0].sets[k].data->kernel))
				continue;
			memmove(&list->v[place + 1], &list->v[place],
				(i - place) * sizeof(list->v[0]));
			list->v[place++] = tmp;
			break;
		}
	}
}

static void say_one_kernel(const struct seen_list *list, struct kab_preamble *ret)
{
	if (same_kernel(list))
		kab_strv_add(&ret->notices,
			     "All labels are one and the same kernel (A/A): what differs is "
			     "the noise of this machine.");
}

/* One text where all kernels have the same, else each with its label. Takes the texts. */
static char *once_or_each(const struct seen_list *list, char **texts)
{
	struct kab_strv kab_autostrv each = KAB_STRV_INIT;
	bool same = true;
	char *ret;

	for (size_t i = 0; i < list->n; i++) {
		same = same && !strcmp(texts[i], texts[0]);
		kab_strv_addf(&each, "%s: %s", list->v[i].label, *texts[i] ? texts[i] : "unknown");
	}
	ret = same ? kab_xstrdup(list->n ? texts[0] : "") : kab_strv_join(&each, "; ");
	for (size_t i = 0; i < list->n; i++)
		free(texts[i]);
	free(texts);
	return ret;
}

static void describe_machines(const struct seen_list *list, const struct kab_judgement *j,
			      bool names, struct kab_preamble *ret)
{
	char **machine = kab_xcalloc(list->n + 1, sizeof(char *));
	char **power = kab_xcalloc(list->n + 1, sizeof(char *));
	char **virt = kab_xcalloc(list->n + 1, sizeof(char *));
	bool any = false;

	for (size_t i = 0; i < list->n; i++) {
		const struct kab_facts *facts = &list->v[i].facts;

		any |= facts->n > 0;
		machine[i] = facts->n ? machine_text(facts) : kab_xstrdup("unknown");
		power[i] = facts->n ? power_text(facts, j) : kab_xstrdup("unknown");
		virt[i] = kab_xstrdup(kab_facts_get(facts, "virt"));
		if (names)
			kab_strv_addf(&ret->nodes, "host %s (%s)", list->v[i].boot->host,
				      list->v[i].label);
	}
	ret->machine = once_or_each(list, machine);
	ret->power = once_or_each(list, power);
	ret->virt = once_or_each(list, virt);
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

	kab_strv_take(runs, runs_text(run, j));
	if (run->command_line && *run->command_line)
		kab_strv_take(&ret->reproduce,
			      kab_reproduce_command(run->command_line, run->plan_json, names));
	if (add_benchmarks(store, run->id, j, &bench, err) < 0 ||
	    quiet_text(store, run->id, &busy, err) < 0)
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
	struct seen_list list = { 0 };
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
			struct seen *s;

			if (strcmp(boot->kernel, kernels[k].kernel) || !boot->release ||
			    !*boot->release)
				continue;
			s = KAB_PUSH(&list);
			s->boot = boot;
			s->label = kernels[k].label;
			status = kab_store_boot_facts(store, boot->id, &s->facts, err);
			break;
		}
	}
	if (!status) {
		bool same = true;

		describe_machines(&list, judgement, names, ret);
		for (size_t k = 0; k < list.n; k++)
			add_kernel(&list.v[k], k, list.n, &ret->kernels);
		for (size_t i = 1; i < runs.n; i++)
			same = same && !strcmp(runs.v[i], runs.v[0]);
		ret->config = config_text(&list);
		ret->runs = same && runs.n
				    ? kab_xasprintf("%s%s", runs.n > 1 ? "each " : "", runs.v[0])
				    : kab_strv_join(&runs, "; and ");
		ret->stats = kab_circumstances_stats(judgement);
		ret->quiet = quiet.n ? kab_strv_join(&quiet, "; ") : NULL;
		add_differences(&list, &ret->differs);
		kab_circumstances_notices(judgement->rows_data, ret);
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

static size_t count_hosts(const struct kab_boot_info *boots, size_t n)
{
	struct kab_strv kab_autostrv hosts = KAB_STRV_INIT;

	for (size_t i = 0; i < n; i++)
		if (!kab_strv_has(&hosts, boots[i].host))
			kab_strv_add(&hosts, boots[i].host);
	return hosts.n;
}

/* The head describes one host: with several, the reader must not take it for all. */
static void say_first_of(char **text, size_t hosts)
{
	char *longer;

	if (hosts < 2)
		return;
	longer = kab_xasprintf("%s (the first of %zu hosts, as are the lines below)", *text, hosts);
	free(*text);
	*text = longer;
}

int kab_circumstances(struct kab_store *store, const struct kab_run_info *run,
		      const struct kab_judgement *judgement, bool names, struct kab_preamble *ret,
		      struct kab_err *err)
{
	struct kab_boot_info *boots;
	struct seen_list list = { 0 };
	size_t n;
	int status;

	if (kab_store_list_boots(store, run->id, &boots, &n, err) < 0)
		return -1;
	status = look_at_boots(store, boots, n, &list, err);
	if (!status) {
		order_kernels(judgement, &list);
		if (list.n && list.v[0].facts.n) {
			ret->machine = machine_text(&list.v[0].facts);
			say_first_of(&ret->machine, count_hosts(boots, n));
			ret->power = power_text(&list.v[0].facts, judgement);
			ret->virt = kab_xstrdup(kab_facts_get(&list.v[0].facts, "virt"));
			add_nodes(&list.v[0].facts, &ret->nodes);
			if (names)
				kab_strv_addf(&ret->nodes, "host %s", list.v[0].boot->host);
		}
		for (size_t k = 0; k < list.n; k++)
			add_kernel(&list.v[k], k, list.n, &ret->kernels);
		ret->config = config_text(&list);
		ret->runs = runs_text(run, judgement);
		ret->stats = kab_circumstances_stats(judgement);
		ret->noise = kab_noise_floor_text(store, run, judgement);
		add_differences(&list, &ret->differs);
		kab_circumstances_notices(judgement->rows_data, ret);
		say_one_kernel(&list, ret);
		if (run->command_line && *run->command_line)
			kab_strv_take(
				&ret->reproduce,
				kab_reproduce_command(run->command_line, run->plan_json, names));
		status = add_benchmarks(store, run->id, judgement, &ret->bench, err);
		if (!status)
			status = quiet_text(store, run->id, &ret->quiet, err);
	}
	for (size_t i = 0; i < list.n; i++)
		kab_facts_release(&list.v[i].facts);
	free(list.v);
	for (size_t i = 0; i < n; i++)
		kab_boot_info_release(&boots[i]);
	free(boots);
	return status;
}
