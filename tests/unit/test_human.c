/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes and times in the units that people use. */
#include <check.h>

#include "base/clock.h"
#include "base/human.h"

#include "run.h"

static const struct {
	uint64_t bytes;
	const char *text;
} sizes[] = {
	{0, "0"},
	{1, "1 B"},
	{1023, "1023 B"},
	{1024, "1 KiB"},
	{67001 * 1024, "65.4 MiB"},
	{1023 * 1024, "1023 KiB"},
	{1023 * 1024 + 900, "1 MiB"},
	{UINT64_C(1048576) * 1024, "1 GiB"},
	{UINT64_C(1500) << 30, "1.46 TiB"},
};

static const struct {
	int64_t ns;
	const char *text;
} times[] = {
	{0, "0 s"},
	{NS_PER_MS / 2, "0 s"},
	{10 * NS_PER_MS, "10 ms"},
	{999 * NS_PER_MS, "999 ms"},
	{NS_PER_SECOND, "1 s"},
	{2500 * NS_PER_MS, "2.5 s"},
	{60 * NS_PER_SECOND, "60 s"},
	{600 * NS_PER_SECOND, "10 min"},
	{3 * 3600 * NS_PER_SECOND, "3 h"},
	{50 * 3600 * NS_PER_SECOND, "2 days"},
};

START_TEST(size)
{
	char text[HUMAN_MAX];

	ck_assert_str_eq(human_size(text, sizes[_i].bytes), sizes[_i].text);
}
END_TEST

START_TEST(time_of)
{
	char text[HUMAN_MAX];

	ck_assert_str_eq(human_time(text, times[_i].ns), times[_i].text);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("human");

	tcase_add_loop_test(cases, size, 0, sizeof(sizes) / sizeof(*sizes));
	tcase_add_loop_test(cases, time_of, 0, sizeof(times) / sizeof(*times));
	return run_cases("human", cases);
}
