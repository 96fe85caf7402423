/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/mime.h"

#include <ctype.h>
#include <iconv.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define WORD_MAX ((size_t)75)

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

void kab_mime_decode_qp(const char *s, size_t n, bool word, struct kab_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		size_t end = i + 1;

		if (word && s[i] == '_') {
			kab_buf_addc(out, ' ');
			continue;
		}
		if (s[i] != '=') {
			kab_buf_addc(out, s[i]);
			continue;
		}
		if (i + 2 < n && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0) {
			kab_buf_addc(out, (char)(hex(s[i + 1]) << 4 | hex(s[i + 2])));
			i += 2;
			continue;
		}
		/* Soft line break: blanks that a transport put before the line end do not count. */
		while (end < n && (s[end] == ' ' || s[end] == '\t' || s[end] == '\r'))
			end++;
		if (end >= n)
			break;
		if (s[end] == '\n')
			i = end;
		else
			kab_buf_addc(out, '=');
	}
}

static int digit64(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

void kab_mime_decode_base64(const char *s, size_t n, struct kab_buf *out)
{
	uint32_t bits = 0;
	int have = 0;

	for (size_t i = 0; i < n; i++) {
		int d = digit64(s[i]);

		if (s[i] == '=') {
			/* Padding ends a run; another one may follow. */
			have = 0;
			bits = 0;
			continue;
		}
		if (d < 0)
			continue;
		bits = bits << 6 | (uint32_t)d;
		have += 6;
		if (have >= 8) {
			have -= 8;
			kab_buf_addc(out, (char)(bits >> have & 0xff));
			bits &= (1U << have) - 1;
		}
	}
}

void kab_mime_encode_base64(const void *bytes, size_t n, struct kab_buf *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16;

		if (i + 1 < n)
			v |= (uint32_t)p[i + 1] << 8;
		if (i + 2 < n)
			v |= p[i + 2];
		kab_buf_addc(out, digits[v >> 18]);
		kab_buf_addc(out, digits[v >> 12 & 63]);
		kab_buf_addc(out, i + 1 < n ? digits[v >> 6 & 63] : '=');
		kab_buf_addc(out, i + 2 < n ? digits[v & 63] : '=');
	}
}

static void latin1(const char *s, size_t n, struct kab_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x80) {
			kab_buf_addc(out, (char)c);
		} else {
			kab_buf_addc(out, (char)(0xc0 | c >> 6));
			kab_buf_addc(out, (char)(0x80 | (c & 0x3f)));
		}
	}
}

static bool convert(const char *charset, const char *s, size_t n, struct kab_buf *out)
{
	iconv_t cd = iconv_open("UTF-8", charset);
	char *in = (char *)(uintptr_t)s;
	size_t left = n;
	bool good = true;

	if (cd == (iconv_t)-1)
		return false;
	while (left && good) {
		char room[4096], *to = room;
		size_t space = sizeof(room), before = left;
		size_t rc = iconv(cd, &in, &left, &to, &space);

		kab_buf_add(out, room, sizeof(room) - space);
		/* A full room is no error, as long as something was read. */
		good = rc != (size_t)-1 || (left < before && space < 16);
	}
	iconv_close(cd);
	return good;
}

bool kab_mime_to_utf8(const char *charset, const char *s, size_t n, struct kab_buf *out)
{
	size_t before = out->len;
	bool plain = !charset || !*charset || !strcasecmp(charset, "us-ascii");

	/* Who announces Latin-1 and sends what that does not have means the superset of it. */
	if (charset && (!strcasecmp(charset, "iso-8859-1") || !strcasecmp(charset, "latin1")))
		charset = "WINDOWS-1252";
	/* Many programs announce us-ascii, or nothing, and send UTF-8. */
	if (convert(plain ? "UTF-8" : charset, s, n, out))
		return true;
	if (out->data) {
		out->len = before;
		out->data[before] = '\0';
	}
	if (!plain && strcasecmp(charset, "utf-8") != 0 && convert("UTF-8", s, n, out))
		return false;
	if (out->data) {
		out->len = before;
		out->data[before] = '\0';
	}
	latin1(s, n, out);
	return false;
}

void kab_mime_unix_lines(const char *s, size_t n, struct kab_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\r') {
			if (i + 1 >= n || s[i + 1] != '\n')
				kab_buf_addc(out, '\n');
			continue;
		}
		kab_buf_addc(out, s[i]);
	}
}

void kab_mime_unflow(const char *text, bool delsp, struct kab_buf *out)
{
	size_t open_depth = 0;
	bool open = false;

	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n"), depth = strspn(p, ">");
		const char *s = p + depth;
		size_t n = len - depth;
		bool signature, flowed;

		if (n && *s == ' ') {
			s++;
			n--;
		}
		signature = n == 3 && !strncmp(s, "-- ", 3);
		flowed = n && s[n - 1] == ' ' && !signature;
		if (open && (signature || depth != open_depth)) {
			kab_buf_addc(out, '\n');
			open = false;
		}
		if (!open) {
			kab_buf_fill(out, '>', depth);
			if (depth && n)
				kab_buf_addc(out, ' ');
		}
		kab_buf_add(out, s, flowed && delsp ? n - 1 : n);
		open = flowed;
		open_depth = depth;
		if (!open)
			kab_buf_addc(out, '\n');
		p += len;
		if (*p)
			p++;
	}
	if (open)
		kab_buf_addc(out, '\n');
}

/* One encoded word at s: its length, or 0. Decoded bytes go to out as UTF-8. */
static size_t encoded_word(const char *s, struct kab_buf *out)
{
	struct kab_buf kab_autobuf bytes = KAB_BUF_INIT;
	const char *set = s + 2, *enc, *body, *end;
	char *charset kab_autofree = NULL;

	if (strncmp(s, "=?", 2) != 0 || !(enc = strchr(set, '?')) || !enc[1] || enc[2] != '?')
		return 0;
	body = enc + 3;
	end = strstr(body, "?=");
	if (!end || memchr(body, ' ', (size_t)(end - body)))
		return 0;
	/* "utf-8*en": RFC 2231 allows a language. */
	charset = kab_xstrndup(set, strcspn(set, "*?"));
	if (enc[1] == 'Q' || enc[1] == 'q')
		kab_mime_decode_qp(body, (size_t)(end - body), true, &bytes);
	else if (enc[1] == 'B' || enc[1] == 'b')
		kab_mime_decode_base64(body, (size_t)(end - body), &bytes);
	else
		return 0;
	kab_mime_to_utf8(charset, kab_buf_str(&bytes), bytes.len, out);
	return (size_t)(end + 2 - s);
}

char *kab_mime_decode_header(const char *value)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;
	bool after_word = false;

	for (const char *p = value; *p;) {
		struct kab_buf kab_autobuf word = KAB_BUF_INIT;
		size_t blanks = strspn(p, " \t"), n = encoded_word(p + blanks, &word);

		/* Blanks between two encoded words are not part of the text. */
		if (!n || !after_word)
			kab_buf_add(&out, p, blanks);
		p += blanks + n;
		after_word = n > 0;
		if (n)
			kab_buf_add(&out, kab_buf_str(&word), word.len);
		else if (*p)
			kab_buf_addc(&out, *p++);
	}
	/* An encoded word can hold any byte; a header is a line of text. */
	for (size_t i = 0; i < out.len; i++)
		if ((unsigned char)out.data[i] < 0x20 || out.data[i] == 0x7f)
			out.data[i] = ' ';
	return kab_xstrdup(kab_buf_str(&out));
}

bool kab_mime_is_ascii(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s >= 0x7f || ((unsigned char)*s < 0x20 && *s != '\t'))
			return false;
	return true;
}

void kab_mime_encode_header(const char *text, struct kab_buf *out)
{
	static const char begin[] = "=?UTF-8?q?";
	size_t room = 0;

	if (kab_mime_is_ascii(text)) {
		kab_buf_adds(out, text);
		return;
	}
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		size_t bytes = 1, need = 0;

		while (bytes < 4 && (p[bytes] & 0xc0) == 0x80)
			bytes++;
		for (size_t i = 0; i < bytes; i++)
			need += isalnum(p[i]) || p[i] == ' ' ? 1 : 3;
		if (room < need) {
			if (p != (const unsigned char *)text)
				kab_buf_adds(out, "?= ");
			kab_buf_adds(out, begin);
			room = WORD_MAX - strlen(begin) - 2;
		}
		for (size_t i = 0; i < bytes; i++) {
			if (p[i] == ' ')
				kab_buf_addc(out, '_');
			else if (isalnum(p[i]) && p[i] < 0x80)
				kab_buf_addc(out, (char)p[i]);
			else
				kab_buf_addf(out, "=%02X", p[i]);
		}
		room -= need;
		p += bytes;
	}
	kab_buf_adds(out, "?=");
}

char *kab_mime_param(const char *header, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = header ? strchr(header, ';') : NULL; p; p = strchr(p, ';')) {
		p += 1 + strspn(p + 1, " \t");
		if (strncasecmp(p, name, n) != 0)
			continue;
		p += n + strspn(p + n, " \t");
		if (*p != '=')
			continue;
		p += 1 + strspn(p + 1, " \t");
		if (*p == '"')
			return kab_xstrndup(p + 1, strcspn(p + 1, "\""));
		return kab_xstrndup(p, strcspn(p, "; \t"));
	}
	return NULL;
}

size_t kab_mime_to_ascii(const char *utf8, struct kab_buf *out)
{
	static const struct {
		const char *from, *to;
	} known[] = {
		{ "\u00a0", " " },   { "\u00b1", "+/-" },  { "\u2010", "-" },  { "\u2011", "-" },
		{ "\u2012", "-" },   { "\u2013", "-" },	   { "\u2014", "-" },  { "\u2212", "-" },
		{ "\u2018", "'" },   { "\u2019", "'" },	   { "\u201c", "\"" }, { "\u201d", "\"" },
		{ "\u2026", "..." }, { "\u00b5", "u" },	   { "\u03bc", "u" },  { "\u00d7", "x" },
		{ "\u2192", "->" },  { "\u2190", "<-" },   { "\u2264", "<=" }, { "\u2265", ">=" },
		{ "\u2502", "|" },   { "\u2500", "-" },	   { "\u253c", "+" },  { "\u2022", "*" },
		{ "\u00ae", "(R)" }, { "\u2122", "(TM)" }, { "\u00e4", "ae" }, { "\u00f6", "oe" },
		{ "\u00fc", "ue" },  { "\u00df", "ss" },   { "\u00c4", "Ae" }, { "\u00d6", "Oe" },
		{ "\u00dc", "Ue" },  { "\u00e9", "e" },	   { "\u00e8", "e" },  { "\u00e1", "a" },
		{ "\u00f3", "o" },   { "\u00ed", "i" },	   { "\u00eb", "e" },  { "\u00e7", "c" },
		{ "\ufeff", "" },
	};
	size_t lost = 0;

	for (const char *p = utf8; *p;) {
		size_t k = 0, n = 1;

		if ((unsigned char)*p < 0x80) {
			bool control = ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t') ||
				       *p == 0x7f;

			kab_buf_addc(out, control ? '?' : *p);
			lost += control;
			p++;
			continue;
		}
		while (k < KAB_ARRAY_SIZE(known) &&
		       strncmp(p, known[k].from, strlen(known[k].from)) != 0)
			k++;
		if (k < KAB_ARRAY_SIZE(known)) {
			kab_buf_adds(out, known[k].to);
			p += strlen(known[k].from);
			continue;
		}
		while (((unsigned char)p[n] & 0xc0) == 0x80)
			n++;
		kab_buf_addc(out, '?');
		lost++;
		p += n;
	}
	return lost;
}
