/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/import_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

static void enter(struct kab_strv *words, const char *word)
{
	if (!kab_strv_has(words, word))
		kab_strv_add(words, word);
}

static char *or_empty(const char *text)
{
	return kab_xstrdup(text ? text : "");
}

static const char *host_of(const struct kab_import_place *p)
{
	return p->host ? p->host : "import";
}

static void enter_place(struct kab_import *import, const struct kab_import_place *p)
{
	enter(&import->kernels, p->kernel);
	enter(&import->hosts, host_of(p));
	enter(&import->cases, p->case_name);
}

struct kab_import_iter *kab_import_add(struct kab_import *import, const struct kab_import_place *p,
				       const char *boot)
{
	struct kab_import_iter *it = KAB_PUSH(import);

	enter_place(import, p);
	it->kernel = kab_xstrdup(p->kernel);
	it->host = kab_xstrdup(host_of(p));
	it->condition = or_empty(p->condition);
	it->case_name = kab_xstrdup(p->case_name);
	it->row_key = or_empty(p->row_key);
	it->runner = kab_xstrdup(p->runner);
	it->boot = kab_xstrdup(boot ? boot : "1");
	it->params = kab_xstrdup("");
	it->parse_status = kab_xstrdup("ok");
	it->state = KAB_ITER_DONE;
	it->exit_status = -1;
	return it;
}

void kab_import_fail(struct kab_import *import, struct kab_import_iter *it, const char *reason)
{
	if (it->state != KAB_ITER_FAILED)
		import->n_failed++;
	it->state = KAB_ITER_FAILED;
	kab_samples_release(&it->samples);
	it->samples = (struct kab_samples){ 0 };
	if (!strcmp(it->parse_status, "ok")) {
		free(it->parse_status);
		it->parse_status = kab_xstrdup("tool-failed");
	}
	free(it->reason);
	it->reason = kab_xstrdup(reason);
}

static bool same_place(const struct kab_import_summary *s, const struct kab_import_place *p)
{
	return !strcmp(s->kernel, p->kernel) && !strcmp(s->host, host_of(p)) &&
	       !strcmp(s->condition, p->condition ? p->condition : "") &&
	       !strcmp(s->case_name, p->case_name) &&
	       !strcmp(s->row_key, p->row_key ? p->row_key : "") && !strcmp(s->runner, p->runner);
}

int kab_import_add_summary(struct kab_import *import, const struct kab_import_place *p,
			   const char *metric, const char *unit, enum kab_direction dir, int64_t n,
			   double mean, double sd, const char *where, struct kab_err *err)
{
	struct kab_import_summary *s;

	if (n < 1 || n > INT32_MAX)
		return kab_err_set_at(err, KAB_ERR_PARSE, where,
				      "%s: n is a whole number from 1 on, not %lld", where,
				      (long long)n);
	if (!isfinite(mean) || isinf(sd) || sd < 0)
		return kab_err_set_at(err, KAB_ERR_PARSE, where,
				      "%s: a mean is a finite number, and a standard deviation one "
				      "from 0 on",
				      where);
	for (size_t i = 0; i < import->summaries.n; i++) {
		s = &import->summaries.v[i];
		if (same_place(s, p) && !strcmp(s->metric, metric) && !strcmp(s->unit, unit))
			return kab_err_set_at(
				err, KAB_ERR_PARSE, where,
				"%s: a second summary of '%s' of kernel '%s' in '%s%s%s'; "
				"summaries are not pooled: give them rows or kernels of their own",
				where, metric, p->kernel, p->case_name,
				p->row_key && *p->row_key ? " " : "", p->row_key ? p->row_key : "");
	}
	s = KAB_PUSH(&import->summaries);
	enter_place(import, p);
	*s = (struct kab_import_summary){ .kernel = kab_xstrdup(p->kernel),
					  .host = kab_xstrdup(host_of(p)),
					  .condition = or_empty(p->condition),
					  .case_name = kab_xstrdup(p->case_name),
					  .row_key = or_empty(p->row_key),
					  .runner = kab_xstrdup(p->runner),
					  .metric = kab_xstrdup(metric),
					  .unit = kab_xstrdup(unit),
					  .dir = dir,
					  .n = n,
					  .mean = mean,
					  .sd = sd };
	return 0;
}

int kab_import_judge(struct kab_import *import, const char *case_name, const char *runner,
		     const char *metric, const char *unit, enum kab_direction dir,
		     const char *where, struct kab_err *err)
{
	struct kab_import_verdict *v;

	for (size_t i = 0; i < import->verdicts.n; i++) {
		v = &import->verdicts.v[i];
		if (strcmp(v->case_name, case_name) || strcmp(v->runner, runner) ||
		    strcmp(v->metric, metric) || strcmp(v->unit, unit))
			continue;
		if (v->dir != dir)
			return kab_err_set_at(err, KAB_ERR_PARSE, where,
					      "%s%s'%s' of '%s' is %s here and was %s before",
					      where ? where : "", where ? ": " : "", metric,
					      case_name, kab_direction_name(dir),
					      kab_direction_name(v->dir));
		return 0;
	}
	v = KAB_PUSH(&import->verdicts);
	v->case_name = kab_xstrdup(case_name);
	v->runner = kab_xstrdup(runner);
	v->metric = kab_xstrdup(metric);
	v->unit = kab_xstrdup(unit);
	v->dir = dir;
	return 0;
}

void kab_import_note(struct kab_import *import, const char *fmt, ...)
{
	char *text kab_autofree = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = kab_xvasprintf(fmt, ap);
	va_end(ap);
	enter(&import->notes, text);
}

void kab_import_caveat(struct kab_import *import, const char *fmt, ...)
{
	char *text kab_autofree = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = kab_xvasprintf(fmt, ap);
	va_end(ap);
	enter(&import->notes, text);
	enter(&import->caveats, text);
}

char *kab_import_shown(const char *text)
{
	struct kab_buf buf = KAB_BUF_INIT;

	kab_text_escape(&buf, text, strlen(text));
	if (!buf.data)
		return kab_xstrdup("");
	for (size_t i = 0; i < buf.len; i++)
		if (buf.data[i] == '\n' || buf.data[i] == '\t')
			buf.data[i] = '?';
	return kab_buf_detach(&buf);
}

void kab_import_unread(struct kab_import *import, const char *path, const char *why)
{
	char *shown kab_autofree = kab_import_shown(path);

	kab_strv_addf(&import->unread, "%s: %s", shown, why);
}

void kab_import_digest(struct kab_import *import, const void *bytes, size_t n)
{
	char hex[KAB_SHA256_HEX_SIZE];

	kab_sha256_hex(bytes, n, hex);
	kab_strv_add(&import->digests, hex);
}

int kab_import_read(struct kab_import *import, const char *path, struct kab_buf *ret,
		    struct kab_err *err)
{
	if (kab_file_read(path, ret, err))
		return -1;
	kab_import_digest(import, ret->data, ret->len);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void kab_import_sha256(const struct kab_import *import, char hex[KAB_SHA256_HEX_SIZE])
{
	struct kab_strv kab_autostrv sorted = KAB_STRV_INIT;
	char *all kab_autofree = NULL;

	kab_strv_copy(&sorted, &import->digests);
	if (sorted.n)
		qsort(sorted.v, sorted.n, sizeof(*sorted.v), by_text);
	all = kab_strv_join(&sorted, "\n");
	kab_sha256_hex(all, strlen(all), hex);
}

int kab_import_choose_baseline(struct kab_import *import, const char *label, struct kab_err *err)
{
	for (size_t i = 0; i < import->kernels.n; i++) {
		char *found = import->kernels.v[i];

		if (strcmp(found, label))
			continue;
		memmove(import->kernels.v + 1, import->kernels.v, i * sizeof(char *));
		import->kernels.v[0] = found;
		return 0;
	}
	return kab_err_set(err, KAB_ERR_NOT_FOUND, "nothing is of kernel '%s', the baseline",
			   label);
}

static bool direct(struct kab_import *import, const char *metric, enum kab_direction dir)
{
	bool found = false;

	for (size_t i = 0; i < import->n; i++) {
		struct kab_samples *s = &import->v[i].samples;

		for (size_t k = 0; k < s->n; k++)
			if (!strcmp(s->v[k].metric, metric)) {
				s->v[k].dir = dir;
				found = true;
			}
	}
	for (size_t i = 0; i < import->summaries.n; i++)
		if (!strcmp(import->summaries.v[i].metric, metric)) {
			import->summaries.v[i].dir = dir;
			found = true;
		}
	for (size_t i = 0; i < import->verdicts.n; i++)
		if (!strcmp(import->verdicts.v[i].metric, metric))
			import->verdicts.v[i].dir = dir;
	return found;
}

int kab_import_direct(struct kab_import *import, const struct kab_strv *lower,
		      const struct kab_strv *higher, struct kab_err *err)
{
	for (size_t i = 0; i < lower->n; i++)
		if (kab_strv_has(higher, lower->v[i]))
			return kab_err_set(err, KAB_ERR_USAGE,
					   "'%s' cannot be better both lower and higher",
					   lower->v[i]);
	for (int up = 0; up < 2; up++) {
		const struct kab_strv *names = up ? higher : lower;

		for (size_t i = 0; i < names->n; i++)
			if (!direct(import, names->v[i], up ? KAB_DIR_HIGHER : KAB_DIR_LOWER))
				return kab_err_set(err, KAB_ERR_NOT_FOUND,
						   "nothing measured '%s'; --dry-run shows the "
						   "names of what there is",
						   names->v[i]);
	}
	return 0;
}
