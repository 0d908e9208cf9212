/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/uplink/bisect.h"

/* After this many refusals in a row, pieces are taken from both ends. */
#define LOOK_AROUND 8

void bisect_init(struct bisect *bisect)
{
	*bisect = (struct bisect){.refusals_max = BISECT_REFUSALS};
	TAILQ_INIT(&bisect->waiting);
	TAILQ_INIT(&bisect->parked);
}

void bisect_put_back(struct bisect *bisect, struct piece *piece)
{
	TAILQ_INSERT_TAIL(&bisect->waiting, piece, link);
	bisect->count++;
}

void bisect_put_last(struct bisect *bisect, struct piece *piece)
{
	TAILQ_INSERT_HEAD(&bisect->waiting, piece, link);
	bisect->count++;
}

/*
 * The smallest pieces are last: taking them first keeps few waiting. But if many are refused and none is
 * accepted, good spans may be in a large piece, away from a run of bad ones.
 */
struct piece *bisect_take(struct bisect *bisect)
{
	struct piece *piece;

	bisect->from_front = bisect->refusals >= LOOK_AROUND && !bisect->from_front;
	piece = bisect->from_front ? TAILQ_FIRST(&bisect->waiting) : TAILQ_LAST(&bisect->waiting, pieces);
	if (piece) {
		TAILQ_REMOVE(&bisect->waiting, piece, link);
		bisect->count--;
	}
	return piece;
}

struct piece *bisect_refused(struct bisect *bisect, struct piece *piece)
{
	bool mixed = piece->parcel->mixed;

	bisect->refusals += !mixed;
	if (piece->count > 1) {
		struct piece *second = piece_split(piece);

		/* Bad spans are often adjacent, so the search goes left and right alternately. */
		bisect->right_next = !bisect->right_next;
		bisect_put_back(bisect, bisect->right_next ? piece : second);
		bisect_put_back(bisect, bisect->right_next ? second : piece);
		return NULL;
	}
	if (mixed || (bisect->took && !bisect_hopeless(bisect)))
		return piece;
	TAILQ_INSERT_TAIL(&bisect->parked, piece, link);
	bisect->count++;
	return NULL;
}

void bisect_took(struct bisect *bisect)
{
	bisect->took = true;
	bisect->refusals = 0;
	bisect->refusals_max = BISECT_REFUSALS;
	TAILQ_CONCAT(&bisect->waiting, &bisect->parked, link);
}

bool bisect_stuck(const struct bisect *bisect)
{
	return TAILQ_EMPTY(&bisect->waiting) && !TAILQ_EMPTY(&bisect->parked);
}

bool bisect_hopeless(const struct bisect *bisect)
{
	return bisect->refusals >= bisect->refusals_max;
}

void bisect_give_up(struct bisect *bisect)
{
	bisect->took = false;
	bisect->refusals = 0;
	bisect->refusals_max = BISECT_REFUSALS_AGAIN;
}

void bisect_doubt(struct bisect *bisect)
{
	bisect->took = false;
}

static void destroy_all(struct pieces *pieces)
{
	struct piece *piece;

	while ((piece = TAILQ_FIRST(pieces))) {
		TAILQ_REMOVE(pieces, piece, link);
		piece_destroy(piece);
	}
}

void bisect_clear(struct bisect *bisect)
{
	destroy_all(&bisect->waiting);
	destroy_all(&bisect->parked);
	bisect->count = 0;
}
