/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an imported run says of where its figures come from. */
#ifndef KAB_CLI_IMPORTED_H
#define KAB_CLI_IMPORTED_H

#include "base/buf.h"
#include "cli/cli.h"

/* "imported (hackbench): 18 iterations in 18 files; boots: each sub-folder is one", or NULL for a run
 * that was not imported. Caller frees. */
char *kab_imported_text(const struct kab_run_info *run);
/* What a reader of a report must know beside the numbers; appends sentences. */
void kab_imported_caveats(const struct kab_run_info *run, struct kab_strv *ret);
/* All that was noted, and the summaries, for `kab show`. */
int kab_imported_show(struct kab_cli *cli, struct kab_store *store, const struct kab_run_info *run,
		      struct kab_err *err);

#endif
