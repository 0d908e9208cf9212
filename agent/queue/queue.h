/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue of an output, where batches wait for the uplink or the spool.
 *
 * Batches are pushed from any thread; the uplink, in the main thread, takes them in order. The queue's size
 * is limited in bytes, including what the uplink has taken but not released. When it is full, either the
 * oldest waiting batch is dropped and counted, so that fresh spans get through, or the push waits, depending
 * on the limits. backlog.h is the queue's interface to the spooler.
 *
 * It has a reference count: its output has a reference, and so has everyone who may still push.
 */
#ifndef QUEUE_QUEUE_H
#define QUEUE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/ledger.h"
#include "queue/entry.h"
#include "queue/quota.h"

struct queue_limits {
	size_t bytes;
	bool wait_when_full; /* wait as long as it takes, instead of dropping the oldest */
	int64_t disk_ns;     /* while the spool works, wait this long for it before dropping the oldest */
	struct queue_treatment {
		const struct tagrules *rules; /* what becomes of its spans' tags; NULL: they stay (retag.h) */
		bool otlp_names;              /* also of those that OTLP makes of a remote endpoint */
		const char *tags;             /* that its spans get as they are sent, interned; NULL: none */
		uint32_t batch_spans;         /* sent at once, of what is replayed; 0: as it was stored */
		size_t batch_bytes; /* the same: no more items once it is reached. No item is larger; 0:
				       any size */
	} treatment;
};

struct queue;

/*
 * What becomes of spans is entered in @account, which is borrowed. When a batch was pushed, @wake is called
 * with @data in the thread that pushes: it should only wake the uplink's loop.
 */
struct queue *queue_create(
	const struct queue_limits *limits, struct account *account, void (*wake)(void *data), void *data);
struct queue *queue_ref(struct queue *queue);

/* Drops a reference; the last one frees the queue and what it holds. @queue may be NULL. */
void queue_unref(struct queue *queue);

/* Changes the limits; an excess is handled at the next push. */
void queue_configure(struct queue *queue, const struct queue_limits *limits);

struct account *queue_account(const struct queue *queue);

/* Borrowed as long as the queue is. */
struct quota *queue_quota(struct queue *queue);

struct queue_treatment queue_treatment(struct queue *queue);

/* Who pushes */

/* Takes over a reference to @batch. Its items must already be entered in the account as queued. */
void queue_push(struct queue *queue, struct batch *batch);

/*
 * Marks the batches that are pushed and not settled at this moment. A batch is settled when it was released,
 * dropped, or stored on disk. There is one mark; the next call moves it.
 */
void queue_mark(struct queue *queue);

/* Whether all the batches that were marked are settled. */
bool queue_mark_settled(struct queue *queue);

/* No more batches will come: the uplink may stop when it has delivered the rest. */
void queue_close(struct queue *queue);

/* The uplink */

/*
 * Takes the oldest batch, or, if no fresh one waits or the collector takes none, one that is replayed from
 * disk. Returns NULL if there is none, or if half of the queue is taken already, so that there is something
 * to drop when it is full. The batch counts as part of the queue until it is released or given back.
 */
struct entry *queue_take(struct queue *queue);

/* The same of fresh batches only. */
struct entry *queue_take_fresh(struct queue *queue);

/*
 * How many items were pushed in all, and the spool's replay-floor; and tells the spool how many a second are
 * wanted from it, which is what it reads ahead. 0: any number.
 */
uint64_t queue_came(struct queue *queue, uint64_t *replay_floor);
void queue_want_replay(struct queue *queue, double items);

/*
 * Puts an entry that was taken back to the front; a suspect is set aside, or goes behind all others if there
 * is no room (aside.h). Give several back in reverse order. After queue_end it is dropped and counted.
 */
void queue_give_back(struct queue *queue, struct entry *entry);

/* Has the loop look for batches, as if one had been pushed: for who gives one back and is not who takes the
 * next. */
void queue_rouse(struct queue *queue);

/*
 * The same for an entry some of whose items are settled: from now on it holds @rest, a reference to which it
 * takes over.
 */
void queue_give_back_rest(struct queue *queue, struct entry *entry, struct batch *rest);

/* An entry that was taken holds @batch from now on, its items in another form, without those that were
 * refused; takes over a reference. If there are none left, the entry is released, and this is false. */
bool queue_exchange(struct queue *queue, struct entry *entry, struct batch *batch);

/* Ends an entry that was taken; the caller enters in the account what became of its items. */
void queue_release(struct queue *queue, struct entry *entry);

/*
 * Reports whether the collector accepts batches: false when the connection failed, was refused or told to
 * wait, true after a good answer. It may be reported repeatedly.
 */
void queue_set_delivering(struct queue *queue, bool delivering);

/* The same as false, while the collector is there, and asks for time: what is fresh can wait for it a little.
 */
void queue_set_busy(struct queue *queue);

/*
 * The collector refused item @index of an entry that is taken, with the message @words. This enters the item
 * as dropped; the caller must not enter it again.
 */
void queue_refuse(struct queue *queue, const struct entry *entry, uint32_t index, const char *words);

/*
 * Whether there is room for items from outside: in the half of the queue that is not kept for those of this
 * node, and if it has to be @safe, at the collector or in the spool.
 */
bool queue_admits(struct queue *queue, size_t bytes, bool safe);

/* Whether queue_close was called, all fresh batches are settled, and none from disk is taken. */
bool queue_done(struct queue *queue);

/* Anybody */

/* Bytes held by fresh batches that wait or are taken. */
size_t queue_bytes(struct queue *queue);

/* How long the oldest fresh batch has waited, in ns, and whether what waits gets more and more (trough.h). */
void queue_read_wait(struct queue *queue, int64_t *wait_ns, bool *grows);

/* The limit of these bytes. */
size_t queue_limit(struct queue *queue);

/*
 * The output is gone: what waits is entered as dropped in a shutdown, and what is pushed or given back from
 * now on as dropped with the output. Drops the caller's reference.
 */
void queue_end(struct queue *queue);

/* The same at the agent's end, which drops nothing: who is left to itself may still give back, and wakes
 * nobody. */
void queue_leave(struct queue *queue);

/*
 * Drops the fresh batches that wait, and enters their items as given back if their sender has no OK for them,
 * and otherwise as dropped in a shutdown. If @handed, only of what came from outside, or waited for its
 * trace: the rest can be read again. Returns how many are dropped.
 */
int64_t queue_drop_waiting(struct queue *queue, bool handed);

#endif
