/* SPDX-License-Identifier: BSD-2-Clause */
#include "scribe.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <glib.h>

#include "base64.h"

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
enum { MESSAGE_CALL = 1, MESSAGE_REPLY = 2, MESSAGE_EXCEPTION = 3 };
#define VERSION_1 0x80010000u
#define VERSION_MASK 0xffff0000u
#define FRAME_SIZE 4
/* Structs in structs in a reply, at most. A reply to Log() has none. */
#define DEPTH_MAX 16

/* Writing */

static uint8_t *put_u16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
	return to + 2;
}

static uint8_t *put_u32(uint8_t *to, uint32_t value)
{
	return put_u16(put_u16(to, (uint16_t)(value >> 16)), (uint16_t)value);
}

static uint8_t *put_field(uint8_t *to, uint8_t type, uint16_t id)
{
	*to = type;
	return put_u16(to + 1, id);
}

static uint8_t *put_string(uint8_t *to, uint16_t id, const void *text, size_t size)
{
	to = put_u32(put_field(to, TYPE_STRING, id), (uint32_t)size);
	memcpy(to, text, size);
	return to + size;
}

void scribe_put_entry(struct buffer *entries, const char *category, size_t category_size, const uint8_t *span,
	size_t span_size)
{
	size_t message_size = BASE64_SIZE(span_size);
	uint8_t *start = buffer_reserve(entries, category_size + message_size + 15), *to = start;

	to = put_string(to, 1, category, category_size);
	to = put_u32(put_field(to, TYPE_STRING, 2), (uint32_t)message_size);
	base64_encode((char *)to, span, span_size);
	to += message_size;
	*to++ = TYPE_STOP;
	entries->size += (size_t)(to - start);
}

void scribe_put_head(uint8_t head[SCRIBE_HEAD_SIZE], int32_t seqid, uint32_t count, size_t entries_size)
{
	uint8_t *to = head;

	to = put_u32(to, (uint32_t)(SCRIBE_HEAD_SIZE - FRAME_SIZE + entries_size + SCRIBE_TAIL_SIZE));
	to = put_u32(to, VERSION_1 | MESSAGE_CALL);
	to = put_u32(to, 3);
	memcpy(to, "Log", 3);
	to = put_u32(to + 3, (uint32_t)seqid);
	to = put_field(to, TYPE_LIST, 1);
	*to++ = TYPE_STRUCT;
	put_u32(to, count);
}

void scribe_put_tail(uint8_t tail[SCRIBE_TAIL_SIZE])
{
	tail[0] = TYPE_STOP;
}

/* Reading: what is left of a frame. Reading beyond its end makes it bad, and gives zeros from there on. */

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

/* Copies the peer's words: whole characters that fit, '?' for what is not printable, nothing to end a line
 * with. */
static void copy_words(char *message, size_t message_size, const uint8_t *words, size_t size)
{
	size_t used = 0;

	while (size > 0 && *words) {
		gunichar c = g_utf8_get_char_validated((const char *)words, (gssize)size);
		bool valid = c != (gunichar)-1 && c != (gunichar)-2;
		size_t step =
			valid ? (size_t)(g_utf8_next_char((const char *)words) - (const char *)words) : 1;
		bool keep = valid && g_unichar_isprint(c);

		if (used + (keep ? step : 1) >= message_size)
			break;
		if (keep)
			memcpy(message + used, words, step);
		else
			message[used] = valid && g_unichar_isspace(c) ? ' ' : '?';
		used += keep ? step : 1;
		words += step;
		size -= step;
	}
	while (used > 0 && message[used - 1] == ' ')
		used--;
	if (message_size > 0)
		message[used] = '\0';
}

/* Whether these bytes look as if a person should read them. */
static bool is_text(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] < 0x20 ? !g_ascii_isspace(data[i]) : data[i] == 0x7f)
			return false;
	return size > 0 && g_utf8_validate((const char *)data, (gssize)size, NULL);
}

/* Not a frame: the reason, which often is that the port is another service's. */
static void say_no_frame(
	const uint8_t *data, size_t size, uint32_t length, char *message, size_t message_size)
{
	char words[64];

	if (memcmp(data, "HTTP", 4) == 0) {
		say(message, message_size, "the peer speaks HTTP, not Scribe");
	} else if (is_text(data, 4)) {
		copy_words(words, sizeof(words), data, size);
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
			copy_words(message, message_size, words, size);
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
	} else if (is_text(start, size)) {
		copy_words(words, sizeof(words), start, size);
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
