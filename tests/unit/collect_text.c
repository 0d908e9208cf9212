/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON, times and suggestions. */
#include <math.h>

#include "base/json.h"
#include "base/suggest.h"
#include "collect_cases.h"
#include "printable.h"

#define ASSERT_STRING(bytes, text)                                                                           \
	do {                                                                                                 \
		struct buffer out_ = {0};                                                                    \
		json_string(&out_, (bytes), sizeof(bytes) - 1);                                              \
		assert_text(&out_, (text));                                                                  \
	} while (0)

START_TEST(json_strings_are_escaped)
{
	ASSERT_STRING("", "\"\"");
	ASSERT_STRING("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		"\"plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
	ASSERT_STRING("q\" b\\ n\n t\t r\r", "\"q\\\" b\\\\ n\\n t\\t r\\u000d\"");
	ASSERT_STRING("nul\0esc\033del\177", "\"nul\\u0000esc\\u001bdel\\u007f\"");
	ASSERT_STRING("csi\xc2\x9b", "\"csi\\u009b\"");
	ASSERT_STRING("\xe2\x80\xaetxt \xe2\x81\xa6 \xe2\x80\xa8 \xf3\xa0\x81\xa1 \xe2\x80\x8d",
		"\"\\u202etxt \\u2066 \\u2028 \\udb40\\udc61 \xe2\x80\x8d\"");
}
END_TEST

START_TEST(json_repairs_utf8)
{
	ASSERT_STRING("a\xff"
		      "b",
		"\"a\xef\xbf\xbd"
		"b\"");
	/* cut off at the end, and in the middle; overlong; a surrogate; beyond Unicode */
	ASSERT_STRING("\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	ASSERT_STRING("\xc3(", "\"\xef\xbf\xbd(\"");
	ASSERT_STRING("\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	ASSERT_STRING("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	ASSERT_STRING("\xf5\x80\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	/* the bytes behind the end are not looked at */
	ASSERT_STRING("\xe2", "\"\xef\xbf\xbd\"");
}
END_TEST

START_TEST(json_puts_commas)
{
	struct buffer out = {0};

	json_open(&out, '{');
	json_key(&out, "a");
	json_open(&out, '[');
	json_int(&out, INT64_MIN);
	json_double(&out, 0.25);
	json_double(&out, INFINITY);
	json_open(&out, '{');
	json_close(&out, '}');
	json_text(&out, "[");
	json_bool(&out, false);
	json_close(&out, ']');
	json_key(&out, "b");
	json_bool(&out, true);
	json_close(&out, '}');
	buffer_put(&out, "\n", 1);
	json_open(&out, '[');
	json_close(&out, ']');
	assert_text(&out, "{\"a\":[-9223372036854775808,0.250000,null,{},\"[\",false],\"b\":true}\n[]");
}
END_TEST

static void assert_time(int64_t us, const char *text)
{
	struct buffer out = {0};

	printable_put_time(&out, us);
	assert_text(&out, text);
}

START_TEST(times_are_readable)
{
	assert_time(0, "0 µs");
	assert_time(999, "999 µs");
	assert_time(1000, "1.00 ms");
	assert_time(12340, "12.3 ms");
	assert_time(9999, "10.0 ms");
	assert_time(999499, "999 ms");
	assert_time(999500, "1.00 s");
	assert_time(59940000, "59.9 s");
	assert_time(59960000, "60.0 s");
	assert_time(125000000, "2 min 5 s");
	assert_time(3720000000, "1 h 2 min");
	assert_time(INT64_C(180000000000), "2 d 2 h");
	assert_time(-1500, "-1.50 ms");
	assert_time(INT64_MAX, "106751991 d 4 h");
	assert_time(INT64_MIN, "-106751991 d 4 h");
}
END_TEST

START_TEST(a_slip_gets_a_suggestion)
{
	static const char *const names[] = {"collect", "status", "validate", "listen"};

	ck_assert_str_eq(suggest("colect", names, 4), "collect");
	ck_assert_str_eq(suggest("stauts", names, 4), "status");
	ck_assert_str_eq(suggest("val", names, 4), "validate");
	ck_assert_str_eq(suggest("lisnet", names, 4), "listen");
	ck_assert_ptr_null(suggest("zzz", names, 4));
	ck_assert_ptr_null(suggest("", names, 4));
}
END_TEST

TCase *collect_text_cases(void)
{
	TCase *cases = tcase_create("text");

	tcase_add_test(cases, json_strings_are_escaped);
	tcase_add_test(cases, json_repairs_utf8);
	tcase_add_test(cases, json_puts_commas);
	tcase_add_test(cases, times_are_readable);
	tcase_add_test(cases, a_slip_gets_a_suggestion);
	return cases;
}
