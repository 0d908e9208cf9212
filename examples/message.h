/* SPDX-License-Identifier: BSD-2-Clause */
/* What the gateway asks the store, and how the trace travels along: the context is a part of the message. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <endian.h>
#include <stdint.h>

#include <blkin/blkin.h>

/* A blkin_context for the network: big-endian, packed. */
struct packed_context {
	uint64_t trace_id_high, trace_id, span_id, parent_id;
	uint8_t debug;
} __attribute__((packed));

struct request {
	struct packed_context context;
	char object[32];
	uint32_t bytes;
} __attribute__((packed));

struct answer {
	uint32_t written;
} __attribute__((packed));

static inline void pack_context(struct packed_context *packed, const struct blkin_context *context)
{
	packed->trace_id_high = htobe64(context->trace_id_high);
	packed->trace_id = htobe64(context->trace_id);
	packed->span_id = htobe64(context->span_id);
	packed->parent_id = htobe64(context->parent_id);
	packed->debug = context->debug != 0;
}

static inline void unpack_context(struct blkin_context *context, const struct packed_context *packed)
{
	context->trace_id_high = be64toh(packed->trace_id_high);
	context->trace_id = be64toh(packed->trace_id);
	context->span_id = be64toh(packed->span_id);
	context->parent_id = be64toh(packed->parent_id);
	context->debug = packed->debug;
}

#endif
