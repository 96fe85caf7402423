/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/cli.h"
#include "reports/read_table.h"
#include "reports/style.h"

/* Styles that find their columns by name would print a table of others without its numbers. */
static int check_columns(const struct kab_style *style, const struct kab_table *t,
			 const char *where, struct kab_err *err)
{
	static const struct {
		const char *style, *columns[5];
	} needs[] = {
		{ "lkp", { "base", "change", "test", "metric" } },
		{ "gain", { "load", "kernel", "mean" } },
		{ "perfstat", { "load", "kernel", "mean" } },
		{ "ministat", { "load", "kernel", "mean" } },
		{ "stacked", { "load", "kernel", "mean" } },
	};

	for (size_t i = 0; i < KAB_ARRAY_SIZE(needs); i++) {
		for (size_t n = 0; !strcmp(needs[i].style, style->name) && needs[i].columns[n];
		     n++) {
			bool found = false;

			for (size_t c = 0; c < t->n_cols; c++)
				found |= !strcmp(t->cols[c].name, needs[i].columns[n]);
			if (!found)
				return kab_err_set_at(err, KAB_ERR_CONFIG, where,
						      "%s: $.columns: the style '%s' needs a "
						      "column '%s'; plain, grid, org and markdown "
						      "take any",
						      where, style->name, needs[i].columns[n]);
		}
	}
	return 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	const struct kab_style *style = kab_style_find(kab_args_at(args, 0));
	const char *path = kab_args_at(args, 1);
	struct kab_buf kab_autobuf text = KAB_BUF_INIT, out = KAB_BUF_INIT;
	struct kab_err err = KAB_ERR_INIT;
	struct kab_table t = { 0 };

	if (!style) {
		char *names = kab_style_names();

		kab_err_set(&err, KAB_ERR_USAGE, "unknown style '%s'; it is one of %s",
			    kab_args_at(args, 0), names);
		free(names);
		return kab_cli_fail(cli, &err);
	}
	if (kab_file_read(path, &text, &err) < 0 ||
	    kab_table_from_json(kab_buf_str(&text), text.len, path, &t, &err) < 0 ||
	    check_columns(style, &t, path, &err) < 0) {
		kab_table_release(&t);
		return kab_cli_fail(cli, &err);
	}
	style->render(&t, kab_args_flag(args, "exact"), &out);
	fwrite(kab_buf_str(&out), 1, out.len, cli->out);
	kab_table_release(&t);
	return kab_cli_finish(cli, KAB_EXIT_OK);
}

static const struct kab_opt opts[] = {
	{ "exact", '\0', NULL, "byte for byte in the layout of the tool the style is named after",
	  NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_render = {
	.name = "render",
	.summary = "print a table from a JSON file in any style",
	.synopsis = "STYLE [--exact] FILE.json",
	.description =
		"FILE.json is one object: columns (names), rows (lists of cells in that order),\n"
		"and optionally header and footer (literal lines above and below the rows),\n"
		"benchmark, unit and better. Numbers given as texts are printed as they stand.\n"
		"FILE - is standard input. A legend stands above the table.",
	.example = "  kab render grid table.json\n  kab render mmtests --exact table.json",
	.completes = "style",
	.opts = opts,
	.min_pos = 2,
	.max_pos = 2,
	.run = run,
};
