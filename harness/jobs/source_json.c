/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels that somebody names in JSON: a feed of releases, or a program. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "jobs/source.h"
#include "model/kernel.h"
#include "transport/child.h"

#define HOOK_OUTPUT_MAX ((size_t)4 << 20)

/* ---- what a program prints ---- */

static const char *const kernel_keys[] = { "label",  "spec",	 "id",	       "sha256",
					   "commit", "describe", "is_release", NULL };

static int read_kernel(const struct kab_json *node, struct kab_candidates *ret, struct kab_err *err)
{
	const char *label, *spec, *id, *sha256, *commit, *describe;
	struct kab_kernel_list probe = { 0 };
	struct kab_err why = KAB_ERR_INIT;
	char *text kab_autofree = NULL;
	struct kab_candidate *c;
	bool is_release;
	int status;

	if (kab_json_object(node, kernel_keys, err) < 0 ||
	    kab_json_need_str(node, "label", &label, err) < 0 ||
	    kab_json_need_str(node, "spec", &spec, err) < 0 ||
	    kab_json_str(node, "id", NULL, &id, err) < 0 ||
	    kab_json_str(node, "sha256", NULL, &sha256, err) < 0 ||
	    kab_json_str(node, "commit", NULL, &commit, err) < 0 ||
	    kab_json_str(node, "describe", NULL, &describe, err) < 0 ||
	    kab_json_bool(node, "is_release", kab_source_is_release(NULL, label), &is_release,
			  err) < 0)
		return -1;
	if (sha256 && (strlen(sha256) != 64 || strspn(sha256, "0123456789abcdefABCDEF") != 64)) {
		struct kab_json child = kab_json_get(node, "sha256");

		return kab_json_fail(&child, err, "expected 64 hexadecimal digits");
	}
	text = kab_xasprintf("%s=%s", label, spec);
	status = kab_kernel_add(&probe, text, &why);
	kab_kernel_list_release(&probe);
	if (status < 0)
		return kab_json_fail(node, err, "%s", why.text);
	c = KAB_PUSH(ret);
	*c = (struct kab_candidate){ .label = kab_xstrdup(label),
				     .spec = kab_xstrdup(spec),
				     .identity = kab_xstrdup(id),
				     .sha256 = kab_xstrdup(sha256),
				     .commit = kab_xstrdup(commit),
				     .describe = kab_xstrdup(describe),
				     .is_release = is_release };
	return 0;
}

int kab_source_read_kernels(const char *place, const char *bytes, size_t n,
			    struct kab_candidates *ret, struct kab_err *err)
{
	static const char *const keys[] = { "kernels", NULL };
	struct kab_json root, list;
	json_t *doc = NULL;
	int status = 0;

	if (kab_json_load_bytes(place, bytes, n, &doc, err) < 0)
		return -1;
	root = kab_json_root(doc, place);
	if (kab_json_object(&root, keys, err) < 0) {
		json_decref(doc);
		return -1;
	}
	list = kab_json_get(&root, "kernels");
	if (!list.value)
		status = kab_json_fail(&root, err, "expected the key 'kernels' with a list");
	else
		status = kab_json_array(&list, err);
	for (size_t i = 0; status == 0 && i < json_array_size(list.value); i++) {
		struct kab_json one = kab_json_at(&list, i);

		status = read_kernel(&one, ret, err);
	}
	json_decref(doc);
	return status;
}

/* argv, with one more word where `word` is given. */
static int run_program(const struct kab_source_def *def, const struct kab_source_env *env,
		       const char *word, struct kab_candidates *ret, struct kab_err *err)
{
	struct kab_strv kab_autostrv argv = KAB_STRV_INIT;
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(def->timeout_s),
				 .cancel_fd = env->cancel_fd };
	struct kab_exec req = { .out_max = HOOK_OUTPUT_MAX, .err_max = 65536 };
	struct kab_exec_result res = { 0 };
	char *place kab_autofree = NULL;
	int status;

	kab_strv_copy(&argv, &def->command);
	if (word)
		kab_strv_add(&argv, word);
	req.argv = (const char *const *)kab_strv_argv(&argv);
	if (kab_child_run(&req, &wait, &res, err) < 0)
		return kab_err_prefix(err, "command '%s'", argv.v[0]);
	if (res.exit_status != 0) {
		size_t n = 0;
		const char *said;

		kab_buf_rtrim(&res.err, "\n ");
		said = kab_text_tail(kab_buf_str(&res.err), res.err.len, 1, &n);
		status = kab_err_set(err, KAB_ERR_ENV, "command '%s' ended with status %d%s%.*s",
				     argv.v[0], res.exit_status, n ? ": " : "", (int)n, said);
	} else if (res.out.cut) {
		status = kab_err_set(err, KAB_ERR_PARSE, "command '%s' printed more than %zu MB",
				     argv.v[0], HOOK_OUTPUT_MAX >> 20);
	} else {
		place = kab_xasprintf("output of '%s'", argv.v[0]);
		status = kab_source_read_kernels(place, kab_buf_str(&res.out), res.out.len, ret,
						 err);
	}
	kab_exec_result_release(&res);
	return status;
}

int kab_source_look_hook(const struct kab_source_def *def, const struct kab_source_env *env,
			 struct kab_candidates *ret, struct kab_err *err)
{
	return run_program(def, env, NULL, ret, err);
}

/* ---- a feed ---- */

void kab_feed_release(struct kab_feed *feed)
{
	for (size_t i = 0; i < feed->n; i++) {
		free(feed->v[i].version);
		free(feed->v[i].moniker);
	}
	free(feed->v);
	*feed = (struct kab_feed){ 0 };
}

static int by_time(const void *a, const void *b)
{
	const struct kab_feed_entry *x = a, *y = b;

	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	return kab_source_version_cmp(x->version, y->version);
}

/* Other keys are none of our business: the document is not ours. */
static int read_entry(const struct kab_json *node, const struct kab_strv *monikers,
		      struct kab_feed *ret, struct kab_err *err)
{
	struct kab_json released = kab_json_get(node, "released");
	const char *version, *moniker;
	struct kab_feed_entry *e;
	int64_t time_s = 0;

	if (kab_json_object(node, NULL, err) < 0 ||
	    kab_json_need_str(node, "version", &version, err) < 0 ||
	    kab_json_need_str(node, "moniker", &moniker, err) < 0)
		return -1;
	if (released.value && kab_json_object(&released, NULL, err) < 0)
		return -1;
	if (released.value &&
	    kab_json_int(&released, "timestamp", 0, INT64_MAX, 0, &time_s, err) < 0)
		return -1;
	if (monikers->n ? !kab_strv_has(monikers, moniker) : strcmp(moniker, "mainline") != 0)
		return 0;
	e = KAB_PUSH(ret);
	*e = (struct kab_feed_entry){ .version = kab_xstrdup(version),
				      .moniker = kab_xstrdup(moniker),
				      .time_s = time_s };
	return 0;
}

int kab_source_read_feed(const char *place, const char *bytes, size_t n,
			 const struct kab_strv *monikers, struct kab_feed *ret, struct kab_err *err)
{
	struct kab_json root, list;
	json_t *doc = NULL;
	int status;

	if (kab_json_load_bytes(place, bytes, n, &doc, err) < 0)
		return -1;
	root = kab_json_root(doc, place);
	status = kab_json_object(&root, NULL, err);
	list = kab_json_get(&root, "releases");
	if (status == 0 && !list.value)
		status = kab_json_fail(&root, err, "expected the key 'releases' with a list");
	else if (status == 0)
		status = kab_json_array(&list, err);
	for (size_t i = 0; status == 0 && i < json_array_size(list.value); i++) {
		struct kab_json one = kab_json_at(&list, i);

		status = read_entry(&one, monikers, ret, err);
	}
	json_decref(doc);
	if (status == 0 && ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_time);
	return status;
}

/* Every {version} in the template. */
static char *fill_in(const char *template, const char *version)
{
	struct kab_buf buf = KAB_BUF_INIT;

	for (const char *p = template; *p;) {
		if (!strncmp(p, "{version}", 9)) {
			kab_buf_adds(&buf, version);
			p += 9;
		} else {
			kab_buf_addc(&buf, *p++);
		}
	}
	return kab_buf_detach(&buf);
}

int kab_source_look_feed(const struct kab_source_def *def, const struct kab_source_env *env,
			 struct kab_candidates *ret, struct kab_err *err)
{
	struct kab_buf kab_autobuf doc = KAB_BUF_INIT;
	struct kab_feed feed = { 0 };
	const struct kab_feed_entry *newest;
	struct kab_candidate *c;
	int status = kab_source_fetch(def->url, env, def->timeout_s, &doc, err);

	if (status == 0)
		status = kab_source_read_feed(def->url, kab_buf_str(&doc), doc.len, &def->monikers,
					      &feed, err);
	if (status < 0 || !feed.n) {
		kab_feed_release(&feed);
		return status;
	}
	newest = &feed.v[feed.n - 1];
	/* It becomes a word of a command line and a part of file names. */
	if (!kab_text_is_label(newest->version)) {
		status = kab_err_set(err, KAB_ERR_PARSE, "'%.60s' is not a version",
				     newest->version);
	} else if (def->command.n) {
		status = run_program(def, env, newest->version, ret, err);
	} else {
		c = KAB_PUSH(ret);
		c->label = kab_xstrdup(newest->version);
		c->spec = fill_in(def->spec, newest->version);
		c->describe = kab_xasprintf("%s %s", newest->moniker, newest->version);
		c->is_release = kab_source_is_release(def->releases, newest->version);
	}
	kab_feed_release(&feed);
	return status;
}
