/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hackbench: groups of senders and receivers pass messages; the figure is the time that all took.
 * Three programs print it: that of rt-tests, that of LTP (the original), and perf bench.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "runners/options.h"
#include "runners/outcome.h"
#include "runners/scan.h"

static const struct kab_param_def params_table[] = {
	{ "variant", "string", "rt-tests",
	  "whose: rt-tests, ltp, or perf (bench sched messaging)" },
	{ "groups", "int", "10", "number of groups (-g)" },
	{ "fds", "int", "20", "senders and receivers per group (-f); rt-tests only" },
	{ "loops", "int", "100", "messages that each sender passes (-l)" },
	{ "size", "int", "100", "bytes of a message (-s); rt-tests only" },
	{ "pipe", "bool", "false", "pass data through pipes instead of sockets (-p)" },
	{ "threads", "bool", "false", "threads instead of processes (-T)" },
	{ "fifo", "bool", "false", "SCHED_FIFO for the main thread (-F); rt-tests only" },
	{ "inet", "bool", "false", "TCP instead of Unix sockets (-i); rt-tests only" },
	{ "args", "string", NULL, "further arguments, as in sh or as a JSON list" },
	{ "program", "string", NULL, "path of the program, when it is not on the PATH" },
};

static const struct kab_metric_def metrics_table[] = {
	{ "time", "s", KAB_DIR_LOWER, true, "time until all messages were passed" },
	KAB_GNU_TIME_METRICS,
};

static const char *const tools_table[] = { "hackbench", "perf", NULL };

static int hackbench_unsupported(const struct kab_facts *facts, const struct kab_params *params,
				 char **ret_reason)
{
	const char *variant = kab_params_get(params, "variant", "rt-tests");

	if (!strcmp(variant, "perf"))
		return kab_option_needs_tool(facts, params, "perf", "linux-perf", ret_reason);
	if (!strcmp(variant, "ltp"))
		return kab_option_needs_tool(facts, params, "hackbench",
					     "rt-tests (or build that of LTP and set program)",
					     ret_reason);
	return kab_option_needs_tool(facts, params, "hackbench", "rt-tests", ret_reason);
}

/* The first of `names` that is given although this variant has no such option. */
static int refuse(const struct kab_params *params, const char *variant, const char *const *names,
		  struct kab_err *err)
{
	for (; *names; names++)
		if (kab_params_find(params, *names))
			return kab_err_set(err, KAB_ERR_CONFIG,
					   "parameter '%s': hackbench of variant '%s' has no such "
					   "option; use variant rt-tests",
					   *names, variant);
	return 0;
}

static int command_rt_tests(struct kab_strv *argv, const struct kab_params *params,
			    struct kab_err *err)
{
	kab_strv_add(argv, kab_option_program(params, "hackbench"));
	kab_option_flag(argv, "-T", params, "threads");
	kab_option_flag(argv, "-p", params, "pipe");
	kab_option_flag(argv, "-i", params, "inet");
	kab_option_flag(argv, "-F", params, "fifo");
	if (kab_option_int(argv, "-g", params, "groups", 1, err) ||
	    kab_option_int(argv, "-f", params, "fds", 1, err) ||
	    kab_option_int(argv, "-l", params, "loops", 1, err) ||
	    kab_option_int(argv, "-s", params, "size", 1, err))
		return -1;
	return kab_option_words(argv, params, "args", err);
}

/* hackbench [-pipe] GROUPS [process|thread] [LOOPS] */
static int command_ltp(struct kab_strv *argv, const struct kab_params *params, struct kab_err *err)
{
	static const char *const none[] = { "fds", "size", "fifo", "inet", NULL };
	int64_t groups, loops;

	if (refuse(params, "ltp", none, err) ||
	    kab_params_int(params, "groups", 10, &groups, err) ||
	    kab_params_int(params, "loops", 0, &loops, err))
		return -1;
	if (groups < 1 || loops < 0)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "parameter '%s': expected at least 1, found %" PRId64,
				   groups < 1 ? "groups" : "loops", groups < 1 ? groups : loops);
	kab_strv_add(argv, kab_option_program(params, "hackbench"));
	kab_option_flag(argv, "-pipe", params, "pipe");
	kab_strv_addf(argv, "%" PRId64, groups);
	kab_strv_add(argv, kab_params_bool(params, "threads", false) ? "thread" : "process");
	if (loops)
		kab_strv_addf(argv, "%" PRId64, loops);
	return kab_option_words(argv, params, "args", err);
}

static int command_perf(struct kab_strv *argv, const struct kab_params *params, struct kab_err *err)
{
	static const char *const none[] = { "fds", "size", "fifo", "inet", NULL };

	if (refuse(params, "perf", none, err))
		return -1;
	kab_strv_add(argv, kab_option_program(params, "perf"));
	kab_strv_add(argv, "bench");
	kab_strv_add(argv, "sched");
	kab_strv_add(argv, "messaging");
	kab_option_flag(argv, "-t", params, "threads");
	kab_option_flag(argv, "-p", params, "pipe");
	if (kab_option_int(argv, "-g", params, "groups", 1, err) ||
	    kab_option_int(argv, "-l", params, "loops", 1, err))
		return -1;
	return kab_option_words(argv, params, "args", err);
}

static int hackbench_command(const struct kab_params *params, const struct kab_facts *facts,
			     struct kab_command *ret, struct kab_err *err)
{
	const char *variant = kab_params_get(params, "variant", "rt-tests");

	(void)facts;
	if (!strcmp(variant, "rt-tests"))
		return command_rt_tests(&ret->argv, params, err);
	if (!strcmp(variant, "ltp"))
		return command_ltp(&ret->argv, params, err);
	if (!strcmp(variant, "perf"))
		return command_perf(&ret->argv, params, err);
	return kab_err_set(err, KAB_ERR_CONFIG,
			   "parameter 'variant': expected rt-tests, ltp or perf, found '%s'",
			   variant);
}

/* What hackbench itself says when it did not run to its end; Time: may follow all the same. */
static char *own_failure(const char *s)
{
	static const struct {
		const char *words;
		const char *reason;
	} table[] = {
		{ "longjmp", "interrupted by a signal; a time that follows is not of a full run" },
		{ "reaping children", "interrupted by a signal" },
		{ "SIGTERM to all child", "interrupted by a signal" },
		{ "worker threads to terminate", "interrupted by a signal" },
		{ " caught, ", "interrupted by a signal" },
	};
	static const char *const words[] = { "unrecognized option", "invalid option",
					     "option requires an argument", "Usage: hackbench",
					     "unknown option" };
	char *quoted kab_autofree = NULL;

	if (kab_scan_after(s, "Signal ") || strstr(s, "longjmp") || strstr(s, "child") ||
	    strstr(s, "worker"))
		for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++)
			if (strstr(s, table[i].words))
				return kab_xstrdup(table[i].reason);
	for (size_t i = 0; i < KAB_ARRAY_SIZE(words); i++) {
		if (strstr(s, words[i])) {
			quoted = kab_scan_escape(s);
			return kab_xasprintf("hackbench refused its options: '%s'", quoted);
		}
	}
	if (kab_scan_is(s, "Usage:"))
		return kab_xstrdup("hackbench printed its usage instead of running");
	/* barf() of all variants, and perf's "perf: fork: Resource ..." through err(3). */
	if (strstr(s, "(error: ") || kab_scan_after(s, "perf: ") || kab_scan_after(s, "Error: ")) {
		quoted = kab_scan_escape(kab_scan_blanks(s));
		return kab_xasprintf("hackbench stopped: '%s'", quoted);
	}
	return NULL;
}

struct state {
	struct kab_outcome outcome;
	bool in_perf; /* below the header of perf's sched/messaging, not of another benchmark */
	bool other_perf; /* below that of another one */
	bool open; /* a header was seen and its figure not yet */
	char *header; /* of the open run */
};

static bool is_header(const char *s)
{
	return strstr(s, "Running in process mode with ") ||
	       strstr(s, "Running in threaded mode with ") ||
	       (strstr(s, "Running with ") && strstr(s, " tasks."));
}

static void begin_run(struct state *st, const char *header)
{
	/* Identical runs may overlap: both figures are of one thing. Different ones may not. */
	if (st->open && st->header && strcmp(st->header, header))
		kab_outcome_missing(
			&st->outcome,
			kab_xstrdup("a run began before the one above it had printed its time; "
				    "which of the figures is whose cannot be told"));
	free(st->header);
	st->header = kab_xstrdup(header);
	st->open = true;
	st->outcome.begun++;
}

static void take(struct state *st, struct kab_parse_result *ret, double value)
{
	kab_samples_add(&ret->samples, "time", "s", KAB_DIR_LOWER, value);
	st->outcome.finished++;
	st->open = false;
	/* A log that was filtered down to its Time: lines has no headers. */
	if (st->outcome.begun < st->outcome.finished)
		st->outcome.begun = st->outcome.finished;
}

/* All variants print three decimals: fewer are the front half of a number. */
static void time_line(struct state *st, struct kab_parse_result *ret, const struct kab_scan *scan,
		      const char *rest, const char *unit)
{
	struct kab_number n;
	const char *end = kab_scan_number(rest, &n);
	bool whole = end && n.decimals >= 3 && !(scan->rubbish && n.decimals > 3);
	char *quoted kab_autofree = NULL;

	if (whole && kab_scan_is(end, unit) && !scan->overlong) {
		take(st, ret, n.value);
		return;
	}
	if (!scan->terminated && kab_scan_end(end ? end : rest)) {
		/* The stream was cut inside the number. */
		st->outcome.started = true;
		if (st->outcome.begun <= st->outcome.finished)
			st->outcome.begun = st->outcome.finished + 1;
		return;
	}
	quoted = kab_scan_escape(scan->s);
	if (st->outcome.begun <= st->outcome.finished)
		st->outcome.begun = st->outcome.finished + 1;
	kab_outcome_nothing(&st->outcome,
			    kab_xasprintf("the time cannot be read for sure in '%s'", quoted));
	kab_outcome_missing(&st->outcome,
			    kab_xasprintf("a time cannot be read for sure in '%s'", quoted));
}

static void one_line(struct state *st, struct kab_parse_result *ret, struct kab_scan *scan,
		     bool bare)
{
	const char *s = scan->s;
	const char *rest;
	char *failure;
	struct kab_number n;

	if (is_header(s)) {
		kab_scan_learn(scan, strstr(s, "Running "));
		begin_run(st, strstr(s, "Running "));
		return;
	}
	rest = strstr(s, "# Running ");
	if (rest) {
		kab_scan_learn(scan, rest);
		st->in_perf = strstr(rest, "sched/messaging") != NULL;
		st->other_perf = !st->in_perf;
		if (st->in_perf)
			begin_run(st, rest);
		return;
	}
	if (strstr(s, "sender and receiver processes per group") ||
	    strstr(s, "sender and receiver threads per group")) {
		/* The banner is missing when the log was cut at its front. */
		if (!st->in_perf)
			begin_run(st, s);
		st->in_perf = true;
		st->other_perf = false;
		return;
	}
	rest = kab_scan_after(s, "Time:");
	if (rest) {
		time_line(st, ret, scan, rest, "");
		return;
	}
	rest = kab_scan_after(s, "Total time:");
	if (rest && !st->other_perf && (st->in_perf || strstr(rest, "[sec]"))) {
		time_line(st, ret, scan, rest, "[sec]");
		return;
	}
	if (bare && kab_scan_quantity(s, "", &n) && n.decimals == 3 &&
	    kab_scan_end(kab_scan_number(s, &n))) {
		take(st, ret, n.value);
		return;
	}
	rest = kab_scan_after(s, "hackbench V ");
	if (rest && !ret->version)
		ret->version = kab_scan_escape(kab_scan_blanks(rest));
	if (kab_scan_gnu_time(scan, &ret->samples))
		return;
	failure = own_failure(s);
	if (!failure)
		failure = kab_scan_wrapper_failure(s, "hackbench");
	kab_outcome_fail(&st->outcome, failure);
}

static void hackbench_parse(const struct kab_outputs *outputs, int exit_status,
			    const struct kab_params *params, struct kab_parse_result *ret)
{
	/* Only -f simple prints a number and nothing else; elsewhere a bare number is not ours. */
	bool bare = !strcmp(kab_params_get(params, "variant", ""), "perf");
	struct state st = { 0 };
	struct kab_scan scan;

	memset(ret, 0, sizeof(*ret));
	kab_scan_init(&scan, outputs);
	while (kab_scan_next(&scan))
		if (*scan.s)
			one_line(&st, ret, &scan, bare);
	kab_scan_release(&scan);
	free(st.header);
	kab_outcome_finish(&st.outcome, outputs, exit_status, "time", ret);
}

const struct kab_runner kab_runner_hackbench = {
	.name = "hackbench",
	.summary = "scheduler and IPC: groups of tasks pass messages (rt-tests, LTP, perf bench)",
	.parser_version = "1",
	.params = params_table,
	.params_n = KAB_ARRAY_SIZE(params_table),
	.metrics = metrics_table,
	.metrics_n = KAB_ARRAY_SIZE(metrics_table),
	.tools = tools_table,
	.unsupported = hackbench_unsupported,
	.command = hackbench_command,
	.parse = hackbench_parse,
};
