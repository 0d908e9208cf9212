/* SPDX-License-Identifier: BSD-2-Clause */
/* What is above its threshold, as a metric. It has names, so it is for those who may see names only. */
#include <inttypes.h>

#include "stats/monitor.h"
#include "status/metrics.h"

#define NAME "blkin_threshold_exceeded"

static void put_series(
	void *data, const char *service, const char *name, const struct limits *limits, unsigned exceeded)
{
	struct buffer *out = data;

	for (int i = 0; i < LIMITS; i++) {
		if (limits->of[i] < 0)
			continue;
		buffer_printf(out, NAME "{service=\"");
		metrics_put_label(out, service);
		buffer_printf(out, "\",span=\"");
		metrics_put_label(out, name);
		buffer_printf(out, "\",limit=\"%s\"} %d\n", limit_names[i], exceeded >> i & 1);
	}
}

void metrics_put_thresholds(struct buffer *out, struct monitor *monitor)
{
	metrics_put_head(out, NAME, "gauge",
		"Whether the spans of the last minute are above the limit that [thresholds] has for them.");
	monitor_each_limited(monitor, put_series, out);
}
