/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OTLP's JSON as Protocol Buffers, which its readers read:
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. Numbers may be texts and the other way
 * round, enums may be names, what is null is not there, and what is not known does not count.
 */
#ifndef ENCODE_OTLPFROMJSON_H
#define ENCODE_OTLPFROMJSON_H

#include "base/buffer.h"
#include "encode/otlpschema.h"

/*
 * Appends the message; false if the text is no JSON of one, and then something may have been appended. @room
 * is overwritten. An id of another size than ids have stays of another size. Values that are nested deeper
 * than core/value.h has them are none; so deep that nobody would go over them, the text is damaged.
 */
bool otlpfromjson(struct buffer *out, const struct otlp_message *of, const char *text, size_t size,
	struct buffer *room);

#endif
