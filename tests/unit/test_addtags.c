/* SPDX-License-Identifier: BSD-2-Clause */
/* Tags that are added to spans which are encoded already. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "encode/addtags.h"
#include "encode/otlp.h"
#include "encode/spanread.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "queue/batch.h"
#include "randomspan.h"
#include "run.h"
#include "texts.h"
#include "wire/tbinary.h"

static struct buffer out, again;

static void teardown(void)
{
	buffer_free(&out);
	buffer_free(&again);
	out = again = (struct buffer){0};
}

static bool add_to(int format, const struct buffer *item, const struct tag *tags, size_t count)
{
	struct text text = {(const char *)item->data, (uint32_t)item->size};

	again.size = 0;
	return format == BATCH_ZIPKIN_JSON ? addtags_json(&again, text, tags, count)
					   : addtags_thrift(&again, text, tags, count);
}

static void encode_as(int format, const struct span *span)
{
	out.size = 0;
	ck_assert_int_ge(
		format == BATCH_ZIPKIN_JSON ? zipkinjson_encode(&out, span) : zipkin_encode(&out, span), 0);
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
	encode_as(format, span);
	ck_assert(add_to(format, &out, added, count));
	encode_as(format, &with);
	ck_assert_uint_eq(out.size, again.size);
	ck_assert_mem_eq(out.data, again.data, out.size);
	with = *span;
	with.added = added;
	with.added_count = count;
	encode_as(format, &with);
	ck_assert_uint_eq(out.size, again.size);
	ck_assert_mem_eq(out.data, again.data, out.size);
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

/* The place has a field behind it, which our encoder does not write: it is still the place that the tag gets.
 */
START_TEST(fields_behind_the_place)
{
	struct tag added = {.key = literal("cluster"), .value = literal("eu1")};
	struct span_memory memory = {0};
	struct span seen;
	uint8_t *to = buffer_reserve(&out, 200);

	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 1), 7);
	to = tbinary_put_list(tbinary_put_field(to, TBINARY_LIST, 8), TBINARY_STRUCT, 1);
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 1), "lc", 2);
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_STRING, 2), 0);
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_I32, 3), 6);
	to = tbinary_put_i16(tbinary_put_field(tbinary_put_field(to, TBINARY_STRUCT, 4), TBINARY_I16, 2), 99);
	to = tbinary_put_i64(tbinary_put_field(tbinary_put_stop(to), TBINARY_I64, 9), 1);
	out.size = (size_t)(tbinary_put_stop(tbinary_put_stop(to)) - out.data);
	ck_assert(add_to(BATCH_ZIPKIN_SPANS, &out, &added, 1));
	ck_assert(spanread_thrift(&seen, again.data, again.size, &memory));
	ck_assert_uint_eq(seen.tag_count, 1);
	ck_assert_uint_eq(seen.local.port, 99);
	span_memory_free(&memory);
}
END_TEST

static bool add_to_resource(
	struct buffer *to, const struct buffer *item, const struct tag *tags, size_t count)
{
	struct addtags_memo memo = {{{0}}};

	return addtags_otlp(
		to, (struct text){(const char *)item->data, (uint32_t)item->size}, tags, count, &memo);
}

/* The encoder adds as what is in @again has it. */
static void assert_encoded(const struct span *span, const struct tag *added, size_t count)
{
	struct span with = *span;

	with.added = added;
	with.added_count = count;
	out.size = 0;
	ck_assert_int_eq(otlp_encode(&out, &with), 0);
	ck_assert_uint_eq(out.size, again.size);
	ck_assert_mem_eq(out.data, again.data, out.size);
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
		out.size = again.size = 0;
		ck_assert_int_eq(otlp_encode(&out, &span), 0);
		ck_assert(add_to_resource(&again, &out, added, 4));
		assert_encoded(&span, added, 4);
	}
	random_spans_free(spans);
}
END_TEST

/* In OTLP they are the resource's, whose own attributes stay; the span is as it was. */
START_TEST(resources_get_them)
{
	struct tag added[] = {{.key = literal("cluster"), .value = literal("eu1")},
		{.key = literal("service.name"), .value = literal("mine")},
		{.key = literal("host.name"), .value = literal("mine")},
		{.key = literal("rack"), .value = literal("r7")}};
	static const char expected[] = "\x0a\x10\x0a\x07"
				       "cluster"
				       "\x12\x05\x0a\x03"
				       "eu1"
				       "\x0a\x0c\x0a\x04"
				       "rack"
				       "\x12\x04\x0a\x02"
				       "r7";
	struct random_spans *spans = random_spans_create(9);
	struct span_memory memory = {0};

	for (int round = 0; round < 1000; round++) {
		const struct span *span = random_span(spans, true);
		struct span seen;
		size_t head, size = sizeof(expected) - 1;

		out.size = again.size = 0;
		ck_assert_int_eq(otlp_encode(&out, span), 0);
		ck_assert(add_to_resource(&again, &out, added, 4));
		head = GUINT32_FROM_BE(*(const uint32_t *)(const void *)out.data);
		ck_assert_uint_eq(again.size, out.size + size);
		ck_assert_uint_eq(GUINT32_FROM_BE(*(const uint32_t *)(const void *)again.data), head + size);
		ck_assert_mem_eq(again.data + 4, out.data + 4, head - 4);
		ck_assert_mem_eq(again.data + head, expected, size);
		ck_assert_mem_eq(again.data + head + size, out.data + head, out.size - head);
		ck_assert(spanread_otlp(&seen, again.data, again.size, &memory));
		ck_assert_uint_eq(seen.tag_count, span->tag_count + 2);
		assert_encoded(span, added, 4);
	}
	span_memory_free(&memory);
	random_spans_free(spans);
}
END_TEST

/* Items of many processes in turn become what each becomes alone. */
START_TEST(processes_in_turn)
{
	struct tag added = {.key = literal("cluster"), .value = literal("eu1")};
	struct random_spans *spans = random_spans_create(12);
	struct buffer items[50] = {{0}}, all = {0};
	struct addtags_memo memo = {{{0}}};

	for (uint32_t i = 0; i < 50; i++) {
		struct span span = *random_span(spans, true);

		span.pid = i % 5 * ADDTAGS_HEADS;
		otlp_encode(&items[i], &span);
	}
	for (int round = 0; round < 2000; round++) {
		const struct buffer *item = &items[round * 7 % (round < 1000 ? 50 : 20)];
		size_t before = all.size;

		again.size = 0;
		ck_assert(add_to_resource(&again, item, &added, 1));
		ck_assert(addtags_otlp(&all, (struct text){(const char *)item->data, (uint32_t)item->size},
			&added, 1, &memo));
		ck_assert_uint_eq(all.size - before, again.size);
		ck_assert_mem_eq(all.data + before, again.data, again.size);
	}
	for (int i = 0; i < 50; i++)
		buffer_free(&items[i]);
	buffer_free(&all);
	random_spans_free(spans);
}
END_TEST

START_TEST(damaged_resources_get_none)
{
	struct tag added = {.key = literal("cluster"), .value = literal("eu1")};
	struct random_spans *spans = random_spans_create(10);
	GRand *random = g_rand_new_with_seed(11);

	for (int round = 0; round < 20; round++) {
		out.size = 0;
		otlp_encode(&out, random_span(spans, true));
		for (int i = 0; i < 2000; i++) {
			size_t size = (size_t)g_rand_int_range(random, 1, (gint32)out.size + 1);
			g_autofree uint8_t *copy = g_memdup2(out.data, size);

			copy[g_rand_int_range(random, 0, (gint32)size)] = (uint8_t)g_rand_int(random);
			again.size = 0;
			if (!add_to_resource(&again, &(struct buffer){.data = copy, .size = size}, &added, 1))
				ck_assert_uint_eq(again.size, 0);
		}
	}
	g_rand_free(random);
	random_spans_free(spans);
}
END_TEST

/* Half a span in Thrift gets none; in JSON it may, and is no span still. Whatever it is, nothing beyond it is
 * read. */
START_TEST(damaged_stays_damaged)
{
	struct span_memory memory = {0};
	struct span seen;
	struct tag added = {.key = literal("cluster"), .value = literal("eu1")};
	struct random_spans *spans = random_spans_create(7);
	GRand *random = g_rand_new_with_seed(8);

	for (int round = 0; round < 20; round++) {
		encode_as(_i, random_span(spans, true));
		for (size_t size = 0; size < out.size; size++) {
			g_autofree uint8_t *copy = g_memdup2(out.data, size);

			if (!add_to(_i, &(struct buffer){.data = copy, .size = size}, &added, 1))
				ck_assert_uint_eq(again.size, 0);
			else
				ck_assert(_i == BATCH_ZIPKIN_JSON &&
					  !spanread_json(&seen, again.data, again.size, &memory));
		}
		for (int i = 0; i < 2000; i++) {
			g_autofree uint8_t *copy = g_memdup2(out.data, out.size);

			copy[g_rand_int_range(random, 0, (gint32)out.size)] = (uint8_t)g_rand_int(random);
			add_to(_i, &(struct buffer){.data = copy, .size = out.size}, &added, 1);
		}
	}
	span_memory_free(&memory);
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
	tcase_add_loop_test(tests, damaged_stays_damaged, BATCH_ZIPKIN_SPANS, BATCH_ZIPKIN_JSON + 1);
	tcase_add_test(tests, fields_behind_the_place);
	tcase_add_test(tests, resources_get_them);
	tcase_add_test(tests, resources_keep_theirs);
	tcase_add_test(tests, processes_in_turn);
	tcase_add_test(tests, damaged_resources_get_none);
	return run_cases("addtags", tests);
}
