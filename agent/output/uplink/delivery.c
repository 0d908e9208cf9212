/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/uplink/delivery.h"

#include <glib.h>

#include "base/clock.h"
#include "core/ledger.h"
#include "queue/encoding.h"

void delivery_init(struct delivery *delivery, struct queue *queue, enum batch_format format)
{
	delivery->queue = queue;
	delivery->format = format;
	delivery->by_trace = false;
	delivery->fresh_next = false;
	delivery->held = NULL;
	delivery->alone = false;
	TAILQ_INIT(&delivery->parcels);
	bisect_init(&delivery->bisect);
}

struct piece *delivery_add(struct delivery *delivery, struct entry *entry)
{
	struct parcel *parcel;

	if (delivery->by_trace)
		bytrace_group(delivery->queue, entry);
	if (!encode_entry(delivery->queue, entry, delivery->format))
		return NULL;
	parcel = parcel_create(entry);
	TAILQ_INSERT_TAIL(&delivery->parcels, parcel, link);
	return parcel_whole(parcel);
}

static struct entry *take_entry(struct delivery *delivery, enum delivery_source source)
{
	return source == DELIVERY_FRESH ? queue_take_fresh(delivery->queue) : queue_take(delivery->queue);
}

static struct piece *take_batch(struct delivery *delivery, enum delivery_source source)
{
	struct piece *piece = NULL;
	struct entry *entry;

	if (source == DELIVERY_BEGUN || delivery->bisect.count >= BISECT_PIECES)
		return NULL;
	while (!piece && (entry = take_entry(delivery, source)))
		piece = delivery_add(delivery, entry);
	return piece;
}

/* Alternates between new batches and refused pieces, so that neither delays the other. */
static struct piece *take_next(struct delivery *delivery, enum delivery_source source)
{
	struct piece *piece = NULL;

	delivery->fresh_next = !delivery->fresh_next;
	if (delivery->fresh_next)
		piece = take_batch(delivery, source);
	if (!piece)
		piece = bisect_take(&delivery->bisect);
	if (!piece && !delivery->fresh_next)
		piece = take_batch(delivery, source);
	return piece;
}

/* What was no more than fills a batch may be more than that as it is sent. */
static void keep_size(struct delivery *delivery, struct piece *piece)
{
	const uint32_t *sizes = batch_sizes(entry_wire(piece->parcel->entry)) + piece->first;
	size_t most = queue_treatment(delivery->queue).batch_bytes, size = sizes[0];
	uint32_t count = 1;

	if (piece->size <= most)
		return;
	while (count < piece->count && size < most)
		size += sizes[count++];
	delivery_keep(delivery, piece, count);
}

struct piece *delivery_take(struct delivery *delivery, enum delivery_source source, uint32_t open)
{
	struct piece *piece;

	if (open && (delivery->held || delivery->alone))
		return NULL;
	piece = delivery->held ? delivery->held : take_next(delivery, source);
	delivery->held = NULL;
	if (piece)
		keep_size(delivery, piece);
	if (piece && piece->parcel->entry->alone && open) {
		delivery->held = piece;
		return NULL;
	}
	delivery->alone = piece && piece->parcel->entry->alone;
	return piece;
}

void delivery_keep_trace(struct delivery *delivery, struct piece *piece, char key[BYTRACE_KEY])
{
	uint32_t same = bytrace_run(piece->parcel->entry->batch, piece->first, piece->count, key);

	if (same < piece->count)
		bisect_put_back(&delivery->bisect, piece_split_at(piece, same));
}

void delivery_keep(struct delivery *delivery, struct piece *piece, uint32_t count)
{
	if (piece->count <= count)
		return;
	bisect_put_back(&delivery->bisect, piece_split_at(piece, count));
	delivery->fresh_next = true; /* so that this is next */
}

void delivery_sends(struct delivery *delivery, struct piece *piece)
{
	if (piece->sent_before)
		account_add(queue_account(delivery->queue), SPANS_SENT_AGAIN, piece->count);
	piece->sent_before = piece->parcel->entry->sent_before = false;
}

void delivery_repeated(struct delivery *delivery, struct piece *piece)
{
	account_add(queue_account(delivery->queue), SPANS_SENT_AGAIN, piece->count);
}

static void settle(struct delivery *delivery, struct piece *piece)
{
	struct parcel *parcel = piece->parcel;

	parcel_settle(parcel, piece);
	piece_destroy(piece);
	if (parcel->left > 0)
		return;
	TAILQ_REMOVE(&delivery->parcels, parcel, link);
	parcel_release(parcel, delivery->queue);
}

void delivery_took(struct delivery *delivery, struct piece *piece, uint32_t lost)
{
	const struct entry *entry = piece->parcel->entry;
	struct account *account = queue_account(delivery->queue);

	account_move(account, entry_row(entry), SPANS_SENT, piece->count - lost);
	account_move(account, entry_row(entry), SPANS_DROPPED_REFUSED, lost);
	account_delivered(account, batch_events(entry->batch) + piece->first, piece->count, clock_wall());
	piece->parcel->mixed = true;
	settle(delivery, piece);
	bisect_took(&delivery->bisect);
}

bool delivery_refused(struct delivery *delivery, struct piece *piece, const char *words)
{
	piece = bisect_refused(&delivery->bisect, piece);
	if (!piece)
		return false;
	delivery_drop(delivery, piece, words);
	return true;
}

void delivery_drop(struct delivery *delivery, struct piece *piece, const char *words)
{
	queue_refuse(delivery->queue, piece->parcel->entry, piece->first, words);
	settle(delivery, piece);
}

void delivery_put_back(struct delivery *delivery, struct piece *piece)
{
	bisect_put_back(&delivery->bisect, piece);
}

void delivery_return(struct delivery *delivery, struct piece *piece)
{
	struct parcel *parcel = piece->parcel;

	parcel->entry->sent_before |= piece->sent_before;
	piece_destroy(piece);
	TAILQ_REMOVE(&delivery->parcels, parcel, link);
	parcel_give_back(parcel, delivery->queue);
}

/* Youngest first, to keep the order. */
void delivery_give_back(struct delivery *delivery)
{
	struct parcel *parcel;
	struct piece *piece;

	if (delivery->held)
		bisect_put_back(&delivery->bisect, g_steal_pointer(&delivery->held));
	TAILQ_FOREACH(piece, &delivery->bisect.waiting, link)
	piece->parcel->entry->sent_before |= piece->sent_before;
	bisect_clear(&delivery->bisect);
	while ((parcel = TAILQ_LAST(&delivery->parcels, parcels))) {
		TAILQ_REMOVE(&delivery->parcels, parcel, link);
		parcel_give_back(parcel, delivery->queue);
	}
}
