/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/detach_job.h"

static const char *const names[] = {
	[KAB_DETACH_NONE] = "none",	  [KAB_DETACH_STARTING] = "starting",
	[KAB_DETACH_RUNNING] = "running", [KAB_DETACH_DONE] = "done",
	[KAB_DETACH_LOST] = "lost",	  [KAB_DETACH_REBOOTED] = "rebooted",
	[KAB_DETACH_ABORTED] = "aborted",
};

const char *kab_detach_state_name(enum kab_detach_state state)
{
	return (size_t)state < KAB_ARRAY_SIZE(names) ? names[state] : "?";
}

/* "1m2.345s" as `times` prints it (dash, bash, busybox; some leave the fraction out). */
static const char *read_time(const char *s, double *ret)
{
	char *end;
	double min = strtod(s, &end), sec;

	if (end == s || *end != 'm')
		return NULL;
	s = end + 1;
	sec = strtod(s, &end);
	if (end == s || *end != 's')
		return NULL;
	*ret = min * 60 + sec;
	return end + 1;
}

static bool read_times(const char *s, double *user, double *sys)
{
	if (!s || !(s = read_time(s, user)) || *s != ' ')
		return false;
	s = read_time(s + 1, sys);
	return s && *s == '\0';
}

static double read_uptime(const char *s)
{
	char *end;
	double v;

	if (!s || !*s)
		return NAN;
	v = strtod(s, &end);
	return *end ? NAN : v;
}

/* What no clock can have measured is not known. 1e9 s are 30 years. */
static double plausible(double seconds)
{
	return seconds >= 0 && seconds < 1e9 ? seconds : NAN;
}

static void read_durations(const struct kab_answer *a, struct kab_detach_result *r)
{
	double u0, s0, u1, s1;

	r->elapsed_s = plausible(read_uptime(kab_answer_get(a, "up1")) -
				 read_uptime(kab_answer_get(a, "up0")));
	r->user_s = r->system_s = NAN;
	if (read_times(kab_answer_get(a, "times0"), &u0, &s0) &&
	    read_times(kab_answer_get(a, "times1"), &u1, &s1)) {
		r->user_s = plausible(u1 - u0);
		r->system_s = plausible(s1 - s0);
	}
}

/*
 * What GNU time wrote: our "rss=N", and before it a sentence when the command did not end well. Its
 * own exit status is that of the command, or 128+n; the sentence tells a signal from exit(128+n).
 */
static void read_gnu_time(const struct kab_answer *a, struct kab_detach_result *r)
{
	static const char by_signal[] = "Command terminated by signal ";
	bool seen = false, signalled = false;

	for (size_t i = 0; i < a->lines.n; i++) {
		const char *s = a->lines.v[i];

		if (strncmp(s, "time=", 5) != 0)
			continue;
		s += 5;
		seen = true;
		if (strncmp(s, by_signal, strlen(by_signal)) == 0) {
			long number = strtol(s + strlen(by_signal), NULL, 10);

			signalled = number > 0 && number <= 64;
			r->signal = signalled ? (int)number : r->signal;
		} else if (strncmp(s, "rss=", 4) == 0) {
			char *end;
			long long kb = strtoll(s + 4, &end, 10);

			if (end != s + 4 && !*end && kb >= 0)
				r->max_rss_kb = kb;
		}
	}
	if (seen && r->max_rss_kb >= 0 && !signalled)
		r->signal = 0;
	else if (signalled)
		r->exit_status = 128 + r->signal;
}

static void copy(char *dst, size_t size, const char *src)
{
	snprintf(dst, size, "%s", src ? src : "");
}

static int64_t read_oom(const char *s)
{
	char *end;
	long long v;

	if (!s || strncmp(s, "oom_kill ", 9) != 0)
		return -1;
	v = strtoll(s + 9, &end, 10);
	return end == s + 9 || *end ? -1 : v;
}

int kab_detach_read_answer(const struct kab_answer *a, struct kab_detach_result *r,
			   struct kab_err *err)
{
	const char *state = kab_answer_get(a, "state");
	int64_t oom0, oom1, rc;
	size_t i;

	*r = (struct kab_detach_result){ .max_rss_kb = -1, .exit_status = -1 };
	r->elapsed_s = r->user_s = r->system_s = NAN;
	for (i = 0; i < KAB_ARRAY_SIZE(names); i++)
		if (state && strcmp(state, names[i]) == 0)
			break;
	if (i == KAB_ARRAY_SIZE(names))
		return kab_err_set(err, KAB_ERR_PARSE, "the target answered with state '%s'",
				   state ? state : "(none)");
	r->state = (enum kab_detach_state)i;
	r->group_alive = kab_answer_int(a, "alive", 0) != 0;
	if (r->state != KAB_DETACH_DONE)
		return 0;

	/* The record lies where the benchmark can write: what cannot be is no reason to stop. */
	rc = kab_answer_int(a, "rc", -1);
	r->exit_status = rc >= 0 && rc <= 255 ? (int)rc : -1;
	r->signal = r->exit_status > 128 && r->exit_status <= 128 + 64 ? r->exit_status - 128 : 0;
	r->timed_out = kab_answer_int(a, "timed_out", 0) != 0;
	r->killed = kab_answer_int(a, "killed", 0) != 0;
	r->background_died = kab_answer_int(a, "background_died", 0) != 0;
	r->cleanup_failed = (int)kab_answer_int(a, "cleanup_failed", 0);
	copy(r->step, sizeof(r->step), kab_answer_get(a, "step"));
	copy(r->boot_id, sizeof(r->boot_id), kab_answer_get(a, "boot"));
	read_durations(a, r);
	read_gnu_time(a, r);
	if (r->max_rss_kb < 0) {
		const char *why = kab_answer_get(a, "rss_missing");

		copy(r->rss_missing, sizeof(r->rss_missing), why ? why : "not measured");
	}
	oom0 = read_oom(kab_answer_get(a, "oom0"));
	oom1 = read_oom(kab_answer_get(a, "oom1"));
	r->oom_known = oom0 >= 0 && oom1 >= 0;
	r->oom = r->oom_known && oom1 > oom0;
	return 0;
}
