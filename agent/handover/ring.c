/* SPDX-License-Identifier: BSD-2-Clause */
#include "handover/ring.h"

#include <glib.h>

void ring_reset(struct ring *ring)
{
	atomic_store(&ring->written, 0);
	atomic_store(&ring->taken, 0);
	atomic_store(&ring->wanted, 0);
}

/* The bytes from @place on that stand in one piece, @most at most. */
static size_t piece(uint64_t place, size_t most)
{
	return MIN(most, RING_BYTES - place % RING_BYTES);
}

size_t ring_room(const struct ring *ring)
{
	return RING_BYTES - (atomic_load_explicit(&ring->written, memory_order_relaxed) -
				    atomic_load_explicit(&ring->taken, memory_order_acquire));
}

size_t ring_put(struct ring *ring, const void *data, size_t size)
{
	uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
	size_t room = RING_BYTES - (written - atomic_load_explicit(&ring->taken, memory_order_acquire));
	size_t put = MIN(size, room), first = piece(written, put);

	if (!put) /* @data may be NULL */
		return 0;
	memcpy(ring->bytes + written % RING_BYTES, data, first);
	memcpy(ring->bytes, (const uint8_t *)data + first, put - first);
	atomic_store(&ring->written, written + put);
	return put;
}

bool ring_wakes(struct ring *ring)
{
	uint32_t wanted = atomic_load(&ring->wanted);

	return wanted && atomic_load(&ring->written) - atomic_load(&ring->taken) >= wanted &&
	       atomic_exchange(&ring->wanted, 0);
}

bool ring_take(struct ring *ring, uint64_t *taken, size_t most, struct buffer *to)
{
	uint64_t size = atomic_load(&ring->written) - *taken;
	size_t first;

	atomic_store(&ring->wanted, 0);
	if (size > RING_BYTES)
		return false;
	if (!size)
		return true;
	size = MIN(size, most);
	first = piece(*taken, size);
	buffer_reserve(to, size);
	buffer_put(to, ring->bytes + *taken % RING_BYTES, first);
	buffer_put(to, ring->bytes, size - first);
	*taken += size;
	atomic_store(&ring->taken, *taken);
	return true;
}

bool ring_is_empty(const struct ring *ring, uint64_t taken)
{
	return atomic_load(&ring->written) == taken;
}

bool ring_may_sleep(struct ring *ring, uint64_t taken, uint32_t wanted)
{
	atomic_store(&ring->wanted, wanted);
	return atomic_load(&ring->written) - taken < wanted;
}
