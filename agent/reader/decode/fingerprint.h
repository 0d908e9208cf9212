/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program recorded, as a number: the same for each copy of an event that several sessions have.
 *
 * A session's copy has its own time, CPU and packet, and may have values of its own where LTTng adds some
 * (contexts), or none of them. Only what the program gave is alike: the event's name and fields, and whose
 * program it was.
 */
#ifndef READER_DECODE_FINGERPRINT_H
#define READER_DECODE_FINGERPRINT_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/siphash.h"
#include "session/position.h"

struct bt_message;

/* Of an event message of a stream of @user; @scratch is used and may be kept for the next one. */
uint64_t fingerprint(const uint8_t key[SIPHASH_KEY_SIZE], const struct stream_key *stream,
	const struct bt_message *message, struct buffer *scratch);

#endif
