/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From what a parser saw and the exit status to a status and a sentence: the same rules for every
 * tool. A failure beats a result, a signal beats a result, and a status of 0 proves nothing.
 */
#ifndef KAB_RUNNERS_OUTCOME_H
#define KAB_RUNNERS_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "runners/runner.h"

struct kab_outcome {
	char *failure; /* owned; the first sign of failure in the output, or NULL */
	char *missing; /* owned; results are there, but this is not, or NULL */
	char *nothing; /* owned; why there is no result though the tool ran to its end, or NULL */
	char *truncated; /* owned; why a run that printed figures is cut all the same, or NULL */
	size_t begun; /* runs of which a header was seen */
	size_t finished; /* runs of which the result was seen */
	bool started; /* the output is that of a run, with or without a header */
};

/* Keep the first; text is taken, NULL is ignored. */
void kab_outcome_fail(struct kab_outcome *outcome, char *failure);
void kab_outcome_missing(struct kab_outcome *outcome, char *missing);
void kab_outcome_nothing(struct kab_outcome *outcome, char *nothing);
void kab_outcome_truncated(struct kab_outcome *outcome, char *truncated);
/* Fills ret->status and ret->message, drops samples that may not be used, releases outcome.
 * `what` names a result in sentences: "Time: line". */
void kab_outcome_finish(struct kab_outcome *outcome, const struct kab_outputs *outputs,
			int exit_status, const char *what, struct kab_parse_result *ret);

/* The status is one of a process that somebody ended (not one that crashed). */
bool kab_exit_was_ended(int exit_status);
/* "exit status 3" or "signal 9"; caller frees. */
char *kab_exit_text(int exit_status);

#endif
