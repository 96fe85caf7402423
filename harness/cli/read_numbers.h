/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of numbers as text files hold them. */
#ifndef KAB_CLI_READ_NUMBERS_H
#define KAB_CLI_READ_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct kab_numbers {
	double *v; /* owned; in the order of the file */
	size_t *boot; /* owned, NULL without boots: which boot each value is of, from 0 */
	size_t n, n_boots;
	size_t short_lines; /* lines without the column, which were skipped */
};

/*
 * Read one number per line: the `column`th word (from 1) between blanks. Blank lines, and what stands
 * behind a '#' that begins a word, are skipped, and so are lines with fewer words (counted).
 * boots: the first word names the boot. path "-" is standard input. Regular files are mapped.
 * 0; -1: NOT_FOUND or ENV; PARSE with file:line for what is not a finite number, or when there is no
 * number at all.
 */
int kab_numbers_read(const char *path, size_t column, bool boots, struct kab_numbers *ret,
		     struct kab_err *err);
void kab_numbers_release(struct kab_numbers *numbers);

#endif
