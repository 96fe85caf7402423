/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an import would store, as text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "exchange/import_build.h"

#define LIST_MAX 20

/* A row of one kernel: what its iterations have in common. */
struct line {
	const char *host, *kernel, *condition, *case_name, *row_key, *runner;
	size_t n, failed;
	struct kab_strv boots, metrics; /* "time (s, lower)" */
};

struct lines {
	struct line *v;
	size_t n, cap;
};

static struct line *line_of(struct lines *lines, const struct kab_import_iter *it)
{
	struct line *l;

	/* Iterations of a row mostly lie together: the newest first. */
	for (size_t i = lines->n; i-- > 0;) {
		l = &lines->v[i];
		if (!strcmp(l->kernel, it->kernel) && !strcmp(l->row_key, it->row_key) &&
		    !strcmp(l->case_name, it->case_name) && !strcmp(l->host, it->host) &&
		    !strcmp(l->condition, it->condition) && !strcmp(l->runner, it->runner))
			return l;
	}
	l = KAB_PUSH(lines);
	l->host = it->host;
	l->kernel = it->kernel;
	l->condition = it->condition;
	l->case_name = it->case_name;
	l->row_key = it->row_key;
	l->runner = it->runner;
	return l;
}

static void add_metric(struct kab_strv *list, const char *metric, const char *unit,
		       enum kab_direction dir)
{
	char *text kab_autofree =
		kab_xasprintf("%s (%s%s%s)", metric, unit, *unit ? ", " : "",
			      dir == KAB_DIR_NONE ? "no direction" : kab_direction_name(dir));

	if (!kab_strv_has(list, text))
		kab_strv_add(list, text);
}

/* "host, condition, case row" of a line, without what says nothing. */
static void add_place(struct kab_buf *ret, const char *host, const char *condition,
		      const char *case_name, const char *row_key)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
	char *shown kab_autofree = NULL;

	if (strcmp(host, "import"))
		kab_buf_addf(&buf, "%s ", host);
	if (*condition)
		kab_buf_addf(&buf, "%s ", condition);
	kab_buf_addf(&buf, "%s%s%s", case_name, *row_key ? " " : "", row_key);
	shown = kab_import_shown(kab_buf_str(&buf));
	kab_buf_adds(ret, shown);
}

static void describe_lines(const struct kab_import *import, struct kab_buf *ret)
{
	struct lines lines = { 0 };

	for (size_t i = 0; i < import->n; i++) {
		const struct kab_import_iter *it = &import->v[i];
		struct line *l = line_of(&lines, it);

		l->n++;
		l->failed += it->state == KAB_ITER_FAILED;
		if (!kab_strv_has(&l->boots, it->boot))
			kab_strv_add(&l->boots, it->boot);
		for (size_t k = 0; k < it->samples.n; k++)
			add_metric(&l->metrics, it->samples.v[k].metric, it->samples.v[k].unit,
				   it->samples.v[k].dir);
	}
	for (size_t i = 0; i < lines.n; i++) {
		struct line *l = &lines.v[i];
		char *metrics kab_autofree = kab_strv_join(&l->metrics, ", ");
		char *shown kab_autofree = kab_import_shown(metrics);

		kab_buf_addf(ret, "%s: ", l->kernel);
		add_place(ret, l->host, l->condition, l->case_name, l->row_key);
		kab_buf_addf(ret, ": %zu iteration%s, %zu failed, ", l->n, l->n == 1 ? "" : "s",
			     l->failed);
		if (import->boots_known)
			kab_buf_addf(ret, "%zu boot%s", l->boots.n, l->boots.n == 1 ? "" : "s");
		else
			kab_buf_adds(ret, "boots unknown");
		kab_buf_addf(ret, "; %s\n", *shown ? shown : "no figure");
		kab_strv_release(&l->boots);
		kab_strv_release(&l->metrics);
	}
	free(lines.v);
}

static void describe_summaries(const struct kab_import *import, struct kab_buf *ret)
{
	for (size_t i = 0; i < import->summaries.n; i++) {
		const struct kab_import_summary *s = &import->summaries.v[i];
		struct kab_strv kab_autostrv metric = KAB_STRV_INIT;
		char *shown kab_autofree = NULL;

		add_metric(&metric, s->metric, s->unit, s->dir);
		shown = kab_import_shown(metric.v[0]);
		kab_buf_addf(ret, "%s: ", s->kernel);
		add_place(ret, s->host, s->condition, s->case_name, s->row_key);
		kab_buf_addf(ret, ": summary of %s: n %lld, mean %.10g, ", shown, (long long)s->n,
			     s->mean);
		if (isfinite(s->sd))
			kab_buf_addf(ret, "stddev %.10g\n", s->sd);
		else
			kab_buf_adds(ret, "stddev unknown\n");
	}
}

static void describe_list(const char *what, const struct kab_strv *list, struct kab_buf *ret)
{
	for (size_t i = 0; i < list->n && i < LIST_MAX; i++)
		kab_buf_addf(ret, "%s: %s\n", what, list->v[i]);
	if (list->n > LIST_MAX)
		kab_buf_addf(ret, "%s: and %zu more\n", what, list->n - LIST_MAX);
}

void kab_import_describe(const struct kab_import *import, struct kab_buf *ret)
{
	char *kernels kab_autofree = kab_strv_join(&import->kernels, ", ");

	kab_buf_addf(ret, "kernels: %s (the first one is the baseline)\n", kernels);
	kab_buf_addf(ret, "boots: %s\n",
		     import->boots_text	   ? import->boots_text
		     : import->boots_known ? "known"
					   : "unknown: nothing says which values share one");
	describe_lines(import, ret);
	describe_summaries(import, ret);
	describe_list("note", &import->notes, ret);
	describe_list("not read", &import->unread, ret);
}
