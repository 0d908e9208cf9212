/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer's way into what the agent reads of a span's text: the same bytes as the text of blkin:span2, as
 * the data of blkin:span, and up to the first line break as the head of a piece. Whatever they are, the event
 * has a row of the ledger; a span that comes of them borrows from them only, and comes out the same when it
 * is written down and read again.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "core/record.h"
#include "encode/otlp.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "reader/assemble/assembler.h"
#include "reader/assemble/spanevent.h"
#include "reader/assemble/spanfirst.h"

#define MS INT64_C(1000000)
#define T0 (INT64_C(1700000000) * 1000 * MS)
#define CLOCK0 UINT64_C(5000000000)
#define START (CLOCK0 - (uint64_t)(900 * MS))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct text input;
static GString *written; /* the span that was emitted last */

static void hold(bool condition, const char *rule)
{
	if (!condition) {
		fprintf(stderr, "this does not hold: %s\n", rule);
		abort();
	}
}

static void hold_borrowed(struct text text)
{
	hold(!text.size || (text.data >= input.data && text.data + text.size <= input.data + input.size),
		"each text is borrowed from the event");
}

static void write_endpoint(const struct endpoint *endpoint)
{
	char address[INET6_ADDRSTRLEN] = "-";

	hold_borrowed(endpoint->service);
	if (endpoint->address_size)
		inet_ntop(endpoint->address_size == 4 ? AF_INET : AF_INET6, endpoint->address, address,
			sizeof(address));
	g_string_append_printf(written, "%u %s ", endpoint->port, address);
	g_string_append_len(written, endpoint->service.data, endpoint->service.size);
	g_string_append_c(written, '\n');
}

/* What stands before its key. */
static const char *mark_of(const struct tag *tag)
{
	static const char *const marks[] = {"", "#i", "#d", "#b"};

	return tag->type == TAG_TEXT && tag->key.size && *tag->key.data == '#' ? "#s" : marks[tag->type];
}

/* Writes the span as a client would. */
static void write_span(const struct span *span)
{
	static const char *const kinds[] = {"local", "client", "server", "producer", "consumer"};
	int64_t start = T0 - (int64_t)(CLOCK0 - START);

	hold(span->annotation_count + span->tag_count <= SPAN_DATA_LINES, "no more lines than may be");
	hold_borrowed(span->remote.service); /* encoders look at them even if there are none */
	hold_borrowed(span->program);
	g_string_assign(written, kinds[span->kind]);
	g_string_append_printf(written, "%s%s", span->shared ? ",shared" : "", span->debug ? ",debug" : "");
	if (span->trace_id_high)
		g_string_append_printf(written, ",high=%016" G_GINT64_MODIFIER "x", span->trace_id_high);
	g_string_append_c(written, ' ');
	write_endpoint(&span->local);
	for (size_t i = 0; i < span->annotation_count; i++) {
		hold_borrowed(span->annotations[i].value);
		g_string_append_printf(written, "%+" G_GINT64_FORMAT " ", span->annotations[i].time - start);
		g_string_append_len(
			written, span->annotations[i].value.data, span->annotations[i].value.size);
		g_string_append_c(written, '\n');
	}
	for (size_t i = 0; i < span->tag_count; i++) {
		hold_borrowed(span->tags[i].key);
		hold_borrowed(span->tags[i].value);
		g_string_append(written, mark_of(&span->tags[i]));
		g_string_append_len(written, span->tags[i].key.data, span->tags[i].key.size);
		g_string_append_c(written, '=');
		g_string_append_len(written, span->tags[i].value.data, span->tags[i].value.size);
		g_string_append_c(written, '\n');
	}
	if (span->has_remote) {
		g_string_append_c(written, '@');
		write_endpoint(&span->remote);
	}
	if (span->pid || span->program.size) {
		g_string_append_printf(written, "&%u=", span->pid);
		g_string_append_len(written, span->program.data, span->program.size);
		g_string_append_c(written, '\n');
	}
	g_string_append_printf(written, "!finish +%" G_GINT64_FORMAT "\n", span->duration);
}

/* One that says more than Zipkin can: it is packed and encoded, whatever its texts are. */
static void try_more(const struct span *span)
{
	static struct span_memory memory;
	struct buffer record = {0}, out = {0};
	struct span opened;

	if (record_put(&record, span) >= 0) {
		hold(record_open(&opened, record.data, record.size, &memory),
			"what was packed can be opened");
		hold(opened.tag_count == span->tag_count &&
				opened.more->link_count == span->more->link_count &&
				opened.more->resource.count == span->more->resource.count,
			"it has what the span has");
		otlp_encode(&out, &opened);
		zipkinjson_encode(&out, &opened);
		zipkin_encode(&out, &opened);
	}
	buffer_free(&record);
	buffer_free(&out);
}

/* Reads the input as a span's data, and writes the span down; returns whether there is one. */
static bool read_and_write(void)
{
	static struct span_data lines;
	const struct event event = {.type = EVENT_SPAN,
		.time = T0,
		.clock = CLOCK0,
		.start = START,
		.trace_id = 1,
		.span_id = 2,
		.level = EVENT_LEVEL_INFO,
		.name = {"op", 2},
		.value = input};
	struct span span;
	enum ledger_row row = span_event_read(&lines, &event, &span);

	hold(row == EVENTS_IN_SPANS || row == EVENTS_REJECTED_MALFORMED || row == EVENTS_REJECTED_TIME,
		"an event has a row");
	if (row != EVENTS_IN_SPANS)
		return false;
	if (span.more) {
		try_more(&span);
		return false;
	}
	write_span(&span);
	return true;
}

static void try_span(void)
{
	GString *first;

	if (!read_and_write())
		return;
	first = g_string_new_len(written->str, (gssize)written->len);
	input = (struct text){first->str, (uint32_t)first->len};
	hold(read_and_write(), "a span that was written down is read");
	hold(g_string_equal(first, written), "it is the same span");
	g_string_free(first, TRUE);
}

static void try_piece(void)
{
	const char *line_end = memchr(input.data, '\n', input.size);
	struct span_head head;

	if (span_head_read(&head,
		    (struct text){input.data, line_end ? (uint32_t)(line_end - input.data) : input.size},
		    NULL))
		hold_borrowed(head.local.service);
}

/* Reads it as the text of an event; what its first line says is written down as a client would, and read
 * again. */
static void try_first(void)
{
	struct event event = {.type = EVENT_SPAN, .value = input}, again;
	g_autoptr(GString) first = NULL;

	if (!span_first_read(&event))
		return;
	hold_borrowed(event.name);
	hold_borrowed(event.value);
	first = g_string_new(NULL);
	g_string_printf(first,
		"%016" G_GINT64_MODIFIER "x %016" G_GINT64_MODIFIER "x %016" G_GINT64_MODIFIER
		"x %016" G_GINT64_MODIFIER "x %02u ",
		event.trace_id, event.span_id, event.parent_id, event.start, event.name.size);
	g_string_append_len(first, event.name.data, event.name.size);
	g_string_append_c(first, '\n');
	g_string_append_len(first, event.value.data, event.value.size);
	again = (struct event){.value = {first->str, (uint32_t)first->len}};
	hold(span_first_read(&again), "a first line that was written down is read");
	hold(again.trace_id == event.trace_id && again.span_id == event.span_id &&
			again.parent_id == event.parent_id && again.start == event.start,
		"it has the same ids");
	hold(again.name.size == event.name.size && again.value.size == event.value.size &&
			!memcmp(again.name.data, event.name.data, event.name.size) &&
			!memcmp(again.value.data, event.value.data, event.value.size),
		"it is the same line, and what follows it, too");
	input = event.value;
	try_piece();
	try_span();
}

static void take_spans(void *data, const struct span *span)
{
	++*(int64_t *)data;
	if (span->more)
		try_more(span);
}

/*
 * The input's parts, each of which ends with a byte of 1, as pieces, and what is behind them as the span. A
 * part of an odd size goes on what the one before ended with.
 */
static void try_pieces(void)
{
	const struct assembler_limits limits = {1000 * MS, 100 * MS, 64 * 1024};
	struct ledger rows = {0};
	int64_t emitted = 0, taken = 1;
	struct assembler *assembler = assembler_create(&limits, &rows, take_spans, &emitted);
	struct event event = {.type = EVENT_TAG,
		.time = T0,
		.clock = CLOCK0,
		.start = START,
		.trace_id = 1,
		.span_id = 2,
		.level = EVENT_LEVEL_INFO,
		.name = {"op", 2},
		.head = {"client 0 - svc", 14}};
	const char *at = input.data, *end = at + input.size, *part;

	for (; (part = memchr(at, 1, (size_t)(end - at))); at = part + 1, taken++) {
		char key[64];
		int key_size = snprintf(key, sizeof(key), "#~%d%c%llu", (int)taken + (part - at == 7),
			(part - at) % 2 ? '-' : '+', (unsigned long long)START);

		event.key = (struct text){key, (uint32_t)key_size};
		event.value = (struct text){at, (uint32_t)(part - at)};
		assembler_take(assembler, &event, 0);
	}
	event.type = EVENT_SPAN;
	event.value = (struct text){at, (uint32_t)(end - at)};
	assembler_take(assembler, &event, 0);
	assembler_flush(assembler);
	hold(rows.row[SPANS_MADE] == emitted && !rows.row[SPANS_PENDING], "each span is emitted");
	hold(rows.row[EVENTS_IN_SPANS] + rows.row[EVENTS_REJECTED_MALFORMED] +
				rows.row[EVENTS_REJECTED_TIME] ==
			taken,
		"each event has a row");
	assembler_destroy(assembler);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!written)
		written = g_string_new(NULL);
	input = (struct text){(const char *)data, (uint32_t)size};
	try_piece();
	try_pieces();
	try_span();
	input = (struct text){(const char *)data, (uint32_t)size};
	try_first();
	return 0;
}
