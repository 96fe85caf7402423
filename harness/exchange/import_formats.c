/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exchange/import_formats.h"

#include <string.h>

#include "base/alloc.h"

static const struct kab_import_format formats[] = {
	{ "logs", kab_import_log_files },
	{ "mmtests", kab_import_mmtests },
	{ "lkp", kab_import_lkp },
	{ "perf-stat", kab_import_perf_stat },
	{ "hyperfine", kab_import_hyperfine },
	{ "summary", kab_import_summary_table },
};

const struct kab_import_format *kab_import_format_find(const char *name)
{
	for (size_t i = 0; i < KAB_ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}
