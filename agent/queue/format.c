/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/format.h"

#include "core/record.h"
#include "encode/otlp.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "wire/trail.h"

static enum batch_format format_of_kafka(const struct output_config *output)
{
	static const enum batch_format formats[] = {
		[CONFIG_FORMAT_THRIFT] = BATCH_ZIPKIN_SPANS,
		[CONFIG_FORMAT_JSON2] = BATCH_ZIPKIN_JSON,
		[CONFIG_FORMAT_OTLP] = BATCH_OTLP_SPANS,
	};

	return formats[output->format];
}

static enum batch_format format_of_spans(const struct output_config *output)
{
	bool file = output->type == CONFIG_OUTPUT_FILE,
	     json = file || (output->type == CONFIG_OUTPUT_HTTP && output->format == CONFIG_FORMAT_JSON2);

	if (output->type == CONFIG_OUTPUT_KAFKA)
		return format_of_kafka(output);
	/* of which files get JSON, when they are written */
	if (output->type == CONFIG_OUTPUT_OTLP || (file && output->format == CONFIG_FORMAT_OTLP_JSON))
		return BATCH_OTLP_SPANS;
	return json ? BATCH_ZIPKIN_JSON : BATCH_ZIPKIN_SPANS;
}

enum batch_format format_of(const struct output_config *output, enum kind kind)
{
	if (kind == KIND_MESSAGES)
		return BATCH_MESSAGES;
	if (kind == KIND_EVENTS)
		return output->type == CONFIG_OUTPUT_OTLP ? BATCH_EVENT_OTLP : BATCH_EVENT_JSON;
	return format_of_spans(output);
}

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
