/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assembles spans from events.
 *
 * A blkin:span event without pieces is a complete span. Classic annotations are collected by (trace id, span
 * id, service), and pieces also by the upper half of the trace id, the span's kind and the user, until the
 * span ends (cr or ss and then `grace`; for pieces, their span event) or has been silent for `linger`. Memory
 * is bounded; when it runs short, the spans that were silent longest are emitted incomplete.
 *
 * Every span has a timestamp and a duration: the time of the first event, and max(1, last - first)
 * microseconds; for blkin:span the program's own start and finish.
 *
 * A blkin:span event says how many pieces its program recorded before. If some have not come, as LTTng
 * discards an event that is too large or finds no room, the span has a tag that says so; not if it began
 * before what was loaded, as what had come of it by then may be gone.
 */
#ifndef READER_ASSEMBLE_ASSEMBLER_H
#define READER_ASSEMBLE_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"
#include "core/event.h"
#include "core/ledger.h"
#include "core/misuse.h"
#include "core/span.h"

struct assembler_limits {
	int64_t linger_ns;
	int64_t grace_ns;
	size_t max_bytes; /* used by pending spans */
};

struct assembler;

/*
 * @emit is called with @data for each complete span. @change is the caller's ledger change, to which the
 * assembler adds what becomes of events and spans; an emitted span is no longer pending.
 */
struct assembler *assembler_create(const struct assembler_limits *limits, struct ledger *change,
	void (*emit)(void *data, const struct span *span), void *data);
/* Changes the limits, @now: pending spans wait no longer than spans that come now. */
void assembler_configure(struct assembler *assembler, const struct assembler_limits *limits, int64_t now);

void assembler_destroy(struct assembler *assembler);

/* Adds a decoded event; @now is the caller's clock in ns, by which linger and grace are measured. */
void assembler_take(struct assembler *assembler, const struct event *event, int64_t now);

/* Emits the spans whose deadline has passed at @now. */
void assembler_expire(struct assembler *assembler, int64_t now);

/* Emits all pending spans. */
void assembler_flush(struct assembler *assembler);

/* Appends the spans pending at @now, for a checkpoint. */
void assembler_save(const struct assembler *assembler, int64_t now, struct buffer *out);

/* Loads the spans that assembler_save wrote, up to their end. Returns false, having loaded none, if they are
 * damaged. */
bool assembler_load(struct assembler *assembler, struct unpacker *from, int64_t now);

/* What was recorded wrongly, for the caller to take. */
struct misuses *assembler_misuses(struct assembler *assembler);

/* Bytes that pending spans use. */
size_t assembler_bytes(const struct assembler *assembler);

#endif
