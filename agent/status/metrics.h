/* SPDX-License-Identifier: BSD-2-Clause */
/* The ledger and the agent's state as Prometheus metrics, in its text format (version 0.0.4). */
#ifndef STATUS_METRICS_H
#define STATUS_METRICS_H

#include "base/buffer.h"
#include "status/status.h"

/* So many pairs of service and span name are told to who asks; the rest is under SPANMETRICS_OTHER. */
uint64_t metrics_listed(const struct status *status);

void metrics_write(struct buffer *out, const struct status *status);

/* Which series are above their thresholds: metricthresholds.c. All that are not @listed are one series. */
void metrics_put_thresholds(struct buffer *out, struct monitor *monitor, uint64_t listed);

#endif
