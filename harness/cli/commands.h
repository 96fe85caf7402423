/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every command, declared once. */
#ifndef KAB_CLI_COMMANDS_H
#define KAB_CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct kab_cmd kab_cmd_run;
extern const struct kab_cmd kab_cmd_plan;
extern const struct kab_cmd kab_cmd_resume;
extern const struct kab_cmd kab_cmd_parse;
extern const struct kab_cmd kab_cmd_runners;
extern const struct kab_cmd kab_cmd_suites;
extern const struct kab_cmd kab_cmd_hosts;
extern const struct kab_cmd kab_cmd_kernels;
extern const struct kab_cmd kab_cmd_doctor;
extern const struct kab_cmd kab_cmd_schema;
extern const struct kab_cmd kab_cmd_completion;
extern const struct kab_cmd kab_cmd_backup;
extern const struct kab_cmd kab_cmd_prune;
extern const struct kab_cmd kab_cmd_export;
extern const struct kab_cmd kab_cmd_help;
extern const struct kab_cmd kab_cmd_import;
extern const struct kab_cmd kab_cmd_list;
extern const struct kab_cmd kab_cmd_reparse;
extern const struct kab_cmd kab_cmd_reply;
extern const struct kab_cmd kab_cmd_show;
extern const struct kab_cmd kab_cmd_report;
extern const struct kab_cmd kab_cmd_plot;
extern const struct kab_cmd kab_cmd_check;
extern const struct kab_cmd kab_cmd_compare;
extern const struct kab_cmd kab_cmd_history;
extern const struct kab_cmd kab_cmd_bisect;
extern const struct kab_cmd kab_cmd_nightly;
extern const struct kab_cmd kab_cmd_stats;
extern const struct kab_cmd kab_cmd_render;
extern const struct kab_cmd kab_cmd_version;

#endif
