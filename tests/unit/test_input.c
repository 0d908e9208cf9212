/* SPDX-License-Identifier: BSD-2-Clause */
/* What senders hand over: where a call ends, what is in it, base64, and the receipt for what is taken. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"
#include "base/siphash.h"
#include "core/via.h"
#include "inlet/otlp/otlp.h"
#include "net/base64.h"
#include "net/base64read.h"
#include "net/scribe.h"
#include "net/scribecall.h"
#include "net/scribereply.h"
#include "net/tbinaryend.h"
#include "queue/receipt.h"
#include "run.h"

/* A call without its frame, of messages of that size; with the old header if not @strict. */
static struct buffer make_call(uint32_t count, size_t size, bool strict)
{
	struct buffer entries = {0}, call = {0};
	uint8_t head[SCRIBE_HEAD_SIZE], tail[SCRIBE_TAIL_SIZE];
	g_autofree uint8_t *span = g_malloc0(size + 1);

	for (uint32_t i = 0; i < count; i++)
		scribe_put_entry(&entries, "zipkin", 6, span, size);
	scribe_put_head(head, 77, count, entries.size);
	scribe_put_tail(tail);
	if (strict) {
		buffer_put(&call, head + 4, sizeof(head) - 4);
	} else {
		buffer_put(&call, "\0\0\0\3Log\1\0\0\0\x4d", 12);
		buffer_put(&call, head + 19, sizeof(head) - 19);
	}
	buffer_put(&call, entries.data, entries.size);
	buffer_put(&call, tail, sizeof(tail));
	buffer_free(&entries);
	return call;
}

START_TEST(ends_where_it_ends)
{
	for (int form = 0; form < 4; form++) {
		struct buffer call = make_call(form / 2 ? 3 : 0, 40, form % 2);
		size_t size = call.size;

		buffer_put(&call, "\x80\1\0\1more", 8);
		for (size_t step = 1; step < 30; step++) {
			struct tbinaryend end = {0};

			for (size_t have = 0; have < size; have += step)
				ck_assert_int_eq(tbinaryend_find(&end, call.data, have), TBINARYEND_MORE);
			ck_assert_int_eq(tbinaryend_find(&end, call.data, call.size), TBINARYEND_FOUND);
			ck_assert_uint_eq(end.at, size);
		}
		buffer_free(&call);
	}
}
END_TEST

/* Lists of lists, maps, all types, and what is none. */
START_TEST(other_shapes)
{
	static const struct {
		const char *data;
		size_t size;
		enum tbinaryend_state state;
	} cases[] = {
#define CASE(data, state) {data, sizeof(data) - 1, state}
		CASE("\x80\1\0\1\0\0\0\1a\0\0\0\0\0", TBINARYEND_FOUND),
		CASE("\x80\1\0\1\0\0\0\1a\0\0\0\0\x0d\0\1\x0b\x08\0\0\0\2\0\0\0\1k\0\0\0\1\0\0\0\0\0\0\0\2\0",
			TBINARYEND_FOUND),
		CASE("\x80\1\0\1\0\0\0\1a\0\0\0\0\x0f\0\1\x0f\0\0\0\2\2\0\0\0\1\1\4\0\0\0\1abcdefgh\0",
			TBINARYEND_FOUND),
		CASE("\x80\1\0\1\0\0\0\1a\0\0\0\0\x0e\0\1\6\0\0\0\2\1\2\3\4\x0c\0\2\3\0\1\7\0\0",
			TBINARYEND_FOUND),
		CASE("\x80\1\0\1\0\0\0\1a\0\0\0\0\x0f\0\1\x0c\x7f\xff\xff\xff", TBINARYEND_MORE),
		CASE("\x80\1\0\1\0\0\0\1a\0\0\0\0\x0f\0\1\x0c\x80\0\0\0", TBINARYEND_BAD),
		CASE("\x80\1\0\1\0\0\0\1a\0\0\0\0\x0b\0\1\xff\xff\xff\xff", TBINARYEND_BAD),
		CASE("\x80\1\0\1\0\0\0\1a\0\0\0\0\x10\0\1", TBINARYEND_BAD),
		CASE("\x80\1\0\1\0\0\0\1a\0\0\0\0\x0f\0\1\0\x7f\xff\xff\xff\0\0", TBINARYEND_BAD),
		CASE("\x80\1\0\1\0\0\0\1a\0\0\0\0\x0d\0\1\0\0\x7f\xff\xff\xff\0\0", TBINARYEND_BAD),
		CASE("\x80\2\0\1\0\0\0\1a\0\0\0\0\0", TBINARYEND_BAD),
		CASE("\x80\1\0\1\0\0\2\1a", TBINARYEND_BAD),
		CASE("GET / HTTP/1.1\r\n\r\n", TBINARYEND_BAD),
	};

	struct tbinaryend end = {0};

	ck_assert_int_eq(
		tbinaryend_find(&end, (const uint8_t *)cases[_i].data, cases[_i].size), cases[_i].state);
}
END_TEST

START_TEST(depth_has_a_limit)
{
	struct buffer call = {0};
	struct tbinaryend end = {0};

	buffer_put(&call, "\x80\1\0\1\0\0\0\1a\0\0\0\0", 13);
	for (int i = 0; i < 100; i++)
		buffer_put(&call, "\x0c\0\1", 3);
	ck_assert_int_eq(tbinaryend_find(&end, call.data, call.size), TBINARYEND_BAD);
	buffer_free(&call);
}
END_TEST

START_TEST(calls_are_read)
{
	bool strict = _i;
	struct buffer call = make_call(3, 40, strict);
	struct scribecall_entry entry;
	struct scribecall is;
	char why[200];

	ck_assert(scribecall_read(&is, call.data, call.size, why, sizeof(why)));
	ck_assert_int_eq(is.method, SCRIBECALL_LOG);
	ck_assert_int_eq(is.strict, strict);
	ck_assert_int_eq(is.head.seqid, 77);
	ck_assert_uint_eq(is.count, 3);
	for (int i = 0; i < 3; i++) {
		scribecall_next(&is, &entry);
		ck_assert_uint_eq(entry.category_size, 6);
		ck_assert_mem_eq(entry.category, "zipkin", 6);
		ck_assert_uint_eq(entry.message_size, BASE64_SIZE(40));
	}
	for (size_t size = 0; size < call.size; size++) {
		ck_assert(!scribecall_read(&is, call.data, size, why, sizeof(why)));
		ck_assert(*why);
	}
	buffer_put(&call, "x", 1);
	ck_assert(!scribecall_read(&is, call.data, call.size, why, sizeof(why)));
	ck_assert_str_eq(why, "1 bytes behind the call");
	buffer_free(&call);
}
END_TEST

/* Our own output reads what is answered. */
START_TEST(replies_can_be_read)
{
	struct scribecall_id id = {.method = "Log", .seqid = 9, .strict = _i, .framed = true};
	struct buffer out = {0};
	struct reply reply = {0};

	scribecall_put_number(&out, &id, TBINARY_I32, 0);
	ck_assert_int_eq(scribereply_read(out.data, out.size, &reply), REPLY_GOOD);
	ck_assert_int_eq(reply.number, 9);
	ck_assert_uint_eq(reply.used, out.size);
	out.size = 0;
	scribecall_put_number(&out, &id, TBINARY_I32, 1);
	ck_assert_int_eq(scribereply_read(out.data, out.size, &reply), REPLY_PUT_OFF);
	out.size = 0;
	scribecall_put_exception(&out, &id, SCRIBECALL_INTERNAL_ERROR, "no, thanks");
	ck_assert_int_eq(scribereply_read(out.data, out.size, &reply), REPLY_REFUSED);
	ck_assert_str_eq(reply.words, "no, thanks");
	buffer_free(&out);
}
END_TEST

static void ck_assert_trace(struct trace_id is, struct trace_id wanted)
{
	ck_assert_uint_eq(is.high, wanted.high);
	ck_assert_uint_eq(is.low, wanted.low);
}

/* Wanted traces in other lists, or as something else, are nobody's; half an id is none. */
START_TEST(odd_lists)
{
	static const struct {
		const char bytes[40];
		size_t size;
		bool hears;
		uint32_t count;
	} lists[] = {
		{"\x0f\x62\x6b\x0a\0\0\0\0", 8, true, 0},
		{"\x0f\x62\x6b\x0a\0\0\0\1"
		 "12345678",
			16, true, 0},
		{"\x0f\x62\x6b\x0a\0\0\0\3"
		 "123456781234567812345678",
			32, true, 1},
		{"\x0f\x62\x6b\x03\0\0\0\2"
		 "12",
			10, false, 0},
		{"\x0f\x62\x6b\x0b\0\0\0\1\0\0\0\1"
		 "1",
			13, false, 0},
		{"\x0b\x62\x6b\0\0\0\x10"
		 "1234567812345678",
			23, false, 0},
		{"\x0a\x62\x6b"
		 "12345678",
			11, false, 0},
	};
	const char *bytes = lists[_i].bytes;
	struct buffer call = make_call(1, 40, true), reply = {0};
	struct scribecall is;
	struct reply answer = {0};
	char why[200];
	uint8_t head[4];

	call.size--;
	buffer_put(&call, bytes, lists[_i].size);
	buffer_put(&call, "", 1);
	ck_assert_msg(scribecall_read(&is, call.data, call.size, why, sizeof(why)), "%s", why);
	ck_assert_uint_eq(is.count, 1);
	ck_assert(is.hears == lists[_i].hears);
	ck_assert_uint_eq(is.wanted_count, lists[_i].count);
	tbinary_put_i32(head, (uint32_t)(23 + lists[_i].size));
	buffer_put(&reply, head, 4);
	buffer_put(&reply, "\x80\1\0\2\0\0\0\3Log\0\0\0\1\x08\0\0\0\0\0\0", 22);
	buffer_put(&reply, bytes, lists[_i].size);
	buffer_put(&reply, "", 1);
	ck_assert_int_eq(scribereply_read(reply.data, reply.size, &answer), REPLY_GOOD);
	ck_assert(answer.hears == lists[_i].hears);
	ck_assert_uint_eq(answer.wanted_count, lists[_i].count);
	/* one that is longer than what there is */
	if (lists[_i].size == 8) {
		reply.data[4 + 22 + 7] = 2;
		ck_assert_int_eq(scribereply_read(reply.data, reply.size, &answer), REPLY_GARBAGE);
		call.data[call.size - 2] = 2;
		ck_assert(!scribecall_read(&is, call.data, call.size, why, sizeof(why)));
	}
	buffer_free(&call);
	buffer_free(&reply);
}
END_TEST

/* The share, and what has waited on a disk, are told in fields of their own; so is what is answered to that.
 */
START_TEST(terms_are_told)
{
	struct wire *wire = scribe_create("zipkin");
	const uint32_t size = 5;
	struct run run = {.spans = (const uint8_t *)"12345", .sizes = &size, .count = 1, .size = 5};
	static const struct trace_id wanted[] = {{0, 1}, {UINT64_MAX, UINT64_C(0x0102030405060708)}};
	struct scribecall_terms terms = {.shares = _i & 1,
		.share = UINT64_MAX / 3,
		.grant = _i & 2 ? 77 : 0,
		.hears = _i & 4,
		.wanted = wanted,
		.wanted_count = _i & 1 ? 2 : 0};
	struct scribecall_id id;
	struct scribecall call;
	struct reply reply = {0};
	struct buffer out = {0};
	char why[200];

	run.share = _i & 1 ? UINT64_MAX - 5 : 0;
	run.replayed = _i & 2;
	run.hears = _i & 4;
	run.wanted = wanted;
	run.wanted_count = _i & 1 ? 0 : 2;
	wire->put_call(wire, &run, 7, &out);
	ck_assert_msg(scribecall_read(&call, out.data + 4, out.size - 4, why, sizeof(why)), "%s", why);
	ck_assert_uint_eq(call.count, 1);
	ck_assert_uint_eq(call.share, run.share);
	ck_assert(call.replayed == run.replayed);
	ck_assert(call.hears == run.hears);
	ck_assert_uint_eq(call.wanted_count, run.hears ? run.wanted_count : 0);
	for (uint32_t i = 0; i < call.wanted_count; i++)
		ck_assert_trace(scribecall_wanted(call.wanted, i), wanted[i]);
	scribecall_identify(&call, true, &id);
	out.size = 0;
	scribecall_put_result(&out, &id, 0, &terms);
	ck_assert_int_eq(scribereply_read(out.data, out.size, &reply), REPLY_GOOD);
	ck_assert_uint_eq(reply.used, out.size);
	ck_assert(reply.shares == terms.shares);
	ck_assert_uint_eq(reply.share, terms.shares ? terms.share : 0);
	ck_assert_uint_eq(reply.grant, terms.grant);
	ck_assert(reply.hears == terms.hears);
	ck_assert_uint_eq(reply.wanted_count, terms.hears ? terms.wanted_count : 0);
	for (uint32_t i = 0; i < reply.wanted_count; i++)
		ck_assert_trace(scribecall_wanted(reply.wanted, i), wanted[i]);
	/* in another type they are nobody's */
	if (_i == 1) {
		out.data[out.size - 1 - 8 - 3] = TBINARY_DOUBLE;
		reply = (struct reply){0};
		ck_assert_int_eq(scribereply_read(out.data, out.size, &reply), REPLY_GOOD);
		ck_assert(!reply.shares);
	}
	wire->destroy(wire);
	buffer_free(&out);
}
END_TEST

/* An agent that takes spans from others tells by way of whom they come, and others skip that. */
START_TEST(numbers_are_told)
{
	struct wire *wire = scribe_create("zipkin");
	const uint32_t size = 5;
	const struct run run = {.spans = (const uint8_t *)"12345", .sizes = &size, .count = 1};
	struct buffer before = {0}, after = {0};
	struct scribecall call;
	char why[200];

	wire->put_call(wire, &run, 1, &before);
	ck_assert(scribecall_read(&call, before.data + 4, before.size - 4, why, sizeof(why)));
	ck_assert_uint_eq(call.via_count, 0);
	via_begin();
	via_note(0x1122334455667788, clock_monotonic());
	via_note(0x1122334455667788, clock_monotonic());
	wire->put_call(wire, &run, 1, &after);
	ck_assert_uint_eq(after.size, before.size + 8 + 16);
	ck_assert_mem_eq(after.data + 4, before.data + 4, before.size - 5);
	ck_assert_msg(scribecall_read(&call, after.data + 4, after.size - 4, why, sizeof(why)), "%s", why);
	ck_assert_uint_eq(call.via_count, 2);
	ck_assert_mem_eq(call.via + 8, "\x11\x22\x33\x44\x55\x66\x77\x88", 8);
	buffer_free(&before);
	buffer_free(&after);
	wire->destroy(wire);
}
END_TEST

START_TEST(numbers_are_forgotten)
{
	uint64_t numbers[VIA_MAX];
	int64_t now = clock_monotonic();

	via_begin();
	for (uint64_t i = 1; i < 1000; i++)
		via_note(i, now + (int64_t)i);
	ck_assert_uint_eq(via_read(numbers, now), VIA_MAX);
	ck_assert(numbers[0]);
	ck_assert_uint_eq(via_read(numbers, now + 61 * NS_PER_SECOND), 1);
}
END_TEST

static const struct trail trails[] = {
	{0, 0}, {0, 1}, {UINT64_MAX, 2}, {0x1122334455667788, 64}, {1, TRAIL_HOPS_MAX}};

/* A span keeps its trail before it; a call has all of them behind its messages. */
START_TEST(trails_go_with_spans)
{
	struct wire *wire = scribe_create("zipkin");
	struct buffer spans = {0}, out = {0};
	uint32_t sizes[G_N_ELEMENTS(trails)];
	struct run run = {.sizes = sizes, .count = G_N_ELEMENTS(trails)};
	struct scribecall call;
	char why[200];

	via_begin();
	for (size_t i = 0; i < G_N_ELEMENTS(trails); i++) {
		uint8_t *from = buffer_reserve(&spans, TRAIL_SIZE + 4), *to = trail_put(from, &trails[i]);
		struct trail again;

		memcpy(to, "\x0a\0\1", 4);
		sizes[i] = (uint32_t)(to + 4 - from);
		ck_assert_uint_eq(trail_read(from, sizes[i], &again), sizes[i] - 4);
		ck_assert_uint_eq(again.hops, trails[i].hops);
		ck_assert_uint_eq(again.stamp, trails[i].stamp);
		spans.size += sizes[i];
	}
	run.spans = spans.data;
	run.size = spans.size;
	wire->put_call(wire, &run, 1, &out);
	ck_assert_msg(scribecall_read(&call, out.data + 4, out.size - 4, why, sizeof(why)), "%s", why);
	for (size_t i = 0; i < G_N_ELEMENTS(trails); i++) {
		struct scribecall_entry entry;

		scribecall_next(&call, &entry);
		ck_assert_uint_eq(entry.trail.hops, trails[i].hops);
		ck_assert_uint_eq(entry.trail.stamp, trails[i].stamp);
		ck_assert_uint_eq(entry.message_size, 8);
		ck_assert_mem_eq(entry.message, "CgABAA==", 8);
	}
	ck_assert_uint_eq(call.trails_size, 0);
	buffer_free(&spans);
	buffer_free(&out);
	wire->destroy(wire);
}
END_TEST

START_TEST(part_of_a_trail_is_none)
{
	struct trail trail;
	uint8_t packed[TRAIL_PACKED_SIZE], *end = trail_pack(packed, &trails[3]);

	ck_assert_uint_eq((size_t)(end - packed), sizeof(packed));
	for (size_t size = 0; size < sizeof(packed); size++)
		ck_assert_uint_eq(trail_unpack(packed, size, &trail) + trail.hops + trail.stamp, 0);
	ck_assert_uint_eq(trail_unpack(packed, sizeof(packed), &trail), sizeof(packed));
}
END_TEST

/* Of the paper that SipHash is from. */
START_TEST(hash_is_the_known_one)
{
	uint8_t key[SIPHASH_KEY_SIZE], data[15];

	for (uint8_t i = 0; i < sizeof(key); i++)
		key[i] = i;
	for (uint8_t i = 0; i < sizeof(data); i++)
		data[i] = i;
	ck_assert_uint_eq(siphash(key, data, sizeof(data)), 0xa129ca6149be45e5);
	ck_assert_uint_eq(siphash(key, data, 0), 0x726fdb47dd0e0e31);
}
END_TEST

START_TEST(base64_is_read)
{
	static const struct {
		const char *text, *means; /* NULL: it is none */
	} cases[] = {
		{"", ""},
		{"YQ==", "a"},
		{"YQ", "a"},
		{"YWI=", "ab"},
		{"YWJj", "abc"},
		{" Y W\r\nJ\tj\n", "abc"},
		{"YWJjZGVmZ2hp\nYWJj\n", "abcdefghiabc"},
		{"Y", NULL},
		{"YQ=", NULL},
		{"YQ==YQ==", NULL},
		{"YW-_", NULL},
		{"YW\xc3\xbc", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct buffer out = {0};
		bool good = base64_read(&out, cases[i].text, strlen(cases[i].text));

		ck_assert_msg(good == (cases[i].means != NULL), "%s", cases[i].text);
		if (good) {
			ck_assert_uint_eq(out.size, strlen(cases[i].means));
			ck_assert(!out.size || memcmp(out.data, cases[i].means, out.size) == 0);
		}
		buffer_free(&out);
	}
}
END_TEST

START_TEST(base64_comes_back)
{
	for (size_t size = 0; size < 300; size++) {
		uint8_t from[300];
		char text[BASE64_SIZE(300)];
		struct buffer out = {0};

		for (size_t i = 0; i < size; i++)
			from[i] = (uint8_t)rand();
		base64_encode(text, from, size);
		ck_assert(base64_read(&out, text, BASE64_SIZE(size)));
		ck_assert_uint_eq(out.size, size);
		ck_assert(!size || memcmp(out.data, from, size) == 0);
		buffer_free(&out);
	}
}
END_TEST

static void count(void *data)
{
	++*(int *)data;
}

START_TEST(receipts)
{
	int woken = 0;
	struct receipt *receipt = receipt_create(count, &woken);
	bool good;

	receipt_take_part(receipt);
	receipt_end_part(receipt, true);
	ck_assert(!receipt_is_settled(receipt, &good));
	receipt_take_part(receipt);
	receipt_close(receipt);
	ck_assert_int_eq(woken, 0);
	receipt_end_part(receipt, _i);
	ck_assert_int_eq(woken, 1);
	ck_assert(receipt_is_settled(receipt, &good));
	ck_assert_int_eq(good, _i);
	receipt_unref(receipt);
}
END_TEST

/* Whether, of many spans that are taken so many times, at intervals of so long, some come again and again. */
static bool comes_again(struct otlp_own *own, int times, int64_t interval)
{
	bool again = false;

	for (int i = 0; i < times; i++)
		for (uint64_t id = 1; id <= 1000; id++)
			again |= otlp_again_note(own,
				&(struct span){.id = id * UINT64_C(0x9e3779b97f4a7c15), .trace_id = 1},
				i * interval);
	return again;
}

/* Within half a minute, that is; otherwise they are counted anew. */
START_TEST(spans_come_again)
{
	static const struct {
		int times;
		int64_t seconds;
		bool again;
	} cases[] = {
		{4, 1, true}, {4, 9, true}, {3, 1, false}, {4, 10, false}, {20, 3600, false}, {9, -1, false}};
	struct otlp_own own = {0};

	ck_assert(comes_again(&own, cases[_i].times, cases[_i].seconds * NS_PER_SECOND) == cases[_i].again);
	otlp_again_forget(&own);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("input");

	tcase_add_test(tests, ends_where_it_ends);
	tcase_add_loop_test(tests, other_shapes, 0, 13);
	tcase_add_test(tests, depth_has_a_limit);
	tcase_add_loop_test(tests, calls_are_read, 0, 2);
	tcase_add_loop_test(tests, replies_can_be_read, 0, 2);
	tcase_add_loop_test(tests, terms_are_told, 0, 8);
	tcase_add_loop_test(tests, odd_lists, 0, 7);
	tcase_add_test(tests, numbers_are_told);
	tcase_add_test(tests, numbers_are_forgotten);
	tcase_add_test(tests, trails_go_with_spans);
	tcase_add_test(tests, part_of_a_trail_is_none);
	tcase_add_test(tests, hash_is_the_known_one);
	tcase_add_test(tests, base64_is_read);
	tcase_add_test(tests, base64_comes_back);
	tcase_add_loop_test(tests, receipts, 0, 2);
	tcase_add_loop_test(tests, spans_come_again, 0, 6);
	return run_cases("input", tests);
}
