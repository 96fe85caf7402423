/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which kernels are measured tonight, and why. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "engine/install.h"
#include "jobs/history.h"
#include "jobs/night.h"
#include "publish/fetch.h"

void kab_night_kernels_release(struct kab_night_kernels *k)
{
	kab_night_kernel_release(&k->test);
	kab_night_kernel_release(&k->baseline);
	kab_night_kernel_release(&k->reference);
	free(k->baseline_why);
	free(k->test_why);
	*k = (struct kab_night_kernels){ 0 };
}

static int identify(struct kab_kernel *kernel, struct kab_err *err)
{
	for (size_t i = 0; kernel->by_host && i < kernel->by_host->n; i++)
		if (identify(&kernel->by_host->v[i], err) < 0)
			return -1;
	if (kernel->by_host || !kab_install_has_files(kernel))
		return 0;
	/* Only a look at the plan comes here with files that are not fetched. */
	if (kernel->sources.n && kab_fetch_is_url(kernel->sources.v[0]))
		return 0;
	return kab_install_identify(kernel, err);
}

int kab_night_add_kernel(struct kab_kernel_list *list, const char *label, const char *spec,
			 const char *commit, const char *describe, struct kab_err *err)
{
	char *text kab_autofree = kab_xasprintf("%s=%s", label, spec);
	struct kab_kernel *kernel;

	if (kab_kernel_add(list, text, err) < 0)
		return -1;
	kernel = &list->v[list->n - 1];
	if (commit && *commit && !kernel->commit)
		kernel->commit = kab_xstrdup(commit);
	if (describe && *describe && !kernel->describe)
		kernel->describe = kab_xstrdup(describe);
	return identify(kernel, err);
}

static void set(struct kab_night_kernel *to, const char *label, const char *spec,
		const char *commit, const char *describe)
{
	to->label = kab_xstrdup(label);
	to->spec = kab_xstrdup(spec);
	to->commit = kab_xstrdup(commit ? commit : "");
	to->describe = kab_xstrdup(describe ? describe : "");
}

static void copy(struct kab_night_kernel *to, const struct kab_night_kernel *from)
{
	kab_night_kernel_release(to);
	set(to, from->label, from->spec, from->commit, from->describe);
}

static void folders(struct kab_night *night, char **ret_cache, char **ret_keep)
{
	*ret_cache = kab_xasprintf("%s/downloads", night->env->state_dir);
	*ret_keep = kab_xasprintf("%s/kernels", night->env->state_dir);
}

/*
 * "LABEL=SPEC" of the file as a kernel with files of our own. It was kept once and is found again by
 * what the file said of it, also when that place has nothing any more.
 */
static int named_kernel(struct kab_night *night, const char *text, const char *source,
			struct kab_night_kernel *ret, struct kab_err *err)
{
	char *cache kab_autofree = NULL, *keep kab_autofree = NULL;
	char *label kab_autofree = kab_xstrndup(text, strcspn(text, "="));
	char *identity kab_autofree = kab_xasprintf("file:%s", text), *got = NULL;
	struct kab_source_env env = { .cancel_fd = night->env->stop_fd, .log = night->env->log };
	struct kab_candidate c = { .label = label };
	struct kab_night_kernel kept = { 0 };
	int status;

	status =
		kab_store_night_kernel(night->env->store, night->c->name, identity, NULL, ret, err);
	if (status <= 0)
		return status;
	folders(night, &cache, &keep);
	env.cache = cache;
	env.keep = keep;
	c.spec = (char *)text + strlen(label) + 1;
	if (kab_source_adopt(&c, &env, &kept, err) < 0)
		return kab_err_prefix(err, "%s", source);
	free(kept.identity);
	kept.identity = kab_xstrdup(identity);
	kept.source = kab_xstrdup(source);
	status = kab_store_night_saw(night->env->store, night->c->name, &kept, kab_night_now(night),
				     &got, err);
	if (status == 0) {
		set(ret, got, kept.spec, kept.commit, kept.describe);
		ret->identity = kab_xstrdup(identity);
	}
	free(got);
	kab_night_kernel_release(&kept);
	return status;
}

/* The newest candidate of a source; taken when it is not known, or was not tried yet. 1: nothing new. */
static int newest(struct kab_night *night, const char *source,
		  const struct kab_candidates *candidates, struct kab_night_kernel *ret,
		  struct kab_err *err)
{
	char *cache kab_autofree = NULL, *keep kab_autofree = NULL, *label kab_autofree = NULL;
	struct kab_source_env env = { .cancel_fd = night->env->stop_fd, .log = night->env->log };
	struct kab_night_kernel kept = { 0 }, known = { 0 };
	const struct kab_candidate *c;
	int status;

	if (!candidates->n)
		return 1;
	c = &candidates->v[candidates->n - 1];
	folders(night, &cache, &keep);
	env.cache = cache;
	env.keep = keep;
	if (night->env->dry_run && strstr(c->spec, "://")) {
		/* Nothing is fetched for a look. */
		status = kab_store_night_kernel(night->env->store, night->c->name, NULL, c->label,
						&known, err);
		if (status == 1) {
			set(ret, c->label, c->spec, c->commit, c->describe);
			status = 0;
		} else if (status == 0) {
			status = known.tried ? 1 : 0;
			copy(ret, &known);
		}
		kab_night_kernel_release(&known);
		return status;
	}
	if (kab_source_adopt(c, &env, &kept, err) < 0)
		return -1;
	kept.source = kab_xstrdup(source);
	status = kab_store_night_saw(night->env->store, night->c->name, &kept, kab_night_now(night),
				     &label, err);
	if (status == 0)
		status = kab_store_night_kernel(night->env->store, night->c->name, NULL, label, ret,
						err);
	kab_night_kernel_release(&kept);
	if (status < 0)
		return -1;
	if (ret->tried) {
		kab_night_kernel_release(ret);
		return 1;
	}
	return 0;
}

/* 0: there is a new kernel; 1: there is none. A source that fails does not stop the others. */
static int find_new(struct kab_night *night, struct kab_err *err)
{
	const struct kab_nightly_env *env = night->env;
	char *cache kab_autofree = NULL, *keep kab_autofree = NULL;
	struct kab_source_env places = { .cancel_fd = env->stop_fd, .log = env->log };
	size_t n = env->look ? 1 : night->c->n_sources, broken = 0;
	char *last kab_autofree = NULL;
	bool found = false;

	folders(night, &cache, &keep);
	places.cache = cache;
	places.keep = keep;
	for (size_t i = 0; i < n; i++) {
		const char *name = env->look ? "given" : night->c->sources[i].name;
		struct kab_candidates candidates = { 0 };
		struct kab_night_kernel kernel = { 0 };
		struct kab_err why = KAB_ERR_INIT;
		int status;

		status = env->look ? env->look(env->ctx, &candidates, &why)
				   : kab_source_look(&night->c->sources[i], &places, &candidates,
						     &why);
		if (status == 0)
			status = newest(night, name, &candidates, &kernel, &why);
		kab_candidates_release(&candidates);
		if (status < 0 && (why.code == KAB_ERR_STORE || why.code == KAB_ERR_CANCELLED)) {
			if (err)
				*err = why;
			return -1;
		}
		if (status < 0) {
			broken++;
			night->failures = true;
			free(last);
			last = kab_xasprintf("source '%s': %s", name, why.text);
			if (kab_night_remark(night, "source", "", err, "source '%s': %s", name,
					     why.text) < 0)
				return -1;
		} else if (status == 0 && !found) {
			found = true;
			copy(&night->k.test, &kernel);
			night->k.test_why = kab_xasprintf("new in source '%s'", name);
		} else if (status == 0) {
			if (kab_night_remark(night, "waits", "", err,
					     "'%s' of source '%s' waits for another night",
					     kernel.label, name) < 0) {
				kab_night_kernel_release(&kernel);
				return -1;
			}
		}
		kab_night_kernel_release(&kernel);
	}
	if (!found && broken == n) {
		night->blind = "no source could be read";
		return kab_err_set(err, KAB_ERR_ENV, "%s; last: %s", night->blind, last);
	}
	return found ? 0 : 1;
}

/* What the policy would have as baseline, did nothing hold the present one. 1: there is no such. */
static int wish_baseline(struct kab_night *night, struct kab_night_kernel *ret, char **ret_why,
			 struct kab_err *err)
{
	const char *tree = night->c->name;
	bool release = night->c->baseline == KAB_BASELINE_RELEASE;
	int status = kab_store_night_last_measured(night->env->store, tree, night->window.date,
						   release, ret, err);

	if (status)
		return status;
	if (release)
		*ret_why = kab_xasprintf("the last release measured, in the night of %s",
					 ret->measured);
	else if (night->c->baseline == KAB_BASELINE_GOOD)
		*ret_why = kab_xasprintf("measured in the night of %s, and no change is open",
					 ret->measured);
	else
		*ret_why = kab_xasprintf("of the night before, %s", ret->measured);
	return 0;
}

/*
 * The baseline moves only when nothing is open: a regression that nobody has acknowledged would
 * otherwise be compared with itself from the second night on.
 */
static int choose_baseline(struct kab_night *night, struct kab_err *err)
{
	struct kab_night_kernels *k = &night->k;
	struct kab_night_baseline now = { 0 };
	struct kab_night_kernel wish = { 0 };
	char *why kab_autofree = NULL;
	const char *since = NULL;
	size_t open = 0;
	int have, wished;

	if (night->c->baseline == KAB_BASELINE_FIXED) {
		k->baseline_why = kab_xstrdup("fixed by the nightly file");
		return named_kernel(night, night->c->baseline_kernel, "baseline", &k->baseline,
				    err);
	}
	if (kab_night_open_regressions(night, &open, &why, err) < 0)
		return -1;
	since = why;
	have = kab_store_night_baseline(night->env->store, night->c->name, &now, err);
	if (have < 0)
		return -1;
	if (have == 0 && open) {
		set(&k->baseline, now.label, now.spec, NULL, NULL);
		k->baseline_why = kab_xasprintf("held since %s: %s", now.date, since);
		kab_night_baseline_release(&now);
		return 0;
	}
	free(why);
	why = NULL;
	wished = wish_baseline(night, &wish, &why, err);
	if (wished == 0 && (have != 0 || strcmp(now.label, wish.label) != 0)) {
		struct kab_night_baseline next = { .label = wish.label,
						   .spec = wish.spec,
						   .date = night->window.date,
						   .why = why };

		if (!night->env->dry_run)
			wished = kab_store_night_set_baseline(night->env->store, night->c->name,
							      &next, err);
	}
	if (wished == 0) {
		copy(&k->baseline, &wish);
		k->baseline_why = kab_xstrdup(why);
	} else if (wished == 1 && have == 0) {
		set(&k->baseline, now.label, now.spec, NULL, NULL);
		k->baseline_why = kab_xasprintf("since %s", now.date);
		wished = 0;
	} else if (wished == 1) {
		copy(&k->baseline, &k->reference);
		k->baseline_why = kab_xstrdup("the reference: no earlier night has measured "
					      "another");
		wished = 0;
		if (!night->env->dry_run) {
			struct kab_night_baseline first = { .label = k->baseline.label,
							    .spec = k->baseline.spec,
							    .date = night->window.date,
							    .why = k->baseline_why };

			wished = kab_store_night_set_baseline(night->env->store, night->c->name,
							      &first, err);
		}
	}
	kab_night_baseline_release(&now);
	kab_night_kernel_release(&wish);
	return wished;
}

/* The kernels of the newest night that measured one, again. 1: there is none. */
static int choose_again(struct kab_night *night, struct kab_err *err)
{
	struct kab_night_row *rows = NULL;
	size_t n = 0;
	int status = 1;

	if (kab_store_night_list(night->env->store, night->c->name, 60, &rows, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (status == 1 && !strcmp(rows[i].state, "done") && *rows[i].test_label &&
		    (!strcmp(rows[i].purpose, "night") || !strcmp(rows[i].purpose, "more"))) {
			set(&night->k.test, rows[i].test_label, rows[i].test_spec, NULL, NULL);
			night->k.test_why = kab_xasprintf("nothing is new; more boots of the night "
							  "of %s",
							  rows[i].date);
			set(&night->k.baseline, rows[i].baseline_label, rows[i].baseline_spec, NULL,
			    NULL);
			night->k.baseline_why =
				kab_xasprintf("as in the night of %s", rows[i].date);
			status = 0;
		}
		kab_night_row_release(&rows[i]);
	}
	free(rows);
	return status;
}

int kab_night_choose(struct kab_night *night, struct kab_err *err)
{
	struct kab_night_kernels *k = &night->k;
	int fresh;

	k->purpose = "";
	if (named_kernel(night, night->c->reference, "reference", &k->reference, err) < 0)
		return -1;
	fresh = find_new(night, err);
	if (fresh < 0)
		return -1;
	if (fresh == 0) {
		k->purpose = "night";
		return choose_baseline(night, err);
	}
	switch (night->c->unchanged) {
	case KAB_UNCHANGED_SKIP:
		return 0;
	case KAB_UNCHANGED_MORE:
		fresh = choose_again(night, err);
		if (fresh == 0)
			k->purpose = "more";
		return fresh < 0 ? -1 : 0;
	case KAB_UNCHANGED_AA:
		k->purpose = "aa";
		copy(&k->baseline, &k->reference);
		k->baseline_why = kab_xstrdup("the reference, against itself");
		copy(&k->test, &k->reference);
		free(k->test.label);
		k->test.label = kab_xasprintf("%s-again", k->reference.label);
		k->test_why = kab_xstrdup("nothing is new: the noise of each host is measured");
		return 0;
	}
	return 0;
}

static int restore(struct kab_night *night, const char *label, const char *spec,
		   struct kab_night_kernel *ret, struct kab_err *err)
{
	struct kab_night_kernel known = { 0 };
	int status;

	if (!*label)
		return 0;
	status =
		kab_store_night_kernel(night->env->store, night->c->name, NULL, label, &known, err);
	if (status < 0)
		return -1;
	set(ret, label, spec, status ? NULL : known.commit, status ? NULL : known.describe);
	kab_night_kernel_release(&known);
	return 0;
}

int kab_night_chosen(struct kab_night *night, struct kab_err *err)
{
	const struct kab_night_row *r = &night->row;
	struct kab_night_kernels *k = &night->k;

	k->purpose = !strcmp(r->purpose, "night")  ? "night"
		     : !strcmp(r->purpose, "aa")   ? "aa"
		     : !strcmp(r->purpose, "more") ? "more"
						   : "";
	k->baseline_why = kab_xstrdup(r->baseline_why);
	if (restore(night, r->test_label, r->test_spec, &k->test, err) < 0 ||
	    restore(night, r->baseline_label, r->baseline_spec, &k->baseline, err) < 0 ||
	    restore(night, r->reference_label, r->reference_spec, &k->reference, err) < 0)
		return -1;
	return 0;
}
