/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/message.h"

#include "wire/tbinary.h"

void message_put(struct buffer *out, const struct message *message)
{
	uint8_t *to = buffer_reserve(out, MESSAGE_HEAD);

	to = tbinary_put_i64(to, (uint64_t)message->time);
	tbinary_put_i32(to, message->category_size);
	out->size += MESSAGE_HEAD;
	buffer_put(out, message->category, message->category_size);
	buffer_put(out, message->payload, message->payload_size);
}

bool message_read(const uint8_t *item, size_t size, struct message *message)
{
	struct tbinary_reader reader = tbinary_read(item, size);
	uint64_t high = tbinary_get_i32(&reader), low = tbinary_get_i32(&reader);

	*message = (struct message){.time = (int64_t)(high << 32 | low)};
	message->category = tbinary_get_string(&reader, &message->category_size);
	if (tbinary_failed(&reader)) {
		*message = (struct message){0};
		return false;
	}
	message->payload_size = (uint32_t)tbinary_left(&reader);
	message->payload = item + (size - message->payload_size);
	return true;
}
