/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The batches that are on their way to one server: taken from the queue, sent in calls, and settled in the
 * ledger when the answers arrive. No I/O.
 */
#ifndef OUTPUT_UPLINK_DELIVERY_H
#define OUTPUT_UPLINK_DELIVERY_H

#include <stdbool.h>
#include <sys/queue.h>

#include "output/uplink/bisect.h"
#include "output/uplink/parcel.h"
#include "queue/bytrace.h"
#include "queue/queue.h"

/* What may be sent next. */
enum delivery_source {
	DELIVERY_BEGUN, /* the rest of batches that were taken */
	DELIVERY_FRESH, /* that, and new batches that did not wait on disk */
	DELIVERY_ANY
};

struct delivery {
	struct queue *queue;
	enum batch_format format;            /* that the wire sends */
	TAILQ_HEAD(parcels, parcel) parcels; /* in the order in which they were taken */
	struct bisect bisect;
	bool fresh_next;    /* whether a new batch is next, or a refused piece */
	bool by_trace;      /* batches are put in order by trace */
	struct piece *held; /* has to be sent alone, when nothing is open; NULL: none has to */
	bool alone;         /* what was taken last is sent alone */
};

void delivery_init(struct delivery *delivery, struct queue *queue, enum batch_format format);

/* Takes what to send next beside @open calls; NULL if there is nothing. */
struct piece *delivery_take(struct delivery *delivery, enum delivery_source source, uint32_t open);

/* Adds a batch that was taken elsewhere; NULL if it is in a format that cannot be sent, and was settled. */
struct piece *delivery_add(struct delivery *delivery, struct entry *entry);

/* Leaves @piece the spans of its first trace, whose id is written to @key; the rest is taken next. For
 * batches that are in order by trace. */
void delivery_keep_trace(struct delivery *delivery, struct piece *piece, char key[BYTRACE_KEY]);

/* Leaves @piece its first items, @count at most; the rest is taken next. */
void delivery_keep(struct delivery *delivery, struct piece *piece, uint32_t count);

/* Notes that @piece is sent now, */
void delivery_sends(struct delivery *delivery, struct piece *piece);
/* or that it may have been sent once more meanwhile, so that the server may have it twice. */
void delivery_repeated(struct delivery *delivery, struct piece *piece);

/* The result of a piece that was sent: the server accepted it, but threw away @lost of its spans, */
void delivery_took(struct delivery *delivery, struct piece *piece, uint32_t lost);
/* refused it, with this message (returns whether a span was set aside), */
bool delivery_refused(struct delivery *delivery, struct piece *piece, const char *words);
/* Drops a piece of one span, which the server does not take for the reason @words. */
void delivery_drop(struct delivery *delivery, struct piece *piece, const char *words);
/* or gave no usable answer: it will be sent again. */
void delivery_put_back(struct delivery *delivery, struct piece *piece);

/* The same of a whole batch, which goes back to the queue at once, and waits for the pace like any other. */
void delivery_return(struct delivery *delivery, struct piece *piece);

/* Gives everything that is not settled back to the queue; no sent piece may be open. */
void delivery_give_back(struct delivery *delivery);

static inline bool delivery_empty(const struct delivery *delivery)
{
	return TAILQ_EMPTY(&delivery->parcels);
}

#endif
