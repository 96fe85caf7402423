/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kab import --bundle`: the way back of `kab export --format bundle`. */
#ifndef KAB_CLI_EXPORT_IMPORT_H
#define KAB_CLI_EXPORT_IMPORT_H

#include "cli/cli.h"

/* Is that what the words mean: --bundle, or nothing but a file that is one? */
bool kab_import_is_bundle(const struct kab_args *args);
/* Take in that file, whose hash has to be that of --sha256 if there is one. Prints the names that the
 * runs have here. Returns the exit status. */
int kab_import_bundle(struct kab_cli *cli, const struct kab_args *args);

#endif
