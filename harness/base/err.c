/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Mark a cut text, so that nobody takes half a sentence for the whole. */
static void __attribute__((format(printf, 3, 0)))
put(char *dst, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(dst, size, fmt, ap);

	if (n < 0)
		dst[0] = '\0';
	else if ((size_t)n >= size)
		memcpy(dst + size - 4, "...", 4);
}

static int __attribute__((format(printf, 4, 0)))
vset(struct kab_err *err, enum kab_err_code code, const char *where, const char *fmt, va_list ap)
{
	int saved = errno;

	if (err) {
		err->code = code;
		err->os_errno = 0;
		put(err->text, sizeof(err->text), fmt, ap);
		snprintf(err->where, sizeof(err->where), "%s", where ? where : "");
	}
	errno = saved;
	return -1;
}

int kab_err_set(struct kab_err *err, enum kab_err_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vset(err, code, NULL, fmt, ap);
	va_end(ap);
	return -1;
}

int kab_err_set_at(struct kab_err *err, enum kab_err_code code, const char *where, const char *fmt,
		   ...)
{
	va_list ap;

	va_start(ap, fmt);
	vset(err, code, where, fmt, ap);
	va_end(ap);
	return -1;
}

int kab_err_errno(struct kab_err *err, enum kab_err_code code, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	vset(err, code, NULL, fmt, ap);
	va_end(ap);
	if (err) {
		char buf[128];
		const char *reason = strerror_r(saved, buf, sizeof(buf));
		size_t room = sizeof(err->text) - strlen(reason) - sizeof(": ");

		err->os_errno = saved;
		len = strlen(err->text);
		/* The cause matters more than the end of a long name. */
		if (len > room) {
			len = room;
			memcpy(err->text + len - 3, "...", 3);
		}
		snprintf(err->text + len, sizeof(err->text) - len, ": %s", reason);
	}
	errno = saved;
	return -1;
}

int kab_err_prefix(struct kab_err *err, const char *fmt, ...)
{
	char old[KAB_ERR_TEXT_MAX], prefix[KAB_ERR_TEXT_MAX / 2];
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, fmt);
	put(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
	/* Who already says where it was is not made to say it twice. */
	if (!strncmp(err->text, prefix, strlen(prefix)))
		return -1;
	memcpy(old, err->text, sizeof(old));
	if ((size_t)snprintf(err->text, sizeof(err->text), "%s: %s", prefix, old) >=
	    sizeof(err->text))
		memcpy(err->text + sizeof(err->text) - 4, "...", 4);
	return -1;
}

void kab_err_clear(struct kab_err *err)
{
	if (err)
		*err = (struct kab_err)KAB_ERR_INIT;
}

int kab_err_exit_code(enum kab_err_code code)
{
	switch (code) {
	case KAB_OK:
		return 0;
	case KAB_ERR_USAGE:
		return 2;
	case KAB_ERR_CONFIG:
	case KAB_ERR_NOT_FOUND:
	case KAB_ERR_PARSE:
		return 3;
	case KAB_ERR_UNSUPPORTED:
	case KAB_ERR_ENV:
	case KAB_ERR_CONNECT:
	case KAB_ERR_AUTH:
	case KAB_ERR_REMOTE:
	case KAB_ERR_TIMEOUT:
	case KAB_ERR_BUSY:
	case KAB_ERR_STORE:
		return 4;
	case KAB_ERR_CANCELLED:
		return 130;
	case KAB_ERR_INTERNAL:
		break;
	}
	return 6;
}
