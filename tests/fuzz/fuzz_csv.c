/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results of others as CSV. */
#include <math.h>

#include "exchange/csv.h"
#include "exchange/import.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_import import = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	struct kab_csv csv = { 0 };
	int rc = kab_csv_parse("csv", (const char *)data, size, &csv, &err);

	fuzz_check_err(rc, &err, "csv");
	for (size_t i = 0; rc == 0 && i < csv.n; i++)
		fuzz_must(csv.v[i].n == csv.v[0].n, "rows of different lengths", "csv");
	kab_csv_release(&csv);
	kab_err_clear(&err);
	rc = kab_import_csv("csv", (const char *)data, size, NULL, &import, &err);
	fuzz_check_err(rc, &err, "import");
	for (size_t i = 0; rc == 0 && i < import.n; i++) {
		const struct kab_import_iter *it = &import.v[i];

		fuzz_must((it->state == KAB_ITER_DONE) == (it->samples.n > 0),
			  "state and samples disagree", "import");
		fuzz_must(*it->kernel && fuzz_printable(it->kernel), "raw bytes in a label",
			  "import");
		fuzz_must(fuzz_printable(it->host) && fuzz_printable(it->case_name),
			  "raw bytes in a name", "import");
		for (size_t j = 0; j < it->samples.n; j++)
			fuzz_must(isfinite(it->samples.v[j].value), "not finite", "import");
	}
	fuzz_must(rc < 0 || (import.n && import.kernels.n), "nothing and no error", "import");
	kab_import_release(&import);
	return 0;
}
