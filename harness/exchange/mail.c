/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/mail.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "exchange/mime.h"

#define PARTS_DEPTH_MAX 8
/* A text whose lines are longer than this on average has lost its line breaks. */
#define LINE_AVERAGE_MAX 1000

static bool begins_message(const char *bytes, size_t at, size_t n)
{
	return n - at >= 5 && !strncmp(bytes + at, "From ", 5) &&
	       (!at || (bytes[at - 1] == '\n' &&
			(at == 1 || bytes[at - 2] == '\n' ||
			 (at > 2 && bytes[at - 2] == '\r' && bytes[at - 3] == '\n'))));
}

void kab_mail_split(const char *bytes, size_t n, struct kab_mail_spans *ret)
{
	bool mbox = begins_message(bytes, 0, n);
	size_t from = 0;

	for (size_t i = 1; mbox && i < n; i++) {
		if (!begins_message(bytes, i, n))
			continue;
		*KAB_PUSH(ret) = (struct kab_mail_span){ from, i - from };
		from = i;
	}
	*KAB_PUSH(ret) = (struct kab_mail_span){ from, n - from };
}

static void add_header(struct kab_mail *mail, const char *name, size_t name_len, const char *value,
		       size_t len)
{
	struct kab_mail_header *h = KAB_PUSH(mail);

	while (len && isspace((unsigned char)*value)) {
		value++;
		len--;
	}
	while (len && isspace((unsigned char)value[len - 1]))
		len--;
	h->name = kab_xstrndup(name, name_len);
	h->value = kab_xstrndup(value, len);
}

static size_t name_length(const char *line, size_t len)
{
	size_t i = 0;

	while (i < len && (isalnum((unsigned char)line[i]) || line[i] == '-' || line[i] == '_'))
		i++;
	return i && i < len && line[i] == ':' ? i : 0;
}

/* The headers at `text`; returns where the body begins, or NULL when there are no headers. */
static const char *read_headers(const char *text, struct kab_mail *mail)
{
	struct kab_buf kab_autobuf value = KAB_BUF_INIT;
	const char *p = text, *name = NULL;
	size_t name_len = 0;

	if (!strncmp(p, "From ", 5) || !strncmp(p, ">From ", 6)) {
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	while (*p && *p != '\n') {
		size_t len = strcspn(p, "\n"), n = name_length(p, len);

		if ((*p == ' ' || *p == '\t') && name) {
			size_t skip = strspn(p, " \t");

			kab_buf_addc(&value, ' ');
			kab_buf_add(&value, p + skip, len - skip);
		} else if (n) {
			if (name)
				add_header(mail, name, name_len, kab_buf_str(&value), value.len);
			kab_buf_clear(&value);
			name = p;
			name_len = n;
			kab_buf_add(&value, p + n + 1, len - n - 1);
		} else {
			/* Not a header: a text, or a mail without an empty line. */
			break;
		}
		p += len;
		p += *p == '\n';
	}
	if (name)
		add_header(mail, name, name_len, kab_buf_str(&value), value.len);
	return p + (*p == '\n');
}

/* Is it a mail at all? A table with "total: 5" lines is not. */
static bool has_headers(const struct kab_mail *mail)
{
	static const char *const known[] = { "From",	   "Subject", "Date",
					     "Message-ID", "To",      "Content-Type" };
	size_t hits = 0;

	for (size_t i = 0; i < KAB_ARRAY_SIZE(known); i++)
		hits += kab_mail_get(mail, known[i]) != NULL;
	return hits >= 2;
}

static void drop_headers(struct kab_mail *mail)
{
	for (size_t i = 0; i < mail->n; i++) {
		free(mail->v[i].name);
		free(mail->v[i].value);
	}
	free(mail->v);
	mail->v = NULL;
	mail->n = mail->cap = 0;
}

/* ---- bodies ---- */

static void decode_text(const char *type, const char *encoding, const char *bytes, size_t n,
			struct kab_mail *mail)
{
	struct kab_buf kab_autobuf plain = KAB_BUF_INIT, utf8 = KAB_BUF_INIT, lines = KAB_BUF_INIT;
	char *charset kab_autofree = kab_mime_param(type, "charset");
	char *format kab_autofree = kab_mime_param(type, "format");
	char *delsp kab_autofree = kab_mime_param(type, "delsp");

	if (encoding && !strncasecmp(encoding, "quoted-printable", 16))
		kab_mime_decode_qp(bytes, n, false, &plain);
	else if (encoding && !strncasecmp(encoding, "base64", 6))
		kab_mime_decode_base64(bytes, n, &plain);
	else
		kab_buf_add(&plain, bytes, n);
	if (!kab_mime_to_utf8(charset, kab_buf_str(&plain), plain.len, &utf8))
		mail->misread = true;
	kab_mime_unix_lines(kab_buf_str(&utf8), utf8.len, &lines);
	if (format && !strcasecmp(format, "flowed")) {
		mail->flowed = true;
		kab_mime_unflow(kab_buf_str(&lines), delsp && !strcasecmp(delsp, "yes"),
				&mail->body);
	} else {
		kab_buf_add(&mail->body, kab_buf_str(&lines), lines.len);
	}
}

static bool read_part(const struct kab_mail *part, const char *body, int depth,
		      struct kab_mail *mail);

/* The parts between "--boundary" lines; the first text/plain one wins. */
static bool read_parts(const char *type, const char *body, int depth, struct kab_mail *mail)
{
	char *boundary kab_autofree = kab_mime_param(type, "boundary");
	char *mark kab_autofree = NULL;
	const char *from = NULL;
	bool done = false;
	size_t n;

	if (!boundary || depth > PARTS_DEPTH_MAX)
		return false;
	mark = kab_xasprintf("--%s", boundary);
	n = strlen(mark);
	for (const char *p = body; *p && !done;) {
		size_t len = strcspn(p, "\n");

		if (len >= n && !strncmp(p, mark, n)) {
			if (from) {
				struct kab_mail part = { 0 };
				char *text kab_autofree = kab_xstrndup(from, (size_t)(p - from));
				const char *rest = read_headers(text, &part);

				done = read_part(&part, rest, depth + 1, mail);
				drop_headers(&part);
			}
			from = p + len + (p[len] == '\n');
		}
		p += len;
		p += *p == '\n';
	}
	return done;
}

static bool read_part(const struct kab_mail *part, const char *body, int depth,
		      struct kab_mail *mail)
{
	const char *type = kab_mail_get(part, "Content-Type");
	const char *how = kab_mail_get(part, "Content-Disposition");

	if (type && !strncasecmp(type, "multipart/", 10))
		return read_parts(type, body, depth, mail);
	if (how && !strncasecmp(how, "attachment", 10) && depth)
		return false;
	if (type && strncasecmp(type, "text/plain", 10) != 0)
		return false;
	decode_text(type, kab_mail_get(part, "Content-Transfer-Encoding"), body, strlen(body),
		    mail);
	return true;
}

/* ---- a mail in one line ---- */

static bool is_known_name(const char *w, size_t n)
{
	static const char *const known[] = {
		"From",
		"To",
		"Cc",
		"CC",
		"Subject",
		"Date",
		"Received",
		"References",
		"In-Reply-To",
		"Message-ID",
		"Message-Id",
		"Sender",
		"Reply-To",
		"Precedence",
		"Organization",
		"User-Agent",
		"MIME-Version",
		"Return-Path",
		"List-ID",
		"List-Id",
		"Content-Type",
		"Received-SPF",
		"DKIM-Signature",
		"Archived-At",
		"Mime-Version",
		"Errors-To",
		"Delivered-To",
		"Content-Language",
		"Accept-Language",
		"Content-Transfer-Encoding",
		"Content-Disposition",
		"Authentication-Results",
	};

	if (n > 3 && w[n - 1] == ':') {
		n--;
		if (!strncmp(w, "X-", 2) && strcspn(w, " ") == n + 1)
			return true;
		for (size_t i = 0; i < KAB_ARRAY_SIZE(known); i++)
			if (strlen(known[i]) == n && !strncmp(known[i], w, n))
				return true;
	} else if (n == 3 &&
		   (!strncmp(w, "To:", 3) || !strncmp(w, "Cc:", 3) || !strncmp(w, "CC:", 3))) {
		return true;
	}
	return false;
}

/* These are followed by one word, or by nothing: where they end is known. */
static bool is_one_word(const char *name)
{
	static const char *const known[] = { "X-Mailing-List",	"List-ID",    "List-Id",
					     "Precedence",	"Sender",     "MIME-Version",
					     "Message-ID",	"Message-Id", "In-Reply-To",
					     "Content-Language" };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(known); i++)
		if (!strcmp(known[i], name))
			return true;
	return false;
}

static void read_one_line(const char *text, struct kab_mail *mail)
{
	const char *end = strstr(text, " wrote: "), *quote = strstr(text, " > ");
	const char *name = NULL, *value = NULL;
	struct kab_mail_header *last;
	size_t n;

	/* No header stands behind the first quotation. */
	if (!end || (quote && quote < end))
		end = quote;
	if (!end)
		end = text + strlen(text);
	for (const char *p = text; p < end; p += n) {
		p += strspn(p, " \t\r\n");
		n = strcspn(p, " \t\r\n");
		if (!n)
			break;
		if (!is_known_name(p, n))
			continue;
		if (name)
			add_header(mail, name, strcspn(name, ":"), value, (size_t)(p - value));
		name = p;
		value = p + n;
	}
	if (!name) {
		kab_mail_rejoin(text, &mail->body);
		return;
	}
	add_header(mail, name, strcspn(name, ":"), value, strlen(value));
	last = &mail->v[mail->n - 1];
	n = is_one_word(last->name) ? strcspn(last->value, " ") : 0;
	kab_mail_rejoin(last->value + n, &mail->body);
	last->value[n] = '\0';
}

static bool lost_breaks(const char *bytes, size_t n)
{
	size_t lines = 1;

	for (size_t i = 0; i < n; i++)
		lines += bytes[i] == '\n';
	return n / lines > LINE_AVERAGE_MAX;
}

/* Lines of an mbox that begin with ">From " had one mark less. */
static void unquote_mbox(const char *text, struct kab_buf *out)
{
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n"), marks = strspn(p, ">"), skip;

		skip = p > text && marks && !strncmp(p + marks, "From ", 5);
		kab_buf_add(out, p + skip, n - skip);
		p += n;
		if (*p) {
			kab_buf_addc(out, '\n');
			p++;
		}
	}
}

int kab_mail_parse(const char *bytes, size_t n, struct kab_mail *ret, struct kab_err *err)
{
	struct kab_buf kab_autobuf raw = KAB_BUF_INIT, lines = KAB_BUF_INIT;
	const char *body;

	memset(ret, 0, sizeof(*ret));
	kab_buf_init(&ret->body, KAB_MAIL_BYTES_MAX);
	if (!n || strspn(bytes, " \t\r\n") >= n)
		return kab_err_set(err, KAB_ERR_PARSE, "nothing to read: the mail is empty");
	if (memchr(bytes, '\0', n))
		return kab_err_set(err, KAB_ERR_PARSE,
				   "not a mail or a text: there are bytes of value 0 in it");
	kab_mime_unix_lines(bytes, n, &raw);
	if (begins_message(kab_buf_str(&raw), 0, raw.len))
		unquote_mbox(kab_buf_str(&raw), &lines);
	else
		kab_buf_add(&lines, kab_buf_str(&raw), raw.len);
	if (lost_breaks(kab_buf_str(&lines), lines.len)) {
		struct kab_buf kab_autobuf utf8 = KAB_BUF_INIT;

		ret->rejoined = true;
		ret->misread = !kab_mime_to_utf8(NULL, kab_buf_str(&lines), lines.len, &utf8);
		read_one_line(kab_buf_str(&utf8), ret);
		return 0;
	}
	body = read_headers(kab_buf_str(&lines), ret);
	if (!has_headers(ret)) {
		drop_headers(ret);
		ret->misread = !kab_mime_to_utf8(NULL, kab_buf_str(&lines), lines.len, &ret->body);
		return 0;
	}
	if (!read_part(ret, body, 0, ret)) {
		kab_mail_release(ret);
		return kab_err_set(
			err, KAB_ERR_PARSE,
			"the mail has no plain text (HTML is not read); save it as text");
	}
	return 0;
}

void kab_mail_release(struct kab_mail *mail)
{
	drop_headers(mail);
	kab_buf_release(&mail->body);
	memset(mail, 0, sizeof(*mail));
}

const char *kab_mail_get(const struct kab_mail *mail, const char *name)
{
	for (size_t i = 0; i < mail->n; i++)
		if (!strcasecmp(mail->v[i].name, name))
			return mail->v[i].value;
	return NULL;
}

size_t kab_mail_count(const struct kab_mail *mail, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < mail->n; i++)
		n += !strcasecmp(mail->v[i].name, name) && *mail->v[i].value;
	return n;
}

void kab_mail_lines(const struct kab_buf *body, struct kab_mail_lines *ret)
{
	const char *text = kab_buf_str(body);

	for (const char *p = text; *p;) {
		struct kab_mail_line *line = KAB_PUSH(ret);
		size_t i = 0;

		line->raw = p;
		line->raw_len = strcspn(p, "\n");
		while (i < line->raw_len &&
		       (p[i] == '>' ||
			(line->depth && p[i] == ' ' && i + 1 < line->raw_len && p[i + 1] == '>'))) {
			line->depth += p[i] == '>';
			i++;
		}
		if (line->depth && i < line->raw_len && p[i] == ' ')
			i++;
		line->text = p + i;
		line->len = line->raw_len - i;
		p += line->raw_len;
		p += *p == '\n';
	}
}
