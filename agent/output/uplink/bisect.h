/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the bad spans in what a server refused: pieces are halved and sent again until a single span is
 * refused, which is then set aside.
 *
 * A span is set aside only if the server has accepted others. Otherwise the cause may be the configuration
 * (the category, the path) or the server, and all spans would be set aside one by one. So a span that is
 * refused before the server accepted any is parked until it accepts one. After BISECT_REFUSALS refusals in a
 * row, the server is assumed to refuse everything: its batches go back, and it is not used for a while. From
 * then on BISECT_REFUSALS_AGAIN in a row are enough, until it accepts something. The rest of a batch that was
 * partly accepted does not count: there, several bad spans in a row are normal.
 *
 * No I/O. It owns the pieces in it.
 */
#ifndef OUTPUT_UPLINK_BISECT_H
#define OUTPUT_UPLINK_BISECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "output/uplink/parcel.h"

#define BISECT_REFUSALS 64
#define BISECT_REFUSALS_AGAIN 24
/* While this many pieces wait, no other batch is begun. */
#define BISECT_PIECES 64

TAILQ_HEAD(pieces, piece);

struct bisect {
	struct pieces waiting; /* to be sent; the most recently halved ones are last */
	struct pieces parked;  /* single spans, refused by a server that has accepted nothing yet */
	uint32_t count;        /* of both */
	uint32_t refusals;     /* in a row */
	uint32_t refusals_max;
	bool took;       /* the server accepted something, and has not refused everything since */
	bool from_front; /* where the next piece comes from */
	bool right_next; /* which half of it is next, if it is refused */
};

void bisect_init(struct bisect *bisect);

/* A piece that got no answer, or was put off, waits to be sent again. */
void bisect_put_back(struct bisect *bisect, struct piece *piece);

/* The same, behind all others. */
void bisect_put_last(struct bisect *bisect, struct piece *piece);

/* Takes a piece to be sent; NULL if none waits. */
struct piece *bisect_take(struct bisect *bisect);

/*
 * The server refused @piece. Returns it if it is a span to set aside; then the caller owns it again. NULL: it
 * will be sent again.
 */
struct piece *bisect_refused(struct bisect *bisect, struct piece *piece);

/* The server accepted something. */
void bisect_took(struct bisect *bisect);

/* Whether all that is left are parked spans. */
bool bisect_stuck(const struct bisect *bisect);

/* Whether the server is assumed to refuse everything; bisect_give_up then begins the wait. */
bool bisect_hopeless(const struct bisect *bisect);
void bisect_give_up(struct bisect *bisect);

/* The server was not used for a while: it must show again that it accepts spans. */
void bisect_doubt(struct bisect *bisect);

/* Destroys all pieces, because their parcels end. */
void bisect_clear(struct bisect *bisect);

#endif
