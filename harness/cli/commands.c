/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of commands: the order here is the order of `kab help`. */
#include "cli/commands.h"

const struct kab_cmd *const kab_commands[] = {
	&kab_cmd_run,
	&kab_cmd_plan,
	&kab_cmd_resume,
	&kab_cmd_list,
	&kab_cmd_show,
	&kab_cmd_report,
	&kab_cmd_compare,
	&kab_cmd_history,
	&kab_cmd_bisect,
	&kab_cmd_plot,
	&kab_cmd_nightly,
	&kab_cmd_stats,
	&kab_cmd_render,
	&kab_cmd_check,
	&kab_cmd_reply,
	&kab_cmd_parse,
	&kab_cmd_reparse,
	&kab_cmd_import,
	&kab_cmd_export,
	&kab_cmd_backup,
	&kab_cmd_prune,
	&kab_cmd_runners,
	&kab_cmd_suites,
	&kab_cmd_hosts,
	&kab_cmd_kernels,
	&kab_cmd_doctor,
	&kab_cmd_schema,
	&kab_cmd_completion,
	&kab_cmd_help,
	&kab_cmd_version,
	NULL,
};

const struct kab_opt kab_global_opts[] = {
	{ "db", '\0', "PATH", "the database (else $KAB_DB, else the XDG data folder)", NULL },
	{ "lab", '\0', "PATH",
	  "the lab file (else $KAB_LAB, else kab/lab.json in the XDG config folder)", NULL },
	{ "quiet", 'q', NULL, "say less on stderr", NULL },
	{ "verbose", 'v', NULL, "say more on stderr; twice: still more", NULL },
	{ "color", '\0', "WHEN", "colour on stderr", "auto|always|never" },
	{ 0 },
};
