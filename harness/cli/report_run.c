/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_run.h"

#include "cli/commands.h"

int kab_report_run(struct kab_cli *cli, const char *run_name, bool gate)
{
	(void)gate;
	kab_cli_say(cli, "kab: see 'kab report %s'", run_name);
	return KAB_EXIT_OK;
}
