/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small things done to text in many places. Pure. */
#ifndef KAB_BASE_TEXT_H
#define KAB_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Append bytes that came from elsewhere so that a terminal cannot be driven by them: printable
 * ASCII and valid UTF-8 (without C1 controls) as they are, LF kept, TAB kept, everything else as \xNN. */
void kab_text_escape(struct kab_buf *buf, const char *bytes, size_t n);
/* The same for a name or a cell: LF and TAB are escaped, too. */
void kab_text_escape_line(struct kab_buf *buf, const char *text);
/*
 * As kab_text_escape, for a stream of output that may be JSON or CSV: CR LF stays, and well-formed
 * controls (DEL, C1, bidirectional marks) become \uNNNN. more: bytes will follow, so that the first part
 * of a sequence at the end is left over. Returns how many bytes were taken.
 */
size_t kab_text_show(struct kab_buf *buf, const char *bytes, size_t n, bool more);
/*
 * One field of CSV (RFC 4180), without the comma; NULL is an empty one. A spreadsheet takes text that
 * begins with one of = + - @ TAB CR for a formula and carries it out: such text, and text that begins
 * with an apostrophe, gets an apostrophe before it, which `kab import` takes off again. Not for numbers.
 */
void kab_text_csv(struct kab_buf *buf, const char *s);
/* Text that kab_text_escape leaves as it is; the same without LF and TAB. "" is both. */
bool kab_text_is_plain(const char *s);
bool kab_text_is_line(const char *s);
/* The candidate nearest to word by edit distance, or NULL when none is near (more than a third of
 * its letters differ). Candidates end with NULL; borrowed. */
const char *kab_text_nearest(const char *word, const char *const *candidates);
/* The last n lines of text, as a range of it; borrowed. */
const char *kab_text_tail(const char *text, size_t len, size_t lines, size_t *ret_len);
/* "95 s", "12 min", "3 h 20 min": for people. Caller frees. */
char *kab_text_duration(double seconds);
/* A day that exists, as YYYY-MM-DD. */
bool kab_text_is_date(const char *s);
/* [A-Za-z0-9._+-]+, not starting with '-': labels of kernels, names of runs, hosts and cases. */
bool kab_text_is_label(const char *s);
/* Whole decimal integer of the text, no blanks. 0, or -1 without touching *ret. */
int kab_text_int(const char *s, int64_t *ret);
/* Whole finite number of the text (C locale). 0, or -1 without touching *ret. */
int kab_text_double(const char *s, double *ret);

#endif
