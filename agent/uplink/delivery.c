/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink/delivery.h"

#include "base/clock.h"
#include "core/ledger.h"

void delivery_init(struct delivery *delivery, struct batch_queue *queue)
{
	delivery->queue = queue;
	delivery->fresh_next = false;
	TAILQ_INIT(&delivery->parcels);
	sift_init(&delivery->sift);
}

static struct piece *take_batch(struct delivery *delivery)
{
	struct parcel *parcel;
	struct batch *batch;

	if (delivery->sift.count >= SIFT_PIECES)
		return NULL;
	batch = batch_take(delivery->queue);
	if (!batch)
		return NULL;
	parcel = parcel_create(batch);
	TAILQ_INSERT_TAIL(&delivery->parcels, parcel, link);
	return parcel_whole(parcel);
}

/* By turns what is new and what was refused in part: so neither holds up the other. */
struct piece *delivery_take(struct delivery *delivery, bool fresh)
{
	struct piece *piece = NULL;

	delivery->fresh_next = !delivery->fresh_next;
	if (delivery->fresh_next && fresh)
		piece = take_batch(delivery);
	if (!piece)
		piece = sift_take(&delivery->sift);
	if (!piece && !delivery->fresh_next && fresh)
		piece = take_batch(delivery);
	return piece;
}

static void settle(struct delivery *delivery, struct piece *piece)
{
	struct parcel *parcel = piece->parcel;

	parcel_settle(parcel, piece);
	piece_destroy(piece);
	if (parcel->left > 0)
		return;
	TAILQ_REMOVE(&delivery->parcels, parcel, link);
	batch_release(delivery->queue, parcel_end(parcel));
}

void delivery_took(struct delivery *delivery, struct piece *piece)
{
	const struct batch *batch = piece->parcel->batch;

	ledger_move(batch_row(batch), SPANS_SENT, piece->count);
	ledger_delivered(batch_events(batch) + piece->first, piece->count, clock_wall());
	piece->parcel->mixed = true;
	settle(delivery, piece);
	sift_took(&delivery->sift);
}

bool delivery_refused(struct delivery *delivery, struct piece *piece, const char *words)
{
	piece = sift_refused(&delivery->sift, piece);
	if (!piece)
		return false;
	batch_refuse(delivery->queue, piece->parcel->batch, piece->first, words);
	settle(delivery, piece);
	return true;
}

void delivery_put_back(struct delivery *delivery, struct piece *piece)
{
	sift_put_back(&delivery->sift, piece);
}

/* Youngest first, so that the order stays. */
void delivery_give_back(struct delivery *delivery)
{
	struct parcel *parcel;
	struct piece *piece;

	TAILQ_FOREACH(piece, &delivery->sift.waiting, link)
	piece->parcel->batch->sent_before |= piece->sent_before;
	sift_clear(&delivery->sift);
	while ((parcel = TAILQ_LAST(&delivery->parcels, parcels))) {
		TAILQ_REMOVE(&delivery->parcels, parcel, link);
		batch_give_back(delivery->queue, parcel_end(parcel));
	}
}
