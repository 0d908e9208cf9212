/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any event as OpenTelemetry's protocol has it (opentelemetry/proto/logs/v1/logs.proto): a LogRecord, in an
 * item with its process, as encode/otlp.h has it for spans. doc/events.md says how each field looks.
 */
#ifndef ENCODE_EVENTOTLP_H
#define ENCODE_EVENTOTLP_H

#include "base/buffer.h"
#include "core/eventrecord.h"

/* What the encoder keeps from one event to the next; zeroed at first. */
struct eventotlp {
	const char *host;    /* borrowed: this node's name, which each resource has */
	struct buffer cut;   /* an attribute that comes last, */
	struct buffer place; /* and a pointer */
};

void eventotlp_free(struct eventotlp *memory);

/* Appends the event of a record; false, having appended nothing, if it is damaged, or becomes too large. */
bool eventotlp_put(struct eventotlp *memory, struct buffer *out, const uint8_t *record, size_t size);

#endif
