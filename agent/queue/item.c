/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/item.h"

#include "encode/spanread.h"

bool item_read(
	struct span *span, uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory)
{
	switch (format) {
	case BATCH_SPAN_RECORDS:
		return record_open(span, item, size, memory);
	case BATCH_ZIPKIN_SPANS:
		return spanread_thrift(span, item, size, memory);
	case BATCH_ZIPKIN_JSON:
		return spanread_json(span, item, size, memory);
	case BATCH_OTLP_SPANS:
		return spanread_otlp(span, item, size, memory);
	default:
		return false;
	}
}

void item_trait(
	struct trait *trait, uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory)
{
	struct span span;

	if (format == BATCH_SPAN_RECORDS) {
		if (record_trait(trait, item, size))
			return;
	} else if (item_read(&span, format, item, size, memory)) {
		*trait = trait_of(&span);
		return;
	}
	*trait = (struct trait){0};
}

const struct trait *batch_traits(const struct batch *batch, struct buffer *memory)
{
	const uint8_t *at = batch->spans.data;
	struct span_memory read = {0};
	struct trait *traits;

	memory->size = 0;
	traits = (struct trait *)(void *)buffer_reserve(memory, batch->count * sizeof(*traits));
	for (uint32_t i = 0; i < batch->count; at += batch_sizes(batch)[i++])
		item_trait(&traits[i], batch->format, at, batch_sizes(batch)[i], &read);
	memory->size = batch->count * sizeof(*traits);
	span_memory_free(&read);
	return traits;
}
