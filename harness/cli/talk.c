/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/cli.h"

/* Text may come from a host or a file: never let it drive the terminal. */
static void line(const char *prefix, const char *text)
{
	struct kab_buf kab_autobuf buf = KAB_BUF_INIT;

	kab_buf_adds(&buf, prefix);
	kab_text_escape(&buf, text, strlen(text));
	kab_buf_rtrim(&buf, "\n");
	kab_buf_addc(&buf, '\n');
	fwrite(buf.data, 1, buf.len, stderr);
}

int kab_cli_fail(struct kab_cli *cli, const struct kab_err *err)
{
	(void)cli;
	fflush(cli->out);
	line("kab: ", err->code ? err->text : "internal error without a text");
	return kab_err_exit_code(err->code ? err->code : KAB_ERR_INTERNAL);
}

void kab_cli_warn(struct kab_cli *cli, const char *fmt, ...)
{
	char *text kab_autofree = NULL;
	va_list ap;

	(void)cli;
	va_start(ap, fmt);
	text = kab_xvasprintf(fmt, ap);
	va_end(ap);
	line("kab: warning: ", text);
}

void kab_cli_say(struct kab_cli *cli, const char *fmt, ...)
{
	char *text kab_autofree = NULL;
	va_list ap;

	if (cli->verbosity < 0)
		return;
	va_start(ap, fmt);
	text = kab_xvasprintf(fmt, ap);
	va_end(ap);
	line("", text);
}

int kab_cli_finish(struct kab_cli *cli, int status)
{
	if (fflush(cli->out) == 0 && !ferror(cli->out) &&
	    (!cli->raw || (fflush(cli->raw) == 0 && !ferror(cli->raw))))
		return status;
	if (errno != EPIPE)
		fprintf(stderr, "kab: cannot write the output: %s\n", strerror(errno));
	return status ? status : KAB_EXIT_HOST;
}

int kab_cli_open_store(struct kab_cli *cli, enum kab_store_mode mode, struct kab_store **ret,
		       struct kab_err *err)
{
	if (kab_store_open(cli->db_path, mode, ret, err) < 0)
		return -1;
	if (kab_store_notice(*ret))
		kab_cli_say(cli, "kab: note: %s", kab_store_notice(*ret));
	return 0;
}
