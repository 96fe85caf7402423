/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time is int64_t nanoseconds everywhere. */
#ifndef KAB_BASE_CLOCK_H
#define KAB_BASE_CLOCK_H

#include <stdint.h>

#include "base/err.h"

#define KAB_NS_PER_S INT64_C(1000000000)
#define KAB_NS_PER_MS INT64_C(1000000)

/* CLOCK_MONOTONIC: for durations and deadlines. */
int64_t kab_now_mono_ns(void);
/* CLOCK_REALTIME since 1970: for records only, never for durations. */
int64_t kab_now_wall_ns(void);
/* now + seconds, saturating. */
int64_t kab_deadline_s(double seconds);
/* Milliseconds until the deadline, rounded up, at least 0, at most INT_MAX: for poll(). */
int kab_deadline_poll_ms(int64_t deadline_ns);
/* Wait until the deadline. 0 when it has passed, -1 (CANCELLED) when cancel_fd became readable.
 * cancel_fd -1 is never readable. */
int kab_wait_until(int64_t deadline_ns, int cancel_fd, struct kab_err *err);
/* "2026-11-30T22:42:03Z" (UTC) into buf[21]. */
void kab_format_utc(int64_t wall_ns, char buf[24]);

#endif
