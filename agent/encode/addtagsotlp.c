/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding tags to a span of OTLP: addtags.h. */
#include "base/pack.h"
#include "encode/addtags.h"
#include "encode/otlp.h"
#include "encode/wanted.h"
#include "wire/otlpattribute.h"

/* Of an attribute, but for its texts. */
#define TAG_ROOM 32

/* What the wire puts into each resource. */
static void leave_out_reserved(struct wanted *wanted)
{
	static const char *const keys[] = {
		OTLP_HOST, OTLP_SDK_NAME, OTLP_SDK_LANGUAGE, OTLP_SDK_VERSION, OTLP_INSTANCE, OTLP_PID};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		leave_out(wanted, (struct text){keys[i], (uint32_t)strlen(keys[i])});
}

static void leave_out_known(struct wanted *wanted, const struct protobuf_field *attribute)
{
	struct protobuf_reader from = protobuf_read(attribute->bytes, attribute->size);
	struct protobuf_field field;

	while (protobuf_next(&from, &field))
		if (field.number == KEYVALUE_KEY && field.type == PROTOBUF_BYTES)
			leave_out(wanted, (struct text){(const char *)field.bytes, (uint32_t)field.size});
}

/* Appends the process's attributes and the tags; false if they are none. */
static bool put_process(struct buffer *out, const uint8_t *head, uint32_t size, struct wanted *wanted)
{
	struct protobuf_reader process = protobuf_read(head + OTLP_ITEM_HEAD, size - OTLP_ITEM_HEAD);
	struct protobuf_field field;
	uint8_t *to;

	leave_out_reserved(wanted);
	while (protobuf_next(&process, &field))
		leave_out_known(wanted, &field);
	if (process.failed)
		return false;
	buffer_put(out, head + OTLP_ITEM_HEAD, size - OTLP_ITEM_HEAD);
	for (size_t i = 0; i < wanted->count; i++) {
		if (!is_wanted(wanted, i))
			continue;
		to = buffer_reserve(out, wanted->tags[i].key.size + wanted->tags[i].value.size + TAG_ROOM);
		out->size += (size_t)(otlpattribute_put(to, wanted->tags[i].key, wanted->tags[i].value) - to);
	}
	return true;
}

/* Appends the head with the tags, and remembers it. */
static bool put_head(struct buffer *out, const uint8_t *head, uint32_t size, struct wanted wanted,
	struct addtags_head *made)
{
	struct unpacker from = unpacker_of(head + 4, 4);
	uint32_t pid = unpack_u32(&from);
	size_t start = out->size;

	buffer_reserve(out, OTLP_ITEM_HEAD);
	out->size += OTLP_ITEM_HEAD;
	if (!put_process(out, head, size, &wanted)) {
		out->size = start;
		return false;
	}
	*made = (struct addtags_head){head, size, (uint32_t)(out->size - start), start};
	otlp_put_item_head(out->data + start, made->made_size, pid);
	return true;
}

bool addtags_otlp(
	struct buffer *out, struct text item, const struct tag *tags, size_t count, struct addtags_memo *memo)
{
	struct unpacker from = unpacker_of(item.data, item.size);
	uint32_t head = unpack_u32(&from), pid = unpack_u32(&from);
	struct addtags_head *known = &memo->heads[pid % ADDTAGS_HEADS];

	if (from.failed || head < OTLP_ITEM_HEAD || head > item.size)
		return false;
	if (known->size == head && !memcmp(known->head, item.data, head)) {
		buffer_reserve(out, known->made_size);
		buffer_put(out, out->data + known->made, known->made_size);
	} else if (!put_head(out, (const uint8_t *)item.data, head, want(tags, count), known)) {
		return false;
	}
	buffer_put(out, item.data + head, item.size - head);
	return true;
}
