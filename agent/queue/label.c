/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/label.h"

#include "encode/addtags.h"

static bool add(struct buffer *out, uint8_t format, const struct text item, const struct tags *tags)
{
	const uint8_t *bytes = (const uint8_t *)item.data;

	switch (format) {
	case BATCH_ZIPKIN_SPANS:
		return addtags_thrift(out, bytes, item.size, tags->of, tags->count);
	case BATCH_ZIPKIN_JSON:
		return addtags_json(out, bytes, item.size, tags->of, tags->count);
	case BATCH_OTLP_SPANS:
		return addtags_otlp(out, bytes, item.size, tags->of, tags->count);
	default:
		return false;
	}
}

struct batch *label(const struct batch *items, const struct tags *tags)
{
	struct batch *to = batch_create(items->format, items->count, items->spans.size);
	const char *at = (const char *)items->spans.data;
	struct buffer item = {0};

	for (uint32_t i = 0; i < items->count; i++) {
		uint32_t size = batch_sizes(items)[i];

		item.size = 0;
		if (size && !add(&item, items->format, (struct text){at, size}, tags))
			item.size = 0;
		batch_add(to, item.data, item.size, batch_events(items)[i]);
		at += size;
	}
	buffer_free(&item);
	return to;
}
