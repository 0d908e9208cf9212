/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/format.h"

#include "core/record.h"
#include "encode/otlp.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "net/trail.h"

int format_encode(uint8_t format, struct buffer *out, const struct span *span)
{
	switch (format) {
	case BATCH_SPAN_RECORDS:
		return record_put(out, span);
	case BATCH_ZIPKIN_JSON:
		return zipkinjson_encode(out, span);
	case BATCH_OTLP_SPANS:
		return otlp_encode(out, span);
	default:
		return zipkin_encode(out, span);
	}
}

/* In Thrift, a span that came from another agent begins with how far it has come. */
bool format_again(
	uint8_t format, struct buffer *out, const struct span *span, const uint8_t *item, size_t size)
{
	size_t before = out->size;
	struct trail trail;

	if (format == BATCH_ZIPKIN_SPANS)
		buffer_put(out, item, trail_read(item, size, &trail));
	if (format_encode(format, out, span) >= 0)
		return true;
	out->size = before;
	return false;
}
