/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message of Scribe's (net/message.h) as a line of JSON:
 *
 *     {"timestamp":"2026-11-23T13:05:18.123456789Z","category":"app","message":"words"}
 *
 * The time is that at which it came, in text, as a number of nanoseconds is more than many readers of JSON
 * can hold. Where the payload is not UTF-8, `message_base64` has it instead; a category that is not is
 * repaired with U+FFFD.
 */
#ifndef ENCODE_MESSAGEJSON_H
#define ENCODE_MESSAGEJSON_H

#include "net/message.h"

/* Appends it, without an end of line. */
void messagejson_put(struct buffer *out, const struct message *message);

#endif
