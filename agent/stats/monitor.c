/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/monitor.h"

#include <string.h>

#include "base/clock.h"
#include "stats/inner.h"

#define NS_PER_US 1000
#define TICKS_A_MINUTE (60 / WINDOWS_TICK_SECONDS)

struct monitor {
	const struct statistics *statistics;
	GPtrArray *thresholds;
	struct windows *windows;
	struct trend *fine, *coarse;
	unsigned ticks;
	struct limits *limits; /* of the series up to: */
	uint32_t limited;
	struct plane *start;  /* all zeros */
	struct series series; /* what was asked for last; its histogram is owned */
};

struct monitor *monitor_create(const struct statistics *statistics, const struct config *config)
{
	struct monitor *monitor = g_new0(struct monitor, 1);

	monitor->statistics = statistics;
	monitor->thresholds = thresholds_copy(config->thresholds);
	monitor->windows = windows_create(statistics, WINDOWS_MEMORY);
	monitor->fine = trend_create();
	monitor->coarse = trend_create();
	monitor->limits = g_new0(struct limits, STATISTICS_SERIES_MAX + 1);
	monitor->start = plane_create(statistics->since);
	return monitor;
}

void monitor_destroy(struct monitor *monitor)
{
	if (!monitor)
		return;
	g_ptr_array_unref(monitor->thresholds);
	windows_destroy(monitor->windows);
	trend_destroy(monitor->fine);
	trend_destroy(monitor->coarse);
	plane_destroy(monitor->start);
	histogram_clear(&monitor->series.histogram);
	g_free(monitor->limits);
	g_free(monitor);
}

void monitor_configure(struct monitor *monitor, const struct config *config)
{
	g_ptr_array_unref(monitor->thresholds);
	monitor->thresholds = thresholds_copy(config->thresholds);
	monitor->limited = 0;
}

static void add_point(struct monitor *monitor, struct trend *trend, const struct plane *since)
{
	trend_next(trend);
	for (uint32_t i = 0; i < monitor_count(monitor); i++)
		if (plane_since(since, monitor->statistics, i, &monitor->series))
			trend_set(trend, i, &monitor->series);
}

/* At the end of each minute, the shortest window is as long. */
void monitor_tick(struct monitor *monitor)
{
	windows_tick(monitor->windows);
	add_point(monitor, monitor->fine, windows_before(monitor->windows));
	if (++monitor->ticks % TICKS_A_MINUTE == 0)
		add_point(monitor, monitor->coarse, windows_base(monitor->windows, WINDOW_1));
}

/* Looking */

uint32_t monitor_count(const struct monitor *monitor)
{
	return atomic_load_explicit(&monitor->statistics->cell_count, memory_order_acquire);
}

static const struct plane *base_of(const struct monitor *monitor, unsigned window)
{
	return window == WINDOW_ALL ? monitor->start : windows_base(monitor->windows, window);
}

int64_t monitor_age(const struct monitor *monitor, unsigned window)
{
	return clock_monotonic() - base_of(monitor, window)->at;
}

const struct series *monitor_series(struct monitor *monitor, unsigned window, uint32_t number)
{
	bool any = plane_since(base_of(monitor, window), monitor->statistics, number, &monitor->series);

	return any ? &monitor->series : NULL;
}

int64_t monitor_find(const struct monitor *monitor, const char *service, const char *name)
{
	uint32_t count = monitor_count(monitor);

	for (uint32_t i = 1; i < count; i++) {
		const struct cell *cell = &monitor->statistics->cells[i];

		if (!strcmp(cell->name, name) && !strcmp(cell->service, service))
			return i;
	}
	return -1;
}

void monitor_exemplars(
	const struct monitor *monitor, uint32_t number, struct exemplar exemplars[HISTOGRAM_OCTAVES])
{
	const struct cell *cell = &monitor->statistics->cells[number];

	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		uint16_t part = atomic_load_explicit(&cell->part[octave], memory_order_acquire);

		exemplars[octave] = (struct exemplar){0};
		if (part)
			exemplars[octave] = exemplars_read(monitor->statistics->exemplars, part);
	}
}

const struct trend *monitor_trend(const struct monitor *monitor, bool minutes)
{
	return minutes ? monitor->coarse : monitor->fine;
}

/* Limits */

/* Those of series that are new since this was asked last. */
static void find_limits(struct monitor *monitor)
{
	uint32_t count = monitor_count(monitor);

	for (; monitor->limited < count; monitor->limited++) {
		const struct cell *cell = &monitor->statistics->cells[monitor->limited];

		monitor->limits[monitor->limited] =
			monitor->limited ? thresholds_find(monitor->thresholds, cell->service, cell->name)
					 : LIMITS_NONE;
	}
}

const struct limits *monitor_limits(struct monitor *monitor, uint32_t number)
{
	find_limits(monitor);
	return limits_any(&monitor->limits[number]) ? &monitor->limits[number] : NULL;
}

unsigned monitor_exceeded(struct monitor *monitor, uint32_t number, const struct figures *figures)
{
	const struct limits *limits = monitor_limits(monitor, number);
	const double values[LIMITS] = {
		[LIMIT_MEAN] = figures->mean * NS_PER_US,
		[LIMIT_P99] = figures->p99 * NS_PER_US,
		[LIMIT_ERRORS] = figures->count ? (double)figures->errors / (double)figures->count : 0,
	};
	unsigned exceeded = 0;

	for (int i = 0; limits && i < LIMITS; i++)
		if (limits->of[i] >= 0 && values[i] > limits->of[i]) /* what is not known is not above */
			exceeded |= 1u << i;
	return exceeded;
}

void monitor_each_limited(struct monitor *monitor, monitor_limited *each, void *data)
{
	uint32_t count = monitor_count(monitor);

	for (uint32_t i = 1; monitor->thresholds->len && i < count; i++) {
		const struct limits *limits = monitor_limits(monitor, i);
		const struct cell *cell = &monitor->statistics->cells[i];
		const struct series *series = limits ? monitor_series(monitor, WINDOW_1, i) : NULL;
		struct figures figures = {0};

		if (series)
			figures_of_series(&figures, series, 0, 0);
		if (limits)
			each(data, i, cell->service, cell->name, limits,
				monitor_exceeded(monitor, i, &figures));
	}
}
