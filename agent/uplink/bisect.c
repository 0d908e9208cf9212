/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink/bisect.h"

/* After this many refusals in a row, pieces are taken from both ends. */
#define LOOK_AROUND 8

void sift_init(struct sift *sift)
{
	*sift = (struct sift){.refusals_max = SIFT_REFUSALS};
	TAILQ_INIT(&sift->waiting);
	TAILQ_INIT(&sift->parked);
}

void sift_put_back(struct sift *sift, struct piece *piece)
{
	TAILQ_INSERT_TAIL(&sift->waiting, piece, link);
	sift->count++;
}

/*
 * The smallest pieces are last: taking them first keeps few waiting. But if many are refused and none is
 * accepted, good spans may be in a large piece, away from a run of bad ones.
 */
struct piece *sift_take(struct sift *sift)
{
	struct piece *piece;

	sift->from_front = sift->refusals >= LOOK_AROUND && !sift->from_front;
	piece = sift->from_front ? TAILQ_FIRST(&sift->waiting) : TAILQ_LAST(&sift->waiting, pieces);
	if (piece) {
		TAILQ_REMOVE(&sift->waiting, piece, link);
		sift->count--;
	}
	return piece;
}

struct piece *sift_refused(struct sift *sift, struct piece *piece)
{
	bool mixed = piece->parcel->mixed;

	sift->refusals += !mixed;
	if (piece->count > 1) {
		struct piece *second = piece_split(piece);

		/* Bad spans are often adjacent, so the search goes left and right alternately. */
		sift->right_next = !sift->right_next;
		sift_put_back(sift, sift->right_next ? piece : second);
		sift_put_back(sift, sift->right_next ? second : piece);
		return NULL;
	}
	if (mixed || (sift->took && !sift_hopeless(sift)))
		return piece;
	TAILQ_INSERT_TAIL(&sift->parked, piece, link);
	sift->count++;
	return NULL;
}

void sift_took(struct sift *sift)
{
	sift->took = true;
	sift->refusals = 0;
	sift->refusals_max = SIFT_REFUSALS;
	TAILQ_CONCAT(&sift->waiting, &sift->parked, link);
}

bool sift_stuck(const struct sift *sift)
{
	return TAILQ_EMPTY(&sift->waiting) && !TAILQ_EMPTY(&sift->parked);
}

bool sift_hopeless(const struct sift *sift)
{
	return sift->refusals >= sift->refusals_max;
}

void sift_give_up(struct sift *sift)
{
	sift->took = false;
	sift->refusals = 0;
	sift->refusals_max = SIFT_REFUSALS_AGAIN;
}

void sift_doubt(struct sift *sift)
{
	sift->took = false;
}

static void destroy_all(struct pieces *pieces)
{
	struct piece *piece;

	while ((piece = TAILQ_FIRST(pieces))) {
		TAILQ_REMOVE(pieces, piece, link);
		piece_destroy(piece);
	}
}

void sift_clear(struct sift *sift)
{
	destroy_all(&sift->waiting);
	destroy_all(&sift->parked);
	sift->count = 0;
}
