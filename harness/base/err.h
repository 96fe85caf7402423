/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors are values in the caller's hands: the last parameter of a fallible function is
 * `struct kab_err *`, which may be NULL. Such a function returns 0, or -1 with the error set.
 * Expected outcomes (not found, end of rows) are positive returns, never errors.
 *
 * Text rules: lower case, no full stop, what failed first, names in single quotes, then the
 * remedy if one is known ("cannot open lab file 'x.json': no such file; create it or pass --lab").
 */
#ifndef KAB_BASE_ERR_H
#define KAB_BASE_ERR_H

#include <stdarg.h>

enum kab_err_code {
	KAB_OK = 0,
	KAB_ERR_USAGE, /* wrong command line; exit 2 */
	KAB_ERR_CONFIG, /* a file of the user's, or input data, is wrong; exit 3 */
	KAB_ERR_NOT_FOUND, /* a named run, suite, kernel ... does not exist; exit 3 */
	KAB_ERR_PARSE, /* bytes that were to be read are not of the expected form; exit 3 */
	KAB_ERR_UNSUPPORTED, /* this build, host or library cannot do it; exit 4 */
	KAB_ERR_ENV, /* this machine: file system, memory, missing program; exit 4 */
	KAB_ERR_CONNECT, /* a host cannot be reached, or the link was lost; exit 4 */
	KAB_ERR_AUTH, /* host key or user key refused; exit 4 */
	KAB_ERR_REMOTE, /* the target did something unexpected; exit 4 */
	KAB_ERR_TIMEOUT, /* a deadline passed; exit 4 */
	KAB_ERR_BUSY, /* leased by somebody else; exit 4 */
	KAB_ERR_STORE, /* the database; exit 4 */
	KAB_ERR_CANCELLED, /* interrupted by the user; exit 130 */
	KAB_ERR_INTERNAL, /* a bug of ours; exit 6 */
};

#define KAB_ERR_TEXT_MAX 768
#define KAB_ERR_WHERE_MAX 256

struct kab_err {
	enum kab_err_code code;
	int os_errno; /* 0 when no system call was involved */
	char text[KAB_ERR_TEXT_MAX]; /* NUL-terminated; "..." at the end when cut */
	char where[KAB_ERR_WHERE_MAX]; /* "file:line", "file: $.json.path", "host 'x'", or "" */
};

#define KAB_ERR_INIT           \
	{                      \
		.code = KAB_OK \
	}

/* Set the error (err may be NULL). Always returns -1, so failing is one statement. errno is kept. */
int kab_err_set(struct kab_err *err, enum kab_err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As kab_err_set, and records the place. `where` is borrowed for the call; may be NULL. */
int kab_err_set_at(struct kab_err *err, enum kab_err_code code, const char *where, const char *fmt,
		   ...) __attribute__((format(printf, 4, 5)));

/* As kab_err_set, appends ": " and the text of the current errno, and records errno. */
int kab_err_errno(struct kab_err *err, enum kab_err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "PREFIX: " before the text, e.g. "suite 'sched', case 'pipe'". No-op on NULL. Returns -1. */
int kab_err_prefix(struct kab_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void kab_err_clear(struct kab_err *err);

/* The exit status of DESIGN section 7 for a code: 0, 2, 3, 4, 6 or 130. */
int kab_err_exit_code(enum kab_err_code code);

#endif
