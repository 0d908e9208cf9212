/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A batch on its way to a server, as a whole or in pieces: which of its spans are settled, and what goes back
 * to the queue.
 *
 * A batch that a server refuses is halved until the bad spans are isolated. So a bad span costs two calls for
 * each halving, and the good spans around it arrive.
 */
#ifndef OUTPUT_UPLINK_PARCEL_H
#define OUTPUT_UPLINK_PARCEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "net/wire.h"
#include "queue/queue.h"

struct parcel {
	struct entry *entry;
	uint32_t left;            /* spans that are not settled */
	uint8_t *settled;         /* for each span, once the batch was split; NULL: none is settled */
	bool mixed;               /* some of its spans were accepted */
	TAILQ_ENTRY(parcel) link; /* its holder's */
};

/* Consecutive spans of a parcel that are sent in one call. */
struct piece {
	struct parcel *parcel;
	uint32_t first, count;
	size_t offset, size;     /* in bytes */
	uint8_t failures;        /* of a suspect's piece: suspects.h */
	bool sent_before;        /* was sent before, without an answer */
	TAILQ_ENTRY(piece) link; /* its holder's */
};

/* Takes over the entry. */
struct parcel *parcel_create(struct entry *entry);

/* Creates a piece of all spans; the caller frees it with piece_destroy. */
struct piece *parcel_whole(struct parcel *parcel);
void piece_destroy(struct piece *piece);

/* Halves a piece of two spans or more: returns the second half, a new piece; @piece becomes the first. */
struct piece *piece_split(struct piece *piece);

/* The same, so that @piece keeps its first @count spans. */
struct piece *piece_split_at(struct piece *piece, uint32_t count);

/* The spans, for a call; valid as long as the batch. */
void piece_run(const struct piece *piece, struct run *run);

/* The piece's spans were accepted, or dropped. */
void parcel_settle(struct parcel *parcel, const struct piece *piece);

/* Ends a parcel that has no pieces in use: releases its entry if everything is settled, */
void parcel_release(struct parcel *parcel, struct queue *queue);
/* or gives the rest back to @queue. */
void parcel_give_back(struct parcel *parcel, struct queue *queue);

#endif
