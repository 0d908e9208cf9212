/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/scribe.h"

#include <stdlib.h>

#include "base/memory.h"
#include "wire/base64.h"
#include "wire/scribereply.h"

/* TBinary's words, as far as Log() needs them. */
enum { TYPE_STOP = 0, TYPE_STRING = 11, TYPE_STRUCT = 12, TYPE_LIST = 15 };
enum { MESSAGE_CALL = 1 };
#define VERSION_1 0x80010000u
#define FRAME_SIZE 4
/* Of a LogEntry, beside its category and message. */
#define ENTRY_OVERHEAD 15

struct scribe {
	struct wire wire;
	size_t category_size;
	char category[];
};

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
	uint8_t *start = buffer_reserve(entries, category_size + message_size + ENTRY_OVERHEAD), *to = start;

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

/* All that the call takes, so that its memory is reserved once. */
static size_t entries_size(const struct scribe *scribe, const struct run *run)
{
	size_t size = run->count * (scribe->category_size + ENTRY_OVERHEAD);

	for (uint32_t i = 0; i < run->count; i++)
		size += BASE64_SIZE(run->sizes[i]);
	return size;
}

static void put_call(struct wire *wire, const struct run *run, int32_t number, struct buffer *out)
{
	const struct scribe *scribe = (const struct scribe *)wire;
	size_t size = entries_size(scribe, run);
	const uint8_t *span = run->spans;

	scribe_put_head(
		buffer_reserve(out, SCRIBE_HEAD_SIZE + size + SCRIBE_TAIL_SIZE), number, run->count, size);
	out->size += SCRIBE_HEAD_SIZE;
	for (uint32_t i = 0; i < run->count; span += run->sizes[i++])
		scribe_put_entry(out, scribe->category, scribe->category_size, span, run->sizes[i]);
	scribe_put_tail(out->data + out->size);
	out->size += SCRIBE_TAIL_SIZE;
}

static enum reply_kind get_reply(struct wire *wire, const uint8_t *data, size_t size, struct reply *reply)
{
	(void)wire;
	switch (scribe_read_reply(
		data, size, &reply->number, &reply->used, reply->words, sizeof(reply->words))) {
	case SCRIBE_OK:
		return REPLY_GOOD;
	case SCRIBE_TRY_LATER:
		return REPLY_PUT_OFF;
	case SCRIBE_EXCEPTION:
		return REPLY_REFUSED;
	case SCRIBE_PARTIAL:
		return REPLY_PARTIAL;
	default:
		return REPLY_GARBAGE;
	}
}

static void destroy(struct wire *wire)
{
	free(wire);
}

struct wire *scribe_create(const char *category)
{
	size_t size = strlen(category);
	struct scribe *scribe = memory_get(sizeof(*scribe) + size + 1);

	scribe->wire = (struct wire){
		.put_call = put_call, .get_reply = get_reply, .destroy = destroy, .numbered = true};
	scribe->category_size = size;
	memcpy(scribe->category, category, size);
	return &scribe->wire;
}
