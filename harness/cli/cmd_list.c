/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"

static int print_runs(struct kab_cli *cli, struct kab_store *store, int64_t max,
		      struct kab_err *err)
{
	struct kab_run_info *runs;
	size_t n, width = 4;

	/* One more than is shown, to know whether there are more. */
	if (kab_store_list_runs(store, max ? (size_t)max + 1 : 0, &runs, &n, err))
		return kab_cli_fail(cli, err);
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(runs[i].name);

		width = len > width && len <= 40 ? len : width;
	}
	if (n)
		fprintf(cli->out, "%4s  %-*s  %-11s  %-20s  %9s  %6s  %s\n", "id", (int)width,
			"name", "state", "created (UTC)", "done", "failed", "suite");
	for (size_t i = 0; i < n; i++) {
		const struct kab_run_info *r = &runs[i];
		struct kab_buf kab_autobuf name = KAB_BUF_INIT, suite = KAB_BUF_INIT;
		char *done kab_autofree = kab_xasprintf(
			"%zu/%zu", r->n_done + r->n_failed + r->n_missing, r->n_iterations);
		char created[24];

		if (max && i == (size_t)max)
			break;
		kab_text_escape_line(&name, r->name);
		kab_text_escape_line(&suite, r->suite_name);
		/* Summaries are no iterations that could be counted. */
		if (r->n_summaries)
			kab_buf_addf(&suite, " (%zu summar%s)", r->n_summaries,
				     r->n_summaries == 1 ? "y" : "ies");
		kab_format_utc(r->created_wall_ns, created);
		fprintf(cli->out, "%4lld  %-*s  %-11s  %-20s  %9s  %6zu  %s%s\n", (long long)r->id,
			(int)width, kab_buf_str(&name), kab_run_state_name(r->state), created, done,
			r->n_failed + r->n_missing, kab_buf_str(&suite),
			r->state != KAB_RUN_RUNNING && r->n_iterations == r->n_pending &&
					!r->n_summaries
				? " (nothing done yet)"
				: "");
	}
	if (!n)
		kab_cli_say(cli, "no runs yet in '%s'", kab_store_path(store));
	if (max && n > (size_t)max)
		kab_cli_say(cli, "there are older runs: --all shows them");
	for (size_t i = 0; i < n; i++)
		kab_run_info_release(&runs[i]);
	free(runs);
	return KAB_EXIT_OK;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_store *store;
	int64_t max;
	int status;

	if (kab_args_int(args, "max", 1, 1000000, 20, &max, &err))
		return kab_cli_fail(cli, &err);
	if (kab_args_flag(args, "all"))
		max = 0;
	if (kab_cli_open_store(cli, KAB_STORE_READ, &store, &err)) {
		/* Before the first run there is nothing to list, which is no error; a database that
		 * the user names should be there. */
		if (err.code != KAB_ERR_NOT_FOUND || cli->db_path)
			return kab_cli_fail(cli, &err);
		kab_cli_say(cli, "%s", err.text);
		return KAB_EXIT_OK;
	}
	status = print_runs(cli, store, max, &err);
	kab_store_close(store);
	return kab_cli_finish(cli, status);
}

static const struct kab_opt opts[] = {
	{ "max", 'n', "N", "the newest N runs (20)", NULL },
	{ "all", '\0', NULL, "all runs", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_list = {
	.name = "list",
	.summary = "list the runs of the database",
	.synopsis = "[--max N | --all]",
	.description =
		"Newest first. 'done' counts iterations that have a final state, warm-ups not\n"
		"included, 'failed' those of them that failed or will not be run. Commands that\n"
		"take a RUN accept its name, its id, or 'latest', for those that want results the\n"
		"newest run that measured something.",
	.example = "  kab list --max 5",
	.opts = opts,
	.min_pos = 0,
	.max_pos = 0,
	.run = run,
};
