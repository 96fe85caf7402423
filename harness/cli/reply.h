/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `kab reply` consists of. */
#ifndef KAB_CLI_REPLY_H
#define KAB_CLI_REPLY_H

#include "cli/reporting.h"
#include "exchange/mail_reply.h"
#include "jobs/mail_send.h"

struct kab_reply_body {
	const struct kab_mail *mail;
	const struct kab_mail_lines *lines;
	const struct kab_mail_tables *tables;
	const bool *chosen; /* tables to quote */
	const struct kab_address *from;
	bool tested_by;
	/* of a regression report */
	bool regression;
	const char *introduced; /* commit or range; NULL: from the kernels of the run */
	const char *config_base, *config_test; /* files, or NULL */
	const char *bisect_log; /* file, or NULL */
};

/*
 * Append the body: quotation, result, circumstances, tables, tag. CONFIG error: a tag was asked for and
 * something regressed; or a regression report, and nothing did.
 */
int kab_reply_body(struct kab_cli *cli, const char *run_name, const struct kab_reporting *r,
		   const struct kab_reply_body *what, struct kab_buf *out, struct kab_err *err);

/* Send by the options of the command and `git config sendemail.*`; asks first unless --yes. 0 sent, 1
 * not sent because the user said no. */
int kab_reply_send(struct kab_cli *cli, const struct kab_args *args, const char *from,
		   const struct kab_strv *to, const char *message, struct kab_err *err);

#endif
