/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/window.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

/* So many minutes into the local day (which may lie days away from tm's). */
static int64_t at_minute(const struct tm *day, int days, int minute)
{
	struct tm tm = {
		.tm_year = day->tm_year,
		.tm_mon = day->tm_mon,
		.tm_mday = day->tm_mday + days,
		.tm_hour = minute / 60,
		.tm_min = minute % 60,
		.tm_isdst = -1, /* as the zone says: 22:00 is 22:00 on every day */
	};

	return (int64_t)mktime(&tm) * KAB_NS_PER_S;
}

static void make(const struct kab_window_def *def, const struct tm *day, int days,
		 struct kab_window *ret)
{
	struct tm noon = { .tm_year = day->tm_year,
			   .tm_mon = day->tm_mon,
			   .tm_mday = day->tm_mday + days,
			   .tm_hour = 12,
			   .tm_isdst = -1 };

	mktime(&noon);
	strftime(ret->date, sizeof(ret->date), "%Y-%m-%d", &noon);
	ret->from_ns = at_minute(day, days, def->start_min);
	ret->to_ns = at_minute(day, def->end_min <= def->start_min ? days + 1 : days, def->end_min);
}

static int weekday(const struct tm *day, int days)
{
	return ((day->tm_wday + days) % 7 + 7) % 7;
}

static void local(int64_t wall_ns, struct tm *ret)
{
	time_t t = (time_t)(wall_ns / KAB_NS_PER_S);

	localtime_r(&t, ret);
}

bool kab_window_now(const struct kab_window_def *def, int64_t now_ns, struct kab_window *ret)
{
	struct tm day;

	local(now_ns, &day);
	for (int days = -1; days < 9; days++) {
		if (!(def->days & 1u << weekday(&day, days)))
			continue;
		make(def, &day, days, ret);
		if (ret->to_ns > now_ns)
			return ret->from_ns <= now_ns;
	}
	return false;
}

static bool parse_date(const char *date, struct tm *ret)
{
	int y, m, d;

	if (sscanf(date, "%d-%d-%d", &y, &m, &d) != 3)
		return false;
	*ret = (struct tm){
		.tm_year = y - 1900, .tm_mon = m - 1, .tm_mday = d, .tm_hour = 12, .tm_isdst = -1
	};
	mktime(ret);
	return true;
}

void kab_window_of(const struct kab_window_def *def, const char *date, struct kab_window *ret)
{
	struct tm day;

	*ret = (struct kab_window){ 0 };
	if (parse_date(date, &day))
		make(def, &day, 0, ret);
}

bool kab_window_missed(const struct kab_window_def *def, int64_t after_ns, int64_t until_ns,
		       struct kab_window *ret)
{
	struct tm day;

	local(after_ns, &day);
	for (int days = 0; days < 9; days++) {
		if (!(def->days & 1u << weekday(&day, days)))
			continue;
		make(def, &day, days, ret);
		if (ret->from_ns > after_ns)
			return ret->to_ns <= until_ns;
	}
	return false;
}

bool kab_window_last(const struct kab_window_def *def, int64_t now_ns, struct kab_window *ret)
{
	struct tm day;

	local(now_ns, &day);
	for (int days = 0; days > -9; days--) {
		if (!(def->days & 1u << weekday(&day, days)))
			continue;
		make(def, &day, days, ret);
		if (ret->to_ns <= now_ns)
			return true;
	}
	return false;
}

const char *kab_window_local(int64_t wall_ns, char buf[24])
{
	struct tm tm;

	local(wall_ns, &tm);
	strftime(buf, 24, "%Y-%m-%d %H:%M", &tm);
	return buf;
}

int kab_window_weekday(const char *date)
{
	struct tm day;

	return parse_date(date, &day) ? day.tm_wday : 0;
}
