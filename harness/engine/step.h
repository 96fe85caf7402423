/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One iteration while it is under way: between step.c, which carries it out, and step_judge.c,
 * which says what became of it and stores that. No other file includes this.
 */
#ifndef KAB_ENGINE_STEP_H
#define KAB_ENGINE_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/detach.h"
#include "engine/lane.h"
#include "runners/runner.h"

#define KAB_STEP_CALL_S 60.0 /* for one call to the host */

/* Owned by step.c, which frees what it holds. */
struct kab_attempt {
	struct kab_lane *lane;
	struct kab_step_info *step;
	const struct kab_boot_info *boot;
	const struct kab_case *c;
	const struct kab_runner *runner;
	struct kab_params params;
	struct kab_command cmd;
	char *argv_json, *resolved;
	char run_id[96];
	double timeout_s;
	int64_t started_wall_ns;
	bool looked; /* the host was found quiet, or quiet enough */
	bool started; /* the host said so */
	bool rebooted; /* the host is in another boot than the one that was proven */
	struct kab_detach_result run;
	struct kab_buf streams[34];
	const char *stream_names[34];
	size_t n_streams;
};

/* Tell who watches. value: of the primary metric, in unit; NaN: none. reason may be NULL. */
void kab_step_event(struct kab_attempt *a, enum kab_event_kind kind, double value, const char *unit,
		    const char *reason);

/* The one place where an iteration gets its final state. parsed: NULL when nothing was read. */
int kab_step_commit(struct kab_attempt *a, enum kab_iter_state state, const char *reason,
		    const struct kab_parse_result *parsed, struct kab_err *err);

/* Parse what was fetched, look whether the condition held, and commit the outcome. */
int kab_step_judge(struct kab_attempt *a, struct kab_err *err);

#endif
