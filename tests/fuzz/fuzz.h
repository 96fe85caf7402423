/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The entry that libFuzzer calls, and that replay.c calls for files. */
#ifndef KAB_TESTS_FUZZ_H
#define KAB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Always 0; aborts when an invariant does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
