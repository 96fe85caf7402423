/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Progress of a run on stderr: on a terminal one line a host, redrawn; elsewhere one plain line for
 * each finished iteration, and one a minute while an iteration is silent.
 */
#ifndef KAB_CLI_PROGRESS_H
#define KAB_CLI_PROGRESS_H

#include "cli/cli.h"
#include "engine/engine.h"

struct kab_progress;

struct kab_progress *kab_progress_new(struct kab_cli *cli);
/* For kab_engine_opts; ctx is the progress. */
void kab_progress_event(void *ctx, const struct kab_event *event);
void kab_progress_tick(void *ctx);
/* The last state stays on the screen. */
void kab_progress_end(struct kab_progress *p);

#endif
