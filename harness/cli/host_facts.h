/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The facts of one host of the lab, for commands that look at a host without running a plan. */
#ifndef KAB_CLI_HOST_FACTS_H
#define KAB_CLI_HOST_FACTS_H

#include "cli/cli.h"
#include "model/facts.h"

/* Connects to `host` (of --lab, or "local"), probes it, and closes. Blocks, with a deadline.
 * 0 with *ret filled (caller releases), or -1. */
int kab_cli_host_facts(struct kab_cli *cli, const char *host, struct kab_facts *ret,
		       struct kab_err *err);

#endif
