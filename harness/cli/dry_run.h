/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run would do, for --dry-run. */
#ifndef KAB_CLI_DRY_RUN_H
#define KAB_CLI_DRY_RUN_H

#include "cli/cli.h"
#include "engine/engine.h"

/* store may be NULL: durations are then guesses of the runners. */
void kab_dry_run_print(struct kab_cli *cli, const struct kab_engine_new *what,
		       struct kab_store *store);

#endif
