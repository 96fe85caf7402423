/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a mail (RFC 5322, MIME) or a plain text. Pure: bytes in, structs out.
 *
 * Archives and mailers damage mails: what is malformed is read as far as it goes. A mail whose line
 * breaks have all become blanks is taken apart again at header names, quote marks and table rules.
 */
#ifndef KAB_EXCHANGE_MAIL_H
#define KAB_EXCHANGE_MAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strv.h"

#define KAB_MAIL_BYTES_MAX ((size_t)16 << 20)

struct kab_mail_header {
	char *name; /* as written */
	char *value; /* unfolded, encoded words as they are */
};

struct kab_mail {
	struct kab_mail_header *v;
	size_t n, cap;
	struct kab_buf body; /* UTF-8, LF, decoded, soft line breaks joined */
	bool flowed; /* soft line breaks were joined */
	bool rejoined; /* the line breaks had been lost, and those below are guesses */
	bool misread; /* bytes that its charset does not have were read as Latin-1 */
};

/* One message of an mbox, as a range of its bytes. */
struct kab_mail_span {
	size_t from, len;
};
struct kab_mail_spans {
	struct kab_mail_span *v; /* owned */
	size_t n, cap;
};

/*
 * The messages of an mbox; other bytes are one message. A line that begins with "From " and follows an
 * empty line (or nothing) begins a message.
 */
void kab_mail_split(const char *bytes, size_t n, struct kab_mail_spans *ret);

/* One message, or a text without headers. PARSE error: nothing to read (empty, or binary). */
int kab_mail_parse(const char *bytes, size_t n, struct kab_mail *ret, struct kab_err *err);
void kab_mail_release(struct kab_mail *mail);

/* The first header of that name, or NULL; borrowed. Names are compared without case. */
const char *kab_mail_get(const struct kab_mail *mail, const char *name);
/* How many headers of that name have a value. */
size_t kab_mail_count(const struct kab_mail *mail, const char *name);

/* "a@b" with its display name, decoded. */
struct kab_address {
	char *name; /* owned; "" without one */
	char *addr; /* owned; "" when it was lost */
};
struct kab_addresses {
	struct kab_address *v;
	size_t n, cap;
};
/* Append the addresses of a header. */
void kab_addresses_parse(const char *header, struct kab_addresses *ret);
void kab_addresses_add(struct kab_addresses *list, const char *name, const char *addr);
/* Is the address (without case) in the list? */
bool kab_addresses_have(const struct kab_addresses *list, const char *addr);
void kab_addresses_release(struct kab_addresses *list);
/* Append "Name <addr>" for a header: encoded and quoted as needed. */
void kab_address_print(const struct kab_address *a, struct kab_buf *out);

/* The "<id>" words of a header such as References, in order. */
void kab_mail_ids(const char *header, struct kab_strv *ret);

/* A line of the body. */
struct kab_mail_line {
	const char *raw; /* borrowed from the body; without LF */
	size_t raw_len;
	const char *text; /* behind the quote marks and one blank */
	size_t len;
	int depth; /* number of quote marks */
};
struct kab_mail_lines {
	struct kab_mail_line *v; /* owned */
	size_t n, cap;
};
/* body must outlive *ret. */
void kab_mail_lines(const struct kab_buf *body, struct kab_mail_lines *ret);

/* Where the line breaks of a text without any were, as far as marks and rules tell. */
void kab_mail_rejoin(const char *text, struct kab_buf *out);

#endif
