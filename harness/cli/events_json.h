/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --events=json[:FILE]: each state change of each host as one JSON object a line, for a program that
 * watches a run. Every object has the same keys, in the same order; what does not apply is null:
 *
 *   time       UTC, RFC 3339 with milliseconds
 *   run        name of the run
 *   event      "run", "host", "boot", "iteration", "note"
 *   host, kernel, boot, condition, case, row, iteration, attempt, warmup
 *   state      run: running, complete, waiting, interrupted; host: connected, leased, lost,
 *              reconnected, done, needs-boot, stopped, failed; boot: proven; iteration: running, done,
 *              failed, missing
 *   metric, value, unit    of a finished iteration
 *   elapsed_s  of a finished iteration
 *   reason     a sentence: why it failed, what a note says
 *   done, total            steps of the host, warm-ups included
 */
#ifndef KAB_CLI_EVENTS_JSON_H
#define KAB_CLI_EVENTS_JSON_H

#include "cli/cli.h"
#include "engine/engine.h"

struct kab_events;

/* The option that run and resume share. */
#define KAB_EVENTS_OPT                                                                       \
	{                                                                                    \
		"events", '\0', "json[:FILE]",                                               \
			"each state change as a line of JSON, to stderr, FILE or fd:N", NULL \
	}

/* text: the option's value; NULL: *ret is NULL, and all below do nothing. FILE is appended to, created
 * with mode 0600; a FIFO needs its reader. -1: USAGE, ENV. */
int kab_events_open(struct kab_cli *cli, const char *text, struct kab_events **ret,
		    struct kab_err *err);
void kab_events_close(struct kab_events *events);

void kab_events_run(struct kab_events *events, const char *run, enum kab_run_state state);
void kab_events_engine(struct kab_events *events, const struct kab_event *e);

#endif
