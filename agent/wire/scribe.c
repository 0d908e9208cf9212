/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/scribe.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "core/via.h"
#include "wire/base64.h"
#include "wire/message.h"
#include "wire/scribecall.h"
#include "wire/scribereply.h"
#include "wire/tbinary.h"

/* Of a LogEntry, beside its category and message. */
#define ENTRY_OVERHEAD 15
/* Before the numbers of via.h. */
#define VIA_HEAD 7

enum entries { SPANS, PLAIN, MESSAGES };

struct scribe {
	struct wire wire;
	enum entries entries;
	size_t category_size;
	char category[];
};

void scribe_put_entry(struct buffer *entries, const char *category, size_t category_size, const uint8_t *span,
	size_t span_size)
{
	size_t message_size = BASE64_SIZE(span_size);
	uint8_t *start = buffer_reserve(entries, category_size + message_size + ENTRY_OVERHEAD), *to = start;

	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 1), category, category_size);
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_STRING, 2), (uint32_t)message_size);
	base64_encode((char *)to, span, span_size);
	to += message_size;
	to = tbinary_put_stop(to);
	entries->size += (size_t)(to - start);
}

void scribe_put_head(uint8_t head[SCRIBE_HEAD_SIZE], int32_t seqid, uint32_t count, size_t entries_size)
{
	uint8_t *to = head;

	to = tbinary_put_i32(
		to, (uint32_t)(SCRIBE_HEAD_SIZE - TBINARY_FRAME_HEAD + entries_size + SCRIBE_TAIL_SIZE));
	to = tbinary_put_i32(to, TBINARY_VERSION_1 | TBINARY_CALL);
	to = tbinary_put_string(to, "Log", 3);
	to = tbinary_put_i32(to, (uint32_t)seqid);
	tbinary_put_list(tbinary_put_field(to, TBINARY_LIST, 1), TBINARY_STRUCT, count);
}

void scribe_put_tail(uint8_t tail[SCRIBE_TAIL_SIZE])
{
	tbinary_put_stop(tail);
}

/* The same of a payload that goes as it is. */
static void put_plain(struct buffer *entries, const struct message *message)
{
	uint8_t *start = buffer_reserve(
			entries, message->category_size + message->payload_size + ENTRY_OVERHEAD),
		*to = tbinary_put_i32(tbinary_put_field(start, TBINARY_STRING, 1), message->category_size);

	entries->size += (size_t)(to - start);
	buffer_put(entries, message->category, message->category_size);
	to = tbinary_put_field(entries->data + entries->size, TBINARY_STRING, 2);
	tbinary_put_i32(to, message->payload_size);
	entries->size += 7;
	buffer_put(entries, message->payload, message->payload_size);
	tbinary_put_stop(entries->data + entries->size++);
}

/* What goes as it is: an item as the payload of our category, or a message that came; one that is damaged is
 * empty. */
static struct message plain_of(const struct scribe *scribe, const uint8_t *item, uint32_t size)
{
	struct message message = {.category = (const uint8_t *)scribe->category,
		.category_size = (uint32_t)scribe->category_size,
		.payload = item,
		.payload_size = size};

	if (scribe->entries == MESSAGES)
		message_read(item, size, &message);
	return message;
}

static size_t entry_size(const struct scribe *scribe, const uint8_t *item, uint32_t size)
{
	struct message message;

	if (scribe->entries == SPANS)
		return ENTRY_OVERHEAD + scribe->category_size + BASE64_SIZE(size);
	message = plain_of(scribe, item, size);
	return ENTRY_OVERHEAD + message.category_size + message.payload_size;
}

static void put_item(const struct scribe *scribe, struct buffer *out, const uint8_t *item, uint32_t size)
{
	struct message message;

	if (scribe->entries == SPANS) {
		scribe_put_entry(out, scribe->category, scribe->category_size, item, size);
		return;
	}
	message = plain_of(scribe, item, size);
	put_plain(out, &message);
}

/* All that the call takes, so that its memory is reserved once. */
static size_t entries_size(const struct scribe *scribe, const struct run *run)
{
	const uint8_t *item = run->spans;
	size_t size = 0;

	for (uint32_t i = 0; i < run->count; item += run->sizes[i++])
		size += entry_size(scribe, item, run->sizes[i]);
	return size;
}

/* By way of whom the spans may have come: via.h. An agent that takes none from others has nothing to tell. */
static void put_via(struct buffer *out, const uint64_t *via, size_t count)
{
	uint8_t *to = out->data + out->size;

	to = tbinary_put_i32(
		tbinary_put_field(to, TBINARY_STRING, SCRIBECALL_VIA_FIELD), (uint32_t)(8 * count));
	for (size_t i = 0; i < count; i++)
		to = tbinary_put_i64(to, via[i]);
	out->size += VIA_HEAD + 8 * count;
}

static void put_call(struct wire *wire, const struct run *run, int32_t number, struct buffer *out)
{
	const struct scribe *scribe = (const struct scribe *)wire;
	size_t size = entries_size(scribe, run);
	uint64_t via[VIA_MAX];
	size_t via_count = via_read(via, clock_monotonic()),
	       via_size = via_count ? VIA_HEAD + 8 * via_count : 0;
	const uint8_t *span = run->spans;

	scribe_put_head(buffer_reserve(out, SCRIBE_HEAD_SIZE + size + via_size + SCRIBE_TAIL_SIZE), number,
		run->count, size + via_size);
	out->size += SCRIBE_HEAD_SIZE;
	for (uint32_t i = 0; i < run->count; span += run->sizes[i++])
		put_item(scribe, out, span, run->sizes[i]);
	if (via_count)
		put_via(out, via, via_count);
	scribe_put_tail(out->data + out->size);
	out->size += SCRIBE_TAIL_SIZE;
}

static enum reply_kind get_reply(struct wire *wire, const uint8_t *data, size_t size, struct reply *reply)
{
	(void)wire;
	return scribereply_read(data, size, reply);
}

static void destroy(struct wire *wire)
{
	free(wire);
}

static struct wire *create(enum entries entries, const char *category)
{
	size_t size = strlen(category);
	struct scribe *scribe = memory_get(sizeof(*scribe) + size + 1);

	scribe->wire = (struct wire){
		.put_call = put_call, .get_reply = get_reply, .destroy = destroy, .numbered = true};
	scribe->entries = entries;
	scribe->category_size = size;
	memcpy(scribe->category, category, size);
	return &scribe->wire;
}

struct wire *scribe_create(const char *category)
{
	return create(SPANS, category);
}

struct wire *scribe_create_plain(const char *category)
{
	return create(PLAIN, category);
}

struct wire *scribe_create_messages(void)
{
	return create(MESSAGES, "");
}
