/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report that follows a run. */
#ifndef KAB_CLI_REPORT_RUN_H
#define KAB_CLI_REPORT_RUN_H

#include "cli/cli.h"

/* As `kab report RUN`, to cli->out. Returns the exit status. */
int kab_report_run(struct kab_cli *cli, const char *run_name, bool gate);

#endif
