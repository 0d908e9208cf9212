/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/keep.h"

#include <glib.h>

bool keep_is_equal(const struct keep *one, const struct keep *other)
{
	return (one->quota || MAX(one->one_in, 1) == MAX(other->one_in, 1)) && one->quota == other->quota &&
	       one->errors == other->errors && one->slower == other->slower &&
	       one->traces_ns == other->traces_ns && one->traces_bytes == other->traces_bytes &&
	       one->wanted == other->wanted && one->output == other->output;
}

bool keep_is_all(const struct keep *keep)
{
	return keep->one_in <= 1 && !keep->quota;
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
	uint64_t share = keep->quota ? atomic_load_explicit(&keep->quota->share, memory_order_relaxed)
				     : UINT64_MAX / MAX(keep->one_in, 1);

	return keep_hash(trait->trace_id) <= share;
}

bool keep_wants_trace(const struct keep *keep, const struct trait *trait)
{
	return (keep->errors && trait->error) || (keep->slower && trait->duration >= (uint64_t)keep->slower);
}

bool keep_takes_span(const struct keep *keep, const struct trait *trait)
{
	return trait->rare || keep_wants_trace(keep, trait);
}

bool keep_takes(const struct keep *keep, const struct trait *trait)
{
	return keep_takes_trace(keep, trait) || keep_takes_span(keep, trait);
}

struct batch *keep_select(const struct keep *keep, const struct batch *items, const struct trait *traits)
{
	g_autofree uint8_t *left_out = NULL;
	uint32_t rest = 0;

	if (keep_is_all(keep) || !items->count)
		return NULL;
	left_out = g_malloc(items->count);
	for (uint32_t i = 0; i < items->count; i++) {
		left_out[i] = !keep_takes(keep, &traits[i]);
		rest += left_out[i];
	}
	return rest ? batch_without(items, left_out) : NULL;
}
