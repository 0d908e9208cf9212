/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/trend.h"

#include <string.h>

#include "stats/statistics.h"

/* Buckets; 0 is none. */
struct point {
	uint16_t spans, p99;
};

struct trend {
	struct point (*points)[TREND_POINTS]; /* of each series */
	uint32_t used;                        /* so many series have points that are set */
	unsigned now, count;
};

struct trend *trend_create(void)
{
	struct trend *trend = g_new0(struct trend, 1);

	/* touched, and so taken, only as far as there are series */
	trend->points = g_malloc0_n(STATISTICS_SERIES_MAX + 1, sizeof(*trend->points));
	return trend;
}

void trend_destroy(struct trend *trend)
{
	g_free(trend->points);
	g_free(trend);
}

void trend_next(struct trend *trend)
{
	trend->now = (trend->now + 1) % TREND_POINTS;
	trend->count = MIN(trend->count + 1, TREND_POINTS);
	for (uint32_t i = 0; i < trend->used; i++)
		trend->points[i][trend->now] = (struct point){0};
}

static uint16_t p99_of(const struct series *series)
{
	double p99 = histogram_quantile(&series->histogram, 0.99);

	return (uint16_t)histogram_bucket((uint64_t)MIN(p99, (double)series->max));
}

void trend_set(struct trend *trend, uint32_t number, const struct series *series)
{
	trend->points[number][trend->now] =
		(struct point){(uint16_t)histogram_bucket(series->spans), p99_of(series)};
	trend->used = MAX(trend->used, number + 1);
}

void trend_forget(struct trend *trend, uint32_t number)
{
	memset(trend->points[number], 0, sizeof(trend->points[number]));
}

static double middle_of(uint16_t bucket)
{
	return bucket ? histogram_middle(bucket) : 0;
}

unsigned trend_read(
	const struct trend *trend, uint32_t number, double spans[TREND_POINTS], double p99[TREND_POINTS])
{
	for (unsigned i = 0; i < trend->count; i++) {
		unsigned at = (trend->now + TREND_POINTS - trend->count + 1 + i) % TREND_POINTS;
		struct point point = trend->points[number][at];

		spans[i] = middle_of(point.spans);
		p99[i] = middle_of(point.p99);
	}
	return trend->count;
}
