/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/messagelog.h"

#include "base/utf8.h"
#include "encode/otlp.h"
#include "encode/otlplogs.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"

/* Heads and numbers of a record with one attribute, and a few more. */
#define AROUND 128

/* UTF-8 of the category, in @scratch if it has to be repaired. */
static size_t text_of(const struct message *message, struct buffer *scratch, const char **text)
{
	*text = message->category_size ? (const char *)message->category : "";
	if (utf8_valid(*text, message->category_size))
		return message->category_size;
	buffer_reserve(scratch, UTF8_REPAIRED_MAX((size_t)message->category_size));
	scratch->size = utf8_repair((char *)scratch->data, *text, message->category_size);
	*text = (const char *)scratch->data;
	return scratch->size;
}

static uint8_t *put_category(uint8_t *to, const char *text, size_t size)
{
	const size_t key = sizeof(MESSAGELOG_CATEGORY) - 1, value = protobuf_bytes_size(size);

	to = protobuf_put_head(to, LOG_ATTRIBUTES, protobuf_bytes_size(key) + protobuf_bytes_size(value));
	to = protobuf_put_bytes(to, KEYVALUE_KEY, MESSAGELOG_CATEGORY, key);
	to = protobuf_put_head(to, KEYVALUE_VALUE, value);
	return protobuf_put_bytes(to, ANYVALUE_STRING, text, size);
}

static uint8_t *put_body(uint8_t *to, const struct message *message)
{
	bool text = utf8_valid((const char *)message->payload, message->payload_size);

	to = protobuf_put_head(to, LOG_BODY, protobuf_bytes_size(message->payload_size));
	return protobuf_put_bytes(
		to, text ? ANYVALUE_STRING : ANYVALUE_BYTES, message->payload, message->payload_size);
}

/* False if it is none, whatever its category says: anybody may hand over messages of any. */
static bool put_whole(struct buffer *out, const struct message *message)
{
	static const char category[] = OTLPLOGS_CATEGORY;
	struct otlpitem item;
	uint8_t *to;

	if (message->category_size != sizeof(category) - 1 ||
		memcmp(message->category, category, sizeof(category) - 1) != 0 ||
		!otlplogs_split(message->payload, message->payload_size, &item))
		return false;
	to = buffer_reserve(out, OTLPITEM_HEAD);
	to = otlpitem_put_u32(to, (OTLPITEM_HEAD + item.process_size + item.scope_size) | OTLPITEM_WHOLE);
	otlpitem_put_u32(to, item.process_size);
	out->size += OTLPITEM_HEAD;
	buffer_put(out, item.process, item.process_size);
	buffer_put(out, item.scope, item.scope_size);
	buffer_put(out, item.span, item.span_size);
	return true;
}

void messagelog_put(struct buffer *out, const struct message *message)
{
	struct buffer scratch = {0};
	const char *category;
	uint8_t *start, *to;
	size_t size;

	if (put_whole(out, message))
		return;
	size = text_of(message, &scratch, &category);
	start = to = buffer_reserve(out, AROUND + size + message->payload_size);
	otlp_put_item_head(to, OTLP_ITEM_HEAD, 0);
	to += OTLP_ITEM_HEAD;
	to = put_body(to, message);
	to = put_category(to, category, size);
	to = protobuf_put_i64(to, LOG_OBSERVED_TIME, (uint64_t)message->time);
	out->size += (size_t)(to - start);
	buffer_free(&scratch);
}
