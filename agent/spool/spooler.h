/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spooler: a thread that moves batches between the queue and the spool, and alone waits for the disk.
 *
 * When the collector does not take batches for a second, or the queue is more than half full, those that wait
 * are stored, in groups. When it takes them again, what is stored is replayed behind the fresh ones: the
 * oldest first, at a pace that leaves the collector air, and not at the same moment and pace on every node. A
 * spool that cannot be used is tried again at intervals, and batches wait in memory meanwhile; a line in the
 * log says so when that begins, and another when it is over.
 */
#ifndef SPOOL_SPOOLER_H
#define SPOOL_SPOOLER_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/batch.h"

struct spooler_options {
	const char *directory; /* borrowed for the spooler's life */
	uint64_t max_bytes;    /* of disk */
	bool sync_full;
	uint64_t replay_share; /* of 100 spans that are sent, so many may be replayed; 100: no pace */
	uint64_t replay_floor; /* spans a second that are replayed though fewer are sent */
};

struct spooler;

struct spooler_state {
	bool ok;                /* spans can be stored */
	char error[512];        /* why not; "" before the first try too */
	int64_t batches, spans; /* on disk */
	uint64_t bytes, max_bytes;
};

/*
 * Starts the thread, which enters in the ledger what the spool holds. @queue is borrowed. NULL if no thread
 * can be had.
 */
struct spooler *spooler_create(const struct spooler_options *options, struct batch_queue *queue);

/* All zero if @spooler is NULL. */
void spooler_read_state(struct spooler *spooler, struct spooler_state *state);

/* Stores what still waits in the queue, and ends. Nobody may push or take batches any more. NULL is no harm.
 */
void spooler_destroy(struct spooler *spooler);

#endif
