/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that has LTTng tracepoints of its own, and includes LTTng's headers before ours, or after them.
 */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#ifdef LTTNG_FIRST
#include <lttng/tracepoint.h>
#endif
#include <blkin/blkin.h>
#ifndef LTTNG_FIRST
#include <lttng/tracepoint.h>
#endif

#include "own_tracepoints.h"

int main(void)
{
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "root", NULL, NULL);
	lttng_ust_tracepoint(outside, happened, 1);
	blkin_span_finish(&span);
	return 0;
}
