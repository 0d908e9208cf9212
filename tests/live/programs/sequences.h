/* SPDX-License-Identifier: BSD-2-Clause */
/* Events under our provider's name with a sequence, of which each element costs its reader a hundred bytes.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER blkin
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./sequences.h"

#if !defined(SEQUENCES_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SEQUENCES_H

#include <stdint.h>

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT_CLASS(blkin, sequences,
	LTTNG_UST_TP_ARGS(const uint8_t *, bytes, uint32_t, count),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_sequence(uint8_t, data, bytes, uint32_t, count)))

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, sequences, blkin, whatever,
	LTTNG_UST_TP_ARGS(const uint8_t *, bytes, uint32_t, count))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(blkin, sequences, blkin, span,
	LTTNG_UST_TP_ARGS(const uint8_t *, bytes, uint32_t, count))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
