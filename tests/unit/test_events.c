/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of every field class, random ones, too: as JSON what other code writes down, character by character;
 * as a LogRecord, read by the generated code, the same values, and its own bytes when that writes it again.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/pack.h"
#include "encode/jsonvalue.h"
#include "encode/otlpvalue.h"
#include "eventmaker.h"
#include "eventrig.h"
#include "net/otlpfields.h"
#include "otlp.pb-c.h"
#include "run.h"

enum { EVENTS = 4000, BYTES = 3000 };

static struct event_rig rig;

static void setup(void)
{
	event_rig_begin(&rig);
}

static void teardown(void)
{
	event_rig_end(&rig);
}

/* OTLP as the JSON that is expected */

static void put_any(GString *out, const Otlp__AnyValue *value);

static void put_text(GString *out, const char *text)
{
	event_maker_put_text(out, text, strlen(text));
}

static void put_real(GString *out, double value)
{
	char text[JSONVALUE_MAX];

	g_string_append_len(out, text, jsonvalue_real(text, value) - text);
}

static void put_list(GString *out, const Otlp__ArrayValue *list)
{
	g_string_append_c(out, '[');
	for (size_t i = 0; i < list->n_values; i++) {
		g_string_append(out, i ? "," : "");
		put_any(out, list->values[i]);
	}
	g_string_append_c(out, ']');
}

static void put_map(GString *out, const Otlp__KeyValueList *map)
{
	g_string_append_c(out, '{');
	for (size_t i = 0; i < map->n_values; i++) {
		g_string_append(out, i ? "," : "");
		put_text(out, map->values[i]->key);
		g_string_append_c(out, ':');
		put_any(out, map->values[i]->value);
	}
	g_string_append_c(out, '}');
}

static void put_bytes(GString *out, const ProtobufCBinaryData *bytes)
{
	g_autofree char *base64 = g_base64_encode(bytes->data, bytes->len);

	g_string_append_printf(out, "{\"bytes\":\"%s\"}", base64);
}

static void put_any(GString *out, const Otlp__AnyValue *value)
{
	switch (value->value_case) {
	case OTLP__ANY_VALUE__VALUE_STRING_VALUE:
		put_text(out, value->string_value);
		break;
	case OTLP__ANY_VALUE__VALUE_BOOL_VALUE:
		g_string_append(out, value->bool_value ? "true" : "false");
		break;
	case OTLP__ANY_VALUE__VALUE_INT_VALUE:
		g_string_append_printf(out, "%" G_GINT64_FORMAT, value->int_value);
		break;
	case OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE:
		put_real(out, value->double_value);
		break;
	case OTLP__ANY_VALUE__VALUE_ARRAY_VALUE:
		put_list(out, value->array_value);
		break;
	case OTLP__ANY_VALUE__VALUE_KVLIST_VALUE:
		put_map(out, value->kvlist_value);
		break;
	case OTLP__ANY_VALUE__VALUE_BYTES_VALUE:
		put_bytes(out, &value->bytes_value);
		break;
	default:
		g_string_append(out, "null");
	}
}

/* The record of an item, which is packed again as it was. */
static Otlp__LogRecord *record_of(const struct buffer *item)
{
	struct unpacker from = unpacker_of(item->data, item->size);
	uint32_t head = unpack_u32(&from);
	const uint8_t *at = item->data + head;
	Otlp__LogRecord *record = otlp__log_record__unpack(NULL, item->size - head, at);
	g_autofree uint8_t *again = NULL;

	ck_assert_ptr_nonnull(record);
	again = g_malloc(item->size);
	ck_assert_uint_eq(otlp__log_record__get_packed_size(record), item->size - head);
	otlp__log_record__pack(record, again);
	ck_assert_mem_eq(again, at, item->size - head);
	return record;
}

static void assert_as_expected(const struct event_rig *made)
{
	const struct event_maker *maker = &made->maker;
	GString *json = g_string_new(NULL), *body = g_string_new(NULL);
	Otlp__LogRecord *record = record_of(&made->otlp);

	g_string_printf(json, "{\"event\":\"made\",\"payload\":%s", maker->payload->str);
	if (maker->bytes->len)
		g_string_append_printf(json, ",\"bytes\":{%s}", maker->bytes->str);
	g_string_append_c(json, '}');
	ck_assert_msg(json->len == made->json.size && !memcmp(json->str, made->json.data, json->len),
		"%s\nis not\n%.*s", json->str, (int)made->json.size, made->json.data);
	put_any(body, record->body);
	ck_assert_str_eq(body->str, maker->body->str);
	ck_assert_str_eq(record->event_name, "made");
	ck_assert_uint_eq(record->time_unix_nano, 0); /* it has no clock */
	ck_assert_uint_gt(record->observed_time_unix_nano, 0);
	otlp__log_record__free_unpacked(record, NULL);
	g_string_free(json, TRUE);
	g_string_free(body, TRUE);
}

START_TEST(random_events)
{
	GRand *chance = g_rand_new_with_seed(5);
	g_autofree uint8_t *bytes = g_malloc(BYTES);

	for (int round = 0; round < EVENTS; round++) {
		for (int i = 0; i < BYTES; i++)
			bytes[i] = (uint8_t)g_rand_int(chance);
		event_rig_run(&rig, bytes, (size_t)g_rand_int_range(chance, 0, BYTES));
		assert_as_expected(&rig);
	}
	g_rand_free(chance);
	ck_assert_int_eq(rig.events, EVENTS);
}
END_TEST

/* Each byte, in a string alone: what is escaped, and what is kept. */
START_TEST(each_byte)
{
	for (unsigned c = 1; c < 256; c++) {
		/* one member, its name, a string of three bytes */
		const uint8_t bytes[] = {1, 0, 8, 3, 'x', (uint8_t)c, 'y'};

		event_rig_run(&rig, bytes, sizeof(bytes));
		assert_as_expected(&rig);
		ck_assert(g_utf8_validate((char *)rig.json.data, (gssize)rig.json.size, NULL));
		ck_assert_ptr_null(memchr(rig.json.data, '\n', rig.json.size));
		if (c >= 0x80)
			ck_assert_ptr_nonnull(strstr(rig.maker.bytes->str, "\"/payload/a0\":\""));
	}
}
END_TEST

/* Numbers */

static void assert_number(const char *expected, const char *text, const char *end)
{
	ck_assert_msg(strlen(expected) == (size_t)(end - text) && !memcmp(text, expected, strlen(expected)),
		"%s is not %.*s", expected, (int)(end - text), text);
}

START_TEST(reals)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0.0"}, {-0.0, "-0.0"}, {1, "1.0"}, {0.1, "0.1"}, {-2.5e-7, "-2.5e-07"},
		{1e22, "1e+22"}, {123456789012345678.0, "1.2345678901234568e+17"},
		{(double)0.1f, "0.10000000149011612"}, {5e-324, "4.94065645841247e-324"},
		{1.7976931348623157e308, "1.7976931348623157e+308"}, {__builtin_nan(""), "\"NaN\""},
		{__builtin_inf(), "\"Infinity\""}, {-__builtin_inf(), "\"-Infinity\""}};
	char text[JSONVALUE_MAX];

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		assert_number(cases[i].text, text, jsonvalue_real(text, cases[i].value));
}
END_TEST

START_TEST(integers)
{
	char text[JSONVALUE_MAX];

	assert_number("0", text, jsonvalue_unsigned(text, 0));
	assert_number("18446744073709551615", text, jsonvalue_unsigned(text, UINT64_MAX));
	assert_number("-9223372036854775808", text, jsonvalue_signed(text, INT64_MIN));
	assert_number("9223372036854775807", text, jsonvalue_signed(text, INT64_MAX));
}
END_TEST

START_TEST(times)
{
	struct iso_time cache = {0};
	char text[JSONVALUE_MAX];

	assert_number("\"1970-01-01T00:00:00.000000000Z\"", text, jsonvalue_time(text, &cache, 0));
	assert_number("\"1969-12-31T23:59:59.999999999Z\"", text, jsonvalue_time(text, &cache, -1));
	assert_number("\"2026-11-23T13:05:18.000000001Z\"", text,
		jsonvalue_time(text, &cache, INT64_C(1795439118000000001)));
	assert_number("\"2026-11-23T13:05:18.999999999Z\"", text,
		jsonvalue_time(text, &cache, INT64_C(1795439118999999999)));
	assert_number("\"2262-04-11T23:47:16.854775807Z\"", text, jsonvalue_time(text, &cache, INT64_MAX));
	assert_number("\"1677-09-21T00:12:43.145224192Z\"", text, jsonvalue_time(text, &cache, INT64_MIN));
}
END_TEST

/* OTLP's messages of any size: where the size has one byte more, what is in it is moved. */
START_TEST(messages_of_any_size)
{
	static const size_t sizes[] = {
		0, 1, 124, 125, 126, 127, 128, 129, 16380, 16381, 16384, 2097150, 2097153};
	struct buffer out = {0};

	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		g_autofree char *text = g_strnfill(sizes[i], 'x');
		Otlp__KeyValue *pair;
		size_t value;

		out.size = 0;
		otlpvalue_key(&out, (struct text){"p.", 2}, (struct text){"key", 3});
		value = otlpvalue_open(&out, KEYVALUE_VALUE);
		buffer_put(&out, "\x2a", 1); /* array_value */
		buffer_put(&out, "\0", 1);
		out.size -= 2;
		otlpvalue_close(&out, value);
		out.size -= 2;
		otlpvalue_text(&out, KEYVALUE_VALUE, (struct text){text, (uint32_t)sizes[i]});
		pair = otlp__key_value__unpack(NULL, out.size, out.data);
		ck_assert_ptr_nonnull(pair);
		ck_assert_str_eq(pair->key, "p.key");
		ck_assert_str_eq(pair->value->string_value, text);
		otlp__key_value__free_unpacked(pair, NULL);
	}
	buffer_free(&out);
}
END_TEST

/* One whose clock was ahead, or that says so, does not stand for those that come after it. */
START_TEST(far_is_where_the_last_event_is)
{
	const struct buffer none = {0};

	pipeline_foreign(rig.pipeline, &none, 2000, 1);
	ck_assert_int_eq(pipeline_far(rig.pipeline).last, 2000);
	pipeline_foreign(rig.pipeline, &none, 1000, 2);
	ck_assert_int_eq(pipeline_far(rig.pipeline).last, 1000);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("events");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, random_events);
	tcase_add_test(cases, each_byte);
	tcase_add_test(cases, reals);
	tcase_add_test(cases, integers);
	tcase_add_test(cases, times);
	tcase_add_test(cases, messages_of_any_size);
	tcase_add_test(cases, far_is_where_the_last_event_is);
	return run_cases("events", cases);
}
