/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The assembly of spans from events.
 *
 * A blkin:span event without pieces is a span by itself. Classic annotations, and pieces, are gathered by
 * (trace id, span id, service) until the span ends (cr or ss, and a grace for what follows; a piece's span
 * event) or has been silent for `linger`; memory is bounded, and when it runs short the spans that were
 * silent longest go first, cut short.
 *
 * Timestamp and duration are explicit in every span: the first event, and max(1, last - first) microseconds;
 * for blkin:span the program's own start and finish.
 */
#ifndef ASSEMBLE_ASSEMBLER_H
#define ASSEMBLE_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"
#include "core/event.h"
#include "core/ledger.h"
#include "core/span.h"

struct assembler_limits {
	int64_t linger_ns;
	int64_t grace_ns;
	size_t max_bytes; /* of pending spans */
};

struct assembler;

/*
 * @emit is called with @data for each span that is ready; @change is the caller's ledger change, to which the
 * assembler adds what becomes of events and spans: one that is emitted is no longer pending.
 */
struct assembler *assembler_create(const struct assembler_limits *limits, struct ledger *change,
	void (*emit)(void *data, const struct span *span), void *data);
/* Others count from now on; a span that is pending keeps the deadline that it has. */
void assembler_configure(struct assembler *assembler, const struct assembler_limits *limits);

void assembler_destroy(struct assembler *assembler);

/* Takes a decoded event; @now is the caller's clock in ns, which linger and grace go by. */
void assembler_take(struct assembler *assembler, const struct event *event, int64_t now);

/* Emits the spans whose time has come at @now. */
void assembler_expire(struct assembler *assembler, int64_t now);

/* Emits every span that is pending. */
void assembler_flush(struct assembler *assembler);

/* Appends the spans that are pending at @now, for a checkpoint. */
void assembler_save(const struct assembler *assembler, int64_t now, struct buffer *out);

/* Takes up the spans that assembler_save wrote; false if they are damaged, and then it takes none. */
bool assembler_load(struct assembler *assembler, struct unpacker from, int64_t now);

/* Bytes that pending spans take. */
size_t assembler_bytes(const struct assembler *assembler);

#endif
