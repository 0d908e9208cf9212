/* SPDX-License-Identifier: BSD-2-Clause */
/* From messages to items, which are spans, or for outputs that take messages, these themselves: scribe.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/sanitize.h"
#include "inlet/scribe/scribe.h"
#include "net/base64.h"
#include "net/base64read.h"
#include "net/message.h"

/* Cuts what is behind the span; false if it is none. */
static bool find_span(struct buffer *bytes)
{
	struct tbinary_reader reader = tbinary_read(bytes->data, bytes->size);

	tbinary_skip(&reader, TBINARY_STRUCT);
	bytes->size = reader.at;
	return bytes->size && !tbinary_failed(&reader);
}

/* A span's ids are the same on its whole way, whatever tags the outputs add. */
static void identify_span(const struct span *span, uint8_t ids[24], struct identity *identity)
{
	tbinary_put_i64(ids, span->trace_id_high);
	tbinary_put_i64(ids + 8, span->trace_id);
	tbinary_put_i64(ids + 16, span->id);
	*identity = (struct identity){{ids, NULL}, {24, 0}};
}

static struct identity identify_message(const struct scribecall_entry *entry)
{
	return (struct identity){
		{entry->category, entry->message}, {entry->category_size, entry->message_size}};
}

/* A span in Thrift goes on as it came, with all that its sender said, and with its trail before it. */
static const struct buffer *in_thrift(struct inlet *inlet, const struct trail *trail)
{
	uint8_t fields[TRAIL_SIZE];

	inlet->encoded.size = 0;
	buffer_put(&inlet->encoded, fields, (size_t)(trail_put(fields, trail) - fields));
	buffer_put(&inlet->encoded, inlet->scratch.data, inlet->scratch.size);
	return &inlet->encoded;
}

static void add(const struct connection *connection, struct group *group, const struct span *span,
	const struct trail *trail)
{
	const struct buffer *item = in_thrift(connection->inlet, trail);

	batch_add(group->spans, item->data, item->size, clock_wall());
	count_note(group, connection, span);
}

static bool is_category(const struct scribecall_entry *entry, const char *category)
{
	return entry->category && entry->category_size == strlen(category) &&
	       memcmp(entry->category, category, entry->category_size) == 0;
}

static enum refusal read_span(struct inlet *inlet, const struct scribecall_entry *entry, struct span *span)
{
	struct buffer *bytes = &inlet->scratch;

	if (entry->message_size > BASE64_SIZE(MESSAGE_MAX))
		return REFUSED_OVERSIZE;
	bytes->size = 0;
	buffer_reserve(bytes, entry->message_size + 3);
	if (!entry->message || !base64_read(bytes, (const char *)entry->message, entry->message_size) ||
		!find_span(bytes) || !spanread_thrift(span, bytes->data, bytes->size, &inlet->memory))
		return REFUSED_MALFORMED;
	if (!span->id || !(span->trace_id || span->trace_id_high))
		return REFUSED_ID;
	return TAKEN;
}

static enum refusal take_message(
	struct inlet *inlet, struct group *group, const struct scribecall_entry *entry)
{
	struct message message = {.time = clock_wall(),
		.category = entry->category,
		.category_size = entry->category_size,
		.payload = entry->message,
		.payload_size = entry->message_size,
		.trail = entry->trail};
	const size_t size = (size_t)MESSAGE_HEAD + MESSAGE_TRAIL + entry->category_size + entry->message_size;
	const struct identity identity = identify_message(entry);

	if (size > group->largest[KIND_MESSAGES])
		return REFUSED_OVERSIZE;
	circle_step(inlet, &message.trail, &identity);
	inlet->encoded.size = 0;
	message_put(&inlet->encoded, &message);
	batch_add(group->messages, inlet->encoded.data, inlet->encoded.size, message.time);
	return TAKEN;
}

/* No OK for what an output would have to drop: it is refused. */
static enum refusal take(const struct connection *connection, struct group *group, const char *category,
	const struct scribecall_entry *entry)
{
	struct inlet *inlet = connection->inlet;
	struct trail trail = entry->trail;
	struct identity identity;
	enum refusal refusal;
	struct span span;
	uint8_t ids[24];

	/* without outputs that take spans, those are messages like others */
	if (group->messages && !(is_category(entry, category) && group->takes_spans))
		return take_message(inlet, group, entry);
	if (!is_category(entry, category))
		return REFUSED_CATEGORY;
	refusal = read_span(inlet, entry, &span);
	if (refusal != TAKEN)
		return refusal;
	if (TRAIL_SIZE + inlet->scratch.size > group->largest[KIND_SPANS])
		return REFUSED_OVERSIZE;
	identify_span(&span, ids, &identity);
	circle_step(inlet, &trail, &identity);
	add(connection, group, &span, &trail);
	return TAKEN;
}

/* One of the spans' category was taken as a span, or where no output takes spans, as a message. */
static bool came_round(struct inlet *inlet, const struct scribecall_entry *entry, const char *category)
{
	struct identity identity = identify_message(entry);
	struct span span;
	uint8_t ids[24];

	if (!entry->trail.stamp)
		return false;
	if (circle_came_round(inlet, &entry->trail, &identity))
		return true;
	if (!is_category(entry, category) || read_span(inlet, entry, &span) != TAKEN)
		return false;
	identify_span(&span, ids, &identity);
	return circle_came_round(inlet, &entry->trail, &identity);
}

uint32_t messages_come_round(struct inlet *inlet, const struct scribecall *call)
{
	struct inlet_limits limits = inlet_limits(inlet);
	struct scribecall from = *call;
	uint32_t count = 0;

	for (uint32_t i = 0; i < from.count; i++) {
		struct scribecall_entry entry;

		scribecall_next(&from, &entry);
		count += came_round(inlet, &entry, limits.category);
	}
	return count;
}

static void explain(struct taken *taken, enum refusal refusal, uint32_t number, uint32_t count,
	const struct scribecall_entry *entry, const char *category)
{
	char words[64] = "";

	if (entry->category)
		words_copy(words, sizeof(words), entry->category, entry->category_size);
	if (refusal == REFUSED_CATEGORY)
		snprintf(taken->why, sizeof(taken->why),
			"message %u of %u is of category \"%s\"; only spans, of category \"%s\", are taken, "
			"as no output takes messages",
			number, count, words, category);
	else
		snprintf(taken->why, sizeof(taken->why), "message %u of %u %s", number, count,
			refusal == REFUSED_ID ? "is a span whose id, or trace id, is 0"
			: refusal == REFUSED_OVERSIZE
				? "is larger than 1 MiB, or than an output's `batch-size`"
				: "is no span of Zipkin's, in Thrift and base64");
}

struct weight messages_weigh(struct inlet *inlet, const struct scribecall *call, size_t bytes)
{
	const bool spans = fanout_takes(inlet->fanout, KIND_SPANS),
		   messages = fanout_takes(inlet->fanout, KIND_MESSAGES);
	struct inlet_limits limits = inlet_limits(inlet);
	struct scribecall from = *call;
	struct weight weight = {{0}};
	uint32_t others = 0;

	for (uint32_t i = 0; i < from.count && messages; i++) {
		struct scribecall_entry entry;

		scribecall_next(&from, &entry);
		if (spans && is_category(&entry, limits.category))
			continue;
		weight.of[KIND_MESSAGES] += entry.category_size + entry.message_size + MESSAGE_HEAD;
		others++;
	}
	if (others == from.count)
		weight.of[KIND_MESSAGES] = bytes;
	weight.of[KIND_MESSAGES] = MIN(weight.of[KIND_MESSAGES], bytes);
	weight.of[KIND_SPANS] = bytes - weight.of[KIND_MESSAGES];
	return weight;
}

void messages_take(const struct connection *connection, struct group *group, struct scribecall *call,
	struct taken *taken)
{
	struct inlet_limits limits = inlet_limits(connection->inlet);

	*taken = (struct taken){0};
	for (uint32_t i = 0; i < call->count; i++) {
		struct scribecall_entry entry;
		enum refusal refusal;

		scribecall_next(call, &entry);
		refusal = take(connection, group, limits.category, &entry);
		if (refusal == TAKEN) {
			taken->taken++;
			continue;
		}
		if (!*taken->why) {
			taken->reason = refusal;
			explain(taken, refusal, i + 1, call->count, &entry, limits.category);
		}
		taken->refused[refusal]++;
	}
}
