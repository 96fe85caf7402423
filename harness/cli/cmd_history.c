/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/picture.h"
#include "cli/reply.h"
#include "jobs/history.h"
#include "reports/view_history.h"
#include "store/history.h"

#define MAX_RUNS 500
#define OVERVIEW_DOTS 40

/* ---- what people say ---- */

/* --who, else the name in git's configuration, else $USER. Caller frees. */
static char *who_is_it(const struct kab_args *args)
{
	const char *given = kab_args_get(args, "who"), *user = getenv("USER");
	char *name = given ? kab_xstrdup(given) : kab_git_config("user.name");

	if (!name && user && *user)
		name = kab_xstrdup(user);
	return name;
}

static void today(char buf[12])
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(buf, 12, "%Y-%m-%d", &tm);
}

static int check_date(const char *option, const char *date, struct kab_err *err)
{
	if (kab_text_is_date(date))
		return 0;
	return kab_err_set(err, KAB_ERR_USAGE, "--%s takes a night as YYYY-MM-DD, not '%s'", option,
			   date);
}

static int get_change(struct kab_store *store, int64_t id, struct kab_change_list *ret,
		      struct kab_err *err)
{
	const struct kab_history_filter filter = { 0 };

	if (kab_store_history_changes(store, &filter, id, ret, err))
		return -1;
	if (!ret->n)
		return kab_err_set(err, KAB_ERR_NOT_FOUND,
				   "there is no change %lld; 'kab history' lists them",
				   (long long)id);
	return 0;
}

static int acknowledge(struct kab_cli *cli, struct kab_store *store, int64_t id, const char *who,
		       const char *why, struct kab_err *err)
{
	struct kab_change_list list = { 0 };
	const struct kab_change *c;
	char date[12];
	int rc = -1;

	if (get_change(store, id, &list, err))
		return -1;
	c = &list.v[0];
	today(date);
	if (c->state == KAB_CHANGE_ACKNOWLEDGED) {
		kab_cli_say(cli, "kab: change %lld was acknowledged %s by %s", (long long)id,
			    c->acknowledged, c->acknowledged_by);
		rc = 0;
	} else if (c->state != KAB_CHANGE_CONFIRMED) {
		kab_err_set(err, KAB_ERR_CONFIG,
			    "change %lld is %s: only a confirmed change can be acknowledged",
			    (long long)id, kab_change_state_name(c->state));
	} else {
		const struct kab_note note = { .kind = KAB_NOTE_ACKNOWLEDGE,
					       .change_id = id,
					       .tree = c->series.tree,
					       .host = c->series.host,
					       .case_name = c->series.case_name,
					       .metric = c->series.metric,
					       .date = date,
					       .who = (char *)who,
					       .why = (char *)why,
					       .wall_ns = kab_now_wall_ns() };

		rc = kab_store_history_put_note(store, &note, err) < 0 ? -1 : 0;
		if (!rc)
			kab_cli_say(cli,
				    "kab: change %lld acknowledged by %s; the baseline may move "
				    "past it",
				    (long long)id, who);
	}
	kab_change_list_release(&list);
	return rc;
}

static int put_words(struct kab_cli *cli, struct kab_store *store, const struct kab_args *args,
		     struct kab_err *err)
{
	const char *annotate = kab_args_get(args, "annotate"), *reset = kab_args_get(args, "reset");
	const char *why = kab_args_get(args, "why");
	kab_autofree char *who = who_is_it(args);
	struct kab_strv kab_autostrv trees = KAB_STRV_INIT;
	const char *tree = kab_args_get(args, "kernel-tree");
	int64_t id;

	if (kab_args_int(args, "acknowledge", 1, INT64_MAX, 0, &id, err))
		return -1;
	if ((id != 0) + (annotate != NULL) + (reset != NULL) > 1)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--acknowledge, --annotate and --reset are three things; one at "
				   "a time");
	if (!why || !*why)
		return kab_err_set(err, KAB_ERR_USAGE, "say why: --why TEXT");
	if (!who || !*who)
		return kab_err_set(
			err, KAB_ERR_USAGE,
			"nobody knows who you are: --who NAME (or git config user.name)");
	if (id)
		return acknowledge(cli, store, id, who, why, err);
	if (check_date(annotate ? "annotate" : "reset", annotate ? annotate : reset, err) ||
	    kab_store_history_trees(store, &trees, err))
		return -1;
	if (tree && !kab_strv_has(&trees, tree))
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "no nights of a tree '%s' are stored",
				   tree);
	const struct kab_note note = {
		.kind = annotate ? KAB_NOTE_ANNOTATE : KAB_NOTE_RESET,
		.tree = (char *)(tree ? tree : ""),
		.host = (char *)(kab_args_get(args, "host") ? kab_args_get(args, "host") : ""),
		.case_name = (char *)(kab_args_at(args, 0) ? kab_args_at(args, 0) : ""),
		.metric = (char *)(kab_args_at(args, 1) ? kab_args_at(args, 1) : ""),
		.date = (char *)(annotate ? annotate : reset),
		.who = who,
		.why = (char *)why,
		.wall_ns = kab_now_wall_ns(),
	};

	if (kab_store_history_put_note(store, &note, err) < 0)
		return -1;
	kab_cli_say(cli, "kab: %s %s by %s: %s", annotate ? "note for" : "history reset from",
		    note.date, who, why);
	return 0;
}

/* ---- showing ---- */

struct shown {
	struct kab_store *store;
	const struct kab_args *args;
	const char *tree; /* "": from runs */
	struct kab_point_list points;
	struct kab_change_list changes;
	struct kab_note_list notes;
	size_t left_out;
};

static void shown_release(struct shown *s)
{
	kab_point_list_release(&s->points);
	kab_change_list_release(&s->changes);
	kab_note_list_release(&s->notes);
}

/* Which rows the user asks for. Without a metric those that carry verdicts, if there are any. */
static bool wanted(const struct shown *s, const struct kab_point *p, bool any_judged)
{
	const char *name = kab_args_at(s->args, 0), *metric = kab_args_at(s->args, 1);
	kab_autofree char *whole = kab_xasprintf("%s/%s", p->series.case_name, p->series.row_key);

	if (name && strcmp(name, p->series.case_name) != 0 && strcmp(name, whole) != 0)
		return false;
	return metric ? !strcmp(metric, p->series.metric) : p->judged || !any_judged;
}

static void select_points(struct shown *s)
{
	size_t kept = 0;
	bool any = false;

	for (size_t i = 0; i < s->points.n; i++)
		any = any || s->points.v[i].judged;
	for (size_t i = 0; i < s->points.n; i++) {
		if (wanted(s, &s->points.v[i], any))
			s->points.v[kept++] = s->points.v[i];
		else
			kab_point_release(&s->points.v[i]);
	}
	s->points.n = kept;
}

static int load(struct shown *s, struct kab_strv *trees, struct kab_err *err)
{
	const char *tree = kab_args_get(s->args, "kernel-tree");
	const char *reference = kab_args_get(s->args, "reference");
	struct kab_history_filter filter = { .host = kab_args_get(s->args, "host") };

	if (kab_store_history_trees(s->store, trees, err) ||
	    kab_store_history_notes(s->store, &s->notes, err))
		return -1;
	if (tree && reference)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "nights of a tree have the reference that they were measured "
				   "with; --reference is for runs");
	if (tree && !kab_strv_has(trees, tree))
		return kab_err_set(err, KAB_ERR_NOT_FOUND, "no nights of a tree '%s' are stored",
				   tree);
	s->tree = reference ? "" : tree ? tree : trees->n ? trees->v[0] : "";
	if (!*s->tree)
		return kab_history_from_runs(s->store, reference, filter.host, MAX_RUNS, &s->points,
					     &s->left_out, err);
	filter.tree = s->tree;
	if (kab_store_history_points(s->store, &filter, &s->points, err))
		return -1;
	return kab_store_history_changes(s->store, &filter, 0, &s->changes, err);
}

/* The end of the series that begins at i. */
static size_t series_end(const struct kab_point_list *points, size_t i)
{
	size_t end = i + 1;

	while (end < points->n && kab_series_id_same(&points->v[i].series, &points->v[end].series))
		end++;
	return end;
}

typedef void each_fn(const struct kab_history_view *view, void *out, size_t nth);

/* draws: as in struct kab_history_opts. */
static void each_series(const struct shown *s, uint64_t draws, each_fn *fn, void *out)
{
	const struct kab_history_opts opts = { .draws = draws };
	size_t nth = 0;

	for (size_t i = 0, end; i < s->points.n; i = end) {
		struct kab_segments segments;
		struct kab_history_view view = { .points = s->points.v + i,
						 .segments = &segments,
						 .changes = &s->changes,
						 .notes = &s->notes,
						 .tree = s->tree,
						 .since = kab_args_get(s->args, "since") };

		end = series_end(&s->points, i);
		view.n = end - i;
		kab_history_segments(view.points, view.n, &s->notes, &s->changes, &opts, &segments);
		fn(&view, out, nth++);
		kab_segments_release(&segments);
	}
}

static void put_text(const struct kab_history_view *view, void *out, size_t nth)
{
	if (nth)
		kab_buf_adds(out, "\n");
	kab_history_text(view, out);
}

static void put_csv(const struct kab_history_view *view, void *out, size_t nth)
{
	if (!nth)
		kab_history_csv_head(out);
	kab_history_csv(view, out);
}

static void put_json(const struct kab_history_view *view, void *out, size_t nth)
{
	kab_buf_adds(out, nth ? ",\n" : "");
	kab_history_json(view, out);
}

/* Many series: a line each, then what is open. */
static void put_line(const struct kab_history_view *view, void *out, size_t nth)
{
	const struct kab_point *last = &view->points[view->n - 1];
	kab_autofree char *name = kab_series_id_name(&last->series);
	struct kab_buf kab_autobuf dots = KAB_BUF_INIT;

	(void)nth;
	kab_history_dots(view, OVERVIEW_DOTS, &dots);
	kab_buf_addf(out, "%-40s  ", name);
	if (last->ratio > 0)
		kab_buf_addf(out, "%7.4f", last->ratio);
	else
		kab_buf_addf(out, "%7s", kab_point_state_name(last->state));
	kab_buf_addf(out, "  %s\n", kab_buf_str(&dots));
}

static void put_overview(const struct shown *s, struct kab_buf *out)
{
	size_t begin;

	kab_buf_addf(out, "%-40s  %7s  %s\n",
		     *s->tree ? "host case/row/metric, newest ratio to the reference" : "", "ratio",
		     *s->tree ? "nights, newest last" : "runs, newest last");
	/* A line shows breaks, not splits: one draw finds none, and takes no time. */
	each_series(s, 1, put_line, out);
	begin = out->len;
	for (size_t i = 0; i < s->changes.n; i++) {
		const struct kab_change *c = &s->changes.v[i];
		kab_autofree char *text = kab_change_text(c);
		kab_autofree char *name = kab_series_id_name(&c->series);
		struct kab_strv kab_autostrv lines = KAB_STRV_INIT;

		if (c->state != KAB_CHANGE_CONFIRMED && c->state != KAB_CHANGE_NOMINATED)
			continue;
		if (out->len == begin)
			kab_buf_adds(out, "\n");
		kab_buf_addf(out, "%s\n", name);
		kab_wrap(&lines, text, 70, 2);
		for (size_t k = 0; k < lines.n; k++)
			kab_buf_addf(out, "  %s\n", lines.v[k]);
	}
}

static size_t count_series(const struct shown *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->points.n; i = series_end(&s->points, i))
		n++;
	return n;
}

/* ---- pictures ---- */

static double seconds_of(const struct kab_point *p)
{
	struct tm tm = { 0 };

	if (!*p->series.tree || !strptime(p->date, "%Y-%m-%d", &tm))
		return (double)p->wall_ns / 1e9;
	return (double)timegm(&tm);
}

static void plot_series(const struct kab_history_view *v, struct kab_plot *plot)
{
	kab_autofree char *name = kab_series_id_name(&v->points[0].series);
	kab_autofree char *label = kab_xstrdup(v->points[0].reference);
	size_t segment = 0, part = 0;

	kab_plot_history_begin(plot, name, "ratio to the reference", "", v->points[0].series.dir,
			       0.95);
	for (size_t i = 0; i < v->n; i++) {
		const struct kab_point *p = &v->points[i];
		double lo = NAN, hi = NAN;

		while (segment + 1 < v->segments->n && v->segments->v[segment + 1].first <= i)
			if (v->segments->v[++segment].why != KAB_BREAK_NONE) {
				free(label);
				label = kab_xasprintf("%s, %s", p->reference,
						      kab_break_name(v->segments->v[segment].why));
				part++;
			}
		if (v->since && strcmp(p->date, v->since) < 0)
			continue;
		if (i) { /* nights that are not there are gaps, and no line goes across */
			double day = seconds_of(&p[-1]) + 86400;

			for (; *v->tree && day < seconds_of(p) && i; day += 86400)
				kab_plot_history_gap(plot, part, label, day, false, "not measured");
		}
		if (!kab_point_interval(p, &lo, &hi))
			lo = hi = NAN;
		if (p->ratio > 0)
			kab_plot_history_add(plot, part, label, seconds_of(p), p->ratio, lo, hi);
		else
			kab_plot_history_gap(plot, part, label, seconds_of(p),
					     p->state == KAB_POINT_FAILED,
					     kab_point_state_name(p->state));
	}
}

static void put_plot(const struct kab_history_view *view, void *out, size_t nth)
{
	struct kab_plots *plots = out;

	(void)nth;
	plot_series(view, KAB_PUSH(plots));
}

static int draw(struct kab_cli *cli, const struct shown *s, struct kab_err *err)
{
	struct kab_plots plots = { 0 };
	int rc;

	each_series(s, 0, put_plot, &plots);
	rc = kab_picture_draw(cli, plots.v, plots.n, KAB_PLOT_SVG, NULL, err);
	kab_plots_release(&plots);
	return rc;
}

static int show(struct kab_cli *cli, struct shown *s, struct kab_err *err)
{
	const char *format = kab_args_get(s->args, "format"),
		   *since = kab_args_get(s->args, "since");
	struct kab_strv kab_autostrv trees = KAB_STRV_INIT;
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	size_t series;

	if (since && check_date("since", since, err))
		return -1;
	if (load(s, &trees, err))
		return -1;
	select_points(s);
	series = count_series(s);
	if (!series)
		return kab_err_set(err, KAB_ERR_NOT_FOUND,
				   "no history of that: %s; 'kab history' without a case lists "
				   "what there is",
				   *s->tree ? "no night of the tree measured it"
					    : "no two kernels of a run, or none with that "
					      "reference, case, metric and host");
	if (trees.n > 1 && *s->tree && !kab_args_get(s->args, "kernel-tree"))
		kab_cli_say(cli, "kab: tree '%s'; there are %zu more (--kernel-tree)", s->tree,
			    trees.n - 1);
	if (!*s->tree)
		kab_cli_say(cli, "kab: from stored runs with reference '%s'%s",
			    s->points.v[0].reference,
			    s->left_out ? "; runs with another one are left out (--reference)"
					: "");
	if (!format || !strcmp(format, "text")) {
		if (series > 1 && !kab_args_n(s->args))
			put_overview(s, &out);
		else
			each_series(s, 0, put_text, &out);
	} else if (!strcmp(format, "csv")) {
		each_series(s, 0, put_csv, &out);
	} else if (!strcmp(format, "json")) {
		kab_buf_adds(&out, "{\"series\":[");
		each_series(s, 0, put_json, &out);
		kab_buf_adds(&out, "]}\n");
	} else {
		return draw(cli, s, err);
	}
	fwrite(kab_buf_str(&out), 1, out.len, cli->out);
	return 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	bool writes = kab_args_get(args, "acknowledge") || kab_args_get(args, "annotate") ||
		      kab_args_get(args, "reset");
	struct kab_err err = KAB_ERR_INIT;
	struct shown s = { .args = args, .tree = "" };
	int rc;

	if (kab_cli_open_store(cli, writes ? KAB_STORE_CHANGE : KAB_STORE_READ, &s.store, &err))
		return kab_cli_fail(cli, &err);
	rc = writes ? put_words(cli, s.store, args, &err) : show(cli, &s, &err);
	shown_release(&s);
	kab_store_close(s.store);
	return rc ? kab_cli_fail(cli, &err) : kab_cli_finish(cli, KAB_EXIT_OK);
}

static const struct kab_opt opts[] = {
	{ "host", '\0', "H", "only this host", NULL },
	{ "kernel-tree", '\0', "T", "nights of this nightly file (default: the newest)", NULL },
	{ "reference", '\0', "LABEL",
	  "stored runs that have this kernel, instead of the nights of a tree", NULL },
	{ "since", '\0', "DATE", "show nights from this one on (YYYY-MM-DD)", NULL },
	{ "format", 'f', "FORMAT", "text (default), full precision, or a picture by gnuplot",
	  "text|json|csv|svg" },
	{ "acknowledge", '\0', "ID",
	  "this confirmed change is known: the baseline may move past it", NULL },
	{ "annotate", '\0', "DATE", "say something about a night", NULL },
	{ "reset", '\0', "DATE", "from this night on nothing is compared with what came before",
	  NULL },
	{ "why", '\0', "TEXT", "the reason; needed for the last three", NULL },
	{ "who", '\0', "NAME", "who says so (default: git config user.name, else $USER)", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_history = {
	.name = "history",
	.summary = "what a figure was worth night by night, and what changed",
	.synopsis = "[CASE [METRIC]] [--host H] [--kernel-tree T] [--since DATE] [--format F] ...",
	.description =
		"The value of a night is the ratio of its kernel to a reference kernel that was\n"
		"measured in the same blocks of the same night: what the machine does from night\n"
		"to night is in both and cancels. Without nights of 'kab nightly', or with\n"
		"--reference, stored runs that have their reference kernel in common are shown.\n\n"
		"A split of a series, or its last nights, only nominate a change; a fresh\n"
		"interleaved comparison of the two kernels confirms it or does not. Nights "
		"without\n"
		"a value are gaps, never zeros. After a change of hardware, of the reference, of\n"
		"the benchmark or a --reset, nothing is compared with what came before.\n\n"
		"CASE is the name of a case, or CASE/ROW ('hackbench/groups=4'). Without a "
		"metric,\n"
		"those that carry verdicts are shown. Without a case, all of them, a line each.\n\n"
		"--acknowledge, --annotate and --reset are stored with who, why and when. CASE,\n"
		"METRIC, --host and --kernel-tree say what a note or a reset is about.",
	.example = "  kab history\n"
		   "  kab history hackbench time --host tx2 --since 2026-11-01\n"
		   "  kab history --acknowledge 3 --why 'price of the security fix'\n"
		   "  kab history hackbench --reset 2026-11-20 --why 'new compiler on the lab'",
	.opts = opts,
	.min_pos = 0,
	.max_pos = 2,
	.run = run,
};
