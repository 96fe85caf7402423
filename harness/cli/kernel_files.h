/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of the kernels of a run: downloaded where they are URLs, then read and checked. */
#ifndef KAB_CLI_KERNEL_FILES_H
#define KAB_CLI_KERNEL_FILES_H

#include "cli/cli.h"
#include "model/kernel.h"

/*
 * Afterwards every source is an absolute path, and every kernel that is installed from files has its
 * key. The spec keeps what was typed; user names and passwords of URLs are taken out of it and of
 * cli->command_line. With dry_run nothing is downloaded: such a kernel has no key
 * then. Blocks; cancel_fd ends it. CONFIG errors name kernel and file.
 */
int kab_kernel_files(struct kab_cli *cli, struct kab_kernel_list *kernels, bool dry_run,
		     int cancel_fd, struct kab_err *err);

#endif
