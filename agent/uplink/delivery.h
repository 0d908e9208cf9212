/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The batches that are on their way to one server: taken from the queue, sent in calls, and settled in the
 * ledger as the answers come. No I/O.
 */
#ifndef UPLINK_DELIVERY_H
#define UPLINK_DELIVERY_H

#include <stdbool.h>
#include <sys/queue.h>

#include "queue/queue.h"
#include "uplink/bisect.h"
#include "uplink/parcel.h"

struct delivery {
	struct queue *queue;
	TAILQ_HEAD(parcels, parcel) parcels; /* in the order in which they were taken */
	struct sift sift;
	bool fresh_next; /* whether it is a new batch's turn, or a piece's that was refused */
};

void delivery_init(struct delivery *delivery, struct queue *queue);

/* Takes what is to be sent next, new batches only if @fresh; NULL if there is nothing. */
struct piece *delivery_take(struct delivery *delivery, bool fresh);

/* A piece that is out is back: the server took it; */
void delivery_took(struct delivery *delivery, struct piece *piece);
/* refused it, in these words (returns whether that made an end of a span); */
bool delivery_refused(struct delivery *delivery, struct piece *piece, const char *words);
/* or gave no answer, or none to go by: it will be sent again. */
void delivery_put_back(struct delivery *delivery, struct piece *piece);

/* Gives everything that is not settled back to the queue; no piece is out. */
void delivery_give_back(struct delivery *delivery);

static inline bool delivery_empty(const struct delivery *delivery)
{
	return TAILQ_EMPTY(&delivery->parcels);
}

#endif
