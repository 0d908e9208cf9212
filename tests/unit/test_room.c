/* SPDX-License-Identifier: BSD-2-Clause */
/* Room for names: each user has a share, silent ones make room, and nothing is counted twice or not at all.
 */
#include <check.h>
#include <stdio.h>

#include <glib.h>

#include "base/clock.h"
#include "stats/inner.h"
#include "stats/monitor.h"

#include "config/load.h"
#include "run.h"
#include "stats_rig.h"

static struct monitor *monitor;
static atomic_bool counting; /* while another thread looks */
static struct config config;

static void setup(void)
{
	make_statistics();
	config_init(&config);
	monitor = monitor_create(statistics, &config);
}

static void teardown(void)
{
	monitor_destroy(monitor);
	config_free(&config);
	end_statistics();
}

/* So many names of @who, each once; all spans take @duration. */
static void record(uint32_t who, int from, int count, int64_t duration)
{
	char service[32], name[32];

	user = who;
	snprintf(service, sizeof(service), "of %u", who);
	for (int i = from; i < from + count; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		add(service, name, duration, false, who);
		if (i % 1000 == 999)
			ck_assert(take());
	}
	ck_assert(take());
}

/* The spans of that name; 0: it has no series. */
static uint64_t spans_of(uint32_t who, int i, unsigned window)
{
	char service[32], name[32];
	int64_t number;
	const struct series *series;

	snprintf(service, sizeof(service), "of %u", who);
	snprintf(name, sizeof(name), "name %d", i);
	number = monitor_find(monitor, service, name);
	series = number < 0 ? NULL : monitor_series(monitor, window, (uint32_t)number);
	return series ? series->spans : 0;
}

static void sum_up(void *data, uint32_t number, const struct series *series, const struct exemplar *exemplars)
{
	uint64_t *sum = data;

	(void)number;
	(void)exemplars;
	if (!counting) /* a look may come between the two */
		ck_assert_uint_eq(histogram_total(&series->histogram), series->timed);
	*sum += series->spans;
}

/* What the metrics have, in which sums never go back. */
static uint64_t all_spans(void)
{
	uint64_t sum = 0;

	statistics_each(statistics, sum_up, &sum);
	return sum;
}

/* One user has taken all: another one's names have series all the same, in place of the quietest. */
START_TEST(a_user_has_a_share)
{
	uint32_t held, most;

	record(1, 0, STATISTICS_SERIES_MAX + 2500, 1000);
	ck_assert_uint_eq(monitor_summed(monitor, &most, &held), 2500);
	ck_assert_uint_eq(most, 1);
	ck_assert_uint_eq(held, STATISTICS_SERIES_MAX);
	record(1, 0, 50, 1000); /* these are not quiet */
	record(2, 0, 1000, 5000);
	for (int i = 0; i < 1000; i++)
		ck_assert_uint_eq(spans_of(2, i, WINDOW_ALL), 1);
	for (int i = 0; i < 50; i++)
		ck_assert_uint_eq(spans_of(1, i, WINDOW_ALL), 2);
	ck_assert_uint_eq(spans_of(1, 50, WINDOW_ALL), 0);
	ck_assert_uint_eq(spans_of(1, 1050, WINDOW_ALL), 1);
	ck_assert_uint_eq(all_spans(), STATISTICS_SERIES_MAX + 2500 + 50 + 1000);
	record(2, 1000, 9000, 5000);
	ck_assert_uint_eq(spans_of(2, 4999, WINDOW_ALL), 1); /* half of all, */
	ck_assert_uint_eq(spans_of(2, 5000, WINDOW_ALL), 0); /* and no more */
	ck_assert_uint_eq(all_spans(), STATISTICS_SERIES_MAX + 2500 + 50 + 10000);
}
END_TEST

/* A name that had to make room is summed up, and comes back if somebody uses it who has room. */
START_TEST(a_name_comes_back)
{
	record(1, 0, STATISTICS_SERIES_MAX, 1000);
	record(2, 0, 10, 1000);
	ck_assert_uint_eq(spans_of(1, 0, WINDOW_ALL), 0);
	record(1, 0, 1, 1000);
	ck_assert_uint_eq(spans_of(1, 0, WINDOW_ALL), 0);
	ck_assert_uint_eq(statistics_summed(statistics), 1);
	user = 2;
	add("of 1", "name 0", 1000, false, 2);
	ck_assert(take());
	ck_assert_uint_eq(spans_of(1, 0, WINDOW_ALL), 1);
	ck_assert_uint_eq(all_spans(), STATISTICS_SERIES_MAX + 12);
}
END_TEST

/* Also the user's own, and that of one who has fewer. */
START_TEST(silent_names_make_room)
{
	record(2, 0, 100, 1000);
	record(1, 0, STATISTICS_SERIES_MAX, 1000);
	ck_assert_uint_eq(statistics_summed(statistics), 100);
	for (uint32_t i = 1; i <= 200; i++)
		statistics->cells[i].last -= 3601 * NS_PER_SECOND;
	statistics->silent.looked = 0;
	record(1, STATISTICS_SERIES_MAX - 100, 250, 1000);
	ck_assert_uint_eq(spans_of(1, STATISTICS_SERIES_MAX + 99, WINDOW_ALL), 1);
	ck_assert_uint_eq(spans_of(1, STATISTICS_SERIES_MAX + 100, WINDOW_ALL), 0);
	ck_assert_uint_eq(spans_of(2, 0, WINDOW_ALL), 0);
	ck_assert_uint_eq(statistics_summed(statistics), 150);
	ck_assert_uint_eq(all_spans(), STATISTICS_SERIES_MAX + 350);
}
END_TEST

/* What a series had before it got its name is in no window of it, nor in its trend, nor in its maximum. */
START_TEST(windows_begin_with_the_name)
{
	double spans[TREND_POINTS], p99[TREND_POINTS];
	const struct series *series;
	uint32_t number;

	record(1, 0, STATISTICS_SERIES_MAX, 900000000);
	for (int tick = 0; tick < 3; tick++)
		monitor_tick(monitor);
	for (int tick = 0; tick < 90; tick++) {
		record(2, 0, 10, 1000 << tick % 8);
		for (int i = 0; i < 10; i++) {
			ck_assert_uint_eq(spans_of(2, i, WINDOW_ALL), tick + 1);
			ck_assert_uint_eq(spans_of(2, i, WINDOW_1), MIN(tick, 6) + 1);
		}
		number = (uint32_t)monitor_find(monitor, "of 2", "name 3");
		for (unsigned window = 0; window <= WINDOW_ALL; window++) {
			series = monitor_series(monitor, window, number);
			ck_assert_uint_eq(histogram_total(&series->histogram), series->timed);
			ck_assert_uint_le(series->max, 1000 << 7);
			ck_assert_double_le(histogram_quantile(&series->histogram, 1), (1000 << 7) * 1.04);
		}
		monitor_tick(monitor);
		trend_read(monitor_trend(monitor, false), number, spans, p99);
		ck_assert_double_eq(spans[0], tick < TREND_POINTS - 1 ? 0 : 1);
	}
}
END_TEST

/* So many names of user 1 that the last ones have coarse histograms. */
static void fill_parts(void)
{
	char name[32];

	user = 1;
	for (int i = 0; i < STATISTICS_SERIES_MAX; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		for (int octave = 0; octave < 8; octave++)
			add("of 1", name, INT64_C(1000) << octave, false, 1);
		ck_assert(take());
	}
}

static bool is_fine(const char *service, int i)
{
	char name[32];

	snprintf(name, sizeof(name), "name %d", i);
	return monitor_series(monitor, WINDOW_ALL, (uint32_t)monitor_find(monitor, service, name))->fine;
}

/* Nor do one user's histograms take the room of another one's for good. */
START_TEST(parts_are_taken_over)
{
	fill_parts();
	for (int round = 0; round < 3; round++)
		record(2, 0, 300, 1000 << round);
	for (int i = 0; i < 300; i++)
		ck_assert(is_fine("of 2", i));
	ck_assert_uint_eq(all_spans(), 8 * STATISTICS_SERIES_MAX + 900);
}
END_TEST

/* What was coarse of the name before is none of the next one's. */
START_TEST(coarse_ones_are_taken_over)
{
	const int half = STATISTICS_SERIES_MAX / 2;

	fill_parts();
	ck_assert(is_fine("of 1", 0) && !is_fine("of 1", STATISTICS_SERIES_MAX - 1));
	record(1, 0, half, 1000); /* the others are the quieter ones */
	record(2, 0, half, 1000);
	for (int i = 0; i < half; i++)
		ck_assert(is_fine("of 2", i));
	ck_assert_uint_eq(spans_of(2, half - 1, WINDOW_ALL), 1);
}
END_TEST

static uint32_t listed_of(const bool *listed, uint32_t who)
{
	uint32_t sum = 0;

	for (uint32_t i = 1; i < monitor_count(monitor); i++)
		sum += listed[i] && statistics->shares[statistics->cells[i].share].user == who;
	return sum;
}

/* Of what the metrics list, too. */
START_TEST(lists_are_shared)
{
	g_autofree bool *listed = g_new0(bool, STATISTICS_SERIES_MAX + 1);

	record(1, 0, 300, 1000);
	statistics_list(statistics, 200, listed);
	ck_assert_uint_eq(listed_of(listed, 1), 200);
	ck_assert(!listed[0] && listed[1] && listed[200] && !listed[201]);
	record(2, 0, 10, 1000);
	record(3, 0, 150, 1000);
	statistics_list(statistics, 200, listed);
	ck_assert_uint_eq(listed_of(listed, 2), 10);
	ck_assert_uint_eq(listed_of(listed, 1), 95);
	ck_assert_uint_eq(listed_of(listed, 3), 95);
	statistics_list(statistics, 0, listed);
	ck_assert_uint_eq(listed_of(listed, 1) + listed_of(listed, 2) + listed_of(listed, 3), 0);
	statistics_list(statistics, 2000, listed);
	ck_assert_uint_eq(listed_of(listed, 1) + listed_of(listed, 2) + listed_of(listed, 3), 460);
}
END_TEST

static void list(void *data, uint32_t number, const char *service, const char *name,
	const struct limits *limits, unsigned exceeded)
{
	(void)limits;
	if (!number)
		g_string_append_printf(
			data, "%s/%s %u\n", service ? service : "", name ? name : "", exceeded);
}

/* What is summed up is judged, while there is any; and it is known whose fault it is, until it is over. */
START_TEST(the_sum_has_limits)
{
	const struct config_origin origin = {"file", 1, 1};
	g_autoptr(GString) text = g_string_new(NULL);
	uint32_t held, most;
	char error[256];

	thresholds_add(config.thresholds, "fast/*", "p99 1ms", &origin, error, sizeof(error));
	monitor_configure(monitor, &config);
	record(1, 0, STATISTICS_SERIES_MAX, 1000);
	monitor_each_limited(monitor, list, text);
	ck_assert_str_eq(text->str, "");
	ck_assert_uint_eq(monitor_summed(monitor, &most, &held), 0);
	record(1, STATISTICS_SERIES_MAX, 10, 500000);
	monitor_each_limited(monitor, list, text);
	ck_assert_str_eq(text->str, "/ 0\n");
	record(1, STATISTICS_SERIES_MAX, 10, 2000000);
	monitor_each_limited(monitor, list, text);
	ck_assert_str_eq(text->str, "/ 0\n/ 2\n");
	ck_assert_uint_eq(monitor_summed(monitor, &most, &held), 20);
	monitor_tick(monitor);
	ck_assert_uint_eq(monitor_summed(monitor, &most, &held), 20);
	monitor_tick(monitor);
	ck_assert_uint_eq(monitor_summed(monitor, &most, &held), 0);
}
END_TEST

static void *look(void *data)
{
	(void)data;
	while (counting) {
		struct snapshot snapshot;

		all_spans();
		statistics_read(statistics, &snapshot);
		snapshot_clear(&snapshot);
		for (int i = 0; i < 50; i++)
			spans_of(2, i * 20, WINDOW_1);
		monitor_tick(monitor);
	}
	return NULL;
}

/* Two threads, for ThreadSanitizer; nothing is lost meanwhile. */
START_TEST(one_counts_and_one_looks)
{
	GThread *looks;

	counting = true;
	looks = g_thread_new("look", look, NULL);
	record(1, 0, STATISTICS_SERIES_MAX, 1000);
	for (int i = 0; i < 4; i++)
		record(2 + (uint32_t)i, 0, 1000, 1000 << i);
	counting = false;
	g_thread_join(looks);
	ck_assert_uint_eq(all_spans(), STATISTICS_SERIES_MAX + 4000);
	ck_assert_uint_eq(statistics_summed(statistics), 0);
}
END_TEST

int main(void)
{
	TCase *room = tcase_create("room");
	Suite *suite = suite_create("room");

	tcase_add_checked_fixture(room, setup, teardown);
	tcase_set_timeout(room, 120);
	tcase_add_test(room, a_user_has_a_share);
	tcase_add_test(room, a_name_comes_back);
	tcase_add_test(room, silent_names_make_room);
	tcase_add_test(room, windows_begin_with_the_name);
	tcase_add_test(room, parts_are_taken_over);
	tcase_add_test(room, coarse_ones_are_taken_over);
	tcase_add_test(room, lists_are_shared);
	tcase_add_test(room, the_sum_has_limits);
	tcase_add_test(room, one_counts_and_one_looks);
	suite_add_tcase(suite, room);
	return run_all(srunner_create(suite));
}
