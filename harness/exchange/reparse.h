/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading stored raw output again with the parsers of today. The old readings stay; a new one is
 * added where the parser or its answer is another.
 */
#ifndef KAB_EXCHANGE_REPARSE_H
#define KAB_EXCHANGE_REPARSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

enum kab_reparse_change {
	KAB_REPARSE_SAME, /* same parser, same answer: nothing was added */
	KAB_REPARSE_CONFIRMED, /* a newer parser gave the same answer */
	KAB_REPARSE_CHANGED, /* another status, value, unit, direction or set of metrics */
	KAB_REPARSE_SKIPPED, /* no output is kept, or there is no such runner any more */
};

/* Called for each finished iteration; text says what changed or why it was skipped. Borrowed. */
typedef void kab_reparse_report(void *ctx, const struct kab_step_info *step,
				enum kab_reparse_change change, const char *text);

struct kab_reparse_counts {
	size_t n[KAB_REPARSE_SKIPPED + 1];
};

/* All iterations of a run. 0 or -1 (what was added before stays). */
int kab_reparse_run(struct kab_store *store, int64_t run_id, kab_reparse_report *report, void *ctx,
		    struct kab_reparse_counts *ret, struct kab_err *err);

#endif
