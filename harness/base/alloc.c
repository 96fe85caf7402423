/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Nothing sensible can be done without memory, and saying so must not need any. */
static void *checked(void *p, size_t bytes)
{
	if (!p && bytes) {
		fputs("kab: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *kab_xmalloc(size_t bytes)
{
	return checked(malloc(bytes ? bytes : 1), 1);
}

void *kab_xcalloc(size_t n, size_t bytes)
{
	return checked(calloc(n ? n : 1, bytes ? bytes : 1), 1);
}

void *kab_xrealloc(void *p, size_t bytes)
{
	return checked(realloc(p, bytes ? bytes : 1), 1);
}

void *kab_xreallocarray(void *p, size_t n, size_t bytes)
{
	size_t total;

	if (__builtin_mul_overflow(n, bytes, &total))
		return checked(NULL, 1);
	return kab_xrealloc(p, total);
}

char *kab_xstrdup(const char *s)
{
	return s ? checked(strdup(s), 1) : NULL;
}

char *kab_xstrndup(const char *s, size_t n)
{
	return s ? checked(strndup(s, n), 1) : NULL;
}

void *kab_xmemdup(const void *p, size_t bytes)
{
	void *copy = kab_xmalloc(bytes);

	if (bytes)
		memcpy(copy, p, bytes);
	return copy;
}

char *kab_xvasprintf(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0)
		checked(NULL, 1);
	return s;
}

char *kab_xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = kab_xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

void kab_grow_(void **v, size_t *n, size_t *cap, size_t bytes)
{
	if (*n == *cap) {
		*cap = *cap ? *cap * 2 : 8;
		*v = kab_xreallocarray(*v, *cap, bytes);
	}
	memset((char *)*v + *n * bytes, 0, bytes);
	(*n)++;
}
