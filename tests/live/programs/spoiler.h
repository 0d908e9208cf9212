/* SPDX-License-Identifier: BSD-2-Clause */
/* One of our events, with a link to its model that ends too early: LTTng writes it into its user's metadata
 * as it is. (It does so of a field's name, too, but not from 2.14 on.) */
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
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, number, number)))
LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(blkin, span, "\"; a b } garbage {")
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
