/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of OTLP that an ExportTraceServiceRequest, and one of logs, has in it, with their names in
 * JSON. */
#ifndef ENCODE_OTLPSCHEMA_H
#define ENCODE_OTLPSCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a field stands in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
enum otlp_kind {
	OTLP_TEXT,
	OTLP_HEX,    /* an id */
	OTLP_BYTES,  /* any, in base64 */
	OTLP_ENUM,   /* a varint, as a number; read, also as its name */
	OTLP_COUNT,  /* a varint, as a number */
	OTLP_LONG,   /* a signed varint, as a text */
	OTLP_TIME,   /* eight bytes, as a text */
	OTLP_FLAGS,  /* four bytes, as a number */
	OTLP_DOUBLE, /* a number; a text where JSON has no number */
	OTLP_BOOL,
	OTLP_MESSAGE,
	OTLP_MESSAGES /* a list of them */
};

struct otlp_field {
	uint32_t number;
	enum otlp_kind kind;
	const char *name;
	const struct otlp_message *of;
	const char *const *names; /* of an enum's numbers, up to NULL */
};

struct otlp_message {
	const struct otlp_field *fields;
	size_t count; /* 16 at most */
};

/* The whole request, and those below it that mean something by themselves. */
extern const struct otlp_message otlp_request, otlp_resource_spans, otlp_resource, otlp_scope_spans,
	otlp_scope, otlp_span, otlp_event, otlp_link, otlp_key_value;

/* The same of logs. */
extern const struct otlp_message otlp_logs_request, otlp_resource_logs, otlp_scope_logs, otlp_log_record;

/* What may be in itself: the value of an attribute. */
extern const struct otlp_message otlp_any_value;

/* The message's field of the number; NULL: none is known. In most messages they are numbered from 1. */
static inline const struct otlp_field *otlp_field_of(const struct otlp_message *of, uint32_t number)
{
	if (number - 1 < of->count && of->fields[number - 1].number == number)
		return &of->fields[number - 1];
	for (size_t i = 0; i < of->count; i++)
		if (of->fields[i].number == number)
			return &of->fields[i];
	return NULL;
}

/* The protobuf.h type of a kind. */
unsigned otlp_type_of(enum otlp_kind kind);

#endif
