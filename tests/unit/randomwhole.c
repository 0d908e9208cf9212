/* SPDX-License-Identifier: BSD-2-Clause */
#include "randomwhole.h"

#include <string.h>

#include <glib.h>

#include "base/buffer.h"
#include "core/value.h"

enum { ITEMS = 6, PLACES = 4, DEPTH = 4 };

struct random_wholes {
	GRand *random;
	GPtrArray *made;
	struct span_more places[PLACES]; /* of which only scope and resource count */
};

static void *get(struct random_wholes *is, size_t size)
{
	void *memory = g_malloc0(size + 1);

	g_ptr_array_add(is->made, memory);
	return memory;
}

static struct text copy(struct random_wholes *is, const void *bytes, size_t size)
{
	char *text = get(is, size);

	if (size)
		memcpy(text, bytes, size);
	return (struct text){text, (uint32_t)size};
}

static int below(struct random_wholes *is, int limit)
{
	return g_rand_int_range(is->random, 0, limit);
}

static uint64_t bits(struct random_wholes *is)
{
	return (uint64_t)g_rand_int(is->random) << 32 | g_rand_int(is->random);
}

static struct text random_text(struct random_wholes *is, int most)
{
	char text[6 * 300];
	int characters = below(is, most), size = 0;

	for (int i = 0; i < characters; i++)
		size += g_unichar_to_utf8(
			below(is, 8) ? (gunichar)(32 + below(is, 95)) : (gunichar)(0x80 + below(is, 0xd000)),
			text + size);
	return copy(is, text, (size_t)size);
}

static struct text random_bytes(struct random_wholes *is)
{
	uint8_t bytes[40];
	int size = below(is, (int)sizeof(bytes));

	for (int i = 0; i < size; i++)
		bytes[i] = (uint8_t)g_rand_int(is->random);
	return copy(is, bytes, (size_t)size);
}

static struct text random_double(struct random_wholes *is)
{
	static const char *const words[] = {"NaN", "Infinity", "-Infinity", "-0", "0"};
	char text[40];
	uint64_t number = bits(is);
	double value;

	memcpy(&value, &number, sizeof(value));
	if (below(is, 5) == 0 || value != value)
		return copy(is, words[number % 5], strlen(words[number % 5]));
	g_ascii_formatd(text, sizeof(text), "%.17g", value);
	return copy(is, text, strlen(text));
}

static void random_value(struct random_wholes *is, struct tag *tag, int depth);

static struct text random_list(struct random_wholes *is, bool map, int depth)
{
	struct buffer list = {0};
	struct text text;

	for (int left = below(is, below(is, 10) ? 4 : 60); left; left--) {
		struct tag value = {.key = map ? random_text(is, 12) : (struct text){"", 0}};

		random_value(is, &value, depth + 1);
		value_put(&list, map, &value);
	}
	text = copy(is, list.data, list.size);
	buffer_free(&list);
	return text;
}

static void random_value(struct random_wholes *is, struct tag *tag, int depth)
{
	char number[40];

	tag->type = (enum tag_type)below(is, TAG_TYPES);
	switch (tag->type) {
	case TAG_TEXT:
		tag->value = random_text(is, below(is, 10) ? 40 : 300);
		return;
	case TAG_INT:
		g_snprintf(number, sizeof(number), "%" G_GINT64_FORMAT, (gint64)bits(is) >> below(is, 64));
		tag->value = copy(is, number, strlen(number));
		return;
	case TAG_DOUBLE:
		tag->value = random_double(is);
		return;
	case TAG_BOOL:
		tag->value = below(is, 2) ? (struct text){"true", 4} : (struct text){"false", 5};
		return;
	case TAG_BYTES:
		tag->value = random_bytes(is);
		return;
	case TAG_LIST:
	case TAG_MAP:
		if (depth < DEPTH) {
			tag->value = random_list(is, tag->type == TAG_MAP, depth);
			return;
		}
		tag->type = TAG_NONE; /* fall through */
	default:
		tag->value = (struct text){"", 0};
	}
}

static struct attributes random_attributes(struct random_wholes *is)
{
	static const char *const words[] = {"error", "peer.service", "server.address", "service.name",
		"process.pid", "zipkin.shared", "otel.status_code", "host.name"};
	struct attributes attributes = {.count = (size_t)below(is, ITEMS)};
	struct tag *tags = get(is, attributes.count * sizeof(*tags));

	for (size_t i = 0; i < attributes.count; i++) {
		const char *word = words[(size_t)below(is, 8)];

		tags[i].key = below(is, 3) ? random_text(is, 30) : copy(is, word, strlen(word));
		random_value(is, &tags[i], 0);
	}
	attributes.tags = tags;
	attributes.dropped = below(is, 4) ? 0 : g_rand_int(is->random);
	return attributes;
}

static void make_place(struct random_wholes *is, struct span_more *place)
{
	place->scope_name = random_text(is, 30);
	place->scope_version = random_text(is, 10);
	place->scope_schema = below(is, 2) ? random_text(is, 60) : (struct text){"", 0};
	place->scope = random_attributes(is);
	place->resource_schema = below(is, 2) ? random_text(is, 60) : (struct text){"", 0};
	place->resource = random_attributes(is);
}

struct random_wholes *random_wholes_create(uint32_t seed)
{
	struct random_wholes *is = g_new0(struct random_wholes, 1);

	is->random = g_rand_new_with_seed(seed);
	is->made = g_ptr_array_new_with_free_func(g_free);
	for (int i = 0; i < PLACES; i++)
		make_place(is, &is->places[i]);
	return is;
}

void random_wholes_free(struct random_wholes *is)
{
	g_rand_free(is->random);
	g_ptr_array_unref(is->made);
	g_free(is);
}

static void make_links(struct random_wholes *is, struct span_more *more)
{
	struct span_link *links = get(is, ITEMS * sizeof(*links));

	more->link_count = (size_t)below(is, ITEMS);
	more->links = links;
	for (size_t i = 0; i < more->link_count; i++)
		links[i] = (struct span_link){
			.trace_id_high = below(is, 3) ? bits(is) : 0,
			.trace_id = bits(is),
			.id = below(is, 9) ? bits(is) : 0,
			.trace_state = random_text(is, 20),
			.flags = below(is, 2) ? g_rand_int(is->random) : 0,
			.attributes = random_attributes(is),
		};
}

static void make_annotations(struct random_wholes *is, struct span *span, struct span_more *more)
{
	struct annotation *annotations = get(is, ITEMS * sizeof(*annotations));
	struct attributes *of_annotations = get(is, ITEMS * sizeof(*of_annotations));

	span->annotation_count = (size_t)below(is, ITEMS);
	span->annotations = annotations;
	for (size_t i = 0; i < span->annotation_count; i++) {
		annotations[i] = (struct annotation){(int64_t)(bits(is) >> 1), random_text(is, 60)};
		of_annotations[i] = random_attributes(is);
		if (of_annotations[i].count || of_annotations[i].dropped)
			more->of_annotations = of_annotations;
	}
}

static struct span_more *make_more(struct random_wholes *is)
{
	struct span_more *more = get(is, sizeof(*more));
	const struct span_more *process = &is->places[below(is, PLACES)];

	*more = is->places[below(is, PLACES)];
	more->resource = process->resource;
	more->resource_schema = process->resource_schema;
	more->flags = below(is, 3) ? g_rand_int(is->random) : 0;
	more->trace_state = random_text(is, 50);
	more->status = (enum span_status)below(is, 3);
	more->status_message = below(is, 2) ? random_text(is, 50) : (struct text){"", 0};
	more->dropped_tags = below(is, 2) ? g_rand_int(is->random) : 0;
	more->dropped_annotations = below(is, 2) ? g_rand_int(is->random) : 0;
	more->dropped_links = below(is, 2) ? g_rand_int(is->random) : 0;
	make_links(is, more);
	return more;
}

const struct span *random_whole(struct random_wholes *is)
{
	struct span *span = get(is, sizeof(*span));
	struct span_more *more = make_more(is);
	struct attributes tags = random_attributes(is);

	*span = (struct span){
		.trace_id_high = below(is, 3) ? bits(is) : 0,
		.trace_id = bits(is) | 1,
		.id = bits(is) | 1,
		.parent_id = below(is, 2) ? bits(is) : 0,
		.kind = (enum span_kind)below(is, SPAN_CONSUMER + 1),
		.timestamp = (int64_t)(bits(is) >> 2),
		.name = random_text(is, 60),
		.tags = tags.tags,
		.tag_count = tags.count,
	};
	span->duration = (int64_t)(bits(is) >> 2) - span->timestamp;
	more->no_kind = span->kind == SPAN_LOCAL && below(is, 2);
	make_annotations(is, span, more);
	span->more = more;
	return span;
}
