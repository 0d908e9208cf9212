/* SPDX-License-Identifier: BSD-2-Clause */
/* The ledger and the agent's state as Prometheus metrics, in its text format (version 0.0.4). */
#ifndef STATUS_METRICS_H
#define STATUS_METRICS_H

#include "base/buffer.h"
#include "status/status.h"

void metrics_write(struct buffer *out, const struct status *status);

/* For the other files that write metrics: the two lines before a metric, and a label's value of any text. */
void metrics_put_head(struct buffer *out, const char *name, const char *type, const char *help);
void metrics_put_label(struct buffer *out, const char *text);

/* Which series are above their thresholds: metricthresholds.c. */
void metrics_put_thresholds(struct buffer *out, struct monitor *monitor);

#endif
