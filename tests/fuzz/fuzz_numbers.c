/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of numbers. The first byte says which column, and whether there are boots. */
#include <math.h>

#include "cli/read_numbers.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_numbers numbers = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	bool boots;
	int rc;

	if (!size)
		return 0;
	boots = data[0] & 1;
	rc = kab_numbers_read(fuzz_file(data + 1, size - 1), 1 + boots + data[0] / 2 % 3, boots,
			      &numbers, &err);
	fuzz_check_err(rc, &err, "numbers");
	fuzz_must(rc < 0 || numbers.n > 0, "no number and no error", "numbers");
	for (size_t i = 0; rc == 0 && i < numbers.n; i++) {
		fuzz_must(isfinite(numbers.v[i]), "not finite", "numbers");
		fuzz_must(!boots || numbers.boot[i] < numbers.n_boots, "no such boot", "numbers");
	}
	kab_numbers_release(&numbers);
	return 0;
}
