/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Standard output that cannot drive a terminal: names, reasons and figures of commands come from hosts,
 * files and databases of others. See kab_text_show() for what becomes of control characters.
 */
#ifndef KAB_CLI_SAFE_OUT_H
#define KAB_CLI_SAFE_OUT_H

#include <stdio.h>

/* A stream that writes to fd what is put into it; closing it leaves fd open. Errors as of write(2). NULL
 * when there is no memory. */
FILE *kab_safe_out(int fd);

#endif
