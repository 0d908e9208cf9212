/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of events: what the encoders make of one that has everything, and of damaged ones, from which
 * nothing may come, and of which nothing may be read that is not there: the sanitizers watch that.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/pack.h"
#include "base/utf8.h"
#include "encode/eventjson.h"
#include "encode/eventotlp.h"
#include "otlp.pb-c.h"
#include "run.h"

#define TIME INT64_C(1795439118000000001)
#define SEEN INT64_C(1795439119000000000)

enum { FLIPS = 20000, LEVELS = EVENT_DEPTH_MAX - 1 /* below the scope */ };

static struct eventjson json;
static struct eventotlp otlp;
static struct buffer record, out;

static void setup(void)
{
	otlp.host = "here";
}

static void teardown(void)
{
	eventjson_free(&json);
	eventotlp_free(&otlp);
	buffer_free(&record);
	buffer_free(&out);
	json = (struct eventjson){0};
}

/* Making records */

static void put_name(const char *name)
{
	event_put_text(&record, name, strlen(name));
}

static void put_number(const char *name, enum field_kind kind, uint64_t number)
{
	put_name(name);
	event_put_number(&record, kind, number);
}

static void put_real(const char *name, enum field_kind kind, double value)
{
	put_name(name);
	event_put_real(&record, kind, value);
}

static void put_string(const char *name, const char *text)
{
	put_name(name);
	event_put_kind(&record, FIELD_STRING);
	put_name(text);
}

/* A scope of one number. */
static void put_scope(const char *name, uint64_t number)
{
	size_t scope = event_scope_open(&record);

	event_put_count(&record, 1);
	put_number(name, FIELD_UNSIGNED, number);
	event_scope_close(&record, scope);
}

static void put_wholes(void)
{
	put_name("list");
	event_put_number(&record, FIELD_ARRAY, 4);
	event_put_kind(&record, FIELD_OPTION);
	event_put_kind(&record, FIELD_CUT);
	event_put_number(&record, FIELD_STRUCTURE, 2);
	put_string("/~", "\xff");
	put_number("no", FIELD_BOOL, 0);
	event_put_number(&record, FIELD_ARRAY, 0);
	put_name("either");
	event_put_kind(&record, FIELD_VARIANT);
	put_number("or", FIELD_SIGNED, varint_fold(-7));
}

static void put_payload(void)
{
	size_t scope = event_scope_open(&record);

	event_put_count(&record, 12);
	put_number("yes", FIELD_BOOL, 1);
	put_number("bits", FIELD_BITS, 255);
	put_number("most", FIELD_UNSIGNED, UINT64_MAX);
	put_number("least", FIELD_SIGNED, varint_fold(INT64_MIN));
	put_number("sort", FIELD_UNSIGNED_ENUM, 3);
	event_put_count(&record, 2);
	put_name("low");
	put_name("odd \"");
	put_number("sign", FIELD_SIGNED_ENUM, varint_fold(-3));
	event_put_count(&record, 0);
	put_real("single", FIELD_SINGLE, 0.5);
	put_real("double", FIELD_DOUBLE, 0.1);
	put_string("text", "a\nb");
	put_string("line\n", "");
	put_wholes();
	event_scope_close(&record, scope);
}

static const struct event_head whole = {
	.moment = {MOMENT_TIME, 0, TIME},
	.observed = SEEN,
	.host = {"there", 5},
	.domain = {"ust", 3},
	.name = {"a:b", 3},
	.level = {{"info", 4}, 9},
	.facts = {{true, 1}, {true, 2}, {true, 0}, {true, 3}, {"pro\xff", 4}},
};

static void make_whole(void)
{
	record.size = 0;
	event_record_begin(&record, &whole, (1u << EVENT_SCOPES) - 1);
	put_scope("page", 4);
	put_scope("vpid", 5);
	put_scope("ip", 6);
	put_payload();
}

/* Nothing but an array in an array, and so on. */
static void make_nested(unsigned levels)
{
	size_t scope;

	record.size = 0;
	event_record_begin(&record, &whole, 1u << SCOPE_PAYLOAD);
	scope = event_scope_open(&record);
	event_put_count(&record, 1);
	put_name("deep");
	for (unsigned i = 0; i < levels; i++)
		event_put_number(&record, FIELD_ARRAY, 1);
	event_put_kind(&record, FIELD_OPTION);
	event_scope_close(&record, scope);
}

static void make_string(size_t size, char of)
{
	g_autofree char *text = g_strnfill(size, of);
	size_t scope;

	record.size = 0;
	event_record_begin(&record, &whole, 1u << SCOPE_PAYLOAD);
	scope = event_scope_open(&record);
	event_put_count(&record, 1);
	put_string("text", text);
	event_scope_close(&record, scope);
}

/* Encoding */

static void assert_json(const char *expected)
{
	out.size = 0;
	ck_assert(eventjson_put(&json, &out, record.data, record.size));
	ck_assert_msg(out.size == strlen(expected) && !memcmp(out.data, expected, out.size),
		"%s\nis not\n%.*s", expected, (int)out.size, out.data);
}

/* Both encoders append, or leave what is there as it was; of bytes that are followed by none. */
static bool encode_both(const uint8_t *bytes, size_t size)
{
	uint8_t *alone = g_memdup2(bytes, size);
	bool as_json, as_otlp;

	out.size = 0;
	buffer_put(&out, "before", 6);
	as_json = eventjson_put(&json, &out, alone, size);
	ck_assert(as_json == (out.size > 6) && !memcmp(out.data, "before", 6));
	if (as_json)
		ck_assert(utf8_valid((char *)out.data, out.size) && !memchr(out.data, '\n', out.size));
	out.size = 6;
	as_otlp = eventotlp_put(&otlp, &out, alone, size);
	ck_assert(as_otlp == (out.size > 6) && !memcmp(out.data, "before", 6));
	ck_assert(as_json == as_otlp);
	g_free(alone);
	return as_json;
}

START_TEST(everything_as_json)
{
	make_whole();
	assert_json(
		"{\"timestamp\":1795439118000000001,\"time\":\"2026-11-23T13:05:18.000000001Z\",\"host\":"
		"\"there\","
		"\"domain\":\"ust\",\"event\":\"a:b\",\"level\":\"info\",\"process\":{\"pid\":1,\"tid\":2,"
		"\"name\":\"pro\xef\xbf\xbd\",\"user\":0},\"cpu\":3,\"packet\":{\"page\":4},"
		"\"context\":{\"vpid\":5,\"ip\":6},\"payload\":{\"yes\":true,\"bits\":255,"
		"\"most\":18446744073709551615,\"least\":-9223372036854775808,"
		"\"sort\":{\"value\":3,\"labels\":[\"low\",\"odd "
		"\\\"\"]},\"sign\":{\"value\":-3,\"labels\":[]},"
		"\"single\":0.5,\"double\":0.1,\"text\":\"a\\nb\",\"line\\n\":\"\",\"list\":[null,null,"
		"{\"/~\":\"\xef\xbf\xbd\",\"no\":false},[]],\"either\":{\"or\":-7}},"
		"\"bytes\":{\"/payload/list/2/~1~0\":\"/w==\"},\"cut\":[\"/payload/list/1\"]}");
}
END_TEST

START_TEST(hardly_anything_as_json)
{
	const struct event_head clock = {.moment = {.kind = MOMENT_CYCLES, .cycles = 17}, .id = 4};
	const struct event_head none = {.name = {"", 0}, .observed = SEEN};
	struct event_record opened;

	record.size = 0;
	event_record_begin(&record, &clock, 1u << SCOPE_SPECIFIC);
	put_scope("n", 1);
	assert_json("{\"clock\":17,\"event\":null,\"id\":4,\"context\":{\"n\":1},\"payload\":{}}");
	record.size = 0;
	event_record_begin(&record, &none, 0);
	assert_json("{\"event\":\"\",\"payload\":{}}");
	ck_assert(event_record_open(&opened, record.data, record.size));
	ck_assert_int_eq(opened.head.observed, SEEN);
	make_whole();
	ck_assert(event_record_open(&opened, record.data, record.size));
	ck_assert_int_eq(opened.head.moment.time, TIME);
	ck_assert(!event_record_open(&opened, record.data, 23));
}
END_TEST

/* OTLP */

static Otlp__LogRecord *log_record(void)
{
	struct unpacker from;
	uint32_t head;
	Otlp__LogRecord *made;

	out.size = 0;
	ck_assert(eventotlp_put(&otlp, &out, record.data, record.size));
	from = unpacker_of(out.data, out.size);
	head = unpack_u32(&from);
	ck_assert_uint_eq(unpack_u32(&from), 1); /* the pid */
	made = otlp__log_record__unpack(NULL, out.size - head, out.data + head);
	ck_assert_ptr_nonnull(made);
	return made;
}

static void assert_keys(const Otlp__LogRecord *made, const char *expected)
{
	GString *keys = g_string_new(NULL);

	for (size_t i = 0; i < made->n_attributes; i++)
		g_string_append_printf(keys, "%s ", made->attributes[i]->key);
	ck_assert_str_eq(keys->str, expected);
	g_string_free(keys, TRUE);
}

START_TEST(everything_as_otlp)
{
	Otlp__LogRecord *made;

	make_whole();
	made = log_record();
	ck_assert_uint_eq(made->time_unix_nano, TIME);
	ck_assert_uint_eq(made->observed_time_unix_nano, SEEN);
	ck_assert_uint_eq(made->severity_number, 9);
	ck_assert_str_eq(made->severity_text, "info");
	ck_assert_str_eq(made->event_name, "a:b");
	ck_assert_uint_eq(made->body->kvlist_value->n_values, 12);
	assert_keys(made,
		"host.name lttng.domain thread.id cpu.logical_number lttng.packet.page lttng.context.vpid "
		"lttng.context.ip blkin.cut ");
	otlp__log_record__free_unpacked(made, NULL);
	otlp.host = "there"; /* the node's own events do not say where they are from */
	made = log_record();
	assert_keys(made, "lttng.domain thread.id cpu.logical_number lttng.packet.page lttng.context.vpid "
			  "lttng.context.ip blkin.cut ");
	otlp__log_record__free_unpacked(made, NULL);
}
END_TEST

/* Damage */

START_TEST(cut_off_anywhere)
{
	make_whole();
	ck_assert(encode_both(record.data, record.size));
	for (size_t size = 0; size < record.size; size++)
		ck_assert(!encode_both(record.data, size));
	buffer_put(&record, "", 1);
	ck_assert(!encode_both(record.data, record.size)); /* nor is it followed by anything */
}
END_TEST

START_TEST(any_bytes_changed)
{
	GRand *chance = g_rand_new_with_seed(7);

	make_whole();
	for (int round = 0; round < FLIPS; round++) {
		g_autofree uint8_t *harmed = g_memdup2(record.data, record.size);

		for (int i = g_rand_int_range(chance, 1, 5); i > 0; i--)
			harmed[g_rand_int_range(chance, 0, (gint32)record.size)] =
				(uint8_t)g_rand_int(chance);
		encode_both(harmed, record.size);
	}
	g_rand_free(chance);
}
END_TEST

START_TEST(as_deep_as_may_be)
{
	make_nested(LEVELS);
	ck_assert(encode_both(record.data, record.size));
	make_nested(LEVELS + 1);
	ck_assert(!encode_both(record.data, record.size));
	make_nested(EVENT_SIZE_MAX / 4);
	ck_assert(!encode_both(record.data, record.size));
}
END_TEST

/* What fits as a record may be too large as JSON. */
START_TEST(as_large_as_may_be)
{
	make_string(EVENT_SIZE_MAX - 512, 'x');
	ck_assert(encode_both(record.data, record.size));
	make_string(EVENT_SIZE_MAX + 1, 'x');
	ck_assert(!encode_both(record.data, record.size));
	make_string(EVENT_SIZE_MAX / 4, '\x01');
	out.size = 0;
	ck_assert(!eventjson_put(&json, &out, record.data, record.size));
	ck_assert_uint_eq(out.size, 0);
	ck_assert(eventotlp_put(&otlp, &out, record.data, record.size));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("eventrecord");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, everything_as_json);
	tcase_add_test(cases, hardly_anything_as_json);
	tcase_add_test(cases, everything_as_otlp);
	tcase_add_test(cases, cut_off_anywhere);
	tcase_add_test(cases, any_bytes_changed);
	tcase_add_test(cases, as_deep_as_may_be);
	tcase_add_test(cases, as_large_as_may_be);
	return run_cases("eventrecord", cases);
}
