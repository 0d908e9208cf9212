/* SPDX-License-Identifier: BSD-2-Clause */
/* /spans.json: the statistics as JSON, which `blkin top --once --json` prints; and /histogram.json. */
#ifndef STATUS_SPANSJSON_H
#define STATUS_SPANSJSON_H

#include "base/buffer.h"
#include "stats/monitor.h"

#define SPANSJSON_PATH "/spans.json"
#define SPANSJSON_HISTOGRAM_PATH "/histogram.json"

/*
 * An array of {service, span, count, rate, mean, p50, p99, max, errors, share, state}, times in µs; `state`
 * is "below", "above", or null without limits. The query: minutes=1, 10, 60, or all, which it is without.
 * Returns NULL, or what is wrong with the query: a sentence without its end.
 */
const char *spansjson_write(struct buffer *out, struct monitor *monitor, const char *query);

/*
 * {service, span, count, buckets: [{from, to, count}, ...]} of one series; the query has service and span,
 * too.
 */
const char *spansjson_write_histogram(struct buffer *out, struct monitor *monitor, const char *query);

#endif
