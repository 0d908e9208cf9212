/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is sent along with a request so that the receiver's spans join the sender's trace, and its formats:
 *
 *     packed       blkin_context_pack         blkin_context_unpack                BlkKin's own, big-endian
 *     b3           blkin_context_inject_b3    blkin_context_extract_b3            OpenZipkin B3, one header
 *     X-B3-...     blkin_context_inject_b3_multi, ..._extract_b3_multi            OpenZipkin B3, five headers
 *     traceparent  blkin_context_inject_traceparent, ..._extract_traceparent      W3C Trace Context
 *     tracestate   blkin_tracestate_inject    blkin_tracestate_extract            W3C Trace Context
 *     classic      blkin_context_to_info      blkin_context_from_info             struct blkin_trace_info
 *
 * Inject functions write a header's value into the caller's buffer, of the size that each one names, end it
 * with NUL and return its length; 0: do not send the header. Extract functions read `size` bytes from any
 * source, without a NUL, and return 0, or -EINVAL if the format does not allow them; then the context is
 * unchanged, as if nothing had been received. Nothing here allocates memory or keeps a pointer, except struct
 * blkin_tracestate, which borrows.
 *
 * Whether the trace is recorded is decided once, at its root, and then travels with it, in the four states of
 * B3 (enum blkin_decision). A trace that is not sampled has trace_id 0 here, so that one comparison is
 * enough; its ids are in unsampled_id, span_id and parent_id, and are passed on unchanged. So a peer that
 * logs them, or another vendor with its own sampling, sees one trace through all nodes, and each format still
 * says "not sampled". If no id is known (the B3 header "0", classic's trace id 0, a root not sampled here),
 * B3 says "0" and traceparent, which requires ids, gets new ones with the sampled flag off: without a header,
 * the receiver would begin a new trace.
 *
 * The conversions from and to the classic ids are here, not in classic.h, to avoid circular includes: this
 * file includes classic.h.
 */
#ifndef BLKIN_CONTEXT_H_
#define BLKIN_CONTEXT_H_

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <blkin/classic.h>
#include <blkin/id.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct blkin_context - what travels with a request, so that the next span knows its trace
 * @trace_id_high: upper half of a 128-bit trace id, 0 for a 64-bit one
 * @trace_id: the trace; 0: not sampled, and no span of it is recorded
 * @span_id: the span that sends the request; 0: none yet, the receiver's span is the root
 * @parent_id: that span's parent, 0 for a root
 * @debug: 1 asks the collector to keep the trace whatever its own sampling says
 * @deferred: 1: nobody has decided yet whether the trace is sampled; it is, unless blkin_context_decide says
 * otherwise. With trace_id 0: nothing is known of a trace, and nothing is sent.
 * @unsampled_id: while trace_id is 0: what it would be, to be passed on; 0: unknown
 */
struct blkin_context {
	uint64_t trace_id_high;
	uint64_t trace_id;
	uint64_t span_id;
	uint64_t parent_id;
	int debug;
	int deferred;
	uint64_t unsampled_id;
};

/** enum blkin_decision - whether a trace is recorded: the sampling states of B3 */
enum blkin_decision {
	BLKIN_DECISION_DENY = 0,   /* not sampled */
	BLKIN_DECISION_ACCEPT = 1, /* sampled */
	BLKIN_DECISION_DEBUG = 2,  /* sampled, and the collector is to keep it */
	BLKIN_DECISION_DEFER = 3   /* left to the receiver */
};

/**
 * blkin_context_decision - what has been decided about the context's trace
 * @context: any
 */
static inline enum blkin_decision blkin_context_decision(const struct blkin_context *context)
{
	if (!context->trace_id)
		return context->deferred ? BLKIN_DECISION_DEFER : BLKIN_DECISION_DENY;
	if (context->debug)
		return BLKIN_DECISION_DEBUG;
	return context->deferred ? BLKIN_DECISION_DEFER : BLKIN_DECISION_ACCEPT;
}

/**
 * blkin_context_decide - decide what the sender left to the receiver
 * @context: a received context; one that is decided stays as it is
 * @sample: whether to record the trace
 */
static inline void blkin_context_decide(struct blkin_context *context, int sample)
{
	if (blkin_context_decision(context) != BLKIN_DECISION_DEFER)
		return;
	context->deferred = 0;
	if (!sample) {
		context->unsampled_id = context->trace_id;
		context->trace_id = 0;
	} else if (!context->trace_id) {
		context->trace_id = blkin_id();
	}
}

/*
 * The parts of a context as they are sent: trace_id is set even if the trace is not sampled. All formats use
 * the two functions below, which define the valid contexts:
 *     trace and span      with any decision
 *     trace without span  sampled or debug: the next span is the root
 *     neither             not sampled, or deferred
 */
struct blkin_context_parts_ {
	uint64_t high;
	uint64_t trace;
	uint64_t span;
	uint64_t parent;
	enum blkin_decision decision;
};

/* The parts of a context, which a program may have filled in: invalid parts are left out. */
static inline struct blkin_context_parts_ blkin_context_take_apart_(const struct blkin_context *context)
{
	struct blkin_context_parts_ parts = {0, 0, 0, 0, blkin_context_decision(context)};
	int sampled = parts.decision == BLKIN_DECISION_ACCEPT || parts.decision == BLKIN_DECISION_DEBUG;
	uint64_t trace = context->trace_id;

	if (parts.decision == BLKIN_DECISION_DENY)
		trace = context->unsampled_id;
	if (trace && (context->span_id || sampled)) {
		parts.high = context->trace_id_high;
		parts.trace = trace;
		parts.span = context->span_id;
		parts.parent = context->span_id ? context->parent_id : 0;
	}
	return parts;
}

/* Sets the context; refuses an invalid combination of parts. */
static inline int blkin_context_put_together_(
	struct blkin_context *context, const struct blkin_context_parts_ *parts)
{
	int sampled = parts->decision == BLKIN_DECISION_ACCEPT || parts->decision == BLKIN_DECISION_DEBUG;
	int denied = parts->decision == BLKIN_DECISION_DENY;

	if (!parts->trace && (sampled || parts->high || parts->span))
		return -EINVAL;
	if (!parts->span && (parts->parent || (parts->trace && !sampled)))
		return -EINVAL;
	context->trace_id_high = parts->high;
	context->trace_id = denied ? 0 : parts->trace;
	context->span_id = parts->span;
	context->parent_id = parts->parent;
	context->debug = parts->decision == BLKIN_DECISION_DEBUG;
	context->deferred = parts->decision == BLKIN_DECISION_DEFER;
	context->unsampled_id = denied ? parts->trace : 0;
	return 0;
}

/**
 * struct blkin_context_packed - a context for the network, as a part of a program's own messages
 *
 * BlkKin's own form: bytes only, so that it has no padding, no alignment and one meaning on every machine.
 * All zero is a trace that is not sampled. Ids are big-endian.
 */
struct blkin_context_packed {
	uint8_t trace_id_high[8];
	uint8_t trace_id[8]; /* also of a trace that is not sampled, if known */
	uint8_t span_id[8];
	uint8_t parent_id[8];
	uint8_t decision; /* enum blkin_decision */
};

static inline void blkin_put_be64_(uint8_t *to, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	memcpy(to, &value, sizeof(value));
}

static inline uint64_t blkin_get_be64_(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	return value;
}

/**
 * blkin_context_pack - make a context ready for the network
 * @context: what to send
 * @packed: the caller's; filled in whole
 */
static inline void blkin_context_pack(
	const struct blkin_context *context, struct blkin_context_packed *packed)
{
	struct blkin_context_parts_ parts = blkin_context_take_apart_(context);

	blkin_put_be64_(packed->trace_id_high, parts.high);
	blkin_put_be64_(packed->trace_id, parts.trace);
	blkin_put_be64_(packed->span_id, parts.span);
	blkin_put_be64_(packed->parent_id, parts.parent);
	packed->decision = (uint8_t)parts.decision;
}

/**
 * blkin_context_unpack - read what blkin_context_pack made
 * @context: set on success
 * @data, @size: a struct blkin_context_packed as it was received, at any alignment
 *
 * Returns 0; -EINVAL if the size is not that of the struct, for an unknown decision, and for ids that cannot
 * be, as a trace without id that is sampled.
 */
static inline int blkin_context_unpack(struct blkin_context *context, const void *data, size_t size)
{
	struct blkin_context_packed packed;
	struct blkin_context_parts_ parts;

	if (!data || size != sizeof(packed))
		return -EINVAL;
	memcpy(&packed, data, sizeof(packed));
	if (packed.decision > BLKIN_DECISION_DEFER)
		return -EINVAL;
	parts.high = blkin_get_be64_(packed.trace_id_high);
	parts.trace = blkin_get_be64_(packed.trace_id);
	parts.span = blkin_get_be64_(packed.span_id);
	parts.parent = blkin_get_be64_(packed.parent_id);
	parts.decision = (enum blkin_decision)packed.decision;
	return blkin_context_put_together_(context, &parts);
}

/**
 * blkin_context_from_info - the context that classic ids stand for
 * @context: the caller's; filled in whole
 * @info: classic ids; trace id 0 is a trace that is not sampled
 */
static inline void blkin_context_from_info(struct blkin_context *context, const struct blkin_trace_info *info)
{
	memset(context, 0, sizeof(*context));
	if (!info->trace_id)
		return;
	context->trace_id = (uint64_t)info->trace_id;
	context->span_id = (uint64_t)info->span_id;
	context->parent_id = (uint64_t)info->parent_span_id;
}

/**
 * blkin_context_to_info - the classic ids for a context
 * @context: what to send
 * @info: the caller's; filled in whole
 *
 * They have no room for the upper half of the trace id, for debug and for the ids of a trace that is not
 * sampled, whose ids are all 0; a trace not decided yet counts as sampled.
 */
static inline void blkin_context_to_info(const struct blkin_context *context, struct blkin_trace_info *info)
{
	memset(info, 0, sizeof(*info));
	if (!context->trace_id)
		return;
	info->trace_id = (int64_t)context->trace_id;
	info->span_id = (int64_t)context->span_id;
	info->parent_span_id = (int64_t)context->parent_id;
}

#ifdef __cplusplus
}
#endif

#endif
