/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any event as OpenTelemetry's protocol has it (opentelemetry/proto/logs/v1/logs.proto): a LogRecord, in an
 * item with its process, as encode/otlp.h has it for spans. doc/events.md says how each field looks.
 */
#ifndef READ_EVENTOTLP_H
#define READ_EVENTOTLP_H

#include "base/buffer.h"
#include "read/eventseen.h"

/* What the encoder keeps from one event to the next; zeroed at first. */
struct event_otlp {
	const char *host;    /* borrowed: this node's name, which each resource has */
	struct buffer cut;   /* an attribute that comes last, */
	struct buffer place; /* and a pointer */
};

void event_otlp_free(struct event_otlp *otlp);

/* Appends the event to @out, as seen @now; false, having appended nothing, if it is too large. */
bool event_otlp_put(struct event_otlp *otlp, struct buffer *out, const struct event_seen *event, int64_t now);

#endif
