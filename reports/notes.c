/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines below a table: what its cells cannot say, each thing once and not once per row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "reports/number.h"
#include "reports/view_internal.h"

#define CAUSE_MAX 100

/* A sentence, and the rows that it is said of. */
struct said {
	char *text;
	struct kab_strv names;
};
struct sayings {
	struct said *v;
	size_t n, cap;
};

/* Takes text. */
static void say(struct sayings *list, const char *name, char *text)
{
	struct said *s = NULL;

	for (size_t i = 0; i < list->n && !s; i++)
		if (!strcmp(list->v[i].text, text))
			s = &list->v[i];
	if (!s) {
		s = KAB_PUSH(list);
		s->text = text;
	} else {
		free(text);
	}
	if (!kab_strv_has(&s->names, name))
		kab_strv_add(&s->names, name);
}

static void print(struct sayings *list, size_t rows, struct kab_table *t)
{
	for (size_t i = 0; i < list->n; i++) {
		struct said *s = &list->v[i];
		char *names kab_autofree = kab_strv_join(&s->names, ", ");
		bool all = s->names.n == rows && rows > 2;
		char *line kab_autofree = NULL;

		if (!*names)
			line = kab_xasprintf("note: %s", s->text);
		else
			line = kab_xasprintf("note: %s: %s", all ? "all rows" : names, s->text);
		kab_wrap(&t->notes, line, KAB_WIDTH_AIM, 6);
		free(s->text);
		kab_strv_release(&s->names);
	}
	free(list->v);
}

static void add_geomean(const struct kab_group *g, const struct kab_view_opts *opts,
			struct kab_table *t)
{
	for (size_t p = 0; g->n > 1 && p + 1 < kab_group_kernels(g); p++) {
		struct kab_buf kab_autobuf buf = KAB_BUF_INIT;
		size_t used;
		double mean;

		if (!kab_view_shows(opts, p + 1))
			continue;
		mean = kab_judge_geomean(g->judgement, g->rows, g->n, p, &used);
		if (!used)
			continue;
		kab_buf_addf(&buf, "geometric mean of %s/%s: ", kab_group_kernel(g, p + 1),
			     kab_group_kernel(g, 0));
		kab_number_fixed(&buf, mean, 3, false);
		kab_buf_addf(&buf, " over %zu of %zu rows", used, g->n);
		kab_wrap(&t->notes, kab_buf_str(&buf), KAB_WIDTH_AIM, 2);
	}
}

/*
 * One line of a reason: what became of it, and, of "a; it said last: b | c", c where that says
 * more. The whole of it is for `kab show`. Caller frees; NULL when nobody knows.
 */
static char *cause_of(const struct kab_sample_set *set)
{
	static const char said_last[] = "; it said last: ";
	const char *reason = set->first_failure, *words, *bar, *next;
	char *cause, *eol;
	bool cut;

	if (!reason || !*reason)
		return NULL;
	words = strstr(reason, said_last);
	cause = kab_xstrndup(reason, words ? (size_t)(words - reason) : strlen(reason));
	cut = words != NULL;
	if (words && (strlen(cause) < 30 || strstr(cause, "exit status"))) {
		char *both;

		words += strlen(said_last);
		cut = strstr(words, " | ") != NULL;
		for (bar = words; (next = strstr(bar, " | ")); bar = next + 3)
			;
		both = kab_xasprintf("%s: %s", cause, bar);
		free(cause);
		cause = both;
	}
	eol = strchr(cause, '\n');
	cut |= eol || strlen(cause) > CAUSE_MAX;
	if (eol)
		*eol = '\0';
	if (strlen(cause) > CAUSE_MAX)
		cause[CAUSE_MAX] = '\0';
	if (cut) {
		char *more = kab_xasprintf("%s ... (kab show)", cause);

		free(cause);
		cause = more;
	}
	return cause;
}

/* "failed on 'base' and 'patched': cause"; NULL where the word in the cell has said all. */
static char *absence(const struct kab_pair *pair)
{
	const struct kab_set_summary *sides[] = { pair->base, pair->test };
	char *cause kab_autofree = NULL, *where kab_autofree = NULL;
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;

	for (size_t i = 0; i < 2; i++) {
		if (kab_set_any(sides[i]))
			continue;
		kab_strv_addf(&names, "'%s'", sides[i]->data->kernel);
		if (!cause)
			cause = cause_of(sides[i]->data);
	}
	if (!cause && pair->outcome == KAB_OUTCOME_MISSING)
		return NULL;
	where = kab_strv_join(&names, " and ");
	return kab_xasprintf("%s on %s%s%s", kab_outcome_name(pair->outcome), where,
			     cause ? ": " : "", cause ? cause : "");
}

/* An interval without 0 beside a question mark looks like a mistake. */
static char *only_by_correction(const struct kab_group *g, const struct kab_pair *pair)
{
	struct kab_buf buf = KAB_BUF_INIT;

	kab_buf_addf(&buf, "not significant after %s: p %.2g",
		     g->judgement->opts.correction == KAB_CORRECT_BH ? "Benjamini-Hochberg"
								     : "Holm",
		     pair->cmp.p_adjusted);
	return kab_buf_detach(&buf);
}

static void say_pair(const struct kab_group *g, const struct kab_view_opts *opts,
		     const struct kab_pair *pair, const char *name, struct sayings *list)
{
	bool absent = pair->outcome == KAB_OUTCOME_FAILED || pair->outcome == KAB_OUTCOME_MISSING;
	char *text = absent ? absence(pair) : NULL;

	if (text)
		say(list, name, text);
	if (!absent && pair->outcome > KAB_OUTCOME_FAILED && pair->outcome < KAB_OUTCOME_NO_VERDICT)
		say(list, name,
		    kab_xasprintf("%s: %s", kab_outcome_name(pair->outcome), pair->reason));
	if (pair->summary && !pair->tested && pair->outcome == KAB_OUTCOME_INCONCLUSIVE)
		say(list, name, kab_xasprintf("not tested: %s", pair->reason));
	if (pair->warning && pair->outcome != KAB_OUTCOME_FAILED)
		say(list, name, kab_xstrdup(pair->warning));
	if (pair->tested && pair->outcome == KAB_OUTCOME_INCONCLUSIVE &&
	    pair->cmp.multiplicity_decided && !opts->no_marks)
		say(list, name, only_by_correction(g, pair));
	if (kab_pair_unbounded(pair) && pair->tested && !opts->no_intervals)
		say(list, name, kab_xstrdup("[n/a]: too noisy, the interval has no bounds"));
	if (pair->blocks_left_out)
		say(list, name,
		    kab_xasprintf("%zu incomplete block%s left out, %zu tested",
				  pair->blocks_left_out, pair->blocks_left_out == 1 ? "" : "s",
				  pair->blocks));
}

void kab_view_notes(const struct kab_group *g, const struct kab_view_opts *opts,
		    struct kab_table *t)
{
	struct kab_labels l = { 0 };
	struct sayings list = { 0 };

	add_geomean(g, opts, t);
	kab_labels_find(g, false, &l);
	for (size_t i = 0; i < g->n; i++) {
		const struct kab_judged_row *row = kab_group_row(g, i);
		char *name kab_autofree = kab_labels_text(&l, row);

		for (size_t p = 0; p < row->n_pairs; p++)
			if (kab_view_shows(opts, p + 1))
				say_pair(g, opts, &row->pairs[p], name, &list);
	}
	print(&list, g->n, t);
	kab_labels_release(&l);
}
