/* SPDX-License-Identifier: BSD-2-Clause */
/* The page's pictures: SVG, inline, with a text for those who do not see them. */
#ifndef STATUS_CHART_H
#define STATUS_CHART_H

#include "base/buffer.h"
#include "config/thresholds.h"
#include "stats/histogram.h"
#include "stats/trend.h"

/* How the rate (an area) and the p99 (a line) of a series went. @every: seconds from point to point. */
void chart_trend(struct buffer *out, const struct trend *trend, uint32_t number, unsigned every);

/* How many spans took how long, by a logarithmic scale, with the times of @limits (NULL: there are none) as
 * lines; then the same as a table, which is folded. */
void chart_histogram(struct buffer *out, const struct histogram *histogram, const struct limits *limits);

#endif
