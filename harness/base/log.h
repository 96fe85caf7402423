/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Talk for people, never data: a sink that the caller passes down. Libraries log at debug, or at
 * warn when something was worked around; only cli decides what is printed. Safe from any thread as
 * long as the sink is. A NULL log is silent.
 */
#ifndef KAB_BASE_LOG_H
#define KAB_BASE_LOG_H

enum kab_log_level { KAB_LOG_ERROR, KAB_LOG_WARN, KAB_LOG_INFO, KAB_LOG_DEBUG, KAB_LOG_TRACE };

struct kab_log {
	enum kab_log_level level; /* what is above it is not formatted */
	/* line: one line without LF, borrowed for the call. */
	void (*sink)(void *ctx, enum kab_log_level level, const char *line);
	void *ctx;
};

void kab_log(const struct kab_log *log, enum kab_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
