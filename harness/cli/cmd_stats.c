/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/read_numbers.h"
#include "reports/samples.h"
#include "stats/stats.h"

struct wanted {
	int64_t column;
	double confidence, margin;
	int dir;
	bool boots, json, picture;
};

static int options(const struct kab_args *args, struct wanted *w, struct kab_err *err)
{
	const char *dir = kab_args_get(args, "direction");

	w->boots = kab_args_flag(args, "boots");
	w->json = kab_args_flag(args, "json");
	w->picture = !kab_args_flag(args, "no-picture");
	w->dir = !dir ? 0 : !strcmp(dir, "lower") ? -1 : 1;
	if (kab_args_int(args, "column", 1, 10000, w->boots ? 2 : 1, &w->column, err) < 0 ||
	    kab_args_num(args, "confidence", 50.1, 99.9999, 95, &w->confidence, err) < 0 ||
	    kab_args_num(args, "margin", 0, 99, 2, &w->margin, err) < 0)
		return -1;
	if (w->boots && w->column == 1)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "with --boots the first column names the boot; the value is in "
				   "column 2 or later");
	return 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	struct kab_samples_report report = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	size_t n = kab_args_n(args);
	struct kab_numbers *numbers;
	struct wanted w;
	int status = -1;

	if (options(args, &w, &err) < 0)
		return kab_cli_fail(cli, &err);
	kab_stats_init();
	report.v = kab_xcalloc(n, sizeof(*report.v));
	report.boots = w.boots;
	report.confidence_given = kab_args_get(args, "confidence") != NULL;
	report.opts = (struct kab_compare_opts)KAB_COMPARE_OPTS_INIT;
	report.opts.dir = w.dir;
	report.opts.confidence = w.confidence / 100;
	/* The verdict stays at 95 %: --confidence adds intervals, it does not move the judgement. */
	report.opts.alpha = 0.05;
	report.opts.margin = w.margin / 100;
	report.opts.unit = w.boots ? KAB_UNIT_BOOTS : KAB_UNIT_VALUES;
	numbers = kab_xcalloc(n, sizeof(*numbers));
	for (size_t i = 0; i < n; i++) {
		const char *path = kab_args_at(args, i);

		if (kab_numbers_read(path, (size_t)w.column, w.boots, &numbers[i], &err) < 0)
			goto out;
		if (numbers[i].short_lines)
			kab_cli_warn(cli, "%s: %zu line%s without a column %lld, skipped", path,
				     numbers[i].short_lines, numbers[i].short_lines == 1 ? "" : "s",
				     (long long)w.column);
		kab_sample_report_init(&report.v[i], path, numbers[i].v, numbers[i].boot,
				       numbers[i].n, numbers[i].n_boots, report.opts.confidence);
		report.n++;
	}
	kab_samples_report_compare(&report);
	if (w.json)
		kab_samples_report_json(&report, &out);
	else
		kab_samples_report_text(&report, w.picture, &out);
	fwrite(kab_buf_str(&out), 1, out.len, cli->out);
	status = kab_cli_finish(cli, KAB_EXIT_OK);
out:
	if (status < 0)
		status = kab_cli_fail(cli, &err);
	kab_samples_report_release(&report);
	for (size_t i = 0; i < n; i++)
		kab_numbers_release(&numbers[i]);
	free(numbers);
	return status;
}

static const struct kab_opt opts[] = {
	{ "json", 'j', NULL, "everything at full precision, for programs", NULL },
	{ "direction", 'd', "WHICH", "which is better; without it there is no verdict",
	  "lower|higher" },
	{ "confidence", 'c', "P", "confidence in percent (95)", NULL },
	{ "margin", 'm', "PCT", "smallest change of interest in percent (2)", NULL },
	{ "column", 'C', "N", "column of the values, from 1 (2 with --boots)", NULL },
	{ "boots", 'b', NULL, "the first column names the boot that a value is from", NULL },
	{ "no-picture", 'n', NULL, "numbers only", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_stats = {
	.name = "stats",
	.summary = "compare plain files of numbers",
	.synopsis = "[--json] [--direction lower|higher] [--boots] [OPTIONS] A [B...]",
	.description =
		"Reads one number per line (a column of words between blanks; # begins a comment;\n"
		"- is standard input), describes each file, and compares every further file with\n"
		"the first. Plain values are treated as independent; with --boots the first "
		"column\n"
		"says which boot a value is from, and boots are what is compared.",
	.example = "  kab stats before.txt after.txt --direction lower\n"
		   "  kab stats --boots --json base patched",
	.completes = "file",
	.opts = opts,
	.min_pos = 1,
	.max_pos = -1,
	.run = run,
};
