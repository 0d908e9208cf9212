/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/protobuf.h"

static uint64_t get_varint(struct protobuf_reader *reader)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 70 && reader->at < reader->end; shift += 7) {
		uint8_t byte = *reader->at++;

		if (shift == 63 && byte > 1) /* more than 64 bits */
			break;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	reader->failed = true;
	return 0;
}

static const uint8_t *get_run(struct protobuf_reader *reader, uint64_t size)
{
	const uint8_t *at = reader->at;

	if (reader->failed || (uint64_t)(reader->end - at) < size) {
		reader->failed = true;
		return NULL;
	}
	reader->at += size;
	return at;
}

static uint64_t get_fixed(struct protobuf_reader *reader, unsigned bytes)
{
	const uint8_t *at = get_run(reader, bytes);
	uint64_t number = 0;

	for (unsigned i = 0; at && i < bytes; i++)
		number |= (uint64_t)at[i] << 8 * i;
	return number;
}

bool protobuf_next_any(struct protobuf_reader *reader, struct protobuf_field *field)
{
	uint64_t head;

	if (reader->failed || reader->at == reader->end)
		return false;
	head = get_varint(reader);
	*field = (struct protobuf_field){.number = (uint32_t)(head >> 3), .type = head & 7};
	if (head >> 3 == 0 || head >> 32) {
		reader->failed = true;
	} else if (field->type == PROTOBUF_VARINT) {
		field->value = get_varint(reader);
	} else if (field->type == PROTOBUF_I64) {
		field->value = get_fixed(reader, 8);
	} else if (field->type == PROTOBUF_I32) {
		field->value = get_fixed(reader, 4);
	} else if (field->type == PROTOBUF_BYTES) {
		field->size = get_varint(reader);
		field->bytes = get_run(reader, field->size);
	} else {
		reader->failed = true;
	}
	return !reader->failed;
}
