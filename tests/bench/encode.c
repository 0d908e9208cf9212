/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the agent's formats cost in instructions: run it under callgrind.
 *
 *     encode CALLS
 *
 * Encodes one span, of three annotations and three tags, CALLS times in each format, and as a record, and has
 * callgrind write what each took, under its name.
 */
#include <stdio.h>
#include <stdlib.h>

#include <valgrind/callgrind.h>

#include "core/record.h"
#include "encode/otlp.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "net/scribe.h"

#define WARM_UP 20

#define TEXT(literal)                                                                                        \
	{                                                                                                    \
		literal, sizeof(literal) - 1                                                                 \
	}

struct stage {
	const char *name;
	void (*encode)(struct buffer *out, const struct span *span);
};

static const struct annotation annotations[] = {
	{1764000000000100000, TEXT("request decoded")},
	{1764000000000200000, TEXT("cache miss")},
	{1764000000000300000, TEXT("reply sent")},
};

static const struct tag tags[] = {
	{TEXT("object"), TEXT("rbd_data.10226b8b4567.000000000000042a"), TAG_TEXT},
	{TEXT("pool"), TEXT("rbd"), TAG_TEXT},
	{TEXT("bytes"), TEXT("4194304"), TAG_INT},
};

static const struct span span = {
	.trace_id = 0x60609aef70af5592,
	.id = 0x7a31c5e0d9b84f16,
	.parent_id = 0x1f0e2d3c4b5a6978,
	.kind = SPAN_SERVER,
	.timestamp = 1764000000000000000,
	.duration = 400000,
	.name = TEXT("read"),
	.pid = 4711,
	.program = TEXT("osd"),
	.local = {TEXT("osd.4"), {192, 168, 17, 4}, 4, 6800},
	.annotations = annotations,
	.annotation_count = 3,
	.tags = tags,
	.tag_count = 3,
};

static void encode_zipkin(struct buffer *out, const struct span *encoded)
{
	zipkin_encode(out, encoded);
}

static void encode_json(struct buffer *out, const struct span *encoded)
{
	zipkinjson_encode(out, encoded);
}

static void encode_otlp(struct buffer *out, const struct span *encoded)
{
	otlp_encode(out, encoded);
}

/* Scribe's entry of a span that is encoded already. */
static void encode_entry(struct buffer *out, const struct span *encoded)
{
	static struct buffer zipkin;

	if (!zipkin.size)
		zipkin_encode(&zipkin, encoded);
	scribe_put_entry(out, "zipkin", 6, zipkin.data, zipkin.size);
}

static void pack(struct buffer *out, const struct span *packed)
{
	record_put(out, packed);
}

/* A record of it is opened. */
static void open_record(struct buffer *out, const struct span *packed)
{
	static struct buffer record;
	static struct span_memory memory;
	struct span opened;

	(void)out;
	if (!record.size)
		record_put(&record, packed);
	if (!record_open(&opened, record.data, record.size, &memory))
		exit(1);
}

static const struct stage stages[] = {
	{"record", pack},
	{"record, opened", open_record},
	{"zipkin", encode_zipkin},
	{"json2", encode_json},
	{"otlp", encode_otlp},
	{"scribe entry", encode_entry},
};

static void count(const struct stage *stage, unsigned calls)
{
	struct buffer out = {0};

	buffer_reserve(&out, (size_t)(calls + WARM_UP) * 4096);
	for (unsigned i = 0; i < WARM_UP; i++)
		stage->encode(&out, &span);
	CALLGRIND_ZERO_STATS;
	for (unsigned i = 0; i < calls; i++)
		stage->encode(&out, &span);
	CALLGRIND_DUMP_STATS_AT(stage->name);
	buffer_free(&out);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: encode CALLS\n");
		return 64;
	}
	for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++)
		count(&stages[i], (unsigned)atoi(argv[1]));
	return 0;
}
