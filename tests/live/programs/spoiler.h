/* SPDX-License-Identifier: BSD-2-Clause */
/* One of our events, with a field whose name is no name: LTTng writes it into its user's metadata as it
 * is. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER blkin
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./spoiler.h"

#if !defined(SPOILER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SPOILER_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(blkin, span,
	LTTNG_UST_TP_ARGS(int, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, a b } garbage { , number)))
	/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
