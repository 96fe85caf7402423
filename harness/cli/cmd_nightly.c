/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/circumstances.h"
#include "cli/setup.h"
#include "jobs/lock.h"
#include "jobs/night_log.h"
#include "jobs/nightly.h"

/* Everything that one call holds. */
struct job {
	struct kab_cli *cli;
	struct kab_nightly config;
	struct kab_lab lab;
	struct kab_suite suite;
	struct kab_store *store;
	struct kab_interrupt *interrupt;
	struct kab_night_log *log;
	struct kab_lock lock;
	char *state_dir;
	struct kab_nightly_env env;
};

static void job_release(struct job *j)
{
	kab_nightly_release(&j->config);
	kab_lab_release(&j->lab);
	kab_suite_release(&j->suite);
	kab_store_close(j->store);
	kab_interrupt_end(j->interrupt);
	kab_night_log_free(j->log);
	kab_lock_release(&j->lock);
	free(j->state_dir);
}

static int circumstances(void *ctx, const struct kab_run_info *run,
			 const struct kab_judgement *judgement, struct kab_preamble *ret,
			 struct kab_err *err)
{
	struct job *j = ctx;

	return kab_circumstances(j->store, run, judgement, false, ret, err);
}

static void begun(void *ctx, const char *date)
{
	struct job *j = ctx;

	if (j->log)
		kab_night_log_begin(j->log, date);
}

/* The file, what it names, and the folder of the job. */
static int load(struct job *j, const struct kab_args *args, struct kab_err *err)
{
	if (kab_nightly_load(kab_args_at(args, 0), &j->config, err) < 0 ||
	    kab_nightly_state_dir(&j->config, &j->state_dir, err) < 0)
		return -1;
	if (j->config.lab && !j->cli->lab_path) {
		if (kab_lab_load(j->config.lab, &j->lab, err) < 0)
			return -1;
	} else if (kab_setup_lab(j->cli, &j->lab, err) < 0) {
		return -1;
	}
	if (kab_setup_suite(j->config.suite, &j->suite, err) < 0)
		return -1;
	for (size_t i = 0; i < j->config.hosts.n; i++) {
		const struct kab_lab_host *host;

		if (kab_lab_need(&j->lab, j->config.hosts.v[i], &host, err) < 0)
			return kab_err_prefix(err, "%s", j->config.file);
	}
	j->env = (struct kab_nightly_env){
		.config = &j->config,
		.lab = &j->lab,
		.suite = &j->suite,
		.state_dir = j->state_dir,
		.version = KAB_VERSION,
		.stop_fd = -1,
		.cancel_fd = -1,
		.now = kab_args_flag(args, "now"),
		.date = kab_args_get(args, "date"),
		.dry_run = kab_args_flag(args, "dry-run"),
		.mail_always = kab_args_flag(args, "mail"),
		.ctx = j,
		.begun = begun,
		.circumstances = circumstances,
	};
	return 0;
}

/* A database that is not there yet is none: nothing was measured. */
static int open_to_read(struct job *j, struct kab_err *err)
{
	struct kab_err why = KAB_ERR_INIT;

	if (kab_store_open(j->cli->db_path, KAB_STORE_READ, &j->store, &why) == 0 ||
	    why.code == KAB_ERR_NOT_FOUND) {
		j->env.store = j->store;
		return 0;
	}
	*err = why;
	return -1;
}

static int show_status(struct job *j, struct kab_err *err)
{
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;

	if (open_to_read(j, err) < 0 || kab_nightly_status(&j->env, &out, err) < 0)
		return -1;
	fwrite(kab_buf_str(&out), 1, out.len, j->cli->out);
	return KAB_EXIT_OK;
}

static int check(struct job *j, struct kab_err *err)
{
	char *why kab_autofree = NULL;
	int status;

	if (open_to_read(j, err) < 0)
		return -1;
	status = kab_nightly_check(&j->env, &why, err);
	if (status < 0)
		return -1;
	fprintf(j->cli->out, "%s: %s\n", status ? "BROKEN" : "OK", why);
	return status ? KAB_EXIT_HOST : KAB_EXIT_OK;
}

static int take_lock(struct job *j, bool *ret_busy, struct kab_err *err)
{
	char *path kab_autofree = kab_xasprintf("%s/lock", j->state_dir);
	char *left kab_autofree = NULL, since[24];
	struct kab_lock_holder holder = { 0 };
	int status = kab_lock_take(path, kab_now_wall_ns(), &j->lock, &holder, &left, err);

	*ret_busy = status == 1;
	if (status < 0)
		return -1;
	if (status == 1) {
		kab_format_utc(holder.since_wall_ns, since);
		kab_cli_say(j->cli, "kab: nightly '%s' is running already, process %lld since %s",
			    j->config.name, (long long)holder.pid, since);
		return 0;
	}
	if (left)
		kab_log(kab_night_log_sink(j->log), KAB_LOG_WARN, "stale lock: %s", left);
	return 0;
}

/* One line, for cron to mail; nothing when all is well. */
static void tell(struct job *j, const struct kab_nightly_result *r)
{
	const char *path = kab_night_log_path(j->log);
	/* What fails every night was told in the first. */
	bool quiet = !r->news && (!r->exit_status || r->exit_status == KAB_EXIT_RESULTS);

	kab_log(kab_night_log_sink(j->log), KAB_LOG_INFO, "%s: %s", j->config.name,
		r->summary ? r->summary : "");
	if (j->cli->verbosity < 0 || (quiet && j->cli->verbosity < 1))
		return;
	fprintf(j->cli->out, "kab nightly %s %s: %s%s%s%s\n", j->config.name, r->date,
		r->summary ? r->summary : "", path ? " (log " : "", path ? path : "",
		path ? ")" : "");
}

static int night(struct job *j, const struct kab_args *args, struct kab_err *err)
{
	struct kab_nightly_result result = { 0 };
	struct kab_err beat = KAB_ERR_INIT;
	char *text kab_autofree = NULL;
	int status;

	if (kab_interrupt_start(j->cli, &j->interrupt, err) < 0)
		return -1;
	j->env.stop_fd = kab_interrupt_stop_fd(j->interrupt);
	j->env.cancel_fd = kab_interrupt_cancel_fd(j->interrupt);
	j->env.log = kab_night_log_sink(j->log);
	if (kab_nightly_heartbeat(j->state_dir, kab_now_wall_ns(), "begun", err) < 0)
		return -1;
	if (kab_cli_open_store(j->cli, KAB_STORE_WRITE, &j->store, err) < 0)
		status = -1;
	else {
		j->env.store = j->store;
		status = kab_nightly_night(&j->env, &result, err);
	}
	text = status < 0 ? kab_xasprintf("error: %s", err->text) : kab_xstrdup(result.summary);
	if (kab_nightly_heartbeat(j->state_dir, kab_now_wall_ns(), text, &beat) < 0)
		kab_cli_warn(j->cli, "%s", beat.text);
	if (status == 0) {
		tell(j, &result);
		status = result.exit_status;
		if (!status && kab_args_flag(args, "gate") && result.open)
			status = KAB_EXIT_REGRESSION;
	} else {
		kab_log(j->env.log, KAB_LOG_ERROR, "%s", err->text);
	}
	kab_nightly_result_release(&result);
	return status;
}

static int dry_run(struct job *j, struct kab_err *err)
{
	struct kab_nightly_result result = { 0 };
	struct kab_buf kab_autobuf out = KAB_BUF_INIT;

	/* Writing only what was seen of kernels; without a database there is no history to plan by. */
	if (kab_cli_open_store(j->cli, KAB_STORE_WRITE, &j->store, err) < 0)
		return -1;
	j->env.store = j->store;
	j->env.plan_text = &out;
	j->env.log = j->cli->verbosity > 0 ? &j->cli->log : NULL;
	if (kab_nightly_night(&j->env, &result, err) < 0)
		return -1;
	fwrite(kab_buf_str(&out), 1, out.len, j->cli->out);
	fprintf(j->cli->out, "Nothing was run.\n");
	kab_nightly_result_release(&result);
	return KAB_EXIT_OK;
}

/* A night is measured now: one to come would stay the newest until its day. */
static int check_date(const char *date, struct kab_err *err)
{
	time_t now = (time_t)(kab_now_wall_ns() / KAB_NS_PER_S);
	struct tm local;
	char today[16];

	if (!kab_text_is_date(date))
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--date takes a night as YYYY-MM-DD, not '%s'", date);
	localtime_r(&now, &local);
	strftime(today, sizeof(today), "%Y-%m-%d", &local);
	if (strcmp(date, today) > 0)
		return kab_err_set(err, KAB_ERR_USAGE,
				   "--date %s is after today, %s: a night cannot be measured "
				   "before it comes",
				   date, today);
	return 0;
}

static int check_options(const struct kab_args *args, struct kab_err *err)
{
	const char *date = kab_args_get(args, "date");

	if (kab_args_flag(args, "status") && kab_args_flag(args, "check"))
		return kab_err_set(err, KAB_ERR_USAGE, "--status and --check exclude each other");
	if (!date)
		return 0;
	if (!kab_args_flag(args, "now"))
		return kab_err_set(err, KAB_ERR_USAGE, "--date belongs to --now");
	return check_date(date, err);
}

static int start(struct job *j, const struct kab_args *args, struct kab_err *err)
{
	char *dir kab_autofree = NULL;
	struct kab_log mirror = j->cli->log;
	bool busy = false;
	int status;

	if (check_options(args, err) < 0 || load(j, args, err) < 0)
		return -1;
	if (kab_args_flag(args, "status"))
		return show_status(j, err);
	if (kab_args_flag(args, "check"))
		return check(j, err);
	if (j->env.dry_run)
		return dry_run(j, err);
	/* Warnings are in the log, and what matters of them in the summary. */
	mirror.level = j->cli->verbosity >= 2	? KAB_LOG_DEBUG
		       : j->cli->verbosity == 1 ? KAB_LOG_INFO
						: KAB_LOG_ERROR;
	dir = kab_xasprintf("%s/logs", j->state_dir);
	if (kab_night_log_new(dir, j->config.logs, &mirror, &j->log, err) < 0 ||
	    take_lock(j, &busy, err) < 0)
		return -1;
	status = busy ? KAB_EXIT_BUSY : night(j, args, err);
	kab_night_log_free(j->log);
	j->log = NULL;
	return status;
}

static int run(struct kab_cli *cli, const struct kab_args *args)
{
	struct job j = { .cli = cli, .lock = KAB_LOCK_INIT };
	struct kab_err err = KAB_ERR_INIT;
	int status = start(&j, args, &err);

	if (status < 0)
		status = kab_cli_fail(cli, &err);
	job_release(&j);
	return status;
}

static const struct kab_opt opts[] = {
	{ "status", '\0', NULL, "what is going on, and what the last nights brought", NULL },
	{ "check", '\0', NULL, "is the job itself alive? One line; exit 0 or 4, for monitoring",
	  NULL },
	{ "dry-run", 'n', NULL, "what would be measured tonight, and why; run nothing", NULL },
	{ "now", '\0', NULL, "begin at once, whatever the window says", NULL },
	{ "date", '\0', "DATE", "with --now: the night to be, YYYY-MM-DD, not after today (today)",
	  NULL },
	{ "mail", '\0', NULL, "write the mail of this night whatever happened", NULL },
	{ "gate", '\0', NULL, "exit with 1 while a confirmed regression is open", NULL },
	{ 0 },
};

const struct kab_cmd kab_cmd_nightly = {
	.name = "nightly",
	.summary = "measure a new kernel in its window, and speak only when something changed",
	.synopsis = "FILE [OPTIONS]",
	.description =
		"What cron or a systemd timer starts. Asks the sources of FILE for a new kernel,\n"
		"measures it with the baseline and a reference kernel on the hosts within the\n"
		"window, judges it against history, confirms what looks like a change by a fresh\n"
		"comparison, writes the archive and the mail, and ends. See docs/nightly.md.\n\n"
		"Nothing is printed when all is well (-v: one line, and the log on stderr).\n"
		"A second start while the first one runs says so and exits with 7. A night that\n"
		"was cut off (kill, power) is gone on with by the next start.\n\n"
		"Exit: 0 fine or nothing to do; 1 with --gate and an open confirmed regression;\n"
		"3 the file is wrong; 4 nothing could be measured; 5 something failed or is\n"
		"missing; 7 it is running already.",
	.example = "  kab nightly /etc/kab/mainline.json\n"
		   "  kab nightly /etc/kab/mainline.json --dry-run\n"
		   "  kab nightly /etc/kab/mainline.json --check",
	.completes = "file",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
