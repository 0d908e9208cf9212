/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What travels with a request so that the receiver's spans join the sender's trace, and the forms in which it
 * travels:
 *
 *     packed       blkin_context_pack         blkin_context_unpack                BlkKin's own, big-endian
 *     b3           blkin_context_inject_b3    blkin_context_extract_b3            OpenZipkin B3, one header
 *     X-B3-...     blkin_context_inject_b3_multi, ..._extract_b3_multi            OpenZipkin B3, five headers
 *     traceparent  blkin_context_inject_traceparent, ..._extract_traceparent      W3C Trace Context
 *     tracestate   blkin_tracestate_inject    blkin_tracestate_extract            W3C Trace Context
 *     classic      blkin_context_to_info      blkin_context_from_info             struct blkin_trace_info
 *
 * Inject functions write a header's value into the caller's buffer, of the size that each one names, end it
 * with NUL and return its length; 0: there is nothing to say, send no such header. Extract functions read
 * `size` bytes that may come from anyone, need no NUL, and return 0, or -EINVAL for what the format does not
 * allow; then the context is as it was, and the program goes on as if nothing had been received. Nothing here
 * allocates or keeps a pointer, but for struct blkin_tracestate, which borrows.
 *
 * Whether the trace is recorded is decided once, at its root, and then travels with it, in the four states of
 * B3 (enum blkin_decision). A trace that is not sampled has trace_id 0 here, so that one comparison tells;
 * its ids stay beside, in unsampled_id, span_id and parent_id, and go on as they came. So a peer that logs
 * them, or another vendor that samples for itself, sees one trace through all nodes, and each form still says
 * "not sampled". Where no id is known (the B3 header "0", classic's trace id 0, a root not sampled here), B3
 * says "0" and traceparent, which cannot do without ids, gets fresh ones with the sampled flag off: no header
 * at all would let the receiver begin a trace of its own.
 *
 * The conversions from and to the classic ids are here, not in classic.h: this file knows classic.h, which
 * knows nothing of contexts, so that neither includes the other in turn.
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

/* Names of the headers; HTTP ignores their case. */
#define BLKIN_B3 "b3"
#define BLKIN_B3_TRACE_ID "X-B3-TraceId"
#define BLKIN_B3_SPAN_ID "X-B3-SpanId"
#define BLKIN_B3_PARENT_ID "X-B3-ParentSpanId"
#define BLKIN_B3_SAMPLED "X-B3-Sampled"
#define BLKIN_B3_FLAGS "X-B3-Flags"
#define BLKIN_TRACEPARENT "traceparent"
#define BLKIN_TRACESTATE "tracestate"

/* Bytes that the inject functions need, with the NUL. */
#define BLKIN_B3_SIZE 69
#define BLKIN_TRACEPARENT_SIZE 56
#define BLKIN_TRACESTATE_SIZE 513

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
 * blkin_context_decide - decide what the sender left to us
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
 * The parts of a context as they travel: the trace id in its place also if it is not sampled. All forms go
 * through the two functions below, so that there is one notion of which contexts there are:
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

/* The parts of a context, which a program may have filled in as it likes: what makes no sense is left out. */
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

/* Sets the context, or refuses parts that do not belong together. */
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

/* ---- packed ---- */

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
	int i;

	for (i = 7; i >= 0; i--) {
		to[i] = (uint8_t)(value & 0xff);
		value >>= 8;
	}
}

static inline uint64_t blkin_get_be64_(const uint8_t *from)
{
	uint64_t value = 0;
	int i;

	for (i = 0; i < 8; i++)
		value = value << 8 | from[i];
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

/* ---- ids as text ---- */

/* The value of a hex digit, in upper case too if @upper; -1: it is none. */
static inline int blkin_hex_digit_(char c, int upper)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return upper && c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads @digits hex digits; returns 0 or -EINVAL. */
static inline int blkin_get_hex_(uint64_t *value, const char *text, int digits, int upper)
{
	uint64_t number = 0;
	int i;

	for (i = 0; i < digits; i++) {
		int digit = blkin_hex_digit_(text[i], upper);

		if (digit < 0)
			return -EINVAL;
		number = number << 4 | (uint64_t)digit;
	}
	*value = number;
	return 0;
}

/* Reads an id of 16 hex digits, which is not 0. */
static inline int blkin_get_id_(uint64_t *id, const char *text, int upper)
{
	return blkin_get_hex_(id, text, 16, upper) || !*id ? -EINVAL : 0;
}

/*
 * Reads a trace id of 16 or 32 hex digits. Of 32, the lower 16 must not be 0 either: that half alone is what
 * 64-bit peers know the trace by.
 */
static inline int blkin_get_trace_id_(
	struct blkin_context_parts_ *parts, const char *text, size_t size, int upper)
{
	if (size == 32 && blkin_get_hex_(&parts->high, text, 16, upper))
		return -EINVAL;
	if (size != 16 && size != 32)
		return -EINVAL;
	return blkin_get_id_(&parts->trace, text + size - 16, upper);
}

/* Writes 16 hex digits; returns where they end. */
static inline char *blkin_put_hex_(char *to, uint64_t value)
{
	int shift;

	for (shift = 60; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[value >> shift & 15];
	return to;
}

/* ---- B3 ---- */

/* Reads what B3 writes for a decision: "0", "1" or "d". */
static inline int blkin_b3_get_decision_(enum blkin_decision *decision, char c)
{
	if (c == '0')
		*decision = BLKIN_DECISION_DENY;
	else if (c == '1')
		*decision = BLKIN_DECISION_ACCEPT;
	else if (c == 'd' || c == 'D')
		*decision = BLKIN_DECISION_DEBUG;
	else
		return -EINVAL;
	return 0;
}

/* B3's letter for a decision that is not deferred. */
static inline char blkin_b3_letter_(enum blkin_decision decision)
{
	return "01d"[decision];
}

/* Sets the context that a decision alone makes: a sampled trace gets its id here. None at all is refused. */
static inline int blkin_b3_decided_(struct blkin_context *context, enum blkin_decision decision)
{
	struct blkin_context_parts_ parts = {0, 0, 0, 0, decision};

	if (decision == BLKIN_DECISION_DEFER)
		return -EINVAL;
	if (decision != BLKIN_DECISION_DENY)
		parts.trace = blkin_id();
	return blkin_context_put_together_(context, &parts);
}

/* Writes the trace id in 16 digits, or in 32 if it has that many. */
static inline char *blkin_b3_put_trace_id_(char *to, const struct blkin_context_parts_ *parts)
{
	if (parts->high)
		to = blkin_put_hex_(to, parts->high);
	return blkin_put_hex_(to, parts->trace);
}

/**
 * blkin_context_inject_b3 - the value of the header "b3": OpenZipkin's B3 in its single-header form
 * @context: what to send
 * @text: the caller's, of BLKIN_B3_SIZE bytes
 *
 * TRACE-SPAN-DECISION-PARENT, ids in lower-case hex; no parent for a root, no decision if it is deferred, and
 * the decision alone where there is no span to name.
 *
 * Returns the length; 0: nothing is known of a trace, send no header.
 */
static inline size_t blkin_context_inject_b3(const struct blkin_context *context, char *text)
{
	struct blkin_context_parts_ parts = blkin_context_take_apart_(context);
	char *to = text;

	if (parts.span) {
		to = blkin_b3_put_trace_id_(to, &parts);
		*to++ = '-';
		to = blkin_put_hex_(to, parts.span);
		if (parts.decision != BLKIN_DECISION_DEFER)
			*to++ = '-';
	}
	if (parts.decision != BLKIN_DECISION_DEFER)
		*to++ = blkin_b3_letter_(parts.decision);
	if (parts.parent) {
		*to++ = '-';
		to = blkin_put_hex_(to, parts.parent);
	}
	*to = '\0';
	return (size_t)(to - text);
}

/**
 * blkin_context_extract_b3 - read the value of the header "b3": OpenZipkin's B3 in its single-header form
 * @context: set on success
 * @text, @size: the value, without blanks around it
 *
 * Trace ids have 16 or 32 hex digits, other ids 16; upper case is accepted. The decision alone is accepted
 * too: "1" and "d" make a context without a span, whose trace begins with the next span, under a fresh id.
 *
 * Returns 0 or -EINVAL.
 */
static inline int blkin_context_extract_b3(struct blkin_context *context, const char *text, size_t size)
{
	struct blkin_context_parts_ parts = {0, 0, 0, 0, BLKIN_DECISION_DEFER};
	size_t trace = size > 16 && text[16] == '-' ? 16 : 32;
	size_t end = trace + 17; /* of what has been read */

	if (size == 1)
		return blkin_b3_get_decision_(&parts.decision, *text)
			       ? -EINVAL
			       : blkin_b3_decided_(context, parts.decision);
	if (size < end || blkin_get_trace_id_(&parts, text, trace, 1) || text[trace] != '-' ||
		blkin_get_id_(&parts.span, text + trace + 1, 1))
		return -EINVAL;
	if (size == end + 2 || size == end + 2 + 17) {
		if (text[end] != '-' || blkin_b3_get_decision_(&parts.decision, text[end + 1]))
			return -EINVAL;
		end += 2;
	}
	if (size == end + 17) {
		if (text[end] != '-' || blkin_get_id_(&parts.parent, text + end + 1, 1))
			return -EINVAL;
		end += 17;
	}
	return size == end ? blkin_context_put_together_(context, &parts) : -EINVAL;
}

/** struct blkin_b3_headers - the values to send in B3's five headers; "": do not send that one */
struct blkin_b3_headers {
	char trace_id[33];  /* BLKIN_B3_TRACE_ID */
	char span_id[17];   /* BLKIN_B3_SPAN_ID */
	char parent_id[17]; /* BLKIN_B3_PARENT_ID */
	char sampled[2];    /* BLKIN_B3_SAMPLED */
	char flags[2];      /* BLKIN_B3_FLAGS */
};

/** struct blkin_b3_value - the value of a header that came, borrowed for one call; text NULL: it did not */
struct blkin_b3_value {
	const char *text;
	size_t size;
};

/** struct blkin_b3_received - what came in B3's five headers */
struct blkin_b3_received {
	struct blkin_b3_value trace_id;
	struct blkin_b3_value span_id;
	struct blkin_b3_value parent_id;
	struct blkin_b3_value sampled;
	struct blkin_b3_value flags;
};

/**
 * blkin_context_inject_b3_multi - the values of the headers "X-B3-...": OpenZipkin's B3, a header for each
 * part
 * @context: what to send
 * @headers: the caller's; filled in whole, each value ended by NUL
 *
 * Returns how many headers there are to send, 0 to 4.
 */
static inline size_t blkin_context_inject_b3_multi(
	const struct blkin_context *context, struct blkin_b3_headers *headers)
{
	struct blkin_context_parts_ parts = blkin_context_take_apart_(context);
	size_t count = 0;

	memset(headers, 0, sizeof(*headers));
	if (parts.span) {
		blkin_b3_put_trace_id_(headers->trace_id, &parts);
		blkin_put_hex_(headers->span_id, parts.span);
		count = 2;
	}
	if (parts.parent) {
		blkin_put_hex_(headers->parent_id, parts.parent);
		count++;
	}
	if (parts.decision == BLKIN_DECISION_DEFER)
		return count;
	if (parts.decision == BLKIN_DECISION_DEBUG)
		headers->flags[0] = '1';
	else
		headers->sampled[0] = blkin_b3_letter_(parts.decision);
	return count + 1;
}

/* Whether the value is this text. */
static inline int blkin_b3_is_(const struct blkin_b3_value *value, const char *text)
{
	return value->size == strlen(text) && !memcmp(value->text, text, value->size);
}

/* Reads X-B3-Sampled and X-B3-Flags: debug counts as sampled, whatever the other says. */
static inline int blkin_b3_get_state_(enum blkin_decision *decision, const struct blkin_b3_received *received)
{
	const struct blkin_b3_value *sampled = &received->sampled, *flags = &received->flags;

	*decision = BLKIN_DECISION_DEFER;
	if (sampled->text) {
		if (blkin_b3_is_(sampled, "1") || blkin_b3_is_(sampled, "true"))
			*decision = BLKIN_DECISION_ACCEPT;
		else if (blkin_b3_is_(sampled, "0") || blkin_b3_is_(sampled, "false"))
			*decision = BLKIN_DECISION_DENY;
		else
			return -EINVAL;
	}
	if (flags->text) {
		if (blkin_b3_is_(flags, "1"))
			*decision = BLKIN_DECISION_DEBUG;
		else if (!blkin_b3_is_(flags, "0"))
			return -EINVAL;
	}
	return 0;
}

/* Reads the headers that hold ids. */
static inline int blkin_b3_get_ids_(
	struct blkin_context_parts_ *parts, const struct blkin_b3_received *received)
{
	const struct blkin_b3_value *trace = &received->trace_id, *span = &received->span_id;
	const struct blkin_b3_value *parent = &received->parent_id;

	if (!trace->text || blkin_get_trace_id_(parts, trace->text, trace->size, 1))
		return -EINVAL;
	if (!span->text || span->size != 16 || blkin_get_id_(&parts->span, span->text, 1))
		return -EINVAL;
	if (parent->text && (parent->size != 16 || blkin_get_id_(&parts->parent, parent->text, 1)))
		return -EINVAL;
	return 0;
}

/**
 * blkin_context_extract_b3_multi - read the headers "X-B3-...": OpenZipkin's B3, a header for each part
 * @context: set on success
 * @received: the values, without blanks around them
 *
 * As for blkin_context_extract_b3; the older "true" and "false" are accepted in X-B3-Sampled. A trace id
 * needs a span id and the other way round. If the header "b3" came too, it goes first, says B3.
 *
 * Returns 0; -EINVAL, also if none of the headers came.
 */
static inline int blkin_context_extract_b3_multi(
	struct blkin_context *context, const struct blkin_b3_received *received)
{
	struct blkin_context_parts_ parts = {0, 0, 0, 0, BLKIN_DECISION_DEFER};

	if (blkin_b3_get_state_(&parts.decision, received))
		return -EINVAL;
	if (!received->trace_id.text && !received->span_id.text && !received->parent_id.text)
		return blkin_b3_decided_(context, parts.decision);
	if (blkin_b3_get_ids_(&parts, received))
		return -EINVAL;
	return blkin_context_put_together_(context, &parts);
}

/* ---- W3C Trace Context ---- */

/**
 * blkin_context_inject_traceparent - the value of the header "traceparent", version 00: W3C Trace Context
 * @context: what to send
 * @text: the caller's, of BLKIN_TRACEPARENT_SIZE bytes
 *
 * 00-TRACE-SPAN-FLAGS. A 64-bit trace id is padded with zeros on its left. The sampled flag is on for traces
 * that are sampled, off for those that are not and, as W3C asks, for those not decided yet; debug and the
 * parent have no place in it. Ids that are not known are fresh ones, see above.
 *
 * Returns the length, 55; 0: nothing is known of a trace, send no header.
 */
static inline size_t blkin_context_inject_traceparent(const struct blkin_context *context, char *text)
{
	struct blkin_context_parts_ parts = blkin_context_take_apart_(context);
	int sampled = parts.decision == BLKIN_DECISION_ACCEPT || parts.decision == BLKIN_DECISION_DEBUG;
	char *to = text;

	*to = '\0';
	if (!parts.trace && parts.decision == BLKIN_DECISION_DEFER)
		return 0;
	memcpy(to, "00-", 3);
	to = blkin_put_hex_(to + 3, parts.high);
	to = blkin_put_hex_(to, parts.trace ? parts.trace : blkin_id());
	*to++ = '-';
	to = blkin_put_hex_(to, parts.span ? parts.span : blkin_id());
	memcpy(to, sampled ? "-01" : "-00", 4);
	return (size_t)(to + 3 - text);
}

/* Whether all bytes are what a header's value may hold: printable ASCII, blanks and tabs. */
static inline int blkin_is_header_text_(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if ((text[i] < ' ' || text[i] > '~') && text[i] != '\t')
			return 0;
	return 1;
}

/**
 * blkin_context_extract_traceparent - read the value of the header "traceparent": W3C Trace Context
 * @context: set on success; it has no parent, which the format does not carry
 * @text, @size: the value, without blanks around it
 *
 * Version 00 has exactly 55 bytes; of a later version, which may be longer, the parts known from 00 are read;
 * version ff is none. Hex is in lower case. Of the flags the sampled one is read. A trace id whose lower half
 * is 0 is refused, which W3C would allow: that half is what 64-bit peers know the trace by.
 *
 * Returns 0 or -EINVAL.
 */
static inline int blkin_context_extract_traceparent(
	struct blkin_context *context, const char *text, size_t size)
{
	struct blkin_context_parts_ parts = {0, 0, 0, 0, BLKIN_DECISION_DENY};
	uint64_t version, flags;

	if (size < 55 || blkin_get_hex_(&version, text, 2, 0) || version == 0xff || text[2] != '-' ||
		text[35] != '-' || text[52] != '-')
		return -EINVAL;
	if (size > 55 && (version == 0 || text[55] != '-' || !blkin_is_header_text_(text + 55, size - 55)))
		return -EINVAL;
	if (blkin_get_trace_id_(&parts, text + 3, 32, 0) || blkin_get_id_(&parts.span, text + 36, 0) ||
		blkin_get_hex_(&flags, text + 53, 2, 0))
		return -EINVAL;
	if (flags & 1)
		parts.decision = BLKIN_DECISION_ACCEPT;
	return blkin_context_put_together_(context, &parts);
}

/**
 * struct blkin_tracestate - what other vendors sent along with a traceparent, to be passed on unchanged
 * @text: borrowed from whoever received it, for as long as it is to be passed on; not ended by NUL
 * @size: its length; 0: there is nothing to pass on
 */
struct blkin_tracestate {
	const char *text;
	size_t size;
};

/**
 * blkin_tracestate_extract - take the value of the header "tracestate" (W3C Trace Context) to pass it on
 * @state: set on success; borrows @text
 * @text, @size: the value; several headers of that name are first joined by ','
 *
 * Its entries are not looked into: only what no header may hold, and more than the 512 bytes that W3C asks
 * everyone to pass on, is refused. To be called only where the traceparent was accepted.
 *
 * Returns 0 or -EINVAL; then the traceparent is still good, and goes on without a tracestate.
 */
static inline int blkin_tracestate_extract(struct blkin_tracestate *state, const char *text, size_t size)
{
	if (size >= BLKIN_TRACESTATE_SIZE || !blkin_is_header_text_(text, size))
		return -EINVAL;
	state->text = text;
	state->size = size;
	return 0;
}

/**
 * blkin_tracestate_inject - the value of the header "tracestate", as it was received
 * @state: from blkin_tracestate_extract, or all zero
 * @text: the caller's, of BLKIN_TRACESTATE_SIZE bytes
 *
 * Returns the length; 0: send no header.
 */
static inline size_t blkin_tracestate_inject(const struct blkin_tracestate *state, char *text)
{
	size_t size = state->size < BLKIN_TRACESTATE_SIZE ? state->size : 0;

	if (size)
		memcpy(text, state->text, size);
	text[size] = '\0';
	return size;
}

/* ---- classic ---- */

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
