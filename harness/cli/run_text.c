/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/run_text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/circumstances.h"
#include "cli/imported.h"
#include "reports/number.h"
#include "runners/runner.h"

#define BENCH_LINES_MAX 8
#define QUIET_TEXTS_MAX 3

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
int kab_run_benchmarks(struct kab_store *store, int64_t run_id, const struct kab_judgement *j,
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

char *kab_run_text(const struct kab_run_info *run, const struct kab_judgement *j)
{
	json_t *plan = run->plan_json ? json_loads(run->plan_json, 0, NULL) : NULL;
	struct kab_buf buf = KAB_BUF_INIT;
	const char *reason;
	long long boots, measured;
	bool restarts, tested, random, paired;

	if (!json_is_integer(json_object_get(plan, "boots"))) {
		char *imported = kab_imported_text(run);

		json_decref(plan);
		if (imported)
			return imported;
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
	bool over_boots = false, restarts = false, tested = false, summaries = false,
	     values = false;
	double lo, hi;

	for (size_t r = 0; r < j->n; r++) {
		restarts |= j->v[r].data->restarts;
		for (size_t k = 0; k < j->v[r].n_sets; k++) {
			over_boots |= j->v[r].sets[k].over_boots;
			summaries |= j->v[r].sets[k].summary;
			values |= j->v[r].sets[k].n_values > 0;
		}
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
		     summaries && !values ? "what was summarised"
		     : !over_boots	  ? "iterations"
		     : restarts		  ? "restart means"
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

/* "2 unexpected reboots of 'patched'": a kernel that takes its host down is a finding. */
static void add_restarts(const struct kab_event_info *events, size_t n_events, const char *kind,
			 const char *one, const char *many, const struct kab_boot_info *boots,
			 size_t n_boots, struct kab_strv *ret)
{
	struct kab_strv kab_autostrv kernels = KAB_STRV_INIT;

	for (size_t b = 0; b < n_boots; b++) {
		size_t count = 0;

		if (kab_strv_has(&kernels, boots[b].kernel))
			continue;
		kab_strv_add(&kernels, boots[b].kernel);
		for (size_t i = 0; i < n_events; i++)
			for (size_t k = 0; k < n_boots && !strcmp(events[i].kind, kind); k++)
				count += boots[k].id == events[i].boot_id &&
					 !strcmp(boots[k].kernel, boots[b].kernel);
		if (count)
			kab_strv_addf(ret, "%zu %s of '%s'", count, count == 1 ? one : many,
				      boots[b].kernel);
	}
}

/*
 * Whether the host was left alone: what the watch of busy processes and throttling said while the
 * iterations ran, and restarts that nobody asked for. Nothing to say where nothing was seen.
 */
int kab_run_quiet(struct kab_store *store, int64_t run_id, char **ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv texts = KAB_STRV_INIT, reasons = KAB_STRV_INIT;
	struct kab_event_info *events = NULL;
	struct kab_boot_info *boots = NULL;
	size_t n = 0, n_boots = 0, more = 0;
	int status;

	*ret = NULL;
	if (kab_store_list_events(store, run_id, &events, &n, err) < 0)
		return -1;
	status = kab_store_list_boots(store, run_id, &boots, &n_boots, err);
	for (size_t i = 0; i < n; i++) {
		const char *text = events[i].text ? events[i].text : "";
		char *reason kab_autofree = without_digits(text);

		if (strcmp(events[i].kind, "not-quiet") != 0 || kab_strv_has(&reasons, reason))
			;
		else if (kab_strv_add(&reasons, reason), texts.n < QUIET_TEXTS_MAX)
			kab_strv_add(&texts, text);
		else
			more++;
	}
	add_restarts(events, n, "unexpected-reboot", "unexpected reboot", "unexpected reboots",
		     boots, n_boots, &texts);
	add_restarts(events, n, "power-cycle", "hang with a power cycle",
		     "hangs with a power cycle", boots, n_boots, &texts);
	for (size_t i = 0; i < n; i++)
		kab_event_info_release(&events[i]);
	free(events);
	for (size_t i = 0; i < n_boots; i++)
		kab_boot_info_release(&boots[i]);
	free(boots);
	if (more)
		kab_strv_addf(&texts, "%zu more (kab show)", more);
	if (texts.n) {
		char *all kab_autofree = kab_strv_join(&texts, "; ");

		*ret = kab_xasprintf("no, %s", all);
	}
	return status;
}

void kab_circumstances_notices(const struct kab_row_list *rows, struct kab_preamble *ret)
{
	for (size_t r = 0; r < rows->n; r++) {
		const struct kab_runner *runner = kab_runner_find(rows->v[r].runner);

		if (runner && runner->notice && !kab_strv_has(&ret->notices, runner->notice))
			kab_strv_add(&ret->notices, runner->notice);
	}
}
