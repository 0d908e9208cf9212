/* SPDX-License-Identifier: BSD-2-Clause */
/* The first line of a span's text: read as the client writes it, and nothing else. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <blkin/text.h>

#include "base/hexdigits.h"
#include "reader/assemble/spanfirst.h"

#include "run.h"

/* A copy that ends where it ends, so that a sanitizer sees who reads on. */
static bool read_exactly(struct event *event, const char *text, size_t size, char **copy)
{
	*copy = malloc(size ? size : 1);
	memcpy(*copy, text, size);
	*event = (struct event){.type = EVENT_SPAN, .value = {*copy, (uint32_t)size}};
	return span_first_read(event);
}

static bool is_read(const char *text, size_t size)
{
	struct event event;
	char *copy;
	bool good = read_exactly(&event, text, size, &copy);

	free(copy);
	return good;
}

static void assert_text(struct text text, const char *expected, size_t size)
{
	ck_assert_uint_eq(text.size, size);
	ck_assert_int_eq(memcmp(text.data, expected, size), 0);
}

#define IDS "4bf92f3577b34da6 00f067aa0ba902b7 8000000000000001 0000000000001be7 "

START_TEST(test_good)
{
	static const struct {
		const char *line, *name, *rest;
	} cases[] = {
		{"04 read\nlocal 0 - x\n", "read", "local 0 - x\n"},
		{"00 \n", "", ""},
		{"3 a\nb\n+1 c\n", "a\nb", "+1 c\n"},
		{"000000000000000004 read\nrest", "read", "rest"},
		{"05 12 34\n", "12 34", ""},
		{"01 \n\n\n", "\n", "\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event event;
		char text[200], *copy;
		int size = snprintf(text, sizeof(text), IDS "%s", cases[i].line);

		ck_assert(read_exactly(&event, text, (size_t)size, &copy));
		ck_assert_uint_eq(event.trace_id, 0x4bf92f3577b34da6);
		ck_assert_uint_eq(event.span_id, 0x00f067aa0ba902b7);
		ck_assert_uint_eq(event.parent_id, 0x8000000000000001);
		ck_assert_uint_eq(event.start, 0x1be7);
		assert_text(event.name, cases[i].name, strlen(cases[i].name));
		assert_text(event.value, cases[i].rest, strlen(cases[i].rest));
		free(copy);
	}
}
END_TEST

/* Each character that is another one, and each end that comes too early. */
START_TEST(test_garbage)
{
	static const char good[] = IDS "04 read\n";
	const size_t size = sizeof(good) - 1;
	char text[sizeof(good)];

	ck_assert(is_read(good, size));
	for (size_t end = 0; end < size; end++)
		ck_assert(!is_read(good, end));
	for (size_t at = 0; at < size; at++) {
		bool is_id = at < 67 && at % 17 < 16;
		bool in_name = at >= size - 5 && at < size - 1;

		for (int c = 0; c < 256; c++) {
			bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');

			memcpy(text, good, size);
			text[at] = (char)c;
			ck_assert_msg(is_read(text, size) ==
					      (in_name || (is_id && is_hex) || c == (unsigned char)good[at]),
				"%zu is 0x%x", at, (unsigned)c);
		}
	}
}
END_TEST

START_TEST(test_sizes)
{
	static const char *const bad[] = {"05 read\n", "03 read\n", "4294967300 read\n",
		"18446744073709551620 read\n", "9999999999999999999 read\n", "-4 read\n", "+4 read\n",
		" 4 read\n", " read\n", "4read\n\n\n", "04\nread\n", "4  \n\n", "04 read ", "99 \n\n\n\n"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[200];
		int size = snprintf(text, sizeof(text), IDS "%s", bad[i]);

		ck_assert_msg(!is_read(text, (size_t)size), "%s", bad[i]);
	}
}
END_TEST

/* What the header writes is what is read, whatever the number. */
START_TEST(test_numbers)
{
	uint64_t number = 0;

	for (int i = 0; i < 100000; i++) {
		char text[BLKIN_IDS_TEXT_ + 1], expected[BLKIN_IDS_TEXT_ + 1];
		const uint64_t is[] = {number, ~number, number >> (i % 64), number * 3};
		uint64_t read[4];

		blkin_put_ids_(text, is[0], is[1], is[2], is[3]);
		snprintf(expected, sizeof(expected),
			"%016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " ", is[0], is[1], is[2],
			is[3]);
		ck_assert_int_eq(memcmp(text, expected, BLKIN_IDS_TEXT_), 0);
		ck_assert(hex_read_two(text, &read[0], text + 17, &read[1]));
		ck_assert(hex_read_two(text + 34, &read[2], text + 51, &read[3]));
		ck_assert_int_eq(memcmp(is, read, sizeof(is)), 0);
		number = number * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spanfirst");
	TCase *tests = tcase_create("spanfirst");

	tcase_add_test(tests, test_good);
	tcase_add_test(tests, test_garbage);
	tcase_add_test(tests, test_sizes);
	tcase_add_test(tests, test_numbers);
	suite_add_tcase(suite, tests);
	return run_all(srunner_create(suite));
}
