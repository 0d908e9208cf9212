/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of a resource of OTLP, of text that is known to be UTF-8. */
#ifndef NET_OTLPATTRIBUTE_H
#define NET_OTLPATTRIBUTE_H

#include "core/text.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"

/* A KeyValue, whose value is an AnyValue of @value_size bytes that is to follow. */
static inline uint8_t *otlpattribute_put_key(uint8_t *to, struct text key, size_t value_size)
{
	to = protobuf_put_head(
		to, RESOURCE_ATTRIBUTES, protobuf_bytes_size(key.size) + protobuf_bytes_size(value_size));
	to = protobuf_put_bytes(to, KEYVALUE_KEY, key.data, key.size);
	return protobuf_put_head(to, KEYVALUE_VALUE, value_size);
}

static inline uint8_t *otlpattribute_put(uint8_t *to, struct text key, struct text value)
{
	to = otlpattribute_put_key(to, key, protobuf_bytes_size(value.size));
	return protobuf_put_bytes(to, ANYVALUE_STRING, value.data, value.size);
}

#endif
