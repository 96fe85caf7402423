/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values behind a report, as pictures. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/find_run.h"
#include "cli/picture.h"
#include "judge/judge.h"
#include "reports/plot_text.h"

struct wanted {
	enum kab_plot_kind kind;
	struct kab_plot_pick pick;
	enum { TEXT, SVG, PNG } format;
	const char *output;
	bool unicode, script;
	double confidence;
};

static int options(const struct kab_args *args, struct wanted *w, struct kab_err *err)
{
	const char *kind = kab_args_get(args, "kind"), *format = kab_args_get(args, "format");

	memset(w, 0, sizeof(*w));
	if (kind)
		kab_plot_kind_parse(kind, &w->kind);
	w->script = kab_args_flag(args, "gnuplot-script");
	w->unicode = kab_args_flag(args, "unicode");
	w->output = kab_args_get(args, "output");
	w->pick.host = kab_args_get(args, "host");
	w->pick.case_name = kab_args_get(args, "case");
	w->pick.metric = kab_args_get(args, "metric");
	if (format)
		w->format = !strcmp(format, "svg") ? SVG : !strcmp(format, "png") ? PNG : TEXT;
	else if (w->script)
		w->format = SVG;
	if (w->script && w->format == TEXT)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--gnuplot-script goes with --format svg or png: text is drawn "
				   "without gnuplot");
	if (w->unicode && w->format != TEXT)
		return kab_err_set(err, KAB_ERR_USAGE, "--unicode goes with --format text");
	if (kab_args_num(args, "confidence", 50.1, 99.9999, 95, &w->confidence, err) < 0)
		return -1;
	w->confidence /= 100;
	return 0;
}

static void draw_text(struct kab_cli *cli, const struct wanted *w, const struct kab_plots *plots,
		      struct kab_buf *out)
{
	struct kab_plot_text_opts opts = { .unicode = w->unicode };

	opts.colour = !w->output && kab_picture_colour(cli);
	for (size_t i = 0; i < plots->n; i++) {
		if (i)
			kab_buf_adds(out, "\n\n");
		kab_plot_text(&plots->v[i], &opts, out);
	}
}

static int draw(struct kab_cli *cli, const struct wanted *w, const struct kab_plots *plots,
		struct kab_err *err)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	enum kab_plot_format format = w->format == PNG ? KAB_PLOT_PNG : KAB_PLOT_SVG;

	if (w->format == TEXT) {
		draw_text(cli, w, plots, &out);
		return kab_picture_write(cli, &out, w->output, err);
	}
	if (!w->script) {
		if (kab_picture_draw(cli, plots->v, plots->n, format, w->output, err) < 0)
			return -1;
		if (w->output && plots->n > 1)
			kab_cli_say(cli, "kab: %zu pictures, one below the other, in '%s'",
				    plots->n, w->output);
		return 0;
	}
	if (plots->n > KAB_PLOT_PANELS_MAX)
		return kab_err_set(
			err, KAB_ERR_USAGE,
			"%zu pictures are too many for one sheet, which holds %d; choose "
			"with --host, --case and --metric",
			plots->n, KAB_PLOT_PANELS_MAX);
	kab_plot_gnuplot(plots->v, plots->n, format, &out);
	return kab_picture_write(cli, &out, w->output, err);
}

/* The rows of all runs named (the newest one without a name), pooled as one. */
static int load(struct kab_cli *cli, struct kab_store *store, const struct kab_args *args,
		struct kab_row_list *rows, struct kab_err *err)
{
	size_t n = kab_args_n(args) ? kab_args_n(args) : 1;
	int64_t *ids = kab_xcalloc(n, sizeof(*ids));
	char *name kab_autofree = NULL;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct kab_run_info run = { 0 };

		rc = kab_cli_find_measured(cli, store, kab_args_at(args, i), &run, err);
		if (rc)
			break;
		ids[i] = run.id;
		if (!i)
			name = kab_xstrdup(run.name);
		for (size_t k = 0; k < i && !rc; k++)
			if (ids[k] == ids[i])
				rc = kab_err_set(err, KAB_ERR_USAGE, "run '%s' is named twice",
						 run.name);
		kab_run_info_release(&run);
	}
	if (!rc)
		rc = kab_store_load_rows(store, ids, n, rows, err);
	if (!rc && !rows->n)
		rc = kab_err_set(err, KAB_ERR_NOT_FOUND,
				 "run '%s' has no results yet; see 'kab show %s'", name, name);
	free(ids);
	return rc;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_judge_opts judge = KAB_JUDGE_OPTS_INIT;
	struct kab_judgement judgement = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_row_list rows = { 0 };
	struct kab_store *store = NULL;
	struct kab_plots plots = { 0 };
	struct wanted w;
	int status = -1;

	if (options(args, &w, &err) < 0 ||
	    kab_cli_open_store(cli, KAB_STORE_READ, &store, &err) < 0)
		return kab_cli_fail(cli, &err);
	judge.confidence = w.confidence;
	if (load(cli, store, args, &rows, &err) < 0 ||
	    kab_judge(&rows, &judge, &judgement, &err) < 0 ||
	    kab_plots_make(&judgement, w.kind, &w.pick, &plots, &err) < 0 ||
	    draw(cli, &w, &plots, &err) < 0)
		goto out;
	status = kab_cli_finish(cli, KAB_EXIT_OK);
out:
	if (status < 0)
		status = kab_cli_fail(cli, &err);
	kab_plots_release(&plots);
	kab_judgement_release(&judgement);
	kab_row_list_release(&rows);
	kab_store_close(store);
	return status;
}

static const struct kab_opt opts[] = {
	{ "kind", 'k', "KIND", "what is drawn (default strip)",
	  "strip|histogram|order|sweep|cdf|boots" },
	{ "case", 'c', "CASE", "only this case, or CASE/KEY=VALUE", NULL },
	{ "metric", 'm', "METRIC", "only this metric (default: those that carry a verdict)", NULL },
	{ "host", '\0', "H", "only this host", NULL },
	{ "confidence", '\0', "P", "of the intervals, in percent (default 95)", NULL },
	{ "format", 'f', "FORMAT", "text, or drawn by gnuplot", "text|svg|png" },
	{ "output", 'o', "FILE", "write it there (default: standard output)", NULL },
	{ "unicode", 'u', NULL, "text with lines, blocks and braille", NULL },
	{ "gnuplot-script", '\0', NULL, "print what gnuplot would get, to change it", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_plot = {
	.name = "plot",
	.summary = "draw the values behind a report",
	.synopsis = "[RUN...] [--kind K] [--case C] [--metric M] [--format F] [--output FILE] ...",
	.description =
		"Draws the iterations of a run (the newest one without RUN; of several, pooled):\n"
		"their distribution as a strip or a histogram, their order in the run, the mean\n"
		"over a parameter of the suite (sweep), their cumulative distribution (cdf), or\n"
		"boot by boot (boots). One picture for each row, or for each sweep; as SVG or PNG\n"
		"they stand below one another in one file, 24 at most. A kernel keeps its letter,\n"
		"colour, mark, dash and hatch. Failed and missing iterations are said in words.\n"
		"SVG and PNG need gnuplot (package gnuplot-nox).",
	.example = "  kab plot nightly-3 --kind order --case pipe\n"
		   "  kab plot --kind sweep --format svg --output sweep.svg\n"
		   "  kab plot --kind cdf --gnuplot-script >cdf.gnuplot",
	.completes = "run",
	.opts = opts,
	.min_pos = 0,
	.max_pos = -1,
	.run = run,
};
