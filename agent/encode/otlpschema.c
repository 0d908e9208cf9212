/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpschema.h"

#include "wire/otlpfields.h"
#include "wire/protobuf.h"

#define MESSAGE(name, ...)                                                                                   \
	static const struct otlp_field name##_fields[] = {__VA_ARGS__};                                      \
	static const struct otlp_message name = {                                                            \
		name##_fields, sizeof(name##_fields) / sizeof(*name##_fields)}

MESSAGE(any_value, {ANYVALUE_STRING, OTLP_TEXT, "stringValue", NULL},
	{ANYVALUE_BOOL, OTLP_BOOL, "boolValue", NULL}, {ANYVALUE_INT, OTLP_LONG, "intValue", NULL},
	{ANYVALUE_DOUBLE, OTLP_DOUBLE, "doubleValue", NULL});

MESSAGE(key_value, {KEYVALUE_KEY, OTLP_TEXT, "key", NULL},
	{KEYVALUE_VALUE, OTLP_MESSAGE, "value", &any_value});

MESSAGE(event, {EVENT_TIME, OTLP_TIME, "timeUnixNano", NULL}, {EVENT_NAME, OTLP_TEXT, "name", NULL});

MESSAGE(status, {STATUS_MESSAGE, OTLP_TEXT, "message", NULL}, {STATUS_CODE, OTLP_ENUM, "code", NULL});

MESSAGE(span, {SPAN_TRACE_ID, OTLP_HEX, "traceId", NULL}, {SPAN_ID, OTLP_HEX, "spanId", NULL},
	{SPAN_PARENT_ID, OTLP_HEX, "parentSpanId", NULL}, {SPAN_NAME, OTLP_TEXT, "name", NULL},
	{SPAN_KIND, OTLP_ENUM, "kind", NULL}, {SPAN_START, OTLP_TIME, "startTimeUnixNano", NULL},
	{SPAN_END, OTLP_TIME, "endTimeUnixNano", NULL},
	{SPAN_ATTRIBUTES, OTLP_MESSAGES, "attributes", &key_value},
	{SPAN_EVENTS, OTLP_MESSAGES, "events", &event}, {SPAN_STATUS, OTLP_MESSAGE, "status", &status},
	{SPAN_FLAGS, OTLP_FLAGS, "flags", NULL});

MESSAGE(scope, {SCOPE_NAME, OTLP_TEXT, "name", NULL}, {SCOPE_VERSION, OTLP_TEXT, "version", NULL});

MESSAGE(scope_spans, {SCOPE_SPANS_SCOPE, OTLP_MESSAGE, "scope", &scope},
	{SCOPE_SPANS_SPANS, OTLP_MESSAGES, "spans", &span});

MESSAGE(resource, {RESOURCE_ATTRIBUTES, OTLP_MESSAGES, "attributes", &key_value});

MESSAGE(resource_spans, {RESOURCE_SPANS_RESOURCE, OTLP_MESSAGE, "resource", &resource},
	{RESOURCE_SPANS_SCOPE_SPANS, OTLP_MESSAGES, "scopeSpans", &scope_spans});

static const struct otlp_field request_fields[] = {
	{REQUEST_RESOURCE_SPANS, OTLP_MESSAGES, "resourceSpans", &resource_spans}};
const struct otlp_message otlp_request = {request_fields, 1};

unsigned otlp_type_of(enum otlp_kind kind)
{
	switch (kind) {
	case OTLP_ENUM:
	case OTLP_LONG:
	case OTLP_BOOL:
		return PROTOBUF_VARINT;
	case OTLP_TIME:
	case OTLP_DOUBLE:
		return PROTOBUF_I64;
	case OTLP_FLAGS:
		return PROTOBUF_I32;
	default:
		return PROTOBUF_BYTES;
	}
}
