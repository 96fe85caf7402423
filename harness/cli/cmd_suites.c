/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/alloc.h"
#include "cli/setup.h"

static int list_dir(struct kab_cli *cli, const char *dir, struct kab_strv *seen)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	int status = KAB_EXIT_OK;

	kab_setup_suite_names(dir, &names);
	for (size_t i = 0; i < names.n; i++) {
		char *file kab_autofree = kab_xasprintf("%s/%s.json", dir, names.v[i]);
		struct kab_suite suite = { 0 };
		struct kab_err err = KAB_ERR_INIT;

		/* A suite of the same name in an earlier folder is the one that would run. */
		if (kab_strv_has(seen, names.v[i]))
			continue;
		kab_strv_add(seen, names.v[i]);
		if (kab_setup_suite(file, &suite, &err) < 0) {
			kab_cli_warn(cli, "%s", err.text);
			status = KAB_EXIT_INPUT;
			continue;
		}
		fprintf(cli->out, "%-20s %s (%zu row%s, %s)\n", names.v[i], suite.summary,
			suite.instances_n, suite.instances_n == 1 ? "" : "s", file);
		kab_suite_release(&suite);
	}
	return status;
}

static void none_found(struct kab_cli *cli, const struct kab_strv *dirs)
{
	char *where kab_autofree = kab_strv_join(dirs, ", ");

	kab_cli_say(cli, "kab: no suites in %s; name a folder of them in KAB_SUITES", where);
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_strv kab_autostrv dirs = KAB_STRV_INIT, seen = KAB_STRV_INIT;
	struct kab_suite suite = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	int status = KAB_EXIT_OK;

	if (kab_args_n(args)) {
		if (kab_setup_suite(kab_args_at(args, 0), &suite, &err) < 0)
			return kab_cli_fail(cli, &err);
		fprintf(cli->out,
			"%s%s%s\n%d boot%s x %d iteration%s, %d warm-up%s; margin %g %%\n",
			suite.name, *suite.summary ? ": " : "", suite.summary, suite.boots,
			suite.boots == 1 ? "" : "s", suite.iterations,
			suite.iterations == 1 ? "" : "s", suite.warmup,
			suite.warmup == 1 ? "" : "s", suite.margin_pct);
		for (size_t i = 0; i < suite.instances_n; i++)
			fprintf(cli->out, "  %s%s%s (%s)\n",
				suite.cases[suite.instances[i].case_index].name,
				*suite.instances[i].row_key ? " " : "", suite.instances[i].row_key,
				suite.cases[suite.instances[i].case_index].runner);
		kab_suite_release(&suite);
		return KAB_EXIT_OK;
	}
	kab_setup_suite_dirs(&dirs);
	for (size_t i = 0; i < dirs.n; i++) {
		int one = list_dir(cli, dirs.v[i], &seen);

		status = one ? one : status;
	}
	if (!seen.n)
		none_found(cli, &dirs);
	return status;
}

const struct kab_cmd kab_cmd_suites = {
	.name = "suites",
	.summary = "list the suites that can be named, or the rows of one",
	.synopsis = "[SUITE]",
	.description =
		"Lists the suites in $KAB_SUITES, ./suites, the user's and the installed folder; "
		"a\n"
		"name is taken from the first folder that has it. With SUITE: check it, and print\n"
		"its rows. Exits with 3 when a suite has an error.",
	.example = "  kab suites hackbench-groups",
	.completes = "suite",
	.min_pos = 0,
	.max_pos = 1,
	.run = run,
};
