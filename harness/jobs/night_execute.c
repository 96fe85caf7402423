/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of a night on real hosts: a thread for each host, its runs one after the other. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jobs/night.h"

/* A lost host is tried once more after so long, when at least so much of its window is left. */
#define AGAIN_AFTER_S 60
#define AGAIN_LEFT_S 300

/* What a thread has. */
struct crew {
	const struct kab_nightly_env *env;
	struct kab_night_run **runs; /* of one host, in order */
	size_t n;
	int64_t now_ns; /* of the night's clock, when the threads began */
	int64_t mono_ns; /* the same moment */
};

/* A point of the night's clock on the monotonic one. */
static int64_t mono_of(const struct crew *crew, int64_t wall_ns)
{
	return crew->mono_ns + (wall_ns - crew->now_ns);
}

/* Readable when `fd` is, or at the time. -1 when it cannot be made. */
struct bell {
	int epoll, timer;
};

static void bell_release(struct bell *b)
{
	if (b->timer >= 0)
		close(b->timer);
	if (b->epoll >= 0)
		close(b->epoll);
}

static int bell_make(struct bell *b, int fd, int64_t mono_ns, struct kab_err *err)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct itimerspec when = { .it_value = { .tv_sec = mono_ns / KAB_NS_PER_S,
						 .tv_nsec = mono_ns % KAB_NS_PER_S } };

	if (mono_ns <= 0)
		when.it_value = (struct timespec){ .tv_nsec = 1 };
	b->epoll = epoll_create1(EPOLL_CLOEXEC);
	b->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (b->epoll < 0 || b->timer < 0 ||
	    timerfd_settime(b->timer, TFD_TIMER_ABSTIME, &when, NULL) < 0 ||
	    epoll_ctl(b->epoll, EPOLL_CTL_ADD, b->timer, &e) < 0 ||
	    (fd >= 0 && epoll_ctl(b->epoll, EPOLL_CTL_ADD, fd, &e) < 0)) {
		kab_err_errno(err, KAB_ERR_ENV, "cannot watch for the end of the window");
		bell_release(b);
		return -1;
	}
	return 0;
}

static void hear(void *ctx, const struct kab_event *e)
{
	const struct crew *crew = ctx;
	const struct kab_log *log = crew->env->log;

	switch (e->kind) {
	case KAB_EVENT_NOTE:
	case KAB_EVENT_HOST:
		kab_log(log, KAB_LOG_INFO, "%s: %s", e->host, e->text ? e->text : "");
		break;
	case KAB_EVENT_BOOT:
		kab_log(log, KAB_LOG_INFO, "%s: block %d of %d: kernel '%s'", e->host, e->block,
			e->blocks, e->kernel ? e->kernel : "");
		break;
	case KAB_EVENT_STEP_END:
		kab_log(log, e->state == KAB_ITER_DONE ? KAB_LOG_DEBUG : KAB_LOG_WARN,
			"%s: %s%s%s, kernel '%s', iteration %d: %s%s%s (%zu of %zu)", e->host,
			e->case_name, e->row_key && *e->row_key ? " " : "",
			e->row_key ? e->row_key : "", e->kernel ? e->kernel : "", e->iteration,
			kab_iter_state_name(e->state), e->text ? ": " : "", e->text ? e->text : "",
			e->done, e->total);
		break;
	case KAB_EVENT_LANE_END:
		if (e->outcome == KAB_LANE_FAILED)
			kab_log(log, KAB_LOG_WARN, "%s: %s", e->host, e->text ? e->text : "");
		break;
	case KAB_EVENT_STEP_BEGIN:
		break;
	}
}

static int once(struct crew *crew, struct kab_night_run *run, int stop_fd, int cancel_fd)
{
	int64_t left_ns = mono_of(crew, run->soft_ns) - kab_now_mono_ns();
	struct kab_engine_opts opts = {
		.store = crew->env->store,
		.run_id = run->run_id,
		.lab = crew->env->lab,
		.stop_fd = stop_fd,
		.cancel_fd = cancel_fd,
		/* Others share the host: half of the time may pass before it is free. */
		.lease_wait_s = left_ns > 0 ? (double)left_ns / 2e9 : 0,
		.log = crew->env->log,
		.event = hear,
		.ctx = crew,
	};
	struct kab_lane_result *results = NULL;
	size_t n = 0;

	kab_err_clear(&run->err);
	run->outcome = KAB_LANE_FAILED;
	if (kab_engine_execute(&opts, &results, &n, &run->err) < 0)
		return -1;
	if (n) {
		run->outcome = results[0].outcome;
		run->err = results[0].err;
		if (run->outcome == KAB_LANE_NEEDS_BOOT) {
			run->outcome = KAB_LANE_FAILED;
			kab_err_set(&run->err, KAB_ERR_CONFIG,
				    "host '%s' has to be booted into '%s' by hand; give it a boot "
				    "method in the lab file",
				    results[0].host, results[0].kernel);
		}
	}
	kab_lane_results_free(results, n);
	return 0;
}

static bool may_heal(const struct kab_err *err)
{
	return err->code == KAB_ERR_CONNECT || err->code == KAB_ERR_TIMEOUT ||
	       err->code == KAB_ERR_REMOTE;
}

static void carry_out(struct crew *crew, struct kab_night_run *run)
{
	struct bell soft = { -1, -1 }, hard = { -1, -1 };
	int64_t begin = mono_of(crew, run->not_before_ns);

	run->outcome = KAB_LANE_STOPPED;
	if (bell_make(&soft, crew->env->stop_fd, mono_of(crew, run->soft_ns), &run->err) < 0 ||
	    bell_make(&hard, crew->env->cancel_fd, mono_of(crew, run->hard_ns), &run->err) < 0) {
		run->outcome = KAB_LANE_FAILED;
		bell_release(&soft);
		return;
	}
	if (kab_wait_until(begin, soft.epoll, NULL) == 0) {
		once(crew, run, soft.epoll, hard.epoll);
		if (run->outcome == KAB_LANE_FAILED && may_heal(&run->err) &&
		    mono_of(crew, run->soft_ns) - kab_now_mono_ns() > AGAIN_LEFT_S * KAB_NS_PER_S) {
			kab_log(crew->env->log, KAB_LOG_WARN, "%s: trying once more in %d s",
				run->host->name, AGAIN_AFTER_S);
			if (kab_wait_until(kab_deadline_s(AGAIN_AFTER_S), soft.epoll, NULL) == 0)
				once(crew, run, soft.epoll, hard.epoll);
		}
	}
	bell_release(&soft);
	bell_release(&hard);
}

static void *work(void *arg)
{
	struct crew *crew = arg;

	for (size_t i = 0; i < crew->n; i++)
		carry_out(crew, crew->runs[i]);
	return NULL;
}

static int execute(const struct kab_nightly_env *env, struct kab_night_run *runs, size_t n,
		   int64_t now_ns, struct kab_err *err)
{
	struct crew *crews kab_autofree = kab_xcalloc(n + 1, sizeof(*crews));
	pthread_t *threads kab_autofree = kab_xcalloc(n + 1, sizeof(*threads));
	bool *begun kab_autofree = kab_xcalloc(n + 1, sizeof(*begun));
	int64_t mono_ns = kab_now_mono_ns();
	size_t n_crews = 0;
	int status = 0;

	for (size_t i = 0; i < n; i++) {
		struct crew *mine = NULL;

		for (size_t k = 0; k < n_crews; k++)
			if (crews[k].runs[0]->host == runs[i].host)
				mine = &crews[k];
		if (!mine) {
			mine = &crews[n_crews++];
			*mine = (struct crew){ .env = env, .now_ns = now_ns, .mono_ns = mono_ns };
			mine->runs = kab_xcalloc(n + 1, sizeof(*mine->runs));
		}
		mine->runs[mine->n++] = &runs[i];
	}
	for (size_t k = 0; k < n_crews; k++) {
		begun[k] = pthread_create(&threads[k], NULL, work, &crews[k]) == 0;
		if (!begun[k])
			status = kab_err_set(err, KAB_ERR_ENV, "cannot start a thread");
	}
	for (size_t k = 0; k < n_crews; k++) {
		if (begun[k])
			pthread_join(threads[k], NULL);
		free(crews[k].runs);
	}
	return status;
}

/* ---- the night's side ---- */

static int note_outcome(struct kab_night *night, const struct kab_night_run *run,
			struct kab_err *err)
{
	struct kab_night_host *h = kab_night_host(night, run->host->name);
	struct kab_err why = KAB_ERR_INIT;

	h->tried = true;
	switch (run->outcome) {
	case KAB_LANE_DONE:
		if (!strcmp(run->purpose, "aa") && !night->env->execute &&
		    kab_engine_store_noise(night->env->store, run->run_id, &why) < 0)
			return kab_night_remark(night, "noise", h->host->name, err,
						"the noise floor is not stored: %s", why.text);
		return 0;
	case KAB_LANE_STOPPED:
		if (kab_night_stopping(night)) {
			night->stopped = true;
			return 0;
		}
		h->cut = true;
		night->failures = true;
		return kab_night_remark(night, "cut", h->host->name, err,
					"the end of the window cut run '%s' off; what is finished "
					"is judged",
					run->name);
	case KAB_LANE_NEEDS_BOOT:
	case KAB_LANE_FAILED:
		break;
	}
	if (run->err.code == KAB_ERR_CANCELLED && kab_night_stopping(night)) {
		night->stopped = true;
		return 0;
	}
	night->failures = true;
	free(h->reason);
	h->reason = kab_xstrdup(run->err.text);
	/* That somebody else has it says nothing against a host. */
	h->busy = run->err.code == KAB_ERR_BUSY;
	h->failed = !h->busy;
	return kab_night_remark(night, h->busy ? "busy" : "host", h->host->name, err, "%s",
				run->err.text);
}

int kab_night_execute(struct kab_night *night, struct kab_err *err)
{
	const struct kab_nightly_env *env = night->env;
	struct kab_night_run_row *rows = NULL;
	struct kab_night_run *runs;
	size_t n = 0, n_rows = 0;
	int status = 0;

	if (kab_store_night_runs(env->store, night->row.id, &rows, &n_rows, err) < 0)
		return -1;
	runs = kab_xcalloc(n_rows + 1, sizeof(*runs));
	for (size_t i = 0; i < n_rows; i++) {
		struct kab_night_host *h = kab_night_host(night, rows[i].host);
		int64_t margin = (int64_t)(night->c->margin_s / 2 * 1e9);

		if (rows[i].state == KAB_RUN_COMPLETE || !h || h->failed || h->busy || h->cut)
			continue;
		runs[n++] = (struct kab_night_run){ .run_id = rows[i].run_id,
						    .name = rows[i].run_name,
						    .purpose = rows[i].purpose,
						    .host = h->host,
						    .not_before_ns = h->window.from_ns,
						    .soft_ns = h->window.to_ns - margin,
						    .hard_ns = h->window.to_ns };
	}
	if (n)
		status = env->execute ? env->execute(env->ctx, runs, n, err)
				      : execute(env, runs, n, kab_night_now(night), err);
	for (size_t i = 0; i < n && status == 0; i++)
		status = note_outcome(night, &runs[i], err);
	free(runs);
	for (size_t i = 0; i < n_rows; i++)
		kab_night_run_row_release(&rows[i]);
	free(rows);
	return status;
}
