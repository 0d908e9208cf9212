/* SPDX-License-Identifier: BSD-2-Clause */
/* The ledger and the agent's state as Prometheus metrics, in its text format (version 0.0.4). */
#ifndef METRICS_H
#define METRICS_H

#include "buffer.h"
#include "status.h"

void metrics_write(struct buffer *out, const struct status *status);

#endif
