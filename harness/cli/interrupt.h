/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals become two descriptors. First SIGINT or SIGHUP: stop_fd is readable (finish the iteration
 * and stop). A second one, or SIGTERM: cancel_fd is readable too (stop now). No handlers run: a
 * thread waits for the signals, which are blocked everywhere else.
 */
#ifndef KAB_CLI_INTERRUPT_H
#define KAB_CLI_INTERRUPT_H

#include "cli/cli.h"

struct kab_interrupt;

/* Call before any other thread exists. */
int kab_interrupt_start(struct kab_cli *cli, struct kab_interrupt **ret, struct kab_err *err);
int kab_interrupt_stop_fd(const struct kab_interrupt *in);
int kab_interrupt_cancel_fd(const struct kab_interrupt *in);
/* 0: none yet, 1: asked to stop, 2: asked to stop now. */
int kab_interrupt_level(const struct kab_interrupt *in);
void kab_interrupt_end(struct kab_interrupt *in); /* NULL is fine */

#endif
