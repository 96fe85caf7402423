/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/reply.h"

/* On the terminal, even when the mail came through standard input. 0 yes, 1 no. */
static int agreed(const char *server, size_t n, struct kab_err *err)
{
	char answer[16] = "";
	FILE *tty = fopen("/dev/tty", "r+e");

	if (!tty)
		return kab_err_set(err, KAB_ERR_ENV,
				   "nothing was sent: there is no terminal to ask on; pass --yes");
	fprintf(tty, "Send this to %zu address%s through %s? [y/N] ", n, n == 1 ? "" : "es",
		server);
	fflush(tty);
	if (!fgets(answer, sizeof(answer), tty))
		answer[0] = '\0';
	fclose(tty);
	return answer[0] == 'y' || answer[0] == 'Y' ? 0 : 1;
}

int kab_reply_send(struct kab_cli *cli, const struct kab_args *args, const char *from,
		   const struct kab_strv *to, const char *message, struct kab_err *err)
{
	struct kab_mail_account given = {
		.server = (char *)kab_args_get(args, "smtp-server"),
		.encryption = (char *)kab_args_get(args, "smtp-encryption"),
		.user = (char *)kab_args_get(args, "smtp-user"),
		.password_file = (char *)kab_args_get(args, "smtp-password-file"),
		.ca_file = (char *)kab_args_get(args, "smtp-ca"),
	};
	const char *port = kab_args_get(args, "smtp-port");
	struct kab_mail_account account = { 0 };
	int64_t number = 0;
	int status;

	if (port && (kab_text_int(port, &number) < 0 || number < 1 || number > 65535))
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is not a port", port);
	given.port = (int)number;
	kab_mail_account_fill(&given, &account);
	status = kab_mail_account_check(&account, err);
	if (status == 0 && !kab_args_flag(args, "yes"))
		status = agreed(account.server, to->n, err);
	if (status == 0)
		status = kab_mail_send(&account, from, to, message, cli->cancel_fd, err);
	kab_mail_account_release(&account);
	return status;
}
