/* SPDX-License-Identifier: BSD-2-Clause */
/* The names and numbers of OTLP's messages: trace_service.proto, trace.proto, resource.proto, common.proto.
 */
#ifndef NET_OTLPFIELDS_H
#define NET_OTLPFIELDS_H

/* What is around spans is around log records, too: ResourceLogs, ScopeLogs. */
enum { REQUEST_RESOURCE_SPANS = 1 };
enum { RESOURCE_SPANS_RESOURCE = 1, RESOURCE_SPANS_SCOPE_SPANS = 2, RESOURCE_SPANS_SCHEMA = 3 };
enum { SCOPE_SPANS_SCOPE = 1, SCOPE_SPANS_SPANS = 2, SCOPE_SPANS_SCHEMA = 3 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2, SCOPE_ATTRIBUTES = 3, SCOPE_DROPPED = 4 };
enum { RESPONSE_PARTIAL_SUCCESS = 1 };
enum { PARTIAL_SUCCESS_REJECTED = 1, PARTIAL_SUCCESS_MESSAGE = 2 };
enum { RPC_STATUS_MESSAGE = 2 }; /* google.rpc.Status, the body of an error */
enum { RESOURCE_ATTRIBUTES = 1, RESOURCE_DROPPED = 2 };
enum { KEYVALUE_KEY = 1, KEYVALUE_VALUE = 2 };
enum {
	ANYVALUE_STRING = 1,
	ANYVALUE_BOOL = 2,
	ANYVALUE_INT = 3,
	ANYVALUE_DOUBLE = 4,
	ANYVALUE_ARRAY = 5,
	ANYVALUE_MAP = 6,
	ANYVALUE_BYTES = 7
};
enum { ARRAY_VALUES = 1, MAP_VALUES = 1 };
enum {
	SPAN_TRACE_ID = 1,
	SPAN_ID = 2,
	SPAN_TRACE_STATE = 3,
	SPAN_PARENT_ID = 4,
	SPAN_NAME = 5,
	SPAN_KIND = 6,
	SPAN_START = 7,
	SPAN_END = 8,
	SPAN_ATTRIBUTES = 9,
	SPAN_DROPPED_ATTRIBUTES = 10,
	SPAN_EVENTS = 11,
	SPAN_DROPPED_EVENTS = 12,
	SPAN_LINKS = 13,
	SPAN_DROPPED_LINKS = 14,
	SPAN_STATUS = 15,
	SPAN_FLAGS = 16
};
enum { EVENT_TIME = 1, EVENT_NAME = 2, EVENT_ATTRIBUTES = 3, EVENT_DROPPED = 4 };
enum {
	LINK_TRACE_ID = 1,
	LINK_ID = 2,
	LINK_TRACE_STATE = 3,
	LINK_ATTRIBUTES = 4,
	LINK_DROPPED = 5,
	LINK_FLAGS = 6
};
enum { STATUS_MESSAGE = 2, STATUS_CODE = 3 };
enum {
	LOG_TIME = 1,
	LOG_SEVERITY = 2,
	LOG_SEVERITY_TEXT = 3,
	LOG_BODY = 5,
	LOG_ATTRIBUTES = 6,
	LOG_DROPPED = 7,
	LOG_FLAGS = 8,
	LOG_TRACE_ID = 9,
	LOG_SPAN_ID = 10,
	LOG_OBSERVED_TIME = 11,
	LOG_EVENT_NAME = 12
};

/* Values */
enum { OTLP_INTERNAL = 1, OTLP_SERVER = 2, OTLP_CLIENT = 3, OTLP_PRODUCER = 4, OTLP_CONSUMER = 5 };
enum { STATUS_ERROR = 2 };
enum { OTLP_SAMPLED = 1 }; /* of the flags, which are W3C's */

/* Attributes, by OpenTelemetry's semantic conventions, and two that they have no word for. */
#define OTLP_HOST "host.name"
#define OTLP_SDK_NAME "telemetry.sdk.name"
#define OTLP_SDK_OURS "blkin"
#define OTLP_SDK_LANGUAGE "telemetry.sdk.language"
#define OTLP_SDK_VERSION "telemetry.sdk.version"
#define OTLP_INSTANCE "service.instance.id"
#define OTLP_PID "process.pid"
#define OTLP_SERVICE "service.name"
#define OTLP_NO_SERVICE "unknown_service"
#define OTLP_PROGRAM "process.executable.name"
#define OTLP_LOCAL_ADDRESS "network.local.address"
#define OTLP_LOCAL_PORT "network.local.port"
#define OTLP_PEER_SERVICE "peer.service"
#define OTLP_SERVER_ADDRESS "server.address"
#define OTLP_SERVER_PORT "server.port"
#define OTLP_CLIENT_ADDRESS "client.address"
#define OTLP_CLIENT_PORT "client.port"
#define OTLP_SHARED "zipkin.shared"
#define OTLP_DEBUG "zipkin.debug"

/* Of events: what the conventions have no word for begins with the tracer's name, or with ours. */
#define OTLP_THREAD "thread.id"
#define OTLP_USER "process.user.id"
#define OTLP_CPU "cpu.logical_number"
#define OTLP_DOMAIN "lttng.domain"
#define OTLP_CONTEXT "lttng.context."
#define OTLP_PACKET "lttng.packet."
#define OTLP_CLOCK "lttng.clock"
#define OTLP_CUT "blkin.cut"

#endif
