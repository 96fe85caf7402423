/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/bisect_state.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "jobs/history_points.h"

/* ---- setup ---- */

void kab_bisect_setup_release(struct kab_bisect_setup *s)
{
	free(s->name);
	free(s->suite);
	free(s->host);
	free(s->repo);
	kab_strv_release(&s->hook);
	free(s->good);
	free(s->bad);
	free(s->case_name);
	free(s->metric);
	*s = (struct kab_bisect_setup){ 0 };
}

static json_t *text(const char *s)
{
	return s ? json_string(s) : json_null();
}

char *kab_bisect_setup_json(const struct kab_bisect_setup *s)
{
	json_t *hook = json_array(), *doc;
	char *ret;

	for (size_t i = 0; i < s->hook.n; i++)
		json_array_append_new(hook, json_string(s->hook.v[i]));
	doc = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", text(s->name),
			"suite", text(s->suite), "host", text(s->host), "repo", text(s->repo),
			"hook", hook, "good", text(s->good), "bad", text(s->bad), "case",
			text(s->case_name), "metric", text(s->metric));
	json_object_set_new(doc, "boots", json_integer(s->boots));
	json_object_set_new(doc, "max_boots", json_integer(s->max_boots));
	json_object_set_new(doc, "seed", json_integer((json_int_t)s->seed));
	json_object_set_new(doc, "steps", json_boolean(s->steps));
	ret = json_dumps(doc, JSON_COMPACT);
	json_decref(doc);
	return ret ? ret : kab_xstrdup("{}");
}

static char *word(const json_t *doc, const char *key)
{
	return kab_xstrdup(json_string_value(json_object_get(doc, key)));
}

static int whole(const json_t *doc, const char *key)
{
	return (int)json_integer_value(json_object_get(doc, key));
}

int kab_bisect_setup_from_json(const char *json, struct kab_bisect_setup *s, struct kab_err *err)
{
	json_t *doc = NULL, *item;
	size_t i;

	*s = (struct kab_bisect_setup){ 0 };
	if (kab_json_load_bytes("stored bisection", json, strlen(json), &doc, err))
		return -1;
	*s = (struct kab_bisect_setup){
		.name = word(doc, "name"),
		.suite = word(doc, "suite"),
		.host = word(doc, "host"),
		.repo = word(doc, "repo"),
		.good = word(doc, "good"),
		.bad = word(doc, "bad"),
		.case_name = word(doc, "case"),
		.metric = word(doc, "metric"),
		.boots = whole(doc, "boots"),
		.max_boots = whole(doc, "max_boots"),
		.seed = (uint64_t)json_integer_value(json_object_get(doc, "seed")),
		.steps = json_is_true(json_object_get(doc, "steps")),
	};
	json_array_foreach (json_object_get(doc, "hook"), i, item)
		if (json_is_string(item))
			kab_strv_add(&s->hook, json_string_value(item));
	json_decref(doc);
	if (s->name && s->suite && s->boots > 0 && s->max_boots > 0)
		return 0;
	kab_bisect_setup_release(s);
	return kab_err_set(err, KAB_ERR_STORE, "the stored bisection is damaged");
}

int kab_bisect_begin(struct kab_store *store, const struct kab_bisect_setup *setup,
		     const struct kab_bisect_commits *commits, int64_t now_ns, struct kab_err *err)
{
	kab_autofree char *json = kab_bisect_setup_json(setup);
	int64_t id;
	int rc;

	if (commits->n < 2)
		return kab_err_set(err, KAB_ERR_CONFIG, "there is no commit between good and bad");
	if (kab_store_bulk_begin(store, err))
		return -1;
	rc = kab_store_bisect_create(store, setup->name, json, now_ns, &id, err);
	if (!rc)
		rc = kab_store_bisect_put_commits(store, id, commits, err);
	return kab_store_bulk_end(store, rc == 0, rc ? NULL : err) || rc ? -1 : 0;
}

int kab_bisect_find(struct kab_store *store, const char *name, struct kab_bisect_row *ret,
		    struct kab_err *err)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	kab_autofree char *all = NULL;
	const char *near;
	int rc = kab_store_bisect_find(store, name, ret, err);

	if (rc <= 0)
		return rc;
	if (kab_store_bisect_names(store, &names, err))
		return -1;
	if (!names.n)
		return kab_err_set(err, KAB_ERR_NOT_FOUND,
				   "there is no bisection%s%s%s; none was begun in this store",
				   name ? " '" : "", name ? name : "", name ? "'" : "");
	near = kab_text_nearest(name, (const char *const *)kab_strv_argv(&names));
	all = kab_strv_join(&names, ", ");
	return kab_err_set(err, KAB_ERR_NOT_FOUND, "there is no bisection '%s'%s%s%s; there is: %s",
			   name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
			   all);
}

int kab_bisect_set_hook(struct kab_store *store, const char *name, const char *program,
			const struct kab_strv *words, struct kab_strv *ret_hook,
			struct kab_err *err)
{
	struct kab_bisect_setup setup;
	struct kab_bisect_row row;
	int rc;

	if (kab_bisect_find(store, name, &row, err))
		return -1;
	rc = kab_bisect_setup_from_json(row.setup_json, &setup, err);
	if (!rc && strcmp(row.state, "running") != 0)
		rc = kab_err_set(err, KAB_ERR_CONFIG,
				 "bisection '%s' has ended; nothing is built for it any more",
				 row.name);
	if (!rc) {
		struct kab_strv hook = KAB_STRV_INIT;
		kab_autofree char *json = NULL;

		if (program || setup.hook.n)
			kab_strv_add(&hook, program ? program : setup.hook.v[0]);
		for (size_t i = 1; !words->n && i < setup.hook.n; i++)
			kab_strv_add(&hook, setup.hook.v[i]);
		kab_strv_copy(&hook, words);
		kab_strv_copy(ret_hook, &hook);
		kab_strv_release(&setup.hook);
		setup.hook = hook;
		json = kab_bisect_setup_json(&setup);
		rc = kab_store_bisect_setup(store, row.id, json, err);
	}
	kab_bisect_setup_release(&setup);
	kab_bisect_row_release(&row);
	return rc;
}

int kab_bisect_open(const struct kab_bisect_env *env, const char *name, struct kab_bisect *b,
		    struct kab_err *err)
{
	struct kab_bisect_row row;
	int rc = kab_bisect_find(env->store, name, &row, err);

	*b = (struct kab_bisect){ .env = env };
	if (rc)
		return -1;
	b->id = row.id;
	b->state = kab_xstrdup(row.state);
	b->summary = kab_xstrdup(row.summary);
	rc = kab_bisect_setup_from_json(row.setup_json, &b->setup, err);
	kab_bisect_row_release(&row);
	if (!rc)
		rc = kab_store_bisect_commits(env->store, b->id, &b->commits, err);
	if (!rc)
		rc = kab_store_bisect_runs(env->store, b->id, &b->runs, err);
	if (!rc && b->commits.n < 2)
		rc = kab_err_set(err, KAB_ERR_STORE, "the stored bisection is damaged");
	if (rc)
		kab_bisect_close(b);
	return rc;
}

void kab_bisect_close(struct kab_bisect *b)
{
	kab_bisect_setup_release(&b->setup);
	kab_bisect_commits_release(&b->commits);
	kab_bisect_runs_release(&b->runs);
	free(b->state);
	free(b->summary);
	free(b->nodes);
	free(b->condition);
	free(b->case_name);
	free(b->row_key);
	free(b->metric);
	free(b->unit);
	free(b->ends_text);
	*b = (struct kab_bisect){ 0 };
}

/* ---- commits and runs ---- */

/* With steps of git, commits are added behind the two ends as git asks for them. */
size_t kab_bisect_last(const struct kab_bisect *b)
{
	return b->setup.steps ? 1 : b->commits.n - 1;
}

void kab_bisect_label(const struct kab_bisect *b, size_t i, char label[KAB_BISECT_LABEL])
{
	const char *revision = b->commits.v[i].revision;
	size_t n;

	/* The position makes it one of its kind, also where names of a list are cut. */
	n = (size_t)snprintf(label, KAB_BISECT_LABEL, "c%zu-", i);
	for (const char *p = revision; *p && n < KAB_BISECT_LABEL - 1 && p - revision < 12; p++)
		label[n++] = isalnum((unsigned char)*p) || strchr("._+-", *p) ? *p : '_';
	label[n] = '\0';
}

int kab_bisect_add(struct kab_bisect *b, const char *revision, size_t *ret, struct kab_err *err)
{
	for (size_t i = 0; i < b->commits.n; i++)
		if (!strcmp(b->commits.v[i].revision, revision)) {
			*ret = i;
			return 0;
		}
	*ret = b->commits.n;
	*KAB_PUSH(&b->commits) = (struct kab_bisect_commit){ .revision = kab_xstrdup(revision),
							     .subject = kab_xstrdup("") };
	return kab_store_bisect_put_commits(b->env->store, b->id, &b->commits, err);
}

struct kab_bisect_run *kab_bisect_unfinished(const struct kab_bisect *b)
{
	for (size_t i = 0; i < b->runs.n; i++)
		if (!b->runs.v[i].done)
			return &b->runs.v[i];
	return NULL;
}

const struct kab_bisect_run *kab_bisect_ends(const struct kab_bisect *b)
{
	for (size_t i = 0; i < b->runs.n; i++)
		if (b->runs.v[i].done && !strcmp(b->runs.v[i].purpose, "ends"))
			return &b->runs.v[i];
	return NULL;
}

static void positions_of(const struct kab_bisect_run *run, size_t *base, size_t *test)
{
	json_t *doc = json_loads(run->positions_json, 0, NULL);

	*base = (size_t)json_integer_value(json_array_get(doc, 0));
	*test = (size_t)json_integer_value(json_array_get(doc, 1));
	json_decref(doc);
}

size_t kab_bisect_test_of(const struct kab_bisect_run *run)
{
	size_t base, test;

	positions_of(run, &base, &test);
	return test;
}

int kab_bisect_finals(const struct kab_bisect *b, size_t base, size_t test)
{
	int n = 0;

	for (size_t i = 0; i < b->runs.n; i++) {
		size_t p, q;

		positions_of(&b->runs.v[i], &p, &q);
		n += b->runs.v[i].done && !strcmp(b->runs.v[i].purpose, "final") && p == base &&
		     q == test;
	}
	return n;
}

/* ---- judging ---- */

static void keep_row(struct kab_bisect *b, const struct kab_row_data *row)
{
	free(b->condition);
	free(b->case_name);
	free(b->row_key);
	free(b->metric);
	free(b->unit);
	b->condition = kab_xstrdup(row->condition);
	b->case_name = kab_xstrdup(row->case_name);
	b->row_key = kab_xstrdup(row->row_key);
	b->metric = kab_xstrdup(row->metric);
	b->unit = kab_xstrdup(row->unit);
}

static bool wanted(const struct kab_bisect *b, const struct kab_row_data *row)
{
	const char *name = b->setup.case_name, *metric = b->setup.metric;
	kab_autofree char *whole_name = kab_xasprintf("%s/%s", row->case_name, row->row_key);

	return (!name || !strcmp(name, row->case_name) || !strcmp(name, whole_name)) &&
	       (!metric || !strcmp(metric, row->metric));
}

const struct kab_row_data *kab_bisect_row(const struct kab_bisect *b,
					  const struct kab_row_list *rows)
{
	for (size_t r = 0; r < rows->n; r++) {
		const struct kab_row_data *row = &rows->v[r];

		if (!strcmp(row->condition, b->condition) &&
		    !strcmp(row->case_name, b->case_name) && !strcmp(row->row_key, b->row_key) &&
		    !strcmp(row->metric, b->metric) && !strcmp(row->unit, b->unit))
			return row;
	}
	return NULL;
}

static char *pair_text(const struct kab_pair *p)
{
	return kab_xasprintf("%s %+.2f %% (95 %%: %+.2f .. %+.2f; %s)",
			     kab_outcome_name(p->outcome), p->gain_pct, p->gain_lo_pct,
			     p->gain_hi_pct, p->reason);
}

static void take_ends(struct kab_bisect *b, const struct kab_judged_row *row)
{
	const struct kab_pair *p = &row->pairs[0];
	kab_autofree char *said = pair_text(p);

	keep_row(b, row->data);
	b->sign = p->cmp.ratio_estimate > 1 ? 1 : -1;
	b->worse = p->outcome == KAB_OUTCOME_REGRESSED;
	free(b->ends_text);
	b->ends_text = kab_xasprintf("end points differ in %s%s%s/%s: %s", row->data->case_name,
				     *row->data->row_key ? "/" : "", row->data->row_key,
				     row->data->metric, said);
}

int kab_bisect_judge_ends(struct kab_bisect *b, char **ret_why, struct kab_err *err)
{
	const struct kab_judge_opts opts = KAB_JUDGE_OPTS_INIT;
	const struct kab_judged_row *best = NULL;
	struct kab_judgement j = { 0 };
	struct kab_row_list rows = { 0 };
	struct kab_buf kab_autobuf why = KAB_BUF_INIT;

	*ret_why = NULL;
	if (kab_store_load_rows(b->env->store, &kab_bisect_ends(b)->run_id, 1, &rows, err) ||
	    kab_judge(&rows, &opts, &j, err)) {
		kab_row_list_release(&rows);
		return -1;
	}
	for (size_t r = 0; r < j.n; r++) {
		const struct kab_pair *p = &j.v[r].pairs[0];

		if (!j.v[r].n_pairs || !wanted(b, j.v[r].data) ||
		    (!j.v[r].verdict && !b->setup.metric))
			continue;
		if ((p->outcome == KAB_OUTCOME_IMPROVED || p->outcome == KAB_OUTCOME_REGRESSED) &&
		    isfinite(p->cmp.ratio_estimate) && (!best || p->cmp.p < best->pairs[0].cmp.p)) {
			best = &j.v[r];
		} else {
			kab_autofree char *name = kab_judged_row_name(&j.v[r]);
			kab_autofree char *said = pair_text(p);

			kab_buf_addf(&why, "%s%s %s", why.len ? "; " : "", name, said);
		}
	}
	if (best)
		take_ends(b, best);
	else
		*ret_why = kab_xstrdup(why.len ? why.data : "the suite has no such case or metric");
	kab_judgement_release(&j);
	kab_row_list_release(&rows);
	return best ? 0 : 2;
}

int kab_bisect_judge_final(struct kab_bisect *b, size_t base, size_t test,
			   struct kab_bisect_final *ret, struct kab_err *err)
{
	char labels[2][KAB_BISECT_LABEL];
	struct kab_row_list rows = { 0 };
	const struct kab_row_data *row;
	struct kab_history_judged j = { 0 };
	int rc = -1;

	*ret = (struct kab_bisect_final){ .verdict = KAB_VERDICT_INCONCLUSIVE };
	kab_bisect_label(b, base, labels[0]);
	kab_bisect_label(b, test, labels[1]);
	for (size_t i = b->runs.n; i-- > 0;) {
		size_t p, q;

		positions_of(&b->runs.v[i], &p, &q);
		if (strcmp(b->runs.v[i].purpose, "final") != 0 || p != base || q != test)
			continue;
		if (kab_store_load_rows(b->env->store, &b->runs.v[i].run_id, 1, &rows, err))
			return -1;
		break;
	}
	row = kab_bisect_row(b, &rows);
	if (!row || !kab_history_set(row, labels[0]) || !kab_history_set(row, labels[1])) {
		ret->text = kab_xstrdup("the last comparison has no value");
		rc = 0;
	} else if (!kab_history_judge(row, kab_history_set(row, labels[0]),
				      kab_history_set(row, labels[1]), &j, err)) {
		enum kab_outcome o = j.pair->outcome;

		ret->verdict = o == KAB_OUTCOME_IMPROVED     ? KAB_VERDICT_IMPROVED
			       : o == KAB_OUTCOME_REGRESSED  ? KAB_VERDICT_REGRESSED
			       : o == KAB_OUTCOME_EQUIVALENT ? KAB_VERDICT_EQUIVALENT
							     : KAB_VERDICT_INCONCLUSIVE;
		ret->confirmed =
			ret->verdict == (b->worse ? KAB_VERDICT_REGRESSED : KAB_VERDICT_IMPROVED);
		ret->text = pair_text(j.pair);
		rc = 0;
	}
	kab_history_unjudge(&j);
	kab_row_list_release(&rows);
	return rc;
}
