/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds of requests of OTLP, whatever is in them: for the fuzzers of both of their forms. */
#ifndef OTLP_RULES_H
#define OTLP_RULES_H

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "core/record.h"
#include "encode/otlp.h"
#include "encode/otlpjson.h"
#include "encode/otlptraces.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "net/otlprequest.h"

/* What was read: a sum of all records, so that their order does not count. */
struct otlp_seen {
	uint64_t sum;
	uint32_t spans;
	struct buffer items, sizes;
};

static struct otlptraces_memory otlp_memory;
static struct span_memory otlp_opened;
static struct buffer otlp_record, otlp_again, otlp_sent;

static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
	uint64_t sum = 14695981039346656037u;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ bytes[i]) * 1099511628211u;
	return sum;
}

/* Each span becomes a record, which is the same when it is opened; and can be encoded in each format. */
static void see_span(void *data, const struct span *span)
{
	struct otlp_seen *seen = (struct otlp_seen *)data;
	size_t before = seen->items.size;
	struct span opened;
	uint32_t size;

	otlp_record.size = otlp_again.size = 0;
	fuzz_hold(record_put(&otlp_record, span) == 0, "a record has no text that is to be repaired");
	fuzz_hold(record_open(&opened, otlp_record.data, otlp_record.size, &otlp_opened),
		"a record can be opened");
	record_put(&otlp_again, &opened);
	fuzz_hold(otlp_again.size == otlp_record.size &&
			  !memcmp(otlp_again.data, otlp_record.data, otlp_record.size),
		"a record is the same again");
	seen->sum += sum_of(otlp_record.data, otlp_record.size);
	seen->spans++;
	otlp_again.size = 0;
	fuzz_hold(zipkin_encode(&otlp_again, &opened) == 0, "Zipkin gets it");
	fuzz_hold(zipkinjson_encode(&otlp_again, &opened) == 0, "Zipkin gets it as JSON");
	fuzz_hold(otlp_encode(&seen->items, &opened) == 0, "OTLP gets it");
	size = (uint32_t)(seen->items.size - before);
	buffer_put(&seen->sizes, &size, sizeof(size));
}

static void see_refused(void *data, const char *why)
{
	(void)data;
	fuzz_hold(fuzz_is_printable(why), "a reason is printable");
}

static void see_free(struct otlp_seen *seen)
{
	buffer_free(&seen->items);
	buffer_free(&seen->sizes);
}

/* The spans, sent on. */
static void make_request(const struct otlp_seen *seen)
{
	const struct run run = {seen->items.data, (const uint32_t *)(const void *)seen->sizes.data,
		seen->spans, seen->items.size};
	static struct payload *payload;

	if (!payload)
		payload = otlprequest_create("node");
	otlp_sent.size = 0;
	payload_append(payload, &run, &otlp_sent);
}

/* Whoever gets what was sent on has the same spans. */
static void hold_same(struct otlp_seen *first)
{
	struct otlp_seen second = {0}, third = {0};
	const struct otlptraces_sink again = {see_span, see_refused, &second},
				     as_json = {see_span, see_refused, &third};
	struct buffer text = {0};

	make_request(first);
	fuzz_hold(otlptraces_read(otlp_sent.data, otlp_sent.size, &otlp_memory, &again),
		"what is sent is a request");
	fuzz_hold(second.spans == first->spans && second.sum == first->sum, "the same spans are sent on");
	fuzz_hold(otlpjson_put(&text, otlp_sent.data, otlp_sent.size), "what is sent can be JSON");
	fuzz_hold(otlptraces_read_json((const char *)text.data, text.size, &otlp_memory, &as_json),
		"that is a request, too");
	fuzz_hold(third.spans == first->spans && third.sum == first->sum, "it has the same spans");
	buffer_free(&text);
	see_free(&second);
	see_free(&third);
}

#endif
