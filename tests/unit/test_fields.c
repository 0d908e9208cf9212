/* SPDX-License-Identifier: BSD-2-Clause */
/* The classic events' fields in one piece: as LTTng writes them one by one, packed or aligned. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "run.h"

#define PACKED 1, 1
#define ALIGNED __alignof__(int), __alignof__(int64_t)
#define FILLER 0x5a

static const enum fields_kind kinds[] = {FIELDS_TEXT, FIELDS_KEY_TEXT, FIELDS_KEY_NUMBER};

/* What LTTng would write. */
static char expected[4096];
static size_t expected_size;

static void expect_text(const char *text)
{
	memcpy(expected + expected_size, text, strlen(text) + 1);
	expected_size += strlen(text) + 1;
}

static void expect_number(const void *number, size_t size, size_t align)
{
	while (expected_size % align)
		expected[expected_size++] = 0;
	memcpy(expected + expected_size, number, size);
	expected_size += size;
}

static void expect(const struct fields *fields, enum fields_kind kind, size_t int_align, size_t int64_align)
{
	expected_size = 0;
	expect_text(fields->trace_name);
	expect_text(fields->service);
	expect_number(&fields->port, sizeof(int), int_align);
	expect_text(fields->ip);
	for (int i = 0; i < 3; i++)
		expect_number(&fields->ids[i], sizeof(int64_t), int64_align);
	if (kind != FIELDS_TEXT)
		expect_text(fields->key);
	if (kind == FIELDS_KEY_NUMBER)
		expect_number(&fields->number, sizeof(int64_t), int64_align);
	else
		expect_text(fields->text);
}

static void fill(struct fields *fields, const char *name, const char *key, const char *text)
{
	memset(fields, FILLER, sizeof(*fields));
	fields_set_head(fields, name, "osd.4", -2, "10.0.0.1", INT64_MIN, 5, -1);
	fields->key = key;
	fields->text = text;
	fields->number = INT64_MAX - 1;
}

static void check_piece(struct fields *fields, enum fields_kind kind, size_t int_align, size_t int64_align)
{
	size_t used;

	fields_prepare(fields, kind, int_align, int64_align);
	expect(fields, kind, int_align, int64_align);
	ck_assert_uint_eq(fields->size, expected_size);
	ck_assert_int_eq(fields->together, expected_size <= FIELDS_ROOM);
	if (fields->together)
		ck_assert_mem_eq(fields->piece, expected, expected_size);
	used = fields->together ? expected_size : 0;
	memset(expected, FILLER, FIELDS_ROOM);
	ck_assert_mem_eq(fields->piece + used, expected, FIELDS_ROOM - used);
}

/* Texts of all lengths, at all positions; also where they only just fit. */
START_TEST(test_lengths)
{
	char text[FIELDS_ROOM + 20] = "";

	for (size_t size = 0; size < sizeof(text) - 1; size++) {
		for (int kind = 0; kind < 3; kind++) {
			struct fields fields;

			fill(&fields, text, "key", "value");
			check_piece(&fields, kinds[kind], PACKED);
			fill(&fields, text, "key", "value");
			check_piece(&fields, kinds[kind], ALIGNED);
			fill(&fields, "", text, text);
			check_piece(&fields, kinds[kind], PACKED);
			fill(&fields, "", text, text);
			check_piece(&fields, kinds[kind], ALIGNED);
		}
		text[size] = (char)('a' + size % 26);
	}
}
END_TEST

/* LTTng copies by these, where it writes the fields itself. */
START_TEST(test_sizes)
{
	struct fields fields;

	fill(&fields, "read", "key", "value");
	fields_prepare(&fields, FIELDS_KEY_TEXT, PACKED);
	ck_assert_uint_eq(fields.texts, 5);
	ck_assert_uint_eq(fields.sizes[0], sizeof("read"));
	ck_assert_uint_eq(fields.sizes[1], sizeof("osd.4"));
	ck_assert_uint_eq(fields.sizes[2], sizeof("10.0.0.1"));
	ck_assert_uint_eq(fields.sizes[3], sizeof("key"));
	ck_assert_uint_eq(fields.sizes[4], sizeof("value"));
	fields_prepare(&fields, FIELDS_TEXT, PACKED);
	ck_assert_uint_eq(fields.texts, 4);
	ck_assert_uint_eq(fields.sizes[3], sizeof("value"));
}
END_TEST

START_TEST(test_null)
{
	struct fields fields;

	fill(&fields, NULL, NULL, NULL);
	fields_prepare(&fields, FIELDS_KEY_TEXT, PACKED);
	ck_assert(fields.together);
	ck_assert_str_eq(fields.trace_name, "(null)");
	ck_assert_str_eq(fields.piece, "(null)");
	ck_assert_str_eq(fields.key, "(null)");
	ck_assert_str_eq(fields.text, "(null)");
}
END_TEST

/* Another thread changes a text between the look at its size and its copy. */
START_TEST(test_changed)
{
	for (size_t size = 1; size < 40; size++) {
		char text[64] = "";
		struct fields fields;

		memset(text, 'x', size);
		fill(&fields, "read", "key", text);
		fields_measure(&fields, FIELDS_TEXT, PACKED);
		memset(text, 'y', size + 9); /* longer: its beginning */
		fields_put(&fields, FIELDS_TEXT, PACKED);
		ck_assert(fields.together);
		ck_assert_int_eq(fields.piece[fields.size - 1], '\0');
		ck_assert_int_eq(fields.piece[fields.size - 2], 'y');
		for (size_t at = 0; at < size; at++) { /* shorter */
			memset(text, 'z', size);
			text[at] = '\0';
			fields_put(&fields, FIELDS_TEXT, PACKED);
			ck_assert(!fields.together);
		}
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("fields");

	tcase_add_test(cases, test_lengths);
	tcase_add_test(cases, test_sizes);
	tcase_add_test(cases, test_null);
	tcase_add_test(cases, test_changed);
	return run_cases("fields", cases);
}
