/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What sysbench 0.4 to 1.1 prints. A log holds runs (a banner and "Running the test ..."), each
 * with one report at its end; with --report-checkpoints also with reports on the way, of which
 * the last is the result. Interval lines begin with '[' and are no results.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "runners/outcome.h"
#include "runners/scan.h"
#include "runners/sysbench.h"

enum section { SEC_NONE, SEC_LATENCY, SEC_FILE_THROUGHPUT, SEC_FAIRNESS };

/* One report: what was read of it, in the order of printing. */
struct report {
	struct kab_samples samples;
	bool checkpoint; /* one on the way */
	bool has_time, has_events, has_rate, has_min, has_max, has_percentile, has_sum, has_average;
	bool wants_sum; /* 1.0 on */
	double time, events, max, transferred_mib;
	enum section section;
};

struct state {
	struct kab_outcome outcome;
	struct kab_parse_result *ret;
	const struct kab_params *params;
	struct report report;
	struct report kept; /* the last whole one of this run */
	double threads; /* of this run; 0 when not seen */
	double total_mib; /* memory: what was asked for; 0 when not seen */
	bool old; /* 0.x */
	bool in_run;
};

static void report_release(struct report *report)
{
	kab_samples_release(&report->samples);
	*report = (struct report){ 0 };
}

static void add(struct state *st, const char *metric, const char *unit, enum kab_direction dir,
		double value)
{
	kab_samples_add(&st->report.samples, metric, unit, dir, value);
}

/* ---- what was fixed, the time or the events? ---- */

static bool near_whole_seconds(double time)
{
	double over = time - floor(time);

	/* Threads notice the end of the time only between two events. */
	return time >= 1 && over <= fmin(0.25, fmax(0.05, 0.005 * time));
}

static bool time_was_fixed(const struct state *st, const struct report *r)
{
	int64_t time_s = 0, events = 0;
	const char *test = kab_params_get(st->params, "test", "");

	if (!strcmp(test, "mutex"))
		return false;
	if (kab_params_int(st->params, "time", 0, &time_s, NULL))
		time_s = 0;
	if (kab_params_int(st->params, "events", 0, &events, NULL))
		events = 0;
	if (events > 0)
		return time_s > 0 && r->events < (double)events;
	if (r->transferred_mib > 0 && st->total_mib > 0)
		return r->transferred_mib < 0.999 * st->total_mib;
	if (time_s > 0)
		return true;
	if (*test && !st->old)
		return true; /* its default: ten seconds */
	if (*test)
		return false; /* its default: ten thousand events */
	if (st->threads > 0 && r->events == st->threads)
		return false; /* mutex: one event per thread */
	if (fmod(r->events, 100) == 0)
		return false;
	return near_whole_seconds(r->time) || !st->old;
}

/* ---- end of a report ---- */

static void copy_samples(struct kab_samples *to, const struct report *r, bool time_fixed)
{
	for (size_t i = 0; i < r->samples.n; i++) {
		const struct kab_sample *s = &r->samples.v[i];
		enum kab_direction dir = s->dir;

		if (!strcmp(s->metric, "total_time"))
			dir = time_fixed ? KAB_DIR_NONE : KAB_DIR_LOWER;
		else if (!strcmp(s->metric, "total_events"))
			dir = time_fixed ? KAB_DIR_HIGHER : KAB_DIR_NONE;
		kab_samples_add(to, s->metric, s->unit, dir, s->value);
	}
}

static void settle(struct state *st, struct report *r)
{
	if (!r->has_time || !r->has_events)
		return;
	if (r->events == 0) {
		kab_outcome_nothing(&st->outcome,
				    kab_xstrdup("sysbench ran and completed no event"));
		kab_outcome_missing(&st->outcome, kab_xstrdup("one run completed no event"));
		return;
	}
	if (!r->has_rate && r->time > 0)
		kab_samples_add(&st->ret->samples, "events_per_second", "events/s", KAB_DIR_HIGHER,
				r->events / r->time);
	copy_samples(&st->ret->samples, r, time_was_fixed(st, r));
	st->outcome.finished++;
	if (st->outcome.begun < st->outcome.finished)
		st->outcome.begun = st->outcome.finished;
	if (!r->has_average || !r->has_max || !r->has_percentile || (r->wants_sum && !r->has_sum))
		kab_outcome_missing(&st->outcome,
				    kab_xstrdup("the report stops within the latencies"));
}

/*
 * Of one run the last report is the result, those before it are checkpoints. Without
 * the header of a run (a log that was filtered) each report is taken for a run of its own.
 */
static void end_report(struct state *st)
{
	if (!st->report.has_time || !st->report.has_events) {
		/* Cut: the whole one before it, if any, stays. */
	} else if (st->in_run) {
		report_release(&st->kept);
		st->kept = st->report;
		st->report = (struct report){ 0 };
	} else if (!st->report.checkpoint) {
		settle(st, &st->report);
	}
	report_release(&st->report);
}

static void end_run(struct state *st)
{
	end_report(st);
	if (!st->kept.checkpoint)
		settle(st, &st->kept);
	report_release(&st->kept);
	st->threads = 0;
	st->total_mib = 0;
}

/* ---- lines ---- */

/* A value at the end of a line, with or without `unit`; false when it may have been cut. */
static bool value_at_end(const struct kab_scan *scan, const char *rest, const char *unit,
			 struct kab_number *n)
{
	const char *end = kab_scan_number(rest, n);
	bool with_unit;

	if (!end || scan->overlong)
		return false;
	with_unit = *unit && kab_scan_is(end, unit);
	if (!with_unit && !kab_scan_end(end))
		return false;
	/* sysbench prints two or four decimals; a line without an end may have lost some. */
	return scan->terminated || with_unit || n->decimals == 2 || n->decimals == 4;
}

static void bad_value(struct state *st, const char *name, const char *why)
{
	kab_outcome_missing(&st->outcome, kab_xasprintf("%s is not usable: %s", name, why));
}

/* Seconds up to 0.4.8, milliseconds since; the suffix tells, none is milliseconds. */
static bool latency(struct state *st, const struct kab_scan *scan, const char *rest,
		    const char *metric, double *ret_ms)
{
	struct kab_number n;
	double ms;

	if (value_at_end(scan, rest, "ms", &n))
		ms = n.value;
	else if (value_at_end(scan, rest, "s", &n))
		ms = n.value * 1000;
	else
		return false;
	if (ms >= 1e13) {
		/* An unsigned counter below zero: nothing was measured. */
		bad_value(st, metric, "the counter overflowed");
		return false;
	}
	*ret_ms = ms;
	return true;
}

/* *ret_has is set when the figure is there. */
static double latency_plain(struct state *st, const struct kab_scan *scan, const char *rest,
			    const char *metric, enum kab_direction dir, bool *ret_has)
{
	double ms;

	if (!latency(st, scan, rest, metric, &ms))
		return 0;
	add(st, metric, "ms", dir, ms);
	*ret_has = true;
	return ms;
}

/* "95th percentile: 16.41", "approx.  95 percentile: 12.44ms", "999th percentile: 1.2". */
static bool percentile_line(struct state *st, const struct kab_scan *scan, const char *s)
{
	const char *rest = kab_scan_after(s, "approx.");
	char metric[40], digits[24];
	struct kab_number n;
	const char *name, *end;
	double ms;

	if (kab_scan_after(s, "percentile stats:")) {
		st->report.has_percentile = true;
		return true;
	}
	name = kab_scan_blanks(rest ? rest : s);
	end = kab_scan_number(name, &n);
	if (!end || (size_t)(end - name) >= sizeof(digits))
		return false;
	memcpy(digits, name, (size_t)(end - name));
	digits[end - name] = '\0';
	for (char *p = digits; *p; p++)
		if (*p == '.' || *p == ',')
			*p = '_';
	if (!strncmp(end, "th", 2) || !strncmp(end, "st", 2) || !strncmp(end, "nd", 2) ||
	    !strncmp(end, "rd", 2))
		end += 2;
	rest = kab_scan_after(end, "percentile:");
	if (!rest)
		return false;
	snprintf(metric, sizeof(metric), "latency_p%s", digits);
	if (!latency(st, scan, rest, metric, &ms))
		return true;
	st->report.has_percentile = true;
	if (st->report.has_max && ms > 10 * st->report.max && ms > st->report.max + 1)
		bad_value(st, metric, "far above the longest event (out of the histogram)");
	else if (st->report.has_max && ms == 100000 && st->report.max > ms)
		bad_value(st, metric, "the histogram of sysbench ends at 100000 ms");
	else
		add(st, metric, "ms", KAB_DIR_LOWER, ms);
	return true;
}

static bool latency_line(struct state *st, const struct kab_scan *scan)
{
	const char *s = scan->s, *rest;
	struct report *r = &st->report;

	if ((rest = kab_scan_after(s, "min:"))) {
		latency_plain(st, scan, rest, "latency_min", KAB_DIR_LOWER, &r->has_min);
	} else if ((rest = kab_scan_after(s, "avg:"))) {
		latency_plain(st, scan, rest, "latency_avg", KAB_DIR_LOWER, &r->has_average);
	} else if ((rest = kab_scan_after(s, "max:"))) {
		r->max = latency_plain(st, scan, rest, "latency_max", KAB_DIR_LOWER, &r->has_max);
	} else if ((rest = kab_scan_after(s, "sum:"))) {
		latency_plain(st, scan, rest, "latency_sum", KAB_DIR_NONE, &r->has_sum);
	} else {
		return percentile_line(st, scan, s);
	}
	return true;
}

/* "... (348.20 per sec.)": the number behind the first bracket when `unit` and ')' follow. */
static bool in_brackets(const char *s, const char *unit, struct kab_number *n)
{
	const char *open = strchr(s, '('), *end, *rest;

	end = open ? kab_scan_number(open + 1, n) : NULL;
	rest = end ? kab_scan_after(end, unit) : NULL;
	return rest && *rest == ')';
}

static const struct {
	const char *key;
	const char *unit; /* within the brackets */
	const char *metric;
	const char *metric_unit;
	enum kab_direction dir;
} bracketed[] = {
	{ "Operations performed:", "ops/sec", "operations_per_second", "ops/s", KAB_DIR_HIGHER },
	{ "Total operations:", "per second", "operations_per_second", "ops/s", KAB_DIR_HIGHER },
	{ "transactions:", "per sec.", "transactions_per_second", "tps", KAB_DIR_HIGHER },
	{ "queries:", "per sec.", "queries_per_second", "qps", KAB_DIR_HIGHER },
	{ "read/write requests:", "per sec.", "rw_requests_per_second", "requests/s",
	  KAB_DIR_HIGHER },
	{ "other operations:", "per sec.", "other_per_second", "ops/s", KAB_DIR_NONE },
	{ "ignored errors:", "per sec.", "errors_per_second", "1/s", KAB_DIR_LOWER },
	{ "reconnects:", "per sec.", "reconnects_per_second", "1/s", KAB_DIR_LOWER },
	{ "deadlocks:", "per sec.", "deadlocks_per_second", "1/s", KAB_DIR_LOWER },
};

static const struct {
	const char *key;
	const char *metric;
	const char *unit;
} plain[] = {
	{ "events per second:", "events_per_second", "events/s" },
	{ "events/s (eps):", "events_per_second", "events/s" },
	{ "reads/s:", "reads_per_second", "ops/s" },
	{ "writes/s:", "writes_per_second", "ops/s" },
	{ "fsyncs/s:", "fsyncs_per_second", "ops/s" },
	{ "read, MiB/s:", "read_throughput", "MiB/s" },
	{ "written, MiB/s:", "write_throughput", "MiB/s" },
};

static bool rate_line(struct state *st, const struct kab_scan *scan)
{
	struct kab_number n;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(bracketed); i++) {
		const char *rest = kab_scan_after(scan->s, bracketed[i].key);

		if (rest && in_brackets(rest, bracketed[i].unit, &n)) {
			add(st, bracketed[i].metric, bracketed[i].metric_unit, bracketed[i].dir,
			    n.value);
			return true;
		}
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(plain); i++) {
		const char *rest = kab_scan_after(scan->s, plain[i].key);
		bool rate;

		if (!rest)
			continue;
		rate = !strcmp(plain[i].metric, "events_per_second");
		/* 1.1 prints the rate of cpu twice; the first is enough. */
		if (value_at_end(scan, rest, "", &n) && !(rate && st->report.has_rate)) {
			add(st, plain[i].metric, plain[i].unit, KAB_DIR_HIGHER, n.value);
			st->report.has_rate = st->report.has_rate || rate;
		}
		return true;
	}
	return false;
}

/* "2048.00 MiB transferred (1252.55 MiB/sec)"; MB up to 0.5, which is the same amount. */
static bool transferred_line(struct state *st, const char *s)
{
	struct kab_number amount, rate;
	const char *rest = kab_scan_number(s, &amount);
	bool mib;

	rest = rest ? kab_scan_blanks(rest) : NULL;
	if (!rest || (strncmp(rest, "MB transferred", 14) && strncmp(rest, "MiB transferred", 15)))
		return false;
	mib = rest[1] == 'i';
	if (!in_brackets(rest, mib ? "MiB/sec" : "MB/sec", &rate))
		return false;
	add(st, "throughput", mib ? "MiB/s" : "MB/s", KAB_DIR_HIGHER, rate.value);
	st->report.transferred_mib = amount.value;
	return true;
}

/* "949.42Mb/sec": the letter scales by 1024 per step and b is a byte; result in MiB/s. */
static bool scaled_rate(const char *s, double *ret_mib)
{
	static const char letters[] = "KMGTPE";
	struct kab_number n;
	const char *end = kab_scan_number(s, &n), *letter;
	double mib;

	if (!end)
		return false;
	letter = *end ? strchr(letters, *end) : NULL;
	mib = n.value / 1024 / 1024;
	if (letter) {
		for (const char *p = letters; p <= letter; p++)
			mib *= 1024;
		end++;
	}
	if (*end == 'i')
		end++;
	if (strncmp(end, "b/sec)", 6) && strncmp(end, "B/sec)", 6))
		return false;
	/* Rounding noise of the detour would make 949.42 another number. */
	*ret_mib = letter && *letter == 'M' ? n.value : mib;
	return true;
}

/* 1.1: "read:  IOPS=3126.26 48.85 MiB/s (51.22 MB/s)", "fsync: IOPS=6678.69". */
static bool iops_line(struct state *st, const struct kab_scan *scan)
{
	static const struct {
		const char *key, *iops, *throughput;
	} table[] = {
		{ "read:", "reads_per_second", "read_throughput" },
		{ "write:", "writes_per_second", "write_throughput" },
		{ "fsync:", "fsyncs_per_second", NULL },
	};
	struct kab_number n;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(table); i++) {
		const char *rest = kab_scan_after(scan->s, table[i].key);

		rest = rest ? kab_scan_after(rest, "IOPS=") : NULL;
		if (!rest)
			continue;
		rest = kab_scan_number(rest, &n);
		if (!rest || (!scan->terminated && kab_scan_end(rest)))
			return true;
		add(st, table[i].iops, "ops/s", KAB_DIR_HIGHER, n.value);
		rest = table[i].throughput ? kab_scan_number(rest, &n) : NULL;
		if (rest && kab_scan_after(rest, "MiB/s"))
			add(st, table[i].throughput, "MiB/s", KAB_DIR_HIGHER, n.value);
		return true;
	}
	return false;
}

static bool old_fileio_line(struct state *st, const struct kab_scan *scan)
{
	const char *rest = strstr(scan->s, "Total transferred ");
	struct kab_number n;
	double mib;

	if (rest && kab_scan_after(scan->s, "Read ")) {
		rest = strchr(rest, '(');
		if (rest && scaled_rate(rest + 1, &mib))
			add(st, "throughput", "MiB/s", KAB_DIR_HIGHER, mib);
		return true;
	}
	rest = kab_scan_number(scan->s, &n);
	if (rest && kab_scan_is(rest, "Requests/sec executed")) {
		add(st, "requests_per_second", "requests/s", KAB_DIR_HIGHER, n.value);
		return true;
	}
	return false;
}

static bool total_line(struct state *st, const struct kab_scan *scan)
{
	const char *rest = kab_scan_after(scan->s, "total time:");
	struct kab_number n;

	if (!rest)
		rest = kab_scan_after(scan->s, "time elapsed:");
	if (rest) {
		if (value_at_end(scan, rest, "s", &n)) {
			add(st, "total_time", "s", KAB_DIR_NONE, n.value);
			st->report.time = n.value;
			st->report.has_time = true;
		}
		return true;
	}
	rest = kab_scan_after(scan->s, "total number of events:");
	if (!rest)
		return false;
	if (scan->terminated && value_at_end(scan, rest, "", &n)) {
		add(st, "total_events", "events", KAB_DIR_NONE, n.value);
		st->report.events = n.value;
		st->report.has_events = true;
	}
	return true;
}

/* What the run was asked for, for the directions. */
static bool header_line(struct state *st, const struct kab_scan *scan)
{
	struct kab_number n;
	const char *rest = kab_scan_after(scan->s, "Number of threads:");

	if (rest) {
		if (value_at_end(scan, rest, "", &n))
			st->threads = n.value;
		return true;
	}
	rest = kab_scan_after(scan->s, "Memory transfer size:");
	if (!rest)
		rest = kab_scan_after(scan->s, "total size:");
	if (!rest)
		return false;
	if (value_at_end(scan, rest, "M", &n) || value_at_end(scan, rest, "MiB", &n))
		st->total_mib = n.value;
	return true;
}

static bool banner(struct state *st, struct kab_scan *scan)
{
	const char *at = strstr(scan->s, "sysbench "), *version, *end;
	size_t len;

	if (!at)
		return false;
	/* A version, then "(using ...)" or ":  multi-threaded system evaluation benchmark". */
	version = at + strlen("sysbench ");
	version += *version == 'v';
	len = strspn(version, "0123456789abcdefghijklmnopqrstuvwxyz.-+~");
	end = version + len;
	if (*version < '0' || *version > '9' || !strchr(" :", *end) ||
	    (!strstr(end, "LuaJIT") && !strstr(end, "multi-threaded system evaluation") &&
	     !kab_scan_end(end)))
		return false;
	kab_scan_learn(scan, at);
	end_run(st);
	st->in_run = false;
	st->old = *version == '0';
	free(st->ret->version);
	st->ret->version = kab_xstrndup(version, len);
	return true;
}

static char *own_failure(const char *s)
{
	static const char *const starts[] = {
		"FATAL:",	    "invalid option:",
		"Unknown command:", "Invalid test name:",
		"PANIC:",	    "Cannot find benchmark",
		"Usage:",	    "Missing required command argument"
	};
	char *quoted kab_autofree = NULL;
	bool failed = false;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(starts) && !failed; i++)
		failed = kab_scan_after(s, starts[i]) != NULL;
	failed = failed || (kab_scan_after(s, "The '") && strstr(s, "' test does not implement"));
	if (!failed)
		return NULL;
	quoted = kab_scan_escape(kab_scan_blanks(s));
	return kab_xasprintf("sysbench stopped: '%s'", quoted);
}

static void one_line(struct state *st, struct kab_scan *scan)
{
	const char *s = scan->s;
	char *failure;

	if (banner(st, scan))
		return;
	if (strstr(s, "Running the test with following options:")) {
		kab_scan_learn(scan, strstr(s, "Running the test"));
		end_run(st);
		st->in_run = true;
		st->outcome.begun++;
		return;
	}
	if (strstr(s, "Checkpoint report:")) {
		end_report(st);
		st->report.checkpoint = true;
		return;
	}
	s = kab_scan_blanks(s);
	if (*s == '[' && strstr(s, "s ]"))
		return;
	if (kab_scan_is(s, "Latency (ms):") || kab_scan_is(s, "response time:") ||
	    kab_scan_is(s, "per-request statistics:")) {
		st->report.section = SEC_LATENCY;
		st->report.wants_sum = kab_scan_after(s, "Latency") != NULL;
		st->old = !st->report.wants_sum;
		return;
	}
	if (kab_scan_is(s, "Threads fairness:")) {
		end_report(st);
		return;
	}
	if (kab_scan_is(s, "Threads started!")) {
		st->outcome.started = true;
		return;
	}
	if (kab_scan_is(s, "CPU speed:") || kab_scan_is(s, "SQL statistics:") ||
	    kab_scan_is(s, "OLTP test statistics:") || kab_scan_is(s, "File operations:") ||
	    kab_scan_is(s, "General statistics:") || kab_scan_is(s, "Throughput:") ||
	    kab_scan_is(s, "Test execution summary:")) {
		/* A log that was filtered may lack what ends a report. */
		if (st->report.has_events && st->report.has_time)
			end_report(st);
		st->report.section = SEC_NONE;
		return;
	}
	if (total_line(st, scan) || rate_line(st, scan) || transferred_line(st, s) ||
	    iops_line(st, scan) || old_fileio_line(st, scan) || header_line(st, scan))
		return;
	if (st->report.section == SEC_LATENCY && latency_line(st, scan))
		return;
	if (kab_scan_gnu_time(scan, &st->ret->samples))
		return;
	failure = own_failure(s);
	if (!failure)
		failure = kab_scan_wrapper_failure(s, "sysbench");
	kab_outcome_fail(&st->outcome, failure);
}

void kab_sysbench_parse(const struct kab_outputs *outputs, int exit_status,
			const struct kab_params *params, struct kab_parse_result *ret)
{
	struct state st = { .ret = ret, .params = params };
	struct kab_scan scan;

	memset(ret, 0, sizeof(*ret));
	kab_scan_init(&scan, outputs);
	while (kab_scan_next(&scan))
		if (*scan.s)
			one_line(&st, &scan);
	kab_scan_release(&scan);
	end_run(&st);
	kab_outcome_finish(&st.outcome, outputs, exit_status, "report", ret);
}
