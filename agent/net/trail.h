/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far an item of others has come: by how many agents that took it from others, and the stamp of one of
 * them. Each item has its own, so a sender can forge only those of its own items. inlet/scribe/circle.c makes
 * sense of it. Calls carry them packed, in a field of Log() that other servers skip.
 *
 * A span in Thrift keeps its trail in front of its own fields, in two that nobody else knows: Scribe's calls
 * have them apart, others skip them.
 */
#ifndef NET_TRAIL_H
#define NET_TRAIL_H

#include <stddef.h>
#include <stdint.h>

struct trail {
	uint64_t stamp; /* 0: none */
	uint8_t hops;   /* TRAIL_HOPS_MAX at most; 0: it is of the agent that has it */
};

#define TRAIL_HOPS_MAX 127

/* The fields, and the most bytes that they take. */
#define TRAIL_HOPS_FIELD 1000
#define TRAIL_STAMP_FIELD 1001
#define TRAIL_SIZE 15

/* Writes the fields, where there is room; returns where they end. */
uint8_t *trail_put(uint8_t *to, const struct trail *trail);

/* Reads those that a span begins with; returns how many bytes they have. */
size_t trail_read(const uint8_t *span, size_t size, struct trail *trail);

/* Packed: u8 hops, of which the highest bit says that there is a stamp, and that. */
#define TRAIL_PACKED_SIZE 9
uint8_t *trail_pack(uint8_t *to, const struct trail *trail);

/* Returns how many bytes it had; 0, and no trail, if none is left. */
size_t trail_unpack(const uint8_t *from, size_t size, struct trail *trail);

#endif
