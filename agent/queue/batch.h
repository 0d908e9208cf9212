/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches of encoded spans, and the queue that they wait in.
 *
 * A batch is a run of Span structs, as zipkin.h encodes them: each output wraps them for its own wire. The
 * reader's thread fills one and pushes it when it is full or old enough; the uplink, in the main thread,
 * takes batches in order. The queue is bounded in bytes, what the uplink has taken but not released included;
 * when it is full the oldest batch that waits is dropped and counted, so that fresh spans get through, or,
 * where nothing may be dropped (an import), the reader waits; so it does for a little while the disk works.
 * backlog.h is the queue's side to the disk.
 */
#ifndef QUEUE_BATCH_H
#define QUEUE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "core/ledger.h"

enum batch_format { BATCH_ZIPKIN_SPANS }; /* Zipkin's version 1 spans, in Thrift's TBinary */

struct batch {
	uint8_t format;       /* an enum batch_format: what the batch holds */
	struct buffer spans;  /* Span structs in TBinary, one behind the other */
	struct buffer sizes;  /* uint32_t for each: its bytes */
	struct buffer events; /* int64_t for each: the time of its last event, ns since the epoch */
	uint32_t count;       /* of spans */
	uint64_t number;      /* in the order of pushing, from 1 */
	int64_t born;         /* when the first span came in, CLOCK_MONOTONIC ns */
	bool sent_before;     /* went out once already, without an answer */
	int64_t spool_id;     /* its row in the spool, for one that is replayed from disk; 0: fresh */
	struct batch *next;   /* the queue's, and the uplink's while it has taken the batch */
};

struct batch_limits {
	uint32_t spans;   /* in a batch, at most */
	size_t bytes;     /* of a batch's spans: it is full once it has them. No span may be larger */
	int64_t delay_ns; /* that a span waits for its batch to fill, at most */
	size_t queue_bytes;
	bool wait_when_full; /* rather than drop the oldest */
};

struct batch_queue;

/*
 * @wake is called with @data, in the pusher's thread, when a batch was pushed: it should do no more than wake
 * the uplink's loop. Returns the queue; batch_queue_destroy frees it and what it holds.
 */
struct batch_queue *batch_queue_create(
	const struct batch_limits *limits, void (*wake)(void *data), void *data);
void batch_queue_destroy(struct batch_queue *queue);

/* Other limits count from now on; to be called by the reader. What is over them is seen to with the next
 * push. */
void batch_configure(struct batch_queue *queue, const struct batch_limits *limits);

/* The reader's side. */

/*
 * Adds an encoded span (TBinary, @size bytes at @span) whose last event was at @event_time; the caller posts
 * it as queued before it flushes. Returns false, having added nothing, if it is larger than a batch may be.
 * Never waits: see batch_full, and batch_flush.
 */
bool batch_add(struct batch_queue *queue, const uint8_t *span, size_t size, int64_t event_time, int64_t now);

/* Whether the open batch is full: batch_flush it, by force, before anything else is added. */
bool batch_full(const struct batch_queue *queue);

/* Pushes the open batch if it is old enough at @now (CLOCK_MONOTONIC ns), or whatever its age if @force. */
void batch_flush(struct batch_queue *queue, int64_t now, bool force);

/*
 * Marks the batches that are pushed and not settled at this moment: settled is a batch that was released,
 * dropped, or stored on disk. There is one mark; the next call moves it.
 */
void batch_mark(struct batch_queue *queue);

/* Whether all the batches that were marked are settled. */
bool batch_mark_settled(struct batch_queue *queue);

/* No more batches come: the uplink may stop when it has delivered what there is. */
void batch_close(struct batch_queue *queue);

/* The uplink's side. */

/*
 * Takes the oldest batch, or, when no fresh one waits, one that is replayed from disk; returns NULL if there
 * is none, or if what is taken already makes half of the queue: so there is something to drop when it is
 * full. It counts as part of the queue until it is released.
 */
struct batch *batch_take(struct batch_queue *queue);

/* The sizes and the event times of a batch's spans. */
static inline const uint32_t *batch_sizes(const struct batch *batch)
{
	return (const uint32_t *)(const void *)batch->sizes.data;
}

static inline const int64_t *batch_events(const struct batch *batch)
{
	return (const int64_t *)(const void *)batch->events.data;
}

/* The ledger's row that the batch's spans stand in. */
static inline enum ledger_row batch_row(const struct batch *batch)
{
	return batch->spool_id ? SPANS_SPOOLED : SPANS_QUEUED;
}

/*
 * Whether the collector takes batches: false when the connection failed, was refused or put off, true with a
 * good answer. Said again is no harm.
 */
void batch_set_delivering(struct batch_queue *queue, bool delivering);

/*
 * The collector refused one span of a batch that is taken, in these @words: it is posted as dropped, and the
 * caller posts it no more.
 */
void batch_refuse(struct batch_queue *queue, const struct batch *batch, uint32_t span, const char *words);

/* Puts a batch that was taken back to the front; several go back in reverse order. */
void batch_give_back(struct batch_queue *queue, struct batch *batch);

/* Frees a batch that was taken; where its spans went is the caller's to post. */
void batch_release(struct batch_queue *queue, struct batch *batch);

/* Whether batch_close was called, no fresh batch waits, and none is taken. */
bool batch_queue_done(struct batch_queue *queue);

/* Bytes held by the batches that wait or are taken. */
size_t batch_queue_bytes(struct batch_queue *queue);

/* Bytes that they may hold together. */
size_t batch_queue_limit(struct batch_queue *queue);

/* Gives up what waits of fresh batches, counting its spans as @dropped (a ledger_row). */
void batch_drop_all(struct batch_queue *queue, int dropped);

#endif
