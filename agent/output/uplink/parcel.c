/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/uplink/parcel.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct parcel *parcel_create(struct entry *entry)
{
	struct parcel *parcel = memory_get(sizeof(*parcel));

	parcel->entry = entry;
	parcel->left = entry->batch->count;
	return parcel;
}

struct piece *parcel_whole(struct parcel *parcel)
{
	struct piece *piece = memory_get(sizeof(*piece));

	piece->parcel = parcel;
	piece->count = parcel->entry->batch->count;
	piece->size = entry_wire(parcel->entry)->spans.size;
	piece->sent_before = parcel->entry->sent_before;
	return piece;
}

void piece_destroy(struct piece *piece)
{
	free(piece);
}

struct piece *piece_split_at(struct piece *piece, uint32_t count)
{
	const uint32_t *sizes = batch_sizes(entry_wire(piece->parcel->entry));
	struct piece *second = memory_get(sizeof(*second));
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

struct piece *piece_split(struct piece *piece)
{
	return piece_split_at(piece, piece->count / 2);
}

void piece_run(const struct piece *piece, struct run *run)
{
	const struct batch *batch = entry_wire(piece->parcel->entry);

	*run = (struct run){.spans = batch->spans.data + piece->offset,
		.sizes = batch_sizes(batch) + piece->first,
		.count = piece->count,
		.size = piece->size};
}

void parcel_settle(struct parcel *parcel, const struct piece *piece)
{
	parcel->left -= piece->count;
	if (parcel->left == 0)
		return;
	if (!parcel->settled)
		parcel->settled = memory_get(parcel->entry->batch->count);
	memset(parcel->settled + piece->first, 1, piece->count);
}

static void destroy(struct parcel *parcel)
{
	free(parcel->settled);
	free(parcel);
}

void parcel_release(struct parcel *parcel, struct queue *queue)
{
	queue_release(queue, parcel->entry);
	destroy(parcel);
}

void parcel_give_back(struct parcel *parcel, struct queue *queue)
{
	if (parcel->settled)
		queue_give_back_rest(
			queue, parcel->entry, batch_without(parcel->entry->batch, parcel->settled));
	else
		queue_give_back(queue, parcel->entry);
	destroy(parcel);
}
