/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the queue, only for its parts: queue.c, backlog.c and aside.c. */
#ifndef QUEUE_INNER_H
#define QUEUE_INNER_H

#include <pthread.h>

#include <glib.h>

#include "queue/line.h"
#include "queue/queue.h"
#include "queue/trough.h"

struct queue {
	struct account *account;
	struct quota quota;
	pthread_mutex_t lock; /* guards what follows */
	unsigned owners;
	struct queue_limits limits;
	void (*wake)(void *data); /* NULL: the output is gone */
	void *data;
	pthread_cond_t released;
	struct line fresh;         /* entries that wait */
	size_t bytes, taken_bytes; /* of fresh entries; of all that the uplink has taken */
	uint32_t taken;            /* by the uplink */
	uint64_t pushed;           /* number of entries pushed so far */
	uint64_t marked;           /* the last entry that queue_mark saw */
	uint64_t unsettled;        /* how many up to that one are not settled */
	uint64_t live;             /* how many fresh ones are not settled */
	uint64_t fresh_released;   /* items of all fresh entries that the uplink has released */
	bool closed;
	struct entry *aside; /* the suspects, */
	unsigned aside_count;
	size_t aside_bytes; /* which are in `bytes` too if they are fresh */
	/* backlog.h's */
	bool spooled;      /* there is a spooler */
	bool storing;      /* its disk works */
	size_t spool_room; /* bytes that fit on it before the oldest have to go */
	bool slow;         /* a push waited for it in vain since an entry last left */
	pthread_cond_t work;
	bool delivering;
	bool proven;      /* the uplink has released something since it began to deliver */
	unsigned returns; /* so often it delivered again after it was away */
	bool busy;        /* it does not, as the collector asks for time */
	int64_t busy_at;  /* when it did so the last time; 0: never */
	uint64_t came;    /* items of all entries that were pushed */
	uint64_t replay_floor;
	double replay_pace;       /* items a second that are wanted from disk; 0: any number */
	int64_t delivering_since; /* since when it delivers, or not, CLOCK_MONOTONIC ns */
	size_t waiting_bytes;     /* of fresh entries that wait */
	struct trough trough;     /* of these, since it delivers */
	struct line replay;       /* that wait, */
	size_t suspect_bytes;     /* suspects among these, */
	size_t replay_bytes;      /* and what waits or is taken, without suspects */
	GArray *replayed;         /* int64_t: ids of the replayed ones that the uplink released */
	struct refused_span *refused, **refused_last;
	unsigned refused_count;
	bool ended; /* the output is gone */
	bool woken; /* the spooler has something to do */
};

/* Call these with the lock held. */
struct entry *queue_unlink_first(struct queue *queue);
void queue_settle(struct queue *queue, const struct entry *entry);
struct entry *queue_unlink_suspect(struct queue *queue); /* the first, if any waits */
void queue_put_back(struct queue *queue, struct entry *entry);

/* Enters a fresh entry as dropped, or as its sender's again if that has had no OK, and frees it. */
void queue_drop(struct queue *queue, struct entry *entry, enum account_row row);

/* An entry left: wakes who waits for room. */
void queue_has_room(struct queue *queue);

/* Wakes the uplink. */
static inline void queue_wake(struct queue *queue)
{
	if (queue->wake)
		queue->wake(queue->data);
}

/* Wakes the spooler. */
static inline void queue_poke(struct queue *queue)
{
	queue->woken = true;
	pthread_cond_signal(&queue->work);
}

/* backlog.c's part of creating and freeing the queue. */
void backlog_init(struct queue *queue);
void backlog_free(struct queue *queue);
struct entry *backlog_unlink(struct queue *queue);
void backlog_put_back_one(struct queue *queue, struct entry *entry);
struct entry *backlog_unlink_suspect(struct queue *queue); /* the first, if any waits */
void backlog_released(struct queue *queue, const struct entry *entry);
bool backlog_is_among(const struct entry *entry, const int64_t *ids, unsigned count);

/* aside.c's part. */
bool aside_has_room(const struct queue *queue, const struct entry *entry);
void aside_add(struct queue *queue, struct entry *entry);
struct entry *aside_unlink_fresh(
	struct queue *queue, bool handed); /* only what came from outside if @handed */
struct entry *aside_recall(struct queue *queue, const int64_t *ids, unsigned count);
struct entry *aside_unlink_replayed(struct queue *queue);
unsigned aside_count_fresh(const struct queue *queue);
void aside_free(struct queue *queue);

#endif
