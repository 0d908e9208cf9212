/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is above its threshold, as a metric. What has no series of its own, as there are too many or whoever
 * asks may not see names, is one series: above, if any is.
 */
#include <inttypes.h>

#include "stats/monitor.h"
#include "status/exposition.h"
#include "status/metrics.h"
#include "status/spanmetrics.h"

#define NAME "blkin_threshold_exceeded"

struct writing {
	struct buffer *out;
	bool listed[STATISTICS_SERIES_MAX + 1];
	struct limits rest; /* the limits that the rest has, */
	unsigned exceeded;  /* and those that it is above */
};

static void put(struct buffer *out, const char *service, const char *name, const struct limits *limits,
	unsigned exceeded)
{
	for (int i = 0; i < LIMITS; i++) {
		if (limits->of[i] < 0)
			continue;
		buffer_printf(out, NAME "{service=\"");
		exposition_label(out, service);
		buffer_printf(out, "\",span=\"");
		exposition_label(out, name);
		buffer_printf(out, "\",limit=\"%s\"} %d\n", limit_names[i], exceeded >> i & 1);
	}
}

static void take_series(void *data, uint32_t number, const char *service, const char *name,
	const struct limits *limits, unsigned exceeded)
{
	struct writing *to = data;

	if (to->listed[number] && !spanmetrics_is_other(service, name)) {
		put(to->out, service, name, limits, exceeded);
		return;
	}
	to->exceeded |= exceeded;
	for (int i = 0; i < LIMITS; i++)
		if (limits->of[i] >= 0)
			to->rest.of[i] = limits->of[i];
}

void metrics_put_thresholds(struct buffer *out, struct monitor *monitor, uint64_t listed)
{
	g_autofree struct writing *writing = g_new0(struct writing, 1);

	writing->out = out;
	writing->rest = LIMITS_NONE;
	monitor_list(monitor, listed, writing->listed);
	exposition_head(out, EXPOSITION_TEXT, NAME, "gauge",
		"Whether the spans of the last minute are above the limit that [thresholds] has for them.");
	monitor_each_limited(monitor, take_series, writing);
	put(out, SPANMETRICS_OTHER, SPANMETRICS_OTHER, &writing->rest, writing->exceeded);
}
