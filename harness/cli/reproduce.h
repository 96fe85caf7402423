/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command that makes a run again, from the one that made it. */
#ifndef KAB_CLI_REPRODUCE_H
#define KAB_CLI_REPRODUCE_H

#include <stdbool.h>

/*
 * line: as stored, words quoted for a shell. plan_json (or NULL) gives the seed that was drawn.
 * Without options that only concern the place where it ran (--db, --lab, --name, --wait), with
 * HOST for the name of a host; names: as it was, with the seed. Caller frees.
 */
char *kab_reproduce_command(const char *line, const char *plan_json, bool names);

#endif
