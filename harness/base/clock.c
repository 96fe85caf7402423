/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>

static int64_t now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * KAB_NS_PER_S + ts.tv_nsec;
}

int64_t kab_now_mono_ns(void)
{
	return now(CLOCK_MONOTONIC);
}

int64_t kab_now_wall_ns(void)
{
	return now(CLOCK_REALTIME);
}

int64_t kab_deadline_s(double seconds)
{
	int64_t t = kab_now_mono_ns();
	double ns = seconds * 1e9;

	if (ns >= (double)(INT64_MAX - t))
		return INT64_MAX;
	return ns > 0 ? t + (int64_t)ns : t;
}

int kab_deadline_poll_ms(int64_t deadline_ns)
{
	int64_t left = deadline_ns - kab_now_mono_ns();

	if (left <= 0)
		return 0;
	left = left / KAB_NS_PER_MS + (left % KAB_NS_PER_MS != 0);
	return left > INT_MAX ? INT_MAX : (int)left;
}

int kab_wait_until(int64_t deadline_ns, int cancel_fd, struct kab_err *err)
{
	struct pollfd pfd = { .fd = cancel_fd, .events = POLLIN };

	for (;;) {
		int ms = kab_deadline_poll_ms(deadline_ns);
		int n = poll(&pfd, 1, ms);

		if (n > 0)
			return kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
		if (n < 0 && errno != EINTR)
			return kab_err_errno(err, KAB_ERR_ENV, "poll failed");
		if (kab_now_mono_ns() >= deadline_ns)
			return 0;
	}
}

void kab_format_utc(int64_t wall_ns, char buf[24])
{
	time_t t = (time_t)(wall_ns / KAB_NS_PER_S);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(buf, 24, "%Y-%m-%dT%H:%M:%SZ", &tm);
}
