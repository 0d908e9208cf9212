/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What senders hand over. The first byte says what the rest is: a call, which comes in pieces and has to end
 * where it ends when it comes at once; or a span, which is put into a call. What is taken can be read again
 * in each format, and gets tags.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "encode/messagejson.h"
#include "encode/messagelog.h"
#include "base/utf8.h"
#include "inlet/inner.h"
#include "queue/label.h"
#include "queue/transcode.h"
#include "wire/scribe.h"

static struct inlet inlet;

struct inlet_limits inlet_limits(struct inlet *of)
{
	(void)of;
	return (struct inlet_limits){.category = "zipkin"};
}

static void read_items(const struct batch *items, uint32_t count)
{
	static const char words[] = "cluster=eu1,rack=r7";
	struct span_memory memory = {0};
	const uint8_t *at = items->spans.data;
	struct batch *labelled;
	struct tags tags;
	struct span span;
	char error[200];

	fuzz_hold(items->count == count, "each span is in each format");
	for (uint32_t i = 0; i < count; at += batch_sizes(items)[i++])
		if (batch_sizes(items)[i])
			fuzz_hold(transcode_read(&span, items->format, at, batch_sizes(items)[i], &memory),
				"an item can be read");
	fuzz_hold(tags_parse(&tags, words, error, sizeof(error)) == 0, "tags are tags");
	labelled = label(items, &tags);
	for (uint32_t i = 0; i < count; i++)
		fuzz_hold(!batch_sizes(items)[i] == !batch_sizes(labelled)[i], "each gets tags");
	batch_unref(labelled);
	span_memory_free(&memory);
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
	struct group group = {.largest = MESSAGE_MAX};
	struct messages messages;
	uint32_t sum, others = 0;

	for (int f = 0; f < BATCH_SPAN_FORMATS; f++)
		group.items[f] = batch_create((enum batch_format)f, 0, 0);
	if (call->count & 1) /* some output takes messages */
		group.items[BATCH_MESSAGES] = batch_create(BATCH_MESSAGES, 0, 0);
	messages_come_round(&inlet, call);
	messages_take(&inlet, &group, call, &messages);
	if (group.items[BATCH_MESSAGES])
		others = group.items[BATCH_MESSAGES]->count;
	sum = messages.taken;
	for (int i = 0; i < REFUSALS; i++)
		sum += messages.refused[i];
	fuzz_hold(sum == call->count && group.count + others == messages.taken, "each message is in one row");
	fuzz_hold(fuzz_is_printable(messages.why), "words are printable");
	fuzz_hold(!messages.why[0] == (messages.taken == call->count), "what is refused has a reason");
	for (int f = 0; f < BATCH_SPAN_FORMATS; f++) {
		read_items(group.items[f], group.count);
		batch_unref(group.items[f]);
	}
	read_messages(group.items[BATCH_MESSAGES]);
	batch_unref(group.items[BATCH_MESSAGES]);
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
