/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/scribe.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/copy.h"
#include "base/memory.h"
#include "core/via.h"
#include "net/base64.h"
#include "net/message.h"
#include "net/scribecall.h"
#include "net/scribereply.h"
#include "net/tbinary.h"
#include "net/trail.h"

/* Of a LogEntry, beside its category and message. */
#define ENTRY_OVERHEAD 15
/* Before the numbers of via.h, and before trails. */
#define VIA_HEAD (3 + TBINARY_LIST_HEAD)
#define TRAILS_HEAD VIA_HEAD
/* Of a number in a field. */
#define NUMBER_SIZE (3 + 8)

enum entries { SPANS, PLAIN, MESSAGES };

struct scribe {
	struct wire wire;
	enum entries entries;
	struct buffer wanted; /* of the latest reply */
	size_t category_size;
	char category[];
};

/* Where there is room; returns where it ends. */
static inline uint8_t *put_entry(
	uint8_t *to, const char *category, size_t category_size, const uint8_t *span, size_t span_size)
{
	size_t message_size = BASE64_SIZE(span_size);

	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_STRING, 1), (uint32_t)category_size);
	copy_few((char *)to, category, category_size);
	to += category_size;
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_STRING, 2), (uint32_t)message_size);
	base64_encode((char *)to, span, span_size);
	return tbinary_put_stop(to + message_size);
}

void scribe_put_entry(struct buffer *entries, const char *category, size_t category_size, const uint8_t *span,
	size_t span_size)
{
	uint8_t *to = buffer_reserve(entries, category_size + BASE64_SIZE(span_size) + ENTRY_OVERHEAD);

	entries->size = (size_t)(put_entry(to, category, category_size, span, span_size) - entries->data);
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

/* More than the entries can take, so that memory is reserved once: of each, all but what it carries, and what
 * rounding adds. */
static size_t entries_room(const struct scribe *scribe, const struct run *run)
{
	return BASE64_SIZE(run->size) + run->count * (ENTRY_OVERHEAD + scribe->category_size + 4);
}

static void put_spans(const struct scribe *scribe, const struct run *run, struct buffer *out)
{
	uint8_t *to = out->data + out->size;
	const uint8_t *span = run->spans;

	for (uint32_t i = 0; i < run->count; span += run->sizes[i++]) {
		struct trail trail;
		size_t behind = trail_read(span, run->sizes[i], &trail);

		to = put_entry(
			to, scribe->category, scribe->category_size, span + behind, run->sizes[i] - behind);
	}
	out->size = (size_t)(to - out->data);
}

static void put_as_they_are(const struct scribe *scribe, const struct run *run, struct buffer *out)
{
	const uint8_t *item = run->spans;

	for (uint32_t i = 0; i < run->count; item += run->sizes[i++]) {
		struct message message = plain_of(scribe, item, run->sizes[i]);

		put_plain(out, &message);
	}
}

/* By way of whom the spans may have come: via.h. An agent that takes none from others has nothing to tell. */
static void put_via(struct buffer *out, const uint64_t *via, size_t count)
{
	uint8_t *to = out->data + out->size;

	to = tbinary_put_list(
		tbinary_put_field(to, TBINARY_LIST, SCRIBECALL_VIA_FIELD), TBINARY_I64, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		to = tbinary_put_i64(to, via[i]);
	out->size += VIA_HEAD + 8 * count;
}

static struct trail trail_of(const struct scribe *scribe, const uint8_t *item, uint32_t size)
{
	struct trail trail;

	if (scribe->entries == MESSAGES)
		return plain_of(scribe, item, size).trail;
	trail_read(item, size, &trail);
	return trail;
}

/* How far each of the items has come, if any has: trail.h. */
static void put_trails(const struct scribe *scribe, struct buffer *out, const struct run *run)
{
	uint8_t *start = buffer_reserve(out, TRAILS_HEAD + run->count * TRAIL_PACKED_SIZE + SCRIBE_TAIL_SIZE);
	uint8_t *first = start + TRAILS_HEAD, *to = first;
	const uint8_t *item = run->spans;
	bool any = false;

	for (uint32_t i = 0; i < run->count; item += run->sizes[i++]) {
		struct trail trail = trail_of(scribe, item, run->sizes[i]);

		any |= trail.hops > 0;
		to = trail_pack(to, &trail);
	}
	if (!any)
		return;
	tbinary_put_list(tbinary_put_field(start, TBINARY_LIST, SCRIBECALL_TRAILS_FIELD), TBINARY_BYTE,
		(uint32_t)(to - first));
	out->size += (size_t)(to - start);
}

/* What the server is to know beside the spans. */
static void put_number(struct buffer *out, uint16_t field, uint64_t number)
{
	uint8_t *to = buffer_reserve(out, NUMBER_SIZE + SCRIBE_TAIL_SIZE);

	tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, field), number);
	out->size += NUMBER_SIZE;
}

static void put_wanted(struct buffer *out, const struct trace_id *wanted, uint32_t count)
{
	size_t size = VIA_HEAD + 16 * (size_t)count;
	uint8_t *to = buffer_reserve(out, size + SCRIBE_TAIL_SIZE);

	to = tbinary_put_list(
		tbinary_put_field(to, TBINARY_LIST, SCRIBECALL_WANTED_FIELD), TBINARY_I64, 2 * count);
	for (uint32_t i = 0; i < count; i++)
		to = tbinary_put_i64(tbinary_put_i64(to, wanted[i].high), wanted[i].low);
	out->size += size;
}

static void put_call(struct wire *wire, const struct run *run, int32_t number, struct buffer *out)
{
	const struct scribe *scribe = (const struct scribe *)wire;
	uint64_t via[VIA_MAX];
	size_t via_count = via_read(via, clock_monotonic());

	buffer_reserve(out,
		SCRIBE_HEAD_SIZE + entries_room(scribe, run) + VIA_HEAD + 8 * via_count + SCRIBE_TAIL_SIZE);
	out->size = SCRIBE_HEAD_SIZE; /* which tells the size of what is behind it */
	if (scribe->entries == SPANS)
		put_spans(scribe, run, out);
	else
		put_as_they_are(scribe, run, out);
	if (via_count) {
		put_via(out, via, via_count);
		put_trails(scribe, out, run);
	}
	if (run->share)
		put_number(out, SCRIBECALL_SHARE_FIELD, run->share);
	if (run->replayed)
		put_number(out, SCRIBECALL_REPLAY_FIELD, 1);
	if (run->hears)
		put_wanted(out, run->wanted, run->wanted_count);
	scribe_put_head(out->data, number, run->count, out->size - SCRIBE_HEAD_SIZE);
	scribe_put_tail(out->data + out->size);
	out->size += SCRIBE_TAIL_SIZE;
}

static enum reply_kind get_reply(struct wire *wire, const uint8_t *data, size_t size, struct reply *reply)
{
	struct scribe *scribe = (struct scribe *)wire;
	enum reply_kind kind = scribereply_read(data, size, reply);

	if (!reply->hears)
		return kind;
	scribe->wanted.size = 0;
	buffer_put(&scribe->wanted, reply->wanted, 16 * (size_t)reply->wanted_count);
	reply->wanted = scribe->wanted.data;
	return kind;
}

static void destroy(struct wire *wire)
{
	buffer_free(&((struct scribe *)wire)->wanted);
	free(wire);
}

static struct wire *create(enum entries entries, const char *category)
{
	size_t size = strlen(category);
	struct scribe *scribe = memory_get(sizeof(*scribe) + size + 1);

	scribe->wire = (struct wire){.put_call = put_call,
		.get_reply = get_reply,
		.destroy = destroy,
		.hears = entries == SPANS,
		.numbered = true};
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
