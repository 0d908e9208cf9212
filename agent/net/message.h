/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An item that is a message of Scribe's, as it came:
 *     u64  when, ns since the epoch
 *     u32  bytes of the category; its highest bit says that a trail follows (trail.h):
 *          u8  hops, u64  stamp
 *          the category
 *          the payload
 * with numbers big-endian. Two messages with the same words are two items: their times differ.
 */
#ifndef NET_MESSAGE_H
#define NET_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "net/trail.h"

/* Bytes of an item, beside category and payload. */
#define MESSAGE_HEAD 12
#define MESSAGE_TRAIL 9

/* Category and payload are any bytes, borrowed. */
struct message {
	int64_t time;
	const uint8_t *category, *payload;
	uint32_t category_size, payload_size;
	struct trail trail;
};

/* Appends the item. */
void message_put(struct buffer *out, const struct message *message);

/* Reads it; false, and an empty message, if it is damaged. */
bool message_read(const uint8_t *item, size_t size, struct message *message);

#endif
