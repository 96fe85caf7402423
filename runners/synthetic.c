/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A benchmark that does on the target what it is told: it tests kab itself, and shows a user what
 * tables of a known truth look like. Its script is runners/synthetic.sh, embedded at build time.
 */
#include <string.h>

#include "base/alloc.h"
#include "runners/options.h"
#include "runners/outcome.h"
#include "runners/scan.h"

/* Generated from synthetic.sh; NUL-terminated. */
static const char script[] = {
#include "synthetic_script.inc"
};

static const struct kab_param_def params_table[] = {
	{ "mean", "number", "100", "mean of the distribution" },
	{ "sd", "number", "1", "standard deviation between iterations" },
	{ "dist", "string", "normal",
	  "normal, lognormal, bimodal, uniform, exponential, or constant" },
	{ "boot_sd", "number", "0", "standard deviation of what a boot adds to all its values" },
	{ "seed", "int", NULL, "makes the draws repeatable within a boot" },
	{ "samples", "int", "1", "values per iteration" },
	{ "unit", "string", "s", "unit that is printed" },
	{ "direction", "string", "lower", "what is better: lower, higher, or none" },
	{ "shift_if", "string", NULL,
	  "shift the values when this is the kernel's release, a word of its command line, or an "
	  "existing path" },
	{ "shift_pct", "number", "0", "by how many percent" },
	{ "sleep_s", "number", "0", "seconds to sleep" },
	{ "work", "int", "0", "rounds of arithmetic" },
	{ "noise_lines", "int", "0", "lines of noise before the values" },
	{ "fail_every", "int", "0", "every n-th call of the run fails; 1 is all, 0 none" },
	{ "fail_mode", "string", "exit", "how: exit, nothing, truncated, signal, or hang" },
	{ "exit_status", "int", "1", "of a call that fails by exit" },
	{ "state", "string", NULL, "path of the file that counts the calls [a file in /var/tmp]" },
};

static const struct kab_metric_def metrics_table[] = {
	{ "value", "s", KAB_DIR_LOWER, true, "what was drawn; unit and direction by parameter" },
	KAB_GNU_TIME_METRICS,
};

static const char *const tools_table[] = { "sh", "awk", NULL };

static int synthetic_unsupported(const struct kab_facts *facts, const struct kab_params *params,
				 char **ret_reason)
{
	(void)facts;
	(void)params;
	(void)ret_reason;
	return 0;
}

static int one_of(const struct kab_params *params, const char *name, const char *words,
		  struct kab_err *err)
{
	struct kab_strv list kab_autostrv = KAB_STRV_INIT;
	const char *value = kab_params_get(params, name, NULL);

	kab_strv_split(&list, words, ' ');
	if (!value || kab_strv_has(&list, value))
		return 0;
	return kab_err_set(err, KAB_ERR_CONFIG, "parameter '%s': expected one of %s, found '%s'",
			   name, words, value);
}

static int synthetic_command(const struct kab_params *params, const struct kab_facts *facts,
			     struct kab_command *ret, struct kab_err *err)
{
	double sleep_s;

	(void)facts;
	if (one_of(params, "dist", "normal lognormal bimodal uniform exponential constant", err) ||
	    one_of(params, "fail_mode", "exit nothing truncated signal hang", err) ||
	    one_of(params, "direction", "lower higher none", err) ||
	    kab_params_double(params, "sleep_s", 0, &sleep_s, err))
		return -1;
	kab_strv_add(&ret->argv, "sh");
	kab_strv_add(&ret->argv, "./synthetic.sh");
	/* In the table's order: the same case is the same command, however the suite sorts it. */
	for (size_t i = 0; i < KAB_ARRAY_SIZE(params_table); i++) {
		const char *name = params_table[i].name;
		const char *value = kab_params_get(params, name, NULL);

		if (value && strcmp(name, "direction"))
			kab_strv_addf(&ret->argv, "%s=%s", name, value);
	}
	kab_option_place(ret, "synthetic.sh", script, true);
	ret->expected_s = sleep_s > 0 ? sleep_s : 0;
	return 0;
}

static void synthetic_parse(const struct kab_outputs *outputs, int exit_status,
			    const struct kab_params *params, struct kab_parse_result *ret)
{
	enum kab_direction dir = KAB_DIR_LOWER;
	struct kab_outcome outcome = { 0 };
	struct kab_scan scan;
	size_t values = 0;

	memset(ret, 0, sizeof(*ret));
	if (kab_direction_parse(kab_params_get(params, "direction", "lower"), &dir))
		dir = KAB_DIR_LOWER;
	kab_scan_init(&scan, outputs);
	while (kab_scan_next(&scan)) {
		const char *rest = strstr(scan.s, "synthetic ");
		struct kab_number n;

		if (!*scan.s)
			continue;
		if (rest && kab_scan_quantity(rest + strlen("synthetic "), "", &n)) {
			kab_scan_learn(&scan, rest);
			outcome.begun++;
			free(ret->version);
			ret->version = kab_xasprintf("%.0f", n.value);
			continue;
		}
		rest = kab_scan_after(scan.s, "value =");
		if (rest && scan.terminated) {
			bool negative = *kab_scan_blanks(rest) == '-';

			rest = kab_scan_number(negative ? kab_scan_blanks(rest) + 1 : rest, &n);
			if (rest && (*rest == ' ' || !*rest)) {
				char *unit kab_autofree = kab_scan_escape(kab_scan_blanks(rest));

				kab_samples_add(&ret->samples, "value", unit, dir,
						negative ? -n.value : n.value);
				values++;
			}
			continue;
		}
		if (kab_scan_is(scan.s, "end")) {
			if (values)
				outcome.finished++;
			else
				kab_outcome_nothing(&outcome,
						    kab_xstrdup("it ended without a value"));
			values = 0;
			continue;
		}
		if (kab_scan_gnu_time(&scan, &ret->samples))
			continue;
		if (kab_scan_after(scan.s, "synthetic:")) {
			char *quoted kab_autofree = kab_scan_escape(scan.s);

			kab_outcome_fail(&outcome, kab_xasprintf("it stopped: '%s'", quoted));
		}
		kab_outcome_fail(&outcome, kab_scan_wrapper_failure(scan.s, "synthetic"));
	}
	kab_scan_release(&scan);
	kab_outcome_finish(&outcome, outputs, exit_status, "value", ret);
}

const struct kab_runner kab_runner_synthetic = {
	.name = "synthetic",
	.summary = "draws from a stated distribution and fails when told to: tests kab itself",
	.parser_version = "1",
	.params = params_table,
	.params_n = KAB_ARRAY_SIZE(params_table),
	.metrics = metrics_table,
	.metrics_n = KAB_ARRAY_SIZE(metrics_table),
	.tools = tools_table,
	.unsupported = synthetic_unsupported,
	.command = synthetic_command,
	.parse = synthetic_parse,
};
