/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpvalue.h"

#include <string.h>

#include "base/shortest.h"
#include "base/utf8.h"
#include "encode/jsonvalue.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"

/* A field's head, and a value within a value. */
#define HEAD_ROOM (2 * (PROTOBUF_FIELD_MAX + PROTOBUF_VARINT_MAX))

/* Makes room for the head and @size bytes. */
static uint8_t *reserve(struct buffer *out, size_t size)
{
	return buffer_reserve(out, HEAD_ROOM + size);
}

static void end_at(struct buffer *out, const uint8_t *end)
{
	out->size = (size_t)(end - out->data);
}

/* Most messages are short: a byte is kept for the size, and what turns out longer is moved. */
size_t otlpvalue_open(struct buffer *out, uint32_t field)
{
	uint8_t *to = protobuf_put_field(reserve(out, 0), field, PROTOBUF_BYTES);

	*to++ = 0;
	end_at(out, to);
	return out->size;
}

void otlpvalue_close(struct buffer *out, size_t begin)
{
	size_t size = out->size - begin, more = protobuf_varint_size(size) - 1;
	uint8_t *at;

	reserve(out, more);
	at = out->data + begin;
	if (more)
		memmove(at + more, at, size);
	protobuf_put_varint(at - 1, size);
	out->size += more;
}

void otlpvalue_bool(struct buffer *out, uint32_t field, bool value)
{
	uint8_t *to = protobuf_put_head(reserve(out, 0), field, 2);

	to = protobuf_put_varint(protobuf_put_field(to, ANYVALUE_BOOL, PROTOBUF_VARINT), value);
	end_at(out, to);
}

void otlpvalue_signed(struct buffer *out, uint32_t field, int64_t value)
{
	uint64_t bits = (uint64_t)value;
	uint8_t *to = protobuf_put_head(reserve(out, 0), field, 1 + protobuf_varint_size(bits));

	to = protobuf_put_varint(protobuf_put_field(to, ANYVALUE_INT, PROTOBUF_VARINT), bits);
	end_at(out, to);
}

void otlpvalue_unsigned(struct buffer *out, uint32_t field, uint64_t value)
{
	char digits[JSONVALUE_MAX];

	if (value <= INT64_MAX) {
		otlpvalue_signed(out, field, (int64_t)value);
		return;
	}
	otlpvalue_text(
		out, field, (struct text){digits, (uint32_t)(jsonvalue_unsigned(digits, value) - digits)});
}

void otlpvalue_real(struct buffer *out, uint32_t field, double value)
{
	const char *word = shortest_word(value);
	uint64_t bits;
	uint8_t *to;

	if (word) {
		otlpvalue_text(out, field, (struct text){word, (uint32_t)strlen(word)});
		return;
	}
	to = protobuf_put_head(reserve(out, 0), field, 9);
	memcpy(&bits, &value, sizeof(bits));
	end_at(out, protobuf_put_i64(to, ANYVALUE_DOUBLE, bits));
}

void otlpvalue_none(struct buffer *out, uint32_t field)
{
	end_at(out, protobuf_put_head(reserve(out, 0), field, 0));
}

void otlpvalue_text(struct buffer *out, uint32_t field, struct text text)
{
	uint32_t type = utf8_valid(text.data, text.size) ? ANYVALUE_STRING : ANYVALUE_BYTES;
	uint8_t *to = protobuf_put_head(reserve(out, text.size), field, protobuf_bytes_size(text.size));

	end_at(out, protobuf_put_bytes(to, type, text.data, text.size));
}

void otlpvalue_key(struct buffer *out, struct text prefix, struct text key)
{
	size_t size = (size_t)prefix.size + key.size;
	uint8_t *to = protobuf_put_head(reserve(out, size), KEYVALUE_KEY, size);

	end_at(out, to);
	buffer_put(out, prefix.data, prefix.size);
	buffer_put(out, key.data, key.size);
}
