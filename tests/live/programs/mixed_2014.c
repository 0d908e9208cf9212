/* SPDX-License-Identifier: BSD-2-Clause */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "layout2014.h"
#include "mixed.h"

void mixed_2014(void)
{
	for (long i = 1; i <= MIXED_SPANS; i++) {
		lttng_ust_tracepoint(
			zipkin, timestamp, "span", "2014", 5000, "10.0.0.1", i, i, 0, "happened");
		lttng_ust_tracepoint(
			zipkin, keyval, "span", "2014", 5000, "10.0.0.1", i, i, 0, "text", "value");
	}
}
