/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/reply.h"
#include "publish/smtp.h"
#include "transport/child.h"

#define GIT_S 10.0
#define SEND_S 120.0

char *kab_git_config(const char *key)
{
	const char *const argv[] = { "git", "config", "--get", key, NULL };
	const struct kab_exec req = { .argv = argv, .out_max = 4096, .err_max = 4096 };
	const struct kab_wait wait = { .deadline_ns = kab_deadline_s(GIT_S), .cancel_fd = -1 };
	struct kab_exec_result res = { 0 };
	char *value = NULL;

	if (kab_child_run(&req, &wait, &res, NULL) < 0)
		return NULL;
	kab_buf_rtrim(&res.out, "\n");
	if (res.exit_status == 0 && res.out.len)
		value = kab_xstrdup(kab_buf_str(&res.out));
	kab_exec_result_release(&res);
	return value;
}

/* The option, else what git send-email would use. Caller frees. */
static char *setting(const struct kab_args *args, const char *option, const char *key)
{
	const char *given = kab_args_get(args, option);

	return given ? kab_xstrdup(given) : kab_git_config(key);
}

static int read_password(const char *path, char **ret, struct kab_err *err)
{
	struct kab_buf kab_autobuf buf = { .max = 4096 };
	struct stat st;

	if (stat(path, &st) == 0 && (st.st_mode & 077) != 0)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "the password file '%s' can be read by others; chmod 600 it",
				   path);
	if (kab_file_read(path, &buf, err) < 0)
		return -1;
	kab_buf_rtrim(&buf, "\r\n");
	if (!buf.len)
		return kab_err_set(err, KAB_ERR_CONFIG, "the password file '%s' is empty", path);
	*ret = kab_xstrdup(kab_buf_str(&buf));
	return 0;
}

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

static int security_of(const char *word, enum kab_smtp_security *ret, struct kab_err *err)
{
	if (!word || !strcasecmp(word, "tls") || !strcasecmp(word, "starttls"))
		*ret = KAB_SMTP_STARTTLS;
	else if (!strcasecmp(word, "ssl"))
		*ret = KAB_SMTP_TLS;
	else if (!*word || !strcasecmp(word, "none"))
		*ret = KAB_SMTP_PLAIN;
	else
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "unknown encryption '%s'; it is tls, ssl or none", word);
	return 0;
}

int kab_reply_send(struct kab_cli *cli, const struct kab_args *args, const char *from,
		   const struct kab_strv *to, const char *message, struct kab_err *err)
{
	char *server kab_autofree = setting(args, "smtp-server", "sendemail.smtpserver");
	char *port kab_autofree = setting(args, "smtp-port", "sendemail.smtpserverport");
	char *how kab_autofree = setting(args, "smtp-encryption", "sendemail.smtpencryption");
	char *user kab_autofree = setting(args, "smtp-user", "sendemail.smtpuser");
	char *ca kab_autofree = setting(args, "smtp-ca", "sendemail.smtpsslcertpath");
	const char *file = kab_args_get(args, "smtp-password-file");
	char *password = NULL;
	struct kab_smtp smtp = {
		.from = from, .to = to, .user = user, .ca_file = ca, .cancel_fd = cli->cancel_fd
	};
	int64_t number = 0;
	int status;

	if (!server || !*server)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "no mail server; pass --smtp-server or set git config "
				   "sendemail.smtpserver");
	if (*server == '/')
		return kab_err_set(
			err, KAB_ERR_UNSUPPORTED,
			"sendemail.smtpserver is the program '%s', not a server; write the "
			"mail with --output and use 'git send-email'",
			server);
	if (port && (kab_text_int(port, &number) < 0 || number < 1 || number > 65535))
		return kab_err_set(err, KAB_ERR_CONFIG, "'%s' is not a port", port);
	if (security_of(how, &smtp.security, err) < 0)
		return -1;
	if (user && !file)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "user '%s' needs a password; pass --smtp-password-file", user);
	if (file && read_password(file, &password, err) < 0)
		return -1;
	smtp.server = server;
	smtp.port = (int)number;
	smtp.password = password;
	status = kab_args_flag(args, "yes") ? 0 : agreed(server, to->n, err);
	if (status == 0) {
		smtp.deadline_ns = kab_deadline_s(SEND_S);
		status = kab_smtp_send(&smtp, message, err);
	}
	if (password) {
		explicit_bzero(password, strlen(password));
		free(password);
	}
	return status;
}
