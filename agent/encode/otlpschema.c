/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpschema.h"

#include "net/otlpfields.h"
#include "net/protobuf.h"

#define SHARED(name, ...)                                                                                    \
	static const struct otlp_field name##_fields[] = {__VA_ARGS__};                                      \
	const struct otlp_message name = {name##_fields, sizeof(name##_fields) / sizeof(*name##_fields)}
#define MESSAGE(name, ...)                                                                                   \
	static const struct otlp_field name##_fields[] = {__VA_ARGS__};                                      \
	static const struct otlp_message name = {                                                            \
		name##_fields, sizeof(name##_fields) / sizeof(*name##_fields)}
#define FIELD(number, kind, name)                                                                            \
	{                                                                                                    \
		number, kind, name, NULL, NULL                                                               \
	}
#define ONE(number, name, of)                                                                                \
	{                                                                                                    \
		number, OTLP_MESSAGE, name, of, NULL                                                         \
	}
#define MANY(number, name, of)                                                                               \
	{                                                                                                    \
		number, OTLP_MESSAGES, name, of, NULL                                                        \
	}

static const struct otlp_message array_value, key_value_list;

SHARED(otlp_any_value, FIELD(ANYVALUE_STRING, OTLP_TEXT, "stringValue"),
	FIELD(ANYVALUE_BOOL, OTLP_BOOL, "boolValue"), FIELD(ANYVALUE_INT, OTLP_LONG, "intValue"),
	FIELD(ANYVALUE_DOUBLE, OTLP_DOUBLE, "doubleValue"), ONE(ANYVALUE_ARRAY, "arrayValue", &array_value),
	ONE(ANYVALUE_MAP, "kvlistValue", &key_value_list), FIELD(ANYVALUE_BYTES, OTLP_BYTES, "bytesValue"));

SHARED(otlp_key_value, FIELD(KEYVALUE_KEY, OTLP_TEXT, "key"), ONE(KEYVALUE_VALUE, "value", &otlp_any_value));

MESSAGE(array_value, MANY(ARRAY_VALUES, "values", &otlp_any_value));

MESSAGE(key_value_list, MANY(MAP_VALUES, "values", &otlp_key_value));

SHARED(otlp_event, FIELD(EVENT_TIME, OTLP_TIME, "timeUnixNano"), FIELD(EVENT_NAME, OTLP_TEXT, "name"),
	MANY(EVENT_ATTRIBUTES, "attributes", &otlp_key_value),
	FIELD(EVENT_DROPPED, OTLP_COUNT, "droppedAttributesCount"));

SHARED(otlp_link, FIELD(LINK_TRACE_ID, OTLP_HEX, "traceId"), FIELD(LINK_ID, OTLP_HEX, "spanId"),
	FIELD(LINK_TRACE_STATE, OTLP_TEXT, "traceState"),
	MANY(LINK_ATTRIBUTES, "attributes", &otlp_key_value),
	FIELD(LINK_DROPPED, OTLP_COUNT, "droppedAttributesCount"), FIELD(LINK_FLAGS, OTLP_FLAGS, "flags"));

static const char *const codes[] = {"STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR", NULL};

MESSAGE(status, FIELD(STATUS_MESSAGE, OTLP_TEXT, "message"), {STATUS_CODE, OTLP_ENUM, "code", NULL, codes});

static const char *const kinds[] = {"SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER",
	"SPAN_KIND_CLIENT", "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER", NULL};

SHARED(otlp_span, FIELD(SPAN_TRACE_ID, OTLP_HEX, "traceId"), FIELD(SPAN_ID, OTLP_HEX, "spanId"),
	FIELD(SPAN_TRACE_STATE, OTLP_TEXT, "traceState"), FIELD(SPAN_PARENT_ID, OTLP_HEX, "parentSpanId"),
	FIELD(SPAN_NAME, OTLP_TEXT, "name"), {SPAN_KIND, OTLP_ENUM, "kind", NULL, kinds},
	FIELD(SPAN_START, OTLP_TIME, "startTimeUnixNano"), FIELD(SPAN_END, OTLP_TIME, "endTimeUnixNano"),
	MANY(SPAN_ATTRIBUTES, "attributes", &otlp_key_value),
	FIELD(SPAN_DROPPED_ATTRIBUTES, OTLP_COUNT, "droppedAttributesCount"),
	MANY(SPAN_EVENTS, "events", &otlp_event),
	FIELD(SPAN_DROPPED_EVENTS, OTLP_COUNT, "droppedEventsCount"), MANY(SPAN_LINKS, "links", &otlp_link),
	FIELD(SPAN_DROPPED_LINKS, OTLP_COUNT, "droppedLinksCount"), ONE(SPAN_STATUS, "status", &status),
	FIELD(SPAN_FLAGS, OTLP_FLAGS, "flags"));

SHARED(otlp_scope, FIELD(SCOPE_NAME, OTLP_TEXT, "name"), FIELD(SCOPE_VERSION, OTLP_TEXT, "version"),
	MANY(SCOPE_ATTRIBUTES, "attributes", &otlp_key_value),
	FIELD(SCOPE_DROPPED, OTLP_COUNT, "droppedAttributesCount"));

SHARED(otlp_scope_spans, ONE(SCOPE_SPANS_SCOPE, "scope", &otlp_scope),
	MANY(SCOPE_SPANS_SPANS, "spans", &otlp_span), FIELD(SCOPE_SPANS_SCHEMA, OTLP_TEXT, "schemaUrl"));

SHARED(otlp_resource, MANY(RESOURCE_ATTRIBUTES, "attributes", &otlp_key_value),
	FIELD(RESOURCE_DROPPED, OTLP_COUNT, "droppedAttributesCount"));

SHARED(otlp_resource_spans, ONE(RESOURCE_SPANS_RESOURCE, "resource", &otlp_resource),
	MANY(RESOURCE_SPANS_SCOPE_SPANS, "scopeSpans", &otlp_scope_spans),
	FIELD(RESOURCE_SPANS_SCHEMA, OTLP_TEXT, "schemaUrl"));

SHARED(otlp_request, MANY(REQUEST_RESOURCE_SPANS, "resourceSpans", &otlp_resource_spans));

#define SEVERITY(name)                                                                                       \
	"SEVERITY_NUMBER_" name, "SEVERITY_NUMBER_" name "2", "SEVERITY_NUMBER_" name "3",                   \
		"SEVERITY_NUMBER_" name "4"

static const char *const severities[] = {"SEVERITY_NUMBER_UNSPECIFIED", SEVERITY("TRACE"), SEVERITY("DEBUG"),
	SEVERITY("INFO"), SEVERITY("WARN"), SEVERITY("ERROR"), SEVERITY("FATAL"), NULL};

SHARED(otlp_log_record, FIELD(LOG_TIME, OTLP_TIME, "timeUnixNano"),
	{LOG_SEVERITY, OTLP_ENUM, "severityNumber", NULL, severities},
	FIELD(LOG_SEVERITY_TEXT, OTLP_TEXT, "severityText"), ONE(LOG_BODY, "body", &otlp_any_value),
	MANY(LOG_ATTRIBUTES, "attributes", &otlp_key_value),
	FIELD(LOG_DROPPED, OTLP_COUNT, "droppedAttributesCount"), FIELD(LOG_FLAGS, OTLP_FLAGS, "flags"),
	FIELD(LOG_TRACE_ID, OTLP_HEX, "traceId"), FIELD(LOG_SPAN_ID, OTLP_HEX, "spanId"),
	FIELD(LOG_OBSERVED_TIME, OTLP_TIME, "observedTimeUnixNano"),
	FIELD(LOG_EVENT_NAME, OTLP_TEXT, "eventName"));

SHARED(otlp_scope_logs, ONE(SCOPE_SPANS_SCOPE, "scope", &otlp_scope),
	MANY(SCOPE_SPANS_SPANS, "logRecords", &otlp_log_record),
	FIELD(SCOPE_SPANS_SCHEMA, OTLP_TEXT, "schemaUrl"));

SHARED(otlp_resource_logs, ONE(RESOURCE_SPANS_RESOURCE, "resource", &otlp_resource),
	MANY(RESOURCE_SPANS_SCOPE_SPANS, "scopeLogs", &otlp_scope_logs),
	FIELD(RESOURCE_SPANS_SCHEMA, OTLP_TEXT, "schemaUrl"));

SHARED(otlp_logs_request, MANY(REQUEST_RESOURCE_SPANS, "resourceLogs", &otlp_resource_logs));

unsigned otlp_type_of(enum otlp_kind kind)
{
	switch (kind) {
	case OTLP_ENUM:
	case OTLP_COUNT:
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
