/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/queue.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"

int kab_queue_init(struct kab_queue *q, struct kab_err *err)
{
	*q = (struct kab_queue){ .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	if (q->fd < 0)
		return kab_err_errno(err, KAB_ERR_ENV, "cannot make an event descriptor");
	pthread_mutex_init(&q->lock, NULL);
	return 0;
}

void kab_event_release(struct kab_event *e)
{
	free(e->host);
	free(e->kernel);
	free(e->condition);
	free(e->case_name);
	free(e->row_key);
	free(e->metric);
	free(e->unit);
	free(e->text);
}

void kab_queue_release(struct kab_queue *q)
{
	for (size_t i = 0; i < q->n; i++)
		kab_event_release(&q->v[i]);
	free(q->v);
	close(q->fd);
	pthread_mutex_destroy(&q->lock);
}

static void ring(struct kab_queue *q)
{
	uint64_t one = 1;

	/* A full counter still wakes the reader. */
	(void)!write(q->fd, &one, sizeof(one));
}

void kab_queue_push(struct kab_queue *q, const struct kab_event *event)
{
	struct kab_event copy = *event;

	copy.host = kab_xstrdup(event->host);
	copy.kernel = kab_xstrdup(event->kernel);
	copy.condition = kab_xstrdup(event->condition);
	copy.case_name = kab_xstrdup(event->case_name);
	copy.row_key = kab_xstrdup(event->row_key);
	copy.metric = kab_xstrdup(event->metric);
	copy.unit = kab_xstrdup(event->unit);
	copy.text = kab_xstrdup(event->text);
	pthread_mutex_lock(&q->lock);
	*KAB_PUSH(q) = copy;
	pthread_mutex_unlock(&q->lock);
	ring(q);
}

void kab_queue_lane_ended(struct kab_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->lanes_alive--;
	pthread_mutex_unlock(&q->lock);
	ring(q);
}

size_t kab_queue_take(struct kab_queue *q, struct kab_event **ret, size_t *ret_n)
{
	uint64_t drained;
	size_t alive;

	(void)!read(q->fd, &drained, sizeof(drained));
	pthread_mutex_lock(&q->lock);
	*ret = q->v;
	*ret_n = q->n;
	q->v = NULL;
	q->n = q->cap = 0;
	alive = q->lanes_alive;
	pthread_mutex_unlock(&q->lock);
	return alive;
}
