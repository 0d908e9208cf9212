/* SPDX-License-Identifier: BSD-2-Clause */
/* The canary's event, for canary.c. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER blkin_canary

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "canaryevent.h"

#if !defined(CANARYEVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define CANARYEVENT_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(blkin_canary, beat, LTTNG_UST_TP_ARGS(uint64_t, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, number, number)))

#endif

#include <lttng/tracepoint-event.h>
