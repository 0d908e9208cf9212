/* SPDX-License-Identifier: BSD-2-Clause */
/* The one class of all events of classes.c. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER foreign
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./classes.h"

#if !defined(CLASSES_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define CLASSES_H

#include <stdint.h>

#include <lttng/tracepoint.h>

#define INTEGER(name) lttng_ust_field_integer(uint64_t, name, number)
/* clang-format off */
#define TEN(name) \
	INTEGER(name##0) INTEGER(name##1) INTEGER(name##2) INTEGER(name##3) INTEGER(name##4) \
	INTEGER(name##5) INTEGER(name##6) INTEGER(name##7) INTEGER(name##8) INTEGER(name##9)

LTTNG_UST_TRACEPOINT_EVENT(foreign, template,
	LTTNG_UST_TP_ARGS(uint64_t, number, const uint8_t *, bytes, uint32_t, count),
	LTTNG_UST_TP_FIELDS(
		INTEGER(number)
		TEN(a) TEN(b) TEN(c)
		lttng_ust_field_sequence(uint8_t, data, bytes, uint32_t, count)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
