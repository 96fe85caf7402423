/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/find_run.h"
#include "cli/imported.h"

#define TAIL_LINES 5
#define TAIL_BYTES 2000
#define EVENT_LINES 12

/* Whatever a host, a file or a user put into a text, it does not drive the terminal. */
static void put(struct kab_cli *cli, const char *before, const char *text, const char *behind)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	kab_text_escape(&buf, text, strlen(text));
	for (size_t i = 0; i < buf.len; i++)
		if (buf.data[i] == '\n')
			buf.data[i] = ' ';
	fprintf(cli->out, "%s%s%s", before, kab_buf_str(&buf), behind);
}

static void put_header(struct kab_cli *cli, const struct kab_run_info *r)
{
	char when[24];

	put(cli, "run        ", r->name, "");
	fprintf(cli->out, " (%lld)\n", (long long)r->id);
	put(cli, "suite      ", r->suite_name, "\n");
	kab_format_utc(r->created_wall_ns, when);
	fprintf(cli->out, "state      %s\ncreated    %s\n", kab_run_state_name(r->state), when);
	if (r->finished_wall_ns) {
		kab_format_utc(r->finished_wall_ns, when);
		fprintf(cli->out, "ended      %s\n", when);
	}
	put(cli, "kab        ", r->kab_version, "\n");
	put(cli, "command    ", r->command_line, "\n");
	fprintf(cli->out,
		"iterations %zu: %zu done, %zu failed, %zu missing, %zu to do (warm-ups not "
		"counted)\n",
		r->n_iterations, r->n_done, r->n_failed, r->n_missing, r->n_pending);
}

static void put_boot(struct kab_cli *cli, const struct kab_boot_info *b)
{
	fprintf(cli->out, "  %6lld  ", (long long)b->id);
	put(cli, "", b->host, "  ");
	put(cli, "", b->kernel, "  ");
	fprintf(cli->out, "%s %d", b->restart ? "restart" : "boot", b->sequence);
	if (b->block >= 0)
		fprintf(cli->out, ", block %d", b->block);
	put(cli, "  ", b->state, "");
	if (*b->release)
		put(cli, "  ", b->release, "");
	if (*b->build_id)
		put(cli, "  build id ", b->build_id, "");
	if (b->reason && *b->reason)
		put(cli, "  (", b->reason, ")");
	fputc('\n', cli->out);
}

static void put_step(struct kab_cli *cli, const struct kab_step_info *s)
{
	fprintf(cli->out, "  %6lld  %6lld  ", (long long)s->id, (long long)s->boot_id);
	if (*s->condition)
		put(cli, "", s->condition, "  ");
	put(cli, "", s->case_name, "");
	if (*s->row_key)
		put(cli, " ", s->row_key, "");
	fprintf(cli->out, "  %s %d", s->warmup ? "warm-up" : "iteration", s->iteration);
	if (s->attempt > 1)
		fprintf(cli->out, ", attempt %d", s->attempt);
	fprintf(cli->out, "  %s", kab_iter_state_name(s->state));
	if (!isnan(s->elapsed_s))
		fprintf(cli->out, "  %.3f s", s->elapsed_s);
	if (s->parse_status && strcmp(s->parse_status, "ok"))
		put(cli, "  ", s->parse_status, "");
	fputc('\n', cli->out);
}

/* The end of what the benchmark printed: stderr says most, else the stream that there is. */
static int put_tail(struct kab_cli *cli, struct kab_store *store, int64_t id, struct kab_err *err)
{
	static const char *const streams[] = { "stderr", "stdout", "merged" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(streams); i++) {
		char *data kab_autofree = NULL;
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;
		size_t len = 0, tail_len = 0;
		const char *tail;
		bool cut;
		int rc = kab_store_output(store, id, streams[i], &data, &len, &cut, err);

		if (rc < 0)
			return -1;
		if (rc || !len)
			continue;
		tail = kab_text_tail(data, len, TAIL_LINES, &tail_len);
		if (tail_len > TAIL_BYTES) {
			tail += tail_len - TAIL_BYTES;
			tail_len = TAIL_BYTES;
		}
		kab_text_escape(&text, tail, tail_len);
		kab_buf_rtrim(&text, "\n");
		fprintf(cli->out, "    %s ends with:\n", streams[i]);
		for (char *line = text.data, *next; line; line = next) {
			next = strchr(line, '\n');
			if (next)
				*next++ = '\0';
			fprintf(cli->out, "    | %s\n", line);
		}
	}
	return 0;
}

static int put_failures(struct kab_cli *cli, struct kab_store *store,
			const struct kab_step_info *steps, size_t n, struct kab_err *err)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const struct kab_step_info *s = &steps[i];

		if (s->state != KAB_ITER_FAILED && s->state != KAB_ITER_MISSING)
			continue;
		if (!any)
			fprintf(cli->out, "\nfailures\n");
		any = true;
		put_step(cli, s);
		put(cli, "    ", s->reason && *s->reason ? s->reason : "no reason is known", "\n");
		if (s->state == KAB_ITER_FAILED && s->exit_status >= 0)
			fprintf(cli->out, "    exit status %d\n", s->exit_status);
		if (put_tail(cli, store, s->id, err))
			return -1;
	}
	return 0;
}

static int put_boots(struct kab_cli *cli, struct kab_store *store, int64_t run_id,
		     struct kab_err *err)
{
	struct kab_boot_info *boots;
	size_t n;

	if (kab_store_list_boots(store, run_id, &boots, &n, err))
		return -1;
	fprintf(cli->out, "\nboots (id, host, kernel, place, state)\n");
	for (size_t i = 0; i < n; i++) {
		put_boot(cli, &boots[i]);
		kab_boot_info_release(&boots[i]);
	}
	free(boots);
	return 0;
}

static int put_steps(struct kab_cli *cli, struct kab_store *store, int64_t run_id,
		     struct kab_err *err)
{
	struct kab_step_info *steps;
	size_t n;
	int rc;

	if (kab_store_list_steps(store, run_id, 0, &steps, &n, err))
		return -1;
	fprintf(cli->out, "\nsteps (iteration id, boot id, what, state, time)\n");
	for (size_t i = 0; i < n; i++)
		put_step(cli, &steps[i]);
	rc = put_failures(cli, store, steps, n, err);
	for (size_t i = 0; i < n; i++)
		kab_step_info_release(&steps[i]);
	free(steps);
	return rc;
}

/* A console log is many lines: its end says most. */
static void put_event_text(struct kab_cli *cli, const char *text)
{
	size_t len = 0;
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;
	const char *tail = kab_text_tail(text, strlen(text), EVENT_LINES, &len);
	char *end kab_autofree = kab_xstrndup(tail, len);

	kab_strv_split(&lines, end, '\n');
	if (lines.n < 2) {
		put(cli, "", text, "\n");
		return;
	}
	fprintf(cli->out, "%s\n", tail == text ? "" : "its last lines");
	for (size_t i = 0; i < lines.n; i++)
		if (*lines.v[i])
			put(cli, "    | ", lines.v[i], "\n");
}

static int put_events(struct kab_cli *cli, struct kab_store *store, int64_t run_id,
		      struct kab_err *err)
{
	struct kab_event_info *events;
	size_t n;

	if (kab_store_list_events(store, run_id, &events, &n, err))
		return -1;
	if (n)
		fprintf(cli->out, "\nevents\n");
	for (size_t i = 0; i < n; i++) {
		char when[24];

		kab_format_utc(events[i].wall_ns, when);
		fprintf(cli->out, "  %s  ", when);
		put(cli, "", events[i].kind, ": ");
		put_event_text(cli, events[i].text);
		kab_event_info_release(&events[i]);
	}
	free(events);
	return 0;
}

static int show_run(struct kab_cli *cli, struct kab_store *store, const char *name,
		    struct kab_err *err)
{
	struct kab_run_info info;
	int rc;

	if (kab_cli_find_run(cli, store, name, &info, err))
		return -1;
	put_header(cli, &info);
	rc = kab_imported_show(cli, store, &info, err);
	if (!rc)
		rc = put_boots(cli, store, info.id, err);
	if (!rc)
		rc = put_steps(cli, store, info.id, err);
	if (!rc)
		rc = put_events(cli, store, info.id, err);
	kab_run_info_release(&info);
	return rc;
}

/* Bytes as they are, for a file or another program; on a terminal too: they were asked for. */
static int show_raw(struct kab_cli *cli, struct kab_store *store, int64_t id, const char *stream,
		    struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	char **v, *data kab_autofree = NULL, *known kab_autofree = NULL;
	size_t n, len = 0;
	bool cut = false;
	int rc;

	if (kab_store_output_names(store, id, &v, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		kab_strv_take(&names, v[i]);
	free(v);
	if (!names.n)
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "no output of iteration %lld is kept",
				   (long long)id);
	if (!stream)
		stream = kab_strv_has(&names, "stdout") ? "stdout" : names.v[0];
	rc = kab_store_output(store, id, stream, &data, &len, &cut, err);
	if (rc < 0)
		return -1;
	known = kab_strv_join(&names, ", ");
	if (rc)
		return kab_err_set(err, KAB_ERR_NOT_FOUND,
				   "iteration %lld has no stream '%s'; it has %s", (long long)id,
				   stream, known);
	fwrite(data, 1, len, cli->raw ? cli->raw : cli->out);
	if (names.n > 1)
		kab_cli_say(cli, "kab: note: this is %s; --stream takes one of %s", stream, known);
	if (cut)
		kab_cli_warn(cli, "the end of %s is missing: it was longer than is kept", stream);
	return 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_err err = KAB_ERR_INIT;
	struct kab_store *store;
	int64_t raw;
	int rc;

	if (kab_args_int(args, "raw", 1, INT64_MAX, 0, &raw, &err) ||
	    kab_cli_open_store(cli, KAB_STORE_READ, &store, &err))
		return kab_cli_fail(cli, &err);
	rc = raw ? show_raw(cli, store, raw, kab_args_get(args, "stream"), &err)
		 : show_run(cli, store, kab_args_at(args, 0), &err);
	kab_store_close(store);
	return rc ? kab_cli_fail(cli, &err) : kab_cli_finish(cli, KAB_EXIT_OK);
}

static const struct kab_opt opts[] = {
	{ "raw", '\0', "ITERATION", "write the raw output of an iteration (its id) to stdout",
	  NULL },
	{ "stream", '\0', "NAME", "with --raw: which stream (stdout)", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_show = {
	.name = "show",
	.summary = "show a run: boots, steps and their states, failures",
	.synopsis = "[RUN] | --raw ITERATION [--stream NAME]",
	.description =
		"Without RUN the newest one. Failures come with their reason and the last lines\n"
		"of what the benchmark printed. --raw writes the output of one iteration exactly\n"
		"as it was; the ids of iterations stand in the list of steps.",
	.example = "  kab show latest\n  kab show --raw 17 --stream stderr",
	.completes = "run",
	.opts = opts,
	.min_pos = 0,
	.max_pos = 1,
	.run = run,
};
