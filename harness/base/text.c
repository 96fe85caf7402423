/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"

/* Length of the valid UTF-8 sequence at p (2..4), or 0; C1 controls (U+0080..U+009F) are not valid
 * here because terminals act on them. */
static size_t utf8_sequence(const unsigned char *p, size_t n)
{
	uint32_t cp;
	size_t len;

	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		len = 2, cp = p[0] & 0x1f;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		len = 3, cp = p[0] & 0x0f;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		len = 4, cp = p[0] & 0x07;
	else
		return 0;
	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (p[i] & 0x3f);
	}
	if (cp < 0xa0 || (len == 3 && cp < 0x800) || (len == 4 && cp < 0x10000) || cp > 0x10ffff ||
	    (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	/* Bidirectional marks and overrides can make a line read as another one, separators as two. */
	if (cp == 0x061c || cp == 0x200e || cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) ||
	    (cp >= 0x2066 && cp <= 0x2069))
		return 0;
	return len;
}

/* Length of a well-formed sequence that utf8_sequence() refuses because it is a control: 2, 3 or 0. */
static size_t control_sequence(const unsigned char *p, size_t n)
{
	if (n >= 2 && p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
		return 2;
	if (n >= 2 && p[0] == 0xd8 && p[1] == 0x9c)
		return 2;
	if (n < 3 || p[0] != 0xe2)
		return 0;
	if (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae)))
		return 3;
	return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9 ? 3 : 0;
}

void kab_text_escape(struct kab_buf *buf, const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;

	for (size_t i = 0; i < n;) {
		size_t len = p[i] >= 0x80 ? utf8_sequence(p + i, n - i) : 0;

		if (len) {
			kab_buf_add(buf, bytes + i, len);
			i += len;
			continue;
		}
		if ((p[i] >= 0x20 && p[i] < 0x7f) || p[i] == '\n' || p[i] == '\t')
			kab_buf_addc(buf, bytes[i]);
		else
			kab_buf_addf(buf, "\\x%02x", p[i]);
		i++;
	}
}

void kab_text_escape_line(struct kab_buf *buf, const char *text)
{
	for (size_t n; *text; text += n) {
		n = strcspn(text, "\n\t");
		kab_text_escape(buf, text, n);
		if (text[n])
			kab_buf_addf(buf, "\\x%02x", text[n++]);
	}
}

size_t kab_text_show(struct kab_buf *buf, const char *bytes, size_t n, bool more)
{
	const unsigned char *p = (const unsigned char *)bytes;

	for (size_t i = 0; i < n;) {
		size_t left = n - i, len = p[i] >= 0x80 ? utf8_sequence(p + i, left) : 1;
		size_t whole = p[i] < 0xc2 ? 1 : p[i] < 0xe0 ? 2 : p[i] < 0xf0 ? 3 : 4;

		if (more && (left < whole || (p[i] == '\r' && left == 1)))
			return i;
		if (len > 1 || (p[i] >= 0x20 && p[i] < 0x7f) || p[i] == '\n' || p[i] == '\t' ||
		    (p[i] == '\r' && left > 1 && p[i + 1] == '\n')) {
			kab_buf_add(buf, bytes + i, len);
			i += len;
			continue;
		}
		/* In JSON, where only these can stand as they are, this says the same. */
		if (p[i] == 0x7f) {
			kab_buf_adds(buf, "\\u007f");
		} else if ((len = control_sequence(p + i, left))) {
			uint32_t cp = len == 2 ? (p[i] & 0x1fu) << 6 | (p[i + 1] & 0x3fu)
					       : (p[i] & 0x0fu) << 12 | (p[i + 1] & 0x3fu) << 6 |
							 (p[i + 2] & 0x3fu);

			kab_buf_addf(buf, "\\u%04x", cp);
			i += len;
			continue;
		} else {
			kab_buf_addf(buf, "\\x%02x", p[i]);
		}
		i++;
	}
	return n;
}

void kab_text_csv(struct kab_buf *buf, const char *s)
{
	const char *quote;

	if (!s || !*s)
		return;
	quote = strpbrk(s, ",\"\r\n") ? "\"" : "";
	kab_buf_adds(buf, quote);
	if (strchr("=+-@'\t\r", *s))
		kab_buf_addc(buf, '\'');
	for (; *s; s++) {
		if (*s == '"')
			kab_buf_addc(buf, '"');
		kab_buf_addc(buf, *s);
	}
	kab_buf_adds(buf, quote);
}

bool kab_text_is_plain(const char *s)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	kab_text_escape(&buf, s, strlen(s));
	return buf.len == strlen(s);
}

bool kab_text_is_line(const char *s)
{
	return !strpbrk(s, "\n\t") && kab_text_is_plain(s);
}

/* Levenshtein distance with one row; words are short, longer ones are never near. */
static size_t distance(const char *a, const char *b)
{
	size_t row[65], na = strlen(a), nb = strlen(b);

	if (na > 64 || nb > 64)
		return 64;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t above = row[j];
			size_t cost = diagonal + (a[i - 1] != b[j - 1]);

			if (above + 1 < cost)
				cost = above + 1;
			if (row[j - 1] + 1 < cost)
				cost = row[j - 1] + 1;
			row[j] = cost;
			diagonal = above;
		}
	}
	return row[nb];
}

const char *kab_text_nearest(const char *word, const char *const *candidates)
{
	const char *best = NULL;
	size_t best_distance = strlen(word) / 3 + 2;

	for (; *candidates; candidates++) {
		size_t d = distance(word, *candidates);

		if (d < best_distance) {
			best_distance = d;
			best = *candidates;
		}
	}
	return best;
}

const char *kab_text_tail(const char *text, size_t len, size_t lines, size_t *ret_len)
{
	size_t start = len;

	if (start && text[start - 1] == '\n')
		start--;
	while (start) {
		if (text[start - 1] == '\n' && --lines == 0)
			break;
		start--;
	}
	*ret_len = len - start;
	return text + start;
}

char *kab_text_duration(double seconds)
{
	if (!(seconds >= 0) || isinf(seconds))
		return kab_xstrdup("unknown");
	if (seconds < 120)
		return kab_xasprintf(
			seconds < 10 && seconds != floor(seconds) ? "%.1f s" : "%.0f s", seconds);
	if (seconds < 7200)
		return kab_xasprintf("%.0f min", seconds / 60);
	return kab_xasprintf("%.0f h %.0f min", floor(seconds / 3600),
			     floor(fmod(seconds, 3600) / 60));
}

bool kab_text_is_date(const char *s)
{
	struct tm tm = { 0 };
	const char *end = strptime(s, "%Y-%m-%d", &tm);
	char same[16] = "";

	/* timegm() moves a 30th of February into March; strptime() skips blanks. */
	if (end && timegm(&tm) != (time_t)-1)
		strftime(same, sizeof(same), "%Y-%m-%d", &tm);
	return strcmp(same, s) == 0 && *s;
}

bool kab_text_is_label(const char *s)
{
	if (!s || !*s || *s == '-' || strlen(s) > 128)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._+-", *s))
			return false;
	return true;
}

int kab_text_int(const char *s, int64_t *ret)
{
	char *end;
	long long n;

	if (!isdigit((unsigned char)*s) && !(*s == '-' && isdigit((unsigned char)s[1])))
		return -1;
	errno = 0;
	n = strtoll(s, &end, 10);
	if (errno || *end)
		return -1;
	*ret = n;
	return 0;
}

int kab_text_double(const char *s, double *ret)
{
	char *end;
	double x;

	if (!*s || isspace((unsigned char)*s))
		return -1;
	x = strtod(s, &end);
	if (*end || !isfinite(x))
		return -1;
	*ret = x;
	return 0;
}
