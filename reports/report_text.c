/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as text: tables are tried from the widest to the narrowest until they fit a mail. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/renderers.h"
#include "reports/report.h"
#include "reports/view_internal.h"

#define DROP_MAX 24

struct job {
	const struct kab_group *group;
	const struct kab_report_opts *opts;
	kab_view_fn *view;
	kab_render_fn *render;
};

/* Render once; the width is returned. */
static size_t attempt(const struct job *job, const struct kab_view_opts *vopts, struct kab_buf *out)
{
	struct kab_table t = { 0 };

	kab_buf_clear(out);
	job->view(job->group, vopts, &t);
	job->render(&t, job->opts->exact, out);
	kab_table_release(&t);
	return kab_text_width(kab_buf_str(out));
}

/*
 * Optional columns go one by one, up to level `last`; true when what is in `out` is at most 72
 * columns wide, or 76 when nothing more can go but the intervals.
 */
static bool fit(const struct job *job, struct kab_view_opts *vopts, int last, struct kab_buf *out)
{
	size_t width = 0, before = SIZE_MAX;
	int stale = 0;

	for (vopts->drop = 0; vopts->drop <= last && stale < KAB_DROP_INTERVAL; vopts->drop++) {
		width = attempt(job, vopts, out);
		if (width <= KAB_WIDTH_AIM)
			return true;
		if (vopts->drop == KAB_DROP_INTERVAL - 1 && width <= KAB_WIDTH_HARD)
			return true;
		/* Levels that no column has change nothing. */
		stale = width == before ? stale + 1 : 0;
		before = width;
	}
	return width <= KAB_WIDTH_HARD;
}

/* Lines that are still too long are broken at blanks. */
static void fold(struct kab_buf *out)
{
	struct kab_strv kab_autostrv raw = KAB_STRV_INIT, lines = KAB_STRV_INIT;

	kab_strv_split(&raw, kab_buf_str(out), '\n');
	kab_buf_clear(out);
	for (size_t i = 0; i + 1 < raw.n; i++) {
		if (kab_text_width(raw.v[i]) > KAB_WIDTH_HARD)
			kab_wrap(&lines, raw.v[i], KAB_WIDTH_AIM, 4);
		else
			kab_strv_add(&lines, raw.v[i]);
	}
	kab_render_lines(&lines, out);
}

static size_t tests_of(const struct kab_group *g)
{
	size_t n = kab_group_kernels(g);

	return n ? n - 1 : 0;
}

static void add(struct kab_buf *out, const struct kab_buf *table)
{
	if (out->len)
		kab_buf_addc(out, '\n');
	kab_buf_adds(out, kab_buf_str(table));
}

static void one_table(const struct job *job, int only_pair, struct kab_buf *out)
{
	struct kab_buf kab_autobuf table = KAB_BUF_INIT;
	struct kab_view_opts vopts = KAB_VIEW_OPTS_INIT;
	struct job list = *job;
	bool several = only_pair < 0 && tests_of(job->group) > 1;

	vopts.pm = job->opts->pm;
	vopts.side = job->opts->side;
	vopts.no_legend = job->opts->brief;
	vopts.only_pair = only_pair;
	/* Markdown is not read as it stands. */
	if (job->opts->exact || job->opts->wide || job->render == kab_render_markdown) {
		attempt(job, &vopts, &table);
		add(out, &table);
		return;
	}
	/* Kernels side by side are not worth their intervals: rather a table for each of them. */
	if (fit(job, &vopts, several ? KAB_DROP_INTERVAL - 1 : DROP_MAX, &table)) {
		add(out, &table);
		return;
	}
	if (several) {
		for (size_t p = 0; p < tests_of(job->group); p++)
			one_table(job, (int)p, out);
		return;
	}
	vopts.short_labels = true;
	if (!fit(job, &vopts, DROP_MAX, &table)) {
		vopts.short_labels = false;
		list.view = kab_view_kernels;
		list.render = kab_render_list;
		if (!fit(&list, &vopts, DROP_MAX, &table)) {
			vopts.short_labels = true;
			if (!fit(&list, &vopts, DROP_MAX, &table))
				fold(&table);
		}
	}
	add(out, &table);
}

/* A group of one row. */
static void by_row(const struct job *job, struct kab_buf *out)
{
	for (size_t i = 0; i < job->group->n; i++) {
		struct kab_group one = { job->group->judgement, &job->group->rows[i], 1 };
		struct job single = *job;

		single.group = &one;
		one_table(&single, -1, out);
	}
}

static bool same_load(const struct kab_row_data *a, const struct kab_row_data *b)
{
	return !strcmp(a->host, b->host) && !strcmp(a->condition, b->condition) &&
	       !strcmp(a->case_name, b->case_name) && !strcmp(a->row_key, b->row_key) &&
	       !strcmp(a->runner, b->runner);
}

/* Each load once, with all its metrics: one table per kernel. */
static void by_load(const struct kab_judgement *j, const struct job *job, struct kab_buf *out)
{
	bool *done = kab_xcalloc(j->n + 1, sizeof(*done));

	for (size_t r = 0; r < j->n; r++) {
		struct kab_group g = { j, NULL, 0 };
		struct job load = *job;

		if (done[r] ||
		    (job->opts->metric && strcmp(job->opts->metric, j->v[r].data->metric) != 0))
			continue;
		g.rows = kab_xreallocarray(NULL, j->n, sizeof(*g.rows));
		for (size_t i = r; i < j->n; i++) {
			if (done[i] || !same_load(j->v[r].data, j->v[i].data))
				continue;
			if (job->opts->metric && strcmp(job->opts->metric, j->v[i].data->metric))
				continue;
			done[i] = true;
			g.rows[g.n++] = i;
		}
		load.group = &g;
		for (size_t k = 0; k < kab_group_kernels(&g); k++) {
			struct kab_buf kab_autobuf table = KAB_BUF_INIT;
			struct kab_view_opts vopts = KAB_VIEW_OPTS_INIT;

			vopts.only_pair = (int)k - 1;
			if (job->opts->wide || job->opts->exact)
				attempt(&load, &vopts, &table);
			else if (!fit(&load, &vopts, DROP_MAX, &table))
				fold(&table);
			add(out, &table);
		}
		free(g.rows);
	}
	free(done);
}

/* What is not judged: a table per case. */
static void by_case(const struct kab_group *other, const struct job *job, struct kab_buf *out)
{
	bool *done = kab_xcalloc(other->n + 1, sizeof(*done));

	for (size_t r = 0; r < other->n; r++) {
		const struct kab_row_data *first = kab_group_row(other, r)->data;
		struct kab_group g = { other->judgement, NULL, 0 };
		struct job one = *job;

		if (done[r])
			continue;
		g.rows = kab_xreallocarray(NULL, other->n, sizeof(*g.rows));
		for (size_t i = r; i < other->n; i++) {
			const struct kab_row_data *row = kab_group_row(other, i)->data;

			if (strcmp(row->case_name, first->case_name) ||
			    strcmp(row->runner, first->runner))
				continue;
			done[i] = true;
			g.rows[g.n++] = other->rows[i];
		}
		one.group = &g;
		one_table(&one, -1, out);
		free(g.rows);
	}
	free(done);
}

static size_t with_values(const struct kab_group *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		bool any = false;

		for (size_t k = 0; k < kab_group_row(g, i)->n_sets; k++)
			any |= kab_set_any(&kab_group_row(g, i)->sets[k]);
		n += any;
	}
	return n;
}

static void summary(const struct kab_judgement *j, struct kab_buf *out)
{
	for (size_t p = 0; p + 1 < j->n_kernels; p++) {
		struct kab_strv kab_autostrv lines = KAB_STRV_INIT;
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
		struct kab_tally tally;
		char *text;

		kab_judge_tally(j, p, &tally);
		text = kab_tally_text(&tally);
		if (j->n_kernels > 2)
			for (size_t r = 0; r < j->n; r++)
				if (p + 1 < j->v[r].n_sets) {
					kab_buf_addf(&buf,
						     "%s: ", j->v[r].sets[p + 1].data->kernel);
					break;
				}
		kab_buf_adds(&buf, text);
		free(text);
		kab_wrap(&lines, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
		kab_render_lines(&lines, out);
	}
}

/* A command is to be copied: it is broken between words only, and a shell joins it again. */
static void command(const char *text, size_t indent, struct kab_buf *out)
{
	size_t used = indent;
	bool quoted = false;

	kab_buf_fill(out, ' ', indent);
	while (*text) {
		size_t n = 0;

		while (text[n] && (quoted || text[n] != ' ')) {
			if (text[n] == '\\' && !quoted && text[n + 1])
				n++;
			else
				quoted ^= text[n] == '\'';
			n++;
		}
		/* Two columns are for the backslash. */
		if (used > indent && used + 1 + n + 2 > KAB_WIDTH_AIM) {
			kab_buf_adds(out, " \\\n");
			kab_buf_fill(out, ' ', indent + 4);
			used = indent + 4;
		} else if (used > indent) {
			kab_buf_addc(out, ' ');
			used++;
		}
		kab_buf_add(out, text, n);
		used += n;
		text += n + strspn(text + n, " ");
	}
	kab_buf_addc(out, '\n');
}

static void paragraph(const struct kab_strv *texts, const char *title, size_t indent,
		      struct kab_buf *out)
{
	struct kab_strv kab_autostrv lines = KAB_STRV_INIT;

	if (!texts->n)
		return;
	kab_buf_addf(out, "\n%s%s", title, *title ? "\n" : "");
	for (size_t i = 0; i < texts->n; i++) {
		if (indent)
			command(texts->v[i], indent, out);
		else
			kab_wrap(&lines, texts->v[i], KAB_WIDTH_AIM, 2);
	}
	kab_render_lines(&lines, out);
}

void kab_report_text(const struct kab_judgement *judgement, const struct kab_report_opts *opts,
		     const struct kab_preamble *preamble, struct kab_buf *out)
{
	struct kab_buf kab_autobuf tables = KAB_BUF_INIT;
	struct job job = { NULL, opts, opts->style->view, opts->style->render };
	struct kab_groups groups;
	size_t rest;

	bool fenced = opts->style->render == kab_render_markdown;

	if (preamble) {
		kab_buf_adds(out, fenced ? "```\n" : "");
		kab_preamble_print(preamble, opts->brief, out);
		kab_buf_adds(out, fenced ? "```\n\n" : "\n");
	}
	summary(judgement, out);
	kab_groups_make(judgement, opts->metric, opts->sort, &groups);
	if (opts->style->grouping == KAB_BY_LOAD)
		by_load(judgement, &job, &tables);
	for (size_t i = 0; i < groups.n && opts->style->grouping != KAB_BY_LOAD; i++) {
		job.group = &groups.v[i];
		if (opts->style->grouping == KAB_BY_ROW)
			by_row(&job, &tables);
		else if (opts->style->grouping == KAB_BY_PAIR)
			for (size_t p = 0; p < tests_of(job.group); p++)
				one_table(&job, (int)p, &tables);
		else
			one_table(&job, -1, &tables);
	}
	rest = with_values(&groups.other);
	/* A run that has nothing to judge still has something to show. */
	if (opts->style->view == kab_view_compare && !opts->metric && !opts->brief &&
	    (!opts->only_judged || !groups.n)) {
		job.view = kab_view_other;
		by_case(&groups.other, &job, &tables);
		rest = 0;
	}
	kab_groups_release(&groups);
	if (tables.len)
		kab_buf_addf(out, "\n%s", tables.data);
	if (rest && !opts->metric && !opts->brief && opts->style->grouping != KAB_BY_LOAD)
		kab_buf_addf(out,
			     "\n%zu row%s of other metrics stored, not judged: --all shows %s\n",
			     rest, rest == 1 ? "" : "s", rest == 1 ? "it" : "them");
	if (!preamble)
		return;
	paragraph(&preamble->notices, "", 0, out);
	/* Four blanks are a code block in markdown. */
	if (!opts->brief)
		paragraph(&preamble->reproduce,
			  fenced ? "Reproduce:\n" : "Reproduce:", fenced ? 4 : 2, out);
}
