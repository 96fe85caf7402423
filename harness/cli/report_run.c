/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_run.h"

#include "cli/reporting.h"

int kab_report_run(struct kab_cli *cli, const char *run_name, bool gate)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_reporting r;

	if (kab_reporting_options(NULL, &r, &err) < 0)
		return kab_cli_fail(cli, &err);
	r.gate = gate;
	return kab_reporting_run(cli, run_name, &r);
}
