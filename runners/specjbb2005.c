/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SPECjbb2005, in one JVM or several. The kit is licensed, so the user names the command or its
 * folder. Figures are in the report ("SPECjbb2005 bops=N, SPECjbb2005 bops/JVM=N"), or one line
 * per JVM ("throughput = N SPECjbb2005 bops") with a sum that must not be added again.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "runners/options.h"
#include "runners/outcome.h"
#include "runners/scan.h"

static const struct kab_param_def params_table[] = {
	{ "command", "string", NULL,
	  "your own command, as in sh or as a JSON list; the others are then not used" },
	{ "java", "string", "java", "the JVM" },
	{ "jvm_options", "string", NULL, "options of the JVM: -Xmx24g ..." },
	{ "classpath", "string", "jbb.jar:check.jar", "paths of its two jars" },
	{ "propfile", "string", "SPECjbb.props", "path of the property file" },
};

static const struct kab_metric_def metrics_table[] = {
	{ "bops", "bops", KAB_DIR_HIGHER, true, "business operations per second, all JVMs" },
	{ "bops_per_jvm", "bops/JVM", KAB_DIR_HIGHER, false, "mean of the JVMs" },
	{ "jvm*.bops", "bops", KAB_DIR_HIGHER, false, "of one JVM" },
	{ "sum.bops", "bops", KAB_DIR_HIGHER, false, "of all JVMs, as printed" },
	KAB_GNU_TIME_METRICS,
};

static const char *const tools_table[] = { "java", NULL };

static int specjbb_unsupported(const struct kab_facts *facts, const struct kab_params *params,
			       char **ret_reason)
{
	if (kab_params_get(params, "command", NULL))
		return 0;
	if (!kab_params_get(params, "java", NULL) && !kab_facts_tool(facts, "java"))
		*ret_reason =
			kab_xstrdup("java is not installed; on Debian: apt-get install "
				    "default-jre-headless, and name the kit with 'classpath'");
	else if (!kab_params_get(params, "classpath", NULL))
		*ret_reason = kab_xstrdup("the kit is licensed by SPEC and not part of kab: name "
					  "its jar files with 'classpath' in the suite");
	else
		return 0;
	return 1;
}

static int specjbb_command(const struct kab_params *params, const struct kab_facts *facts,
			   struct kab_command *ret, struct kab_err *err)
{
	struct kab_strv *argv = &ret->argv;

	(void)facts;
	if (kab_params_get(params, "command", NULL)) {
		if (kab_option_words(argv, params, "command", err))
			return -1;
		return argv->n ? 0
			       : kab_err_set(err, KAB_ERR_CONFIG,
					     "parameter 'command': expected at least one word");
	}
	kab_strv_add(argv, kab_params_get(params, "java", "java"));
	if (kab_option_words(argv, params, "jvm_options", err))
		return -1;
	kab_strv_add(argv, "-cp");
	kab_strv_add(argv, kab_params_get(params, "classpath", "jbb.jar:check.jar"));
	kab_strv_add(argv, "spec.jbb.JBBmain");
	kab_strv_add(argv, "-propfile");
	kab_strv_add(argv, kab_params_get(params, "propfile", "SPECjbb.props"));
	return 0;
}

struct state {
	struct kab_outcome outcome;
	struct kab_parse_result *ret;
	size_t announced; /* "4 JVM instances" of a comment; 0 when not said */
	size_t jvms; /* lines of JVMs since the last sum */
	double sum; /* of them */
	bool headline; /* "bops=" was seen: the rest of the report repeats it */
	bool score; /* "Score is" was */
};

static void add(struct state *st, const char *metric, const char *unit, double value)
{
	kab_samples_add(&st->ret->samples, metric, unit, KAB_DIR_HIGHER, value);
}

/* The JVMs before this point are one run. */
static void end_group(struct state *st)
{
	if (!st->jvms)
		return;
	if (st->jvms < st->announced)
		kab_outcome_truncated(&st->outcome, kab_xasprintf("%zu of %zu JVMs have a figure",
								  st->jvms, st->announced));
	add(st, "bops", "bops", st->sum);
	st->outcome.finished++;
	st->jvms = 0;
	st->sum = 0;
}

/* The last number in a label such as "spec1.txt:", else `order`. */
static size_t jvm_number(const char *label, const char *end, size_t order)
{
	while (end > label && !(end[-1] >= '0' && end[-1] <= '9'))
		end--;
	while (end > label && end[-1] >= '0' && end[-1] <= '9')
		end--;
	return strspn(end, "0123456789") > 0 && strspn(end, "0123456789") < 6
		       ? (size_t)strtoul(end, NULL, 10)
		       : order;
}

/* "spec1.txt:  throughput =  181204.77 SPECjbb2005 bops", "SUM:  throughput = ...". */
static bool throughput_line(struct state *st, const struct kab_scan *scan)
{
	const char *key = strstr(scan->s, "throughput ="), *end, *label;
	struct kab_number n;
	char metric[40];

	if (!key)
		return false;
	st->outcome.started = true;
	end = kab_scan_number(key + strlen("throughput ="), &n);
	end = end ? kab_scan_after(end, "SPECjbb2005 bops") : NULL;
	if (!end || !kab_scan_end(end)) {
		char *quoted kab_autofree = kab_scan_escape(kab_scan_blanks(scan->s));

		kab_outcome_truncated(&st->outcome,
				      kab_xasprintf("a JVM has no figure: '%s'", quoted));
		return true;
	}
	label = key;
	while (label > scan->s && strchr(" \t", label[-1]))
		label--;
	for (end = label; label > scan->s && !strchr(" \t", label[-1]); label--)
		;
	if (end - label == 4 && !strncmp(label, "SUM:", 4)) {
		add(st, "sum.bops", "bops", n.value);
		st->sum = n.value; /* as printed, rounding included */
		st->jvms = st->jvms ? st->jvms : st->announced ? st->announced : 1;
		end_group(st);
		return true;
	}
	snprintf(metric, sizeof(metric), "jvm%zu.bops", jvm_number(label, end, st->jvms + 1));
	add(st, metric, "bops", n.value);
	st->sum += n.value;
	st->jvms++;
	return true;
}

/* "SPECjbb2005 bops=248917, SPECjbb2005 bops/JVM=62229", blanks around = vary. */
static bool headline(struct state *st, const struct kab_scan *scan)
{
	const char *p = strstr(scan->s, "SPECjbb2005 bops"), *end;
	struct kab_number n;
	bool bops = false, per_jvm = false;

	for (; p; p = strstr(p, "SPECjbb2005 bops")) {
		bool jvm;

		p += strlen("SPECjbb2005 bops");
		jvm = !strncmp(p, "/JVM", 4);
		end = kab_scan_after(p + (jvm ? 4 : 0), "=");
		end = end ? kab_scan_number(end, &n) : NULL;
		if (!end || !(*end == ',' || kab_scan_end(end)) ||
		    (*end == '\0' && !scan->terminated))
			continue;
		if (jvm) {
			add(st, "bops_per_jvm", "bops/JVM", n.value);
			per_jvm = true;
		} else {
			add(st, "bops", "bops", n.value);
			bops = true;
		}
	}
	if (!bops) {
		/* Cut inside the line, when it is one. */
		if (strstr(scan->s, "bops=") || strstr(scan->s, "bops ="))
			st->outcome.started = true;
		return false;
	}
	end_group(st);
	st->headline = true;
	st->outcome.finished++;
	if (!per_jvm)
		kab_outcome_missing(&st->outcome, kab_xstrdup("bops/JVM is missing"));
	return true;
}

/* Reports and the log of a single JVM: "Throughput  62229", "Valid run, Score is  62229". */
static bool single_line(struct state *st, const struct kab_scan *scan)
{
	const char *rest = strstr(scan->s, "Score is "), *end;
	struct kab_number n;

	if (rest) {
		end = kab_scan_number(rest + strlen("Score is "), &n);
		if (!end || !kab_scan_end(end) || !scan->terminated)
			return true;
		if (strstr(scan->s, "INVALID") || strstr(scan->s, "nvalid run"))
			kab_outcome_missing(&st->outcome,
					    kab_xstrdup("the benchmark calls the run invalid"));
		st->score = true;
	} else {
		rest = kab_scan_after(scan->s, "Throughput");
		end = rest && (*rest == ' ' || *rest == '\t') ? kab_scan_number(rest, &n) : NULL;
		if (!end || !kab_scan_end(end) || !scan->terminated || st->score)
			return false;
	}
	if (!st->headline) {
		add(st, "bops", "bops", n.value);
		st->outcome.finished++;
	}
	return true;
}

/* "# 4 JVM instances": what wrappers write above the figures. */
static void announcement(struct state *st, const char *s)
{
	const char *jvm = strstr(s, " JVM"), *p = jvm;
	struct kab_number n;

	if (!jvm || (strncmp(jvm, " JVM inst", 9) && strncmp(jvm, " JVMs", 5)))
		return;
	while (p > s && p[-1] >= '0' && p[-1] <= '9')
		p--;
	if (p < jvm && jvm - p < 5 && kab_scan_number(p, &n))
		st->announced = (size_t)n.value;
}

static void specjbb_parse(const struct kab_outputs *outputs, int exit_status,
			  const struct kab_params *params, struct kab_parse_result *ret)
{
	struct state st = { .ret = ret };
	struct kab_scan scan;

	(void)params;
	memset(ret, 0, sizeof(*ret));
	kab_scan_init(&scan, outputs);
	while (kab_scan_next(&scan)) {
		if (!*scan.s)
			continue;
		if (throughput_line(&st, &scan) || headline(&st, &scan) || single_line(&st, &scan))
			continue;
		if (kab_scan_gnu_time(&scan, &ret->samples))
			continue;
		announcement(&st, scan.s);
		if (strstr(scan.s, "Warehouses") || strstr(scan.s, "SPECjbb2005") ||
		    strstr(scan.s, "JVM 1 Scores"))
			st.outcome.started = true;
		if (strstr(scan.s, "java.lang.OutOfMemoryError") ||
		    strstr(scan.s, "Could not find or load main class") ||
		    strstr(scan.s, "Could not create the Java Virtual Machine") ||
		    strstr(scan.s, "Exception in thread \"main\"")) {
			char *quoted kab_autofree = kab_scan_escape(kab_scan_blanks(scan.s));

			kab_outcome_fail(&st.outcome, kab_xasprintf("java failed: '%s'", quoted));
		}
		kab_outcome_fail(&st.outcome, kab_scan_wrapper_failure(scan.s, "java"));
	}
	kab_scan_release(&scan);
	end_group(&st);
	if (st.outcome.begun < st.outcome.finished)
		st.outcome.begun = st.outcome.finished;
	kab_outcome_finish(&st.outcome, outputs, exit_status, "throughput", ret);
}

const struct kab_runner kab_runner_specjbb2005 = {
	.name = "specjbb2005",
	.summary = "SPECjbb2005: one JVM or several (the kit is yours)",
	.parser_version = "1",
	.params = params_table,
	.params_n = KAB_ARRAY_SIZE(params_table),
	.metrics = metrics_table,
	.metrics_n = KAB_ARRAY_SIZE(metrics_table),
	.tools = tools_table,
	.notice = "not SPEC-compliant results; for comparison of these kernels only",
	.unsupported = specjbb_unsupported,
	.command = specjbb_command,
	.parse = specjbb_parse,
};
