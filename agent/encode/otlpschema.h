/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of OTLP that an ExportTraceServiceRequest of ours has in it, with their names in JSON. */
#ifndef ENCODE_OTLPSCHEMA_H
#define ENCODE_OTLPSCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a field stands in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
enum otlp_kind {
	OTLP_TEXT,
	OTLP_HEX,    /* an id */
	OTLP_ENUM,   /* a varint, as a number */
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
};

struct otlp_message {
	const struct otlp_field *fields;
	size_t count; /* 16 at most */
};

/* The whole request, from which the others follow. */
extern const struct otlp_message otlp_request;

/* The protobuf.h type of a kind. */
unsigned otlp_type_of(enum otlp_kind kind);

#endif
