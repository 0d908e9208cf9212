/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An order to give up what waits in a spool, from whoever asks to the spooler's thread, and what came of it
 * back. There is one order at a time.
 */
#ifndef OUTPUT_SPOOL_DISCARD_H
#define OUTPUT_SPOOL_DISCARD_H

#include <stdbool.h>
#include <stdint.h>

#include "output/spool/sweep.h"
#include "queue/queue.h"

struct discard_state {
	uint64_t order; /* its number, from 1; 0: there was none */
	bool over;
	int64_t batches, spans; /* discarded so far */
	int64_t under_way; /* batches that may be on their way to the collector; discarded if they come back
			    */
	char error[512];   /* why it ended early; "" if it did not */
};

struct discard;

/* @label and @items, which are borrowed, are what the log calls the spool, and what is in it. */
struct discard *discard_create(const char *label, const char *items);
void discard_destroy(struct discard *discard);

/* Any thread */

/*
 * Orders that batches without an event as new as @before (ns since the epoch; INT64_MAX: all) are given up,
 * for the log: as @user asks. False if an order is at work.
 */
bool discard_order(struct discard *discard, int64_t before, unsigned user);
void discard_read(struct discard *discard, struct discard_state *state);

/* The spooler's thread */

/* Whether there is something to do. */
bool discard_is_due(struct discard *discard);

/*
 * Begins the order, unless that is done: what is under way is not wanted any more, and may be recalled. Then
 * does a part of it. They return false if the spool fails.
 */
bool discard_begin(struct discard *discard, struct spool *spool);
bool discard_step(struct discard *discard, struct spool *spool);

/* What was done is in the ledger: the order is over if that was the last part. */
void discard_settle(struct discard *discard, const struct spool *spool);

/* Ends the order early, because of @why. */
void discard_fail(struct discard *discard, const char *why);

/*
 * Deletes batches that were under way and have come back, and counts in @gone how many; @more says whether
 * others may come. Returns false if the spool fails: then they are with the uplink again.
 */
bool discard_recall(
	struct discard *discard, struct spool *spool, struct queue *queue, unsigned *gone, bool *more);

#endif
