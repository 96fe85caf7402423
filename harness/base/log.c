/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>

#include "base/alloc.h"

void kab_log(const struct kab_log *log, enum kab_log_level level, const char *fmt, ...)
{
	char *line kab_autofree = NULL;
	int saved = errno;
	va_list ap;

	if (!log || !log->sink || level > log->level)
		return;
	va_start(ap, fmt);
	line = kab_xvasprintf(fmt, ap);
	va_end(ap);
	log->sink(log->ctx, level, line);
	errno = saved;
}
