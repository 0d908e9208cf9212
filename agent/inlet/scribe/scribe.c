/* SPDX-License-Identifier: BSD-2-Clause */
/* Where each call stands in what a sender says: scribe.h. */
#include <stdio.h>

#include "inlet/scribe/scribe.h"

/*
 * A frame's length is below 2^24, so its first byte is 0 or 1; without a frame, a call begins with its
 * version, or with the length of its method's name, and then that name.
 */
static bool learn_speech(struct scribe_speech *speech, const uint8_t *data)
{
	bool name = g_ascii_isalpha(data[4]);

	if (data[0] & 0x80)
		speech->kind = SPEECH_UNFRAMED;
	else if (tbinary_i32_at(data) > FRAME_MAX)
		return false;
	else
		speech->kind = name ? SPEECH_UNFRAMED : SPEECH_FRAMED;
	return true;
}

/* Returns the size of the first call, if it is whole, or else 0; -1: it is none. */
static ssize_t find_unframed(struct scribe_speech *speech, const uint8_t *data, size_t size)
{
	enum tbinaryend_state state = tbinaryend_find(&speech->end, data, size);
	size_t end = speech->end.at;

	if (state == TBINARYEND_BAD || end > FRAME_MAX || (state == TBINARYEND_MORE && size > FRAME_MAX))
		return -1;
	if (state == TBINARYEND_MORE)
		return 0;
	speech->end = (struct tbinaryend){0};
	return (ssize_t)end;
}

/* The same; @begin: what stands before it. */
static ssize_t find(struct scribe_speech *speech, const uint8_t *data, size_t size, size_t *begin)
{
	uint32_t length;

	*begin = 0;
	if (size < 5)
		return 0;
	if (speech->kind == SPEECH_UNKNOWN && !learn_speech(speech, data))
		return -1;
	if (speech->kind == SPEECH_UNFRAMED)
		return find_unframed(speech, data, size);
	length = tbinary_i32_at(data);
	*begin = 4;
	if (!length || length > FRAME_MAX)
		return -1;
	return size - 4 < length ? 0 : (ssize_t)length;
}

static ssize_t take(
	struct connection *connection, const uint8_t *data, size_t size, char *why, size_t why_size)
{
	size_t begin;
	ssize_t length = find(connection->own, data, size, &begin);

	if (length < 0)
		snprintf(why, why_size, "it does not speak Scribe");
	else if (length && !scribe_take_call(connection, data + begin, (size_t)length, why, why_size))
		length = -1;
	return length > 0 ? length + (ssize_t)begin : length;
}

static void *open_speech(struct connection *connection)
{
	(void)connection;
	return g_new0(struct scribe_speech, 1);
}

static void *create(void)
{
	return g_new0(struct scribe_own, 1);
}

const struct protocol scribe_protocol = {
	.key = "scribe",
	.spans = BATCH_ZIPKIN_SPANS,
	.create = create,
	.destroy = g_free,
	.open = open_speech,
	.close = g_free,
	.take = take,
	.answer = scribe_answer,
};
