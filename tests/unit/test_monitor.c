/* SPDX-License-Identifier: BSD-2-Clause */
/* The monitor: windows that are exact at every tick of hours, in bounded memory, and limits that are
 * exceeded. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"
#include "stats/inner.h"
#include "stats/monitor.h"

#include "config/load.h"
#include "run.h"
#include "stats_rig.h"

static struct monitor *monitor;
static struct config config;

static void limit(const char *pattern, const char *value)
{
	const struct config_origin origin = {"file", 1, 1};
	char error[256];

	ck_assert_int_eq(thresholds_add(config.thresholds, pattern, value, &origin, error, sizeof(error)), 0);
}

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

/* What is shown since the start has no end, other than windows. */
START_TEST(buckets_beyond_32_bits)
{
	const uint64_t many = UINT64_C(3) << 32;
	const struct series *series;
	uint32_t number;

	add("a", "n", 1000, false, 1);
	ck_assert(take());
	number = (uint32_t)monitor_find(monitor, "a", "n");
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++)
		for (unsigned step = 0; step < HISTOGRAM_STEPS; step++) {
			counter *count = &statistics->parts[statistics->cells[number].part[octave]][step];

			if (counter_get(count))
				counter_add(count, many);
		}
	series = monitor_series(monitor, WINDOW_ALL, number);
	ck_assert_ptr_nonnull(series);
	ck_assert_uint_eq(histogram_total(&series->histogram), many + 1);
}
END_TEST

/* A model: each span there was, and the tick after which it came. */

struct came {
	int tick, series;
	int64_t duration;
	bool error;
};

static const char *const services[] = {"a", "b", "c"};

static void random_spans(GRand *random, GArray *all, int tick)
{
	int spans = g_rand_int_range(random, 0, 4);

	for (int i = 0; i < spans; i++) {
		struct came came = {.tick = tick,
			.series = g_rand_int_range(random, 0, 3),
			.duration = (int64_t)exp(g_rand_double(random) * 24),
			.error = g_rand_int_range(random, 0, 4) == 0};

		g_array_append_val(all, came);
		add(services[came.series], "n", came.duration, came.error, 1);
	}
	ck_assert(take());
}

static int compare(const void *one, const void *other)
{
	int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;

	return (a > b) - (a < b);
}

/* What a window says of a series is what the spans say that came since it began. */
static void assert_window(const GArray *all, unsigned window, int number, int since)
{
	g_autoptr(GArray) durations = g_array_new(FALSE, FALSE, sizeof(int64_t));
	int64_t found = monitor_find(monitor, services[number], "n");
	const struct series *series = found < 0 ? NULL : monitor_series(monitor, window, (uint32_t)found);
	uint64_t sum = 0, errors = 0;
	int64_t most, p99;

	for (guint i = all->len; i > 0 && g_array_index(all, struct came, i - 1).tick >= since; i--) {
		const struct came *came = &g_array_index(all, struct came, i - 1);

		if (came->series != number)
			continue;
		g_array_append_val(durations, came->duration);
		sum += (uint64_t)came->duration;
		errors += came->error;
	}
	ck_assert_int_eq(durations->len > 0, series != NULL);
	if (!series)
		return;
	g_array_sort(durations, compare);
	most = g_array_index(durations, int64_t, durations->len - 1);
	p99 = g_array_index(durations, int64_t, (guint)ceil(durations->len * 0.99) - 1);
	ck_assert_uint_eq(series->spans, durations->len);
	ck_assert_uint_eq(series->timed, durations->len);
	ck_assert_uint_eq(series->errors, errors);
	ck_assert_uint_eq(series->sum, sum);
	ck_assert_uint_eq(histogram_total(&series->histogram), durations->len);
	ck_assert_double_eq_tol(
		histogram_quantile(&series->histogram, 0.99), p99, (double)p99 * HISTOGRAM_ERROR + 0.5);
	ck_assert_double_eq_tol((double)series->max, (double)most, (double)most * HISTOGRAM_ERROR + 0.5);
}

/* The tick since which a window's spans came: in steps of 1, 6 and 30 ticks behind the one before. */
static int begin_of(enum window window, int ticks)
{
	int begin = MAX(0, ticks - 6);

	if (window >= WINDOW_10)
		begin = MAX(0, begin / 6 * 6 - 9 * 6);
	if (window >= WINDOW_60)
		begin = MAX(0, begin / 30 * 30 - 10 * 30);
	return begin;
}

START_TEST(windows_are_exact)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct came));
	GRand *random = g_rand_new_with_seed(13);

	for (int tick = 0; tick < 3 * 360; tick++) {
		random_spans(random, all, tick);
		for (int i = 0; i < 3; i++) {
			for (int window = 0; window < WINDOWS; window++)
				assert_window(all, (unsigned)window, i, begin_of(window, tick));
			assert_window(all, WINDOW_ALL, i, 0);
		}
		monitor_tick(monitor);
	}
	g_rand_free(random);
}
END_TEST

START_TEST(points_are_kept)
{
	double spans[TREND_POINTS], p99[TREND_POINTS];

	for (int tick = 0; tick < 12 * 6; tick++) {
		for (int i = 0; i < tick % 6; i++)
			add("a", "n", 1000000 * (tick % 6), false, 1);
		ck_assert(take());
		monitor_tick(monitor);
	}
	ck_assert_uint_eq(trend_read(monitor_trend(monitor, false), 1, spans, p99), TREND_POINTS);
	for (int i = 0; i < TREND_POINTS; i++) {
		ck_assert_double_eq(spans[i], i % 6);
		ck_assert_double_eq_tol(p99[i], 1e6 * (i % 6), 1e6 * (i % 6) * HISTOGRAM_ERROR + 0.5);
	}
	ck_assert_uint_eq(trend_read(monitor_trend(monitor, true), 1, spans, p99), 12);
	for (int i = 0; i < 12; i++) {
		ck_assert_double_eq(spans[i], 15);
		ck_assert_double_eq_tol(p99[i], 5e6, 5e6 * HISTOGRAM_ERROR);
	}
}
END_TEST

/* Limits */

static unsigned exceeded_of(const char *service, unsigned window)
{
	int64_t number = monitor_find(monitor, service, "n");
	const struct series *series = monitor_series(monitor, window, (uint32_t)number);
	struct figures figures = {0};

	if (series)
		figures_of_series(&figures, series, 0, 0);
	return monitor_exceeded(monitor, (uint32_t)number, &figures);
}

START_TEST(limits_are_exceeded)
{
	limit("?/n", "20ms, p99 50ms, errors 10%");
	monitor_configure(monitor, &config);
	for (int i = 0; i < 9; i++)
		add("a", "n", 20000000, i == 0, 1);
	add("a", "n", 20000000, false, 1); /* a mean and a share that are the limit are not above it */
	add("b", "n", 20000001, false, 1);
	add("c", "n", 60000000, true, 1);
	add("ab", "n", 60000000, true, 1);
	ck_assert(take());
	ck_assert_uint_eq(exceeded_of("a", WINDOW_1), 0);
	ck_assert_uint_eq(exceeded_of("b", WINDOW_1), 1 << LIMIT_MEAN);
	ck_assert_uint_eq(exceeded_of("c", WINDOW_1), 1 << LIMIT_MEAN | 1 << LIMIT_P99 | 1 << LIMIT_ERRORS);
	ck_assert_uint_eq(exceeded_of("ab", WINDOW_1), 0);
	ck_assert_ptr_null(monitor_limits(monitor, (uint32_t)monitor_find(monitor, "ab", "n")));
	/* names that found no room may be any: the strictest limits hold */
	ck_assert_double_eq(monitor_limits(monitor, 0)->of[LIMIT_MEAN], 20000000);
	ck_assert_double_eq(monitor_limits(monitor, 0)->of[LIMIT_ERRORS], 0.1);
	for (int i = 0; i < 7; i++)
		monitor_tick(monitor);
	ck_assert_uint_eq(exceeded_of("c", WINDOW_1), 0); /* there is none any more */
	ck_assert_uint_ne(exceeded_of("c", WINDOW_10), 0);
	limit("c/n", "none");
	monitor_configure(monitor, &config);
	ck_assert_uint_eq(exceeded_of("c", WINDOW_10), 0);
}
END_TEST

/* A crowd of names that takes all room for histograms. */
static void crowd(void)
{
	char name[32];

	for (int i = 0; i < STATISTICS_SERIES_MAX - 2; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		for (int octave = 0; octave < 8; octave++)
			add("crowd", name, INT64_C(1000) << octave, false, 1);
		ck_assert(take());
	}
}

/* All are counted, and the middle is of the right size, also after a change. */
static void assert_rough(const char *service, unsigned window, uint64_t spans, double p50)
{
	const struct series *series =
		monitor_series(monitor, window, (uint32_t)monitor_find(monitor, service, "n"));

	ck_assert_uint_eq(series->spans, spans);
	ck_assert_uint_eq(histogram_total(&series->histogram), spans);
	ck_assert(!series->fine);
	ck_assert_double_le(histogram_quantile(&series->histogram, 0.5), 3 * p50);
	ck_assert_double_ge(histogram_quantile(&series->histogram, 0.5), p50 / 3);
}

/* Neither one that was there before becomes slow unseen, nor one that comes later. */
START_TEST(a_crowd_blinds_nobody)
{
	limit("*/n", "p99 1ms");
	monitor_configure(monitor, &config);
	add("old", "n", 100000, false, 1);
	crowd();
	for (int i = 0; i < 20; i++) {
		add("old", "n", 50000000, false, 1);
		add("new", "n", 50000000, false, 1);
	}
	ck_assert(take());
	assert_rough("old", WINDOW_1, 21, 50000000);
	assert_rough("new", WINDOW_ALL, 20, 50000000);
	ck_assert_uint_eq(exceeded_of("old", WINDOW_1), 1 << LIMIT_P99);
	ck_assert_uint_eq(exceeded_of("new", WINDOW_1), 1 << LIMIT_P99);
	for (int i = 0; i < 7; i++)
		monitor_tick(monitor);
	for (int i = 0; i < 300; i++)
		add("new", "n", 1000 + i * 100, false, 1);
	ck_assert(take());
	assert_rough("new", WINDOW_1, 300, 16000);
	ck_assert_uint_eq(exceeded_of("new", WINDOW_1), 0);
	ck_assert_uint_ne(exceeded_of("new", WINDOW_10), 0);
}
END_TEST

/* Counts many more names than there is room for; returns how long that took. */
static int64_t count_many(const char *const pair[2])
{
	int64_t begin = clock_monotonic();
	char name[32];

	for (int i = 0; i < 1 << 15; i++) {
		for (int bit = 0; bit < 15; bit++)
			memcpy(name + 2 * bit, pair[i >> bit & 1], 3);
		add("service", name, 1, false, 1);
	}
	ck_assert(take());
	return clock_monotonic() - begin;
}

/* Nobody can choose names that make the agent slow. */
START_TEST(names_that_are_alike)
{
	static const char *const usual[] = {"zq", "xy"}, *const same[] = {"ab", "bA"}; /* to g_str_hash */
	int64_t others = count_many(usual), alike;

	teardown();
	setup();
	alike = count_many(same);
	ck_assert_msg(
		alike < 5 * others, "%" PRId64 " ms, not %" PRId64, alike / NS_PER_MS, others / NS_PER_MS);
}
END_TEST

static void list(void *data, uint32_t number, const char *service, const char *name,
	const struct limits *limits, unsigned exceeded)
{
	(void)number;
	(void)limits;
	g_string_append_printf(data, "%s/%s %u\n", service, name, exceeded);
}

START_TEST(limited_series_are_listed)
{
	g_autoptr(GString) text = g_string_new(NULL);

	limit("*/n", "p99 1ms");
	add("a", "n", 2000000, false, 1);
	add("b", "other", 2000000, false, 1);
	ck_assert(take());
	monitor_each_limited(monitor, list, text);
	ck_assert_str_eq(text->str, "");
	monitor_configure(monitor, &config);
	monitor_each_limited(monitor, list, text);
	for (int i = 0; i < 7; i++)
		monitor_tick(monitor);
	monitor_each_limited(monitor, list, text);
	ck_assert_str_eq(text->str, "a/n 2\na/n 0\n");
}
END_TEST

/* More names than there is room for, all busy: memory stays within its bound, and the longest window says so.
 */
START_TEST(memory_is_bounded)
{
	const size_t room = 1024 * 1024;
	struct windows *windows = windows_create(statistics, room);
	char name[32];

	for (int tick = 0; tick < 20; tick++) {
		for (int i = 0; i < STATISTICS_SERIES_MAX + 100; i++) {
			snprintf(name, sizeof(name), "name %d", i);
			add("service", name, (tick + 1) * 1000000, false, 1);
		}
		ck_assert(take());
		windows_tick(windows);
		ck_assert_uint_le(windows_memory(windows), room);
	}
	ck_assert_int_gt(windows_base(windows, WINDOW_60)->at, windows_base(windows, WINDOW_1)->at - 1);
	ck_assert_uint_gt(windows_base(windows, WINDOW_60)->sums[77].spans, 10);
	ck_assert_uint_eq(windows_base(windows, WINDOW_60)->sums[77].spans,
		windows_base(windows, WINDOW_10)->sums[77].spans);
	windows_destroy(windows);
	windows = windows_create(statistics, WINDOWS_MEMORY);
	windows_tick(windows);
	ck_assert_uint_le(windows_memory(windows), 2 * 1024 * 1024);
	windows_destroy(windows);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("monitor");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 120);
	tcase_add_test(cases, buckets_beyond_32_bits);
	tcase_add_test(cases, windows_are_exact);
	tcase_add_test(cases, points_are_kept);
	tcase_add_test(cases, limits_are_exceeded);
	tcase_add_test(cases, a_crowd_blinds_nobody);
	tcase_add_test(cases, names_that_are_alike);
	tcase_add_test(cases, limited_series_are_listed);
	tcase_add_test(cases, memory_is_bounded);
	return run_cases("monitor", cases);
}
