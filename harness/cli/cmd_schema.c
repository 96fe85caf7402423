/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The JSON Schemas of the files that users write, built into the program. */
#include <string.h>

#include "cli/cli.h"

extern const char kab_schema_suite[], kab_schema_lab[], kab_schema_kernel[], kab_schema_nightly[];
extern const size_t kab_schema_suite_len, kab_schema_lab_len, kab_schema_kernel_len,
	kab_schema_nightly_len;

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	const struct {
		const char *name, *text;
		size_t len;
	} schemas[] = {
		{ "suite", kab_schema_suite, kab_schema_suite_len },
		{ "lab", kab_schema_lab, kab_schema_lab_len },
		{ "kernel", kab_schema_kernel, kab_schema_kernel_len },
		{ "nightly", kab_schema_nightly, kab_schema_nightly_len },
	};
	const char *name = kab_args_at(args, 0);
	struct kab_err err = KAB_ERR_INIT;

	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		if (!strcmp(schemas[i].name, name)) {
			fwrite(schemas[i].text, 1, schemas[i].len, cli->out);
			return KAB_EXIT_OK;
		}
	}
	kab_err_set(&err, KAB_ERR_USAGE, "no schema '%s'; known are suite, lab, kernel, nightly",
		    name);
	return kab_cli_fail(cli, &err);
}

const struct kab_cmd kab_cmd_schema = {
	.name = "schema",
	.summary = "print the JSON Schema of a suite, a lab, a kernel or a nightly file",
	.synopsis = "suite | lab | kernel | nightly",
	.description =
		"For editors that check and complete JSON while it is written. What kab itself\n"
		"refuses or accepts is a little more than a schema can say: 'kab suites FILE' and\n"
		"'kab doctor' check a file for good.",
	.example = "  kab schema suite >suite.schema.json",
	.completes = "suite|lab|kernel|nightly",
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
