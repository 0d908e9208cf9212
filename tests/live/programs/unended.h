/* SPDX-License-Identifier: BSD-2-Clause */
/* An event that every session of ours records, with a string that has no end. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER zipkin

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "unended.h"

#if !defined(UNENDED_H_) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define UNENDED_H_

#include <stddef.h>

#include <lttng/tracepoint.h>

/* clang-format off */
/* In the stage that writes, as libclient/tracepoints.h recognises it, the string is written without its NUL. */
#undef UNENDED
#ifdef lttng_ust__get_dynamic_len
#define lttng_ust__event_get_size__zipkin___keyval unended_size
#define UNENDED __chan->ops->event_write(&__ctx, whole, lttng_ust__get_dynamic_len(whole), 1);
#else
#define UNENDED lttng_ust_field_string(text, whole)
#endif

LTTNG_UST_TRACEPOINT_EVENT(
	zipkin,
	keyval,
	LTTNG_UST_TP_ARGS(const char *, whole, size_t, bytes),
	LTTNG_UST_TP_FIELDS(UNENDED)
)
#undef lttng_ust__event_get_size__zipkin___keyval
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
