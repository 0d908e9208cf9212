/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A span as bytes: what rings, queues and spools hold, from whoever made it up to the output that encodes it.
 * Flat, self-delimiting, and the same on each machine; numbers are little-endian, those called "number" are
 * varints (core/varint.h).
 *
 *     u8      version: 1
 *     u8      enum span_kind
 *     u16     flags, those of record.c
 *     u32     pid
 *     u64     trace id, high and low; id; parent's id
 *     i64     timestamp, duration, time of the last event: ns
 *     number  how many annotations, how many tags
 *             name, program: a number, and so many bytes of UTF-8
 *     number  the user, if the flags say that there is one
 *             the local endpoint; the remote one, if the flags say so: service, u8 how many bytes the address
 *             has, these, the port as a number
 *             annotations: their time since the timestamp, folded; the text
 *             tags: a number, the key's size times 8 and its enum tag_type; the key; the value
 *             struct span_more, if the flags say so, as record.c has it
 *
 * Spools keep records for ever: a later version reads what this one writes. Who packs a record makes its
 * texts UTF-8, so nobody after that has to. Where records come from another process or from a disk,
 * record_open is the check: it reads nothing beyond the end, and fails on what is no record.
 */
#ifndef CORE_RECORD_H
#define CORE_RECORD_H

#include "core/spanmemory.h"

/* A span that could become larger than this is not packed. */
#define RECORD_MAX (16 * 1024 * 1024)

/* Appends the span, but for `added`; returns how many of its texts were repaired, or -1 if it is too large.
 */
int record_put(struct buffer *out, const struct span *span);

/* The span, which borrows from @bytes and @memory; false if it is none. */
bool record_open(struct span *span, const uint8_t *bytes, size_t size, struct span_memory *memory);

/* What is asked of each span: by whom it is kept, who looks for it. */
struct trait {
	uint64_t trace_id_high, trace_id, id;
	int64_t last_event;     /* ns since the epoch */
	uint64_t error : 1;     /* it has the tag `error`, or its status is one */
	uint64_t duration : 63; /* ns */
	uint32_t service;       /* a hash of its name; 0: record_service tells it */
	bool rare;              /* an output keeps hardly anything of its service (queue/lane.h) */
};

struct trait trait_of(const struct span *span);

/* The record's, without opening it, and without the service; false if it is none. */
bool record_trait(struct trait *trait, const uint8_t *bytes, size_t size);

/* The hash of the record's service, never 0; of what is no record, any. */
uint32_t record_service(const uint8_t *bytes, size_t size);

#endif
