/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table as a JSON object: `columns` (names), `rows` (arrays in the order of the columns), and
 * optionally `header` and `footer` (literal lines), `benchmark`, `unit`, `better`, `percent`.
 */
#ifndef KAB_REPORTS_READ_TABLE_H
#define KAB_REPORTS_READ_TABLE_H

#include "base/err.h"
#include "reports/table.h"

/* where: the file's name, for errors. 0, or -1 (config: file and JSON path in the error). A cell is
 * a number, text (printed as it stands), true, false or null; *t is empty before. */
int kab_table_from_json(const char *text, size_t len, const char *where, struct kab_table *t,
			struct kab_err *err);

#endif
