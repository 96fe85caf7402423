/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/lane.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "engine/adaptive.h"
#include "engine/conditions.h"
#include "engine/method.h"
#include "engine/probe.h"

#define CONNECT_S 60.0
#define CALL_S 60.0
#define LEASE_S 180
#define RECONNECT_S 600.0
#define FIRST_CONNECT_S 10.0

static bool readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&pfd, 1, 0) > 0;
}

bool kab_lane_stopping(const struct kab_lane *lane)
{
	return readable(lane->opts->stop_fd) || readable(lane->opts->cancel_fd);
}

struct kab_wait kab_lane_wait(const struct kab_lane *lane, double seconds)
{
	return (struct kab_wait){ .deadline_ns = kab_deadline_s(seconds),
				  .cancel_fd = lane->opts->cancel_fd };
}

/* Cleaning up has to work after a hard stop, too. */
static struct kab_wait last_wait(double seconds)
{
	return (struct kab_wait){ .deadline_ns = kab_deadline_s(seconds), .cancel_fd = -1 };
}

bool kab_lane_link_lost(const struct kab_err *err)
{
	return err->code == KAB_ERR_CONNECT || err->code == KAB_ERR_TIMEOUT;
}

void kab_lane_note(struct kab_lane *lane, const char *fmt, ...)
{
	struct kab_event e = { .kind = KAB_EVENT_NOTE,
			       .host = lane->host->name,
			       .done = lane->done,
			       .total = lane->n_steps };
	char *text kab_autofree = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = kab_xvasprintf(fmt, ap);
	va_end(ap);
	e.text = text;
	kab_queue_push(lane->queue, &e);
}

static void tell(struct kab_lane *lane, const char *state)
{
	struct kab_event e = { .kind = KAB_EVENT_HOST,
			       .host = lane->host->name,
			       .text = (char *)state,
			       .done = lane->done,
			       .total = lane->n_steps };

	kab_queue_push(lane->queue, &e);
}

void kab_lane_disconnect(struct kab_lane *lane)
{
	kab_detach_close(lane->detach);
	lane->detach = NULL;
	if (lane->session)
		lane->session->ops->close(lane->session);
	lane->session = NULL;
}

int kab_lane_connect(struct kab_lane *lane, struct kab_err *err)
{
	return kab_lane_connect_in(lane, CONNECT_S, err);
}

int kab_lane_connect_in(struct kab_lane *lane, double seconds, struct kab_err *err)
{
	struct kab_wait wait = lane->opts->cancel_fd >= 0 && readable(lane->opts->cancel_fd)
				       ? last_wait(15)
				       : kab_lane_wait(lane, seconds);

	kab_lane_disconnect(lane);
	if (kab_probe_open(&lane->ep, &wait, &lane->session, err) < 0)
		return -1;
	/* It may have stood in a queue. */
	if (kab_now_mono_ns() >= wait.deadline_ns)
		wait.deadline_ns = kab_deadline_s(CALL_S);
	if (kab_detach_open(lane->session, lane->host->workdir, lane->host->become, &wait,
			    &lane->detach, err) < 0) {
		kab_lane_disconnect(lane);
		return -1;
	}
	return 0;
}

int kab_lane_reconnect(struct kab_lane *lane, int64_t deadline_ns, struct kab_err *err)
{
	double pause_s = 0.5;

	tell(lane, "lost");
	for (;;) {
		if (kab_lane_connect(lane, err) == 0) {
			tell(lane, "reconnected");
			return 0;
		}
		if (!kab_lane_link_lost(err) || kab_now_mono_ns() >= deadline_ns)
			return kab_err_prefix(err, "gave up connecting again");
		if (kab_wait_until(kab_deadline_s(pause_s), lane->opts->cancel_fd, err) < 0)
			return -1;
		pause_s = pause_s < 15 ? pause_s * 2 : 30;
	}
}

static int probe(struct kab_lane *lane, struct kab_err *err)
{
	struct kab_wait wait = kab_lane_wait(lane, CALL_S);

	kab_facts_release(&lane->facts);
	if (kab_probe(lane->session, &wait, &lane->facts, err) < 0)
		return -1;
	kab_probe_machine_hash(&lane->facts, lane->machine_hash);
	return 0;
}

/* The host is ours alone while we measure; wait for it as long as the user allows. */
static int take_lease(struct kab_lane *lane, struct kab_err *err)
{
	int64_t deadline = kab_deadline_s(lane->opts->lease_wait_s);
	int64_t began = kab_now_mono_ns(), said = 0;

	tell(lane, "connected");
	for (;;) {
		struct kab_wait wait = kab_lane_wait(lane, CALL_S);
		struct kab_lease_info info = { 0 };

		if (kab_lease_acquire(lane->session, NULL, lane->owner, LEASE_S,
				      KAB_LEASE_KILL_LEFTOVER, &wait, &lane->lease, &info,
				      err) == 0) {
			tell(lane, "leased");
			return 0;
		}
		if (err->code != KAB_ERR_BUSY)
			return -1;
		if (kab_now_mono_ns() >= deadline) {
			struct kab_run_info own = { 0 };
			struct kab_err held = *err;

			/* A run of ours whose kab was killed holds it as long as one that goes on. */
			if (kab_job_of_owner(lane->opts->store, info.owner, &own) == 0)
				kab_err_set(
					err, KAB_ERR_BUSY,
					"%s: that is run '%s'; if its kab is gone: kab resume %s; "
					"to wait for it: kab resume %s --wait SECONDS",
					held.text, own.name, own.name, lane->job->info.name);
			else
				kab_err_set(err, KAB_ERR_BUSY,
					    "%s; to wait for it: kab resume %s --wait SECONDS",
					    held.text, lane->job->info.name);
			kab_run_info_release(&own);
			return -1;
		}
		if (!said || kab_now_mono_ns() - said >= 60 * KAB_NS_PER_S) {
			char *since kab_autofree = kab_text_duration(
				(double)((kab_now_mono_ns() - began) / KAB_NS_PER_S));

			kab_lane_note(lane, "waiting%s%s: %s", said ? " for " : "",
				      said ? since : "", err->text);
			said = kab_now_mono_ns();
		}
		if (kab_wait_until(kab_deadline_s(2), lane->opts->cancel_fd, err) < 0)
			return -1;
		if (readable(lane->opts->stop_fd))
			return kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
	}
}

static int undo_condition_within(struct kab_lane *lane, const struct kab_wait *wait,
				 struct kab_err *err)
{
	if (!lane->session || !lane->detach)
		return 0;
	/* Also without a condition of ours: an interrupted run may have left its own. */
	if (kab_conditions_undo(lane->session, lane->host->become, kab_detach_base(lane->detach),
				wait, err) < 0)
		return -1;
	lane->condition = NULL;
	return 0;
}

static int undo_condition(struct kab_lane *lane, struct kab_err *err)
{
	struct kab_wait wait = kab_lane_wait(lane, CALL_S);

	return undo_condition_within(lane, &wait, err);
}

static int set_condition(struct kab_lane *lane, const char *text, struct kab_err *err)
{
	const struct kab_setting_list *set = kab_job_condition(lane->job, text);
	struct kab_wait wait = kab_lane_wait(lane, CALL_S);

	if (!set)
		return kab_err_set(err, KAB_ERR_STORE, "the stored plan has no condition '%s'",
				   text);
	if (!lane->condition_lost && (set == lane->condition || (!set->n && !lane->condition)))
		return 0;
	if (undo_condition(lane, err) < 0)
		return -1;
	if (set->n) {
		if (kab_conditions_apply(lane->session, lane->host->become,
					 kab_detach_base(lane->detach), set, &wait, err) < 0)
			return kab_err_prefix(err, "condition '%s' could not be applied", text);
		lane->condition = set;
		lane->condition_lost = false;
		kab_lane_note(lane, "condition %s", text);
	}
	/* CPUs come and go with SMT: expressions are worth what the host is now. */
	return probe(lane, err);
}

/* After an error: connect again if that may cure it. -1: it cannot, or it has been tried for long. */
static int mend(struct kab_lane *lane, int64_t deadline, struct kab_err *err)
{
	if (!kab_lane_link_lost(err) || kab_now_mono_ns() >= deadline)
		return -1;
	kab_lane_note(lane, "link lost (%s); connecting again", err->text);
	if (kab_lane_reconnect(lane, deadline, err) < 0)
		return -1;
	kab_err_clear(err);
	return 0;
}

/* A link that breaks between two iterations is as harmless as one that breaks in an iteration. */
static int set_condition_patiently(struct kab_lane *lane, const char *text, struct kab_err *err)
{
	int64_t deadline = kab_deadline_s(RECONNECT_S);

	/* NULL: nothing but taking back what is set. */
	while ((text ? set_condition(lane, text, err) : undo_condition(lane, err)) < 0)
		if (mend(lane, deadline, err) < 0)
			return -1;
	return 0;
}

static const struct kab_boot_info *boot_of(const struct kab_lane *lane, const bool *in_session,
					   const struct kab_step_info *step)
{
	for (size_t i = 0; i < lane->n_boots; i++)
		if (in_session[i] && lane->boots[i].id == step->boot_id)
			return &lane->boots[i];
	return NULL;
}

static bool is_open(const struct kab_step_info *step)
{
	return step->state == KAB_ITER_PENDING || step->state == KAB_ITER_RUNNING;
}

static int close_boots(struct kab_lane *lane, const bool *in_session, struct kab_err *err)
{
	for (size_t i = 0; i < lane->n_boots; i++) {
		bool open = false;

		for (size_t k = 0; k < lane->n_steps; k++)
			open = open || (lane->steps[k].boot_id == lane->boots[i].id &&
					is_open(&lane->steps[k]));
		if (!in_session[i] || open)
			continue;
		if (kab_store_boot_state(lane->opts->store, lane->boots[i].id, "done", NULL, err) <
		    0)
			return -1;
		free(lane->boots[i].state);
		lane->boots[i].state = kab_xstrdup("done");
	}
	return 0;
}

/* Boots whose last iteration was stored, but kab or the link ended before they were closed. */
static int close_forgotten(struct kab_lane *lane, struct kab_err *err)
{
	bool *proven kab_autofree = kab_xcalloc(lane->n_boots + 1, sizeof(*proven));

	for (size_t i = 0; i < lane->n_boots; i++)
		proven[i] = !strcmp(lane->boots[i].state, "proven");
	return close_boots(lane, proven, err);
}

/* All open steps of the boots that take part, in the order of the plan. */
static int run_session(struct kab_lane *lane, const bool *in_session, struct kab_err *err)
{
	for (size_t i = 0; i < lane->n_steps; i++) {
		struct kab_step_info *step = &lane->steps[i];
		const struct kab_boot_info *boot = boot_of(lane, in_session, step);
		bool rebooted;

		if (!boot || !is_open(step))
			continue;
		if (kab_lane_stopping(lane))
			return 0;
		if (set_condition_patiently(lane, step->condition, err) < 0 ||
		    kab_step_run(lane, step, boot, &rebooted, err) < 0)
			return -1;
		if (rebooted) {
			/* A power cycle is in the record already. */
			if (!lane->cycled) {
				kab_store_event(lane->opts->store, lane->job->info.id, boot->id,
						"unexpected-reboot", "the host restarted by itself",
						NULL);
				kab_lane_note(lane, "the host restarted by itself");
			}
			lane->cycled = false;
			/* The lease did not outlive it, and a power cut may have taken its file. */
			if (take_lease(lane, err) < 0)
				return -1;
			/* Settings in files outlive a restart; the note of their old values does too. */
			if (undo_condition(lane, err) < 0)
				return -1;
			return probe(lane, err);
		}
	}
	if (set_condition_patiently(lane, NULL, err) < 0)
		return -1;
	return close_boots(lane, in_session, err);
}

static int sessions(struct kab_lane *lane, struct kab_err *err)
{
	bool *in_session kab_autofree = kab_xcalloc(lane->n_boots + 1, sizeof(*in_session));
	struct kab_lane_result *result = lane->result;

	for (;;) {
		enum kab_boot_answer answer;
		const char *kernel = NULL;
		int64_t deadline;
		bool more;

		if (kab_lane_stopping(lane)) {
			result->outcome = KAB_LANE_STOPPED;
			return 0;
		}
		/* Where kab boots, losing the link is part of it, and is dealt with there. */
		deadline = kab_deadline_s(RECONNECT_S);
		while (kab_boot_next(lane, in_session, &answer, &kernel, err) < 0)
			if (lane->host->boot != KAB_BOOT_NONE || mend(lane, deadline, err) < 0)
				return -1;
		switch (answer) {
		case KAB_BOOT_NOTHING:
			if (close_forgotten(lane, err) < 0)
				return -1;
			if (kab_adaptive_next(lane, &more, err) < 0)
				return -1;
			if (more) {
				free(in_session);
				in_session = kab_xcalloc(lane->n_boots + 1, sizeof(*in_session));
				continue;
			}
			result->outcome = KAB_LANE_DONE;
			return 0;
		case KAB_BOOT_USER:
			result->outcome = KAB_LANE_NEEDS_BOOT;
			result->kernel = kab_xstrdup(kernel);
			result->spec = kab_xstrdup(kab_job_kernel(lane->job, kernel)->spec);
			return 0;
		case KAB_BOOT_READY:
			break;
		}
		if (run_session(lane, in_session, err) < 0)
			return -1;
	}
}

/*
 * The run is the owner, not the process: after a crash `kab resume` gets its lease back at once,
 * and what still runs on the host is waited for. kab_engine_execute() sees to it that a run is
 * carried out by one process only.
 */
static void make_owner(struct kab_lane *lane)
{
	char host[64] = "?";

	gethostname(host, sizeof(host) - 1);
	for (char *p = host; *p; p++)
		if (*p <= ' ' || *p > '~')
			*p = '?';
	snprintf(lane->owner, sizeof(lane->owner), "uid%u@%.40s:%s", (unsigned)getuid(), host,
		 lane->job->uid);
}

/*
 * An iteration that an earlier process of ours started may be going on, or be finished and not yet
 * fetched. Its condition is then left alone: what takes it back now would spoil the measurement,
 * and it is looked at once more before the result counts.
 */
static int adopt(struct kab_lane *lane, struct kab_err *err)
{
	for (size_t i = 0; i < lane->n_steps; i++) {
		const struct kab_step_info *step = &lane->steps[i];
		struct kab_wait wait = kab_lane_wait(lane, CALL_S);
		const struct kab_setting_list *set;
		struct kab_detach_result run;

		if (step->state != KAB_ITER_RUNNING || !step->remote_id || !*step->remote_id)
			continue;
		if (kab_detach_status(lane->detach, step->remote_id, &wait, &run, err) < 0)
			return -1;
		if (run.state != KAB_DETACH_STARTING && run.state != KAB_DETACH_RUNNING &&
		    run.state != KAB_DETACH_DONE)
			continue;
		if (run.state == KAB_DETACH_DONE) {
			bool held;

			if (kab_conditions_marked(lane->session, lane->host->become,
						  kab_detach_base(lane->detach), step->remote_id,
						  &held, &wait, err) < 0)
				return -1;
			/* Its condition was looked at before it was taken back. */
			if (held)
				continue;
		}
		set = kab_job_condition(lane->job, step->condition);
		lane->condition = set && set->n ? set : NULL;
		kab_lane_note(lane, run.state == KAB_DETACH_DONE
					    ? "an iteration finished while nobody waited for it"
					    : "an iteration is still running here; waiting for it");
		return 0;
	}
	return undo_condition(lane, err);
}

/* Folders of finished iterations that could not be removed at the time. */
static void sweep(struct kab_lane *lane)
{
	struct kab_strv kab_autostrv names = KAB_STRV_INIT;
	struct kab_wait wait = last_wait(15);
	struct kab_err err = KAB_ERR_INIT;

	if (kab_detach_list(lane->detach, &wait, &names, &err) < 0)
		return;
	for (size_t i = 0; i < lane->n_steps; i++) {
		char run_id[96];

		snprintf(run_id, sizeof(run_id), "kab-%s-%lld", lane->job->uid,
			 (long long)lane->steps[i].id);
		if (!is_open(&lane->steps[i]) && kab_strv_has(&names, run_id))
			kab_detach_clean(lane->detach, run_id, &wait, &err);
	}
}

/* Conditions back, folders gone, lease back; with time of its own, because it has to work after a
 * hard stop, too. */
static int give_back(struct kab_lane *lane, struct kab_err *err)
{
	struct kab_wait wait = last_wait(30);

	if (undo_condition_within(lane, &wait, err) < 0) {
		kab_lane_note(lane, "conditions are not undone yet: %s; the next contact does it",
			      err->text);
		if (kab_lane_link_lost(err))
			return -1;
	}
	sweep(lane);
	/* No choice of ours is to outlive the run. */
	if (lane->host->boot != KAB_BOOT_NONE) {
		struct kab_method_host mh = { .host = lane->host, .session = lane->session };
		struct kab_wait soon = last_wait(15);

		kab_method_clear(&mh, &soon, NULL);
	}
	wait = last_wait(15);
	return kab_lease_release(lane->session, &lane->lease, &wait, err);
}

/* Whatever happened, leave the host as it was found. Who never had the lease touches nothing. */
static void leave(struct kab_lane *lane)
{
	enum kab_err_code why = lane->result->err.code;
	struct kab_err err = KAB_ERR_INIT;

	if (lane->session && lane->lease.token && why != KAB_ERR_BUSY) {
		/* A session that was interrupted may be in the middle of a message. */
		if (why == KAB_ERR_CANCELLED)
			kab_lane_connect(lane, &err);
		/* A host that stays leased for an hour is worth a second try. */
		if (lane->session && give_back(lane, &err) < 0 &&
		    ((kab_lane_link_lost(&err) && kab_lane_connect(lane, &err) < 0) ||
		     give_back(lane, &err) < 0))
			kab_lane_note(lane, "the lease is not given back: %s", err.text);
	}
	kab_lane_disconnect(lane);
}

/* A host that kab boots may be on its way up: a kab that was killed did not wait for it. */
static int connect_first(struct kab_lane *lane, struct kab_err *err)
{
	double deadline_s = lane->host->boot_deadline_s;

	if (kab_lane_connect(lane, err) == 0)
		return 0;
	if (!kab_lane_link_lost(err))
		return -1;
	/* It answered a moment ago, when the run was begun. */
	if (lane->host->boot == KAB_BOOT_NONE)
		return mend(lane, kab_deadline_s(FIRST_CONNECT_S), err);
	kab_lane_note(lane, "%s; it may be restarting: waiting up to %.0f s", err->text,
		      deadline_s);
	if (kab_lane_reconnect(lane, kab_deadline_s(deadline_s), err) == 0) {
		kab_err_clear(err);
		return 0;
	}
	if (!kab_lane_link_lost(err))
		return -1;
	return kab_err_prefix(err, "restart the host by hand, then: kab resume %s",
			      lane->job->info.name);
}

/* Each of these may be done again, so a link that breaks here is no end either. */
static int begin(struct kab_lane *lane, struct kab_err *err)
{
	int64_t deadline = kab_deadline_s(RECONNECT_S);

	if (connect_first(lane, err) < 0)
		return -1;
	while (take_lease(lane, err) < 0 || adopt(lane, err) < 0 || probe(lane, err) < 0 ||
	       kab_lane_install(lane, err) < 0)
		if (mend(lane, deadline, err) < 0)
			return -1;
	return 0;
}

void kab_lane_run(struct kab_lane *lane)
{
	struct kab_lane_result *result = lane->result;
	struct kab_err *err = &result->err;

	lane->ep = kab_probe_endpoint(lane->host, lane->opts->log);
	make_owner(lane);
	lane->throttle = -1;
	for (size_t i = 0; i < lane->n_steps; i++)
		lane->done += !is_open(&lane->steps[i]);
	result->outcome = KAB_LANE_FAILED;
	if (begin(lane, err) == 0 && sessions(lane, err) == 0)
		kab_err_clear(err);
	if (err->code == KAB_ERR_CANCELLED)
		result->outcome = KAB_LANE_STOPPED;
	leave(lane);
	kab_strv_release(&lane->disturbances);
	kab_strv_release(&lane->releases);
	kab_facts_release(&lane->facts);
}
