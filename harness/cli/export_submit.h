/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sending half of `kab export`. */
#ifndef KAB_CLI_EXPORT_SUBMIT_H
#define KAB_CLI_EXPORT_SUBMIT_H

#include "cli/cli.h"

/* Put the report into the spool and send it to the URL; --token-file, --submit-for. Says what became of
 * it. Returns the exit status: 0 also when it has to wait in the spool. */
int kab_export_submit(struct kab_cli *cli, const struct kab_args *args, const char *report,
		      size_t n);
/* All that waits in the spool. */
int kab_export_submit_spool(struct kab_cli *cli, const struct kab_args *args);

#endif
