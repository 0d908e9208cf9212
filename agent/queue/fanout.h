/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a producer hands over to the outputs: its changes to the ledger, batches, and how far it has come.
 * Nothing comes back but whether all of it is settled.
 *
 * Outputs that agree on a batch's size and age share the batch; others get one of their own. Each encodes
 * what it sends. The ledger learns of items before any queue does, so that nothing is acknowledged that it
 * does not know.
 *
 * A fanout belongs to one producer's thread, but for fanout_configure.
 */
#ifndef QUEUE_FANOUT_H
#define QUEUE_FANOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ledger.h"
#include "queue/outlets.h"

struct fanout;

/* One count of @outlets is taken over. */
struct fanout *fanout_create(struct outlets *outlets);

/* The same for a second producer: queues that are left out are closed by the first one alone. */
struct fanout *fanout_create_second(struct outlets *outlets);
void fanout_destroy(struct fanout *fanout);

/*
 * Other outlets, a count of which is taken over, from the next fanout_hand on. Queues that are left out get
 * the batches that were begun for them, and are closed. Any thread.
 */
void fanout_configure(struct fanout *fanout, struct outlets *outlets);

/* @call is called with @data before a batch goes to the queues, if items were handed over since it was called
 * last. NULL: nobody is called. */
void fanout_before_push(struct fanout *fanout, void (*call)(void *data), void *data);

/* Whether any output takes items of the kind. */
bool fanout_takes(const struct fanout *fanout, enum kind kind);

/* The size of the largest item of the kind that no output drops as too large; SIZE_MAX: none takes it. */
size_t fanout_largest(const struct fanout *fanout, enum kind kind);

/*
 * A producer has made @items since the last call, in a batch of any size that stays its own (or may be kept,
 * as struct items says), or NULL, while @change came about, which is posted to the ledger together with them,
 * and emptied. Then they are added to the batches of their kind; @now is the producer's clock. For outputs
 * whose batches are too small for an item, it is dropped, and counted; one of size 0 is dropped for all.
 * Batches that are full or old enough are pushed; if @force, all. May wait for room in a queue.
 */
void fanout_hand(
	struct fanout *fanout, struct ledger *change, const struct items *items, int64_t now, bool force);

/*
 * The same in two steps, for who keeps something that goes with the ledger: it changes between them. What may
 * be pushed in the first one was handed before: batches that were begun for other outlets, and what waited
 * for the traces of these items.
 */
void fanout_expect(struct fanout *fanout, const struct items *items, int64_t now);
void fanout_hand_expected(
	struct fanout *fanout, struct ledger *change, const struct items *items, int64_t now, bool force);

/* Nothing more is handed: what waits for its trace is left out, and the rest is pushed. */
void fanout_end(struct fanout *fanout);

/*
 * The same for items from outside, all of which are pushed at once: @receipt, which stays the caller's, tells
 * when they are safe. A fanout hands over either such items or others. False, and nothing has happened, if no
 * output takes items of this kind any more: they may have been made for outputs that have changed since.
 */
bool fanout_hand_for(struct fanout *fanout, struct receipt *receipt, struct ledger *change,
	const struct items *items, int64_t now);

/* Whether every output that takes items of the kind has room for @bytes more of them: queue_admits; false if
 * there is none. */
bool fanout_admits(const struct fanout *fanout, enum kind kind, size_t bytes, bool safe);

/* So many spans come next, of a sender who keeps @share of the traces (quota.h). */
void fanout_tell(struct fanout *fanout, uint32_t spans, uint64_t share);

/* The share of the traces that some output keeps, so that senders need not send others; 0: it is not known
 * yet. *@finds_out: whether any output finds its share out at all; if not, senders are told none. */
uint64_t fanout_offer(const struct fanout *fanout, bool *finds_out);

/*
 * So many spans come next that have waited on their sender's disk; *@turn, 0 at first, tells whether this
 * sender is new among those who replay. And how many a second each of these may send, so that the outputs
 * keep up; 0: any number.
 */
void fanout_replay(struct fanout *fanout, uint32_t spans, uint64_t *turn, int64_t now);
uint64_t fanout_grant(const struct fanout *fanout);

/* The traces that are wanted whole, where its outputs hear of them and say them; NULL: none does. Borrowed
 * until the outlets change. */
struct wanted *fanout_wanted(const struct fanout *fanout);

/* Whether something waits for the next fanout_hand: a batch to be filled, or other outlets. */
bool fanout_waits(const struct fanout *fanout);

/* Whether spans wait for their trace: fanout_hand is to be called again once in a second or so. */
bool fanout_is_undecided(const struct fanout *fanout);

/*
 * Marks what was pushed up to now; fanout_settled tells whether all of that is delivered, dropped and
 * counted, or on disk, at every output.
 */
void fanout_mark(struct fanout *fanout);
bool fanout_settled(struct fanout *fanout);

/* Bytes that are more than half of a queue, over all queues: 0 while there is room for more. */
size_t fanout_excess(const struct fanout *fanout);

#endif
