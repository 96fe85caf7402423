/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of kab render, in every style. Clean output is lines that a terminal only shows. */
#include <string.h>

#include "fuzz.h"
#include "reports/read_table.h"
#include "reports/style.h"

static void check_clean(const struct kab_buf *out, const char *style)
{
	const char *s = kab_buf_str(out);

	for (size_t i = 0; i < out->len; i++) {
		/* Given lines keep their TABs. */
		fuzz_must((unsigned char)s[i] >= 0x20 || s[i] == '\n' || s[i] == '\t',
			  "raw bytes in a table", style);
		fuzz_must(s[i] != 0x7f, "raw bytes in a table", style);
		fuzz_must(s[i] != '\n' || i == 0 || s[i - 1] != ' ', "a trailing blank", style);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kab_table table = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	int rc = kab_table_from_json((const char *)data, size, "table", &table, &err);

	fuzz_check_err(rc, &err, "table");
	for (size_t i = 0; rc == 0 && i < kab_styles_n; i++) {
		for (int exact = 0; exact < 2; exact++) {
			struct kab_buf kab_autobuf out = KAB_BUF_INIT;

			kab_styles[i].render(&table, exact, &out);
			if (!exact)
				check_clean(&out, kab_styles[i].name);
		}
	}
	kab_table_release(&table);
	return 0;
}
