/* SPDX-License-Identifier: BSD-2-Clause */
/* Where each call stands in what a sender says: scribe.h. */
#include "inlet/scribe/scribe.h"

static uint32_t number_at(const uint8_t *data)
{
	return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

/*
 * A frame's length is below 2^24, so its first byte is 0 or 1; without a frame, a call begins with its
 * version, or with the length of its method's name, and then that name.
 */
static bool learn_speech(struct scribe_speech *speech, const uint8_t *data)
{
	bool name = g_ascii_isalpha(data[4]);

	if (data[0] & 0x80)
		speech->kind = SPEECH_UNFRAMED;
	else if (number_at(data) > FRAME_MAX)
		return false;
	else
		speech->kind = name ? SPEECH_UNFRAMED : SPEECH_FRAMED;
	return true;
}

static struct found find_unframed(struct scribe_speech *speech, const uint8_t *data, size_t size)
{
	enum tbinaryend_state state = tbinaryend_find(&speech->end, data, size);
	struct found found = {FOUND_CALL, 0, speech->end.at};

	if (state == TBINARYEND_BAD || speech->end.at > FRAME_MAX ||
		(state == TBINARYEND_MORE && size > FRAME_MAX))
		return (struct found){FOUND_GARBAGE, 0, 0};
	if (state == TBINARYEND_MORE)
		return (struct found){FOUND_NOTHING, 0, 0};
	speech->end = (struct tbinaryend){0};
	return found;
}

static struct found find(struct connection *connection)
{
	const uint8_t *data = connection->in.data + connection->parsed;
	size_t size = connection->in.size - connection->parsed;
	struct scribe_speech *speech = connection->own;
	uint32_t length;

	if (size < 5)
		return (struct found){FOUND_NOTHING, 0, 0};
	if (speech->kind == SPEECH_UNKNOWN && !learn_speech(speech, data))
		return (struct found){FOUND_GARBAGE, 0, 0};
	if (speech->kind == SPEECH_UNFRAMED)
		return find_unframed(speech, data, size);
	length = number_at(data);
	if (!length || length > FRAME_MAX)
		return (struct found){FOUND_GARBAGE, 0, 0};
	if (size - 4 < length)
		return (struct found){FOUND_NOTHING, 0, 0};
	return (struct found){FOUND_CALL, 4, length};
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
	.name = "Scribe",
	.key = "scribe",
	.spans = BATCH_ZIPKIN_SPANS,
	.create = create,
	.destroy = g_free,
	.open = open_speech,
	.close = g_free,
	.find = find,
	.call = scribe_take_call,
	.answer = scribe_answer,
};
