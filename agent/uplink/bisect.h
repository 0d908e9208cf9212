/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a server refused, and what is made of it: pieces are halved and sent again until a span is refused
 * alone, which is then set aside.
 *
 * A span is set aside only where the server has shown that it takes others: otherwise the fault may be ours
 * (the category, the path) or the server's, and all spans would go that way one by one. So a span that is
 * refused before the server took any is parked until it takes one; and after SIFT_REFUSALS refusals in a row
 * the server is taken to refuse everything, its batches go back, and it is left alone for a while. From then
 * on it has to refuse only SIFT_REFUSALS_AGAIN in a row, until it takes something. What is left of a batch of
 * which it took a part does not count: there, bad spans in a row are nothing strange.
 *
 * No I/O. Pieces in here belong to it.
 */
#ifndef UPLINK_BISECT_H
#define UPLINK_BISECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "uplink/parcel.h"

#define SIFT_REFUSALS 64
#define SIFT_REFUSALS_AGAIN 24
/* While so many pieces wait, no other batch is begun. */
#define SIFT_PIECES 64

TAILQ_HEAD(pieces, piece);

struct sift {
	struct pieces waiting; /* to be sent; those that were halved latest are last */
	struct pieces parked;  /* spans refused alone, by a server that took nothing yet */
	uint32_t count;        /* of both */
	uint32_t refusals;     /* in a row */
	uint32_t refusals_max;
	bool took;       /* the server took something, and has not refused everything since */
	bool from_front; /* where the next piece comes from */
	bool right_next; /* which half of it is the next, should it be refused */
};

void sift_init(struct sift *sift);

/* A piece that was not answered, or put off, waits to be sent again. */
void sift_put_back(struct sift *sift, struct piece *piece);

/* Takes a piece to be sent; NULL if none waits. */
struct piece *sift_take(struct sift *sift);

/*
 * The server refused @piece. Returns it if it is a span that is to be set aside: it is the caller's again.
 * NULL: it will be sent again.
 */
struct piece *sift_refused(struct sift *sift, struct piece *piece);

/* The server took something. */
void sift_took(struct sift *sift);

/* Whether all that is left are parked spans. */
bool sift_stuck(const struct sift *sift);

/* Whether the server is to be taken to refuse everything; and what follows from it. */
bool sift_hopeless(const struct sift *sift);
void sift_give_up(struct sift *sift);

/* The server was not used for a while: it has to show anew that it takes spans. */
void sift_doubt(struct sift *sift);

/* Destroys all pieces, as their parcels end. */
void sift_clear(struct sift *sift);

#endif
