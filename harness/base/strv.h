/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list of owned strings, always NULL-terminated so that v is an argv. v is never NULL after
 * kab_strv_add or kab_strv_argv.
 */
#ifndef KAB_BASE_STRV_H
#define KAB_BASE_STRV_H

#include <stdbool.h>
#include <stddef.h>

struct kab_strv {
	char **v; /* n strings, then NULL; may be NULL while n is 0 */
	size_t n;
	size_t cap;
};

#define KAB_STRV_INIT \
	{             \
		0     \
	}

void kab_strv_add(struct kab_strv *sv, const char *s); /* copies s */
void kab_strv_add_n(struct kab_strv *sv, const char *s, size_t n); /* copies n bytes */
void kab_strv_take(struct kab_strv *sv, char *s); /* s is taken */
void kab_strv_addf(struct kab_strv *sv, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void kab_strv_copy(struct kab_strv *dst, const struct kab_strv *src); /* appends */
/* Split s at each character `sep`; empty pieces are kept ("a,,b" has three), "" gives none. */
void kab_strv_split(struct kab_strv *sv, const char *s, char sep);
/* Joined by sep; caller frees. */
char *kab_strv_join(const struct kab_strv *sv, const char *sep);
bool kab_strv_has(const struct kab_strv *sv, const char *s);
bool kab_strv_equal(const struct kab_strv *a, const struct kab_strv *b);
/* NULL-terminated, borrowed. */
char *const *kab_strv_argv(struct kab_strv *sv);
void kab_strv_release(struct kab_strv *sv);

#define kab_autostrv __attribute__((cleanup(kab_strv_release)))

#endif
