/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/import_sources.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

void kab_sources_release(struct kab_sources *sources)
{
	for (size_t i = 0; i < sources->n; i++)
		free(sources->v[i].kernel);
	free(sources->v);
	kab_strv_release(&sources->labels);
}

static void add_source(struct kab_sources *ret, const char *word)
{
	const char *equals = strchr(word, '=');
	char *label kab_autofree = equals ? kab_xstrndup(word, (size_t)(equals - word)) : NULL;
	struct kab_source *src = KAB_PUSH(ret);

	if (label && (!kab_text_is_label(label) || !access(word, F_OK)))
		equals = NULL;
	src->kernel = equals ? kab_xstrdup(label) : NULL;
	src->path = equals ? equals + 1 : word;
}

int kab_sources_find(const struct kab_args *args, struct kab_sources *ret, struct kab_err *err)
{
	const char *word;

	for (size_t i = 0; (word = kab_args_nth(args, "kernel", i)); i++) {
		const char *equals = strchr(word, '=');
		char *label kab_autofree =
			equals ? kab_xstrndup(word, (size_t)(equals - word)) : kab_xstrdup(word);

		if (!kab_text_is_label(label))
			return kab_err_set(err, KAB_ERR_USAGE,
					   "'%s' is no label of a kernel: letters, digits and "
					   ". _ + - are",
					   label);
		if (!kab_strv_has(&ret->labels, label))
			kab_strv_add(&ret->labels, label);
		if (equals)
			*KAB_PUSH(ret) = (struct kab_source){ kab_xstrdup(label), equals + 1 };
	}
	for (size_t i = 0; i < kab_args_n(args); i++)
		add_source(ret, kab_args_at(args, i));
	for (size_t i = 0; i < ret->n && ret->labels.n == 1; i++)
		if (!ret->v[i].kernel)
			ret->v[i].kernel = kab_xstrdup(ret->labels.v[0]);
	return ret->n ? 0 : kab_err_set(err, KAB_ERR_USAGE, "no file was named");
}

int kab_sources_order(const struct kab_args *args, const struct kab_sources *sources,
		      struct kab_import_source **ret, struct kab_err *err)
{
	const char *baseline = kab_args_get(args, "baseline");
	struct kab_strv kab_autostrv order = KAB_STRV_INIT;
	size_t n = 0;

	*ret = kab_xcalloc(sources->n + 1, sizeof(**ret));
	if (baseline)
		kab_strv_add(&order, baseline);
	kab_strv_copy(&order, &sources->labels);
	for (size_t i = 0; i < sources->n; i++)
		if (sources->v[i].kernel)
			kab_strv_add(&order, sources->v[i].kernel);
	for (size_t k = 0; k < order.n; k++) {
		size_t before = n;
		bool seen = false;

		for (size_t i = 0; i < k; i++)
			seen |= !strcmp(order.v[i], order.v[k]);
		for (size_t i = 0; i < sources->n && !seen; i++)
			if (sources->v[i].kernel && !strcmp(sources->v[i].kernel, order.v[k]))
				(*ret)[n++] = (struct kab_import_source){ sources->v[i].kernel,
									  sources->v[i].path };
		if (!seen && n == before && kab_strv_has(&sources->labels, order.v[k]))
			return kab_err_set(err, KAB_ERR_USAGE, "no file is of kernel '%s'",
					   order.v[k]);
	}
	for (size_t i = 0; i < sources->n; i++)
		if (!sources->v[i].kernel)
			(*ret)[n++] = (struct kab_import_source){ NULL, sources->v[i].path };
	return 0;
}

int kab_sources_baseline(const struct kab_args *args, const struct kab_sources *sources,
			 const char *format, struct kab_import *import, struct kab_err *err)
{
	const char *baseline = kab_args_get(args, "baseline");
	char *labels kab_autofree = NULL;
	bool found = false;

	if (baseline)
		return kab_import_choose_baseline(import, baseline, err);
	for (size_t i = 0; i < sources->n; i++)
		found |= !sources->v[i].kernel;
	/* A table has an order, folders have none. */
	if (!found || import->kernels.n < 2 || !strcmp(format, "summary"))
		return 0;
	labels = kab_strv_join(&import->kernels, ", ");
	return kab_err_set(
		err, KAB_ERR_USAGE,
		"which of the kernels is the baseline? say --baseline LABEL; there are %s", labels);
}
