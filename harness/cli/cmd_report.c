/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/reporting.h"

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_reporting r;

	if (kab_reporting_options(args, &r, &err) < 0)
		return kab_cli_fail(cli, &err);
	return kab_reporting_run(cli, kab_args_at(args, 0), &r);
}

static const struct kab_opt opts[] = { KAB_REPORTING_OPTS };

const struct kab_cmd kab_cmd_report = {
	.name = "report",
	.summary = "judge a run and print its tables",
	.synopsis = "[RUN] [--style S] [--format F] [--gate] [--explain ROW] ...",
	.description =
		"Prints what was measured on what, a summary, and the tables of a run (the newest\n"
		"one without RUN). The first kernel of the run is the baseline. + is always "
		"better.\n"
		"The unit of analysis is the boot: with one boot per kernel there is no verdict.\n"
		"Styles: plain grid org markdown describe runs mmtests norm schedtests fastpath "
		"lkp\n"
		"percentiles stacked minmax gain perfstat ministat.\n"
		"Exit status: 5 when something failed or is missing, else 1 with --gate when a "
		"row\n"
		"regressed.",
	.example = "  kab report nightly-3 --style mmtests\n"
		   "  kab report --explain groups=4\n"
		   "  kab report --format json | jq .summary\n"
		   "  kab report --format html --output report.html",
	.completes = "run",
	.opts = opts,
	.min_pos = 0,
	.max_pos = 1,
	.run = run,
};
