/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/spansjson.h"

#include <glib.h>

#include "base/json.h"
#include "status/view.h"

static const char wrong_window[] = "`minutes` must be 1, 10, 60 or all";

static double time_of_all(struct monitor *monitor, unsigned window, uint32_t count)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct series *series = monitor_series(monitor, window, i);

		sum += series ? (double)series->sum : 0;
	}
	return sum;
}

const char *spansjson_write(struct buffer *out, struct monitor *monitor, const char *query)
{
	unsigned window = WINDOW_ALL;
	uint32_t count = monitor_count(monitor);
	int64_t age;
	double all;

	if (!view_window(query, &window))
		return wrong_window;
	age = monitor_age(monitor, window);
	all = time_of_all(monitor, window, count);
	json_open(out, '[');
	for (uint32_t i = 0; i < count; i++) {
		const struct series *series = monitor_series(monitor, window, i);
		struct figures figures;

		if (!series)
			continue;
		figures_of_series(&figures, series, age, all);
		figures_put_one(out, series, &figures,
			!monitor_limits(monitor, i)              ? NULL
			: monitor_exceeded(monitor, i, &figures) ? "above"
								 : "below");
	}
	json_close(out, ']');
	buffer_printf(out, "\n");
	return NULL;
}

static void put_time(struct buffer *out, const char *key, unsigned bucket)
{
	json_key(out, key);
	json_double(out, (double)histogram_least(bucket) / 1000);
}

static void put_count(struct buffer *out, uint64_t count)
{
	json_key(out, "count");
	json_int(out, (int64_t)count);
}

static void put_buckets(struct buffer *out, const struct series *series)
{
	json_open(out, '[');
	for (uint32_t i = 0; series && i < series->histogram.used; i++) {
		json_open(out, '{');
		put_time(out, "from", series->histogram.counts[i].bucket);
		put_time(out, "to", series->histogram.counts[i].bucket + 1);
		put_count(out, series->histogram.counts[i].count);
		json_close(out, '}');
	}
	json_close(out, ']');
}

const char *spansjson_write_histogram(struct buffer *out, struct monitor *monitor, const char *query)
{
	struct view view;
	const struct series *series;
	unsigned window = WINDOW_ALL;
	int64_t number;

	if (!view_window(query, &window))
		return wrong_window;
	view_read(&view, query, window);
	number = view.service && view.span ? monitor_find(monitor, view.service, view.span) : -1;
	if (number >= 0) {
		series = monitor_series(monitor, window, (uint32_t)number);
		json_open(out, '{');
		json_key(out, "service");
		json_text(out, view.service);
		json_key(out, "span");
		json_text(out, view.span);
		put_count(out, series ? series->spans : 0);
		json_key(out, "buckets");
		put_buckets(out, series);
		json_close(out, '}');
		buffer_printf(out, "\n");
	}
	view_clear(&view);
	return number >= 0 ? NULL : "`service` and `span` must be those of a row of /spans.json";
}
