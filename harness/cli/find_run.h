/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs by the names that people give. */
#ifndef KAB_CLI_FIND_RUN_H
#define KAB_CLI_FIND_RUN_H

#include "cli/cli.h"

/* name NULL: the newest run. Says what the name was resolved to when that is not obvious. 0 and
 * *ret filled (caller releases), or -1: NOT_FOUND naming the nearest run, or STORE. */
int kab_cli_find_run(struct kab_cli *cli, struct kab_store *store, const char *name,
		     struct kab_run_info *ret, struct kab_err *err);
/* The same for who wants results: the newest run ("latest", NULL) is the newest of which an iteration
 * has ended or a summary was imported. A start that was refused does not hide what was measured before
 * it; it is named. */
int kab_cli_find_measured(struct kab_cli *cli, struct kab_store *store, const char *name,
			  struct kab_run_info *ret, struct kab_err *err);

#endif
