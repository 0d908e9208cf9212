/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/scribereply.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/sanitize.h"
#include "net/scribecall.h"
#include "net/tbinary.h"

/* Not a frame: the reason, which often is that the port is another service's. */
static void say_no_frame(const uint8_t *data, size_t size, uint32_t length, struct reply *reply)
{
	char words[64];

	if (memcmp(data, "HTTP", 4) == 0) {
		reply->fault = FAULT_IS_HTTP;
		snprintf(reply->words, sizeof(reply->words), "the peer speaks HTTP, not Scribe");
	} else if (words_readable(data, 4)) {
		words_copy(words, sizeof(words), data, size);
		snprintf(reply->words, sizeof(reply->words), "the peer answers \"%s\", which is not Scribe",
			words);
	} else {
		snprintf(reply->words, sizeof(reply->words),
			"the peer does not speak Scribe: a frame of %u bytes", length);
	}
}

static enum reply_kind get_result(struct tbinary_reader *reader, struct reply *reply)
{
	enum reply_kind kind = REPLY_GARBAGE;
	bool found = false;
	uint32_t code = 0, size;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(reader, &type, &id)) {
		if (id == 0 && type == TBINARY_I32) {
			code = tbinary_get_i32(reader);
			found = true;
		} else if (id == SCRIBECALL_SHARE_FIELD && type == TBINARY_I64) {
			reply->share = tbinary_get_i64(reader);
			reply->shares = true;
		} else if (id == SCRIBECALL_REPLAY_FIELD && type == TBINARY_I64) {
			reply->grant = tbinary_get_i64(reader);
		} else if (id == SCRIBECALL_WANTED_FIELD && type == TBINARY_LIST) {
			struct tbinary_reader at = *reader;

			tbinary_skip(reader, type);
			if (tbinary_failed(reader))
				break;
			reply->wanted = scribecall_elements(&at, type, TBINARY_I64, 8, &size);
			reply->wanted_count = reply->wanted ? size / 16 : 0;
			reply->hears = reply->wanted != NULL;
		} else {
			tbinary_skip(reader, type);
		}
	}
	if (tbinary_failed(reader) || tbinary_left(reader) > 0)
		snprintf(reply->words, sizeof(reply->words), "the peer's reply to Log() is malformed");
	else if (!found)
		snprintf(reply->words, sizeof(reply->words), "the peer's reply to Log() has no result");
	else if (code > 1)
		snprintf(reply->words, sizeof(reply->words),
			"the peer's reply to Log() has the unknown result %d", (int32_t)code);
	else
		kind = code == 0 ? REPLY_GOOD : REPLY_PUT_OFF;
	reply->later = kind == REPLY_PUT_OFF;
	return kind;
}

static enum reply_kind get_exception(struct tbinary_reader *reader, struct reply *reply)
{
	enum reply_kind kind = REPLY_GARBAGE;
	const uint8_t *words = NULL;
	uint32_t size = 0, code = 0;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(reader, &type, &id)) {
		if (id == 1 && type == TBINARY_STRING)
			words = tbinary_get_string(reader, &size);
		else if (id == 2 && type == TBINARY_I32)
			code = tbinary_get_i32(reader);
		else
			tbinary_skip(reader, type);
	}
	if (tbinary_failed(reader) || tbinary_left(reader) > 0) {
		snprintf(reply->words, sizeof(reply->words), "the peer's exception is malformed");
	} else {
		kind = REPLY_REFUSED;
		if (size > 0)
			words_copy(reply->words, sizeof(reply->words), words, size);
		else
			snprintf(
				reply->words, sizeof(reply->words), "an exception of type %d", (int32_t)code);
	}
	return kind;
}

static enum reply_kind read_frame(const uint8_t *data, size_t size, struct reply *reply)
{
	struct tbinary_reader reader = tbinary_read(data, size);
	struct tbinary_message head = {0};
	enum reply_kind kind = REPLY_GARBAGE;
	bool readable = tbinary_get_message(&reader, &head);
	char words[160];

	if (readable && head.type == TBINARY_EXCEPTION) {
		kind = get_exception(&reader, reply);
	} else if (readable && head.type == TBINARY_REPLY && head.method_size == 3 &&
		   memcmp(head.method, "Log", 3) == 0) {
		kind = get_result(&reader, reply);
	} else if (words_readable(data, size)) {
		words_copy(words, sizeof(words), data, size);
		snprintf(reply->words, sizeof(reply->words), "the peer answers \"%s\"", words);
	} else {
		snprintf(reply->words, sizeof(reply->words), "the peer's answer is not a reply to Log()");
	}
	reply->number = head.seqid;
	return kind;
}

enum reply_kind scribereply_read(const uint8_t *data, size_t size, struct reply *reply)
{
	struct tbinary_reader frame = tbinary_read(data, size);
	uint32_t length;

	if (size < TBINARY_FRAME_HEAD)
		return REPLY_PARTIAL;
	length = tbinary_get_i32(&frame);
	if (length == 0 || length > REPLY_MAX) {
		say_no_frame(data, size, length, reply);
		return REPLY_GARBAGE;
	}
	if (length > tbinary_left(&frame))
		return REPLY_PARTIAL;
	reply->used = TBINARY_FRAME_HEAD + length;
	return read_frame(data + frame.at, length, reply);
}
