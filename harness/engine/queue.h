/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events from many lanes to one reader. Thread-safe; events are taken by the queue. */
#ifndef KAB_ENGINE_QUEUE_H
#define KAB_ENGINE_QUEUE_H

#include <pthread.h>
#include <stddef.h>

#include "engine/engine.h"

struct kab_queue {
	pthread_mutex_t lock;
	struct kab_event *v;
	size_t n, cap;
	size_t lanes_alive;
	int fd; /* eventfd: readable when something is in it or a lane has ended */
};

int kab_queue_init(struct kab_queue *q, struct kab_err *err);
void kab_queue_release(struct kab_queue *q);
/* The event's strings are copied. */
void kab_queue_push(struct kab_queue *q, const struct kab_event *event);
void kab_queue_lane_ended(struct kab_queue *q);
/* Take all that is there (caller: kab_event_release each, free the array). Returns lanes alive. */
size_t kab_queue_take(struct kab_queue *q, struct kab_event **ret, size_t *ret_n);
void kab_event_release(struct kab_event *event);

#endif
