/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/scribereply.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/sanitize.h"

/* TBinary's words, as far as Log() and skipping what is unknown need them. */
enum {
	TYPE_STOP = 0,
	TYPE_BOOL = 2,
	TYPE_BYTE = 3,
	TYPE_DOUBLE = 4,
	TYPE_I16 = 6,
	TYPE_I32 = 8,
	TYPE_I64 = 10,
	TYPE_STRING = 11,
	TYPE_STRUCT = 12,
	TYPE_MAP = 13,
	TYPE_SET = 14,
	TYPE_LIST = 15,
};
enum { MESSAGE_REPLY = 2, MESSAGE_EXCEPTION = 3 };
#define VERSION_1 0x80010000u
#define VERSION_MASK 0xffff0000u
#define FRAME_SIZE 4
/* Structs in structs in a reply, at most. A reply to Log() has none. */
#define DEPTH_MAX 16

/* What is left of a frame. Reading beyond its end makes it bad, and gives zeros from there on. */

struct input {
	const uint8_t *data;
	size_t left;
	bool bad;
};

static const uint8_t *get_bytes(struct input *input, size_t size)
{
	const uint8_t *data = input->data;

	if (input->bad || size > input->left) {
		input->bad = true;
		return NULL;
	}
	input->data += size;
	input->left -= size;
	return data;
}

static uint8_t get_u8(struct input *input)
{
	const uint8_t *data = get_bytes(input, 1);

	return data ? data[0] : 0;
}

static uint16_t get_u16(struct input *input)
{
	const uint8_t *data = get_bytes(input, 2);

	return data ? (uint16_t)(data[0] << 8 | data[1]) : 0;
}

static uint32_t get_u32(struct input *input)
{
	const uint8_t *data = get_bytes(input, 4);

	return data ? (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3]
		    : 0;
}

static void skip_value(struct input *input, uint8_t type, int depth);

static void skip_struct(struct input *input, int depth)
{
	uint8_t type;

	while ((type = get_u8(input)) != TYPE_STOP) {
		get_u16(input);
		skip_value(input, type, depth);
	}
}

/* Each element is a byte at least, so the frame's end bounds the work whatever the count says. */
static void skip_elements(struct input *input, uint8_t key, uint8_t value, int depth)
{
	uint32_t count = get_u32(input);

	for (uint32_t i = 0; i < count && !input->bad; i++) {
		if (key != TYPE_STOP)
			skip_value(input, key, depth);
		skip_value(input, value, depth);
	}
}

static void skip_value(struct input *input, uint8_t type, int depth)
{
	uint8_t key = TYPE_STOP;

	if (++depth > DEPTH_MAX)
		input->bad = true;
	if (input->bad)
		return;
	switch (type) {
	case TYPE_BOOL:
	case TYPE_BYTE:
		get_bytes(input, 1);
		break;
	case TYPE_I16:
		get_bytes(input, 2);
		break;
	case TYPE_I32:
		get_bytes(input, 4);
		break;
	case TYPE_I64:
	case TYPE_DOUBLE:
		get_bytes(input, 8);
		break;
	case TYPE_STRING:
		get_bytes(input, get_u32(input));
		break;
	case TYPE_STRUCT:
		skip_struct(input, depth);
		break;
	case TYPE_MAP:
		key = get_u8(input);
		/* fall through */
	case TYPE_SET:
	case TYPE_LIST:
		type = get_u8(input);
		skip_elements(input, key, type, depth);
		break;
	default:
		input->bad = true;
	}
}

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

/* Reads the message's header in either form; returns its type, or -1. */
static int get_header(struct input *input, const uint8_t **name, uint32_t *name_size, uint32_t *seqid)
{
	uint32_t word = get_u32(input);
	bool strict = word & 0x80000000u;
	int type = -1;

	if (strict && (word & VERSION_MASK) != VERSION_1)
		goto out;
	*name_size = strict ? get_u32(input) : word;
	*name = get_bytes(input, *name_size);
	type = strict ? (int)(word & 0xff) : get_u8(input);
	*seqid = get_u32(input);
out:
	return input->bad ? -1 : type;
}

static enum scribe_reply get_result(struct input *input, char *message, size_t message_size)
{
	enum scribe_reply reply = SCRIBE_GARBAGE;
	bool found = false;
	uint32_t code = 0;
	uint8_t type;

	while ((type = get_u8(input)) != TYPE_STOP) {
		uint16_t id = get_u16(input);

		if (id == 0 && type == TYPE_I32) {
			code = get_u32(input);
			found = true;
		} else {
			skip_value(input, type, 0);
		}
	}
	if (input->bad || input->left > 0)
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

static enum scribe_reply get_exception(struct input *input, char *message, size_t message_size)
{
	enum scribe_reply reply = SCRIBE_GARBAGE;
	const uint8_t *words = NULL;
	uint32_t size = 0, kind = 0;
	uint8_t type;

	while ((type = get_u8(input)) != TYPE_STOP) {
		uint16_t id = get_u16(input);

		if (id == 1 && type == TYPE_STRING)
			words = get_bytes(input, size = get_u32(input));
		else if (id == 2 && type == TYPE_I32)
			kind = get_u32(input);
		else
			skip_value(input, type, 0);
	}
	if (input->bad || input->left > 0) {
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

static enum scribe_reply read_frame(struct input input, int32_t *seqid, char *message, size_t message_size)
{
	enum scribe_reply reply = SCRIBE_GARBAGE;
	const uint8_t *start = input.data, *name = NULL;
	size_t size = input.left;
	uint32_t name_size = 0, id = 0;
	char words[160];
	int type = get_header(&input, &name, &name_size, &id);

	if (type == MESSAGE_EXCEPTION) {
		reply = get_exception(&input, message, message_size);
	} else if (type == MESSAGE_REPLY && name_size == 3 && memcmp(name, "Log", 3) == 0) {
		reply = get_result(&input, message, message_size);
	} else if (words_readable(start, size)) {
		words_copy(words, sizeof(words), start, size);
		say(message, message_size, "the peer answers \"%s\"", words);
	} else {
		say(message, message_size, "the peer's answer is not a reply to Log()");
	}
	*seqid = (int32_t)id;
	return reply;
}

enum scribe_reply scribe_read_reply(
	const uint8_t *data, size_t size, int32_t *seqid, size_t *used, char *message, size_t message_size)
{
	struct input input = {data, size, false};
	uint32_t length;

	if (size < FRAME_SIZE)
		return SCRIBE_PARTIAL;
	length = get_u32(&input);
	if (length == 0 || length > SCRIBE_REPLY_MAX) {
		say_no_frame(data, size, length, message, message_size);
		return SCRIBE_GARBAGE;
	}
	if (length > input.left)
		return SCRIBE_PARTIAL;
	input.left = length;
	*used = FRAME_SIZE + length;
	return read_frame(input, seqid, message, message_size);
}
