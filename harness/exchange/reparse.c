/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/reparse.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "runners/runner.h"

/* The reverse of kab_params_canonical(). */
static void params_of(const char *text, struct kab_params *ret)
{
	while (text && *text) {
		kab_autobuf struct kab_buf name = KAB_BUF_INIT, value = KAB_BUF_INIT;
		struct kab_buf *to = &name;

		for (; *text && *text != ';'; text++) {
			if (*text == '=' && to == &name) {
				to = &value;
				continue;
			}
			if (*text == '\\' && text[1])
				text++;
			kab_buf_addc(to, *text);
		}
		text += *text == ';';
		if (name.len)
			kab_params_set(ret, kab_buf_str(&name), kab_buf_str(&value));
	}
}

struct streams {
	struct kab_stream *v;
	size_t n, cap;
};

static void streams_release(struct streams *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free((char *)s->v[i].name);
		free((char *)s->v[i].data);
	}
	free(s->v);
}

static int load(struct kab_store *store, int64_t id, struct streams *ret, struct kab_err *err)
{
	char **names;
	size_t n;
	int rc = 0;

	if (kab_store_output_names(store, id, &names, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct kab_stream *s;
		char *data = NULL;
		size_t len = 0;
		bool cut = false;

		if (!rc)
			rc = kab_store_output(store, id, names[i], &data, &len, &cut, err);
		if (rc) {
			free(names[i]);
			continue;
		}
		s = KAB_PUSH(ret);
		*s = (struct kab_stream){ names[i], data, len, cut };
	}
	free(names);
	return rc < 0 ? -1 : 0;
}

static bool same_samples(const struct kab_samples *a, const struct kab_samples *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i].metric, b->v[i].metric) || strcmp(a->v[i].unit, b->v[i].unit) ||
		    a->v[i].dir != b->v[i].dir || a->v[i].value != b->v[i].value)
			return false;
	return true;
}

/* "time 0.5 s -> 0.7 s; new: rate 3 1/s" */
static char *describe(const struct kab_extraction_info *old, const char *status,
		      const struct kab_samples *now)
{
	struct kab_buf text = KAB_BUF_INIT;
	size_t shown = 0, differ = 0;

	if (strcmp(old->parse_status, status))
		kab_buf_addf(&text, "status %s -> %s", old->parse_status, status);
	for (size_t i = 0; i < old->samples.n || i < now->n; i++) {
		const struct kab_sample *a = i < old->samples.n ? &old->samples.v[i] : NULL,
					*b = i < now->n ? &now->v[i] : NULL;

		if (a && b && !strcmp(a->metric, b->metric) && !strcmp(a->unit, b->unit) &&
		    a->dir == b->dir && a->value == b->value)
			continue;
		differ++;
		if (shown++ >= 3)
			continue;
		if (text.len)
			kab_buf_adds(&text, "; ");
		if (a)
			kab_buf_addf(&text, "%s %.12g %s (%s)", a->metric, a->value, a->unit,
				     kab_direction_name(a->dir));
		else
			kab_buf_adds(&text, "nothing");
		if (b)
			kab_buf_addf(&text, " -> %s %.12g %s (%s)", b->metric, b->value, b->unit,
				     kab_direction_name(b->dir));
		else
			kab_buf_adds(&text, " -> nothing");
	}
	if (differ > 3)
		kab_buf_addf(&text, "; and %zu more", differ - 3);
	return kab_buf_detach(&text);
}

static int reread(struct kab_store *store, const struct kab_step_info *step,
		  const struct kab_runner *runner, const struct streams *streams,
		  enum kab_reparse_change *ret_change, char **ret_text, struct kab_err *err)
{
	struct kab_outputs outputs = { streams->v, streams->n };
	struct kab_extraction_info old;
	struct kab_parse_result now = { 0 };
	struct kab_params params = { 0 };
	const char *status;
	bool usable;
	int rc = kab_store_extraction(store, step->id, &old, err);

	if (rc < 0)
		return -1;
	if (rc == 1) { /* nothing was read when it was stored */
		old.parse_status = kab_xstrdup("not read");
		old.parser_version = kab_xstrdup("");
	}
	params_of(step->params_resolved ? step->params_resolved : step->params_text, &params);
	runner->parse(&outputs, step->exit_status, &params, &now);
	status = kab_parse_status_name(now.status);
	usable = now.status == KAB_PARSE_OK || now.status == KAB_PARSE_PARTIAL;
	if (!usable)
		kab_samples_release(&now.samples);
	if (!strcmp(old.parse_status, status) && same_samples(&old.samples, &now.samples))
		*ret_change = strcmp(old.parser_version, runner->parser_version)
				      ? KAB_REPARSE_CONFIRMED
				      : KAB_REPARSE_SAME;
	else
		*ret_change = KAB_REPARSE_CHANGED;
	*ret_text = describe(&old, status, &now.samples);
	rc = *ret_change == KAB_REPARSE_SAME
		     ? 0
		     : kab_store_add_extraction(store, step->id, runner->name,
						runner->parser_version, status, now.message,
						now.samples.v, now.samples.n, err);
	kab_extraction_info_release(&old);
	kab_parse_result_release(&now);
	kab_params_release(&params);
	return rc;
}

static int reparse_step(struct kab_store *store, const struct kab_step_info *step,
			enum kab_reparse_change *ret_change, char **ret_text, struct kab_err *err)
{
	const struct kab_runner *runner = kab_runner_find(step->runner);
	struct streams streams = { 0 };
	int rc;

	*ret_change = KAB_REPARSE_SKIPPED;
	if (!runner) {
		*ret_text = kab_xasprintf("there is no runner '%s' to read it", step->runner);
		return 0;
	}
	rc = load(store, step->id, &streams, err);
	if (!rc && !streams.n)
		*ret_text = kab_xstrdup("no output of it is kept");
	else if (!rc)
		rc = reread(store, step, runner, &streams, ret_change, ret_text, err);
	streams_release(&streams);
	return rc;
}

int kab_reparse_run(struct kab_store *store, int64_t run_id, kab_reparse_report *report, void *ctx,
		    struct kab_reparse_counts *ret, struct kab_err *err)
{
	struct kab_step_info *steps;
	size_t n;
	int rc = 0;

	*ret = (struct kab_reparse_counts){ 0 };
	if (kab_store_list_steps(store, run_id, 0, &steps, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		enum kab_reparse_change change;
		kab_autofree char *text = NULL;

		/* A missing iteration never ran. */
		if (!rc && (steps[i].state == KAB_ITER_DONE || steps[i].state == KAB_ITER_FAILED)) {
			rc = reparse_step(store, &steps[i], &change, &text, err);
			if (!rc) {
				ret->n[change]++;
				if (report)
					report(ctx, &steps[i], change, text);
			}
		}
		kab_step_info_release(&steps[i]);
	}
	free(steps);
	return rc;
}
