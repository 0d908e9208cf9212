/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/message.h"

#include "net/tbinary.h"

/* Of the category's size: no category is so large. */
#define HAS_TRAIL 0x80000000u

void message_put(struct buffer *out, const struct message *message)
{
	uint8_t *start = buffer_reserve(out, MESSAGE_HEAD + MESSAGE_TRAIL), *to = start;

	to = tbinary_put_i64(to, (uint64_t)message->time);
	to = tbinary_put_i32(to, message->category_size | (message->trail.hops ? HAS_TRAIL : 0));
	if (message->trail.hops) {
		*to = message->trail.hops;
		to = tbinary_put_i64(to + 1, message->trail.stamp);
	}
	out->size += (size_t)(to - start);
	buffer_put(out, message->category, message->category_size);
	buffer_put(out, message->payload, message->payload_size);
}

static uint64_t get_i64(struct tbinary_reader *reader)
{
	uint64_t high = tbinary_get_i32(reader);

	return high << 32 | tbinary_get_i32(reader);
}

static const uint8_t *get_bytes(struct tbinary_reader *reader, uint32_t size)
{
	const uint8_t *bytes = reader->data + reader->at;

	if (tbinary_failed(reader) || size > tbinary_left(reader))
		return NULL;
	reader->at += size;
	return bytes;
}

bool message_read(const uint8_t *item, size_t size, struct message *message)
{
	struct tbinary_reader reader = tbinary_read(item, size);

	*message = (struct message){.time = (int64_t)get_i64(&reader)};
	message->category_size = tbinary_get_i32(&reader);
	if (message->category_size & HAS_TRAIL) {
		message->category_size &= ~HAS_TRAIL;
		message->trail.hops = tbinary_get_u8(&reader) & TRAIL_HOPS_MAX;
		message->trail.stamp = get_i64(&reader);
	}
	message->category = get_bytes(&reader, message->category_size);
	if (!message->category) {
		*message = (struct message){0};
		return false;
	}
	message->payload_size = (uint32_t)tbinary_left(&reader);
	message->payload = item + (size - message->payload_size);
	return true;
}
