/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/circumstances.h"
#include "cli/find_run.h"
#include "cli/reply.h"
#include "exchange/mime.h"

#define CONFIG_BYTES_MAX ((size_t)4 << 20)
#define CONFIG_LINES_MAX 40
#define BISECT_BYTES_MAX ((size_t)64 << 10)

/*
 * The author's labels for our rows, when there is one for each of them: then the two tables can be read
 * line by line. "groups=4" becomes "groups=4-groups".
 */
static void take_labels(const struct kab_reply_body *what, struct kab_row_list *rows)
{
	for (size_t t = 0; t < what->tables->n; t++) {
		size_t n = 0;

		if (!what->chosen[t])
			continue;
		for (size_t r = 0; r < rows->n; r++) {
			const char *value = strchr(rows->v[r].row_key, '=');

			if (value && !strchr(value + 1, '=') &&
			    kab_reply_same_row(&what->tables->v[t], value + 1))
				n++;
		}
		if (!rows->n || n < rows->n)
			continue;
		for (size_t r = 0; r < rows->n; r++) {
			char *key = rows->v[r].row_key, *value = strchr(key, '=');
			const char *label = kab_reply_same_row(&what->tables->v[t], value + 1);
			/* What separates the parts of a key cannot be in a label. */
			char *plain kab_autofree = kab_xstrdup(label);

			for (char *p = plain; *p; p++)
				if (strchr(",=", *p))
					*p = ' ';
			rows->v[r].row_key =
				kab_xasprintf("%.*s=%s", (int)(value - key), key, plain);
			free(key);
		}
		return;
	}
}

static void wrap(struct kab_buf *out, const char *text)
{
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;

	kab_wrap(&lines, text, 72, 0);
	for (size_t i = 0; i < lines.n; i++)
		kab_buf_addf(out, "%s\n", lines.v[i]);
}

/* One sentence with the result. */
static void sentence(const struct kab_judgement *j, const struct kab_run_info *run,
		     struct kab_buf *out)
{
	for (size_t p = 0; p + 1 < j->n_kernels; p++) {
		struct kab_tally tally;
		char *text kab_autofree = NULL, *line kab_autofree = NULL;
		const char *kernel = NULL, *base = NULL;

		kab_judge_tally(j, p, &tally);
		text = kab_tally_text(&tally);
		for (size_t r = 0; r < j->n && !kernel; r++)
			if (p + 1 < j->v[r].n_sets) {
				base = j->v[r].sets[0].data->kernel;
				kernel = j->v[r].sets[p + 1].data->kernel;
			}
		if (!strcmp(run->suite_name, "import"))
			line = kab_xasprintf("I compared %s with %s: %s.", kernel ? kernel : "?",
					     base ? base : "?", text);
		else
			line = kab_xasprintf("I ran %s on %s against %s: %s.", run->suite_name,
					     kernel ? kernel : "?", base ? base : "?", text);
		wrap(out, line);
	}
	kab_buf_addc(out, '\n');
}

/* "base  LABEL = RELEASE, commit HASH, ...": the commit, else the release. Caller frees. */
static char *version_of(const char *kernel_line)
{
	const char *commit = strstr(kernel_line, ", commit "),
		   *release = strstr(kernel_line, " = ");

	if (commit)
		return kab_xstrndup(commit + 9, strcspn(commit + 9, ", "));
	if (release)
		return kab_xstrndup(release + 3, strcspn(release + 3, ", "));
	return kab_xstrdup("unknown");
}

static int config_lines(const char *path, struct kab_strv *ret, struct kab_err *err)
{
	struct kab_buf kab_autobuf buf = { .max = CONFIG_BYTES_MAX };
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;

	if (kab_file_read(path, &buf, err) < 0)
		return -1;
	kab_strv_split(&lines, kab_buf_str(&buf), '\n');
	for (size_t i = 0; i < lines.n; i++)
		if (!strncmp(lines.v[i], "CONFIG_", 7) || strstr(lines.v[i], " is not set"))
			kab_strv_add(ret, lines.v[i]);
	if (!ret->n)
		return kab_err_set(err, KAB_ERR_PARSE, "'%s' has no CONFIG_ lines", path);
	return 0;
}

static size_t only_in(const struct kab_strv *a, const struct kab_strv *b, char sign,
		      struct kab_buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		if (kab_strv_has(b, a->v[i]))
			continue;
		if (n++ < CONFIG_LINES_MAX)
			kab_buf_addf(out, "  %c%s\n", sign, a->v[i]);
	}
	return n;
}

static int config_diff(const struct kab_reply_body *what, struct kab_buf *out, struct kab_err *err)
{
	struct kab_strv kab_autostrv a = KAB_STRV_INIT, b = KAB_STRV_INIT;
	struct kab_buf kab_autobuf lines = KAB_BUF_INIT;
	size_t n;

	if (!what->config_base || !what->config_test)
		return 0;
	if (config_lines(what->config_base, &a, err) < 0 ||
	    config_lines(what->config_test, &b, err) < 0)
		return -1;
	n = only_in(&a, &b, '-', &lines) + only_in(&b, &a, '+', &lines);
	kab_buf_adds(out, n ? "Differences of the .config (- last good, + first bad):\n"
			    : "The .config of both kernels is the same.\n");
	kab_buf_adds(out, kab_buf_str(&lines));
	if (n > 2 * CONFIG_LINES_MAX)
		kab_buf_addf(out, "  ... %zu lines in all\n", n);
	kab_buf_addc(out, '\n');
	return 0;
}

static int regression(const struct kab_reply_body *what, const struct kab_preamble *p,
		      struct kab_buf *out, struct kab_err *err)
{
	char *good kab_autofree =
		p->kernels.n ? version_of(p->kernels.v[0]) : kab_xstrdup("unknown");
	char *bad kab_autofree =
		p->kernels.n > 1 ? version_of(p->kernels.v[1]) : kab_xstrdup("unknown");
	struct kab_buf kab_autobuf log = { .max = BISECT_BYTES_MAX };

	if (!what->introduced &&
	    (!strcmp(good, "unknown") || !strcmp(bad, "unknown") || !strcmp(good, bad)))
		return kab_err_set(
			err, KAB_ERR_CONFIG,
			"which kernels are the last good and the first bad one is not known "
			"from the run; pass --introduced COMMIT or GOOD..BAD");
	kab_buf_addf(out, "Last good: %s\nFirst bad: %s\n\n", good, bad);
	if (config_diff(what, out, err) < 0)
		return -1;
	if (what->bisect_log) {
		if (kab_file_read(what->bisect_log, &log, err) < 0)
			return -1;
		kab_buf_rtrim(&log, "\n");
		kab_buf_addf(out, "git bisect log:\n%s\n\n", kab_buf_str(&log));
	}
	/* A paragraph of its own: that is how the tracker finds it. */
	if (what->introduced)
		kab_buf_addf(out, "#regzbot introduced: %s\n\n", what->introduced);
	else
		kab_buf_addf(out, "#regzbot introduced: %s..%s\n\n", good, bad);
	return 0;
}

/* Behind " = " of two kernels' lines: release, commit, build id. */
static bool one_kernel(const struct kab_preamble *p)
{
	const char *first = p->kernels.n > 1 ? strstr(p->kernels.v[0], " = ") : NULL;

	for (size_t i = 1; first && i < p->kernels.n; i++) {
		const char *other = strstr(p->kernels.v[i], " = ");

		if (!other || strcmp(first, other) != 0)
			return false;
	}
	return first != NULL;
}

static int may_say(const struct kab_reply_body *what, const struct kab_judgement *j,
		   const struct kab_preamble *p, struct kab_cli *cli, struct kab_err *err)
{
	if (what->tested_by && j->any_regressed)
		return kab_err_set(
			err, KAB_ERR_CONFIG,
			"no Tested-by: something regressed in this run; see 'kab report', or "
			"leave --tested-by out");
	if (what->tested_by && one_kernel(p))
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "no Tested-by: all kernels of this run are one and the same");
	if (what->regression && !j->any_regressed)
		return kab_err_set(
			err, KAB_ERR_CONFIG,
			"nothing regressed in this run, so that there is no regression to "
			"report");
	if (what->tested_by && j->any_failed)
		kab_cli_warn(cli, "the Tested-by stands beside failed or missing results");
	return 0;
}

int kab_reply_body(struct kab_cli *cli, const char *run_name, const struct kab_reporting *r,
		   const struct kab_reply_body *what, struct kab_buf *out, struct kab_err *err)
{
	struct kab_judgement judgement = { 0 };
	struct kab_preamble preamble = { 0 };
	struct kab_row_list rows = { 0 };
	struct kab_store *store = NULL;
	struct kab_run_info run = { 0 };
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	int status = -1;

	if (kab_cli_open_store(cli, KAB_STORE_READ, &store, err) < 0)
		return -1;
	if (kab_cli_find_measured(cli, store, run_name, &run, err) < 0 ||
	    kab_store_load_rows(store, &run.id, 1, &rows, err) < 0)
		goto out;
	if (!rows.n) {
		kab_err_set(err, KAB_ERR_NOT_FOUND,
			    "run '%s' has no results yet; see 'kab show %s'", run.name, run.name);
		goto out;
	}
	take_labels(what, &rows);
	if (kab_judge(&rows, &r->judge, &judgement, err) < 0 ||
	    kab_circumstances(store, &run, &judgement, r->names, &preamble, err) < 0 ||
	    may_say(what, &judgement, &preamble, cli, err) < 0)
		goto out;
	kab_reply_quote(what->mail, what->lines, what->tables, what->chosen, out);
	kab_buf_addc(out, '\n');
	sentence(&judgement, &run, &text);
	if (what->regression && regression(what, &preamble, &text, err) < 0)
		goto out;
	kab_report_text(&judgement, &r->report, &preamble, &text);
	if (what->tested_by) {
		struct kab_buf kab_autobuf name = KAB_BUF_INIT;

		/* A tag is copied into commits: the name as it is written, when ASCII has it. */
		kab_mime_to_ascii(what->from->name, &name);
		kab_buf_addf(&text, "\nTested-by: %s <%s>\n", kab_buf_str(&name), what->from->addr);
	}
	kab_mime_to_ascii(kab_buf_str(&text), out);
	status = 0;
out:
	kab_preamble_release(&preamble);
	kab_judgement_release(&judgement);
	kab_row_list_release(&rows);
	kab_run_info_release(&run);
	kab_store_close(store);
	return status;
}
