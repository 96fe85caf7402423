/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Result files of other tools, through every reader that takes a single file. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "exchange/import_formats.h"
#include "fuzz.h"

static void check(const struct kab_import *import, const char *who)
{
	for (size_t i = 0; i < import->n; i++) {
		const struct kab_import_iter *it = &import->v[i];

		fuzz_must(fuzz_printable(it->kernel), "raw bytes in a label", who);
		fuzz_must(fuzz_printable(it->case_name), "raw bytes in a name", who);
		for (size_t j = 0; j < it->samples.n; j++)
			fuzz_must(isfinite(it->samples.v[j].value), "not finite", who);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "perf-stat", "hyperfine", "summary" };
	const char *path = fuzz_file(data, size);
	const struct kab_import_source sources[] = { { "a", path }, { "b", path } };

	for (size_t i = 0; i < KAB_ARRAY_SIZE(names); i++) {
		const struct kab_import_format *format = kab_import_format_find(names[i]);

		fuzz_must(format != NULL, "there is no such format", names[i]);
		for (int repeat = 0; repeat < 2; repeat++) {
			const struct kab_import_from from = { .exit_status = -1,
							      .repeat = repeat * 5 };
			struct kab_err err = KAB_ERR_INIT;
			struct kab_import import = { 0 };
			/* Summaries name their kernels themselves. */
			int rc = format->read(sources, strcmp(names[i], "summary") ? 2 : 1, &from,
					      &import, &err);

			fuzz_check_err(rc, &err, names[i]);
			if (rc == 0)
				check(&import, names[i]);
			kab_import_release(&import);
		}
	}
	return 0;
}
