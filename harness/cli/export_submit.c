/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/export_submit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/interrupt.h"
#include "publish/fetch.h"
#include "publish/kcidb_submit.h"

/* --token-file, else $KAB_KCIDB_TOKEN, else none; never an argument, which everybody can read. */
static int read_token(struct kab_cli *cli, const struct kab_args *args, struct kab_buf *ret,
		      struct kab_err *err)
{
	const char *file = kab_args_get(args, "token-file"), *env = getenv("KAB_KCIDB_TOKEN");
	struct stat st;

	if (file) {
		if (kab_file_read(file, ret, err))
			return -1;
		if (strcmp(file, "-") && !stat(file, &st) && st.st_mode & 077)
			kab_cli_warn(cli,
				     "others may read '%s'; a token belongs to you alone: "
				     "chmod 600",
				     file);
	} else if (env) {
		kab_buf_adds(ret, env);
	}
	kab_buf_rtrim(ret, " \t\r\n");
	for (size_t i = 0; i < ret->len; i++)
		if ((unsigned char)ret->data[i] <= ' ' || (unsigned char)ret->data[i] >= 0x7f)
			return kab_err_set(err, KAB_ERR_CONFIG,
					   "the token has a blank or a character in it that no "
					   "token has");
	if (file && !ret->len)
		return kab_err_set(err, KAB_ERR_CONFIG, "there is no token in '%s'", file);
	return 0;
}

/* One entry; the exit status. */
static int send_one(struct kab_cli *cli, struct kab_kcidb_entry *e,
		    const struct kab_kcidb_submit *how)
{
	char *shown kab_autofree = kab_fetch_show_url(e->url);
	struct kab_err err = KAB_ERR_INIT;

	if (kab_kcidb_send(e, how, &err))
		return kab_cli_fail(cli, &err);
	switch (e->state) {
	case KAB_KCIDB_DONE:
		kab_cli_say(cli, "kab: '%s' has the report%s%s", shown, e->id ? " as " : "",
			    e->id ? e->id : "");
		return KAB_EXIT_OK;
	case KAB_KCIDB_ACCEPTED:
		kab_cli_say(cli,
			    "kab: '%s' has the report as %s, and has not said what becomes of it; "
			    "'kab export --submit-spool' asks again",
			    shown, e->id ? e->id : "(no id)");
		return KAB_EXIT_OK;
	case KAB_KCIDB_QUEUED:
		kab_cli_warn(cli,
			     "'%s' did not take the report: %s; it waits in the spool: send it "
			     "with 'kab export --submit-spool'",
			     shown, e->words ? e->words : "no answer");
		return KAB_EXIT_OK;
	case KAB_KCIDB_FAILED:
		kab_err_set(&err, KAB_ERR_REMOTE, "'%s' refuses the report%s%s: %s", shown,
			    e->id ? " " : "", e->id ? e->id : "",
			    e->words ? e->words : "without a word");
		return kab_cli_fail(cli, &err);
	}
	return KAB_EXIT_INTERNAL;
}

static int with_token(struct kab_cli *cli, const struct kab_args *args, struct kab_kcidb_entry *v,
		      size_t n)
{
	struct kab_buf kab_autobuf token = KAB_BUF_INIT;
	struct kab_interrupt *interrupt = NULL;
	struct kab_err err = KAB_ERR_INIT;
	double seconds;
	int status = KAB_EXIT_OK;

	if (read_token(cli, args, &token, &err) ||
	    kab_args_num(args, "submit-for", 0, 86400, 60, &seconds, &err) < 0 ||
	    kab_interrupt_start(cli, &interrupt, &err))
		return kab_cli_fail(cli, &err);
	for (size_t i = 0; i < n; i++) {
		struct kab_kcidb_submit how = { .token = token.len ? kab_buf_str(&token) : NULL,
						.deadline_ns = kab_deadline_s(seconds),
						.cancel_fd = kab_interrupt_stop_fd(interrupt),
						.log = &cli->log };
		int one = send_one(cli, &v[i], &how);

		if (one != KAB_EXIT_OK)
			status = one;
		if (one == KAB_EXIT_INTERRUPTED)
			break;
	}
	kab_interrupt_end(interrupt);
	/* A token is not left behind in freed memory. */
	if (token.data)
		explicit_bzero(token.data, token.cap);
	return status;
}

int kab_export_submit(struct kab_cli *cli, const struct kab_args *args, const char *report,
		      size_t n)
{
	const char *url = kab_args_get(args, "submit");
	struct kab_kcidb_entry entry = { 0 };
	struct kab_err err = KAB_ERR_INIT;
	char *dir kab_autofree = NULL;
	int status;

	if (kab_kcidb_spool_dir(&dir, &err) || kab_kcidb_spool(dir, url, report, n, &entry, &err)) {
		status = kab_cli_fail(cli, &err);
	} else if (entry.state == KAB_KCIDB_DONE) {
		kab_cli_say(cli, "kab: this report was submitted before%s%s; nothing was sent",
			    entry.id ? ", as " : "", entry.id ? entry.id : "");
		status = KAB_EXIT_OK;
	} else {
		status = with_token(cli, args, &entry, 1);
	}
	kab_kcidb_entry_release(&entry);
	return status;
}

int kab_export_submit_spool(struct kab_cli *cli, const struct kab_args *args)
{
	struct kab_kcidb_entry *v = NULL;
	struct kab_err err = KAB_ERR_INIT;
	char *dir kab_autofree = NULL;
	int status = KAB_EXIT_OK;
	size_t n = 0;

	if (kab_kcidb_spool_dir(&dir, &err) || kab_kcidb_waiting(dir, &v, &n, &err))
		return kab_cli_fail(cli, &err);
	if (!n)
		kab_cli_say(cli, "kab: nothing waits in the spool");
	else
		status = with_token(cli, args, v, n);
	for (size_t i = 0; i < n; i++)
		kab_kcidb_entry_release(&v[i]);
	free(v);
	return status;
}
