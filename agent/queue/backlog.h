/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue's interface to the spooler: fresh batches are taken out to be stored, stored ones come in to be
 * replayed.
 *
 * The spooler calls these functions from its thread. No lock is held during disk access: batches are passed
 * in lists. Batches that were taken to be stored count as part of the queue until they are stored.
 */
#ifndef QUEUE_BACKLOG_H
#define QUEUE_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/queue.h"

/* What the spooler's decisions depend on. */
struct backlog {
	bool delivering;
	bool busy;        /* it does not, as the collector asks for time */
	unsigned returns; /* so often it delivered again after it was away, and not only busy */
	bool closed;
	int64_t since;        /* since when it is delivering, or not; CLOCK_MONOTONIC ns */
	size_t waiting_bytes; /* of fresh batches */
	int64_t oldest;  /* since when the oldest of them is there, CLOCK_MONOTONIC ns; 0: there is none */
	int64_t busy_at; /* when the collector asked for time the last time, the same; 0: never */
	bool unsettled;  /* some of what is marked is not settled */
	size_t limit;    /* of the queue */
	uint64_t fresh_released; /* spans of all fresh batches that the uplink has finished */
	size_t replay_bytes;     /* that were handed over, and are not finished */
	double replay_pace;      /* items a second that are wanted; 0: any number */
	unsigned replayed;       /* how many are finished */
	unsigned refused;        /* refused spans that wait to be stored */
	unsigned suspects;       /* fresh batches that wait for the same: aside.h */
};

/* Announces a spooler: from now on refused spans are kept for it, and it is woken when there is work. */
void backlog_attach(struct queue *queue, uint64_t replay_floor);

/* The spooler cannot be had after all. */
void backlog_detach(struct queue *queue);

/*
 * Whether batches can be stored. If so, the reader waits a little for the disk when the queue is full, before
 * a batch is dropped.
 */
void backlog_set_storing(struct queue *queue, bool storing);

/* So many bytes can be stored before the oldest batches have to go. */
void backlog_set_room(struct queue *queue, size_t bytes);

/*
 * Waits until there may be something to do, at most until @until (CLOCK_MONOTONIC ns; INT64_MAX: for ever).
 */
void backlog_wait(struct queue *queue, int64_t until, struct backlog *backlog);

/* The same without waiting. */
void backlog_look(struct queue *queue, struct backlog *backlog);

/* Makes the current or the next backlog_wait return at once. Any thread. */
void backlog_wake(struct queue *queue);

/*
 * Takes the oldest fresh batches, up to @bytes in total but at least one; a list linked by `next`, NULL if
 * none waits.
 */
struct entry *backlog_take(struct queue *queue, size_t bytes);

/* The batches are stored, and entered as such: frees them. */
void backlog_stored(struct queue *queue, struct entry *list);

/* The batches were left out as the spool is full: enters them as their senders' again, and frees them. */
void backlog_spool_is_full(struct queue *queue, struct entry *list);

/* The batches could not be stored: they go back to the front, in order. */
void backlog_put_back(struct queue *queue, struct entry *list);

/* Hands over a batch from disk, with its spool_id, as a suspect if it is one. The queue owns it from now on.
 */
void backlog_replay(struct queue *queue, struct entry *batch);

/*
 * Takes back those of the batches with these spool_ids, in order, that the uplink has not taken: a list
 * linked by `next`, NULL if there is none.
 */
struct entry *backlog_recall(struct queue *queue, const int64_t *ids, unsigned count);

/* The same of all of them. */
struct entry *backlog_recall_all(struct queue *queue);

/* Moves up to @max ids of batches that the uplink has finished to @ids; returns how many. */
unsigned backlog_take_replayed(struct queue *queue, int64_t *ids, unsigned max);

/* Of a larger refused span, only the beginning is kept. */
#define REFUSED_SPAN_BYTES (16 * 1024)

/* A span that the collector refused. g_free frees it together with what it points to. */
struct refused_span {
	struct refused_span *next;
	int64_t event_time;
	uint32_t size;     /* of the whole span; less is kept of a large one */
	const char *words; /* the collector's */
	const uint8_t *span;
};

/* Takes all refused spans, a list linked by `next`. */
struct refused_span *backlog_take_refused(struct queue *queue);

#endif
