/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/identity.h"

#include "queue/item.h"

/* Each bit of @with changes about half of the result's. */
static uint64_t mix(uint64_t hash, uint64_t with)
{
	hash = (hash ^ with) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return hash ^ hash >> 29;
}

void identity_of_all(const struct batch *batch, struct buffer *out)
{
	struct span_memory memory = {0};
	const uint8_t *at = batch->spans.data;

	for (uint32_t i = 0; i < batch->count; at += batch_sizes(batch)[i++]) {
		struct trait is;
		uint64_t identity;

		item_trait(&is, batch->format, at, batch_sizes(batch)[i], &memory);
		identity = mix(mix(mix(mix(0, is.trace_id_high), is.trace_id), is.id),
			(uint64_t)batch_events(batch)[i]);
		buffer_put(out, &identity, sizeof(identity));
	}
	span_memory_free(&memory);
}
