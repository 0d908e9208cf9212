/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue's side to the disk: fresh batches go out of it to be stored, stored ones come in to be replayed.
 *
 * The spooler calls these from its thread. No lock is held while anybody waits for the disk: batches change
 * hands in lists. What is handed over to be stored counts as part of the queue until it is stored.
 */
#ifndef QUEUE_BACKLOG_H
#define QUEUE_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/queue.h"

/* What the spooler decides by. */
struct backlog {
	bool delivering;
	bool closed;
	int64_t since;           /* that it is delivering, or not; CLOCK_MONOTONIC ns */
	size_t waiting_bytes;    /* of fresh batches */
	size_t limit;            /* of the queue */
	uint64_t fresh_released; /* spans of fresh batches that the uplink is done with, ever */
	size_t replay_bytes;     /* that were handed over, and are not done */
	unsigned replayed;       /* how many are done */
	unsigned refused;        /* spans that are kept to be looked at */
};

/* From here on there is a spooler: refused spans are kept for it, and it is woken when there is work. */
void backlog_attach(struct queue *queue);

/*
 * Whether batches can be stored: then the reader waits a little for the disk when the queue is full, rather
 * than that one is dropped.
 */
void backlog_set_storing(struct queue *queue, bool storing);

/* Waits until there may be something to do, at most to @until (CLOCK_MONOTONIC ns; INT64_MAX: for ever). */
void backlog_wait(struct queue *queue, int64_t until, struct backlog *backlog);

/* The same without waiting. */
void backlog_look(struct queue *queue, struct backlog *backlog);

/* Makes backlog_wait return at once, now or the next time. Any thread. */
void backlog_wake(struct queue *queue);

/* Takes the oldest fresh batches, of @bytes together or one; a list by `next`, NULL if none waits. */
struct entry *backlog_take(struct queue *queue, size_t bytes);

/* They are stored, and posted as such: frees them. */
void backlog_stored(struct queue *queue, struct entry *list);

/* They could not be stored: they go back to the front, in order. */
void backlog_put_back(struct queue *queue, struct entry *list);

/* Hands over a batch from disk, with its spool_id. The queue's from here on. */
void backlog_replay(struct queue *queue, struct entry *batch);

/* Moves up to @max ids of batches that the uplink is done with to @ids; returns how many. */
unsigned backlog_take_replayed(struct queue *queue, int64_t *ids, unsigned max);

/* Of a refused span that is larger, the beginning is kept. */
#define REFUSED_SPAN_BYTES (16 * 1024)

/* A span that the collector refused: freed by g_free. Allocated with what it points to. */
struct refused_span {
	struct refused_span *next;
	int64_t event_time;
	uint32_t size;     /* of the span; what is kept of a large one is less */
	const char *words; /* the collector's */
	const uint8_t *span;
};

/* Takes all that were refused, a list by `next`. */
struct refused_span *backlog_take_refused(struct queue *queue);

#endif
