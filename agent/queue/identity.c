/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/identity.h"

#include <string.h>

#include "encode/spanread.h"
#include "queue/transcode.h"

struct ids {
	uint64_t trace_high, trace, span;
};

/* How encode/zipkinjson.h begins a span; the trace's id has 16 digits or 32. */
static const char trace_key[] = "{\"traceId\":\"", span_key[] = "\",\"id\":\"";
#define TRACE_KEY (sizeof(trace_key) - 1)
#define SPAN_KEY (sizeof(span_key) - 1)
#define DIGITS 16

static bool read_hex(const uint8_t *at, uint64_t *id)
{
	*id = 0;
	for (int i = 0; i < DIGITS; i++) {
		uint8_t digit = at[i];

		if (digit >= '0' && digit <= '9')
			digit -= '0';
		else if (digit >= 'a' && digit <= 'f')
			digit -= 'a' - 10;
		else
			return false;
		*id = *id << 4 | digit;
	}
	return true;
}

/* Reads the ids of such a span without the rest of it, which takes long. */
static bool read_head(const uint8_t *item, size_t size, struct ids *ids)
{
	const uint8_t *at = item + TRACE_KEY + DIGITS;

	if (size < TRACE_KEY + 3 * DIGITS + SPAN_KEY || memcmp(item, trace_key, TRACE_KEY) != 0)
		return false;
	ids->trace_high = 0;
	if (!read_hex(item + TRACE_KEY, &ids->trace))
		return false;
	if (*at != '"') {
		ids->trace_high = ids->trace;
		if (!read_hex(at, &ids->trace))
			return false;
		at += DIGITS;
	}
	return memcmp(at, span_key, SPAN_KEY) == 0 && read_hex(at + SPAN_KEY, &ids->span);
}

static struct ids read_ids(uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory)
{
	struct ids ids = {0};
	struct span span;

	if (format == BATCH_ZIPKIN_JSON && read_head(item, size, &ids))
		return ids;
	if (!transcode_read(&span, format, item, size, memory))
		return (struct ids){0};
	return (struct ids){span.trace_id_high, span.trace_id, span.id};
}

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
		struct ids ids = read_ids(batch->format, at, batch_sizes(batch)[i], &memory);
		uint64_t identity = mix(mix(mix(mix(0, ids.trace_high), ids.trace), ids.span),
			(uint64_t)batch_events(batch)[i]);

		buffer_put(out, &identity, sizeof(identity));
	}
	span_memory_free(&memory);
}
