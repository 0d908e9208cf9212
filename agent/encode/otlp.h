/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encoding: a span as OpenTelemetry's protocol has it (opentelemetry/proto/trace/v1/trace.proto), as one of
 * its SDKs would have made it, written by hand; one that an SDK has made, as it was.
 *
 * OTLP puts spans below the resource, the process that they come from. An item is a span by itself, so it has
 * both: net/otlpitem.h. net/otlprequest.h puts items of one process together, and adds what the node knows
 * to those that no SDK has made.
 *
 * An annotation is an event. The tag `error` is the status. The remote endpoint is told by peer.service,
 * server.address and server.port; where a server tells of its client, by client.address and client.port. A
 * tag of the program with one of these keys takes the place of ours. The local endpoint is in the resource,
 * as network.local.address and network.local.port. What OTLP has no word for is in the attributes
 * zipkin.shared and zipkin.debug. Of tags with the same key the last one counts.
 *
 * Of a span with `more`, none of that: all its tags are attributes, its status and its process are those that
 * it has.
 *
 * An output's own tags are attributes of the resource that has none of that name, here or from the node.
 * Invalid UTF-8 becomes U+FFFD.
 */
#ifndef ENCODE_OTLP_H
#define ENCODE_OTLP_H

#include "base/buffer.h"
#include "core/span.h"

/* Of what the agent makes up: what stands before the attributes. */
#define OTLP_ITEM_HEAD 8

void otlp_put_item_head(uint8_t head[OTLP_ITEM_HEAD], uint32_t size, uint32_t pid);

/* A span that could become larger than this is not encoded. */
#define OTLP_SPAN_MAX (16 * 1024 * 1024)

/* Appends @span as an item to @out; returns how many of its texts were repaired, or -1 if it is too large. */
int otlp_encode(struct buffer *out, const struct span *span);

#endif
