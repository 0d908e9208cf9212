/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adding tags to a span that is encoded already, by zipkin.h or zipkinjson.h: the result is what the encoder
 * would have written if the span had had these tags before its own. Of a key that the span has, its own tag
 * stays. In an item of otlp.h they become attributes of the resource; those that the agent knows stay.
 *
 * The tags' texts are of characters that need no escape in JSON, and have no key twice.
 */
#ifndef ENCODE_ADDTAGS_H
#define ENCODE_ADDTAGS_H

#include "base/buffer.h"
#include "core/span.h"

/* Append the item with the tags; false, having appended nothing, if it is none. */
bool addtags_thrift(
	struct buffer *out, const uint8_t *item, size_t size, const struct tag *tags, size_t count);
bool addtags_otlp(struct buffer *out, const uint8_t *item, size_t size, const struct tag *tags, size_t count);
bool addtags_json(struct buffer *out, const uint8_t *item, size_t size, const struct tag *tags, size_t count);

#endif
