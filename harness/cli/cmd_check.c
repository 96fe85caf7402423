/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "exchange/check.h"

static int check_one(struct kab_cli *cli, const char *bytes, size_t n, bool json,
		     struct kab_buf *out, struct kab_err *err)
{
	struct kab_mail_tables tables = { 0 };
	struct kab_mail_lines lines = { 0 };
	struct kab_check check = { 0 };
	struct kab_mail mail;

	if (kab_mail_parse(bytes, n, &mail, err) < 0)
		return -1;
	if (mail.rejoined)
		kab_cli_warn(cli, "the line breaks of this mail are lost; they were guessed from "
				  "quote marks and rules");
	if (mail.misread)
		kab_cli_warn(cli,
			     "some bytes do not belong to the mail's charset; read as Latin-1");
	kab_mail_lines(&mail.body, &lines);
	kab_mail_tables_find(&lines, &tables);
	kab_check_tables(&lines, &tables, &check);
	if (json)
		kab_check_json(&tables, &check, out);
	else
		kab_check_text(&tables, &check, out);
	kab_check_release(&check);
	kab_mail_tables_release(&tables);
	free(lines.v);
	kab_mail_release(&mail);
	return 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_buf kab_autobuf bytes = { .max = KAB_MAIL_BYTES_MAX }, out = KAB_BUF_INIT;
	struct kab_mail_spans spans = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	bool json = kab_args_flag(args, "json");
	const char *path = kab_args_at(args, 0);
	int status = 0;

	if (kab_file_read(path, &bytes, &err) < 0)
		return kab_cli_fail(cli, &err);
	if (bytes.cut) {
		kab_err_set(&err, KAB_ERR_PARSE, "'%s' is larger than 16 MB", path);
		return kab_cli_fail(cli, &err);
	}
	kab_mail_split(kab_buf_str(&bytes), bytes.len, &spans);
	for (size_t i = 0; i < spans.n && status == 0; i++) {
		if (spans.n > 1 && !json)
			kab_buf_addf(&out, "%sMessage %zu:\n\n", i ? "\n" : "", i + 1);
		status = check_one(cli, kab_buf_str(&bytes) + spans.v[i].from, spans.v[i].len, json,
				   &out, &err);
	}
	free(spans.v);
	if (status < 0) {
		kab_err_prefix(&err, "%s", path);
		return kab_cli_fail(cli, &err);
	}
	fwrite(kab_buf_str(&out), 1, out.len, cli->out);
	return kab_cli_finish(cli, KAB_EXIT_OK);
}

static const struct kab_opt opts[] = {
	{ "json", 'j', NULL, "everything at full precision, for programs; one object per mail",
	  NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_check = {
	.name = "check",
	.summary = "recompute the tables of a mail",
	.synopsis = "FILE [--json]",
	.description =
		"Reads a mail, an mbox or a text (- is standard input), finds the tables in it,\n"
		"recomputes percentages, means, standard deviations and tests where the numbers "
		"for\n"
		"them are there, and says what does not add up and what the numbers can "
		"support.\n"
		"A percentage that rounding of the cells explains is never called wrong.",
	.example = "  kab check reply.eml\n  kab check --json - <thread.mbox",
	.completes = "file",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
