/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sending a mail with an account: what is not given is taken from `git config sendemail.*`. */
#ifndef KAB_JOBS_MAIL_SEND_H
#define KAB_JOBS_MAIL_SEND_H

#include "base/err.h"
#include "base/strv.h"
#include "model/nightly.h"

/* `git config --get KEY`; NULL when it is not set, or there is no git. Caller frees. */
char *kab_git_config(const char *key);

/* A copy of `given` with what it lacks from git's configuration (server, port, encryption, user,
 * certificates). */
void kab_mail_account_fill(const struct kab_mail_account *given, struct kab_mail_account *ret);
void kab_mail_account_release(struct kab_mail_account *account);

/*
 * Send through it. Blocks, at most two minutes. CONFIG: no server is known, or user and password do not
 * go together; others as kab_smtp_send(). from and to are bare addresses.
 */
int kab_mail_send(const struct kab_mail_account *account, const char *from,
		  const struct kab_strv *to, const char *message, int cancel_fd,
		  struct kab_err *err);
/* Can it be sent with, as far as that shows without a server? */
int kab_mail_account_check(const struct kab_mail_account *account, struct kab_err *err);

#endif
