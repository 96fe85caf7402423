/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/bisect.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "jobs/bisect_state.h"

#define FINAL_TRIES 2 /* comparisons of culprit and parent, the second with twice the boots */

static void say(const struct kab_bisect *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void say(const struct kab_bisect *b, const char *fmt, ...)
{
	kab_autofree char *text = NULL;
	va_list ap;

	if (!b->env->say)
		return;
	va_start(ap, fmt);
	text = kab_xvasprintf(fmt, ap);
	va_end(ap);
	b->env->say(b->env->ctx, text);
}

static const char *subject(const struct kab_bisect *b, size_t i)
{
	return b->commits.v[i].subject;
}

static void short_rev(const struct kab_bisect *b, size_t i, char buf[16])
{
	snprintf(buf, 16, "%.12s", b->commits.v[i].revision);
}

/* ---- measuring ---- */

static int build(struct kab_bisect *b, size_t i, struct kab_err *err)
{
	struct kab_bisect_commit *c = &b->commits.v[i];
	char *spec = NULL, *why = NULL, rev[16];
	int rc;

	if (c->spec || c->skipped)
		return c->skipped ? 1 : 0;
	short_rev(b, i, rev);
	say(b, "building %s %s", rev, c->subject);
	rc = b->env->build ? b->env->build(b->env->ctx, c->revision, &spec, &why, err)
			   : kab_bisect_hook(&b->setup.hook, b->setup.repo, c->revision,
					     b->env->cancel_fd, &spec, &why, err);
	if (rc < 0)
		return -1;
	if (rc)
		say(b, "%s skipped: %s", rev, why);
	if (kab_store_bisect_update(b->env->store, b->id, i, spec, why, err))
		rc = -1;
	c->spec = spec;
	c->skipped = why;
	return rc;
}

/* A run of base and test, made if it is not there yet, and carried out. 1: stopped. */
static int measure(struct kab_bisect *b, const char *purpose, size_t base, size_t test, int boots,
		   struct kab_err *err)
{
	struct kab_strv kab_autostrv kernels = KAB_STRV_INIT;
	struct kab_bisect_run *run = kab_bisect_unfinished(b);
	kab_autofree char *name = NULL;
	int rc;

	if (!run) {
		struct kab_measure what = { .suite = b->setup.suite,
					    .host = b->setup.host,
					    .kernels = &kernels,
					    .boots = boots };
		struct kab_bisect_run *r;
		int64_t run_id;
		char *got;

		for (size_t k = 0; k < 2; k++) {
			size_t i = k ? test : base;
			char label[KAB_BISECT_LABEL];

			kab_bisect_label(b, i, label);
			kab_strv_addf(&kernels, "%s=%s", label, b->commits.v[i].spec);
		}
		name = kab_xasprintf("%s-%zu-%s", b->setup.name, b->runs.n + 1, purpose);
		what.name = name;
		what.seed = b->setup.seed + b->runs.n;
		if (b->env->measurer.create(b->env->measurer.ctx, &what, &run_id, &got, err))
			return -1;
		r = KAB_PUSH(&b->runs);
		*r = (struct kab_bisect_run){
			.sequence = (int)b->runs.n,
			.purpose = kab_xstrdup(purpose),
			.positions_json = kab_xasprintf("[%zu,%zu]", base, test),
			.run_id = run_id,
			.run_name = got,
		};
		if (kab_store_bisect_put_run(b->env->store, b->id, r, err))
			return -1;
		run = r;
	}
	rc = b->env->measurer.execute(b->env->measurer.ctx, run->run_id, run->run_name, err);
	if (rc)
		return rc;
	run->done = true;
	return kab_store_bisect_run_done(b->env->store, b->id, run->sequence, err);
}

/* ---- the end points ---- */

/* 0: there is a verdict; 1: stopped; 2: none, *ret_text says so. */
static int end_points(struct kab_bisect *b, char **ret_text, struct kab_err *err)
{
	size_t last = kab_bisect_last(b);
	int rc;

	if (!kab_bisect_ends(b)) {
		for (size_t k = 0; k < 2; k++) {
			rc = build(b, k ? last : 0, err);
			if (rc < 0)
				return -1;
			if (rc)
				return kab_err_set(err, KAB_ERR_CONFIG, "the %s end %s",
						   k ? "bad" : "good",
						   b->commits.v[k ? last : 0].skipped);
		}
		say(b, "end points: %.12s (bad) against %.12s (good), %d boots each",
		    b->commits.v[last].revision, b->commits.v[0].revision, b->setup.boots);
		rc = measure(b, "ends", 0, last, b->setup.boots, err);
		if (rc)
			return rc;
	}
	rc = kab_bisect_judge_ends(b, ret_text, err);
	if (!rc)
		say(b, "%s", b->ends_text);
	return rc;
}

/* ---- steps ---- */

static void tell_step(struct kab_bisect *b, size_t i)
{
	const struct kab_bisect_node *n = &b->nodes[i];
	char rev[16];

	short_rev(b, i, rev);
	if (n->skipped)
		say(b, "%s skipped: %s", rev, b->commits.v[i].skipped);
	else
		say(b, "%s %s: %+.2f %% in %zu blocks, odds %.3g to 1 for bad; %s", rev,
		    kab_bisect_call_name(kab_bisect_call(&b->levels, n)),
		    100 * kab_bisect_effect(b, i), n->blocks, kab_bisect_odds(b, i), subject(b, i));
}

/* Measure commit i with more blocks. 0, 1 stopped, -1. Afterwards its node says more, or is skipped. */
static int step(struct kab_bisect *b, size_t i, struct kab_err *err)
{
	size_t before = b->nodes[i].blocks, left;
	int boots, rc = build(b, i, err);

	if (rc < 0)
		return -1;
	if (rc) {
		b->nodes[i].skipped = true;
		return 0;
	}
	left = (size_t)b->setup.max_boots > before ? (size_t)b->setup.max_boots - before : 1;
	boots = (int)kab_bisect_blocks(&b->levels, 2, (size_t)b->setup.max_boots);
	/* What was not clear with so many gets half as many again. */
	if (before)
		boots = boots / 2 > 1 ? boots / 2 : 1;
	if ((size_t)boots > left)
		boots = (int)left;
	rc = measure(b, "step", 0, i, boots, err);
	if (rc)
		return rc;
	if (kab_bisect_collect(b, err))
		return -1;
	if (!b->nodes[i].skipped && b->nodes[i].blocks >= (size_t)b->setup.max_boots &&
	    kab_bisect_between(&b->levels, &b->nodes[i])) {
		kab_autofree char *why =
			kab_xasprintf("its level lies between the two (%+.2f %% in %zu blocks)",
				      100 * kab_bisect_effect(b, i), b->nodes[i].blocks);

		if (kab_bisect_skip(b, i, why, err))
			return -1;
	}
	tell_step(b, i);
	return 0;
}

/* ---- the end ---- */

static void describe(struct kab_bisect *b, size_t first, size_t end, double probability,
		     struct kab_buf *out)
{
	if (end - first > 1)
		kab_buf_addf(out,
			     "the change came with one of these %zu commits (probability %.3f); "
			     "those between could not be measured:\n",
			     end - first, probability);
	for (size_t i = first; i < end; i++)
		kab_buf_addf(out, "  %.12s %s%s%s%s\n", b->commits.v[i].revision, subject(b, i),
			     b->commits.v[i].skipped ? " (" : "",
			     b->commits.v[i].skipped ? b->commits.v[i].skipped : "",
			     b->commits.v[i].skipped ? ")" : "");
}

static void count_cost(const struct kab_bisect *b, struct kab_buf *out)
{
	size_t booted = 0, runs = 0;

	for (size_t i = 0; i < b->runs.n; i++) {
		struct kab_boot_info *boots;
		size_t n;

		runs += b->runs.v[i].done;
		if (!b->runs.v[i].run_id ||
		    kab_store_list_boots(b->env->store, b->runs.v[i].run_id, &boots, &n, NULL))
			continue;
		for (size_t k = 0; k < n; k++) {
			booted += strcmp(boots[k].state, "planned") != 0;
			kab_boot_info_release(&boots[k]);
		}
		free(boots);
	}
	kab_buf_addf(out, "%zu commits, %zu runs, %zu boots\n", b->commits.n - 1, runs, booted);
}

static int finish(struct kab_bisect *b, enum kab_bisect_end end, struct kab_buf *text,
		  struct kab_bisect_result *ret, struct kab_err *err)
{
	static const char *const states[] = { "found", "stuck", "refused" };

	kab_buf_rtrim(text, "\n");
	ret->end = end;
	ret->text = kab_buf_detach(text);
	return kab_store_bisect_end(b->env->store, b->id, states[end], ret->text, err);
}

/* The culprit against its parent: with fresh boots, interleaved. 1: stopped. */
static int last_comparison(struct kab_bisect *b, size_t base, size_t test,
			   struct kab_bisect_final *final, struct kab_err *err)
{
	char rev[16], parent[16];

	short_rev(b, test, rev);
	short_rev(b, base, parent);
	for (;;) {
		int tries = kab_bisect_finals(b, base, test), rc;
		int boots = b->setup.boots * (tries ? 2 : 1);

		if (!kab_bisect_unfinished(b)) {
			if (tries) {
				if (kab_bisect_judge_final(b, base, test, final, err))
					return -1;
				if (final->verdict != KAB_VERDICT_INCONCLUSIVE ||
				    tries >= FINAL_TRIES)
					return 0;
				free(final->text);
			}
			if (build(b, base, err) || build(b, test, err))
				return -1;
			say(b, "last comparison: %s against %s, %d boots each", rev, parent, boots);
		}
		rc = measure(b, "final", base, test, boots, err);
		if (rc)
			return rc;
	}
}

static int confirm(struct kab_bisect *b, size_t first, size_t end, double probability,
		   struct kab_bisect_result *ret, struct kab_err *err)
{
	size_t base = first - 1, test = end - 1;
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;
	struct kab_bisect_final final;
	int rc = last_comparison(b, base, test, &final, err);

	if (rc)
		return rc;
	ret->probability = probability;
	if (final.confirmed) {
		if (end - first == 1) {
			kab_buf_addf(&text,
				     "%s is the first commit with the change (probability %.3f)\n",
				     b->commits.v[first].revision, probability);
			ret->culprit = kab_xstrdup(b->commits.v[first].revision);
		}
		describe(b, first, end, probability, &text);
		kab_buf_addf(&text, "against %s %.12s: %s (run '%s')\n",
			     end - first == 1 ? "its parent" : "the commit before them",
			     b->commits.v[base].revision, final.text,
			     b->runs.v[b->runs.n - 1].run_name);
	} else {
		kab_buf_addf(&text, "not confirmed: the search points at (probability %.3f)\n",
			     probability);
		describe(b, first, end, probability, &text);
		kab_buf_addf(&text,
			     "but against %.12s: %s; the change may be made of several, or come "
			     "and go with the build\n",
			     b->commits.v[base].revision, final.text);
	}
	count_cost(b, &text);
	free(final.text);
	return finish(b, final.confirmed && end - first == 1 ? KAB_BISECT_FOUND : KAB_BISECT_STUCK,
		      &text, ret, err);
}

static int stuck(struct kab_bisect *b, size_t first, size_t end, double probability,
		 struct kab_bisect_result *ret, struct kab_err *err)
{
	struct kab_buf kab_autobuf text = KAB_BUF_INIT;

	kab_buf_addf(
		&text,
		"stuck: every commit that could tell more was measured %d times (--max-boots); "
		"most likely, with probability %.3f:\n",
		b->setup.max_boots, probability);
	describe(b, first, end, probability, &text);
	count_cost(b, &text);
	ret->probability = probability;
	return finish(b, KAB_BISECT_STUCK, &text, ret, err);
}

/* 0: ended, see *ret; 1: stopped. */
static int search(struct kab_bisect *b, struct kab_bisect_result *ret, struct kab_err *err)
{
	size_t last = kab_bisect_last(b), first, end;
	kab_autofree double *post = kab_xcalloc(last + 1, sizeof(*post));

	for (;;) {
		const struct kab_bisect_run *open = kab_bisect_unfinished(b);
		double best;
		size_t next = 0;
		int rc;

		kab_bisect_posterior(&b->levels, b->nodes, last, post);
		best = kab_bisect_best(b->nodes, last, post, &first, &end);
		if (open && !strcmp(open->purpose, "step"))
			next = kab_bisect_test_of(open);
		else if (best < KAB_BISECT_ENOUGH)
			next = kab_bisect_next(b->nodes, last, post, (size_t)b->setup.max_boots);
		if (!next)
			return best >= KAB_BISECT_LIKELY ? confirm(b, first, end, best, ret, err)
							 : stuck(b, first, end, best, ret, err);
		rc = step(b, next, err);
		if (rc)
			return rc;
	}
}

int kab_bisect_go(const struct kab_bisect_env *env, const char *name, struct kab_bisect_result *ret,
		  struct kab_err *err)
{
	struct kab_bisect b;
	kab_autofree char *why = NULL;
	int rc;

	*ret = (struct kab_bisect_result){ .end = KAB_BISECT_STOPPED };
	if (kab_bisect_open(env, name, &b, err))
		return -1;
	if (strcmp(b.state, "running") != 0) {
		ret->end = !strcmp(b.state, "found")   ? KAB_BISECT_FOUND
			   : !strcmp(b.state, "stuck") ? KAB_BISECT_STUCK
						       : KAB_BISECT_REFUSED;
		ret->text = kab_xstrdup(b.summary);
		kab_bisect_close(&b);
		return 0;
	}
	rc = end_points(&b, &why, err);
	if (rc == 2) {
		struct kab_buf kab_autobuf text = KAB_BUF_INIT;

		kab_buf_addf(&text, "refused: the end points show no change to search for: %s\n",
			     why);
		rc = finish(&b, KAB_BISECT_REFUSED, &text, ret, err);
	} else if (!rc) {
		rc = kab_bisect_collect(&b, err);
		if (!rc)
			rc = search(&b, ret, err);
	}
	kab_bisect_close(&b);
	return rc < 0 ? -1 : 0;
}

int kab_bisect_step(const struct kab_bisect_env *env, const char *name, const char *revision,
		    enum kab_bisect_answer *ret, char **ret_why, struct kab_err *err)
{
	struct kab_bisect b;
	kab_autofree char *why = NULL;
	size_t i;
	int rc;

	*ret = KAB_BISECT_ANSWER_SKIP;
	*ret_why = NULL;
	if (kab_bisect_open(env, name, &b, err))
		return -1;
	rc = end_points(&b, &why, err);
	if (rc == 2)
		rc = kab_err_set(err, KAB_ERR_CONFIG,
				 "the end points show no change to search for: %s", why);
	else if (rc == 1)
		rc = kab_err_set(err, KAB_ERR_CANCELLED, "stopped");
	if (!rc)
		rc = kab_bisect_add(&b, revision, &i, err);
	if (!rc)
		rc = kab_bisect_collect(&b, err);
	if (!rc && i <= 1) {
		*ret = i ? KAB_BISECT_ANSWER_BAD : KAB_BISECT_ANSWER_GOOD;
		*ret_why = kab_xasprintf("it is the %s end itself", i ? "bad" : "good");
		kab_bisect_close(&b);
		return 0;
	}
	while (!rc && !b.nodes[i].skipped &&
	       kab_bisect_call(&b.levels, &b.nodes[i]) == KAB_BISECT_UNSURE &&
	       b.nodes[i].blocks < (size_t)b.setup.max_boots) {
		rc = step(&b, i, err);
		if (rc == 1)
			rc = kab_err_set(err, KAB_ERR_CANCELLED, "stopped");
	}
	if (!rc) {
		enum kab_bisect_call call = kab_bisect_call(&b.levels, &b.nodes[i]);

		if (b.nodes[i].skipped)
			*ret_why = kab_xstrdup(b.commits.v[i].skipped);
		else if (call == KAB_BISECT_UNSURE)
			*ret_why = kab_xasprintf("cannot tell after %zu boots", b.nodes[i].blocks);
		else
			*ret = call == KAB_BISECT_BAD ? KAB_BISECT_ANSWER_BAD
						      : KAB_BISECT_ANSWER_GOOD;
		if (!*ret_why)
			*ret_why =
				kab_xasprintf("%+.2f %% against the good end in %zu blocks, odds "
					      "%.3g to 1 for bad",
					      100 * kab_bisect_effect(&b, i), b.nodes[i].blocks,
					      kab_bisect_odds(&b, i));
	}
	kab_bisect_close(&b);
	return rc;
}
