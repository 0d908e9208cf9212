/* SPDX-License-Identifier: BSD-2-Clause */
/* The context as W3C Trace Context's headers, traceparent and tracestate; see <blkin/context.h>. */
#ifndef BLKIN_W3C_H_
#define BLKIN_W3C_H_

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <blkin/context.h>
#include <blkin/hex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names of the headers; HTTP ignores their case. */
#define BLKIN_TRACEPARENT "traceparent"
#define BLKIN_TRACESTATE "tracestate"

/* Bytes that the inject functions need, with the NUL. */
#define BLKIN_TRACEPARENT_SIZE 56
#define BLKIN_TRACESTATE_SIZE 513

/**
 * blkin_context_inject_traceparent - the value of the header "traceparent", version 00: W3C Trace Context
 * @context: what to send
 * @text: the caller's, of BLKIN_TRACEPARENT_SIZE bytes
 *
 * 00-TRACE-SPAN-FLAGS. A 64-bit trace id is padded with zeros on its left. The sampled flag is on for traces
 * that are sampled, off for those that are not and, as W3C asks, for those not decided yet; debug and the
 * parent cannot be expressed. Unknown ids are replaced by new ones, see <blkin/context.h>.
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
 * version ff is none. Hex is in lower case. Of the flags, only sampled is read. A trace id whose
 * lower half is 0, which W3C allows, is refused, because 64-bit peers use only this half.
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
 * everyone to pass on, is refused. Call it only if the traceparent was accepted.
 *
 * Returns 0 or -EINVAL; then the traceparent is still valid, and is passed on without a tracestate.
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

#ifdef __cplusplus
}
#endif

#endif
