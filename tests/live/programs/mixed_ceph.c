/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdint.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ceph_events.h"
#include "mixed.h"

void mixed_ceph(void)
{
	for (long i = 1; i <= MIXED_SPANS; i++) {
		lttng_ust_tracepoint(
			zipkin, timestamp, "span", "ceph", 5000, "10.0.0.1", i, i, 0, "happened");
		lttng_ust_tracepoint(
			zipkin, keyval_string, "span", "ceph", 5000, "10.0.0.1", i, i, 0, "text", "value");
		lttng_ust_tracepoint(
			zipkin, keyval_integer, "span", "ceph", 5000, "10.0.0.1", i, i, 0, "number", i);
	}
}
