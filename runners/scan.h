/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading what benchmarks print, line by line, whatever the bytes went through on the way:
 * CR LF, byte order marks, ANSI colours, a prefix that a terminal program, a logger or the kernel
 * put before every line, NUL bytes, lines of any length, a missing last line end.
 *
 * Linear in the input; memory is one line of at most KAB_SCAN_LINE_MAX bytes. Pure.
 */
#ifndef KAB_RUNNERS_SCAN_H
#define KAB_RUNNERS_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "runners/runner.h"

#define KAB_SCAN_LINE_MAX ((size_t)16 << 10)

struct kab_scan {
	const struct kab_outputs *outputs;
	size_t stream; /* index of the stream that the line is of */
	size_t pos; /* offset of the next byte in it */
	struct kab_buf buf;
	char *prefix; /* learned, owned; or NULL */

	/* The present line; valid until the next kab_scan_next. */
	const char *s; /* NUL-terminated, without line end, colours and learned prefix */
	bool terminated; /* a line end followed; false: the stream stops here */
	bool rubbish; /* control bytes were among it (what stood at its ends is removed) */
	bool overlong; /* only its first KAB_SCAN_LINE_MAX bytes are in s */
};

void kab_scan_init(struct kab_scan *scan, const struct kab_outputs *outputs);
void kab_scan_release(struct kab_scan *scan);
/* 1 with the next line of the streams, in their order; 0 at the end. */
int kab_scan_next(struct kab_scan *scan);
/*
 * `at` points into the present line at the first byte that the tool itself printed (its header, of
 * which the parser knows how it starts): what stands before is a prefix that later lines may have
 * too, with other digits, and is removed from those that do.
 */
void kab_scan_learn(struct kab_scan *scan, const char *at);
/* True when one of the streams was cut at the cap. */
bool kab_scan_cut(const struct kab_outputs *outputs);

/* Behind `key` when s starts with it (after blanks), else NULL. */
const char *kab_scan_after(const char *s, const char *key);
/* s without leading blanks. */
const char *kab_scan_blanks(const char *s);
/* Only blanks remain. */
bool kab_scan_end(const char *s);
/* The whole line, apart from blanks around it, is `text`. */
bool kab_scan_is(const char *s, const char *text);

struct kab_number {
	double value;
	int decimals; /* digits after the point or comma; 0 for an integer */
};

/*
 * An unsigned decimal number after blanks: digits, then possibly a point or a comma and digits.
 * Behind it on success. NULL when there is none, or when its neighbour is of the same token (a
 * letter of an exponent, a second point, a digit group), so that half a number is never read.
 */
const char *kab_scan_number(const char *s, struct kab_number *ret);
/* As kab_scan_number, and then `unit` follows directly ("" for none), then a blank or the end. */
const char *kab_scan_quantity(const char *s, const char *unit, struct kab_number *ret);

/* s with everything unprintable escaped, shortened to about 80 bytes; caller frees. */
char *kab_scan_escape(const char *s);

/*
 * What the shell, GNU time, timeout or the kernel say of a command that failed, whatever the tool:
 * a sentence (caller frees), or NULL.
 */
char *kab_scan_wrapper_failure(const char *s, const char *tool);

/* Adds the figure when the present line is one of `time -v` of GNU time; true when it was. */
bool kab_scan_gnu_time(const struct kab_scan *scan, struct kab_samples *samples);

/* The metrics that kab_scan_gnu_time adds, for the tables of runners. */
#define KAB_GNU_TIME_METRICS                                                                    \
	{ "elapsed", "s", KAB_DIR_LOWER, false, "elapsed time by GNU time" },                   \
		{ "user_time", "s", KAB_DIR_LOWER, false, "user time by GNU time" },            \
		{ "system_time", "s", KAB_DIR_LOWER, false, "system time by GNU time" },        \
		{ "max_rss", "KiB", KAB_DIR_LOWER, false, "largest resident set by GNU time" }, \
		{ "percent_cpu", "%", KAB_DIR_NONE, false, "share of one CPU by GNU time" },    \
		{ "voluntary_context_switches", "count", KAB_DIR_LOWER, false, "by GNU time" }, \
	{                                                                                       \
		"involuntary_context_switches", "count", KAB_DIR_LOWER, false, "by GNU time"    \
	}

#endif
