/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a producer hands over to the outputs: its changes to the ledger, batches, and how far it has come.
 * This is the line between reading and delivering: everything crosses it by value, or shared and never
 * changed, and nothing comes back but whether all of it is settled.
 *
 * Items are encoded once for a format. Outputs that agree on a batch's size and age share the batch; others
 * get one of their own. The ledger learns of items before any queue does, so that nothing is acknowledged
 * that it does not know.
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
void fanout_destroy(struct fanout *fanout);

/*
 * Other outlets, a count of which is taken over, from the next flush on. Queues that are left out get the
 * batches that were begun for them, and are closed. Any thread.
 */
void fanout_configure(struct fanout *fanout, struct outlets *outlets);

/* Whether any output takes items of this format. */
bool fanout_takes(const struct fanout *fanout, enum batch_format format);

/*
 * Adds an item whose last event was at @event_time to the batches of its format; @now is the producer's
 * clock. For outputs whose batches are too small for it, it is dropped, and counted. An item of @size 0 is
 * dropped for all. Never waits: see fanout_full, and fanout_flush.
 */
void fanout_add(struct fanout *fanout, enum batch_format format, const struct buffer *item,
	int64_t event_time, int64_t now);

/* Whether a batch is full: fanout_flush before anything else is added. */
bool fanout_full(const struct fanout *fanout);

/*
 * Posts @change, and what was added, to the ledger, and empties it. Then pushes the batches that are full, or
 * old enough at @now; if @force, all. May wait for room in a queue.
 */
void fanout_flush(struct fanout *fanout, struct ledger *change, int64_t now, bool force);

/* The same without pushing. */
void fanout_post(struct fanout *fanout, struct ledger *change);

/*
 * Marks what was pushed up to now; fanout_settled tells whether all of that is delivered, dropped and
 * counted, or on disk, at every output.
 */
void fanout_mark(struct fanout *fanout);
bool fanout_settled(struct fanout *fanout);

/* Bytes that are more than half of a queue, over all queues: 0 while there is room for more. */
size_t fanout_excess(const struct fanout *fanout);

#endif
