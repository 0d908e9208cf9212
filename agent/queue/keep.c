/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/keep.h"

#include <string.h>

#include <glib.h>

static bool has_error(const struct span *span)
{
	for (size_t i = 0; i < span->tag_count; i++)
		if (span->tags[i].key.size == 5 && !memcmp(span->tags[i].key.data, "error", 5))
			return true;
	return false;
}

void trait_put(struct buffer *out, const struct span *span)
{
	struct trait trait = {
		.trace_id_high = span->trace_id_high, .trace_id = span->trace_id, .error = has_error(span)};

	trait.duration = (uint64_t)MAX(span->duration, 0);
	buffer_put(out, &trait, sizeof(trait));
}

bool keep_is_equal(const struct keep *one, const struct keep *other)
{
	return MAX(one->one_in, 1) == MAX(other->one_in, 1) && one->errors == other->errors &&
	       one->slower == other->slower && one->traces_ns == other->traces_ns &&
	       one->traces_bytes == other->traces_bytes;
}

/*
 * The finaliser of splitmix64, as ids may be numbers in a row. It is documented, and must never change: nodes
 * of all versions keep the same traces.
 */
uint64_t keep_hash(uint64_t id)
{
	id = (id ^ id >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	id = (id ^ id >> 27) * UINT64_C(0x94d049bb133111eb);
	return id ^ id >> 31;
}

/* What is kept of fewer traces is a part of what is kept of more. */
bool keep_takes_trace(const struct keep *keep, const struct trait *trait)
{
	return keep_hash(trait->trace_id) <= UINT64_MAX / MAX(keep->one_in, 1);
}

bool keep_takes_span(const struct keep *keep, const struct trait *trait)
{
	return (keep->errors && trait->error) || (keep->slower && trait->duration >= (uint64_t)keep->slower);
}

bool keep_takes(const struct keep *keep, const struct trait *trait)
{
	return keep_takes_trace(keep, trait) || keep_takes_span(keep, trait);
}

struct batch *keep_select(const struct keep *keep, const struct batch *items, const uint8_t *traits)
{
	g_autofree uint8_t *left_out = NULL;
	uint32_t rest = 0;

	if (keep->one_in <= 1 || !items->count)
		return NULL;
	left_out = g_malloc(items->count);
	for (uint32_t i = 0; i < items->count; i++) {
		struct trait trait;

		memcpy(&trait, traits + i * sizeof(trait), sizeof(trait));
		left_out[i] = !keep_takes(keep, &trait);
		rest += left_out[i];
	}
	return rest ? batch_without(items, left_out) : NULL;
}
