/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spooler: a thread that moves batches between an output's queue and its spool. No other thread waits for
 * the disk.
 *
 * When the collector takes no batches, or fewer than come, those that wait are stored, in groups; due.h says
 * when. When it takes them again, what is stored is replayed behind the fresh ones, the oldest first. The
 * pace leaves the collector room for fresh spans, and differs from node to node. While the spool cannot be
 * used, batches wait in memory, and it is tried again every few seconds; the log says when that begins and
 * when it is over.
 */
#ifndef OUTPUT_SPOOL_SPOOLER_H
#define OUTPUT_SPOOL_SPOOLER_H

#include <stdbool.h>
#include <stdint.h>

#include "output/spool/discard.h"
#include "output/spool/drain.h"
#include "queue/queue.h"

struct spooler_options {
	const char *directory; /* borrowed for the spooler's life */
	const char *name;      /* of the output whose spool it is: spoolname.h; borrowed the same */
	uint64_t max_bytes;    /* of disk */
	bool sync_full;
	uint64_t replay_share; /* how many of 100 spans that are sent may be replayed; 100: no limit */
	uint64_t replay_floor; /* spans a second that may be replayed in any case */
};

struct spooler;

struct spooler_state {
	bool ok;                /* spans can be stored */
	char error[512];        /* why not; "" if they can, and before the first try */
	int64_t batches, spans; /* on disk */
	uint64_t bytes, max_bytes;
	int64_t lost, removed_at; /* spans that were lost with files that somebody removed, the last time;
				     CLOCK_MONOTONIC ns */
	enum drain_state drain;
	int64_t drain_since;   /* since when it is this one; CLOCK_MONOTONIC ns */
	int64_t drain_seconds; /* with DRAIN_KNOWN */
};

/*
 * Starts the thread, which posts in the ledger what the spool holds. @queue is borrowed. NULL if no thread
 * can be started.
 */
struct spooler *spooler_create(const struct spooler_options *options, struct queue *queue);

/* All zero if @spooler is NULL. */
void spooler_read_state(struct spooler *spooler, struct spooler_state *state);

/*
 * Orders the thread to give up what waits on disk: see discard_order. False if an order is at work. The state
 * is that of the last order.
 */
bool spooler_discard(struct spooler *spooler, int64_t before, unsigned user);
void spooler_read_discard(struct spooler *spooler, struct discard_state *state);

/* Lets the thread store what still waits in the queue, and end; does not wait for it. Nobody may push or take
 * batches any more. @spooler may be NULL in these three. */
void spooler_stop(struct spooler *spooler);

/* Whether it has done so. */
bool spooler_is_over(const struct spooler *spooler);

/* The same as spooler_stop, but waits for the thread, and frees @spooler. */
void spooler_destroy(struct spooler *spooler);

#endif
