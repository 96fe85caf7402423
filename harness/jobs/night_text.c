/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/night_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "exchange/mime.h"

void kab_night_wrap(struct kab_buf *out, const char *first, const char *text)
{
	struct kab_buf kab_autobuf plain = KAB_BUF_INIT;
	size_t indent = strlen(first), width = indent;
	bool begun = false;

	kab_mime_to_ascii(text, &plain);
	kab_buf_adds(out, first);
	for (const char *p = kab_buf_str(&plain); *p;) {
		size_t n;

		p += strspn(p, " \n\t");
		n = strcspn(p, " \n\t");
		if (!n)
			break;
		if (begun && width + 1 + n > KAB_NIGHT_WIDTH) {
			kab_buf_addc(out, '\n');
			kab_buf_fill(out, ' ', indent);
			width = indent;
		} else if (begun) {
			kab_buf_addc(out, ' ');
			width++;
		}
		kab_buf_add(out, p, n);
		width += n;
		p += n;
		begun = true;
	}
	kab_buf_addc(out, '\n');
}

const char *kab_night_mail_date(int64_t wall_ns, char buf[40])
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t t = (time_t)(wall_ns / KAB_NS_PER_S);
	struct tm tm;

	gmtime_r(&t, &tm);
	snprintf(buf, 40, "%.3s, %02d %.3s %04d %02d:%02d:%02d +0000", days + 3 * tm.tm_wday,
		 tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min,
		 tm.tm_sec);
	return buf;
}
