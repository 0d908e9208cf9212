/* SPDX-License-Identifier: BSD-2-Clause */
/* A batch of one output: in its queue, on its way to a server, or between its queue and its spool. */
#ifndef QUEUE_ENTRY_H
#define QUEUE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "core/rows.h"
#include "queue/batch.h"

struct entry {
	struct batch *batch; /* the entry has a reference */
	struct batch *wire;  /* the same items as the output's wire has them, while it has been taken:
				encoding.h;  NULL: they are so already */
	uint64_t number;     /* number in the order of pushing, from 1 */
	int64_t came;        /* when it was pushed, CLOCK_MONOTONIC ns */
	bool sent_before;    /* was sent before, without an answer */
	uint8_t failures;    /* so often the server failed on it, and did not say why */
	bool alone; /* was open when the server failed: sent with no other, to see whose fault it is */
	bool aside; /* it is a suspect: aside.h */
	struct receipt *receipt; /* its part in one; NULL: it can be read again */
	int64_t spool_id;        /* its row in the spool, if it is replayed from disk; 0: fresh */
	GArray *more_ids;        /* int64_t: further rows whose items it has too; NULL: none */
	bool cut;                /* some of its items are settled, which its rows have still */
	struct entry *next;      /* for its current owner */
};

/* What is sent of it, one for one. */
static inline const struct batch *entry_wire(const struct entry *entry)
{
	return entry->wire ? entry->wire : entry->batch;
}

/* From now on it has that, a reference to which it takes over; NULL: none. */
void entry_set_wire(struct entry *entry, struct batch *wire);

/* Takes over a reference to @batch, and a part in its receipt. */
struct entry *entry_create(struct batch *batch);

/* One with the items of both, which are replayed from disk and in one format; takes over both. */
struct entry *entry_merge(struct entry *entry, struct entry *next);

/* Its items are safe, or they are dropped: the part in the receipt is over. */
void entry_settle(struct entry *entry, bool good);

/* Drops it. @entry may be NULL. */
void entry_destroy(struct entry *entry);

/* Bytes of memory that it accounts for: without what it has while it has been taken. */
size_t entry_bytes(const struct entry *entry);

/* So many failures make it a suspect. */
#define ENTRY_FAILURES_MAX 8

static inline bool entry_is_suspect(const struct entry *entry)
{
	return entry->failures >= ENTRY_FAILURES_MAX;
}

/* Nobody has said OK to its sender yet, who has its items still. */
static inline bool entry_can_go_back(const struct entry *entry)
{
	return entry->receipt && !receipt_is_given(entry->receipt);
}

/* The server failed on it. */
static inline void entry_blame(struct entry *entry)
{
	if (!entry_is_suspect(entry))
		entry->failures++;
}

/* The account's row that its items are in. */
static inline enum account_row entry_row(const struct entry *entry)
{
	return entry->spool_id ? SPANS_SPOOLED : receipt_row(entry->receipt);
}

#endif
