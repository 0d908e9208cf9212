/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of a program that knows nothing of blkin. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER foreign
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./foreign.h"

#if !defined(FOREIGN_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FOREIGN_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(foreign, tick,
	LTTNG_UST_TP_ARGS(uint64_t, number, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, number, number)
		lttng_ust_field_string(text, text)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(foreign, tick, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT(foreign, whisper,
	LTTNG_UST_TP_ARGS(uint64_t, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, number, number)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(foreign, whisper, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
