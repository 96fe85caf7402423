/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/find_run.h"
#include "exchange/reparse.h"

static void report(void *ctx, const struct kab_step_info *s, enum kab_reparse_change change,
		   const char *text)
{
	static const char *const words[] = { "same", "confirmed", "changed", "skipped" };
	struct kab_cli *cli = ctx;
	struct kab_buf kab_autobuf line = KAB_BUF_INIT;

	if (change != KAB_REPARSE_CHANGED && change != KAB_REPARSE_SKIPPED && cli->verbosity < 1)
		return;
	kab_text_escape(&line, s->case_name, strlen(s->case_name));
	if (*s->row_key) {
		kab_buf_addc(&line, ' ');
		kab_text_escape(&line, s->row_key, strlen(s->row_key));
	}
	kab_buf_addf(&line, " %s %d: %s", s->warmup ? "warm-up" : "iteration", s->iteration,
		     words[change]);
	if (text && *text) {
		kab_buf_adds(&line, ": ");
		kab_text_escape(&line, text, strlen(text));
	}
	fprintf(cli->out, "%6lld  %s\n", (long long)s->id, kab_buf_str(&line));
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_reparse_counts counts;
	struct kab_run_info info;
	struct kab_store *store;
	int rc;

	if (kab_cli_open_store(cli, KAB_STORE_CHANGE, &store, &err))
		return kab_cli_fail(cli, &err);
	rc = kab_cli_find_measured(cli, store, kab_args_at(args, 0), &info, &err);
	if (!rc) {
		rc = kab_reparse_run(store, info.id, report, cli, &counts, &err);
		kab_run_info_release(&info);
	}
	kab_store_close(store);
	if (rc)
		return kab_cli_fail(cli, &err);
	fprintf(cli->out,
		"%zu changed, %zu confirmed by a newer parser, %zu as they were, %zu skipped\n",
		counts.n[KAB_REPARSE_CHANGED], counts.n[KAB_REPARSE_CONFIRMED],
		counts.n[KAB_REPARSE_SAME], counts.n[KAB_REPARSE_SKIPPED]);
	return kab_cli_finish(cli, KAB_EXIT_OK);
}

const struct kab_cmd kab_cmd_reparse = {
	.name = "reparse",
	.summary = "read the stored output of a run again with the parsers of this kab",
	.synopsis = "RUN",
	.description =
		"Every finished iteration of the run is read again. Old readings stay in the\n"
		"database; reports use the newest. What changed is listed. An iteration that\n"
		"failed only because its output could not be read may come to count; one that\n"
		"was killed or ran into its timeout never does.",
	.example = "  kab reparse latest",
	.completes = "run",
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
