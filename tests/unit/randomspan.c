/* SPDX-License-Identifier: BSD-2-Clause */
#include "randomspan.h"

#include <string.h>

#include <glib.h>

enum { ITEMS = 12, TEXT = 300 };

struct random_spans {
	GRand *random;
	struct span span;
	struct annotation annotations[ITEMS];
	struct tag tags[ITEMS];
	char memory[4 + 3 * ITEMS][TEXT];
};

struct random_spans *random_spans_create(uint32_t seed)
{
	struct random_spans *spans = g_new0(struct random_spans, 1);

	spans->random = g_rand_new_with_seed(seed);
	return spans;
}

void random_spans_free(struct random_spans *spans)
{
	g_rand_free(spans->random);
	g_free(spans);
}

/* A text of random characters, some of them outside ASCII, some to be escaped. */
static struct text random_text(GRand *random, char *memory, int max)
{
	int size = g_rand_int_range(random, 0, max), at = 0;

	while (at + 4 < size) {
		int kind = g_rand_int_range(random, 0, 16);
		gunichar character = kind > 2 ? (gunichar)g_rand_int_range(random, 32, 127)
				     : kind   ? (gunichar)g_rand_int_range(random, 0xa0, 0xd7ff)
					      : (gunichar)g_rand_int_range(random, 1, 32);

		at += g_unichar_to_utf8(character, memory + at);
	}
	return (struct text){memory, (uint32_t)at};
}

static struct endpoint random_endpoint(GRand *random, char *memory)
{
	struct endpoint endpoint = {.service = random_text(random, memory, 40),
		.port = (uint16_t)g_rand_int_range(random, 0, 65536)};

	endpoint.address_size = (uint8_t[]){0, 4, 16}[g_rand_int_range(random, 0, 3)];
	for (int i = 0; i < endpoint.address_size; i++)
		endpoint.address[i] = (uint8_t)g_rand_int_range(random, 1, 256);
	return endpoint;
}

static uint64_t random_id(GRand *random)
{
	return (uint64_t)g_rand_int(random) << 32 | g_rand_int(random) | 1;
}

/* Whole microseconds in ns, which each format can hold. */
static int64_t random_us(GRand *random, int shift)
{
	return (int64_t)(random_id(random) >> shift) * 1000;
}

/* Of any type, as a client writes it. */
static void random_value(GRand *random, char *memory, struct tag *tag)
{
	static const char *const words[] = {"false", "true"};
	gint64 number = (gint64)random_id(random) >> g_rand_int_range(random, 0, 64);

	tag->type = (enum tag_type)g_rand_int_range(random, 0, TAG_BYTES);
	if (tag->type == TAG_INT)
		g_snprintf(memory, TEXT, "%" G_GINT64_FORMAT, number);
	else if (tag->type == TAG_BOOL)
		g_strlcpy(memory, words[g_rand_boolean(random)], TEXT);
	else if (tag->type == TAG_DOUBLE)
		g_ascii_formatd(memory, TEXT, "%.15g", g_rand_double(random) * (double)number);
	tag->value = (struct text){memory, (uint32_t)strlen(memory)};
	if (tag->type == TAG_TEXT)
		tag->value = random_text(random, memory, TEXT);
}

static void make_items(struct random_spans *spans, bool core)
{
	static const char *const words[] = {"cs", "cr", "sr", "ss", "ms", "mr", "ws", "wx"};
	GRand *random = spans->random;

	for (int i = 0; i < ITEMS; i++) {
		struct annotation *annotation = &spans->annotations[i];
		struct tag *tag = &spans->tags[i];

		annotation->time = random_us(random, 12);
		annotation->value = random_text(random, spans->memory[3 + i], TEXT);
		if (core && g_rand_int_range(random, 0, 8) == 0)
			annotation->value = (struct text){words[g_rand_int_range(random, 0, 8)], 2};
		else if (annotation->value.size < 3) /* which could be one by chance */
			annotation->value = (struct text){"an annotation", 13};
		tag->key = random_text(random, spans->memory[3 + ITEMS + i], TEXT - 2);
		spans->memory[3 + ITEMS + i][tag->key.size++] = (char)('a' + i);
		random_value(random, spans->memory[3 + 2 * ITEMS + i], tag);
	}
}

const struct span *random_span(struct random_spans *spans, bool core)
{
	GRand *random = spans->random;

	spans->span = (struct span){
		.trace_id_high = g_rand_boolean(random) ? random_id(random) : 0,
		.trace_id = random_id(random),
		.id = random_id(random),
		.parent_id = g_rand_boolean(random) ? random_id(random) : 0,
		.kind = (enum span_kind)g_rand_int_range(random, SPAN_LOCAL, SPAN_CONSUMER + 1),
		.shared = g_rand_boolean(random),
		.debug = g_rand_boolean(random),
		.timestamp = random_us(random, 12),
		.duration = g_rand_boolean(random) ? random_us(random, 20) : 0,
		.name = random_text(random, spans->memory[0], TEXT),
		.pid = g_rand_boolean(random) ? g_rand_int(random) : 0,
		.program = random_text(random, spans->memory[3 + 3 * ITEMS], 40),
		.local = random_endpoint(random, spans->memory[1]),
		.has_remote = g_rand_boolean(random),
		.remote = random_endpoint(random, spans->memory[2]),
		.annotations = spans->annotations,
		.annotation_count = (size_t)g_rand_int_range(random, 0, ITEMS + 1),
		.tags = spans->tags,
		.tag_count = (size_t)g_rand_int_range(random, 0, ITEMS + 1),
	};
	make_items(spans, core);
	return &spans->span;
}
