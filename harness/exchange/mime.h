/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The encodings of mail: transfer encodings (RFC 2045), encoded words of headers (RFC 2047), charsets,
 * and format=flowed (RFC 3676). Pure: bytes in, bytes out. Nothing here fails: what is malformed is kept
 * as it stands, because half a mail is still worth reading.
 */
#ifndef KAB_EXCHANGE_MIME_H
#define KAB_EXCHANGE_MIME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Append the decoded bytes. `word`: within an encoded word, where _ is a blank. */
void kab_mime_decode_qp(const char *s, size_t n, bool word, struct kab_buf *out);
void kab_mime_decode_base64(const char *s, size_t n, struct kab_buf *out);
void kab_mime_encode_base64(const void *bytes, size_t n, struct kab_buf *out); /* one line */

/*
 * Append as UTF-8. charset NULL: us-ascii. What the charset does not explain is read as Latin-1, and
 * false is returned.
 */
bool kab_mime_to_utf8(const char *charset, const char *s, size_t n, struct kab_buf *out);

/* CR LF and lone CR become LF. */
void kab_mime_unix_lines(const char *s, size_t n, struct kab_buf *out);
/* Join soft line breaks within one quote depth and take off space-stuffing. Lines end with LF. */
void kab_mime_unflow(const char *text, bool delsp, struct kab_buf *out);

/* Text of a header with its encoded words decoded, as UTF-8. Caller frees. */
char *kab_mime_decode_header(const char *value);
bool kab_mime_is_ascii(const char *s);
/*
 * Append text (UTF-8) as words of a header: as it is when it is ASCII, else as encoded words of at most
 * 75 characters with blanks between them.
 */
void kab_mime_encode_header(const char *text, struct kab_buf *out);

/* The parameter `name` of a header such as Content-Type, unquoted; NULL: none. Caller frees. */
char *kab_mime_param(const char *header, const char *name);

/*
 * ASCII for a plain text mail: the marks and quotes that people use are spelled out ("+/-", "-", "..."),
 * other letters and control characters become '?'. Returns how many became '?'.
 */
size_t kab_mime_to_ascii(const char *utf8, struct kab_buf *out);

#endif
