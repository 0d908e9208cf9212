/* SPDX-License-Identifier: BSD-2-Clause */
/* An event that is always the same. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER alike
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./alike.h"

#if !defined(ALIKE_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ALIKE_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(alike, tick,
	LTTNG_UST_TP_ARGS(int, thread),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, thread, thread)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
