/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/monitor.h"

#include <string.h>

#include "base/clock.h"
#include "stats/inner.h"

#define NS_PER_US 1000
#define KEPT_TRACES_MAX 4096
#define TICKS_A_MINUTE (60 / WINDOWS_TICK_SECONDS)

struct monitor {
	struct statistics *statistics;
	GPtrArray *thresholds;
	struct windows *windows;
	struct trend *fine, *coarse;
	unsigned ticks;
	struct seen { /* of a series: */
		uint32_t era;
		bool limited; /* the limits are known */
		struct limits limits;
	} * seen;
	struct plane *start;  /* all zeros */
	struct series series; /* what was asked for last; its histogram is owned */
};

struct monitor *monitor_create(struct statistics *statistics, const struct config *config)
{
	struct monitor *monitor = g_new0(struct monitor, 1);

	monitor->statistics = statistics;
	monitor->thresholds = thresholds_copy(config->thresholds);
	monitor->windows = windows_create(statistics, WINDOWS_MEMORY);
	monitor->fine = trend_create();
	monitor->coarse = trend_create();
	monitor->seen = g_new0(struct seen, STATISTICS_SERIES_MAX + 1);
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
	g_free(monitor->seen);
	g_free(monitor);
}

void monitor_configure(struct monitor *monitor, const struct config *config)
{
	g_ptr_array_unref(monitor->thresholds);
	monitor->thresholds = thresholds_copy(config->thresholds);
	for (uint32_t i = 0; i <= STATISTICS_SERIES_MAX; i++)
		monitor->seen[i].limited = false;
}

/* What is known of the series, unless it has another name by now. */
static struct seen *see(struct monitor *monitor, uint32_t number)
{
	struct seen *seen = &monitor->seen[number];
	uint32_t era = atomic_load(&monitor->statistics->cells[number].era);

	if (seen->era != era) {
		trend_forget(monitor->fine, number);
		trend_forget(monitor->coarse, number);
		*seen = (struct seen){.era = era};
	}
	return seen;
}

static void add_point(struct monitor *monitor, struct trend *trend, const struct plane *since)
{
	trend_next(trend);
	for (uint32_t i = 0; i < monitor_count(monitor); i++)
		if (see(monitor, i) && plane_since(since, monitor->statistics, i, &monitor->series))
			trend_set(trend, i, &monitor->series);
}

/* At the end of each minute, the shortest window is as long. */
void monitor_tick(struct monitor *monitor)
{
	statistics_sweep(monitor->statistics);
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

void monitor_list(const struct monitor *monitor, uint64_t most, bool *listed)
{
	statistics_list(monitor->statistics, most, listed);
}

int64_t monitor_find(const struct monitor *monitor, const char *service, const char *name)
{
	uint32_t count = monitor_count(monitor);

	LOCK_SERIES(monitor->statistics);

	for (uint32_t i = 1; i < count; i++) {
		const struct cell *cell = &monitor->statistics->cells[i];

		if (!strcmp(cell->name, name) && !strcmp(cell->service, service))
			return i;
	}
	return -1;
}

void monitor_traces(const struct monitor *monitor, uint32_t number, struct monitor_traces *are)
{
	const struct cell *cell = &monitor->statistics->cells[number];
	LOCK_SERIES(monitor->statistics);

	are->late_count = 0;
	for (unsigned octave = HISTOGRAM_OCTAVES; octave-- > 0 && are->late_count < MONITOR_LATE;) {
		uint16_t part = atomic_load_explicit(&cell->part[octave], memory_order_acquire);
		struct exemplar *late = &are->late[are->late_count];

		if (!part)
			continue;
		*late = exemplars_read(monitor->statistics->exemplars, part);
		are->late_count += late->time != 0;
	}
	are->failed = exemplars_read(monitor->statistics->failures, number);
}

/* The slowest and the failed of all series come before the second slowest of any. */
void monitor_keep_traces(const struct monitor *monitor, struct traces *traces)
{
	uint32_t count = monitor_count(monitor);
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	for (unsigned rank = 0; rank < MONITOR_LATE && ids->len < KEPT_TRACES_MAX; rank++)
		for (uint32_t i = 0; i < count && ids->len < KEPT_TRACES_MAX; i++) {
			struct monitor_traces are;

			monitor_traces(monitor, i, &are);
			if (rank < are.late_count)
				g_array_append_val(ids, are.late[rank].trace_id);
			if (rank == 0 && are.failed.time)
				g_array_append_val(ids, are.failed.trace_id);
		}
	traces_keep_only(traces, (const uint64_t *)(const void *)ids->data, ids->len);
}

const struct trend *monitor_trend(const struct monitor *monitor, bool minutes)
{
	return minutes ? monitor->coarse : monitor->fine;
}

/* Limits */

/* Names that have no series: nobody knows any more which they were, so the strictest limit of all holds. */
static struct limits strictest(const GPtrArray *thresholds)
{
	struct limits limits = LIMITS_NONE;

	for (guint i = 0; i < thresholds->len; i++) {
		const struct threshold *threshold = g_ptr_array_index(thresholds, i);

		for (int k = 0; k < LIMITS; k++)
			if (threshold->limits.of[k] >= 0 &&
				(limits.of[k] < 0 || threshold->limits.of[k] < limits.of[k]))
				limits.of[k] = threshold->limits.of[k];
	}
	return limits;
}

static struct limits find_limits(const struct monitor *monitor, uint32_t number)
{
	const struct cell *cell = &monitor->statistics->cells[number];
	LOCK_SERIES(monitor->statistics);

	return number ? thresholds_find(monitor->thresholds, cell->service, cell->name)
		      : strictest(monitor->thresholds);
}

const struct limits *monitor_limits(struct monitor *monitor, uint32_t number)
{
	struct seen *seen = see(monitor, number);

	if (!seen->limited)
		seen->limits = find_limits(monitor, number);
	seen->limited = true;
	return limits_any(&seen->limits) ? &seen->limits : NULL;
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

/* Names it, too. */
static bool has_spans(struct monitor *monitor, uint32_t number)
{
	return monitor_series(monitor, WINDOW_ALL, number) != NULL;
}

void monitor_each_limited(struct monitor *monitor, monitor_limited *each, void *data)
{
	uint32_t count = monitor_count(monitor);

	for (uint32_t i = 0; monitor->thresholds->len && i < count; i++) {
		const struct limits *limits = monitor_limits(monitor, i);
		const struct series *series = limits ? monitor_series(monitor, WINDOW_1, i) : NULL;
		struct figures figures = {0};

		if (series)
			figures_of_series(&figures, series, 0, 0);
		if (limits && (series || (i && has_spans(monitor, i))))
			each(data, i, monitor->series.service, monitor->series.name, limits,
				monitor_exceeded(monitor, i, &figures));
	}
}

uint64_t monitor_summed(struct monitor *monitor, uint32_t *user, uint32_t *names)
{
	bool any = plane_since(windows_before(monitor->windows), monitor->statistics, 0, &monitor->series);

	*user = statistics_richest(monitor->statistics, names);
	return any ? monitor->series.spans : 0;
}
