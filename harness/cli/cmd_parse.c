/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "runners/runner.h"

/* As a JSON string; what is not UTF-8 is escaped first, so that the output is always strict. */
static void add_string(struct kab_buf *out, const char *text)
{
	json_t *value = text ? json_string(text) : json_null();
	char *dump;

	if (!value) {
		struct kab_buf kab_autobuf safe = KAB_BUF_INIT;

		kab_text_escape(&safe, text, strlen(text));
		value = json_string(kab_buf_str(&safe));
	}
	dump = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	kab_buf_adds(out, dump ? dump : "null");
	free(dump);
	json_decref(value);
}

/* The shortest decimal text that reads back as the same number. */
static void add_number(struct kab_buf *out, double value)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	kab_buf_adds(out, text);
}

static void add_result(struct kab_buf *out, const struct kab_runner *runner,
		       const struct kab_parse_result *result)
{
	kab_buf_adds(out, "{\"runner\":");
	add_string(out, runner->name);
	kab_buf_addf(out, ",\"status\":\"%s\",\"metrics\":[",
		     kab_parse_status_name(result->status));
	for (size_t i = 0; i < result->samples.n; i++) {
		const struct kab_sample *s = &result->samples.v[i];

		kab_buf_adds(out, i ? ",{\"name\":" : "{\"name\":");
		add_string(out, s->metric);
		kab_buf_adds(out, ",\"value\":");
		add_number(out, s->value);
		kab_buf_adds(out, ",\"unit\":");
		add_string(out, s->unit);
		kab_buf_addf(out, ",\"direction\":\"%s\"}", kab_direction_name(s->dir));
	}
	kab_buf_adds(out, "],\"message\":");
	add_string(out, result->message);
	if (result->version) {
		kab_buf_adds(out, ",\"version\":");
		add_string(out, result->version);
	}
	kab_buf_adds(out, "}\n");
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	const char *file = kab_args_at(args, 1);
	struct kab_buf kab_autobuf input = KAB_BUF_INIT;
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	struct kab_parse_result result = { 0 };
	struct kab_params params = { 0 };
	const struct kab_runner *runner;
	struct kab_err err = KAB_ERR_INIT;
	struct kab_stream merged = { .name = "merged" };
	struct kab_outputs outputs = { .v = &merged, .n = 1 };
	int64_t exit_status;
	int rc = -1;

	runner = kab_runner_get(kab_args_at(args, 0), &err);
	if (!runner || kab_args_params(args, &params, &err) ||
	    kab_runner_check_params(runner, &params, &err) ||
	    kab_args_int(args, "exit-status", 0, 255, KAB_EXIT_UNKNOWN, &exit_status, &err) ||
	    kab_file_read(file ? file : "-", &input, &err)) {
		kab_params_release(&params);
		return kab_cli_fail(cli, &err);
	}
	merged.data = kab_buf_str(&input);
	merged.len = input.len;
	merged.cut = input.cut;
	runner->parse(&outputs, (int)exit_status, &params, &result);
	add_result(&out, runner, &result);
	fwrite(out.data, 1, out.len, cli->out);
	rc = result.status == KAB_PARSE_OK || result.status == KAB_PARSE_PARTIAL ? KAB_EXIT_OK
										 : KAB_EXIT_INPUT;
	kab_parse_result_release(&result);
	kab_params_release(&params);
	return kab_cli_finish(cli, rc);
}

static const struct kab_opt opts[] = {
	{ "exit-status", '\0', "N", "exit status of the command that wrote it (128 + a signal)",
	  NULL },
	{ "param", '\0', "NAME=VALUE", "a parameter that it ran with; may be repeated", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_parse = {
	.name = "parse",
	.summary = "read the output of a benchmark and print its metrics as JSON",
	.synopsis = "RUNNER [--exit-status N] [--param NAME=VALUE]... [FILE|-]",
	.description =
		"Reads what a benchmark printed (stdout and stderr in one stream) and prints one\n"
		"JSON object: status, metrics with value, unit and direction, and a sentence when\n"
		"something is wrong. The status comes from the output and the exit status: an\n"
		"interrupted benchmark prints figures and ends with 0 all the same. Repeated "
		"names\n"
		"are several samples, in their order.\n\n"
		"Exits with 0 for 'ok' and 'partial', with 3 for 'tool-failed', 'no-result' and\n"
		"'truncated'.",
	.example = "  hackbench -g 2 2>&1 | kab parse hackbench",
	.completes = "runner",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 2,
	.run = run,
};
