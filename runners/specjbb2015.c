/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SPECjbb2015. The kit is licensed, so the user names the command or the jar. The result is one
 * line, "RUN RESULT: ...", that the reporter prints (in composite mode on the same stdout); the
 * same figures stand in the .raw file and in the title of the HTML report.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "runners/options.h"
#include "runners/outcome.h"
#include "runners/scan.h"

/* Generated from specjbb.sh; NUL-terminated. */
static const char script[] = {
#include "specjbb_script.inc"
};

static const struct kab_param_def params_table[] = {
	{ "command", "string", NULL,
	  "your own command, as in sh or as a JSON list; the others are then not used" },
	{ "mode", "string", "composite", "composite, multi, or reporter" },
	{ "dir", "string", NULL, "folder of the kit, in which it is started" },
	{ "jar", "string", "specjbb2015.jar", "path of its jar" },
	{ "java", "string", "java", "the JVM" },
	{ "jvm_options", "string", NULL, "options of the JVM: -Xmx24g -Dspecjbb..." },
	{ "groups", "int", "1", "multi: number of groups" },
	{ "data", "string", NULL, "reporter: the binary log to report on" },
};

static const struct kab_metric_def metrics_table[] = {
	{ "max_jops", "jOPS", KAB_DIR_HIGHER, true, "highest throughput" },
	{ "critical_jops", "jOPS", KAB_DIR_HIGHER, false, "throughput under limits of latency" },
	{ "hbir_max_attempted", "jOPS", KAB_DIR_HIGHER, false, "high bound that was tried" },
	{ "hbir_settled", "jOPS", KAB_DIR_HIGHER, false, "high bound that settled" },
	{ "sla_*_jops", "jOPS", KAB_DIR_HIGHER, false, "throughput under one limit (us)" },
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
				    "default-jre-headless, and name the kit's folder with 'dir'");
	else if (!kab_params_get(params, "dir", NULL))
		*ret_reason = kab_xstrdup("the kit is licensed by SPEC and not part of kab: name "
					  "its folder with 'dir' in the suite");
	else
		return 0;
	return 1;
}

static int specjbb_command(const struct kab_params *params, const struct kab_facts *facts,
			   struct kab_command *ret, struct kab_err *err)
{
	const char *mode = kab_params_get(params, "mode", "composite");
	const char *dir = kab_params_get(params, "dir", NULL);
	const char *java = kab_params_get(params, "java", "java");
	const char *jar = kab_params_get(params, "jar", "specjbb2015.jar");
	struct kab_strv *argv = &ret->argv;
	int64_t groups;

	(void)facts;
	if (kab_params_get(params, "command", NULL)) {
		if (kab_option_words(argv, params, "command", err))
			return -1;
		return argv->n ? 0
			       : kab_err_set(err, KAB_ERR_CONFIG,
					     "parameter 'command': expected at least one word");
	}
	if (kab_params_int(params, "groups", 1, &groups, err))
		return -1;
	if (!strcmp(mode, "reporter")) {
		if (!kab_params_get(params, "data", NULL))
			return kab_err_set(err, KAB_ERR_CONFIG,
					   "mode 'reporter' needs the parameter 'data'");
		kab_strv_add(argv, java);
		if (kab_option_words(argv, params, "jvm_options", err))
			return -1;
		kab_strv_add(argv, "-jar");
		kab_strv_add(argv, jar);
		kab_strv_add(argv, "-m");
		kab_strv_add(argv, "REPORTER");
		kab_strv_add(argv, "-s");
		kab_strv_add(argv, kab_params_get(params, "data", NULL));
		return 0;
	}
	if (strcmp(mode, "composite") && strcmp(mode, "multi"))
		return kab_err_set(
			err, KAB_ERR_CONFIG,
			"parameter 'mode': expected composite, multi or reporter, found '%s'",
			mode);
	if (groups < 1)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter 'groups': expected at least 1, found %" PRId64,
				   groups);
	if (!dir)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "runner 'specjbb2015' needs the parameter 'dir' (the folder of "
				   "the kit) or 'command'");
	kab_strv_add(argv, "sh");
	kab_strv_add(argv, "./specjbb.sh");
	kab_strv_add(argv, dir);
	kab_strv_add(argv, mode);
	kab_strv_addf(argv, "%" PRId64, groups);
	kab_strv_add(argv, java);
	kab_strv_add(argv, jar);
	kab_option_place(ret, "specjbb.sh", script, true);
	return kab_option_words(argv, params, "jvm_options", err);
}

/* ---- reading ---- */

enum { HBIR_MAX, HBIR_SETTLED, MAX_JOPS, CRITICAL_JOPS, RESULT_N };

static const struct {
	const char *key;
	const char *metric;
} fields[RESULT_N] = {
	[HBIR_MAX] = { "hbIR (max attempted) = ", "hbir_max_attempted" },
	[HBIR_SETTLED] = { "hbIR (settled) = ", "hbir_settled" },
	[MAX_JOPS] = { "max-jOPS = ", "max_jops" },
	[CRITICAL_JOPS] = { "critical-jOPS = ", "critical_jops" },
};

struct result {
	bool known[RESULT_N];
	double value[RESULT_N];
};

struct state {
	struct kab_outcome outcome;
	struct kab_parse_result *ret;
	struct kab_samples raw; /* of a .raw file */
	struct result html; /* of a title */
	bool html_seen;
	int raw_jops; /* how many of the two it holds */
	struct result last; /* RUN RESULT line */
	bool last_logged; /* it stood in a line of a log */
	bool last_fresh; /* no new run began since */
	char *data_file; /* "Binary log file is ..." */
	char *java_failure; /* voids the run only when no result follows */
	bool run_finished, preset, template, invalid;
};

/* The figure behind `key`; a value at the very end of an unfinished line may be cut. */
static bool field(const struct kab_scan *scan, const char *s, const char *key, double *ret)
{
	const char *p = strstr(s, key), *end;
	struct kab_number n;

	end = p ? kab_scan_number(p + strlen(key), &n) : NULL;
	if (!end || !(*end == ',' || kab_scan_end(end)) || (*end == '\0' && !scan->terminated))
		return false;
	*ret = n.value;
	return true;
}

static void add_result(struct state *st, const struct result *r)
{
	for (int i = 0; i < RESULT_N; i++)
		if (r->known[i])
			kab_samples_add(&st->ret->samples, fields[i].metric, "jOPS", KAB_DIR_HIGHER,
					r->value[i]);
}

/* Both jOPS count; of a short run one or both are N/A. */
static void take_result(struct state *st, const struct result *r)
{
	struct kab_buf known kab_autobuf = KAB_BUF_INIT;

	if (!r->known[MAX_JOPS] && !r->known[CRITICAL_JOPS]) {
		for (int i = 0; i < RESULT_N; i++)
			if (r->known[i])
				kab_buf_addf(&known, "%s%s %.0f", known.len ? ", " : "; only ",
					     fields[i].metric, r->value[i]);
		kab_outcome_nothing(
			&st->outcome,
			kab_xasprintf("neither max-jOPS nor critical-jOPS was measured (N/A)%s",
				      kab_buf_str(&known)));
		return;
	}
	add_result(st, r);
	st->outcome.finished++;
	for (int i = 0; i < RESULT_N; i++)
		if (!r->known[i])
			kab_outcome_missing(&st->outcome,
					    kab_xasprintf("%s was not measured", fields[i].metric));
}

static void run_result(struct state *st, const struct kab_scan *scan, const char *s)
{
	bool logged = s - scan->s > 2 && !strncmp(s - 2, ": ", 2);
	/* A merged stream may hold the line of stdout and that of a log: the same result. */
	bool same = st->last_fresh && logged != st->last_logged;
	struct result r = { 0 };

	for (int i = 0; i < RESULT_N; i++) {
		r.known[i] = field(scan, s, fields[i].key, &r.value[i]);
		same = same && r.known[i] == st->last.known[i] && r.value[i] == st->last.value[i];
	}
	if (!strstr(s, fields[MAX_JOPS].key)) {
		st->outcome.started = true; /* cut within the line */
		return;
	}
	if (!same)
		take_result(st, &r);
	st->last = r;
	st->last_fresh = true;
	st->last_logged = logged;
}

/* "jbb2015.result.metric.max-jOPS = 4103", "jbb2015.result.SLA-10000-jOPS = 868". */
static bool raw_line(struct state *st, const struct kab_scan *scan)
{
	const char *at = strstr(scan->s, "jbb2015."), *s, *equals, *end;
	struct kab_number n;
	char name[64];

	if (!at || memchr(scan->s, '#', (size_t)(at - scan->s)))
		return false;
	s = kab_scan_after(at, "jbb2015.result.");
	if (!s)
		return true;
	equals = strchr(s, '=');
	if (!equals)
		return true;
	if (strstr(equals, "<set by reporter>"))
		st->template = true;
	end = kab_scan_number(equals + 1, &n);
	if (!end || !kab_scan_end(end) || !scan->terminated)
		return true;
	if (kab_scan_after(s, "metric.max-jOPS")) {
		kab_samples_add(&st->raw, "max_jops", "jOPS", KAB_DIR_HIGHER, n.value);
		st->raw_jops++;
	} else if (kab_scan_after(s, "metric.critical-jOPS")) {
		kab_samples_add(&st->raw, "critical_jops", "jOPS", KAB_DIR_HIGHER, n.value);
		st->raw_jops++;
	} else if (!strncmp(s, "SLA-", 4)) {
		size_t digits = strspn(s + 4, "0123456789");

		if (digits && digits < 16 && !strncmp(s + 4 + digits, "-jOPS", 5)) {
			snprintf(name, sizeof(name), "sla_%.*s_jops", (int)digits, s + 4);
			kab_samples_add(&st->raw, name, "jOPS", KAB_DIR_HIGHER, n.value);
		}
	}
	return true;
}

/* "<title>SPECjbb2015-Composite: 4103 max-jOPS ; 1628 critical-jOPS</title>" */
static bool html_line(struct state *st, const char *s)
{
	const char *title = strstr(s, "<title>"), *p;
	struct kab_number n;

	if (strstr(s, "INVALID RESULT") && strchr(s, '<'))
		st->invalid = true;
	if (!title || !strstr(title, "max-jOPS"))
		return false;
	for (p = strchr(title, ':'); p && *p; p++) {
		const char *end;

		if (*p < '0' || *p > '9')
			continue;
		end = kab_scan_number(p, &n);
		if (!end)
			break;
		if (kab_scan_after(end, "max-jOPS")) {
			st->html.known[MAX_JOPS] = true;
			st->html.value[MAX_JOPS] = n.value;
		} else if (kab_scan_after(end, "critical-jOPS")) {
			st->html.known[CRITICAL_JOPS] = true;
			st->html.value[CRITICAL_JOPS] = n.value;
		}
		p = end - 1;
	}
	st->html_seen = true;
	return true;
}

static const char *java_trouble(const char *s)
{
	static const char *const words[] = { "java.lang.OutOfMemoryError",
					     "Unable to access jarfile",
					     "Could not create the Java Virtual Machine",
					     "Error occurred during initialization of VM",
					     "There is insufficient memory for the Java Runtime",
					     "A fatal error has been detected by the Java Runtime",
					     "Could not find or load main class",
					     "Unrecognized option:",
					     "Exception in thread \"main\"" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++)
		if (strstr(s, words[i]))
			return words[i];
	return NULL;
}

static void one_line(struct state *st, struct kab_scan *scan)
{
	const char *s = scan->s, *p, *trouble;

	p = strstr(s, "RUN RESULT:");
	if (p) {
		run_result(st, scan, p);
		return;
	}
	if (raw_line(st, scan) || html_line(st, s))
		return;
	p = strstr(s, "Binary log file is ");
	if (p) {
		st->outcome.started = true;
		if (!st->data_file || strcmp(st->data_file, p)) {
			free(st->data_file);
			st->data_file = kab_xstrdup(p);
			st->outcome.begun++;
			st->last_fresh = false;
		}
		return;
	}
	if (strstr(s, "Preparing to launch")) {
		st->outcome.started = true;
		if (!strstr(s, "reporter"))
			st->last_fresh = false;
	} else if (strstr(s, "org.spec.jbb.") || strstr(s, "SPECjbb2015 Java Business Benchmark")) {
		st->outcome.started = true;
		if (strstr(s, "controller: Run finished"))
			st->run_finished = true;
	} else if (strstr(s, "Running steady on IR = ")) {
		st->preset = true;
	} else if (strstr(s, "(rIR:aIR:PR = ") || kab_scan_after(s, "Performance info:")) {
		st->outcome.started = true;
	}
	if (st->preset && strstr(s, "Performance info:"))
		st->run_finished = true;
	trouble = java_trouble(s);
	if (trouble && !st->java_failure) {
		char *quoted kab_autofree = kab_scan_escape(kab_scan_blanks(s));

		st->java_failure = kab_xasprintf("java failed: '%s'", quoted);
	}
	if (kab_scan_gnu_time(scan, &st->ret->samples))
		return;
	kab_outcome_fail(&st->outcome, kab_scan_wrapper_failure(s, "java"));
}

static void conclude(struct state *st)
{
	struct kab_outcome *o = &st->outcome;

	/* The same figures may be in all three: the first kind that is there counts. */
	if (!o->finished && !o->nothing && st->raw_jops) {
		for (size_t i = 0; i < st->raw.n; i++)
			kab_samples_add(&st->ret->samples, st->raw.v[i].metric, st->raw.v[i].unit,
					st->raw.v[i].dir, st->raw.v[i].value);
		o->finished++;
		if (st->raw_jops % 2)
			kab_outcome_missing(
				o,
				kab_xstrdup("one of max-jOPS and critical-jOPS was not measured"));
	} else if (!o->finished && !o->nothing && st->html_seen) {
		take_result(st, &st->html);
		free(o->missing);
		o->missing = NULL;
	}
	if (o->begun < o->finished)
		o->begun = o->finished;
	if (st->invalid)
		kab_outcome_missing(o, kab_xstrdup("the report calls the result invalid"));
	if (!o->finished && st->java_failure) {
		kab_outcome_fail(o, st->java_failure);
		st->java_failure = NULL;
	}
	if (st->template)
		kab_outcome_nothing(o, kab_xstrdup("it is the template of a .raw file: the "
						   "reporter has not filled it"));
	if (st->preset && st->run_finished)
		kab_outcome_nothing(o, kab_xstrdup("a run at a preset load measures no jOPS"));
	else if (st->run_finished)
		kab_outcome_nothing(o, kab_xstrdup("a log of the controller holds no result; it is "
						   "on stdout or in the reporter's output"));
}

static void specjbb_parse(const struct kab_outputs *outputs, int exit_status,
			  const struct kab_params *params, struct kab_parse_result *ret)
{
	struct state st = { .ret = ret };
	struct kab_scan scan;

	(void)params;
	memset(ret, 0, sizeof(*ret));
	kab_scan_init(&scan, outputs);
	while (kab_scan_next(&scan))
		if (*scan.s)
			one_line(&st, &scan);
	kab_scan_release(&scan);
	conclude(&st);
	kab_samples_release(&st.raw);
	free(st.data_file);
	free(st.java_failure);
	kab_outcome_finish(&st.outcome, outputs, exit_status, "RUN RESULT line", ret);
}

const struct kab_runner kab_runner_specjbb2015 = {
	.name = "specjbb2015",
	.summary = "SPECjbb2015: composite, multi-JVM and reporter (the kit is yours)",
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
