/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink/parcel.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct parcel *parcel_create(struct batch *batch)
{
	struct parcel *parcel = memory_get(sizeof(*parcel));

	parcel->batch = batch;
	parcel->left = batch->count;
	return parcel;
}

struct piece *parcel_whole(struct parcel *parcel)
{
	struct piece *piece = memory_get(sizeof(*piece));

	piece->parcel = parcel;
	piece->count = parcel->batch->count;
	piece->size = parcel->batch->spans.size;
	piece->sent_before = parcel->batch->sent_before;
	return piece;
}

void piece_destroy(struct piece *piece)
{
	free(piece);
}

struct piece *piece_split(struct piece *piece)
{
	const uint32_t *sizes = batch_sizes(piece->parcel->batch);
	struct piece *second = memory_get(sizeof(*second));
	uint32_t count = piece->count / 2;
	size_t size = 0;

	for (uint32_t i = 0; i < count; i++)
		size += sizes[piece->first + i];
	*second = *piece;
	second->first += count;
	second->count -= count;
	second->offset += size;
	second->size -= size;
	piece->count = count;
	piece->size = size;
	return second;
}

void piece_run(const struct piece *piece, struct run *run)
{
	const struct batch *batch = piece->parcel->batch;

	run->spans = batch->spans.data + piece->offset;
	run->sizes = batch_sizes(batch) + piece->first;
	run->count = piece->count;
	run->size = piece->size;
}

void parcel_settle(struct parcel *parcel, const struct piece *piece)
{
	parcel->left -= piece->count;
	if (parcel->left == 0)
		return;
	if (!parcel->settled)
		parcel->settled = memory_get(parcel->batch->count);
	memset(parcel->settled + piece->first, 1, piece->count);
}

/* Moves what is not settled to the front, over what is. */
static void drop_settled(struct batch *batch, const uint8_t *settled)
{
	uint32_t *sizes = (uint32_t *)(void *)batch->sizes.data, kept = 0;
	int64_t *events = (int64_t *)(void *)batch->events.data;
	size_t from = 0, to = 0;

	for (uint32_t i = 0; i < batch->count; i++) {
		uint32_t size = sizes[i];

		if (!settled[i]) {
			memmove(batch->spans.data + to, batch->spans.data + from, size);
			sizes[kept] = size;
			events[kept++] = events[i];
			to += size;
		}
		from += size;
	}
	batch->count = kept;
	batch->spans.size = to;
	batch->sizes.size = kept * sizeof(*sizes);
	batch->events.size = kept * sizeof(*events);
}

struct batch *parcel_end(struct parcel *parcel)
{
	struct batch *batch = parcel->batch;

	if (parcel->settled && parcel->left > 0)
		drop_settled(batch, parcel->settled);
	free(parcel->settled);
	free(parcel);
	return batch;
}
