/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/reply.h"
#include "publish/archive.h"

#define FETCH_S 60.0
#define REGRESSIONS_LIST "regressions@lists.linux.dev"

struct input {
	struct kab_buf bytes;
	struct kab_mail mail;
	struct kab_mail_lines lines;
	struct kab_mail_tables tables;
	bool *chosen;
};

static void input_release(struct input *in)
{
	free(in->chosen);
	kab_mail_tables_release(&in->tables);
	free(in->lines.v);
	kab_mail_release(&in->mail);
	kab_buf_release(&in->bytes);
}

/* A Message-ID is fetched from the archive; anything else is a file. */
static int read_mail(struct kab_cli *cli, const struct kab_args *args, struct kab_buf *ret,
		     struct kab_err *err)
{
	const char *what = kab_args_at(args, 0), *archive = kab_args_get(args, "archive");
	char *cache kab_autofree = NULL, *dir kab_autofree = NULL, *url kab_autofree = NULL;
	char *path kab_autofree = NULL, *shown kab_autofree = NULL;
	struct kab_fetch_opts opts = { .cancel_fd = cli->cancel_fd, .log = &cli->log };
	struct stat st;

	if (!kab_archive_is_id(what) || stat(what, &st) == 0)
		return kab_file_read(what, ret, err);
	url = kab_archive_url(archive ? archive : KAB_ARCHIVE_DEFAULT, what);
	if (!kab_fetch_is_url(url))
		return kab_err_set(err, KAB_ERR_USAGE, "--archive '%s' is not an http URL",
				   archive);
	if (kab_file_xdg("CACHE", &cache, err) < 0)
		return -1;
	dir = kab_xasprintf("%s/mails", cache);
	shown = kab_fetch_show_url(url);
	kab_cli_say(cli, "kab: fetching %s", shown);
	opts.url = url;
	opts.dir = dir;
	opts.deadline_ns = kab_deadline_s(FETCH_S);
	if (kab_fetch(&opts, &path, err) < 0)
		return -1;
	return kab_file_read(path, ret, err);
}

static int choose_tables(const struct kab_args *args, struct input *in, struct kab_err *err)
{
	const char *word;

	in->chosen = kab_xcalloc(in->tables.n + 1, sizeof(*in->chosen));
	for (size_t i = 0; (word = kab_args_nth(args, "table", i)); i++) {
		char *end;
		unsigned long n = strtoul(word, &end, 10);

		if (*end || n < 1 || n > in->tables.n)
			return kab_err_set(
				err, KAB_ERR_USAGE,
				"--table %s: the mail has tables 1 to %zu; 'kab check' lists "
				"them",
				word, in->tables.n);
		in->chosen[n - 1] = true;
	}
	for (size_t t = 0; t < in->tables.n && !kab_args_get(args, "table"); t++)
		in->chosen[t] = true;
	return 0;
}

static int read_input(struct kab_cli *cli, const struct kab_args *args, struct input *in,
		      struct kab_err *err)
{
	struct kab_mail_spans spans = { 0 };
	int status;

	kab_buf_init(&in->bytes, KAB_MAIL_BYTES_MAX);
	if (read_mail(cli, args, &in->bytes, err) < 0)
		return -1;
	kab_mail_split(kab_buf_str(&in->bytes), in->bytes.len, &spans);
	if (spans.n > 1)
		kab_cli_warn(cli, "the file has %zu messages; this replies to the first", spans.n);
	status = kab_mail_parse(kab_buf_str(&in->bytes), spans.v[0].len, &in->mail, err);
	free(spans.v);
	if (status < 0)
		return kab_err_prefix(err, "%s", kab_args_at(args, 0));
	if (in->mail.rejoined)
		kab_cli_warn(cli, "the line breaks of this mail are lost; the quotation is made of "
				  "guessed lines: look at it");
	kab_mail_lines(&in->mail.body, &in->lines);
	kab_mail_tables_find(&in->lines, &in->tables);
	if (!in->tables.n)
		kab_cli_warn(cli, "no table was found in the mail");
	return choose_tables(args, in, err);
}

/* Who writes: --from, else as git commits. */
static int identity(const struct kab_args *args, struct kab_addresses *ret, struct kab_err *err)
{
	const char *given = kab_args_get(args, "from");

	if (given) {
		kab_addresses_parse(given, ret);
	} else {
		char *name kab_autofree = kab_git_config("user.name");
		char *addr kab_autofree = kab_git_config("user.email");

		if (addr)
			kab_addresses_add(ret, name ? name : "", addr);
	}
	if (ret->n != 1 || !strchr(ret->v[0].addr, '@'))
		return kab_err_set(err, given ? KAB_ERR_USAGE : KAB_ERR_CONFIG,
				   given ? "--from '%s' is not one address"
					 : "who writes is not known%s; pass --from 'NAME "
					   "<ADDRESS>' or set git "
					   "config user.email",
				   given ? given : "");
	return 0;
}

/* "Tue, 01 Dec 2026 00:12:45 +0000" and "<20261201001245.1a2b3c4d-kab@DOMAIN>". The zone is not told. */
static void stamp(const char *addr, char date[48], char **message_id)
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	int64_t now = kab_now_wall_ns();
	time_t seconds = (time_t)(now / KAB_NS_PER_S);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	snprintf(date, 48, "%s, %02d %s %04d %02d:%02d:%02d +0000", days[tm.tm_wday], tm.tm_mday,
		 months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
	*message_id = kab_xasprintf("<%04d%02d%02d%02d%02d%02d.%llx-kab%s>", tm.tm_year + 1900,
				    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
				    (unsigned long long)(now % KAB_NS_PER_S) << 20 |
					    ((unsigned long long)kab_now_mono_ns() & 0xfffff),
				    strchr(addr, '@'));
}

static void parse_extra(const struct kab_args *args, const char *name, struct kab_addresses *ret)
{
	const char *word;

	for (size_t i = 0; (word = kab_args_nth(args, name, i)); i++)
		kab_addresses_parse(word, ret);
}

static int compose(struct kab_cli *cli, const struct kab_args *args, const struct input *in,
		   const struct kab_address *from, struct kab_buf *out, struct kab_strv *rcpt,
		   struct kab_err *err)
{
	struct kab_addresses to = { 0 }, cc = { 0 };
	char *id kab_autofree = NULL, *subject kab_autofree = NULL;
	const char *old = kab_mail_get(&in->mail, "Subject");
	struct kab_reply_body body = {
		.mail = &in->mail,
		.lines = &in->lines,
		.tables = &in->tables,
		.chosen = in->chosen,
		.from = from,
		.tested_by = kab_args_flag(args, "tested-by"),
		.regression = kab_args_flag(args, "regression"),
		.introduced = kab_args_get(args, "introduced"),
		.config_base = kab_args_get(args, "config-good"),
		.config_test = kab_args_get(args, "config-bad"),
		.bisect_log = kab_args_get(args, "bisect-log"),
	};
	struct kab_reply_opts opts = {
		.from = *from,
		.to = &to,
		.cc = &cc,
		.in_reply_to = kab_args_get(args, "in-reply-to"),
		.subject = kab_args_get(args, "subject"),
	};
	struct kab_reporting r;
	char date[48];
	int status = -1;

	if (body.tested_by && body.regression)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--tested-by and --regression exclude each other");
	if (kab_reporting_options(NULL, &r, err) < 0)
		return -1;
	r.report.only_judged = true;
	r.report.brief = kab_args_flag(args, "short");
	r.names = kab_args_flag(args, "names");
	r.report.metric = kab_args_get(args, "metric");
	parse_extra(args, "to", &to);
	parse_extra(args, "cc", &cc);
	if (body.regression) {
		kab_addresses_add(&cc, "", REGRESSIONS_LIST);
		if (!opts.subject && old) {
			char *plain kab_autofree = kab_reply_subject(old);

			subject = kab_xasprintf("[REGRESSION] %s", plain);
			opts.subject = subject;
		}
	}
	stamp(from->addr, date, &id);
	opts.date = date;
	opts.message_id = id;
	if (kab_reply_headers(&in->mail, &opts, out, rcpt, err) == 0)
		status = kab_reply_body(cli, kab_args_at(args, 1), &r, &body, out, err);
	kab_addresses_release(&to);
	kab_addresses_release(&cc);
	return status;
}

static int deliver(struct kab_cli *cli, const struct kab_args *args, const char *from,
		   const struct kab_strv *rcpt, const char *message, struct kab_err *err)
{
	const char *path = kab_args_get(args, "output");
	int status;

	if (path && kab_file_write(path, message, strlen(message), 0644, err) < 0)
		return -1;
	if (!path || kab_args_flag(args, "send"))
		fwrite(message, 1, strlen(message), cli->out);
	if (kab_cli_finish(cli, KAB_EXIT_OK) != KAB_EXIT_OK)
		return kab_err_set(err, KAB_ERR_ENV, "cannot write to standard output");
	if (!kab_args_flag(args, "send"))
		return 0;
	status = kab_reply_send(cli, args, from, rcpt, message, err);
	if (status == 0)
		kab_cli_say(cli, "kab: sent to %zu address%s", rcpt->n, rcpt->n == 1 ? "" : "es");
	else if (status > 0)
		kab_cli_say(cli, "kab: not sent");
	return status < 0 ? -1 : 0;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_strv kab_autostrv rcpt = KAB_STRV_INIT;
	struct kab_buf kab_autobuf message = KAB_BUF_INIT;
	struct kab_addresses from = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	struct input in = { 0 };
	int status = -1;

	if (read_input(cli, args, &in, &err) == 0 && identity(args, &from, &err) == 0 &&
	    compose(cli, args, &in, &from.v[0], &message, &rcpt, &err) == 0)
		status = deliver(cli, args, from.v[0].addr, &rcpt, kab_buf_str(&message), &err);
	kab_addresses_release(&from);
	input_release(&in);
	return status < 0 ? kab_cli_fail(cli, &err) : KAB_EXIT_OK;
}

static const struct kab_opt opts[] = {
	{ "output", 'o', "FILE", "write the mail there (default: standard output)", NULL },
	{ "send", '\0', NULL, "send it over SMTP, after showing it and asking", NULL },
	{ "yes", 'y', NULL, "do not ask", NULL },
	{ "tested-by", '\0', NULL, "end with a Tested-by tag; refused when something regressed",
	  NULL },
	{ "regression", '\0', NULL, "a regression report: subject, regzbot paragraph, list", NULL },
	{ "introduced", '\0', "WHAT", "commit or GOOD..BAD (default: the kernels of the run)",
	  NULL },
	{ "config-good", '\0', "FILE", "configuration of the last good kernel", NULL },
	{ "config-bad", '\0', "FILE", "configuration of the first bad kernel", NULL },
	{ "bisect-log", '\0', "FILE", "output of 'git bisect log'", NULL },
	{ "table", 't', "N", "quote this table of the mail only; may be repeated", NULL },
	{ "metric", 'm', "METRIC", "only this metric", NULL },
	{ "short", '\0', NULL, "circumstances in three lines", NULL },
	{ "names", '\0', NULL, "print host names and paths, too", NULL },
	{ "from", '\0', "ADDRESS", "who writes (default: git config user.name, user.email)", NULL },
	{ "to", '\0', "ADDRESS", "one more recipient; may be repeated", NULL },
	{ "cc", '\0', "ADDRESS", "one more copy; may be repeated", NULL },
	{ "subject", '\0', "TEXT", "in place of 'Re:' and the subject of the mail", NULL },
	{ "in-reply-to", '\0', "ID", "Message-ID of the mail, when the file has none", NULL },
	{ "archive", '\0', "URL", "where Message-IDs are fetched (https://lore.kernel.org/r/)",
	  NULL },
	{ "smtp-server", '\0', "HOST", "mail server (default: git config sendemail.*)", NULL },
	{ "smtp-port", '\0', "PORT", "its port", NULL },
	{ "smtp-encryption", '\0', "KIND", "tls is STARTTLS, the default", "tls|ssl|none" },
	{ "smtp-user", '\0', "USER", "who logs in", NULL },
	{ "smtp-password-file", '\0', "FILE", "first line is the password; readable by you only",
	  NULL },
	{ "smtp-ca", '\0', "FILE", "certificates to trust", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_reply = {
	.name = "reply",
	.summary = "write a reply to a mail with the tables of a run",
	.synopsis = "MAIL [RUN] [--output FILE] [--send] [--tested-by] [--regression] ...",
	.description =
		"Quotes what the author claims and measured, and puts the result of a run (the "
		"newest\n"
		"one without RUN) below it, with the author's row labels where they match. MAIL is "
		"a\n"
		"file (eml or mbox, - is standard input) or a Message-ID, which is fetched from "
		"the\n"
		"archive. The mail is plain 7 bit text for git send-email, mutt or b4.\n"
		"Nothing is sent without --send, and then only after you have seen it and said "
		"yes.",
	.example = "  kab reply patch.eml nightly-3 --output reply.eml\n"
		   "  kab reply 20200221132715.20648-1-x@example.org --tested-by --send",
	.completes = "file",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 2,
	.run = run,
};
