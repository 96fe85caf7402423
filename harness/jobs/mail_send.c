/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs/mail_send.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
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

void kab_mail_account_release(struct kab_mail_account *a)
{
	free(a->server);
	free(a->encryption);
	free(a->user);
	free(a->password_file);
	free(a->ca_file);
	*a = (struct kab_mail_account){ 0 };
}

static char *setting(const char *given, const char *key)
{
	return given ? kab_xstrdup(given) : kab_git_config(key);
}

void kab_mail_account_fill(const struct kab_mail_account *given, struct kab_mail_account *ret)
{
	*ret = (struct kab_mail_account){
		.port = given->port,
		.server = setting(given->server, "sendemail.smtpserver"),
		.encryption = setting(given->encryption, "sendemail.smtpencryption"),
		.user = setting(given->user, "sendemail.smtpuser"),
		.password_file = kab_xstrdup(given->password_file),
		.ca_file = setting(given->ca_file, "sendemail.smtpsslcertpath")
	};
	if (!ret->port) {
		char *port kab_autofree = kab_git_config("sendemail.smtpserverport");
		int64_t number = 0;

		if (port && (kab_text_int(port, &number) < 0 || number < 1 || number > 65535))
			number = -1; /* said by the check */
		ret->port = (int)number;
	}
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

int kab_mail_account_check(const struct kab_mail_account *a, struct kab_err *err)
{
	enum kab_smtp_security security;

	if (!a->server || !*a->server)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "no mail server; name one (--smtp-server; 'server' of a nightly "
				   "file) or set git config sendemail.smtpserver");
	if (*a->server == '/')
		return kab_err_set(err, KAB_ERR_UNSUPPORTED,
				   "sendemail.smtpserver is the program '%s', not a server; name a "
				   "server, or write the mail to a file and use 'git send-email'",
				   a->server);
	if (a->port < 0)
		return kab_err_set(err, KAB_ERR_CONFIG,
				   "git config sendemail.smtpserverport is not a port");
	if (security_of(a->encryption, &security, err) < 0)
		return -1;
	if (a->user && !a->password_file)
		return kab_err_set(
			err, KAB_ERR_CONFIG,
			"user '%s' needs a password; name its file (--smtp-password-file; "
			"'password_file' of a nightly file)",
			a->user);
	return 0;
}

int kab_mail_send(const struct kab_mail_account *a, const char *from, const struct kab_strv *to,
		  const char *message, int cancel_fd, struct kab_err *err)
{
	struct kab_smtp smtp = { .server = a->server,
				 .port = a->port,
				 .user = a->user,
				 .ca_file = a->ca_file,
				 .from = from,
				 .to = to,
				 .deadline_ns = kab_deadline_s(SEND_S),
				 .cancel_fd = cancel_fd };
	char *password = NULL;
	int status;

	if (kab_mail_account_check(a, err) < 0 ||
	    security_of(a->encryption, &smtp.security, err) < 0)
		return -1;
	if (a->user && read_password(a->password_file, &password, err) < 0)
		return -1;
	smtp.password = password;
	status = kab_smtp_send(&smtp, message, err);
	if (password) {
		explicit_bzero(password, strlen(password));
		free(password);
	}
	return status;
}
