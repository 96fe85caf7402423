/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scripts for booting and installing, sent to a host's shell on its stdin and run with the
 * host's `become`. They answer in `key=value` lines; "error=TEXT" with exit status 1 is a refusal.
 */
#ifndef KAB_ENGINE_HOSTSCRIPT_H
#define KAB_ENGINE_HOSTSCRIPT_H

#include "base/strv.h"
#include "model/lab.h"
#include "transport/transport.h"

enum kab_hostscript { KAB_HOSTSCRIPT_BOOT, KAB_HOSTSCRIPT_INSTALL };

/* Run it with these arguments. Blocks; 0 also when the script refused: see res->exit_status.
 * -1: errors of the transport. The caller releases *res after 0. */
int kab_hostscript_run(const struct kab_lab_host *host, struct kab_session *s,
		       enum kab_hostscript which, const struct kab_strv *args,
		       const struct kab_wait *wait, struct kab_exec_result *res,
		       struct kab_err *err);

/* Appends the words that run what follows them as root, where `become` (NULL or "sudo") asks for it.
 * Who is root already needs no sudo: minimal systems have none. */
void kab_hostscript_become(struct kab_strv *argv, const char *become);

/* A command line of the caller's, with bytes for its stdin, under the host's `become`. */
int kab_hostscript_exec(const struct kab_lab_host *host, struct kab_session *s,
			const char *const *argv, const void *in, size_t in_len,
			const struct kab_wait *wait, struct kab_exec_result *res,
			struct kab_err *err);

/* Append the values of all `key=` lines of the answer. */
void kab_hostscript_lines(const struct kab_exec_result *res, const char *key, struct kab_strv *ret);

/* REMOTE error "WHAT: what the script said". Always -1. */
int kab_hostscript_error(const struct kab_exec_result *res, const char *what, struct kab_err *err);

#endif
