/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The entry that libFuzzer calls, and that replay.c calls for files; what targets have in common. */
#ifndef KAB_TESTS_FUZZ_H
#define KAB_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Always 0; aborts when an invariant does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts when it does not hold; who: the part under test. */
void fuzz_must(bool holds, const char *what, const char *who);
/* No byte that a terminal acts on (LF and TAB are such bytes too). */
bool fuzz_printable(const char *s);
/* A function said 0 or -1: an error has a text, and success has none. */
void fuzz_check_err(int rc, const struct kab_err *err, const char *who);

/* The bytes as a C string: ends at the first NUL. Caller frees. */
char *fuzz_text(const uint8_t *data, size_t size);
/* A file with these bytes, for loaders that take a path; the same one each time, in memory. The path
 * is borrowed. */
const char *fuzz_file(const void *data, size_t size);

#endif
