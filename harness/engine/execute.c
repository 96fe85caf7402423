/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All lanes of a run: start them, pass their events on, and put down how the run ended. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "engine/lane.h"

struct all {
	struct kab_boot_info *boots;
	size_t n_boots;
	struct kab_step_info *steps;
	size_t n_steps;
};

static void *lane_thread(void *arg)
{
	struct kab_lane *lane = arg;
	struct kab_event end = { .kind = KAB_EVENT_LANE_END };

	kab_lane_run(lane);
	end.host = lane->host->name;
	end.outcome = lane->result->outcome;
	end.kernel = lane->result->kernel;
	end.text = lane->result->outcome == KAB_LANE_FAILED ? lane->result->err.text : NULL;
	end.done = lane->done;
	end.total = lane->n_steps;
	kab_queue_push(lane->queue, &end);
	kab_queue_lane_ended(lane->queue);
	return NULL;
}

/* Hand each lane the boots and steps of its host; the arrays are taken apart, items are moved. */
static void deal(struct kab_lane *lane, struct all *all)
{
	lane->boots = kab_xcalloc(all->n_boots + 1, sizeof(*lane->boots));
	lane->steps = kab_xcalloc(all->n_steps + 1, sizeof(*lane->steps));
	for (size_t i = 0; i < all->n_boots; i++) {
		if (!all->boots[i].host || strcmp(all->boots[i].host, lane->host->name))
			continue;
		lane->boots[lane->n_boots++] = all->boots[i];
		for (size_t k = 0; k < all->n_steps; k++) {
			if (all->steps[k].boot_id != all->boots[i].id || !all->steps[k].case_name)
				continue;
			lane->steps[lane->n_steps++] = all->steps[k];
			memset(&all->steps[k], 0, sizeof(all->steps[k]));
			all->steps[k].boot_id = -1;
		}
		memset(&all->boots[i], 0, sizeof(all->boots[i]));
	}
}

static int by_sequence(const void *a, const void *b)
{
	const struct kab_step_info *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->attempt - y->attempt;
}

void kab_lane_sort_steps(struct kab_lane *lane)
{
	qsort(lane->steps, lane->n_steps, sizeof(*lane->steps), by_sequence);
}

static void lane_release(struct kab_lane *lane)
{
	for (size_t i = 0; i < lane->n_boots; i++)
		kab_boot_info_release(&lane->boots[i]);
	for (size_t i = 0; i < lane->n_steps; i++)
		kab_step_info_release(&lane->steps[i]);
	free(lane->boots);
	free(lane->steps);
}

static void follow(const struct kab_engine_opts *opts, struct kab_queue *queue)
{
	size_t alive = 1;

	while (alive) {
		struct pollfd pfd = { .fd = queue->fd, .events = POLLIN };
		struct kab_event *events;
		size_t n;

		poll(&pfd, 1, 250);
		alive = kab_queue_take(queue, &events, &n);
		for (size_t i = 0; i < n; i++) {
			if (opts->event)
				opts->event(opts->ctx, &events[i]);
			kab_event_release(&events[i]);
		}
		free(events);
		if (opts->tick)
			opts->tick(opts->ctx);
	}
}

static enum kab_run_state final_state(const struct kab_lane_result *results, size_t n)
{
	enum kab_run_state state = KAB_RUN_COMPLETE;

	for (size_t i = 0; i < n; i++) {
		if (results[i].outcome == KAB_LANE_STOPPED || results[i].outcome == KAB_LANE_FAILED)
			return KAB_RUN_INTERRUPTED;
		if (results[i].outcome == KAB_LANE_NEEDS_BOOT)
			state = KAB_RUN_WAITING;
	}
	return state;
}

/*
 * One process carries out a run. The name is in the kernel's memory only: it is gone with the
 * process, also after a crash.
 */
static int only_one(const struct kab_job *job, int *ret_fd, struct kab_err *err)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "kab-run-%s", job->uid);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot make a socket");
	if (bind(fd, (struct sockaddr *)&name,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) < 0) {
		bool taken = errno == EADDRINUSE;

		close(fd);
		if (taken)
			return kab_err_set(err, KAB_ERR_BUSY,
					   "run '%s' is being carried out by another kab on this "
					   "machine; wait for it",
					   job->info.name);
		return kab_err_errno(err, KAB_ERR_ENV, "cannot mark the run as being carried out");
	}
	*ret_fd = fd;
	return 0;
}

int kab_engine_is_busy(struct kab_store *store, int64_t run_id, bool *ret, struct kab_err *err)
{
	struct kab_job job = { 0 };
	struct kab_err why = KAB_ERR_INIT;
	int fd = -1, rc = kab_job_load(store, run_id, &job, err);

	*ret = false;
	if (rc == 0 && only_one(&job, &fd, &why) < 0) {
		*ret = why.code == KAB_ERR_BUSY;
		if (!*ret) {
			rc = -1;
			if (err)
				*err = why;
		}
	}
	if (fd >= 0)
		close(fd);
	kab_job_release(&job);
	return rc;
}

static int load(const struct kab_engine_opts *opts, struct kab_job *job, struct all *all,
		int *ret_only_fd, struct kab_err *err)
{
	if (kab_job_load(opts->store, opts->run_id, job, err) < 0 ||
	    only_one(job, ret_only_fd, err) < 0)
		return -1;
	if (kab_store_list_boots(opts->store, opts->run_id, &all->boots, &all->n_boots, err) < 0 ||
	    kab_store_list_steps(opts->store, opts->run_id, 0, &all->steps, &all->n_steps, err) < 0)
		return -1;
	return kab_store_set_run_state(opts->store, opts->run_id, KAB_RUN_RUNNING, err);
}

int kab_engine_execute(const struct kab_engine_opts *opts, struct kab_lane_result **ret,
		       size_t *ret_n, struct kab_err *err)
{
	struct kab_job job = { 0 };
	struct all all = { 0 };
	struct kab_queue queue;
	struct kab_lane *lanes = NULL;
	struct kab_lane_result *results = NULL;
	pthread_t *threads = NULL;
	int status = -1, only_fd = -1;
	size_t n = 0;

	if (kab_queue_init(&queue, err) < 0)
		return -1;
	if (load(opts, &job, &all, &only_fd, err) < 0)
		goto out;
	n = job.hosts.n;
	lanes = kab_xcalloc(n + 1, sizeof(*lanes));
	results = kab_xcalloc(n + 1, sizeof(*results));
	threads = kab_xcalloc(n + 1, sizeof(*threads));
	for (size_t i = 0; i < n; i++) {
		lanes[i] = (struct kab_lane){
			.opts = opts, .job = &job, .queue = &queue, .result = &results[i]
		};
		results[i].host = kab_xstrdup(job.hosts.v[i]);
		if (kab_lab_need(opts->lab, job.hosts.v[i], &lanes[i].host, err) < 0)
			goto out;
	}
	for (size_t i = 0; i < n; i++) {
		deal(&lanes[i], &all);
		kab_lane_sort_steps(&lanes[i]);
	}
	queue.lanes_alive = n;
	for (size_t i = 0; i < n; i++) {
		if (pthread_create(&threads[i], NULL, lane_thread, &lanes[i]) == 0)
			continue;
		threads[i] = 0;
		results[i].outcome = KAB_LANE_FAILED;
		kab_err_set(&results[i].err, KAB_ERR_ENV, "cannot start a thread");
		kab_queue_lane_ended(&queue);
	}
	follow(opts, &queue);
	for (size_t i = 0; i < n; i++)
		if (threads[i])
			pthread_join(threads[i], NULL);
	status = kab_store_set_run_state(opts->store, opts->run_id, final_state(results, n), err);
	*ret = results;
	*ret_n = n;
	results = NULL;
out:
	kab_lane_results_free(results, n);
	for (size_t i = 0; i < n && lanes; i++)
		lane_release(&lanes[i]);
	free(lanes);
	free(threads);
	for (size_t i = 0; i < all.n_boots; i++)
		kab_boot_info_release(&all.boots[i]);
	for (size_t i = 0; i < all.n_steps; i++)
		kab_step_info_release(&all.steps[i]);
	free(all.boots);
	free(all.steps);
	kab_job_release(&job);
	kab_queue_release(&queue);
	if (only_fd >= 0)
		close(only_fd);
	return status;
}

void kab_lane_results_free(struct kab_lane_result *results, size_t n)
{
	for (size_t i = 0; results && i < n; i++) {
		free(results[i].host);
		free(results[i].kernel);
		free(results[i].spec);
	}
	free(results);
}
