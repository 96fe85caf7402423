/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growing byte buffer with an upper bound. Invariants: data is NULL or NUL-terminated at
 * data[len]; len never exceeds max; bytes past max are dropped and `cut` is set, so that a host or
 * a file can never make us grow without limit.
 *
 * Life: KAB_BUF_INIT or kab_buf_init, then any verbs, then kab_buf_release (or kab_buf_detach,
 * after which the caller frees the bytes with free()).
 */
#ifndef KAB_BASE_BUF_H
#define KAB_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define KAB_BUF_DEFAULT_MAX ((size_t)64 << 20)

struct kab_buf {
	char *data; /* may be NULL while len is 0; use kab_buf_str() for a C string */
	size_t len; /* bytes, without the NUL */
	size_t cap;
	size_t max; /* bytes; 0 means KAB_BUF_DEFAULT_MAX */
	bool cut; /* bytes were dropped because of max */
};

#define KAB_BUF_INIT \
	{            \
		0    \
	}

void kab_buf_init(struct kab_buf *buf, size_t max_bytes);
void kab_buf_release(struct kab_buf *buf);
void kab_buf_clear(struct kab_buf *buf); /* len = 0, keeps the memory */
/* Never NULL; borrowed until the next change. */
const char *kab_buf_str(const struct kab_buf *buf);
/* The bytes, NUL-terminated; caller frees. The buffer is empty afterwards. */
char *kab_buf_detach(struct kab_buf *buf);

void kab_buf_add(struct kab_buf *buf, const void *bytes, size_t n);
void kab_buf_adds(struct kab_buf *buf, const char *s);
void kab_buf_addc(struct kab_buf *buf, char c);
/* n times the character c. */
void kab_buf_fill(struct kab_buf *buf, char c, size_t n);
void kab_buf_addf(struct kab_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void kab_buf_vaddf(struct kab_buf *buf, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Remove trailing bytes of `set`. */
void kab_buf_rtrim(struct kab_buf *buf, const char *set);

#define kab_autobuf __attribute__((cleanup(kab_buf_release)))

#endif
