/* SPDX-License-Identifier: BSD-2-Clause */
/* A batch in one output's hands: in its queue, on its way to a server, or between its queue and its spool. */
#ifndef QUEUE_ENTRY_H
#define QUEUE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rows.h"
#include "queue/batch.h"

struct entry {
	struct batch *batch; /* one count of it is the entry's */
	uint64_t number;     /* in the order of pushing, from 1 */
	bool sent_before;    /* went out once already, without an answer */
	int64_t spool_id;    /* its row in the spool, for one that is replayed from disk; 0: fresh */
	struct entry *next;  /* its holder's */
};

/* Takes one count of @batch over. */
struct entry *entry_create(struct batch *batch);

/* Gives it back. NULL is no harm. */
void entry_destroy(struct entry *entry);

/* Bytes of memory that it stands for. */
size_t entry_bytes(const struct entry *entry);

/* The account's row that its items stand in. */
static inline enum account_row entry_row(const struct entry *entry)
{
	return entry->spool_id ? SPANS_SPOOLED : SPANS_QUEUED;
}

#endif
