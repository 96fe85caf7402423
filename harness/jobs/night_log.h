/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log of a night: a private file, DIR/DATE.log, a line an entry. Only the newest files are kept.
 * Lines that come before the date is known are held back. Thread-safe.
 */
#ifndef KAB_JOBS_NIGHT_LOG_H
#define KAB_JOBS_NIGHT_LOG_H

#include "base/err.h"
#include "base/log.h"

struct kab_night_log;

/* mirror: gets every line too (at its own level); may be NULL. The folder is made. */
int kab_night_log_new(const char *dir, int keep, const struct kab_log *mirror,
		      struct kab_night_log **ret, struct kab_err *err);
/* Its file is that of the date from now on (also after another one); older files beyond `keep` are removed. When it cannot be
 * written the mirror hears why. */
void kab_night_log_begin(struct kab_night_log *log, const char *date);
const struct kab_log *kab_night_log_sink(struct kab_night_log *log); /* borrowed */
const char *kab_night_log_path(const struct kab_night_log *log); /* NULL: none yet */
void kab_night_log_free(struct kab_night_log *log); /* NULL is fine */

#endif
