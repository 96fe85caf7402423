/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between kcidb.c and kcidb_misc.c. */
#ifndef KAB_EXCHANGE_KCIDB_INTERNAL_H
#define KAB_EXCHANGE_KCIDB_INTERNAL_H

#include <jansson.h>

#include "judge/judge.h"
#include "store/store.h"

/* Set text or a number where there is one. */
void kab_kcidb_text(json_t *to, const char *key, const char *text);
void kab_kcidb_real(json_t *to, const char *key, double value);
/* "hackbench.process-pipe.groups_4.time": parts of [A-Za-z0-9_-]; caller frees. */
char *kab_kcidb_path(const struct kab_row_data *row);
/* What stands behind the number of sets[s], and what the comparison with the baseline says. */
json_t *kab_kcidb_misc(const struct kab_run_info *run, const struct kab_judgement *judgement,
		       const struct kab_judged_row *row, size_t s, const char *lab);

#endif
