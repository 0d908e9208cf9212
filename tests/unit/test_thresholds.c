/* SPDX-License-Identifier: BSD-2-Clause */
/* [thresholds]: which limits a line sets, for which spans, and one clear line for each mistake. */
#include "config/merge.h"
#include "config/thresholds.h"

#include "config/load.h"
#include "config_rig.h"
#include "run.h"

#define MS 1e6

static struct limits find(const char *text, const char *service, const char *span)
{
	struct config config;
	struct limits limits;

	ck_assert_msg(read_text(&config, text) == 0, "%s", said);
	limits = thresholds_find(config.thresholds, service, span);
	config_free(&config);
	return limits;
}

static void assert_limits(struct limits limits, double mean, double p99, double errors)
{
	ck_assert_double_eq(limits.of[LIMIT_MEAN], mean);
	ck_assert_double_eq(limits.of[LIMIT_P99], p99);
	ck_assert_double_eq_tol(limits.of[LIMIT_ERRORS], errors, 1e-12);
}

START_TEST(a_line_sets_limits)
{
	const char *text = "[thresholds]\n"
			   "osd.*/write = 20ms\n"
			   "api/GET /things/* = p99 1s , errors 0.5%, mean 250us\n"
			   "zero/* = 0s, errors 0 %\n"
			   "größe/?x = 1min\n"
			   "rack 1 / put it = 3ms\n";

	assert_limits(find(text, "osd.0", "write"), 20 * MS, -1, -1);
	assert_limits(find(text, "osd.", "write"), 20 * MS, -1, -1);
	assert_limits(find(text, "osd.0", "write2"), -1, -1, -1);
	assert_limits(find(text, "osd0", "write"), -1, -1, -1);
	assert_limits(find(text, "api", "GET /things/7/parts"), 0.25 * MS, 1000 * MS, 0.005);
	assert_limits(find(text, "zero", ""), 0, -1, 0);
	assert_limits(find(text, "größe", "äx"), 60000 * MS, -1, -1);
	assert_limits(find(text, "rack 1", "put it"), 3 * MS, -1, -1);
}
END_TEST

/* Each limit is that of the last line that has one, in whatever file it stands. */
START_TEST(later_lines_win)
{
	const char *text = "[thresholds]\n*/* = 1s, errors 1%\nosd.*/* = 20ms\nosd.1/* = errors 5%, p99 1s\n"
			   "osd.2/* = none\nosd.2/read = 5ms\n";

	assert_limits(find(text, "api", "get"), 1000 * MS, -1, 0.01);
	assert_limits(find(text, "osd.0", "read"), 20 * MS, -1, 0.01);
	assert_limits(find(text, "osd.1", "read"), 20 * MS, 1000 * MS, 0.05);
	assert_limits(find(text, "osd.2", "write"), -1, -1, -1);
	assert_limits(find(text, "osd.2", "read"), 5 * MS, -1, -1);
	g_free(write_file("agent.conf.d/site.conf", "[thresholds]\n*/* = 2s\n"));
	assert_limits(find(text, "osd.1", "read"), 2000 * MS, 1000 * MS, 0.05);
	assert_limits(find(text, "osd.2", "read"), 2000 * MS, -1, -1);
}
END_TEST

START_TEST(mistakes_are_named)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{"osd.0 = 20ms", "`osd.0` names no spans: write SERVICE/SPAN, where * stands for any "
				 "characters and ? for one"},
		{"/write = 20ms", "`/write` names no spans: write SERVICE/SPAN, where * stands for any "
				  "characters and ? for one"},
		{"osd.0/ = 20ms", "`osd.0/` names no spans: write SERVICE/SPAN, where * stands for any "
				  "characters and ? for one"},
		{"a/b =", "there is no limit behind `=`: write a time, such as 20ms, or `none`"},
		{"a/b = 20", "`mean 20` is not valid: it must be a time up to 24h, with its unit: us, ms, s, "
			     "min or h"},
		{"a/b = 20 ms", "`mean 20 ms` is not valid: it must be a time up to 24h, with its unit: us, "
				"ms, s, min or h"},
		{"a/b = p99 25h", "`p99 25h` is not valid: it must be a time up to 24h, with its unit: us, "
				  "ms, s, min or h"},
		{"a/b = p98 20ms",
			"`p98` is no limit: write a time (of the mean), `mean TIME`, `p99 TIME`, `errors "
			"SHARE%`, several separated by commas, or `none`; did you mean `p99`?"},
		{"a/b = p99", "`p99` has no value behind it: write, for example, `p99 20ms`"},
		{"a/b = errors 5",
			"`errors 5` is not valid: it must be a share of the spans from 0% to 100%, "
			"such as 1%"},
		{"a/b = errors 101%", "`errors 101%` is not valid: it must be a share of the spans from 0% "
				      "to 100%, such as 1%"},
		{"a/b = errors 1e1%", "`errors 1e1%` is not valid: it must be a share of the spans from 0% "
				      "to 100%, such as 1%"},
		{"a/b = 20ms, mean 5ms", "`mean` is set twice"},
		{"a/b = 20ms,", "a comma has no limit before or after it"},
		{"a/b = 20ms, none",
			"`none` is no limit: write a time (of the mean), `mean TIME`, `p99 TIME`, `errors "
			"SHARE%`, several separated by commas, or `none`"},
		{"a/b = 20ms # slow",
			"`mean 20ms # slow` is not valid: it must be a time up to 24h, with its "
			"unit: us, ms, s, min or h; a comment is a line of its own"},
		{"a/b = 1s\na/b = 2s", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strdup_printf("[thresholds]\n%s\n", cases[i].line),
				*expected = cases[i].message
						    ? g_strdup_printf("test: F:2: in [thresholds]: %s\n",
							      cases[i].message)
						    : g_strdup("test: F:3: in [thresholds]: `a/b` is already "
							       "set on line 2\n");
		struct config config;

		ck_assert_int_eq(read_text(&config, text), -1);
		ck_assert_str_eq(said, expected);
		config_free(&config);
	}
}
END_TEST

START_TEST(the_section_is_suggested)
{
	struct config config;

	ck_assert_int_eq(read_text(&config, "[threshold]\na/b = 1s\n"), -1);
	ck_assert_str_eq(said, "test: F:1: unknown section [threshold]; did you mean [thresholds]?\n");
	config_free(&config);
}
END_TEST

START_TEST(lines_are_bounded)
{
	g_autoptr(GString) text = g_string_new("[thresholds]\n");
	struct config config;

	for (int i = 0; i <= THRESHOLDS_MAX; i++)
		g_string_append_printf(text, "a/%d = 1s\n", i);
	ck_assert_int_eq(read_text(&config, text->str), -1);
	ck_assert_str_eq(said, "test: F:1002: in [thresholds]: there can be 1000 thresholds at most: write "
			       "some of them as one, with *\n");
	ck_assert_uint_eq(config.thresholds->len, THRESHOLDS_MAX);
	config_free(&config);
}
END_TEST

/* What is printed is the same configuration; a reload takes all of it, at once. */
START_TEST(they_are_printed_and_merged)
{
	struct config config, again, merged;
	char *printed = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&printed, &size);

	ck_assert_int_eq(read_text(&config, "[thresholds]\nb/x y = 1s\na/* = errors 1%,  p99 2s\n"), 0);
	config_print(&config, out);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(printed, ":3\na/* = errors 1%,  p99 2s\n"));
	ck_assert_int_eq(read_text(&again, printed), 0);
	ck_assert(thresholds_equal(config.thresholds, again.thresholds));
	ck_assert_uint_eq(config_changes(&config, &again), 0);
	config_free(&again);
	ck_assert_int_eq(read_text(&again, "[thresholds]\nb/x y = 1s\n"), 0);
	ck_assert_uint_eq(config_changes(&config, &again), CONFIG_CHANGES_THRESHOLDS);
	config_merge(&merged, &config, &again);
	ck_assert(thresholds_equal(merged.thresholds, again.thresholds));
	config_free(&merged);
	config_free(&again);
	config_free(&config);
	free(printed);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("thresholds");

	log_init("test");
	tcase_add_checked_fixture(cases, make_folder, remove_folder);
	tcase_add_test(cases, a_line_sets_limits);
	tcase_add_test(cases, later_lines_win);
	tcase_add_test(cases, mistakes_are_named);
	tcase_add_test(cases, the_section_is_suggested);
	tcase_add_test(cases, lines_are_bounded);
	tcase_add_test(cases, they_are_printed_and_merged);
	return run_cases("thresholds", cases);
}
