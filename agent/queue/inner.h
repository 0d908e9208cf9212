/* SPDX-License-Identifier: BSD-2-Clause */
/* What the queue is made of: for queue.c and backlog.c, which are its two halves, and nobody else. */
#ifndef QUEUE_INNER_H
#define QUEUE_INNER_H

#include <pthread.h>

#include <glib.h>

#include "queue/queue.h"

struct queue {
	struct account *account;
	pthread_mutex_t lock; /* guards what follows */
	unsigned owners;
	struct queue_limits limits;
	void (*wake)(void *data); /* NULL: there is no output any more */
	void *data;
	pthread_cond_t released;
	struct entry *first, **last; /* fresh ones that wait */
	size_t bytes, taken_bytes;   /* of fresh entries; of all that the uplink has taken */
	uint32_t taken;              /* by the uplink */
	uint64_t pushed;             /* entries, ever */
	uint64_t marked;             /* the last entry that queue_mark saw */
	uint64_t unsettled;          /* how many of those up to it are not settled */
	uint64_t live;               /* how many fresh ones are not settled */
	uint64_t fresh_released;     /* items of fresh entries that the uplink released, ever */
	bool closed;
	/* backlog.h's */
	bool spooled; /* there is a spooler, */
	bool storing; /* and its disk works, */
	bool slow;    /* but kept somebody waiting in vain since anything went out */
	pthread_cond_t work;
	bool delivering;
	int64_t delivering_since;                  /* or not, CLOCK_MONOTONIC ns */
	size_t waiting_bytes;                      /* of fresh entries that wait */
	struct entry *replay_first, **replay_last; /* that wait */
	size_t replay_bytes;                       /* that wait or are taken */
	GArray *replayed;                          /* int64_t: ids of those that the uplink released */
	struct refused_span *refused, **refused_last;
	unsigned refused_count;
	bool woken; /* there is something to look at */
};

/* All with the lock held. */
struct entry *queue_unlink_first(struct queue *queue);
void queue_settle(struct queue *queue, const struct entry *entry);
void queue_put_first(struct queue *queue, struct entry *entry);

/* Something went out: who waits for room looks again. */
void queue_has_room(struct queue *queue);

/* There is something for the uplink to look at. */
static inline void queue_wake(struct queue *queue)
{
	if (queue->wake)
		queue->wake(queue->data);
}

/* There is something for the spooler to look at. */
static inline void queue_poke(struct queue *queue)
{
	queue->woken = true;
	pthread_cond_signal(&queue->work);
}

/* backlog.c's part in the queue's life. */
void backlog_init(struct queue *queue);
void backlog_free(struct queue *queue);
struct entry *backlog_unlink(struct queue *queue);
void backlog_put_first(struct queue *queue, struct entry *entry);
void backlog_released(struct queue *queue, const struct entry *entry);

#endif
