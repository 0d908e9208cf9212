/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of a program that come two by two, as Ceph has them. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER paired
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./paired.h"

#if !defined(PAIRED_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PAIRED_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(paired, read_enter,
	LTTNG_UST_TP_ARGS(uint64_t, number, const char *, path, double, share),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, number, number)
		lttng_ust_field_string(path, path)
		lttng_ust_field_integer_hex(uint64_t, flags, number)
		lttng_ust_field_float(double, share, share)))

LTTNG_UST_TRACEPOINT_EVENT(paired, read_exit,
	LTTNG_UST_TP_ARGS(uint64_t, number, int64_t, result),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, number, number)
		lttng_ust_field_integer(int64_t, result, result)))

LTTNG_UST_TRACEPOINT_EVENT(paired, flush_enter,
	LTTNG_UST_TP_ARGS(uint64_t, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, number, number)))

LTTNG_UST_TRACEPOINT_EVENT(paired, flush_exit,
	LTTNG_UST_TP_ARGS(uint64_t, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, number, number)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
