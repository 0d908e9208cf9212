/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of OTLP's messages, into memory that is there: what otlp.c and otlpwhole.c share. */
#ifndef ENCODE_OTLPPUT_H
#define ENCODE_OTLPPUT_H

#include <glib.h>

#include "base/utf8.h"
#include "encode/tagnumber.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"

/* Of texts so short, also of two, all lengths are one byte: the compiler leaves out what is for longer ones.
 */
#define SHORT 60

/* What the parts of one span share. */
struct encoding {
	uint8_t *at;
	bool broken; /* a text is not UTF-8 */
};

#define LITERAL(literal) ((struct text){literal, sizeof(literal) - 1})

static inline void put_text(struct encoding *encoding, struct text text)
{
	if (!utf8_copy_ascii((char *)encoding->at, text.data, text.size))
		encoding->broken |= !utf8_valid(text.data, text.size);
	encoding->at += text.size;
}

static inline void put_text_field(struct encoding *encoding, uint32_t field, struct text text)
{
	encoding->at = protobuf_put_head(encoding->at, field, text.size);
	put_text(encoding, text);
}

static inline size_t name_size(struct text name)
{
	return name.size ? protobuf_bytes_size(name.size) : 0;
}

/* As the generated code, which leaves out what is empty. */
static inline void put_name(struct encoding *encoding, uint32_t field, struct text name)
{
	if (name.size)
		put_text_field(encoding, field, name);
}

/* Attributes: a KeyValue, whose value is an AnyValue of @size bytes that is to follow. */
static inline void put_key(struct encoding *encoding, uint32_t field, struct text key, size_t size)
{
	encoding->at = protobuf_put_head(
		encoding->at, field, protobuf_bytes_size(key.size) + protobuf_bytes_size(size));
	put_text_field(encoding, KEYVALUE_KEY, key);
	encoding->at = protobuf_put_head(encoding->at, KEYVALUE_VALUE, size);
}

static inline void put_string_of(
	struct encoding *encoding, uint32_t field, struct text key, struct text value)
{
	put_key(encoding, field, key, protobuf_bytes_size(value.size));
	put_text_field(encoding, ANYVALUE_STRING, value);
}

static __attribute__((noinline)) void put_long_string(
	struct encoding *encoding, uint32_t field, struct text key, struct text value)
{
	put_string_of(encoding, field, key, value);
}

static inline void put_string(struct encoding *encoding, uint32_t field, struct text key, struct text value)
{
	if (key.size < SHORT && value.size < SHORT)
		put_string_of(encoding, field, key, value);
	else
		put_long_string(encoding, field, key, value);
}

static inline void put_varint(struct encoding *encoding, uint32_t field, uint64_t number)
{
	encoding->at = protobuf_put_varint(protobuf_put_field(encoding->at, field, PROTOBUF_VARINT), number);
}

static __attribute__((unused)) void put_int(
	struct encoding *encoding, uint32_t field, struct text key, uint64_t number)
{
	put_key(encoding, field, key, 1 + protobuf_varint_size(number));
	put_varint(encoding, ANYVALUE_INT, number);
}

static __attribute__((unused)) void put_bool(
	struct encoding *encoding, uint32_t field, struct text key, bool value)
{
	put_key(encoding, field, key, 2);
	put_varint(encoding, ANYVALUE_BOOL, value);
}

static __attribute__((unused)) void put_double(
	struct encoding *encoding, uint32_t field, struct text key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_key(encoding, field, key, 9);
	encoding->at = protobuf_put_i64(encoding->at, ANYVALUE_DOUBLE, bits);
}

static __attribute__((unused)) uint8_t *put_id(uint8_t *to, uint64_t id)
{
	id = GUINT64_TO_BE(id);
	memcpy(to, &id, 8);
	return to + 8;
}

#endif
