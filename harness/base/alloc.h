/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocation that cannot fail: kab is a tool, so running out of memory ends it with a message.
 * Every length that a file or a host controls is therefore capped by whoever reads it.
 * What these return is freed with free(). None of them blocks.
 */
#ifndef KAB_BASE_ALLOC_H
#define KAB_BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

void *kab_xmalloc(size_t bytes);
void *kab_xcalloc(size_t n, size_t bytes);
void *kab_xrealloc(void *p, size_t bytes);
/* Room for n items of `bytes` each; multiplication is checked. */
void *kab_xreallocarray(void *p, size_t n, size_t bytes);
/* NULL in gives NULL out. */
char *kab_xstrdup(const char *s);
/* At most n bytes of s. */
char *kab_xstrndup(const char *s, size_t n);
void *kab_xmemdup(const void *p, size_t bytes);
char *kab_xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *kab_xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* `char *s kab_autofree = ...;` frees s when it goes out of scope. */
static inline void kab_autofree_(void *p)
{
	free(*(void **)p);
}
#define kab_autofree __attribute__((cleanup(kab_autofree_)))

/*
 * Grow a { T *v; size_t n, cap; } list so that one more item fits, and point at that item,
 * which is zeroed: `struct thing *t = KAB_PUSH(list);`
 */
#define KAB_PUSH(list)                                                                 \
	(kab_grow_((void **)&(list)->v, &(list)->n, &(list)->cap, sizeof(*(list)->v)), \
	 &(list)->v[(list)->n - 1])
void kab_grow_(void **v, size_t *n, size_t *cap, size_t bytes);

#define KAB_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
