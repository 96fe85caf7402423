/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/scan.h"

#include <string.h>

#include "base/alloc.h"

/* Stands for a control byte inside a line: no blank and no digit, so nothing reads across it. */
#define RUBBISH '\x01'

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

void kab_scan_init(struct kab_scan *scan, const struct kab_outputs *outputs)
{
	memset(scan, 0, sizeof(*scan));
	scan->outputs = outputs;
	kab_buf_init(&scan->buf, KAB_SCAN_LINE_MAX);
}

void kab_scan_release(struct kab_scan *scan)
{
	kab_buf_release(&scan->buf);
	free(scan->prefix);
	scan->prefix = NULL;
	scan->s = NULL;
}

bool kab_scan_cut(const struct kab_outputs *outputs)
{
	for (size_t i = 0; i < outputs->n; i++)
		if (outputs->v[i].cut)
			return true;
	return false;
}

/*
 * Length of the escape sequence at p (p[0] is ESC), at least 1. *ret_plain is set when it changes
 * only the looks (colours, erasing to the end of the line), not where the text stands.
 */
static size_t escape_length(const char *p, const char *end, bool *ret_plain)
{
	const char *q = p + 1;

	*ret_plain = false;
	if (q == end)
		return 1;
	if (*q == '[') {
		/* The sequence of a cut log may have no end: it cannot be longer than this. */
		const char *limit = end - q > 64 ? q + 64 : end;

		for (q++; q < limit; q++) {
			if (*q >= 0x40 && *q <= 0x7e) {
				*ret_plain = *q == 'm' || *q == 'K' || *q == 'h' || *q == 'l';
				return (size_t)(q - p) + 1;
			}
			if (*q < 0x20)
				break;
		}
		return (size_t)(q - p);
	}
	if (*q == ']') { /* title of the window, up to BEL or ST */
		const char *limit = end - q > 256 ? q + 256 : end;

		for (q++; q < limit && *q != '\n'; q++) {
			if (*q == '\a' || (*q == '\\' && q[-1] == '\x1b')) {
				*ret_plain = true;
				return (size_t)(q - p) + 1;
			}
		}
		return (size_t)(q - p);
	}
	if (*q == '(' || *q == ')') {
		*ret_plain = true;
		return end - p < 3 ? (size_t)(end - p) : 3;
	}
	return *q < 0x20 ? 1 : 2;
}

/* Behind the learned prefix, or NULL when s does not begin with it. */
static const char *match_prefix(const char *prefix, const char *s)
{
	while (*prefix) {
		const char *p = prefix;
		bool digits = false;

		while (is_blank(*p) || is_digit(*p)) {
			digits = digits || is_digit(*p);
			p++;
		}
		if (p == prefix) {
			if (*s++ != *prefix++)
				return NULL;
			continue;
		}
		if (digits) {
			/* Blanks behind the last digit may belong to the text: count them. */
			size_t tail = 0;
			bool seen = false;

			for (const char *t = p; t > prefix && is_blank(t[-1]); t--)
				tail++;
			while (is_blank(*s) || (is_digit(*s))) {
				if (is_blank(*s) && seen && *p == '\0' && !is_blank(s[-1]))
					break;
				seen = seen || is_digit(*s);
				s++;
			}
			if (!seen)
				return NULL;
			if (*p == '\0')
				for (; tail && is_blank(*s); tail--)
					s++;
		} else {
			for (const char *t = prefix; t < p; t++) {
				if (is_blank(*s))
					s++;
				else if (*s)
					return NULL;
			}
		}
		prefix = p;
	}
	return s;
}

static void finish_line(struct kab_scan *scan)
{
	struct kab_buf *buf = &scan->buf;
	const char *s;
	int repeats;

	while (buf->len &&
	       (buf->data[buf->len - 1] == RUBBISH || is_blank(buf->data[buf->len - 1])))
		buf->data[--buf->len] = '\0';
	s = kab_buf_str(buf);
	while (*s == RUBBISH)
		s++;
	/* A prompt may stand there twice when somebody pressed return meanwhile; figures that look
	 * like the stamp before them are text. */
	repeats = scan->prefix && strpbrk(scan->prefix, ">#$") ? 4 : 1;
	for (int i = 0; scan->prefix && i < repeats; i++) {
		const char *rest = match_prefix(scan->prefix, s);

		if (!rest || rest == s)
			break;
		s = rest;
	}
	while (*s == RUBBISH)
		s++;
	scan->s = s;
	scan->overlong = buf->cut;
}

int kab_scan_next(struct kab_scan *scan)
{
	const struct kab_stream *stream;
	const char *p, *end;

	while (scan->stream < scan->outputs->n && scan->pos >= scan->outputs->v[scan->stream].len) {
		scan->stream++;
		scan->pos = 0;
	}
	if (scan->stream >= scan->outputs->n)
		return 0;
	stream = &scan->outputs->v[scan->stream];
	kab_buf_clear(&scan->buf);
	scan->buf.cut = false;
	scan->terminated = false;
	scan->rubbish = false;
	p = stream->data + scan->pos;
	end = stream->data + stream->len;
	while (p < end && !scan->terminated) {
		const char *run = p;
		bool plain;

		while (p < end && ((unsigned char)*p >= 0x20 || *p == '\t') && *p != 0x7f &&
		       (unsigned char)*p != 0xef)
			p++;
		kab_buf_add(&scan->buf, run, (size_t)(p - run));
		if (p == end)
			break;
		if (*p == '\n' || *p == '\r') {
			/* A CR alone sends the cursor back: what follows is another line. */
			while (p < end && *p == '\r')
				p++;
			if (p < end && *p == '\n')
				p++;
			scan->terminated = true;
		} else if ((unsigned char)*p == 0xef) {
			if (end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) {
				p += 3;
			} else {
				kab_buf_addc(&scan->buf, *p);
				p++;
			}
		} else if (*p == '\x1b') {
			p += escape_length(p, end, &plain);
			if (!plain) {
				scan->rubbish = true;
				kab_buf_addc(&scan->buf, RUBBISH);
			}
		} else {
			/* A run of them is one: a hole of a gigabyte of NULs costs nothing. */
			while (p < end && ((unsigned char)*p < 0x20 || *p == 0x7f) && *p != '\n' &&
			       *p != '\r' && *p != '\t' && *p != '\x1b')
				p++;
			scan->rubbish = true;
			kab_buf_addc(&scan->buf, RUBBISH);
		}
	}
	scan->pos = (size_t)(p - stream->data);
	finish_line(scan);
	return 1;
}

void kab_scan_learn(struct kab_scan *scan, const char *at)
{
	size_t n = (size_t)(at - scan->s);

	/* Longer than any prompt or log stamp: it is a text that happens to hold the words. */
	if (!n || n > 120)
		return;
	if (kab_scan_blanks(scan->s) == at)
		return;
	free(scan->prefix);
	scan->prefix = kab_xstrndup(scan->s, n);
}

const char *kab_scan_blanks(const char *s)
{
	while (is_blank(*s))
		s++;
	return s;
}

const char *kab_scan_after(const char *s, const char *key)
{
	size_t n = strlen(key);

	s = kab_scan_blanks(s);
	return strncmp(s, key, n) ? NULL : s + n;
}

bool kab_scan_end(const char *s)
{
	return *kab_scan_blanks(s) == '\0';
}

bool kab_scan_is(const char *s, const char *text)
{
	const char *rest = kab_scan_after(s, text);

	return rest && kab_scan_end(rest);
}

const char *kab_scan_number(const char *s, struct kab_number *ret)
{
	const char *point = NULL;
	char text[64];
	const char *p;

	s = kab_scan_blanks(s);
	if (!is_digit(*s))
		return NULL;
	for (p = s; is_digit(*p); p++)
		;
	if ((*p == '.' || *p == ',') && is_digit(p[1])) {
		point = p;
		for (p++; is_digit(*p); p++)
			;
	}
	if (((*p == '.' || *p == ',') && is_digit(p[1])) || *p == RUBBISH)
		return NULL;
	if ((*p == 'e' || *p == 'E') && (is_digit(p[1]) || p[1] == '+' || p[1] == '-'))
		return NULL;
	if ((size_t)(p - s) >= sizeof(text))
		return NULL;
	memcpy(text, s, (size_t)(p - s));
	text[p - s] = '\0';
	if (point)
		text[point - s] = '.';
	ret->value = strtod(text, NULL);
	ret->decimals = point ? (int)(p - point) - 1 : 0;
	return p;
}

const char *kab_scan_quantity(const char *s, const char *unit, struct kab_number *ret)
{
	size_t n = strlen(unit);
	const char *p = kab_scan_number(s, ret);

	if (!p || strncmp(p, unit, n))
		return NULL;
	p += n;
	return *p == '\0' || is_blank(*p) ? p : NULL;
}

char *kab_scan_escape(const char *s)
{
	struct kab_buf out = KAB_BUF_INIT;

	for (; *s && out.len < 80; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '\t')
			kab_buf_adds(&out, "\\t");
		else if (c == '\\' || c == '\'')
			kab_buf_addf(&out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			kab_buf_addf(&out, "\\x%02x", c);
		else
			kab_buf_addc(&out, (char)c);
	}
	if (*s)
		kab_buf_adds(&out, "...");
	return kab_buf_detach(&out);
}
