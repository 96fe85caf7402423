/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queue before each server. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "transport/ssh_config.h"
#include "transport/ssh_shared.h"

/* How often one who waits looks whether he is to stop. */
#define LOOK_MS 100
/* After so many logins without a drop one more is let in at a time. */
#define WIDEN_AFTER 8
#define WIDTH_MAX 4096

struct gate {
	char *place;
	int inside, width, in_a_row;
	bool known;
};

struct kab_ssh_gates {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct gate *v;
	size_t n, cap;
};

struct kab_ssh_gates *kab_ssh_gates_new(void)
{
	struct kab_ssh_gates *gates = kab_xcalloc(1, sizeof(*gates));
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&gates->lock, NULL);
	pthread_cond_init(&gates->moved, &attr);
	pthread_condattr_destroy(&attr);
	return gates;
}

void kab_ssh_gates_free(struct kab_ssh_gates *gates)
{
	for (size_t i = 0; i < gates->n; i++)
		free(gates->v[i].place);
	free(gates->v);
	pthread_cond_destroy(&gates->moved);
	pthread_mutex_destroy(&gates->lock);
	free(gates);
}

/* With the lock held; valid until it is given up. */
static struct gate *find(struct kab_ssh_gates *gates, const char *place)
{
	struct gate *gate;

	for (size_t i = 0; i < gates->n; i++)
		if (strcmp(gates->v[i].place, place) == 0)
			return &gates->v[i];
	gate = KAB_PUSH(gates);
	gate->place = kab_xstrdup(place);
	gate->width = KAB_SSH_GATE_WIDTH;
	return gate;
}

static bool is_cancelled(const struct kab_wait *wait)
{
	struct pollfd pfd = { .fd = wait->cancel_fd, .events = POLLIN };

	return wait->cancel_fd >= 0 && poll(&pfd, 1, 0) > 0;
}

int kab_ssh_gate_enter(struct kab_ssh_shared *sh, const char *place, struct kab_wait *wait,
		       struct kab_err *err)
{
	struct kab_ssh_gates *gates = sh ? sh->gates : NULL;
	int64_t came = kab_now_mono_ns();
	int rc = 0;

	if (!gates)
		return 0;
	pthread_mutex_lock(&gates->lock);
	while (find(gates, place)->inside >= find(gates, place)->width) {
		int64_t until = kab_now_mono_ns() + LOOK_MS * KAB_NS_PER_MS;
		struct timespec ts = { until / KAB_NS_PER_S, until % KAB_NS_PER_S };

		if (is_cancelled(wait)) {
			rc = kab_err_set(err, KAB_ERR_CANCELLED, "interrupted");
			break;
		}
		pthread_cond_timedwait(&gates->moved, &gates->lock, &ts);
	}
	if (rc == 0)
		find(gates, place)->inside++;
	pthread_mutex_unlock(&gates->lock);
	wait->deadline_ns += kab_now_mono_ns() - came;
	return rc;
}

void kab_ssh_gate_leave(struct kab_ssh_shared *sh, const char *place, enum kab_ssh_passage how)
{
	struct kab_ssh_gates *gates = sh ? sh->gates : NULL;
	struct gate *gate;

	if (!gates)
		return;
	pthread_mutex_lock(&gates->lock);
	gate = find(gates, place);
	gate->inside--;
	if (how == KAB_SSH_PASSED) {
		gate->known = true;
		if (gate->width > KAB_SSH_GATE_WIDTH)
			gate->width = KAB_SSH_GATE_WIDTH;
		if (++gate->in_a_row >= WIDEN_AFTER && gate->width < KAB_SSH_GATE_WIDTH) {
			gate->width++;
			gate->in_a_row = 0;
		}
	} else if (how == KAB_SSH_DROPPED) {
		gate->in_a_row = 0;
		if (gate->width > 1)
			gate->width--;
	} else if (!gate->known && gate->width < WIDTH_MAX) {
		/* Nothing to spare there: nobody is to wait for the time-outs of others. */
		gate->width *= 2;
	}
	pthread_cond_broadcast(&gates->moved);
	pthread_mutex_unlock(&gates->lock);
}

bool kab_ssh_gate_known(struct kab_ssh_shared *sh, const char *place)
{
	struct kab_ssh_gates *gates = sh ? sh->gates : NULL;
	bool known;

	if (!gates)
		return false;
	pthread_mutex_lock(&gates->lock);
	known = find(gates, place)->known;
	pthread_mutex_unlock(&gates->lock);
	return known;
}

char *kab_ssh_place(const struct kab_ssh_config *cfg)
{
	if (cfg->proxy_command)
		/* Not expanded: the same words for all hosts behind it. */
		return kab_xasprintf("by %s", cfg->proxy_command);
	if (cfg->proxy_jump)
		return kab_xasprintf("over %.*s", (int)strcspn(cfg->proxy_jump, ","),
				     cfg->proxy_jump);
	return kab_xasprintf("%s port %d", cfg->hostname, cfg->port);
}

struct kab_ssh_shared *kab_ssh_shared_new(void)
{
	struct kab_ssh_shared *sh = kab_xcalloc(1, sizeof(*sh));

	pthread_mutex_init(&sh->lock, NULL);
	sh->gates = kab_ssh_gates_new();
	sh->unlocked = kab_ssh_unlocked_new();
	return sh;
}

void kab_ssh_shared_free(struct kab_ssh_shared *sh)
{
	if (!sh)
		return;
	kab_ssh_gates_free(sh->gates);
	kab_ssh_unlocked_free(sh->unlocked);
	kab_strv_release(&sh->said);
	pthread_mutex_destroy(&sh->lock);
	free(sh);
}

bool kab_ssh_shared_first(struct kab_ssh_shared *sh, const char *file, int no)
{
	char *what kab_autofree = NULL;
	bool first;

	if (!sh)
		return true;
	what = kab_xasprintf("%s:%d", file, no);
	pthread_mutex_lock(&sh->lock);
	first = !kab_strv_has(&sh->said, what);
	if (first)
		kab_strv_add(&sh->said, what);
	pthread_mutex_unlock(&sh->lock);
	return first;
}
