/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans of others: under ids that are given, from a time that is past, with a name and a kind that turn out
 * later. For programs that record what another library, or another program, has measured.
 */
#ifndef BLKIN_GIVEN_H_
#define BLKIN_GIVEN_H_

#include <time.h>

#include <blkin/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * blkin_time_of_wall - the time that spans are stamped with, when the wall clock showed something
 * @wall: nanoseconds since 1970
 *
 * Returns what blkin_now() was then, as the two clocks are now; at least 1, and not later than now.
 */
static inline uint64_t blkin_time_of_wall(uint64_t wall)
{
	uint64_t now = blkin_now(), wall_now, ago;
	struct timespec time;

	timespec_get(&time, TIME_UTC);
	wall_now = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	if (wall >= wall_now)
		return now;
	ago = wall_now - wall;
	return ago < now ? now - ago : 1;
}

/**
 * blkin_span_start_given - start a span under given ids
 * @span: the caller's memory, of any content
 * @kind, @name, @local: as for blkin_span_start
 * @own: the span's own ids: its trace, the span, its parent; nothing is recorded of one whose trace_id or
 * span_id is 0
 * @start: from blkin_now() or blkin_time_of_wall(); 0: now
 *
 * Whether the trace is sampled is not asked: @own says it.
 */
static inline void blkin_span_start_given(struct blkin_span *span, enum blkin_kind kind, const char *name,
	const struct blkin_endpoint *local, const struct blkin_context *own, uint64_t start)
{
	blkin_span_prepare_(span, BLKIN_INFO, own);
	if (!blkin_tracing() || !own || !own->trace_id || !own->span_id)
		return;
	span->context.deferred = 0;
	blkin_span_begin_(span, kind, 0, name, 0, local, start ? start : blkin_now());
}

/**
 * blkin_span_name - give a span another name
 * @span: a started span
 * @name: borrowed until the span finishes; NULL is ignored
 *
 * Pieces of the span that were recorded before have the old one.
 */
static inline void blkin_span_name(struct blkin_span *span, const char *name)
{
	if (span->recording && name)
		span->name = name;
}

/**
 * blkin_span_kind - change a span's kind
 * @span: a started span
 * @kind: what it is
 * @local: where, as it was for blkin_span_start
 *
 * A span that was joined goes on as the other half of the client's. Returns 0; -1 if it is too late, as a
 * part of the span has been recorded under the old kind.
 */
static inline int blkin_span_kind(
	struct blkin_span *span, enum blkin_kind kind, const struct blkin_endpoint *local)
{
	char head[44 + BLKIN_ENDPOINT_TEXT_], *old = span->text + span->head;
	uint32_t size, lines = span->used - span->lines;
	int shared;

	if (!span->recording)
		return 0;
	if (span->pieces)
		return -1;
	shared = strncmp(old + strcspn(old, ", "), ",shared", 7) == 0;
	size = (uint32_t)(blkin_put_endpoint_(blkin_span_put_kind_(span, head, kind, shared), local) - head);
	memmove(old + size, span->text + span->lines, lines);
	memcpy(old, head, size);
	span->lines = span->head + size;
	span->used = span->lines + lines;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif
