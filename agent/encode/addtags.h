/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adding tags to a span that is encoded already, by zipkin.h or zipkinjson.h: the result is what the encoder
 * would have written if the span had had these tags before its own. Of a key that the span has, its own tag
 * stays. In an item of otlp.h they become attributes of the resource; those that the agent knows stay.
 *
 * It takes for granted what these encoders write, and nothing else about the item's bytes: of half a span,
 * the result is half a span.
 *
 * The tags' texts are of characters that need no escape in JSON, and have no key twice.
 */
#ifndef ENCODE_ADDTAGS_H
#define ENCODE_ADDTAGS_H

#include "base/buffer.h"
#include "core/span.h"

/* Append the item with the tags; false, having appended nothing, if it is none. */
bool addtags_thrift(struct buffer *out, struct text item, const struct tag *tags, size_t count);
bool addtags_json(struct buffer *out, struct text item, const struct tag *tags, size_t count);

/* Heads of OTLP's items, with the tags: most items have the same as one before. */
#define ADDTAGS_HEADS 16
struct addtags_memo {
	struct addtags_head {
		const uint8_t *head; /* borrowed from the item */
		uint32_t size, made_size;
		size_t made; /* where in the buffer the one with the tags is */
	} heads[ADDTAGS_HEADS];
};

/* @memo, zeroed at first, is for items that all go into the same buffer. */
bool addtags_otlp(struct buffer *out, struct text item, const struct tag *tags, size_t count,
	struct addtags_memo *memo);

#endif
