/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/label.h"

#include "encode/addtags.h"

struct labelling {
	struct batch *to;
	const struct tags *tags;
	struct addtags_memo memo;
};

static bool add(struct labelling *is, struct text item)
{
	const struct tag *tags = is->tags->of;
	struct buffer *out = &is->to->spans;
	size_t count = is->tags->count;

	switch (is->to->format) {
	case BATCH_ZIPKIN_SPANS:
		return addtags_thrift(out, item, tags, count);
	case BATCH_ZIPKIN_JSON:
		return addtags_json(out, item, tags, count);
	case BATCH_OTLP_SPANS:
		return addtags_otlp(out, item, tags, count, &is->memo);
	default:
		return false;
	}
}

/* An upper limit of what the tags take in one item, as a rule. */
static size_t room(const struct tags *tags)
{
	size_t bytes = 0;

	for (size_t i = 0; i < tags->count; i++)
		bytes += tags->of[i].key.size + tags->of[i].value.size + 32;
	return bytes;
}

struct batch *label(const struct batch *items, const struct tags *tags)
{
	size_t bytes = items->spans.size + items->count * room(tags);
	struct labelling is = {batch_create(items->format, items->count, bytes), tags, {{{0}}}};
	const char *at = (const char *)items->spans.data;
	struct batch *to = is.to;

	for (uint32_t i = 0; i < items->count; i++) {
		uint32_t size = batch_sizes(items)[i];
		size_t before = to->spans.size;

		if (size)
			add(&is, (struct text){at, size});
		size = (uint32_t)(to->spans.size - before);
		buffer_put(&to->sizes, &size, sizeof(size));
		at += batch_sizes(items)[i];
	}
	buffer_put(&to->events, items->events.data, items->events.size);
	to->count = items->count;
	return to;
}
