/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/alloc.h"
#include "base/clock.h"
#include "cli/cli.h"

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	const char *to = kab_args_at(args, 0);
	char *path kab_autofree = kab_xstrdup(to);
	struct kab_err err = KAB_ERR_INIT;
	struct kab_store *store;
	int rc;

	if (kab_cli_open_store(cli, KAB_STORE_READ, &store, &err))
		return kab_cli_fail(cli, &err);
	if (!path) {
		char now[24];

		kab_format_utc(kab_now_wall_ns(), now);
		path = kab_xasprintf("%s.%s", kab_store_path(store), now);
	}
	rc = kab_store_backup(store, path, &err);
	kab_store_close(store);
	if (rc)
		return kab_cli_fail(cli, &err);
	fprintf(cli->out, "%s\n", path);
	return kab_cli_finish(cli, KAB_EXIT_OK);
}

const struct kab_cmd kab_cmd_backup = {
	.name = "backup",
	.summary = "copy the database to another file, also while it is in use",
	.synopsis = "[FILE]",
	.description =
		"The copy is of one moment, complete, and a single file; its name is printed.\n"
		"Without FILE it lies beside the database. A file that is there is never\n"
		"overwritten. To go back to it, pass it with --db or put it in place.",
	.example = "  kab backup /srv/backup/kab.db",
	.completes = "file",
	.min_pos = 0,
	.max_pos = 1,
	.run = run,
};
