/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that fit the screen. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "wrap.h"

#include "run.h"

static void expect(const char *text, size_t width, const char *wrapped)
{
	char *got = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&got, &size);

	wrap_print(out, text, width);
	fclose(out);
	ck_assert_str_eq(got, wrapped);
	free(got);
}

START_TEST(short_lines_stay)
{
	expect("", 20, "");
	expect("one\n\n  two\n", 20, "one\n\n  two\n");
	expect("without an end", 20, "without an end\n");
	expect("12345678901234567890\n", 20, "12345678901234567890\n");
}
END_TEST

START_TEST(goes_on_below_the_words)
{
	expect("  no program is there\n    -> start one of them\n", 18,
		"  no program is\n  there\n    -> start one\n       of them\n");
	expect("  latency   half of the spans\n", 24, "  latency   half of the\n            spans\n");
	expect("collecting  yes, for 3 h\n", 22, "collecting  yes, for 3\n            h\n");
}
END_TEST

START_TEST(long_words_stay_whole)
{
	expect("  /a/very/long/path is there\n", 10, "  /a/very/long/path\n  is there\n");
	expect("  alone/and/too/long\n", 5, "  alone/and/too/long\n");
	expect("    -> at once\n", 3, "    -> at\n       once\n");
}
END_TEST

START_TEST(counts_characters)
{
	expect("  \xc3\xa4\xc3\xb6\xc3\xbc \xc3\xa4\xc3\xb6\xc3\xbc\n", 9,
		"  \xc3\xa4\xc3\xb6\xc3\xbc \xc3\xa4\xc3\xb6\xc3\xbc\n");
}
END_TEST

START_TEST(a_file_has_a_width)
{
	FILE *file = tmpfile();

	ck_assert_uint_eq(wrap_width(file), WRAP_DEFAULT);
	fclose(file);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("wrap");

	tcase_add_test(cases, short_lines_stay);
	tcase_add_test(cases, goes_on_below_the_words);
	tcase_add_test(cases, long_words_stay_whole);
	tcase_add_test(cases, counts_characters);
	tcase_add_test(cases, a_file_has_a_width);
	return run_cases("wrap", cases);
}
