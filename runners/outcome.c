/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/outcome.h"

#include <signal.h>

#include "base/alloc.h"
#include "runners/scan.h"

static void keep_first(char **slot, char *text)
{
	if (*slot)
		free(text);
	else
		*slot = text;
}

void kab_outcome_fail(struct kab_outcome *outcome, char *failure)
{
	keep_first(&outcome->failure, failure);
}

void kab_outcome_missing(struct kab_outcome *outcome, char *missing)
{
	keep_first(&outcome->missing, missing);
}

void kab_outcome_nothing(struct kab_outcome *outcome, char *nothing)
{
	keep_first(&outcome->nothing, nothing);
}

void kab_outcome_truncated(struct kab_outcome *outcome, char *truncated)
{
	keep_first(&outcome->truncated, truncated);
}

bool kab_exit_was_ended(int exit_status)
{
	/* 124 is what timeout(1) returns for a command that it had to end. */
	if (exit_status == 124)
		return true;
	switch (exit_status - 128) {
	case SIGHUP:
	case SIGINT:
	case SIGQUIT:
	case SIGKILL:
	case SIGPIPE:
	case SIGALRM:
	case SIGTERM:
	case SIGXCPU:
		return true;
	default:
		return false;
	}
}

char *kab_exit_text(int exit_status)
{
	if (exit_status == 124)
		return kab_xstrdup("exit status 124 (timeout)");
	if (exit_status > 128 && exit_status <= 128 + 64)
		return kab_xasprintf("signal %d", exit_status - 128);
	return kab_xasprintf("exit status %d", exit_status);
}

static void settle(struct kab_parse_result *ret, enum kab_parse_status status, char *message)
{
	ret->status = status;
	free(ret->message);
	ret->message = message;
	if (status != KAB_PARSE_OK && status != KAB_PARSE_PARTIAL)
		kab_samples_release(&ret->samples);
}

void kab_outcome_finish(struct kab_outcome *o, const struct kab_outputs *outputs, int exit_status,
			const char *what, struct kab_parse_result *ret)
{
	char *exit_text kab_autofree = kab_exit_text(exit_status);
	bool ended = kab_exit_was_ended(exit_status);

	if (o->failure) {
		settle(ret, KAB_PARSE_TOOL_FAILED, o->failure);
		o->failure = NULL;
	} else if (exit_status > 0 && !ended) {
		settle(ret, KAB_PARSE_TOOL_FAILED, kab_xasprintf("ended with %s", exit_text));
	} else if (o->truncated) {
		settle(ret, KAB_PARSE_TRUNCATED, o->truncated);
		o->truncated = NULL;
	} else if (!o->finished && (ended || kab_scan_cut(outputs))) {
		settle(ret, KAB_PARSE_TRUNCATED,
		       ended ? kab_xasprintf("ended by %s before the %s", exit_text, what)
			     : kab_xasprintf("the output was cut at the cap before the %s", what));
	} else if (!o->finished && o->nothing) {
		settle(ret, KAB_PARSE_NO_RESULT, o->nothing);
		o->nothing = NULL;
	} else if (!o->finished && (o->begun || o->started)) {
		settle(ret, KAB_PARSE_TRUNCATED,
		       kab_xasprintf("the output stops before the %s", what));
	} else if (!o->finished) {
		settle(ret, KAB_PARSE_NO_RESULT, kab_xasprintf("no %s in the output", what));
	} else if (ended) {
		settle(ret, KAB_PARSE_TOOL_FAILED,
		       kab_xasprintf("ended by %s; the figures are not of a complete run",
				     exit_text));
	} else if (o->missing) {
		settle(ret, KAB_PARSE_PARTIAL, o->missing);
		o->missing = NULL;
	} else if (o->begun > o->finished) {
		settle(ret, KAB_PARSE_PARTIAL,
		       kab_xasprintf("%zu runs began and %zu printed their %s", o->begun,
				     o->finished, what));
	} else if (kab_scan_cut(outputs)) {
		settle(ret, KAB_PARSE_PARTIAL,
		       kab_xstrdup("the output was longer than the cap; its end is missing"));
	} else {
		settle(ret, KAB_PARSE_OK, NULL);
	}
	free(o->failure);
	free(o->missing);
	free(o->nothing);
	free(o->truncated);
	*o = (struct kab_outcome){ 0 };
}
