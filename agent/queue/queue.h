/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue of an output: batches wait in it, for the uplink or for the spool.
 *
 * Whoever makes batches pushes them, from any thread; the uplink, in the main thread, takes them in order.
 * The queue is bounded in bytes, what the uplink has taken but not released included. When it is full the
 * oldest batch that waits is dropped and counted, so that fresh spans get through; or the one who pushes
 * waits, as its limits say. backlog.h is the queue's side to the disk.
 *
 * It is shared by count: its output has one, and each who may still push into it.
 */
#ifndef QUEUE_QUEUE_H
#define QUEUE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/ledger.h"
#include "queue/entry.h"

struct queue_limits {
	size_t bytes;
	bool wait_when_full; /* for as long as it takes, rather than drop the oldest */
	int64_t disk_ns;     /* while the spool works, wait so long for it before the oldest is dropped */
};

struct queue;

/*
 * What becomes of spans is entered in @account, which is borrowed. @wake is called with @data, in whatever
 * thread that pushes, when a batch was pushed: it should do no more than wake the uplink's loop.
 */
struct queue *queue_create(
	const struct queue_limits *limits, struct account *account, void (*wake)(void *data), void *data);
struct queue *queue_ref(struct queue *queue);

/* The last one frees it and what it holds. NULL is no harm. */
void queue_unref(struct queue *queue);

/* Other limits apply from now on; what is over them is dealt with at the next push. */
void queue_configure(struct queue *queue, const struct queue_limits *limits);

struct account *queue_account(const struct queue *queue);

/* Who pushes */

/* Takes one count of @batch over. Its items have to stand in the account, as queued, already. */
void queue_push(struct queue *queue, struct batch *batch);

/*
 * Marks the batches that are pushed and not settled at this moment: settled is a batch that was released,
 * dropped, or stored on disk. There is one mark; the next call moves it.
 */
void queue_mark(struct queue *queue);

/* Whether all the batches that were marked are settled. */
bool queue_mark_settled(struct queue *queue);

/* No more batches come: the uplink may stop when it has delivered what there is. */
void queue_close(struct queue *queue);

/* The uplink */

/*
 * Takes the oldest batch, or, when no fresh one waits, one that is replayed from disk; returns NULL if there
 * is none, or if what is taken already makes half of the queue: so there is something to drop when it is
 * full. It counts as part of the queue until it is released or given back.
 */
struct entry *queue_take(struct queue *queue);

/* Puts an entry that was taken back to the front; several go back in reverse order. */
void queue_give_back(struct queue *queue, struct entry *entry);

/* The same for an entry some of whose items are settled: from now on it holds @rest, a count of which it
 * takes. */
void queue_give_back_rest(struct queue *queue, struct entry *entry, struct batch *rest);

/* Ends an entry that was taken; where its items went is the caller's to enter in the account. */
void queue_release(struct queue *queue, struct entry *entry);

/*
 * Whether the collector takes batches: false when the connection failed, was refused or put off, true with a
 * good answer. Said again is no harm.
 */
void queue_set_delivering(struct queue *queue, bool delivering);

/*
 * The collector refused item @index of an entry that is taken, in these @words: it is entered as dropped, and
 * the caller enters it no more.
 */
void queue_refuse(struct queue *queue, const struct entry *entry, uint32_t index, const char *words);

/* Whether queue_close was called, and no fresh batch waits or is taken. */
bool queue_done(struct queue *queue);

/* Anybody */

/* Bytes held by fresh batches that wait or are taken. */
size_t queue_bytes(struct queue *queue);

/* Bytes that they may take. */
size_t queue_limit(struct queue *queue);

/*
 * The output is gone: what waits, and what is pushed from here on, is entered as dropped in a shutdown. Ends
 * the caller's own count.
 */
void queue_end(struct queue *queue);

/* Gives up the fresh batches that wait, and enters their items in the row @dropped. */
void queue_drop_all(struct queue *queue, enum account_row dropped);

#endif
