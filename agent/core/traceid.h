/* SPDX-License-Identifier: BSD-2-Clause */
/* What identifies a trace, in whichever format its spans are. */
#ifndef CORE_TRACEID_H
#define CORE_TRACEID_H

#include <stdint.h>

struct trace_id {
	uint64_t high, low; /* high: 0 where ids have 64 bits */
};

#endif
