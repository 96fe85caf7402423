/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When may be measured: windows of nights in the local time of the controller (TZ), which may have 23
 * or 25 hours in a day. Pure apart from the time zone. Times are nanoseconds since 1970.
 */
#ifndef KAB_JOBS_WINDOW_H
#define KAB_JOBS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "model/nightly.h"

/* One night: from..to, and the date of the day on which it starts. */
struct kab_window {
	int64_t from_ns, to_ns;
	char date[12]; /* "2026-12-01" */
};

/* The window that holds `now_ns`, else the next one. true: now is inside. */
bool kab_window_now(const struct kab_window_def *def, int64_t now_ns, struct kab_window *ret);
/* The window of the night of that date, whatever its day of the week is. */
void kab_window_of(const struct kab_window_def *def, const char *date, struct kab_window *ret);
/*
 * The next window that starts after `after_ns` and ends at or before `until_ns`: for the nights that
 * were missed between. false: there is none.
 */
bool kab_window_missed(const struct kab_window_def *def, int64_t after_ns, int64_t until_ns,
		       struct kab_window *ret);
/* The newest window that is over at now_ns. false: there is none within nine days. */
bool kab_window_last(const struct kab_window_def *def, int64_t now_ns, struct kab_window *ret);
/* "2026-12-01 22:00" local, for people; into buf, which is returned. */
const char *kab_window_local(int64_t wall_ns, char buf[24]);
/* Day of the week of a date, 0 is Sunday. */
int kab_window_weekday(const char *date);

#endif
