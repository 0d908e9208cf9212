/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/scribereply.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/sanitize.h"
#include "wire/tbinary.h"

/* Messages for the reader of a log */

static void __attribute__((format(printf, 3, 4))) say(char *message, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, size, format, args);
	va_end(args);
}

/* Not a frame: the reason, which often is that the port is another service's. */
static void say_no_frame(
	const uint8_t *data, size_t size, uint32_t length, char *message, size_t message_size)
{
	char words[64];

	if (memcmp(data, "HTTP", 4) == 0) {
		say(message, message_size, "the peer speaks HTTP, not Scribe");
	} else if (words_readable(data, 4)) {
		words_copy(words, sizeof(words), data, size);
		say(message, message_size, "the peer answers \"%s\", which is not Scribe", words);
	} else {
		say(message, message_size, "the peer does not speak Scribe: a frame of %u bytes", length);
	}
}

static enum scribe_reply get_result(struct tbinary_reader *reader, char *message, size_t message_size)
{
	enum scribe_reply reply = SCRIBE_GARBAGE;
	bool found = false;
	uint32_t code = 0;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(reader, &type, &id)) {
		if (id == 0 && type == TBINARY_I32) {
			code = tbinary_get_i32(reader);
			found = true;
		} else {
			tbinary_skip(reader, type);
		}
	}
	if (tbinary_failed(reader) || tbinary_left(reader) > 0)
		say(message, message_size, "the peer's reply to Log() is malformed");
	else if (!found)
		say(message, message_size, "the peer's reply to Log() has no result");
	else if (code > 1)
		say(message, message_size, "the peer's reply to Log() has the unknown result %d",
			(int32_t)code);
	else
		reply = code == 0 ? SCRIBE_OK : SCRIBE_TRY_LATER;
	return reply;
}

static enum scribe_reply get_exception(struct tbinary_reader *reader, char *message, size_t message_size)
{
	enum scribe_reply reply = SCRIBE_GARBAGE;
	const uint8_t *words = NULL;
	uint32_t size = 0, kind = 0;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(reader, &type, &id)) {
		if (id == 1 && type == TBINARY_STRING)
			words = tbinary_get_string(reader, &size);
		else if (id == 2 && type == TBINARY_I32)
			kind = tbinary_get_i32(reader);
		else
			tbinary_skip(reader, type);
	}
	if (tbinary_failed(reader) || tbinary_left(reader) > 0) {
		say(message, message_size, "the peer's exception is malformed");
	} else {
		reply = SCRIBE_EXCEPTION;
		if (size > 0)
			words_copy(message, message_size, words, size);
		else
			say(message, message_size, "an exception of type %d", (int32_t)kind);
	}
	return reply;
}

static enum scribe_reply read_frame(
	const uint8_t *data, size_t size, int32_t *seqid, char *message, size_t message_size)
{
	struct tbinary_reader reader = tbinary_read(data, size);
	struct tbinary_message head = {0};
	enum scribe_reply reply = SCRIBE_GARBAGE;
	bool readable = tbinary_get_message(&reader, &head);
	char words[160];

	if (readable && head.type == TBINARY_EXCEPTION) {
		reply = get_exception(&reader, message, message_size);
	} else if (readable && head.type == TBINARY_REPLY && head.method_size == 3 &&
		   memcmp(head.method, "Log", 3) == 0) {
		reply = get_result(&reader, message, message_size);
	} else if (words_readable(data, size)) {
		words_copy(words, sizeof(words), data, size);
		say(message, message_size, "the peer answers \"%s\"", words);
	} else {
		say(message, message_size, "the peer's answer is not a reply to Log()");
	}
	*seqid = head.seqid;
	return reply;
}

enum scribe_reply scribe_read_reply(
	const uint8_t *data, size_t size, int32_t *seqid, size_t *used, char *message, size_t message_size)
{
	struct tbinary_reader frame = tbinary_read(data, size);
	uint32_t length;

	if (size < TBINARY_FRAME_HEAD)
		return SCRIBE_PARTIAL;
	length = tbinary_get_i32(&frame);
	if (length == 0 || length > SCRIBE_REPLY_MAX) {
		say_no_frame(data, size, length, message, message_size);
		return SCRIBE_GARBAGE;
	}
	if (length > tbinary_left(&frame))
		return SCRIBE_PARTIAL;
	*used = TBINARY_FRAME_HEAD + length;
	return read_frame(data + frame.at, length, seqid, message, message_size);
}
