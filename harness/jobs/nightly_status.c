/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How it stands with a nightly job: for people, and for a monitoring that asks. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "jobs/history.h"
#include "jobs/lock.h"
#include "jobs/nightly.h"
#include "jobs/window.h"

#define NIGHTS_SHOWN 10
/* A job that still runs so long after its window has hung. */
#define OVERDUE_NS (3600 * KAB_NS_PER_S)

static int64_t now_of(const struct kab_nightly_env *env)
{
	return env->now_ns ? env->now_ns(env->ctx) : kab_now_wall_ns();
}

/* ---- heartbeat ---- */

int kab_nightly_heartbeat(const char *state_dir, int64_t now_ns, const char *text,
			  struct kab_err *err)
{
	char *path kab_autofree = kab_xasprintf("%s/heartbeat", state_dir);
	char utc[24], *line kab_autofree = NULL;

	kab_format_utc(now_ns, utc);
	line = kab_xasprintf("%lld %s %s\n", (long long)(now_ns / KAB_NS_PER_S), utc, text);
	return kab_file_write(path, line, strlen(line), 0644, err);
}

/* 1: there is none. */
static int read_heartbeat(const char *state_dir, int64_t *ret_ns, char **ret_text)
{
	struct kab_buf kab_autobuf buf = { .max = 4096 };
	char *path kab_autofree = kab_xasprintf("%s/heartbeat", state_dir);
	long long seconds;
	const char *text;

	if (kab_file_read(path, &buf, NULL) < 0 || sscanf(kab_buf_str(&buf), "%lld", &seconds) != 1)
		return 1;
	kab_buf_rtrim(&buf, "\n");
	text = strchr(kab_buf_str(&buf), ' ');
	text = text ? strchr(text + 1, ' ') : NULL;
	*ret_ns = seconds * KAB_NS_PER_S;
	*ret_text = kab_xstrdup(text ? text + 1 : "");
	return 0;
}

static int holder(const struct kab_nightly_env *env, struct kab_lock_holder *ret,
		  struct kab_err *err)
{
	char *path kab_autofree = kab_xasprintf("%s/lock", env->state_dir);

	return kab_lock_show(path, ret, err);
}

/* ---- for monitoring ---- */

static int newest_night(const struct kab_nightly_env *env, struct kab_night_row *ret,
			struct kab_err *err)
{
	struct kab_night_row *rows = NULL;
	size_t n = 0;

	if (!env->store)
		return 1;
	if (kab_store_night_list(env->store, env->config->name, 1, &rows, &n, err) < 0)
		return -1;
	if (n)
		*ret = rows[0];
	free(rows);
	return n ? 0 : 1;
}

static int unsent(const struct kab_nightly_env *env, size_t *ret, struct kab_err *err)
{
	struct kab_night_mail_row *v = NULL;

	*ret = 0;
	if (!env->store)
		return 0;
	if (kab_store_night_unsent(env->store, env->config->name, &v, ret, err) < 0)
		return -1;
	for (size_t i = 0; i < *ret; i++)
		kab_night_mail_row_release(&v[i]);
	free(v);
	return 0;
}

int kab_nightly_check(const struct kab_nightly_env *env, char **ret_why, struct kab_err *err)
{
	const char *tree = env->config->name;
	int64_t now_ns = now_of(env), beat_ns = 0;
	char *text kab_autofree = NULL, utc[24], local[24];
	struct kab_lock_holder held = { 0 };
	struct kab_night_row night = { 0 };
	struct kab_window last;
	size_t waiting = 0;
	int locked, known;

	*ret_why = NULL;
	locked = holder(env, &held, err);
	known = newest_night(env, &night, err);
	if (locked < 0 || known < 0 || unsent(env, &waiting, err) < 0)
		return -1;
	if (locked == 0 && held.alive) {
		if (known == 0 && !strcmp(night.state, "running") &&
		    now_ns > night.end_wall_ns + OVERDUE_NS)
			*ret_why = kab_xasprintf("%s: the night of %s still runs, and its window "
						 "was over at %s (process %lld)",
						 tree, night.date,
						 kab_window_local(night.end_wall_ns, local),
						 (long long)held.pid);
	} else if (read_heartbeat(env->state_dir, &beat_ns, &text) != 0) {
		*ret_why = kab_xasprintf("%s: the job has never run; see crontab or 'systemctl "
					 "list-timers'",
					 tree);
	} else if (kab_window_last(&env->config->window, now_ns, &last) && beat_ns < last.from_ns) {
		kab_format_utc(beat_ns, utc);
		*ret_why = kab_xasprintf("%s: the night of %s passed without the job, which was "
					 "last seen %s",
					 tree, last.date, utc);
	} else if (known == 0 && !strcmp(night.state, "running")) {
		*ret_why = kab_xasprintf("%s: the night of %s was cut off, and nobody has gone on "
					 "with it",
					 tree, night.date);
	} else if (known == 0 && !strcmp(night.state, "failed")) {
		*ret_why = kab_xasprintf("%s: the night of %s failed: %s", tree, night.date,
					 night.summary);
	} else if (!strncmp(text, "error: ", 7)) {
		*ret_why = kab_xasprintf("%s: %s", tree, text);
	} else if (waiting) {
		*ret_why = kab_xasprintf("%s: %zu mail%s cannot be sent", tree, waiting,
					 waiting == 1 ? "" : "s");
	}
	known = *ret_why ? 1 : 0;
	if (!known && locked == 0 && held.alive) {
		kab_format_utc(held.since_wall_ns, utc);
		*ret_why = kab_xasprintf("%s: running since %s", tree, utc);
	} else if (!known) {
		kab_format_utc(beat_ns, utc);
		*ret_why = kab_xasprintf("%s: last seen %s: %s", tree, utc, text);
	}
	kab_night_row_release(&night);
	return known;
}

/* ---- for people ---- */

static int show_nights(const struct kab_nightly_env *env, struct kab_buf *out, struct kab_err *err)
{
	struct kab_night_row *rows = NULL;
	size_t n = 0;

	if (kab_store_night_list(env->store, env->config->name, NIGHTS_SHOWN, &rows, &n, err) < 0)
		return -1;
	kab_buf_adds(out, n ? "Nights, newest first:\n" : "Nights: none yet\n");
	for (size_t i = 0; i < n; i++) {
		kab_buf_addf(out, "  %s  %-8s %s\n", rows[i].date, rows[i].state, rows[i].summary);
		kab_night_row_release(&rows[i]);
	}
	free(rows);
	return 0;
}

static int show_baseline(const struct kab_nightly_env *env, struct kab_buf *out,
			 struct kab_err *err)
{
	struct kab_night_baseline b = { 0 };
	int status = kab_store_night_baseline(env->store, env->config->name, &b, err);

	if (status < 0)
		return -1;
	if (env->config->baseline == KAB_BASELINE_FIXED)
		kab_buf_addf(out, "Baseline: %s (fixed by the file)\n",
			     env->config->baseline_kernel);
	else if (status == 0)
		kab_buf_addf(out, "Baseline: %s since %s: %s (policy %s)\n", b.label, b.date, b.why,
			     kab_baseline_policy_name(env->config->baseline));
	kab_night_baseline_release(&b);
	return 0;
}

static int show_hosts(const struct kab_nightly_env *env, struct kab_buf *out, struct kab_err *err)
{
	struct kab_quarantine_row *q = NULL;
	size_t n = 0;

	if (kab_store_quarantined(env->store, &q, &n, err) < 0)
		return -1;
	if (n)
		kab_buf_adds(out, "Hosts in quarantine (back with: kab hosts --recheck):\n");
	for (size_t i = 0; i < n; i++) {
		kab_buf_addf(out, "  %s  since %s: %s\n", q[i].host, q[i].date, q[i].reason);
		kab_quarantine_row_release(&q[i]);
	}
	free(q);
	return 0;
}

static int show_changes(const struct kab_nightly_env *env, struct kab_buf *out, struct kab_err *err)
{
	struct kab_change_list list = { 0 }, wait = { 0 };

	if (kab_history_open_changes(env->store, env->config->name, &list, err) < 0 ||
	    kab_history_confirmations(env->store, env->config->name, &wait, err) < 0) {
		kab_change_list_release(&list);
		return -1;
	}
	if (list.n)
		kab_buf_adds(out, "Confirmed changes that nobody has acknowledged:\n");
	for (size_t i = 0; i < list.n; i++) {
		char *name kab_autofree = kab_series_id_name(&list.v[i].series);

		kab_buf_addf(out, "  %lld  %s %+.2f %% since %s%s%s\n", (long long)list.v[i].id,
			     name, list.v[i].confirmed_gain_pct, list.v[i].since,
			     list.v[i].recovered ? ", recovered " : "",
			     list.v[i].recovered ? list.v[i].recovered : "");
	}
	if (wait.n)
		kab_buf_addf(out, "Waiting for confirmation: %zu\n", wait.n);
	kab_change_list_release(&list);
	kab_change_list_release(&wait);
	return 0;
}

int kab_nightly_status(const struct kab_nightly_env *env, struct kab_buf *ret, struct kab_err *err)
{
	struct kab_lock_holder held = { 0 };
	int64_t now_ns = now_of(env), beat_ns = 0;
	char *text kab_autofree = NULL, from[24], to[24], utc[24];
	struct kab_window w = { 0 };
	bool inside = kab_window_now(&env->config->window, now_ns, &w);
	int locked = holder(env, &held, err);
	size_t waiting = 0;

	if (locked < 0)
		return -1;
	kab_buf_addf(ret, "Tree: %s (%s)\n", env->config->name, env->config->file);
	kab_buf_addf(ret, "Window: %s, %s to %s\n", inside ? "open" : "next",
		     kab_window_local(w.from_ns, from), kab_window_local(w.to_ns, to));
	if (locked == 0) {
		kab_format_utc(held.since_wall_ns, utc);
		kab_buf_addf(ret, "Job: %s, process %lld, since %s\n",
			     held.alive ? "running" : "was cut off; the next start goes on with it",
			     (long long)held.pid, utc);
	} else {
		kab_buf_adds(ret, "Job: not running\n");
	}
	if (read_heartbeat(env->state_dir, &beat_ns, &text) == 0) {
		kab_format_utc(beat_ns, utc);
		kab_buf_addf(ret, "Last seen: %s: %s\n", utc, text);
	} else {
		kab_buf_adds(ret, "Last seen: never\n");
	}
	if (!env->store) {
		kab_buf_adds(ret, "Nights: none yet\n");
		return 0;
	}
	if (show_nights(env, ret, err) < 0 || show_baseline(env, ret, err) < 0 ||
	    show_hosts(env, ret, err) < 0 || show_changes(env, ret, err) < 0 ||
	    unsent(env, &waiting, err) < 0)
		return -1;
	if (waiting)
		kab_buf_addf(ret, "Mails that wait to be sent: %zu\n", waiting);
	return 0;
}
