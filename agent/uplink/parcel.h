/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A batch on its way to a server, as a whole or in pieces: which of its spans are settled, and what is left
 * of it when it has to go back.
 *
 * A batch that a server refuses is halved until what is bad stands alone, so a bad span costs two calls for
 * each halving, and the good ones around it arrive.
 */
#ifndef UPLINK_PARCEL_H
#define UPLINK_PARCEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "queue/queue.h"
#include "wire/wire.h"

struct parcel {
	struct entry *entry;
	uint32_t left;            /* spans that are not settled */
	uint8_t *settled;         /* for each span, once it was split; NULL: none is */
	bool mixed;               /* some of its spans were taken */
	TAILQ_ENTRY(parcel) link; /* its holder's */
};

/* Some spans of a parcel, one behind the other, that go in one call. */
struct piece {
	struct parcel *parcel;
	uint32_t first, count;
	size_t offset, size;     /* bytes: where they begin, and how many */
	bool sent_before;        /* went out once already, without an answer */
	TAILQ_ENTRY(piece) link; /* its holder's */
};

/* Takes the entry. */
struct parcel *parcel_create(struct entry *entry);

/* All of it in a piece, the caller's until piece_destroy. */
struct piece *parcel_whole(struct parcel *parcel);
void piece_destroy(struct piece *piece);

/* Halves a piece of two spans or more: returns the second half, a new piece; @piece becomes the first. */
struct piece *piece_split(struct piece *piece);

/* The spans, for a call; good as long as the batch. */
void piece_run(const struct piece *piece, struct run *run);

/* The piece's spans were taken, or dropped. */
void parcel_settle(struct parcel *parcel, const struct piece *piece);

/* Ends a parcel, of which no piece is left to be used: releases its entry if all is settled, */
void parcel_release(struct parcel *parcel, struct queue *queue);
/* or gives it back to @queue without what is. */
void parcel_give_back(struct parcel *parcel, struct queue *queue);

#endif
