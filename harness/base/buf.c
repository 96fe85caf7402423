/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void kab_buf_init(struct kab_buf *buf, size_t max_bytes)
{
	*buf = (struct kab_buf){ .max = max_bytes };
}

void kab_buf_release(struct kab_buf *buf)
{
	if (!buf)
		return;
	free(buf->data);
	*buf = (struct kab_buf){ .max = buf->max };
}

void kab_buf_clear(struct kab_buf *buf)
{
	buf->len = 0;
	buf->cut = false;
	if (buf->data)
		buf->data[0] = '\0';
}

const char *kab_buf_str(const struct kab_buf *buf)
{
	return buf->data ? buf->data : "";
}

char *kab_buf_detach(struct kab_buf *buf)
{
	char *data = buf->data ? buf->data : kab_xstrdup("");

	*buf = (struct kab_buf){ .max = buf->max };
	return data;
}

/* Make room for up to n more bytes and the NUL; returns how many fit under max. */
static size_t reserve(struct kab_buf *buf, size_t n)
{
	size_t max = buf->max ? buf->max : KAB_BUF_DEFAULT_MAX;
	size_t cap;

	if (n > max - buf->len) {
		n = max - buf->len;
		buf->cut = true;
	}
	if (buf->len + n + 1 > buf->cap) {
		cap = buf->cap ? buf->cap : 64;
		while (cap < buf->len + n + 1)
			cap *= 2;
		buf->data = kab_xrealloc(buf->data, cap);
		buf->cap = cap;
	}
	return n;
}

void kab_buf_add(struct kab_buf *buf, const void *bytes, size_t n)
{
	n = reserve(buf, n);
	if (n)
		memcpy(buf->data + buf->len, bytes, n);
	buf->len += n;
	buf->data[buf->len] = '\0';
}

void kab_buf_adds(struct kab_buf *buf, const char *s)
{
	kab_buf_add(buf, s, strlen(s));
}

void kab_buf_addc(struct kab_buf *buf, char c)
{
	kab_buf_add(buf, &c, 1);
}

void kab_buf_fill(struct kab_buf *buf, char c, size_t n)
{
	n = reserve(buf, n);
	if (n)
		memset(buf->data + buf->len, c, n);
	buf->len += n;
	buf->data[buf->len] = '\0';
}

void kab_buf_vaddf(struct kab_buf *buf, const char *fmt, va_list ap)
{
	char small[256];
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n >= 0 && (size_t)n < sizeof(small)) {
		kab_buf_add(buf, small, (size_t)n);
	} else if (n >= 0) {
		char *big kab_autofree = kab_xvasprintf(fmt, again);

		kab_buf_adds(buf, big);
	}
	va_end(again);
}

void kab_buf_addf(struct kab_buf *buf, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kab_buf_vaddf(buf, fmt, ap);
	va_end(ap);
}

void kab_buf_rtrim(struct kab_buf *buf, const char *set)
{
	/* strchr() would find the NUL that ends `set`. */
	while (buf->len && buf->data[buf->len - 1] && strchr(set, buf->data[buf->len - 1]))
		buf->len--;
	if (buf->data)
		buf->data[buf->len] = '\0';
}
