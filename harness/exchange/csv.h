/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comma separated values as in RFC 4180: quoted fields with doubled quotes, LF or CR LF, an optional
 * UTF-8 byte order mark. The first line names the columns. Pure.
 */
#ifndef KAB_EXCHANGE_CSV_H
#define KAB_EXCHANGE_CSV_H

#include <stddef.h>

#include "base/err.h"

struct kab_csv_row {
	char **v; /* n fields, owned */
	size_t n, cap;
	size_t line; /* where it begins, from 1 */
};

struct kab_csv {
	struct kab_csv_row *v; /* v[0] is the header */
	size_t n, cap;
};

/* Empty lines are dropped. Every row has as many fields as the header, which is there; else -1
 * (PARSE, "file:line", with the name of the column where one is concerned). *ret is to be released
 * either way. */
int kab_csv_parse(const char *file, const char *bytes, size_t n, struct kab_csv *ret,
		  struct kab_err *err);
void kab_csv_release(struct kab_csv *csv);

#endif
