/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What senders hand over. The first byte says what the rest is: a call, which comes in pieces and has to end
 * where it ends when it comes at once; or a span, which is put into a call. What is taken can be read again
 * as each format, and gets tags.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "encode/messagejson.h"
#include "encode/messagelog.h"
#include "inlet/scribe/scribe.h"
#include "net/scribe.h"
#include "queue/encoding.h"
#include "queue/item.h"

static struct scribe_own own;
static struct inlet inlet = {.own = &own};
static const struct connection connection = {.inlet = &inlet};

struct inlet_limits inlet_limits(struct inlet *of)
{
	(void)of;
	return (struct inlet_limits){.category = "zipkin"};
}

/* Nothing is counted. */
void count_note(struct group *group, const struct connection *from, const struct span *span)
{
	struct trait trait = trait_of(span);

	(void)from;
	buffer_put(&group->traits, &trait, sizeof(trait));
}

/* In the format it is a span with the same trail, if that has any, or nothing else. */
static void hold_encoded(const struct batch *items, enum batch_format format, const char *tags)
{
	struct batch *encoded = encode_batch(items, format, tags);
	const uint8_t *from = items->spans.data, *at = encoded->spans.data;
	struct span_memory memory = {0};
	struct trail before, after;
	struct span span;

	fuzz_hold(encoded->count == items->count, "each is encoded");
	for (uint32_t i = 0; i < items->count; i++) {
		uint32_t size = batch_sizes(encoded)[i];

		fuzz_hold(size && item_read(&span, (uint8_t)format, at, size, &memory),
			"a span can be had in each format");
		fuzz_hold(!tags || span.tag_count >= 2, "it gets tags");
		trail_read(from, batch_sizes(items)[i], &before);
		trail_read(at, size, &after);
		fuzz_hold(format != BATCH_ZIPKIN_SPANS ||
				  (before.hops == after.hops && before.stamp == after.stamp),
			"it keeps its trail");
		from += batch_sizes(items)[i];
		at += size;
	}
	span_memory_free(&memory);
	batch_unref(encoded);
}

static void read_items(const struct batch *items, const struct trait *traits)
{
	const uint8_t *at = items->spans.data;
	struct span_memory memory = {0};
	struct span span;

	for (uint32_t i = 0; i < items->count; at += batch_sizes(items)[i++]) {
		struct trait trait;

		fuzz_hold(item_read(&span, items->format, at, batch_sizes(items)[i], &memory),
			"an item can be read");
		trait = trait_of(&span);
		fuzz_hold(trait.trace_id == traits[i].trace_id && trait.id == traits[i].id &&
				  trait.error == traits[i].error,
			"its trait is its own");
	}
	span_memory_free(&memory);
	for (int format = BATCH_ZIPKIN_SPANS; format <= BATCH_OTLP_SPANS; format++) {
		hold_encoded(items, (enum batch_format)format, NULL);
		hold_encoded(items, (enum batch_format)format, "cluster=eu1,rack=r7");
	}
}

/* What was taken as it is can be sent in each way. */
static void read_messages(const struct batch *items)
{
	const uint8_t *at = items ? items->spans.data : NULL;
	struct buffer out = {0};

	for (uint32_t i = 0; items && i < items->count; at += batch_sizes(items)[i++]) {
		struct message message;

		out.size = 0;
		fuzz_hold(message_read(at, batch_sizes(items)[i], &message), "a message can be read");
		messagelog_put(&out, &message);
		out.size = 0;
		messagejson_put(&out, &message);
		fuzz_hold(utf8_valid((const char *)out.data, out.size) && !memchr(out.data, '\n', out.size),
			"its line is one of UTF-8");
	}
	buffer_free(&out);
}

static void take(struct scribecall *call)
{
	struct group group = {.largest = {MESSAGE_MAX, MESSAGE_MAX}, .takes_spans = true};
	struct taken taken;
	uint32_t sum, others = 0;

	group.spans = batch_create(BATCH_ZIPKIN_SPANS, 0, 0);
	if (call->count & 1) /* some output takes messages */
		group.messages = batch_create(BATCH_MESSAGES, 0, 0);
	messages_come_round(&inlet, call);
	messages_take(&connection, &group, call, &taken);
	if (group.messages)
		others = group.messages->count;
	sum = taken.taken;
	for (int i = 0; i < REFUSALS; i++)
		sum += taken.refused[i];
	fuzz_hold(sum == call->count && group.spans->count + others == taken.taken,
		"each message is in one row");
	fuzz_hold(fuzz_is_printable(taken.why), "words are printable");
	fuzz_hold(!taken.why[0] == (taken.taken == call->count), "what is refused has a reason");
	fuzz_hold(group.traits.size == group.spans->count * sizeof(struct trait), "each span has its trait");
	read_items(group.spans, (const struct trait *)(const void *)group.traits.data);
	batch_unref(group.spans);
	read_messages(group.messages);
	batch_unref(group.messages);
	buffer_free(&group.traits);
}

static void answer(const struct scribecall *call)
{
	struct buffer out = {0};
	struct scribecall_id id;

	scribecall_identify(call, true, &id);
	scribecall_put_number(&out, &id, TBINARY_I32, 1);
	fuzz_hold(out.size > 4 && out.data[3] == (uint8_t)(out.size - 4), "a frame has its length");
	buffer_free(&out);
}

static void read_call(const uint8_t *data, size_t size)
{
	struct scribecall call;
	char why[200];

	if (!scribecall_read(&call, data, size, why, sizeof(why))) {
		fuzz_hold(why[0] != '\0', "what is wrong is said");
		return;
	}
	answer(&call);
	for (uint32_t i = 0; i < call.wanted_count; i++)
		scribecall_wanted(call.wanted, i);
	if (call.method == SCRIBECALL_LOG)
		take(&call);
}

/* A copy of its own, so that the sanitizer sees what is read behind it. */
static enum tbinaryend_state find_end(struct tbinaryend *end, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	enum tbinaryend_state state;

	memcpy(copy, data, size);
	state = tbinaryend_find(end, copy, size);
	free(copy);
	fuzz_hold(end->at <= size, "no more is walked than is there");
	return state;
}

static void read_pieces(const uint8_t *data, size_t size, size_t step)
{
	struct tbinaryend whole = {0}, slow = {0};
	enum tbinaryend_state state = find_end(&whole, data, size), slow_state = TBINARYEND_MORE;

	for (size_t have = step; slow_state == TBINARYEND_MORE && have < size; have += step)
		slow_state = find_end(&slow, data, have);
	if (slow_state == TBINARYEND_MORE)
		slow_state = find_end(&slow, data, size);
	fuzz_hold(slow_state == state && (state == TBINARYEND_BAD || slow.at == whole.at),
		"it ends there, whatever pieces it comes in");
	if (state == TBINARYEND_FOUND)
		read_call(data, whole.at);
}

static void read_span(const uint8_t *data, size_t size)
{
	uint8_t head[SCRIBE_HEAD_SIZE];
	struct buffer entries = {0}, call = {0};
	uint8_t tail[SCRIBE_TAIL_SIZE];

	scribe_put_entry(&entries, "zipkin", 6, data, size);
	scribe_put_head(head, 7, 1, entries.size);
	scribe_put_tail(tail);
	buffer_put(&call, head + 4, sizeof(head) - 4);
	buffer_put(&call, entries.data, entries.size);
	buffer_put(&call, tail, sizeof(tail));
	read_pieces(call.data, call.size, 1 + size / 7);
	buffer_free(&entries);
	buffer_free(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	if (data[0] & 1)
		read_span(data + 1, size - 1);
	else
		read_pieces(data + 1, size - 1, 1 + data[0] / 2U);
	return 0;
}
