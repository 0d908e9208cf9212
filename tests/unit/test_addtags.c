/* SPDX-License-Identifier: BSD-2-Clause */
/* The tags that an output adds to its spans, as the encoders write them. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "encode/otlp.h"
#include "encode/spanread.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "net/tbinary.h"
#include "queue/encoding.h"
#include "queue/format.h"
#include "queue/item.h"
#include "randomspan.h"
#include "run.h"
#include "texts.h"

static struct buffer out, again;

static void teardown(void)
{
	buffer_free(&out);
	buffer_free(&again);
	out = again = (struct buffer){0};
}

static void encode_as(int format, struct buffer *to, const struct span *span)
{
	to->size = 0;
	ck_assert_int_ge(format_encode((uint8_t)format, to, span), 0);
}

static void assert_same(void)
{
	ck_assert_uint_eq(out.size, again.size);
	ck_assert_mem_eq(out.data, again.data, out.size);
}

/* The item with the tags is what the encoder makes of a span that has them ahead of its own. */
static void assert_added(int format, const struct span *span, const struct tag *added, size_t count)
{
	g_autofree struct tag *tags = g_new0(struct tag, count + span->tag_count);
	struct span with = *span;

	with.tags = tags;
	with.tag_count = 0;
	for (size_t i = 0; i < count; i++) {
		bool own = false;

		for (size_t k = 0; k < span->tag_count; k++)
			own |= span->tags[k].key.size == added[i].key.size &&
			       !memcmp(span->tags[k].key.data, added[i].key.data, added[i].key.size);
		if (!own)
			tags[with.tag_count++] = added[i];
	}
	for (size_t k = 0; k < span->tag_count; k++)
		tags[with.tag_count++] = span->tags[k];
	encode_as(format, &out, &with);
	with = *span;
	with.added = added;
	with.added_count = count;
	encode_as(format, &again, &with);
	assert_same();
}

START_TEST(tags_are_added)
{
	struct tag added[] = {{.key = literal("cluster"), .value = literal("eu1")},
		{.key = literal("rack"), .value = literal("r7, r8")}};
	struct tag own[] = {{.key = literal("rack"), .value = literal("mine")},
		{.key = literal("cluster"), .value = literal("")}};
	const struct annotation marks[] = {{5, literal("\",\"tags\":{\"rack\":\"1\"},\"debug\":true}")},
		{6, literal(",\"tags\":{\\")}, {7, literal("\\\",\"tags\":{")}};
	struct random_spans *spans = random_spans_create(6);
	struct span span = {.trace_id = 1, .id = 2, .timestamp = 3, .tags = own, .local = {.port = 5}};

	for (int round = 0; round < 1500; round++)
		assert_added(_i, random_span(spans, round % 2), added, 1 + round % 3 / 2);
	for (span.tag_count = 0; span.tag_count <= 2; span.tag_count++) {
		for (int kind = SPAN_LOCAL; kind <= SPAN_CONSUMER; kind++) {
			span.kind = (enum span_kind)kind;
			span.has_remote = !span.has_remote;
			span.debug = kind % 3 == 0;
			span.shared = kind == SPAN_SERVER;
			span.annotations = marks;
			span.annotation_count = (size_t)kind % 4;
			assert_added(_i, &span, added, 2);
		}
	}
	random_spans_free(spans);
}
END_TEST

/* More than a span usually has, and more than fit where no memory is taken for them. */
START_TEST(many_tags)
{
	struct tag added[40], own[60];
	char keys[60][8];
	struct span span = {.trace_id = 1, .id = 2, .timestamp = 3, .tags = own};

	for (size_t i = 0; i < G_N_ELEMENTS(own); i++) {
		g_snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
		own[i] = (struct tag){literal(keys[i]), literal("own"), TAG_TEXT};
		if (i >= 20)
			added[i - 20] = (struct tag){literal(keys[i]), literal("added"), TAG_TEXT};
	}
	for (span.tag_count = 0; span.tag_count <= G_N_ELEMENTS(own); span.tag_count++)
		for (size_t count = 0; count <= G_N_ELEMENTS(added); count += 5)
			assert_added(_i, &span, added, count);
}
END_TEST

/* A span of another agent's, whose place has a field behind it that our encoder does not write: it is still
 * there that it was, and gets the tag. */
START_TEST(fields_behind_the_place)
{
	struct batch *items = batch_create(BATCH_ZIPKIN_SPANS, 0, 0), *encoded;
	struct span_memory memory = {0};
	struct span seen;
	uint8_t *to = buffer_reserve(&out, 200);

	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 1), 7);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 4), 8);
	to = tbinary_put_list(tbinary_put_field(to, TBINARY_LIST, 8), TBINARY_STRUCT, 1);
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 1), "lc", 2);
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_STRING, 2), 0);
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_I32, 3), 6);
	to = tbinary_put_i16(tbinary_put_field(tbinary_put_field(to, TBINARY_STRUCT, 4), TBINARY_I16, 2), 99);
	to = tbinary_put_i64(tbinary_put_field(tbinary_put_stop(to), TBINARY_I64, 9), 1);
	out.size = (size_t)(tbinary_put_stop(tbinary_put_stop(to)) - out.data);
	batch_add(items, out.data, out.size, 1);
	encoded = encode_batch(items, (enum batch_format)_i, "cluster=eu1");
	ck_assert(item_read(&seen, (uint8_t)_i, encoded->spans.data, encoded->spans.size, &memory));
	ck_assert_uint_eq(seen.tag_count, 1);
	assert_text(seen.tags[0].key, literal("cluster"));
	assert_text(seen.tags[0].value, literal("eu1"));
	ck_assert_uint_eq(seen.local.port, 99);
	ck_assert_uint_eq(seen.trace_id, 7);
	span_memory_free(&memory);
	batch_unref(items);
	batch_unref(encoded);
}
END_TEST

/* One attribute of a resource, whose key and value are short. */
static void put_attribute(struct buffer *to, struct text key, struct text value)
{
	const uint8_t head[] = {0x0a, (uint8_t)(key.size + value.size + 6), 0x0a, (uint8_t)key.size},
		      middle[] = {0x12, (uint8_t)(value.size + 2), 0x0a, (uint8_t)value.size};

	buffer_put(to, head, sizeof(head));
	buffer_put(to, key.data, key.size);
	buffer_put(to, middle, sizeof(middle));
	buffer_put(to, value.data, value.size);
}

static size_t head_of(const struct buffer *item)
{
	uint32_t head;

	memcpy(&head, item->data, sizeof(head));
	return GUINT32_FROM_BE(head);
}

/* The resource has those of the tags for which @has is false, behind its own, and nothing else changes. */
static void assert_in_resource(
	const struct span *span, const struct tag *added, const bool *has, size_t count)
{
	struct span with = *span;
	struct buffer attributes = {0};
	size_t head;

	for (size_t i = 0; i < count; i++)
		if (!has[i])
			put_attribute(&attributes, added[i].key, added[i].value);
	with.added = added;
	with.added_count = count;
	encode_as(BATCH_OTLP_SPANS, &out, span);
	encode_as(BATCH_OTLP_SPANS, &again, &with);
	head = head_of(&out);
	ck_assert_uint_eq(again.size, out.size + attributes.size);
	ck_assert_uint_eq(head_of(&again), head + attributes.size);
	ck_assert_mem_eq(again.data + 4, out.data + 4, head - 4);
	ck_assert(!attributes.size || !memcmp(again.data + head, attributes.data, attributes.size));
	ck_assert_mem_eq(again.data + head + attributes.size, out.data + head, out.size - head);
	buffer_free(&attributes);
}

/* Keys that some processes have, and others do not. */
START_TEST(resources_keep_theirs)
{
	struct tag added[] = {{.key = literal("process.executable.name"), .value = literal("x")},
		{.key = literal("network.local.address"), .value = literal("y")},
		{.key = literal("process.pid"), .value = literal("1")},
		{.key = literal("network.local.port"), .value = literal("z")}};
	struct random_spans *spans = random_spans_create(13);

	for (int round = 0; round < 1000; round++) {
		struct span span = *random_span(spans, true);

		if (round % 3)
			span.program.size = 0;
		if (round % 5)
			span.local.port = 0;
		assert_in_resource(&span, added,
			(const bool[]){span.program.size, span.local.address_size, true, span.local.port}, 4);
	}
	random_spans_free(spans);
}
END_TEST

/* In OTLP they are the resource's, whose own attributes stay; the span is as it was, also one that has a tag
 * of that name. */
START_TEST(resources_get_them)
{
	struct tag added[] = {{.key = literal("cluster"), .value = literal("eu1")},
		{.key = literal("service.name"), .value = literal("mine")},
		{.key = literal("host.name"), .value = literal("mine")},
		{.key = literal("rack"), .value = literal("r7")}},
		   own = {.key = literal("cluster"), .value = literal("the span's")};
	struct random_spans *spans = random_spans_create(9);
	struct span_memory memory = {0};

	for (int round = 0; round < 1000; round++) {
		struct span span = *random_span(spans, true);
		struct span seen;

		if (round % 10 == 0) {
			span.tags = &own;
			span.tag_count = 1;
		}
		assert_in_resource(&span, added, (const bool[]){false, true, true, false}, 4);
		ck_assert(spanread_otlp(&seen, again.data, again.size, &memory));
		ck_assert_uint_eq(seen.tag_count, span.tag_count + 2);
	}
	span_memory_free(&memory);
	random_spans_free(spans);
}
END_TEST

static bool has_tag(const struct span *span, const char *key)
{
	for (size_t i = 0; i < span->tag_count; i++)
		if (text_is_equal(span->tags[i].key, literal(key)))
			return true;
	return false;
}

static const enum batch_format sources[] = {
	BATCH_ZIPKIN_SPANS, BATCH_ZIPKIN_JSON, BATCH_OTLP_SPANS, BATCH_SPAN_RECORDS};

#define SOURCES ((int)G_N_ELEMENTS(sources))
#define TARGETS 3

/* It becomes nothing, or a span with the tag; and it does if it can be read. */
static void try_damaged(enum batch_format from, enum batch_format to, const uint8_t *data, size_t size)
{
	struct batch *items = batch_create(from, 0, 0), *encoded;
	struct span_memory memory = {0};
	struct span span;
	bool good;

	buffer_free(&items->spans); /* in memory of just its size */
	items->spans = (struct buffer){.data = g_memdup2(data, size), .size = size, .room = size};
	batch_added(items, size, 1);
	good = size && item_read(&span, (uint8_t)from, items->spans.data, size, &memory);
	encoded = encode_batch(items, to, "cluster=eu1");
	ck_assert_uint_eq(encoded->count, 1);
	ck_assert_uint_eq(encoded->spans.size, batch_sizes(encoded)[0]);
	ck_assert_int_eq(encoded->spans.size > 0, good);
	if (good && span.id && (span.trace_id || span.trace_id_high)) { /* others are no spans in JSON */
		ck_assert(item_read(&span, (uint8_t)to, encoded->spans.data, encoded->spans.size, &memory));
		ck_assert(has_tag(&span, "cluster"));
	}
	span_memory_free(&memory);
	batch_unref(items);
	batch_unref(encoded);
}

/* Half a span gets none; whatever it is, nothing beyond it is read. */
START_TEST(damaged_stays_damaged)
{
	const enum batch_format from = sources[_i % SOURCES], to = (enum batch_format)(_i / SOURCES);
	struct random_spans *spans = random_spans_create(7);
	GRand *random = g_rand_new_with_seed(8);

	for (int round = 0; round < 10; round++) {
		encode_as(from, &out, random_span(spans, true));
		for (size_t size = 0; size < out.size; size++)
			try_damaged(from, to, out.data, size);
		for (int i = 0; i < 1000; i++) {
			size_t at = (size_t)g_rand_int_range(random, 0, (gint32)out.size);
			uint8_t before = out.data[at];

			out.data[at] = (uint8_t)g_rand_int(random);
			try_damaged(from, to, out.data, out.size);
			out.data[at] = before;
		}
	}
	g_rand_free(random);
	random_spans_free(spans);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("addtags");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, tags_are_added, BATCH_ZIPKIN_SPANS, BATCH_ZIPKIN_JSON + 1);
	tcase_add_loop_test(tests, many_tags, BATCH_ZIPKIN_SPANS, BATCH_ZIPKIN_JSON + 1);
	tcase_add_loop_test(tests, damaged_stays_damaged, 0, SOURCES * TARGETS);
	tcase_add_loop_test(tests, fields_behind_the_place, BATCH_ZIPKIN_SPANS, BATCH_OTLP_SPANS + 1);
	tcase_add_test(tests, resources_get_them);
	tcase_add_test(tests, resources_keep_theirs);
	return run_cases("addtags", tests);
}
