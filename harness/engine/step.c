/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One iteration: command, detached run, bytes. What becomes of it: step_judge.c. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "engine/bind.h"
#include "engine/conditions.h"
#include "engine/probe.h"
#include "engine/quiet.h"
#include "engine/reboot.h"
#include "engine/step.h"
#include "model/expr.h"

#define OUTPUT_BYTES_MAX ((size_t)32 << 20)
#define STEP_TIMEOUT_S 600
/* Time beyond the run's own limits after which a silent host counts as lost. */
#define GRACE_S 90.0
/* And how long it may stay so: a switch that restarts takes minutes. */
#define SILENT_S 600.0

static char *argv_text(const struct kab_strv *argv)
{
	json_t *list = json_array();
	char *text;

	for (size_t i = 0; i < argv->n; i++) {
		json_t *word = json_string(argv->v[i]);

		/* Not UTF-8: keep it readable rather than lose the record. */
		if (!word) {
			struct kab_buf kab_autobuf safe = KAB_BUF_INIT;

			kab_text_escape(&safe, argv->v[i], strlen(argv->v[i]));
			word = json_string(kab_buf_str(&safe));
		}
		json_array_append_new(list, word ? word : json_string("?"));
	}
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

/* Declared, else three times the longest stored duration (at least a minute), else an hour. */
static int choose_timeout(struct kab_attempt *a, struct kab_err *err)
{
	double longest;
	int found;

	a->timeout_s = 3600;
	if (a->c->timeout_s > 0) {
		a->timeout_s = a->c->timeout_s;
		return 0;
	}
	found = kab_store_longest_elapsed(a->lane->opts->store, a->lane->machine_hash,
					  a->step->runner, a->step->params_text, &longest, err);
	if (found < 0)
		return -1;
	if (found == 0)
		a->timeout_s = fmax(60, 3 * longest);
	return 0;
}

/* Build the command from the case and the facts. 1: cannot run here, *ret_reason says why. */
static int build(struct kab_attempt *a, char **ret_reason, struct kab_err *err)
{
	const struct kab_instance *in =
		kab_job_instance(a->lane->job, a->step->case_name, a->step->row_key);
	struct kab_err why = KAB_ERR_INIT;

	if (!in)
		return kab_err_set(
			err, KAB_ERR_STORE,
			"the stored suite has no case '%s' (%s); was the database edited?",
			a->step->case_name, a->step->row_key);
	a->c = &a->lane->job->suite.cases[in->case_index];
	a->runner = kab_case_runner(a->c);
	kab_params_copy(&a->params, &in->params);
	if (kab_params_resolve(&a->params, &a->lane->facts, &why) < 0 ||
	    (a->runner->unsupported &&
	     a->runner->unsupported(&a->lane->facts, &a->params, ret_reason)))
		goto unsupported;
	a->resolved = kab_params_canonical(&a->params, 1);
	if (a->runner->command(&a->params, &a->lane->facts, &a->cmd, &why) < 0)
		goto unsupported;
	if (a->c->background.n) {
		kab_strv_release(&a->cmd.background);
		kab_strv_copy(&a->cmd.background, &a->c->background);
	}
	a->argv_json = argv_text(&a->cmd.argv);
	return 0;
unsupported:
	if (!*ret_reason)
		*ret_reason = kab_xstrdup(why.text);
	return 1;
}

static int start(struct kab_attempt *a, struct kab_err *err)
{
	struct kab_wait wait = kab_lane_wait(a->lane, KAB_STEP_CALL_S);
	struct kab_detach_file *files kab_autofree =
		kab_xcalloc(a->cmd.place_n + 1, sizeof(*files));
	const char *const *prepare[2] = { NULL, NULL }, *const * cleanup[2] = { NULL, NULL };
	struct kab_detach_spec spec = {
		.run_id = a->run_id,
		.token = a->lane->lease.token,
		.argv = (const char *const *)kab_strv_argv(&a->cmd.argv),
		.env = (const char *const *)kab_strv_argv(&a->cmd.env),
		.files = files,
		.n_files = a->cmd.place_n,
		.settle_s = a->c->settle_s,
		.timeout_s = (unsigned)ceil(a->timeout_s),
		.step_timeout_s = STEP_TIMEOUT_S,
	};

	for (size_t i = 0; i < a->cmd.place_n; i++)
		files[i] = (struct kab_detach_file){ a->cmd.place[i].name, a->cmd.place[i].data,
						     a->cmd.place[i].len,
						     a->cmd.place[i].executable ? 0755 : 0644 };
	if (a->cmd.prepare.n) {
		prepare[0] = (const char *const *)kab_strv_argv(&a->cmd.prepare);
		spec.prepare = prepare;
	}
	if (a->cmd.cleanup.n) {
		cleanup[0] = (const char *const *)kab_strv_argv(&a->cmd.cleanup);
		spec.cleanup = cleanup;
	}
	if (a->cmd.background.n)
		spec.background = (const char *const *)kab_strv_argv(&a->cmd.background);
	return kab_detach_start(a->lane->detach, &spec, &wait, &a->run, err);
}

/* Longest time for which the run may keep the host, seconds. */
static double longest(const struct kab_attempt *a)
{
	return a->timeout_s + a->c->settle_s + GRACE_S +
	       (a->cmd.prepare.n || a->cmd.cleanup.n ? 2.0 * STEP_TIMEOUT_S : 0);
}

static int sleep_until_over(struct kab_attempt *a, struct kab_err *err)
{
	struct kab_wait wait = kab_lane_wait(a->lane, longest(a));

	return kab_detach_wait(a->lane->detach, a->run_id, &wait, &a->run, err);
}

static int fetch_one(struct kab_attempt *a, const char *name, struct kab_err *err)
{
	struct kab_wait wait = kab_lane_wait(a->lane, KAB_STEP_CALL_S * 2);
	struct kab_buf *buf;
	int status;

	if (a->n_streams == KAB_ARRAY_SIZE(a->streams))
		return 0;
	buf = &a->streams[a->n_streams];
	kab_buf_init(buf, OUTPUT_BYTES_MAX);
	status = kab_detach_fetch(a->lane->detach, a->run_id, name, 0, OUTPUT_BYTES_MAX, &wait, buf,
				  err);
	if (status == 0)
		a->stream_names[a->n_streams++] = name;
	else
		kab_buf_release(buf);
	return status < 0 ? -1 : 0;
}

static void drop_streams(struct kab_attempt *a)
{
	for (size_t i = 0; i < a->n_streams; i++)
		kab_buf_release(&a->streams[i]);
	a->n_streams = 0;
}

static int fetch(struct kab_attempt *a, struct kab_err *err)
{
	drop_streams(a);
	if (a->run.state != KAB_DETACH_DONE && a->run.state != KAB_DETACH_LOST)
		return 0;
	if (fetch_one(a, "stdout", err) < 0 || fetch_one(a, "stderr", err) < 0)
		return -1;
	for (size_t i = 0; i < a->cmd.output_files.n; i++)
		if (fetch_one(a, a->cmd.output_files.v[i], err) < 0)
			return -1;
	if ((a->cmd.prepare.n || a->cmd.cleanup.n) && fetch_one(a, "steps", err) < 0)
		return -1;
	if (a->cmd.background.n && fetch_one(a, "background", err) < 0)
		return -1;
	return 0;
}

/* Say a disturbance once for each reason, and keep it with the run. */
static void disturbed(struct kab_attempt *a, const char *what)
{
	struct kab_buf kab_autobuf key = KAB_BUF_INIT;

	/* "uses 1.87 CPUs" and "uses 2.00 CPUs" are one reason. */
	for (const char *p = what; *p; p++)
		if (*p < '0' || *p > '9')
			kab_buf_addc(&key, *p);
	if (kab_strv_has(&a->lane->disturbances, kab_buf_str(&key)))
		return;
	kab_strv_add(&a->lane->disturbances, kab_buf_str(&key));
	kab_lane_note(a->lane, "not quiet: %s", what);
	kab_store_event(a->lane->opts->store, a->lane->job->info.id, a->boot->id, "not-quiet", what,
			NULL);
}

/*
 * The suite's policy about a host that is not quiet. 0: measure; 1: the iteration has failed for
 * it (committed); -1: error.
 */
static int await_quiet(struct kab_attempt *a, struct kab_err *err)
{
	const struct kab_suite *suite = &a->lane->job->suite;
	int64_t deadline = kab_deadline_s(suite->quiet_wait_s);

	while (suite->quiet != KAB_QUIET_OFF) {
		struct kab_wait wait = kab_lane_wait(a->lane, KAB_STEP_CALL_S);
		struct kab_quiet_look look;
		char *reason kab_autofree = NULL;
		bool over;

		if (kab_quiet_look(a->lane->session, suite->quiet_cpus, &wait, &look, err) < 0)
			return -1;
		if (a->lane->throttle >= 0 && look.throttle > a->lane->throttle)
			disturbed(a, "the CPUs were throttled (thermal or power limit)");
		a->lane->throttle = look.throttle;
		over = suite->quiet == KAB_QUIET_REFUSE || kab_now_mono_ns() >= deadline;
		if (look.busy) {
			disturbed(a, look.busy);
			reason = kab_xasprintf("the host was not quiet: %s", look.busy);
		}
		kab_quiet_look_release(&look);
		if (!reason || suite->quiet == KAB_QUIET_WARN)
			return 0;
		if (over)
			return kab_step_commit(a, KAB_ITER_FAILED, reason, NULL, err) < 0 ? -1 : 1;
		if (kab_wait_until(kab_deadline_s(5), a->lane->opts->cancel_fd, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * The host is in another boot. What had finished before is as good as ever; what was under way is
 * lost, also when the power cut took its folder; what had not begun waits for the next boot.
 */
static int after_reboot(struct kab_attempt *a, struct kab_err *err)
{
	struct kab_wait wait = kab_lane_wait(a->lane, KAB_STEP_CALL_S);

	a->rebooted = true;
	if (kab_detach_status(a->lane->detach, a->run_id, &wait, &a->run, err) < 0)
		return -1;
	if (a->run.state == KAB_DETACH_NONE && !a->started)
		return 0;
	if (a->run.state != KAB_DETACH_DONE || strcmp(a->run.boot_id, a->boot->os_boot_id))
		a->run.state = KAB_DETACH_REBOOTED;
	return fetch(a, err) < 0 ? -1 : kab_step_judge(a, err);
}

/*
 * Start, wait, fetch, commit. Every call may be repeated after a lost link: a run id is executed
 * at most once on the target, so nothing is done twice.
 */
static int carry_out(struct kab_attempt *a, struct kab_err *err)
{
	struct kab_wait soon = kab_lane_wait(a->lane, KAB_STEP_CALL_S);
	char boot_id[40];

	if (kab_probe_boot_id(a->lane->session, &soon, boot_id, err) < 0)
		return -1;
	if (strcmp(boot_id, a->boot->os_boot_id))
		return after_reboot(a, err);
	/* Not after a lost link or for a run that is under way: it would see itself. */
	if (!a->looked && a->step->state == KAB_ITER_PENDING) {
		int quiet = await_quiet(a, err);

		if (quiet)
			return quiet < 0 ? -1 : 0;
	}
	a->looked = true;
	for (int again = 0;; again++) {
		struct kab_wait wait = kab_lane_wait(a->lane, KAB_STEP_CALL_S);

		if (kab_lease_extend(a->lane->session, &a->lane->lease, (int64_t)longest(a) + 60,
				     false, &wait, err) < 0 ||
		    start(a, err) < 0)
			return -1;
		a->started = true;
		if (sleep_until_over(a, err) < 0)
			return -1;
		/* Ended by kab itself, in a stop whose cleaning did not get through or by who had
		 * the lease meanwhile: that is no failure of the benchmark. */
		if (again || (a->run.state != KAB_DETACH_ABORTED && !a->run.killed))
			break;
		wait = kab_lane_wait(a->lane, KAB_STEP_CALL_S);
		if (kab_detach_clean(a->lane->detach, a->run_id, &wait, err) < 0)
			return -1;
	}
	if (fetch(a, err) < 0)
		return -1;
	/* Lost before anything ran (its folder is gone): it is still to be done. */
	if (a->run.state == KAB_DETACH_NONE)
		return kab_err_set(
			err, KAB_ERR_REMOTE,
			"the work folder on the host lost the run; is it being cleaned?");
	return kab_step_judge(a, err);
}

/* A hard stop: leave nothing running on the target. The iteration stays to be done. */
static void abandon(struct kab_attempt *a)
{
	struct kab_wait wait = { .deadline_ns = kab_deadline_s(15), .cancel_fd = -1 };
	struct kab_err err = KAB_ERR_INIT;

	if (!a->lane->session || !a->lane->detach)
		return;
	if (kab_detach_kill(a->lane->detach, a->run_id, &wait, NULL, &err) == 0 &&
	    kab_detach_clean(a->lane->detach, a->run_id, &wait, &err) == 0)
		kab_store_iteration_abandoned(a->lane->opts->store, a->step->id, &err);
}

static int with_reconnects(struct kab_attempt *a, struct kab_err *err)
{
	const struct kab_lab_host *host = a->lane->host;
	/* Where its power can be cycled, no longer than a boot may take. */
	double silent_s =
		kab_reboot_can_revive(host) ? fmin(SILENT_S, host->boot_deadline_s) : SILENT_S;
	int64_t deadline = kab_deadline_s(longest(a) + silent_s);

	for (;;) {
		kab_err_clear(err);
		if (carry_out(a, err) == 0)
			return 0;
		if (kab_lane_link_lost(err)) {
			kab_lane_note(a->lane, "link lost (%s); connecting again", err->text);
			if (kab_lane_reconnect(a->lane, deadline, err) == 0)
				continue;
			/* Once: a host that hangs under every iteration is not to cost the night. */
			if (kab_lane_link_lost(err) && !a->lane->cycled &&
			    kab_reboot_can_revive(host) &&
			    kab_reboot_revive(a->lane, a->boot, err) == 0) {
				deadline = kab_deadline_s(SILENT_S);
				continue;
			}
		}
		if (err->code == KAB_ERR_CANCELLED) {
			/* The session may be in the middle of a message: use a fresh one. */
			struct kab_err ignored = KAB_ERR_INIT;

			kab_lane_disconnect(a->lane);
			if (kab_lane_connect(a->lane, &ignored) == 0)
				abandon(a);
		} else if (!kab_lane_link_lost(err) && err->code != KAB_ERR_BUSY &&
			   a->run.state != KAB_DETACH_DONE) {
			/* The lane is about to give the host back: nothing of it may go on there. */
			abandon(a);
		}
		return -1;
	}
}

static void attempt_release(struct kab_attempt *a)
{
	drop_streams(a);
	kab_params_release(&a->params);
	kab_command_release(&a->cmd);
	free(a->argv_json);
	free(a->resolved);
}

/* Free the run's folder only now: what is not committed must stay on the target. */
static void clean(struct kab_attempt *a)
{
	struct kab_wait wait = kab_lane_wait(a->lane, KAB_STEP_CALL_S);
	struct kab_err err = KAB_ERR_INIT;

	if (a->run.state == KAB_DETACH_LOST && a->run.group_alive)
		kab_detach_kill(a->lane->detach, a->run_id, &wait, NULL, &err);
	if (kab_detach_clean(a->lane->detach, a->run_id, &wait, &err) < 0)
		kab_log(a->lane->opts->log, KAB_LOG_DEBUG, "%s: cannot clean %s: %s",
			a->lane->host->name, a->run_id, err.text);
}

/* The result could not be fetched or stored, and the lane is about to take its condition back. */
static void remember_condition(const struct kab_attempt *a)
{
	struct kab_wait wait = kab_lane_wait(a->lane, KAB_STEP_CALL_S);
	const struct kab_lab_host *host = a->lane->host;
	struct kab_err err = KAB_ERR_INIT;
	const char *base;

	if (a->run.state != KAB_DETACH_DONE || !a->lane->condition || !a->lane->session ||
	    !a->lane->detach)
		return;
	base = kab_detach_base(a->lane->detach);
	if (kab_conditions_verify(a->lane->session, host->become, base, a->lane->condition, &wait,
				  &err) == 0)
		kab_conditions_mark(a->lane->session, host->become, base, a->run_id, &wait, &err);
}

static int one_attempt(struct kab_lane *lane, struct kab_step_info *step,
		       const struct kab_boot_info *boot, bool *ret_rebooted, struct kab_err *err)
{
	struct kab_attempt a = { .lane = lane, .step = step, .boot = boot };
	char *reason kab_autofree = NULL;
	int status = build(&a, &reason, err);

	a.run.elapsed_s = a.run.user_s = a.run.system_s = NAN;
	a.run.max_rss_kb = -1;
	if (status > 0) {
		status = kab_step_commit(&a, KAB_ITER_MISSING, reason, NULL, err);
		goto out;
	}
	if (status < 0 || choose_timeout(&a, err) < 0) {
		status = -1;
		goto out;
	}
	snprintf(a.run_id, sizeof(a.run_id), "kab-%s-%lld", lane->job->uid, (long long)step->id);
	a.started_wall_ns = kab_now_wall_ns();
	kab_step_event(&a, KAB_EVENT_STEP_BEGIN, NAN, "", NULL);
	status = kab_store_iteration_started(lane->opts->store, step->id, a.run_id,
					     a.started_wall_ns, err);
	if (status == 0) {
		status = with_reconnects(&a, err);
		if (status < 0)
			remember_condition(&a);
	}
	if (status == 0) {
		*ret_rebooted = a.rebooted || a.run.state == KAB_DETACH_REBOOTED;
		clean(&a);
	}
out:
	attempt_release(&a);
	return status;
}

int kab_step_missing(struct kab_lane *lane, struct kab_step_info *step,
		     const struct kab_boot_info *boot, const char *reason, struct kab_err *err)
{
	const struct kab_instance *in = kab_job_instance(lane->job, step->case_name, step->row_key);
	struct kab_attempt a = { .lane = lane, .step = step, .boot = boot };

	if (!in)
		return kab_err_set(err, KAB_ERR_STORE, "the stored suite has no case '%s' (%s)",
				   step->case_name, step->row_key);
	a.c = &lane->job->suite.cases[in->case_index];
	a.runner = kab_case_runner(a.c);
	a.run.elapsed_s = a.run.user_s = a.run.system_s = NAN;
	a.run.max_rss_kb = -1;
	return kab_step_commit(&a, KAB_ITER_MISSING, reason, NULL, err);
}

int kab_step_run(struct kab_lane *lane, struct kab_step_info *step,
		 const struct kab_boot_info *boot, bool *ret_rebooted, struct kab_err *err)
{
	*ret_rebooted = false;
	for (;;) {
		int64_t again;

		if (one_attempt(lane, step, boot, ret_rebooted, err) < 0)
			return -1;
		if (step->state != KAB_ITER_FAILED || *ret_rebooted ||
		    step->attempt > lane->job->retry || kab_lane_stopping(lane))
			return 0;
		if (kab_store_retry_iteration(lane->opts->store, step->id, &again, err) < 0)
			return -1;
		lane->done--;
		step->id = again;
		step->attempt++;
		step->state = KAB_ITER_PENDING;
	}
}
