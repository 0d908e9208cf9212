/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans as records: what is packed is there again, and what is no record is refused. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "core/record.h"
#include "core/value.h"
#include "encode/otlp.h"
#include "encode/zipkin.h"
#include "encode/zipkinjson.h"
#include "randomspan.h"
#include "randomwhole.h"
#include "run.h"
#include "samespan.h"
#include "texts.h"

static struct buffer out, again;
static struct span_memory memory;
static struct random_spans *spans;
static struct random_wholes *wholes;

static void setup(void)
{
	spans = random_spans_create(1);
	wholes = random_wholes_create(2);
}

static void teardown(void)
{
	buffer_free(&out);
	buffer_free(&again);
	span_memory_free(&memory);
	random_spans_free(spans);
	random_wholes_free(wholes);
	out = again = (struct buffer){0};
	memory = (struct span_memory){0};
}

/* With all that is not of a format: in turn with and without `more`. */
static struct span random_one(int round)
{
	struct span span = *(round % 2 ? random_whole(wholes) : random_span(spans, true));

	span.classic = round % 3 == 0;
	span.has_user = round % 5 == 0;
	span.user = (uint32_t)round * 7919;
	span.last_event = span.timestamp + round;
	return span;
}

static bool is_failed(const struct span *span)
{
	bool failed = span->more && span->more->status == SPAN_STATUS_ERROR;

	for (size_t i = 0; !span->more && i < span->tag_count; i++)
		failed |= text_is(span->tags[i].key, "error");
	return failed;
}

START_TEST(there_and_back)
{
	for (int round = 0; round < 2000; round++) {
		struct span span = random_one(round), seen;
		struct trait trait;

		out.size = 3; /* behind what is there already */
		ck_assert_int_eq(record_put(&out, &span), 0);
		memset(&seen, 0xff, sizeof(seen)); /* nothing of which stays */
		ck_assert(record_open(&seen, out.data + 3, out.size - 3, &memory));
		ck_assert(!seen.added && !seen.added_count && !!seen.more == !!span.more);
		ck_assert(seen.has_remote || (!seen.remote.service.size && !seen.remote.address_size));
		assert_same_span(&span, &seen);
		again.size = 0;
		ck_assert_int_eq(record_put(&again, &seen), 0);
		ck_assert_uint_eq(again.size, out.size - 3);
		ck_assert_mem_eq(again.data, out.data + 3, again.size);
		ck_assert(record_trait(&trait, again.data, again.size));
		ck_assert(trait.id == span.id && trait.trace_id == span.trace_id);
		ck_assert_uint_eq(trait.trace_id_high, span.trace_id_high);
		ck_assert_int_eq(trait.last_event, span.last_event);
		ck_assert_uint_eq(trait.duration, span.duration > 0 ? (uint64_t)span.duration : 0);
		ck_assert_int_eq(trait.error, is_failed(&span));
	}
}
END_TEST

/* What can be opened can be encoded, whatever is in it. */
static void encode_all(const struct span *span)
{
	again.size = 0;
	otlp_encode(&again, span);
	zipkin_encode(&again, span);
	zipkinjson_encode(&again, span);
}

START_TEST(damaged)
{
	GRand *random = g_rand_new_with_seed(3);
	struct trait trait;
	struct span seen;

	for (int round = 0; round < 20; round++) {
		struct span span = random_one(round);

		out.size = 0;
		record_put(&out, &span);
		for (size_t size = 0; size < out.size; size++) {
			/* of its own, so that the sanitizer sees what is read behind it */
			g_autofree uint8_t *copy = g_memdup2(out.data, size);

			ck_assert(!record_open(&seen, copy, size, &memory));
			record_trait(&trait, copy, size);
		}
		for (int i = 0; i < 1500; i++) {
			g_autofree uint8_t *copy = g_memdup2(out.data, out.size);

			for (int flips = g_rand_int_range(random, 1, 4); flips; flips--)
				copy[g_rand_int_range(random, 0, (gint32)out.size)] =
					(uint8_t)g_rand_int(random);
			if (record_open(&seen, copy, out.size, &memory))
				encode_all(&seen);
		}
	}
	g_rand_free(random);
}
END_TEST

/* Something behind it is no part of it. */
START_TEST(longer)
{
	struct span span = random_one(1), seen;

	record_put(&out, &span);
	buffer_put(&out, "", 1);
	ck_assert(!record_open(&seen, out.data, out.size, &memory));
}
END_TEST

START_TEST(repaired)
{
	struct tag bad[] = {{literal("k\xff"), literal("a\xc0\xaf"), TAG_TEXT},
		{literal("b"), literal("\xff\xfe"), TAG_BYTES}},
		   good[] = {{literal("k\uFFFD"), literal("a\uFFFD\uFFFD"), TAG_TEXT}, bad[1]};
	struct annotation said = {7, literal("\xe9")}, meant = {7, literal("\uFFFD")};
	struct span span = {.trace_id = 1,
			    .id = 2,
			    .name = literal("\x80"),
			    .program = literal("p\xff"),
			    .local.service = literal("s\xff"),
			    .tags = bad,
			    .tag_count = 2,
			    .annotations = &said,
			    .annotation_count = 1},
		    expected = {.trace_id = 1,
			    .id = 2,
			    .name = literal("\uFFFD"),
			    .program = literal("p\uFFFD"),
			    .local.service = literal("s\uFFFD"),
			    .tags = good,
			    .tag_count = 2,
			    .annotations = &meant,
			    .annotation_count = 1},
		    seen;

	ck_assert_int_eq(record_put(&out, &span), 6);
	ck_assert(record_open(&seen, out.data, out.size, &memory));
	assert_same_span(&expected, &seen);
}
END_TEST

START_TEST(too_large)
{
	struct tag tag = {literal("k"), {NULL, 6 * 1024 * 1024}, TAG_TEXT};
	struct span span = {.trace_id = 1, .id = 2, .tags = &tag, .tag_count = 1};

	ck_assert_int_eq(record_put(&out, &span), -1);
	ck_assert_uint_eq(out.size, 0);
}
END_TEST

/* Lists in lists, short and long: their sizes are known at their ends alone. */
START_TEST(values)
{
	static const char long_text[300] = {'x'};
	const struct tag text = {literal("key"), {long_text, sizeof(long_text)}, TAG_TEXT},
			 none = {literal(""), literal(""), TAG_NONE};
	size_t list = value_open(&out, false, literal(""), TAG_LIST),
	       map = value_open(&out, false, literal(""), TAG_MAP);
	struct text rest, inner;
	struct tag seen;

	value_put(&out, true, &text);
	value_put(&out, true, &none);
	value_close(&out, map);
	value_put(&out, false, &none);
	value_close(&out, list);
	rest = (struct text){(const char *)out.data, (uint32_t)out.size};
	ck_assert(value_next(&rest, false, &seen));
	ck_assert(seen.type == TAG_LIST && !rest.size);
	rest = seen.value;
	ck_assert(value_next(&rest, false, &seen));
	ck_assert_int_eq(seen.type, TAG_MAP);
	inner = seen.value;
	ck_assert(value_next(&inner, true, &seen));
	assert_text(seen.key, text.key);
	assert_text(seen.value, text.value);
	ck_assert(value_next(&inner, true, &seen));
	ck_assert(seen.type == TAG_NONE && !inner.size && !value_next(&inner, true, &seen));
	ck_assert(value_next(&rest, false, &seen));
	ck_assert(seen.type == TAG_NONE && !rest.size);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("record");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 100);
	tcase_add_test(tests, there_and_back);
	tcase_add_test(tests, damaged);
	tcase_add_test(tests, longer);
	tcase_add_test(tests, repaired);
	tcase_add_test(tests, too_large);
	tcase_add_test(tests, values);
	return run_cases("record", tests);
}
