/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cli/cli.h"

static void option(FILE *f, const struct kab_opt *o)
{
	char left[64];

	if (o->letter)
		snprintf(left, sizeof(left), "-%c, --%s%s%s", o->letter, o->name, o->arg ? " " : "",
			 o->arg ? o->arg : "");
	else
		snprintf(left, sizeof(left), "--%s%s%s", o->name, o->arg ? " " : "",
			 o->arg ? o->arg : "");
	if (strlen(left) > 26)
		fprintf(f, "  %s\n  %-26s  %s\n", left, "", o->help);
	else
		fprintf(f, "  %-26s  %s\n", left, o->help);
	if (o->words)
		fprintf(f, "  %-26s  one of: %s\n", "", o->words);
}

void kab_cli_help(FILE *f, const struct kab_cmd *cmd)
{
	if (cmd) {
		fprintf(f, "usage: kab %s%s%s\n\n%s\n", cmd->name, *cmd->synopsis ? " " : "",
			cmd->synopsis, cmd->description);
		if (cmd->opts && cmd->opts->name)
			fprintf(f, "\nOptions:\n");
		for (const struct kab_opt *o = cmd->opts; o && o->name; o++)
			option(f, o);
		fprintf(f, "\nExample:\n%s\n", cmd->example);
		fprintf(f, "\nGlobal options: see 'kab help'.\n");
		return;
	}
	fprintf(f, "usage: kab COMMAND [ARGUMENTS]\n\n"
		   "Runs benchmarks on baseline and patched kernels and says what changed, and how "
		   "sure\n"
		   "that is.\n\nCommands:\n");
	for (const struct kab_cmd *const *c = kab_commands; *c; c++)
		fprintf(f, "  %-11s %s\n", (*c)->name, (*c)->summary);
	fprintf(f, "\nGlobal options, before or after the command:\n");
	for (const struct kab_opt *o = kab_global_opts; o->name; o++)
		option(f, o);
	fprintf(f,
		"\nExit status: 0 fine; 1 a regression (with --gate); 2 usage; 3 wrong input or\n"
		"configuration; 4 host or environment; 5 finished with failed or missing results;\n"
		"6 internal error; 7 another instance runs; 130 interrupted.\n"
		"\nA first run on this machine, the same kernel twice (shows the noise):\n"
		"  kab run quick --kernel base=running --kernel same=running\n");
}
