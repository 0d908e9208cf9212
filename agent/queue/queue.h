/* SPDX-License-Identifier: BSD-2-Clause */
/* What the queue is made of: for batch.c and backlog.c, which are its two halves, and nobody else. */
#ifndef QUEUE_QUEUE_H
#define QUEUE_QUEUE_H

#include <pthread.h>

#include <glib.h>

#include "queue/batch.h"

struct batch_queue {
	struct batch_limits limits;
	void (*wake)(void *data);
	void *data;
	struct batch *open;  /* the reader's: not locked */
	uint32_t last_count; /* the same: what the last batch held, as the next is likely to */
	size_t last_bytes;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t released;
	struct batch *first, **last; /* fresh ones that wait */
	struct batch *spare;         /* one empty batch, kept so that a steady stream allocates nothing */
	size_t bytes, taken_bytes;   /* of fresh batches; of all that the uplink has taken */
	uint32_t taken;              /* by the uplink */
	uint64_t pushed;             /* batches, ever */
	uint64_t marked;             /* the last batch that batch_mark saw */
	uint64_t unsettled;          /* how many of those up to it are not settled */
	uint64_t live;               /* how many fresh ones are not settled */
	uint64_t fresh_released;     /* spans of fresh batches that the uplink released, ever */
	bool closed;
	/* backlog.h's */
	bool spooled; /* there is a spooler, */
	bool storing; /* and its disk works */
	pthread_cond_t work;
	bool delivering;
	int64_t delivering_since;                  /* or not, CLOCK_MONOTONIC ns */
	size_t waiting_bytes;                      /* of fresh batches that wait */
	struct batch *replay_first, **replay_last; /* that wait */
	size_t replay_bytes;                       /* that wait or are taken */
	GArray *replayed;                          /* int64_t: ids of those that the uplink released */
	struct refused_span *refused, **refused_last;
	unsigned refused_count;
	bool woken; /* there is something to look at */
};

/* All with the lock held. */
struct batch *queue_unlink_first(struct batch_queue *queue);
void queue_settle(struct batch_queue *queue, const struct batch *batch);
void queue_give_back(struct batch_queue *queue, struct batch *batch);

/* There is something for the spooler to look at. */
static inline void queue_poke(struct batch_queue *queue)
{
	queue->woken = true;
	pthread_cond_signal(&queue->work);
}

size_t batch_bytes(const struct batch *batch);
void batch_free(struct batch *batch);

/* backlog.c's part in the queue's life. */
void backlog_init(struct batch_queue *queue);
void backlog_free(struct batch_queue *queue);

#endif
