/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "exchange/mail.h"
#include "exchange/mime.h"

/* Without blanks at both ends. Caller frees. */
static char *trimmed(const char *s, size_t n)
{
	while (n && isspace((unsigned char)*s)) {
		s++;
		n--;
	}
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	return kab_xstrndup(s, n);
}

/* What can stand in a header and in an envelope as it is, and is no option of a program. */
static bool is_plain(const char *addr)
{
	for (const char *p = addr; *p; p++)
		if (*p <= 0x20 || *p >= 0x7f || strchr("<>()\",;", *p))
			return false;
	return *addr && *addr != '-';
}

void kab_addresses_add(struct kab_addresses *list, const char *name, const char *addr)
{
	struct kab_address *a = KAB_PUSH(list);

	a->name = kab_xstrdup(name);
	a->addr = kab_xstrdup(addr);
}

bool kab_addresses_have(const struct kab_addresses *list, const char *addr)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcasecmp(list->v[i].addr, addr))
			return true;
	return false;
}

void kab_addresses_release(struct kab_addresses *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->v[i].name);
		free(list->v[i].addr);
	}
	free(list->v);
	memset(list, 0, sizeof(*list));
}

/* One mailbox: text outside and inside the angles, and comments, have been told apart. */
static void finish(struct kab_addresses *ret, struct kab_buf *words, struct kab_buf *angle,
		   struct kab_buf *comment, bool had_angle)
{
	char *w kab_autofree = trimmed(kab_buf_str(words), words->len);
	char *a kab_autofree = trimmed(kab_buf_str(angle), angle->len);
	char *c kab_autofree = trimmed(kab_buf_str(comment), comment->len);
	char *name kab_autofree = NULL;

	if (had_angle) {
		name = kab_mime_decode_header(*w ? w : c);
		if (*a)
			kab_addresses_add(ret, name, is_plain(a) ? a : "");
	} else if (strchr(w, '@')) {
		name = kab_mime_decode_header(c);
		kab_addresses_add(ret, name, is_plain(w) ? w : "");
	} else if (*w) {
		/* An archive has taken the address out. */
		name = kab_mime_decode_header(w);
		kab_addresses_add(ret, name, "");
	}
	kab_buf_clear(words);
	kab_buf_clear(angle);
	kab_buf_clear(comment);
}

void kab_addresses_parse(const char *header, struct kab_addresses *ret)
{
	struct kab_buf kab_autobuf words = KAB_BUF_INIT, angle = KAB_BUF_INIT,
				   comment = KAB_BUF_INIT;
	bool quote = false, in_angle = false, had_angle = false;
	int depth = 0;

	for (const char *p = header ? header : ""; *p; p++) {
		struct kab_buf *to = depth ? &comment : in_angle ? &angle : &words;

		if (*p == '\\' && p[1] && (quote || depth)) {
			kab_buf_addc(to, *++p);
		} else if (quote) {
			if (*p == '"')
				quote = false;
			else
				kab_buf_addc(to, *p);
		} else if (*p == '"' && !depth) {
			quote = true;
		} else if (*p == '(') {
			if (depth++)
				kab_buf_addc(&comment, *p);
		} else if (*p == ')' && depth) {
			if (--depth)
				kab_buf_addc(&comment, *p);
		} else if (depth) {
			kab_buf_addc(&comment, *p);
		} else if (*p == '<') {
			in_angle = had_angle = true;
		} else if (*p == '>') {
			in_angle = false;
		} else if (*p == ',' || *p == ';') {
			finish(ret, &words, &angle, &comment, had_angle);
			in_angle = had_angle = false;
		} else if (*p == ':' && !in_angle) {
			/* The name of a group is not an address. */
			kab_buf_clear(&words);
		} else {
			kab_buf_addc(to, *p);
		}
	}
	finish(ret, &words, &angle, &comment, had_angle);
}

void kab_address_print(const struct kab_address *a, struct kab_buf *out)
{
	if (!*a->name || !strcasecmp(a->name, a->addr)) {
		kab_buf_adds(out, a->addr);
		return;
	}
	if (!kab_mime_is_ascii(a->name)) {
		kab_mime_encode_header(a->name, out);
	} else if (strpbrk(a->name, "()<>[]:;@\\,.\"")) {
		kab_buf_addc(out, '"');
		for (const char *p = a->name; *p; p++) {
			if (*p == '"' || *p == '\\')
				kab_buf_addc(out, '\\');
			kab_buf_addc(out, *p);
		}
		kab_buf_addc(out, '"');
	} else {
		kab_buf_adds(out, a->name);
	}
	kab_buf_addf(out, " <%s>", a->addr);
}

void kab_mail_ids(const char *header, struct kab_strv *ret)
{
	for (const char *p = header; p && (p = strchr(p, '<'));) {
		size_t n = 0;

		while (p[n + 1] > 0x20 && p[n + 1] < 0x7f && p[n + 1] != '<' && p[n + 1] != '>')
			n++;
		if (n && p[n + 1] == '>')
			kab_strv_add_n(ret, p, n + 2);
		p += n + 1;
	}
}
