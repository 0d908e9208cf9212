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

struct trait item_trait(uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory)
{
	struct trait trait = {0};
	struct span span;

	if (format == BATCH_SPAN_RECORDS)
		record_trait(&trait, item, size);
	else if (item_read(&span, format, item, size, memory))
		trait = trait_of(&span);
	return trait;
}

const struct trait *batch_traits(const struct batch *batch, struct buffer *memory)
{
	const uint8_t *at = batch->spans.data;
	struct span_memory read = {0};

	memory->size = 0;
	buffer_reserve(memory, batch->count * sizeof(struct trait));
	for (uint32_t i = 0; i < batch->count; at += batch_sizes(batch)[i++]) {
		struct trait trait = item_trait(batch->format, at, batch_sizes(batch)[i], &read);

		buffer_put(memory, &trait, sizeof(trait));
	}
	span_memory_free(&read);
	return (const struct trait *)(const void *)memory->data;
}
