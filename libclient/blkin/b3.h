/* SPDX-License-Identifier: BSD-2-Clause */
/* The context as OpenZipkin's B3 headers, the single one and the five; see <blkin/context.h>. */
#ifndef BLKIN_B3_H_
#define BLKIN_B3_H_

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <blkin/context.h>
#include <blkin/hex.h>

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

/* Bytes that blkin_context_inject_b3 needs, with the NUL. */
#define BLKIN_B3_SIZE 69

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

/*
 * Sets the context of a decision without ids: a sampled trace gets its id here. A missing decision is
 * refused.
 */
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
 * too: "1" and "d" make a context without a span, whose trace begins with the next span, under a new id.
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

/** struct blkin_b3_headers - the values to send in B3's five headers; "": do not send this header */
struct blkin_b3_headers {
	char trace_id[33];  /* BLKIN_B3_TRACE_ID */
	char span_id[17];   /* BLKIN_B3_SPAN_ID */
	char parent_id[17]; /* BLKIN_B3_PARENT_ID */
	char sampled[2];    /* BLKIN_B3_SAMPLED */
	char flags[2];      /* BLKIN_B3_FLAGS */
};

/** struct blkin_b3_value - the value of a received header, borrowed for one call; text NULL: not received */
struct blkin_b3_value {
	const char *text;
	size_t size;
};

/** struct blkin_b3_received - what was received in B3's five headers */
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
 * needs a span id and the other way round. According to B3, the header "b3" takes precedence over these.
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

#ifdef __cplusplus
}
#endif

#endif
