/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/strv.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

void kab_strv_take(struct kab_strv *sv, char *s)
{
	if (sv->n + 2 > sv->cap) {
		sv->cap = sv->cap ? sv->cap * 2 : 8;
		sv->v = kab_xreallocarray(sv->v, sv->cap, sizeof(*sv->v));
	}
	sv->v[sv->n++] = s;
	sv->v[sv->n] = NULL;
}

void kab_strv_add(struct kab_strv *sv, const char *s)
{
	kab_strv_take(sv, kab_xstrdup(s));
}

void kab_strv_add_n(struct kab_strv *sv, const char *s, size_t n)
{
	kab_strv_take(sv, kab_xstrndup(s, n));
}

void kab_strv_addf(struct kab_strv *sv, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kab_strv_take(sv, kab_xvasprintf(fmt, ap));
	va_end(ap);
}

void kab_strv_copy(struct kab_strv *dst, const struct kab_strv *src)
{
	for (size_t i = 0; i < src->n; i++)
		kab_strv_add(dst, src->v[i]);
}

void kab_strv_split(struct kab_strv *sv, const char *s, char sep)
{
	const char *end;

	if (!*s)
		return;
	while ((end = strchr(s, sep))) {
		kab_strv_add_n(sv, s, (size_t)(end - s));
		s = end + 1;
	}
	kab_strv_add(sv, s);
}

char *kab_strv_join(const struct kab_strv *sv, const char *sep)
{
	struct kab_buf buf = KAB_BUF_INIT;

	for (size_t i = 0; i < sv->n; i++) {
		if (i)
			kab_buf_adds(&buf, sep);
		kab_buf_adds(&buf, sv->v[i]);
	}
	return kab_buf_detach(&buf);
}

bool kab_strv_has(const struct kab_strv *sv, const char *s)
{
	for (size_t i = 0; i < sv->n; i++)
		if (!strcmp(sv->v[i], s))
			return true;
	return false;
}

bool kab_strv_equal(const struct kab_strv *a, const struct kab_strv *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]))
			return false;
	return true;
}

char *const *kab_strv_argv(struct kab_strv *sv)
{
	if (!sv->v) {
		sv->cap = 8;
		sv->v = kab_xcalloc(sv->cap, sizeof(*sv->v));
	}
	return sv->v;
}

void kab_strv_release(struct kab_strv *sv)
{
	if (!sv)
		return;
	for (size_t i = 0; i < sv->n; i++)
		free(sv->v[i]);
	free(sv->v);
	*sv = (struct kab_strv)KAB_STRV_INIT;
}
