/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prose of mails and reports: 72 columns, ASCII. Pure. */
#ifndef KAB_JOBS_NIGHT_TEXT_H
#define KAB_JOBS_NIGHT_TEXT_H

#include <stdint.h>

#include "base/buf.h"

#define KAB_NIGHT_WIDTH 72

/* Append text, broken at blanks; the first line behind `first`, the others behind as many blanks. */
void kab_night_wrap(struct kab_buf *out, const char *first, const char *text);
/* "Sat, 01 Dec 2026 02:10:00 +0000", as RFC 5322 wants it; into buf, which is returned. */
const char *kab_night_mail_date(int64_t wall_ns, char buf[40]);

#endif
