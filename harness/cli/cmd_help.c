/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	const char *name = kab_args_at(args, 0);
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	struct kab_err err = KAB_ERR_INIT;
	const char *near;

	if (!name) {
		kab_cli_help(cli->out, NULL);
		return KAB_EXIT_OK;
	}
	for (const struct kab_cmd *const *c = kab_commands; *c; c++) {
		if (!strcmp((*c)->name, name)) {
			kab_cli_help(cli->out, *c);
			return KAB_EXIT_OK;
		}
	}
	for (const struct kab_cmd *const *c = kab_commands; *c; c++)
		kab_strv_add(&names, (*c)->name);
	near = kab_text_nearest(name, (const char *const *)kab_strv_argv(&names));
	if (near)
		kab_err_set(&err, KAB_ERR_USAGE, "there is no command '%s'; did you mean '%s'?",
			    name, near);
	else
		kab_err_set(&err, KAB_ERR_USAGE, "there is no command '%s'; see 'kab help'", name);
	return kab_cli_fail(cli, &err);
}

const struct kab_cmd kab_cmd_help = {
	.name = "help",
	.summary = "explain kab, or one command",
	.synopsis = "[COMMAND]",
	.description = "Prints the commands, or what one command takes and does.",
	.example = "  kab help run",
	.completes = "command",
	.min_pos = 0,
	.max_pos = 1,
	.run = run,
};
