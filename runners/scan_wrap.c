/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands around a benchmark's own output: shells, GNU time, timeout, the kernel. */
#include <string.h>

#include "base/alloc.h"
#include "runners/scan.h"

static const char *const deaths[] = {
	"Killed", "Terminated", "Segmentation fault",  "Aborted",   "Bus error",
	"Hangup", "Quit",	"Illegal instruction", "Interrupt", "Floating point exception",
};

/* "Killed", "Killed (core dumped)", or bash's "x.sh: line 3: 4711 Killed    hackbench -g 9". */
static const char *death(const char *s)
{
	const char *p = strstr(s, ": line ");

	s = kab_scan_blanks(s);
	if (p) {
		p += strlen(": line ");
		p += strspn(p, "0123456789");
		p += strspn(p, ": ");
		p += strspn(p, "0123456789");
		p = kab_scan_blanks(p);
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(deaths); i++) {
		size_t n = strlen(deaths[i]);

		if (!strncmp(s, deaths[i], n) &&
		    (kab_scan_end(s + n) || kab_scan_is(s + n, "(core dumped)")))
			return deaths[i];
		if (p && !strncmp(p, deaths[i], n) && (p[n] == ' ' || p[n] == '\0'))
			return deaths[i];
	}
	return NULL;
}

static bool names(const char *s, const char *tool)
{
	return strstr(s, tool) != NULL;
}

char *kab_scan_wrapper_failure(const char *s, const char *tool)
{
	const char *why = death(s);

	if (why)
		return kab_xasprintf("the shell reports '%s'", why);
	if (strstr(s, "command not found") ||
	    (names(s, tool) &&
	     (strstr(s, ": not found") || strstr(s, "No such file or directory"))))
		return kab_xasprintf("%s was not found on the host", tool);
	if (names(s, tool) && strstr(s, "Permission denied"))
		return kab_xasprintf("%s may not be executed (permission denied)", tool);
	if (names(s, tool) &&
	    (strstr(s, "cannot execute binary file") || strstr(s, "Exec format error")))
		return kab_xasprintf("%s is not a program for this machine", tool);
	if (names(s, tool) && strstr(s, "error while loading shared libraries"))
		return kab_xasprintf("%s cannot be started: a shared library is missing", tool);
	if (kab_scan_after(s, "Command terminated by signal") ||
	    kab_scan_after(s, "Command exited with non-zero status")) {
		char *quoted kab_autofree = kab_scan_escape(kab_scan_blanks(s));

		return kab_xasprintf("GNU time reports '%s'", quoted);
	}
	if (strstr(s, "timeout: sending signal"))
		return kab_xstrdup("ended by the timeout command");
	if (strstr(s, "Killed process")) {
		/* Not its children of other names: some stressors live by being killed. */
		char *comm kab_autofree = kab_xasprintf("(%s)", tool);

		if (names(s, comm))
			return kab_xasprintf("the kernel ran out of memory and killed %s", tool);
	}
	return NULL;
}

/* "h:mm:ss", "m:ss.cc": seconds, or -1. */
static double clock_time(const char *s)
{
	struct kab_number n;
	double total = 0;

	for (int i = 0; i < 3; i++) {
		const char *end = kab_scan_number(s, &n);

		if (!end)
			return -1;
		total = total * 60 + n.value;
		if (*end != ':')
			return kab_scan_end(end) ? total : -1;
		s = end + 1;
	}
	return -1;
}

static const struct {
	const char *key;
	const char *suffix;
	const char *metric;
	const char *unit;
	enum kab_direction dir;
} gnu_time[] = {
	{ "User time (seconds):", "", "user_time", "s", KAB_DIR_LOWER },
	{ "System time (seconds):", "", "system_time", "s", KAB_DIR_LOWER },
	{ "Percent of CPU this job got:", "%", "percent_cpu", "%", KAB_DIR_NONE },
	{ "Maximum resident set size (kbytes):", "", "max_rss", "KiB", KAB_DIR_LOWER },
	{ "Voluntary context switches:", "", "voluntary_context_switches", "count", KAB_DIR_LOWER },
	{ "Involuntary context switches:", "", "involuntary_context_switches", "count",
	  KAB_DIR_LOWER },
};

bool kab_scan_gnu_time(const struct kab_scan *scan, struct kab_samples *samples)
{
	static const char elapsed[] = "Elapsed (wall clock) time (h:mm:ss or m:ss):";
	const char *s = scan->s, *rest = kab_scan_after(s, elapsed);
	struct kab_number n;

	/* The figure is at the end of the line: without a line end it may be cut. */
	if (!scan->terminated)
		return false;
	if (rest) {
		double value = clock_time(rest);

		if (value >= 0)
			kab_samples_add(samples, "elapsed", "s", KAB_DIR_LOWER, value);
		return value >= 0;
	}
	for (size_t i = 0; i < KAB_ARRAY_SIZE(gnu_time); i++) {
		rest = kab_scan_after(s, gnu_time[i].key);
		if (!rest)
			continue;
		if (!kab_scan_quantity(rest, gnu_time[i].suffix, &n))
			return false;
		kab_samples_add(samples, gnu_time[i].metric, gnu_time[i].unit, gnu_time[i].dir,
				n.value);
		return true;
	}
	return false;
}
