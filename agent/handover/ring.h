/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes from the reader to the agent through memory that they share: a socket would copy them into the kernel
 * and out of it, which costs a fifth of what reading a span does.
 *
 * The reader may write anything there at any time, so the agent copies bytes out before it looks at them, and
 * keeps its own count of what it took.
 */
#ifndef HANDOVER_RING_H
#define HANDOVER_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* A power of two; large, so that the agent is woken seldom. */
#define RING_BYTES (1024 * 1024)

struct ring {
	_Alignas(64) _Atomic uint64_t written; /* bytes since ring_reset; the writer's, */
	_Alignas(64) _Atomic uint64_t taken;   /* and these are the taker's */
	_Atomic uint32_t wanted;               /* the taker sleeps until so many are there; 0: it is awake */
	_Alignas(64) uint8_t bytes[RING_BYTES];
};

/* Empties it; nobody else uses it at that time. */
void ring_reset(struct ring *ring);

/* The writer's: writes as much as there is room for, and returns how much that was. */
size_t ring_put(struct ring *ring, const void *data, size_t size);

/* The writer's: how much there is room for. */
size_t ring_room(const struct ring *ring);

/* The writer's, after it has written: whether it is to wake the taker, which is so once each time it sleeps.
 */
bool ring_wakes(struct ring *ring);

/* The taker's: appends what is there, @most bytes at most. @taken is its own count, 0 after ring_reset. False
 * if the writer claims what cannot be. */
bool ring_take(struct ring *ring, uint64_t *taken, size_t most, struct buffer *to);

/* The taker's: whether nothing is there. */
bool ring_is_empty(const struct ring *ring, uint64_t taken);

/* The taker's: asks to be woken when @wanted bytes are there; false if they are already. */
bool ring_may_sleep(struct ring *ring, uint64_t taken, uint32_t wanted);

#endif
